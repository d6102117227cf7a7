#include "reconcilers/decide/repair_end.h"

#include "reconcilers/model/fault_record.h"

/* The attempt that a claim has made since it was made, or since its retry, or makes by failing;
 * REPAIR_KINDS: none. */
static enum repair_kind tried_by(const struct node_input *in, const struct claim *before,
                                 const struct upgrade *up)
{
    struct fault_record r;
    fault_record_of(&in->view, &r);
    return up->tries && claim_is_failed_repair(&up->claim)
               ? up->tried
               : fault_record_tried(&r, before->claimed_s);
}

static struct repair_end ended(enum repair_result result, enum repair_kind kind)
{
    return kind == REPAIR_KINDS ? (struct repair_end){ 0 } : (struct repair_end){ result, kind };
}

/* The pod of a reset that did not do it, whatever comes after it. */
static bool is_refused(const struct claim *before, const struct upgrade *up)
{
    return up->reason == REASON_RESET_FAILED ||
           (before->phase == CLAIM_RESETTING &&
            (up->claim.phase == CLAIM_REBOOTING || up->reason == REASON_REPAIR_CALLED_OFF));
}

/* The attempts of a claim have ended when the node gets its driver back without a repair. */
static bool has_ended(const struct claim *before)
{
    return before->phase == CLAIM_FAILED ||
           (*before->called_off && before->phase != CLAIM_RESETTING &&
            before->phase != CLAIM_REBOOTING);
}

static bool is_made_on_the_way(const struct claim *before, const struct upgrade *up)
{
    return !claim_kinds[before->kind].repairs && before->phase == CLAIM_RESETTING &&
           up->reason == REASON_RESET_DONE;
}

struct repair_end repair_end_of(const struct node_input *in, const struct upgrade *up)
{
    struct claim before;
    const char *text = intern_text(in->view.strings, in->view.node->claim);
    if (!up->under_way || up->untries || !text || !claim_parse(text, &before, NULL) ||
        has_ended(&before))
        return (struct repair_end){ 0 };
    bool fails = up->claimed && claim_is_failed_repair(&up->claim);
    enum repair_kind kind = tried_by(in, &before, up);
    if (up->heals || is_made_on_the_way(&before, up))
        return ended(REPAIR_SUCCEEDED, kind);
    if (fails && claim_reason(&up->claim) == REASON_REPAIR_FAILED)
        return ended(REPAIR_FAULT_REMAINS, kind);
    return fails || is_refused(&before, up) ? ended(REPAIR_FAILED, kind) : (struct repair_end){ 0 };
}

const char *repair_result_name(enum repair_result result)
{
    static const char *const names[REPAIR_RESULTS] = { [REPAIR_GOES_ON] = "",
                                                       [REPAIR_SUCCEEDED] = "succeeded",
                                                       [REPAIR_FAULT_REMAINS] = "fault_remains",
                                                       [REPAIR_FAILED] = "failed" };
    return names[result];
}
