#include "reconcilers/plan/upgrade_steps.h"

#include <ctype.h>
#include <stdio.h>

#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/plan/marks.h"
#include "reconcilers/plan/node_operands.h"
#include "reconcilers/plan/upgrade_target.h"

/* Reasons of nodes that failed. */
#define REASON_FAILED "UpgradeFailed"
#define REASON_NO_GPUS "NoGpus"
#define REASON_STACK_LEAVING "StackLeaving"
#define REASON_DRIVER_LEAVING "DriverLeaving"

/* One pass over one claimed node. */
struct stepping {
    const struct node_input *in;
    const struct target *t; /* what it is to run in the end */
    bool back;              /* that is not what the policy says */
    struct arena *a;
    struct node_verdict *v;
    struct plan *plan;
    struct upgrade *out;
};

/* ---- what is asked again and again */

static const char *label_of(const struct node_input *in, const char *key)
{
    return str_or_empty(node_label(&in->view, key));
}

static const char *none_if_empty(const char *hash)
{
    return *hash ? hash : NULL;
}

static bool bears(const struct node_input *in, const char *driver, const char *stack)
{
    return str_eq(label_of(in, LABEL_DRIVER), driver) && str_eq(label_of(in, LABEL_STACK), stack);
}

bool upgrade_jobs_may_go(const struct drain_spec *spec, int64_t claimed_s, int64_t now_s, int64_t *ret_left_s)
{
    int64_t waited = now_s > claimed_s ? now_s - claimed_s : 0;
    *ret_left_s = spec->wait_for_jobs_s < 0 ? -1 : spec->wait_for_jobs_s - waited;
    return spec->wait_for_jobs_s >= 0 && *ret_left_s <= 0;
}

/* Who is still there that uses the driver. Asks to be called again when the time for jobs is over. */
static void look_at_pods(const struct stepping *s, struct drain *ret)
{
    int64_t left;
    const struct drain_spec *spec = &s->in->rollout->drain;
    struct drain_input in = { .pods = s->in->pod_list, .strings = s->in->view.strings, .spec = spec };
    in.jobs_may_go = upgrade_jobs_may_go(spec, s->out->claim.claimed_s, s->in->now_s, &left);
    if (left > 0)
        plan_requeue(s->plan, left * 1000);
    drain_look(&in, s->a, ret);
}

/* Whether the phase has lasted too long. The time before the node was last up does not count, and on one that is down none does: it has had none. Nor
 * does time in which nobody watched, nor what is so recent that nothing was heard of it yet: what became of the node then is not known. So a clock that
 * jumps ahead makes no node fail either. */
static bool is_overdue(const struct stepping *s, int64_t timeout_s)
{
    const struct node *n = s->in->view.node;
    int64_t since = s->out->claim.since_s > n->up_since_s ? s->out->claim.since_s : n->up_since_s;
    int64_t lasted = s->in->now_s > since ? s->in->now_s - since : 0;
    if (!n->ready)
        return false;
    if (lasted > s->in->watched_s)
        lasted = s->in->watched_s;
    lasted -= s->in->age_s;
    if (lasted < timeout_s)
        plan_requeue(s->plan, (timeout_s - lasted) * 1000);
    return lasted >= timeout_s;
}

static bool stack_is_present(const struct node_pods *p)
{
    for (int c = COMPONENT_TOOLKIT; c <= COMPONENT_EXPORTER; c++)
        if (p->of[c].present)
            return true;
    return false;
}

/* Whether the node cannot be given a revision yet: its record is not there, or may be on its way out with others that no node carries. */
static bool lacks_record(const struct stepping *s, const char *tier, const char *label, const char *hash)
{
    return *hash && !str_eq(label_of(s->in, label), hash) && (s->in->deleting || !s->in->record(s->in->arg, tier, hash));
}

/* ---- what a step does */

static void assign_now(struct stepping *s, const char *driver, const char *stack)
{
    s->out->driver = none_if_empty(driver);
    s->out->stack = none_if_empty(stack);
    snprintf(s->v->driver, sizeof s->v->driver, "%s", driver);
    snprintf(s->v->stack, sizeof s->v->stack, "%s", stack);
    s->v->wanted = s->v->up = 0;
    operands_list(s->in, s->v);
}

