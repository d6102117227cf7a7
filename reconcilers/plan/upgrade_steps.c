#include "reconcilers/plan/upgrade_steps.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/plan/deadline.h"
#include "reconcilers/plan/images.h"
#include "reconcilers/plan/marks.h"
#include "reconcilers/plan/node_operands.h"
#include "reconcilers/plan/node_seen.h"
#include "reconcilers/plan/upgrade_message.h"
#include "reconcilers/plan/upgrade_phases.h"
#include "reconcilers/plan/upgrade_target.h"

bool upgrade_jobs_may_go(const struct drain_spec *spec, int64_t claimed_s, int64_t now_s, int64_t *ret_left_s)
{
    int64_t waited = now_s > claimed_s ? now_s - claimed_s : 0;
    *ret_left_s = spec->wait_for_jobs_s < 0 ? -1 : spec->wait_for_jobs_s - waited;
    return spec->wait_for_jobs_s >= 0 && *ret_left_s <= 0;
}

static void start_over(struct stepping *s, enum claim_kind kind, enum reason reason,
                       const char *message)
{
    struct claim *c = &s->out->claim;
    c->kind = kind;
    c->attempt = 1;
    snprintf(c->driver, sizeof c->driver, "%s", s->t->driver);
    snprintf(c->stack, sizeof c->stack, "%s", s->t->stack);
    claim_begin_from(c, stepping_label(s->in, LABEL_DRIVER), stepping_label(s->in, LABEL_STACK));
    stepping_enter(s, CLAIM_UNLOADING, reason, message);
    stepping_assign(s, c->from_driver, "");
}

/* Nothing was changed on the node yet. A try before this one may have put something else there, which did not come up. */
static bool is_as_it_was(const struct stepping *s)
{
    const struct claim *c = &s->out->claim;
    bool early = c->phase == CLAIM_WAITING || c->phase == CLAIM_DRAINING;
    return early && *c->from_stack && node_bears(&s->in->view, c->from_driver, c->from_stack);
}

static bool is_recorded(const struct stepping *s, const char *tier, const char *hash)
{
    return !*hash || s->in->record(s->in->arg, tier, hash);
}

/* What a tier that is to be another one brings; NULL: it stays, or only goes. */
static const json_t *inputs_to_come(const struct stepping *s, const char *tier, const char *label, const char *hash)
{
    return str_eq(stepping_label(s->in, label), hash) ? NULL : operands_inputs(s->in, tier, hash);
}

/* Where nothing is to be pulled, nobody makes a pod that does. */
static bool brings_images(const struct stepping *s)
{
    const struct images_wanted want = { .driver.inputs = inputs_to_come(s, "driver", LABEL_DRIVER, s->t->driver),
                                        .stack.inputs = inputs_to_come(s, "stack", LABEL_STACK, s->t->stack) };
    return images_any(&want);
}

/* Why the node does not turn to what it is meant to run by now; NULL: it does. As with a claim, the images of that come first:
 * a tag that does not exist would cost the node what it is about to have. The rollout has them pulled. What is known good was
 * there before; a node that is tried again has nothing to lose; and there is no way on to what nobody knows any more. */
static const char *why_not_yet(const struct stepping *s)
{
    const struct claim *c = &s->out->claim;
    char purpose[IMAGES_PURPOSE_MAX];
    bool known = is_recorded(s, "driver", c->driver) && is_recorded(s, "stack", c->stack);
    if (s->back || s->t->known_good || !claim_is_changing(c) || !known || !brings_images(s))
        return NULL;
    if (s->t->no_image)
        return arena_printf(s->a, "the node's target is another version now: %s", s->t->problem);
    images_purpose(s->t->driver, s->t->stack, targets_spec(s->in->targets, s->t->pool), purpose);
    struct images images = images_look(s->in->pod_list, s->in->view.strings, s->in->policy->uid, purpose);
    if (images.state == IMAGES_READY)
        return NULL;
    if (images.state != IMAGES_MISSING)
        return "the node's target is another version now: Ostler upgrades the node to that one when the node has the images";
    return arena_printf(s->a, "the node's target is another version now, and the node cannot get %s: %s",
                        images.image ? images.image : "its images", str_or_empty(images.words));
}

