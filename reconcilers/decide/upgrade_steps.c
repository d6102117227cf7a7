#include "reconcilers/decide/upgrade_steps.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/deadline.h"
#include "reconcilers/decide/images.h"
#include "reconcilers/decide/marks.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/repair_over.h"
#include "reconcilers/decide/upgrade_message.h"
#include "reconcilers/decide/upgrade_phases.h"
#include "reconcilers/decide/upgrade_target.h"

static void start_over(struct upgrade_pass *s, enum claim_kind kind, enum reason reason,
                       const char *message)
{
    struct claim *c = &s->out->claim;
    c->kind = kind;
    c->attempt = 1;
    c->to = s->t->runs;
    claim_begin_from(c, node_assigned(&s->p->in->view));
    upgrade_pass_enter(s, CLAIM_UNLOADING, reason, message);
    upgrade_pass_assign(s, assignment_before(assignment_ref(&c->from), TIER_STACK));
}

/* Nothing was changed on the node yet. */
static bool is_as_it_was(const struct upgrade_pass *s)
{
    return claim_is_as_it_was(&s->out->claim, node_assigned(&s->p->in->view));
}

/* Whether the records of all revisions of the claim exist. */
static bool is_recorded(const struct upgrade_pass *s)
{
    for (enum tier t = 0; t < TIERS; t++) {
        const char *hash = s->out->claim.to.hash[t];
        if (*hash && !s->p->in->record(s->p->in->arg, t, hash))
            return false;
    }
    return true;
}

/* If there is nothing to pull, no pull pod is created. A tier that changes brings images. */
static bool brings_images(const struct upgrade_pass *s)
{
    struct images_wanted want = { 0 };
    for (enum tier t = 0; t < TIERS; t++)
        if (!str_eq(upgrade_pass_now(s, t), s->t->runs.hash[t]))
            want.of[t].inputs = operands_inputs(s->p->in, t, s->t->runs.hash[t]);
    return images_any(&want);
}

/* Why the node does not switch to its new target yet; NULL: it does. As before a claim, the images
 * come first, because a tag that does not exist would cost the node what it is about to have. The
 * rollout has them pulled. Exceptions: a known good revision was there before; a retried node has
 * nothing to lose; and a claim whose own revision has no record cannot be finished. */
static const char *why_not_yet(const struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    char purpose[IMAGES_PURPOSE_MAX];
    if (s->falling_back || s->t->known_good || !claim_is_changing(c) || !is_recorded(s) ||
        !brings_images(s))
        return NULL;
    if (s->t->no_image)
        return arena_printf(s->p->a, "the node's target is another version now: %s", s->t->problem);
    images_purpose(assignment_ref(&s->t->runs), targets_spec(s->p->in->targets, s->t->pool),
                   purpose);
    struct images images = images_look(s->p->in->pod_list, s->p->in->view.strings,
                                       s->p->in->policy->uid, purpose);
    if (images.state == IMAGES_READY)
        return NULL;
    if (images.state != IMAGES_MISSING)
        return "the node's target is another version now: Ostler upgrades the node to that one "
               "when the node has the images";
    return arena_printf(s->p->a,
                        "the node's target is another version now, and the node cannot get %s: %s",
                        images.image ? images.image : "its images", str_or_empty(images.words));
}

/* A reset or a reboot is not interrupted: the node gets its new target afterwards. */
static bool may_turn(const struct upgrade_pass *s)
{
    enum claim_phase phase = s->out->claim.phase;
    return phase != CLAIM_RESETTING && phase != CLAIM_REBOOTING;
}

/* A repair stays one. */
static enum claim_kind kind_of_turn(const struct upgrade_pass *s)
{
    if (claim_kinds[s->out->claim.kind].repairs)
        return CLAIM_REPAIR;
    return s->falling_back || s->t->known_good ? CLAIM_ROLLBACK : CLAIM_UPGRADE;
}