/* Until it is drained the node keeps what it ran before, or what a try before this one has put there. */
static void assign_as_it_was(struct stepping *s)
{
    const struct claim *c = &s->out->claim;
    bool tried = c->attempt > 1 && claim_moves_driver(c) && str_eq(label_of(s->in, LABEL_DRIVER), c->driver);
    assign_now(s, tried ? c->driver : c->from_driver, tried ? c->stack : c->from_stack);
}

/* The node's time begins anew with each thing that is asked of it: what it took to ask does not count. */
static void ask(struct stepping *s, const char *driver, const char *stack)
{
    assign_now(s, driver, stack);
    s->out->claim.since_s = s->in->now_s;
}

static void say(struct stepping *s, const char *reason, const char *message)
{
    s->out->reason = reason;
    s->out->message = message;
}

static void enter(struct stepping *s, enum claim_phase phase, const char *reason, const char *message)
{
    s->out->claim.phase = phase;
    s->out->claim.since_s = s->in->now_s;
    *s->out->claim.reason = '\0';
    say(s, reason, message);
}

static void release(struct stepping *s, const char *reason, const char *message)
{
    s->out->claimed = false;
    say(s, reason, message);
}

/* One word that a claim may hold. */
static void fail(struct stepping *s, const char *why, const char *message)
{
    char *reason = s->out->claim.reason;
    size_t n = 0;
    enter(s, CLAIM_FAILED, REASON_FAILED, message);
    for (const char *c = str_or_empty(why); *c && n < CLAIM_REASON_MAX - 1; c++)
        if (isalnum((unsigned char) *c))
            reason[n++] = *c;
    reason[n] = '\0';
    if (n == 0)
        snprintf(reason, CLAIM_REASON_MAX, "Unknown");
}

/* All that the node was to have is there, and the kubelet has GPUs to give. */
static bool works(const struct stepping *s)
{
    bool plugin = s->v->wanted & 1u << COMPONENT_DEVICE_PLUGIN;
    return s->out->stack && !(s->v->wanted & ~s->v->up) && (!plugin || s->in->view.node->gpus > 0);
}

/* ---- the phases */

static void step_waiting(struct stepping *s)
{
    assign_as_it_was(s);
    look_at_pods(s, &s->out->drain);
    say(s, "WaitingForJobs", s->out->drain.message ? s->out->drain.message : "its jobs are over: it waits for its turn");
}

/* Pods are asked to leave, until it takes too long. Jobs that are waited for do not count: that may take as long as they run. Nor is anybody deleted
 * while a pod is there that would stay: it would help nobody. */
static void send_pods_away(struct stepping *s)
{
    const struct drain_spec *spec = &s->in->rollout->drain;
    const struct drain *d = &s->out->drain;
    bool only_jobs = d->waiting == d->of[DRAIN_JOB] + d->of[DRAIN_TIMED_JOB];
    const char *refused = s->in->refused;
    say(s, "Draining", refused ? arena_printf(s->a, "%s; refused for %s", d->message, refused) : d->message);
    s->out->send = SEND_EVICT;
    if (only_jobs || !is_overdue(s, spec->timeout_s))
        return;
    if (spec->on_timeout == DRAIN_DELETE && !d->stuck) {
        s->out->send = SEND_DELETE;
        return;
    }
    s->out->send = SEND_NOBODY;
    fail(s, CLAIM_DRAIN_TIMEOUT, arena_printf(s->a, "drain.timeout is over: the node goes back into service as it was; %s", s->out->message));
}

static void step_draining(struct stepping *s)
{
    assign_as_it_was(s);
    look_at_pods(s, &s->out->drain);
    if (!s->in->view.node->ready)
        return;
    if (s->out->drain.waiting) {
        send_pods_away(s);
        return;
    }
    enter(s, CLAIM_UNLOADING, "Drained", "no GPU pod is left on the node: toolkit, device plugin and exporter leave");
    assign_now(s, str_or_empty(s->out->driver), "");
}