/* The node is meant to run something else by now. */
static void change_target(struct stepping *s)
{
    enum claim_phase phase = s->out->claim.phase;
    if (phase == CLAIM_FAILED && !node_bears(&s->in->view, s->t->driver, s->t->stack))
        return; /* it holds no slot: the rollout gives it one */
    if (is_as_it_was(s) || phase == CLAIM_FAILED) {
        stepping_assign(s, stepping_label(s->in, LABEL_DRIVER), stepping_label(s->in, LABEL_STACK));
        stepping_release(s, REASON_TARGET_CHANGED,
                         "the node's target is another version now, and nothing was changed on the node: it returns to service");
        return;
    }
    s->turn = why_not_yet(s);
    s->v->turns = s->turn != NULL;
    if (!s->turn)
        start_over(
            s, s->back || s->t->known_good ? CLAIM_ROLLBACK : CLAIM_UPGRADE, REASON_TARGET_CHANGED,
            "the node's target is another version now: Ostler upgrades the node to that one");
}

/* Somebody wants the node left alone, and nothing was changed on it yet. */
static bool is_called_back(const struct stepping *s)
{
    return is_as_it_was(s) && (node_is_held(&s->in->view) || s->in->view.node->cordoned);
}

/* The claim is gone, or a policy's that is: the node gets back what it had. Where that still runs, nothing need be done. */
static void give_up(struct stepping *s, const struct target *wish, enum reason reason,
                    const char *message)
{
    stepping_assign(s, stepping_label(s->in, LABEL_DRIVER), stepping_label(s->in, LABEL_STACK));
    s->t = wish->good ? wish->good : wish;
    bool arrived = node_bears(&s->in->view, s->t->driver, s->t->stack) && stepping_works(s);
    bool begun = !s->out->stack || node_bears(&s->in->view, wish->driver, wish->stack);
    if (arrived || !begun) {
        stepping_release(s, reason, message);
        return;
    }
    struct claim *c = &s->out->claim, before = *c;
    *c = (struct claim){ .generation = s->in->generation, .claimed_s = s->in->now_s };
    claim_keep(c, &before);
    snprintf(c->policy, sizeof c->policy, "%s", s->in->policy->uid);
    start_over(s, CLAIM_ROLLBACK, reason, message);
}

static void settle_unreadable(struct stepping *s, const char *why)
{
    const char *name = s->in->view.node->head.key;
    stepping_assign(s, stepping_label(s->in, LABEL_DRIVER), stepping_label(s->in, LABEL_STACK));
    s->out->untouched = true;
    verdict_settle(s->v, NODE_FAILED, REASON_CLAIM_UNREADABLE,
                   arena_printf(s->a,
                                "node %s: Ostler changes nothing on this node, because it does not understand the annotation "
                                ANNOTATION_CLAIM ": %s. To give up the upgrade of this node, run: kubectl annotate node %s "
                                ANNOTATION_CLAIM "-",
                                name, why, name));
}

/* Why the node failed, as the status counts it. With OTHER the verdict has the word. */
static enum reason failed_reason(const struct stepping *s)
{
    static const enum reason own[] = {
        REASON_VALIDATION_FAILED,  REASON_VERSION_MISMATCH,     REASON_NO_ALLOCATABLE_GPUS,
        REASON_STACK_NOT_REMOVED, REASON_DRIVER_NOT_REMOVED,       REASON_PODS_NOT_EVICTED,
        REASON_NOUVEAU_BOUND, REASON_SECURE_BOOT_UNSIGNED, REASON_NETWORK_CARD_MISSING
    };
    enum reason reason = claim_reason(&s->out->claim);
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (reason == own[i])
            return reason;
    return str_eq(s->out->claim.reason, verdict_word(s->v)) ? reason : REASON_UPGRADE_FAILED;
}

/* What it is taken to have run well: what an upgrade came from, which in one that began anew in the middle is what was on the
 * node just then, proven or not (records.c asks besides whether any node ran it); or what it goes back to, since others did. */