/* Handles a new target of the node. */
static void change_target(struct upgrade_pass *s)
{
    enum claim_phase phase = s->out->claim.phase;
    if (phase == CLAIM_FAILED && !node_bears(&s->p->in->view, &s->t->runs))
        return; /* it holds no slot, so the rollout must grant one */
    if (is_as_it_was(s) || phase == CLAIM_FAILED) {
        upgrade_pass_assign_unchanged(s);
        s->out->asks_again = claim_is_asked(&s->out->claim);
        upgrade_pass_release(s, REASON_TARGET_CHANGED,
                             "the node's target is another version now, and nothing was changed on "
                             "the node: it returns to service");
        return;
    }
    s->turn = why_not_yet(s);
    s->p->v->retarget_pending = s->turn != NULL;
    if (!s->turn)
        start_over(
            s, kind_of_turn(s), REASON_TARGET_CHANGED,
            "the node's target is another version now: Ostler upgrades the node to that one");
}

/* A user wants the node left alone, and nothing was changed on it yet. */
static bool is_called_back(const struct upgrade_pass *s)
{
    return is_as_it_was(s) && (node_is_held(&s->p->in->view) || s->p->in->view.node->cordoned);
}

/* The claim was removed, or its policy is gone: the node gets back what it had. If it still runs
 * that, nothing is done. */
static void upgrade_steps_give_up(struct upgrade_pass *s, const struct target *policy_target,
                                  enum reason reason, const char *message)
{
    s->out->claimed = true;
    upgrade_pass_assign_unchanged(s);
    s->t = policy_target->good ? policy_target->good : policy_target;
    bool arrived = node_bears(&s->p->in->view, &s->t->runs) && upgrade_pass_works(s);
    bool begun = !*s->p->v->carried.hash[TIER_STACK] ||
                 node_bears(&s->p->in->view, &policy_target->runs);
    if (arrived || !begun) {
        upgrade_pass_release(s, reason, message);
        return;
    }
    struct claim *c = &s->out->claim, before = *c;
    *c = (struct claim){ .generation = s->p->in->generation, .claimed_s = s->p->in->now_s };
    claim_keep(c, &before);
    snprintf(c->policy, sizeof c->policy, "%s", s->p->in->policy->uid);
    start_over(s, CLAIM_ROLLBACK, reason, message);
}

static void settle_unreadable(struct upgrade_pass *s, const char *why)
{
    const char *name = s->p->in->view.node->head.key;
    upgrade_pass_assign_unchanged(s);
    s->out->untouched = true;
    verdict_set(
        s->p, NODE_FAILED, REASON_CLAIM_UNREADABLE,
        "node %s: Ostler changes nothing on this node, because it does not understand the "
        "annotation " ANNOTATION_CLAIM
        ": %s. To give up the upgrade of this node, run: kubectl annotate node %s " ANNOTATION_CLAIM
        "-",
        name, why, name);
}

/* The failure reason that the status counts. With OTHER the verdict has the word. */
static enum reason failed_reason(const struct upgrade_pass *s)
{
    static const enum reason own[] = { REASON_VALIDATION_FAILED,    REASON_VERSION_MISMATCH,
                                       REASON_NO_ALLOCATABLE_GPUS,  REASON_STACK_NOT_REMOVED,
                                       REASON_DRIVER_NOT_REMOVED,   REASON_PODS_NOT_EVICTED,
                                       REASON_NOUVEAU_BOUND,        REASON_SECURE_BOOT_UNSIGNED,
                                       REASON_NETWORK_CARD_MISSING, REASON_REPAIR_FAILED,
                                       REASON_RESET_FAILED,         REASON_REBOOT_FAILED,
                                       REASON_REBOOT_NOT_ALLOWED,   REASON_ATTEMPTS_SPENT };
    enum reason reason = claim_reason(&s->out->claim);
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (reason == own[i])
            return reason;
    return str_eq(s->out->claim.reason, verdict_word(s->p->v))
               ? reason
               : claim_kinds[s->out->claim.kind].failed;
}

/* The revisions that the node counts as having run well. For an upgrade: what it came from, or, if
 * it started again halfway, what was on the node then, validated or not (records.c also checks that
 * a node ran it). For a rollback: its target, because other nodes ran it. */
