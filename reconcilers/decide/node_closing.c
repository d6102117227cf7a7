#include "reconcilers/decide/node_closing.h"

#include <stdlib.h>

#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/health_bad.h"
#include "reconcilers/decide/health_report.h"
#include "reconcilers/decide/inventory.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/upgrade_target.h"

/* Whether the GPUs that are not offered are the bad ones: the plugin withholds GPUs for those
 * faults, and what is missing besides has no other cause. */
static bool are_withheld(const struct health_bad *bad, unsigned missing)
{
    return bad->gpus == bad->withholdable && !bad->whole_node && missing >= bad->gpus + bad->others;
}

/* How many GPUs the device plugin withholds because they are bad; 0: it gives a bad one out, or
 * the others do not work either, or that is in doubt. While the plugin offers none, as
 * when it restarts, or NVML is silent, that is not known, and all is as the record says. */
static unsigned withheld_gpus(const struct node_input *in, const struct fault_record *r)
{
    unsigned expected = in->health ? inventory_whole_gpus(in) : 0,
             offered = (unsigned) in->view.node->gpus;
    bool recorded = r->state == FAULT_CLOSED && !r->tainted;
    if (offered >= expected)
        return 0;
    if (recorded && (!offered || health_kept(in->health)))
        return expected - offered;
    struct health_bad bad = health_bad_gpus(in->health);
    return offered && are_withheld(&bad, expected - offered) ? bad.gpus : 0;
}

/* Only where faults close nodes it is known why a bad GPU is not offered. */
static bool closes(const struct closing_input *in)
{
    return in->spec->mode != HEALTH_MODE_OBSERVE && !in->ignored;
}

/* Whether a user asks for a repair that has not begun. */
static bool is_asked(const struct node_input *in)
{
    return in->view.node->repair != INTERN_NONE;
}

/* What the node's claim says. One that cannot be read decides about the node, as others do. After a
 * drain that timed out the node is in service. */
static void gather_claim(const struct node_input *in, struct closing_input *ret)
{
    struct claim c;
    const char *text = intern_text(in->view.strings, in->view.node->claim);
    ret->asked = is_asked(in);
    if (!text || !claim_parse(text, &c, NULL)) {
        ret->claimed = text || upgrade_claim_taken(in);
        return;
    }
    ret->claimed = claim_closes(&c);
    ret->failed = claim_is_failed_repair(&c);
    ret->asked |= claim_is_asked(&c);
}

static void gather(const struct node_pass *p, struct node_closing *n)
{
    const struct node_input *in = p->in;
    const struct node_view *view = &in->view;
    n->in = (struct closing_input){
        .spec = in->health_spec,
        .health = in->health,
        .tainted = marks_have_taint(view, TAINT_UNHEALTHY),
        .ignored = node_ignores_faults(view),
        .held = node_is_held(view),
        .braked = in->braked,
        .reported = inventory_is_told(in),
        .validates = in->policy->validation.enabled,
        .boot = view->node->boot,
        .own_driver = node_label(view, LABEL_DRIVER) || *p->v->target.hash[TIER_DRIVER],
        .unhealthy_since_s = in->unhealthy_since_s,
        .now_s = in->now_s,
    };
    gather_claim(in, &n->in);
    n->unreadable = !fault_record_of(view, &n->in.record);
    unsigned withheld = withheld_gpus(in, &n->in.record);
    n->in.withheld = withheld > 0;
    p->v->withheld = closes(&n->in) ? withheld : 0;
}

static void node_closing_decide(const struct node_pass *p, struct node_closing *n)
{
    closing_decide(&n->in, p->a, &n->out);
    p->v->unhealthy = n->out.taint;
    p->v->repair = n->out.repair;
    p->v->repair_first = n->out.first;
    p->v->repair_level = n->out.repair_level;
    p->v->repair_since_s = n->out.repair_since_s;
}

static void look_again_at(const struct node_pass *p, int64_t at_s)
{
    if (at_s > p->in->now_s)
        actions_requeue(p->actions, (at_s - p->in->now_s) * 1000);
}

void node_closing_begin(const struct node_pass *p, struct node_closing *ret)
{
    gather(p, ret);
    node_closing_decide(p, ret);
    look_again_at(p, ret->out.again_s);
    if (p->in->health)
        look_again_at(p, health_due_s(p->in->health));
}