/* A driver that is another one, or the right one that did not come up the last time: a new try takes it off and puts it on again. */
static bool driver_must_go(const struct stepping *s)
{
    const char *driver = label_of(s->in, LABEL_DRIVER);
    const struct node_pods *p = s->in->pods;
    bool tried = s->out->claim.attempt > 1 && p->of[COMPONENT_DRIVER].present && !p->of[COMPONENT_DRIVER].ready;
    return *driver && (!str_eq(driver, s->out->claim.driver) || tried);
}

static bool driver_is_leaving(const struct stepping *s)
{
    const struct node_pods *p = s->in->pods;
    bool off = !*label_of(s->in, LABEL_DRIVER);
    return p->of[COMPONENT_DRIVER].present && !p->host_driver && (off || !str_eq(p->of[COMPONENT_DRIVER].revision, s->out->claim.driver));
}

static bool driver_is_up(const struct stepping *s)
{
    const struct node_pods *p = s->in->pods;
    const char *driver = s->out->claim.driver;
    return !*driver || (p->of[COMPONENT_DRIVER].ready && str_eq(p->of[COMPONENT_DRIVER].revision, driver));
}

static void take_driver_off(struct stepping *s)
{
    look_at_pods(s, &s->out->drain);
    if (s->out->drain.waiting) {
        enter(s, CLAIM_DRAINING, "GpuPodCame", arena_printf(s->a, "a GPU pod came in between: the node %s", s->out->drain.message));
        assign_as_it_was(s);
        return;
    }
    ask(s, "", "");
    say(s, "DriverOff", "the stack is gone and no GPU pod is there: the driver leaves");
}

static void wait_for_pods(struct stepping *s, const char *reason, const char *message)
{
    if (is_overdue(s, s->in->rollout->install_timeout_s))
        fail(s, reason, arena_printf(s->a, "timeouts.install is over: %s", message));
    else
        say(s, reason, message);
}

static void step_unloading(struct stepping *s)
{
    const struct claim *c = &s->out->claim;
    assign_now(s, label_of(s->in, LABEL_DRIVER), "");
    if (stack_is_present(s->in->pods)) {
        wait_for_pods(s, REASON_STACK_LEAVING, "pods of the stack are still on the node");
    } else if (driver_must_go(s)) {
        take_driver_off(s);
    } else if (driver_is_leaving(s)) {
        wait_for_pods(s, REASON_DRIVER_LEAVING, "the driver pod is still on the node");
    } else if (lacks_record(s, "driver", LABEL_DRIVER, c->driver) || lacks_record(s, "stack", LABEL_STACK, c->stack)) {
        say(s, "WaitingForRevision", "the record of the revision is being written");
    } else {
        enter(s, CLAIM_INSTALLING, "Unloaded",
              arena_printf(s->a, "driver revision %s, stack revision %s", *c->driver ? c->driver : "none", c->stack));
        assign_now(s, c->driver, driver_is_up(s) ? c->stack : "");
    }
}

static void step_validating(struct stepping *s)
{
    assign_now(s, s->out->claim.driver, s->out->claim.stack);
    if (works(s)) {
        release(s, "Upgraded", arena_printf(s->a, "the node runs driver revision %s and stack revision %s, and can allocate GPUs",
                                            s->out->driver ? s->out->driver : "none", s->out->stack));
        return;
    }
    const char *message = "every operand is up; the kubelet has no GPUs to give yet";
    if (s->v->wanted & ~s->v->up) {
        operands_judge(s->in, s->a, s->v);
        message = s->v->message;
    }
    if (is_overdue(s, s->in->rollout->validation_timeout_s))
        fail(s, s->v->wanted & ~s->v->up ? s->v->reason : REASON_NO_GPUS, arena_printf(s->a, "timeouts.validation is over: %s", message));
    else
        say(s, "Validating", message);
}