static void take_claim(struct stepping *s)
{
    const struct claim *c = &s->out->claim;
    bool upgrade = c->kind == CLAIM_UPGRADE;
    snprintf(s->v->claim_driver, sizeof s->v->claim_driver, "%s", c->driver);
    snprintf(s->v->claim_stack, sizeof s->v->claim_stack, "%s", c->stack);
    snprintf(s->v->last_stack, sizeof s->v->last_stack, "%s", claim_last_stack(c));
    verdict_ran(s->v, upgrade ? c->from_driver : c->driver, upgrade ? c->from_stack : c->stack);
    if (c->phase == CLAIM_FAILED)
        s->v->failed_with = claim_reason(c);
}

/* What the verdict says of a node that stays claimed, or is let go. */
static void settle_step(struct stepping *s)
{
    const struct claim *c = &s->out->claim;
    if (s->out->claimed)
        take_claim(s);
    if (!s->out->claimed || !claim_closes(c)) {
        operands_judge(s->in, s->a, s->v);
        return;
    }
    enum reason reason = upgrade_phases[c->phase].reason;
    s->v->moving = c->phase != CLAIM_FAILED;
    s->v->restoring = c->kind == CLAIM_ROLLBACK;
    s->v->trouble = s->v->moving && s->v->state == NODE_FAILED ? s->v->message : NULL;
    s->v->refused = c->phase == CLAIM_DRAINING ? s->in->refused : NULL;
    struct upgrade_story story = { .claim = c, .spec = s->in->rollout, .what = str_or_empty(s->out->message),
                                   .from_s = deadline_from_s(s->in, c->since_s) };
    verdict_settle(s->v, upgrade_phases[c->phase].state, reason ? reason : failed_reason(s), upgrade_sentence(&story, s->a));
}

/* A time that is still to come was written by a clock that was wrong. It is said anew: what it is the beginning of would not
 * be over before that. */
static void correct(int64_t *at_s, int64_t now_s)
{
    if (clock_is_ahead(*at_s, now_s))
        *at_s = now_s;
}

static void step(struct stepping *s)
{
    struct claim *c = &s->out->claim;
    correct(&c->since_s, s->in->now_s);
    correct(&c->claimed_s, s->in->now_s);
    s->out->claimed = true;
    if (is_called_back(s)) {
        stepping_assign_as_it_was(s);
        stepping_release(s, REASON_CANCELLED,
                         "a user cordoned or held the node, and nothing was changed on it: it returns to service");
    } else if (!claim_is_for(c, s->t->driver, s->t->stack) && *s->t->stack) {
        change_target(s);
    }
    if (s->out->claimed && !s->out->reason)
        upgrade_phases[c->phase].step(s);
    if (s->turn && s->out->claimed)
        s->out->message = arena_printf(s->a, "%s; %s", str_or_empty(s->out->message), s->turn);
}

void upgrade_step(const struct node_input *in, const struct target *wish, struct arena *a, struct node_verdict *v,
                  struct plan *plan, struct upgrade *ret)
{
    const char *text = intern_text(in->view.strings, in->view.node->claim);
    char why[CLAIM_WHY_MAX];
    const struct target *t = upgrade_target(in, wish);
    struct stepping s = { .in = in, .t = t, .back = t != wish, .a = a, .v = v, .plan = plan, .out = ret };
    *ret = (struct upgrade){ .gave_up = upgrade_given_up(in, wish) ? upgrade_pair(a, wish) : NULL };
    ret->under_way = text || upgrade_claim_taken(in);
    if (!ret->under_way)
        return;
    if (!text) {
        ret->gave_up = upgrade_pair(a, wish);
        ret->claimed = true;
        give_up(&s, wish, REASON_ABANDONED,
                "a user removed the annotation ostler.dev/claim: Ostler restores what the node ran before, and does not "
                "upgrade it");
    } else if (!claim_parse(text, &ret->claim, why)) {
        settle_unreadable(&s, why);
        return;
    } else if (!str_eq(ret->claim.policy, in->policy->uid)) {
        ret->claimed = true;
        give_up(&s, wish, REASON_POLICY_GONE,
                "the policy that asked for this upgrade is gone: Ostler restores what the node ran "
                "before");
    } else {
        step(&s);
    }
    settle_step(&s);
}