bool node_closing_would_repair(const struct node_pass *p, const struct node_closing *n)
{
    struct closing_input in = n->in;
    struct closing out;
    in.claimed = false;
    closing_decide(&in, p->a, &out);
    return out.wants != REPAIR_NOTHING;
}

void node_closing_look(const struct node_pass *p, const struct proof_look *look,
                       struct node_closing *n)
{
    bool done = look && proof_is_done(look);
    n->in.counted = done && look->result == PROOF_HOLDS && look->proof.way == PROOF_BY_COUNT;
    n->in.proven = done && !n->in.counted;
    node_closing_decide(p, n);
}

void node_closing_free(const struct node_pass *p, const struct proof_look *look,
                       struct node_closing *n)
{
    n->in.claimed = n->in.failed = false;
    n->in.asked = is_asked(p->in);
    node_closing_look(p, look, n);
}

void node_closing_leave(const struct node_pass *p, struct node_closing *n)
{
    if (n->in.claimed)
        return;
    n->in.claimed = true;
    node_closing_decide(p, n);
}

/* ---- the verdict */

/* States of an unclaimed node that is up, which its fault comes before. */
static bool comes_before(enum node_state state)
{
    static const bool is_up[NODE_STATE_COUNT] = { [NODE_INSTALLING] = true,
                                                  [NODE_VALIDATING] = true,
                                                  [NODE_READY] = true,
                                                  [NODE_FAILED] = true };
    return is_up[state];
}

static const char *why_proving(const struct node_pass *p, const struct proof_look *look)
{
    if (look && look->message && !proof_is_done(look))
        return look->message;
    return p->v->message ? p->v->message : "its validation begins";
}

static const char *why_closed(const struct node_pass *p, const struct proof_look *look,
                              const struct node_closing *n)
{
    const struct fault_record *r = &n->out.record;
    const char *fault = closing_fault_text(p->a, r->reason, r->address);
    if (r->state == FAULT_PROVING)
        return arena_printf(p->a, "%s has ended, and the node opens when a GPU is validated: %s",
                            fault, why_proving(p, look));
    if (n->out.level >= HEALTH_CLOSE && !n->out.left)
        return health_report(p->in->health, &(struct health_handling){ 0 }, p->a)->message;
    if (!n->in.reported)
        return arena_printf(p->a, "%s, and the node's agent has not reported since the boot",
                            fault);
    return arena_printf(
        p->a,
        "%s is not reported any longer, and nothing shows that it has ended: reboot "
        "the node, or remove its taint to open it",
        fault);
}

/* Whether an operand is not up, for which the verdict has a sentence. */
static bool is_down(const struct node_verdict *v)
{
    return v->cause != OPERAND_NONE && v->message &&
           (v->state == NODE_INSTALLING || v->state == NODE_FAILED);
}

void node_closing_judge(const struct node_pass *p, const struct proof_look *look,
                        const struct node_closing *n)
{
    const struct fault_record *r = &n->out.record;
    struct node_verdict *v = p->v;
    if (!n->out.taint || !comes_before(v->state))
        return;
    const char *why = why_closed(p, look, n), *name = p->in->view.node->head.key;
    bool waits = r->state == FAULT_PROVING && look && !proof_is_done(look) && look->reason;
    if (is_down(v) && r->state != FAULT_PROVING) {
        why = arena_printf(p->a, "%s; besides, an operand is not up: %s", why, v->message);
    } else {
        v->cause = OPERAND_NONE;
        v->pod = r->state == FAULT_PROVING && look && look->keep ? look->keep->head.key : NULL;
    }
    v->word = arena_strdup(p->a, r->reason);
    enum reason reason = waits                       ? look->reason
                         : r->state == FAULT_PROVING ? REASON_VALIDATING
                                                     : reason_parse(v->word);
    verdict_set(p, NODE_UNHEALTHY, reason, "node %s is closed for new pods (taint %s): %s", name,
                TAINT_UNHEALTHY, why);
}

/* ---- the write */

void node_closing_mark(const struct node_pass *p, const struct node_closing *n,
                       struct marks *wanted)
{
    wanted->unhealthy = n->out.taint;
    if (!n->out.reason) {
        /* Members of a newer Ostler stay. */
        wanted->fault = n->unreadable ? NULL
                                      : intern_text(p->in->view.strings, p->in->view.node->fault);
        return;
    }
    CLEANUP_FREE char *text = fault_record_text(&n->out.record);
    wanted->fault = text ? arena_strdup(p->a, text) : NULL;
}