static void step_installing(struct stepping *s)
{
    const struct claim *c = &s->out->claim;
    bool stack_is_on = *c->stack && str_eq(label_of(s->in, LABEL_STACK), c->stack);
    if (!stack_is_on && driver_is_up(s) && !lacks_record(s, "stack", LABEL_STACK, c->stack)) {
        ask(s, c->driver, c->stack);
        say(s, "DriverUp", "the driver is up: toolkit, device plugin and exporter follow");
        return;
    }
    assign_now(s, c->driver, stack_is_on ? c->stack : "");
    operands_judge(s->in, s->a, s->v);
    if (stack_is_on && s->v->state == NODE_READY) {
        enter(s, CLAIM_VALIDATING, "Installed", "every operand is up: the kubelet must have GPUs to give");
        step_validating(s);
    } else if (is_overdue(s, s->in->rollout->install_timeout_s)) {
        fail(s, s->v->reason, arena_printf(s->a, "timeouts.install is over: %s", str_or_empty(s->v->message)));
    } else {
        say(s, "Upgrading", s->v->message ? s->v->message : "the record of the revision is being written");
    }
}

/* Nothing is done until the rollout tries it again; but what came up after all is taken. */
static void step_failed(struct stepping *s)
{
    const struct claim *c = &s->out->claim;
    assign_now(s, label_of(s->in, LABEL_DRIVER), label_of(s->in, LABEL_STACK));
    operands_judge(s->in, s->a, s->v);
    if (claim_closes(c) && bears(s->in, c->driver, c->stack) && bears(s->in, s->t->driver, s->t->stack) && works(s)) {
        release(s, "CameUp", "the node came up after all");
        return;
    }
    const char *problem = s->v->message ? s->v->message : c->reason;
    say(s, REASON_FAILED, arena_printf(s->a, "the upgrade failed on this node, which stays closed: %s", problem));
}

static const struct {
    void (*step)(struct stepping *s);
    enum node_state state;
    const char *reason; /* NULL: the claim's own */
} phases[CLAIM_PHASE_COUNT] = {
    [CLAIM_WAITING] = { step_waiting, NODE_WAITING, "WaitingForJobs" },
    [CLAIM_DRAINING] = { step_draining, NODE_DRAINING, "Draining" },
    [CLAIM_UNLOADING] = { step_unloading, NODE_UNLOADING, "Unloading" },
    [CLAIM_INSTALLING] = { step_installing, NODE_INSTALLING, "Upgrading" },
    [CLAIM_VALIDATING] = { step_validating, NODE_VALIDATING, "Validating" },
    [CLAIM_FAILED] = { step_failed, NODE_FAILED, NULL },
};

/* ---- what comes between */

static void start_over(struct stepping *s, enum claim_kind kind, const char *reason, const char *message)
{
    struct claim *c = &s->out->claim;
    c->kind = kind;
    c->attempt = 1;
    snprintf(c->driver, sizeof c->driver, "%s", s->t->driver);
    snprintf(c->stack, sizeof c->stack, "%s", s->t->stack);
    snprintf(c->from_driver, sizeof c->from_driver, "%s", label_of(s->in, LABEL_DRIVER));
    snprintf(c->from_stack, sizeof c->from_stack, "%s", label_of(s->in, LABEL_STACK));
    enter(s, CLAIM_UNLOADING, reason, message);
    assign_now(s, c->from_driver, "");
}

/* The node is meant to run something else by now. */
static void change_target(struct stepping *s)
{
    enum claim_phase phase = s->out->claim.phase;
    bool begun = phase != CLAIM_WAITING && phase != CLAIM_DRAINING;
    if (phase == CLAIM_FAILED && !bears(s->in, s->t->driver, s->t->stack))
        return; /* it holds no slot: the rollout gives it one */
    assign_now(s, label_of(s->in, LABEL_DRIVER), label_of(s->in, LABEL_STACK));
    if (!begun || phase == CLAIM_FAILED)
        release(s, "TargetChanged", "the node is meant to run something else by now, and nothing was changed on it yet");
    else
        start_over(s, s->back ? CLAIM_ROLLBACK : CLAIM_UPGRADE, "TargetChanged", "the node is meant to run something else by now");
}

/* Somebody wants the node left alone, and nothing was changed on it yet. */
static bool is_called_back(const struct stepping *s)
{
    enum claim_phase phase = s->out->claim.phase;
    const char *hold = node_label(&s->in->view, LABEL_HOLD);
    bool held = hold && !str_eq(hold, "false");
    return (phase == CLAIM_WAITING || phase == CLAIM_DRAINING) && (held || s->in->view.node->cordoned);
}