static void take_claim(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    s->p->v->claimed = c->to;
    s->p->v->last = (struct assignment){ 0 };
    snprintf(s->p->v->last.hash[TIER_STACK], REVISION_HASH_MAX, "%s", claim_last_stack(c));
    s->p->v->ran = claim_kinds[c->kind].known_good ? c->to : c->from;
    if (c->phase == CLAIM_FAILED)
        s->p->v->failed_with = claim_reason(c);
}

/* The verdict of a node that stays claimed or is released. */
static void settle_step(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    const struct upgrade_phase *phase = &upgrade_phases[c->phase];
    struct node_verdict *v = s->p->v;
    struct upgrade_story story = { .claim = c,
                                   .spec = s->p->in->rollout,
                                   .health = s->p->in->health_spec,
                                   .what = str_or_empty(s->out->message),
                                   .from_s = deadline_from_s(s->p->in, c->since_s) };
    if (s->out->claimed) {
        take_claim(s);
        v->next_text = upgrade_next(&story, s->p->a, &v->next_s);
    }
    if (!s->out->claimed || !claim_closes(c)) {
        operands_judge(s->p);
        return;
    }
    v->moving = c->phase != CLAIM_FAILED;
    v->restoring = claim_kinds[c->kind].restores;
    v->trouble = v->moving && v->state == NODE_FAILED ? v->message : NULL;
    v->evicts = s->out->send != SEND_NONE;
    v->refused = v->evicts ? s->p->in->refused : NULL;
    verdict_settle(v, phase->state, phase->reason ? phase->reason : failed_reason(s),
                   upgrade_sentence(&story, s->p->a));
}

/* A time in the future came from a wrong clock. It becomes now, because its timeout would end too
 * late. */
static void correct(int64_t *at_s, int64_t now_s)
{
    if (clock_is_ahead(*at_s, now_s))
        *at_s = now_s;
}

static void upgrade_steps_step(struct upgrade_pass *s)
{
    struct claim *c = &s->out->claim;
    correct(&c->since_s, s->p->in->now_s);
    correct(&c->claimed_s, s->p->in->now_s);
    s->out->claimed = true;
    if (is_called_back(s)) {
        upgrade_pass_assign_as_it_was(s);
        upgrade_pass_release(s, REASON_CANCELLED,
                             "a user cordoned or held the node, and nothing was changed on it: it "
                             "returns to service");
    } else if (is_as_it_was(s) && repair_ends(s)) {
        upgrade_pass_assign_as_it_was(s);
    } else if (may_turn(s) && !claim_is_for(c, assignment_ref(&s->t->runs)) &&
               *s->t->runs.hash[TIER_STACK]) {
        change_target(s);
    }
    if (s->out->claimed && !s->out->reason)
        upgrade_phases[c->phase].step(s);
    if (s->turn && s->out->claimed)
        s->out->message = arena_printf(s->p->a, "%s; %s", str_or_empty(s->out->message), s->turn);
}

void upgrade_step(const struct node_pass *p, const struct target *policy_target,
                  struct upgrade *ret)
{
    const struct node_input *in = p->in;
    const char *text = intern_text(in->view.strings, in->view.node->claim);
    char why[CLAIM_WHY_MAX];
    struct upgrade_pass s = { .p = p, .t = upgrade_target(in, policy_target), .out = ret };
    s.falling_back = s.t != policy_target;
    *ret = (struct upgrade){ .gave_up = upgrade_given_up(in, policy_target)
                                            ? upgrade_target_text(p->a, policy_target)
                                            : NULL,
                             .under_way = text || upgrade_claim_taken(in) };
    if (!ret->under_way)
        return;
    if (!text) {
        ret->gave_up = upgrade_target_text(p->a, policy_target);
        upgrade_steps_give_up(&s, policy_target, REASON_ABANDONED,
                              "a user removed the annotation ostler.dev/claim: Ostler restores "
                              "what the node ran before, and does not upgrade it");
    } else if (!claim_parse(text, &ret->claim, why)) {
        settle_unreadable(&s, why);
        return;
    } else if (!str_eq(ret->claim.policy, in->policy->uid)) {
        upgrade_steps_give_up(&s, policy_target, REASON_POLICY_GONE,
                              "the policy that asked for this upgrade is gone: Ostler restores "
                              "what the node ran before");
    } else {
        upgrade_steps_step(&s);
    }
    settle_step(&s);
}