/* The claim is gone, or a policy's that is: the node gets back what it had. Where that still runs, nothing need be done. */
static void give_up(struct stepping *s, const struct target *wish, const char *reason, const char *message)
{
    assign_now(s, label_of(s->in, LABEL_DRIVER), label_of(s->in, LABEL_STACK));
    s->t = wish->good ? wish->good : wish;
    bool arrived = bears(s->in, s->t->driver, s->t->stack) && works(s);
    bool begun = !s->out->stack || bears(s->in, wish->driver, wish->stack);
    if (arrived || !begun) {
        release(s, reason, message);
        return;
    }
    struct claim *c = &s->out->claim;
    *c = (struct claim){ .generation = s->in->generation, .claimed_s = s->in->now_s };
    snprintf(c->policy, sizeof c->policy, "%s", s->in->policy->uid);
    start_over(s, CLAIM_ROLLBACK, reason, message);
}

static void settle_unreadable(struct stepping *s, const char *why)
{
    const char *name = s->in->view.node->head.key;
    assign_now(s, label_of(s->in, LABEL_DRIVER), label_of(s->in, LABEL_STACK));
    s->out->untouched = true;
    settle(s->v, NODE_FAILED, "ClaimUnreadable",
           arena_printf(s->a, "node %s: nothing is changed, since its annotation " ANNOTATION_CLAIM " is not understood: %s. To have the node "
                              "looked after again, run: kubectl annotate node %s " ANNOTATION_CLAIM "-", name, why, name));
}

/* Why the node failed, as the status counts it: a text that outlives the pass. */
static const char *failed_reason(const struct stepping *s)
{
    static const char *const own[] = { REASON_NO_GPUS, REASON_STACK_LEAVING, REASON_DRIVER_LEAVING };
    const char *reason = s->out->claim.reason;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (str_eq(reason, own[i]))
            return own[i];
    return str_eq(reason, s->v->reason) ? s->v->reason : REASON_FAILED;
}

/* What the verdict says of a node that stays claimed, or is let go. */
static void settle_step(struct stepping *s)
{
    const struct claim *c = &s->out->claim;
    if (!s->out->claimed || !claim_closes(c)) {
        operands_judge(s->in, s->a, s->v);
        return;
    }
    const char *reason = phases[c->phase].reason;
    s->v->moving = c->phase != CLAIM_FAILED;
    settle(s->v, phases[c->phase].state, reason ? reason : failed_reason(s), s->out->message);
}

static void step(struct stepping *s)
{
    const struct claim *c = &s->out->claim;
    bool same = str_eq(c->driver, s->t->driver) && str_eq(c->stack, s->t->stack);
    s->out->claimed = true;
    if (is_called_back(s)) {
        assign_as_it_was(s);
        release(s, "CalledBack", "somebody cordoned the node or put it on hold, and nothing was changed on it yet");
    } else if (!same && *s->t->stack) {
        change_target(s);
    }
    if (s->out->claimed && !s->out->reason)
        phases[c->phase].step(s);
}

void upgrade_step(const struct node_input *in, const struct target *wish, struct arena *a, struct node_verdict *v, struct plan *plan,
                  struct upgrade *ret)
{
    const char *text = intern_text(in->view.strings, in->view.node->claim), *why = NULL;
    const struct target *t = upgrade_target(in, wish);
    struct stepping s = { .in = in, .t = t, .back = t != wish, .a = a, .v = v, .plan = plan, .out = ret };
    *ret = (struct upgrade){ .gave_up = upgrade_given_up(in, wish) ? upgrade_pair(a, wish) : NULL };
    ret->under_way = text || upgrade_claim_taken(in);
    if (!ret->under_way)
        return;
    if (!text) {
        ret->gave_up = upgrade_pair(a, wish);
        ret->claimed = true;
        give_up(&s, wish, "GivenUp", "somebody took the claim off the node: it goes back to what it ran, and is left alone");
    } else if (!claim_parse(text, &ret->claim, &why)) {
        settle_unreadable(&s, why);
        return;
    } else if (!str_eq(ret->claim.policy, in->policy->uid)) {
        ret->claimed = true;
        give_up(&s, wish, "ClaimOfAnother", "the policy that the node was claimed for is gone: it goes back to what it ran");
    } else {
        step(&s);
    }
    settle_step(&s);
}
