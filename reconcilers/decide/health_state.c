#include "reconcilers/decide/health_state.h"

#include "base/clock.h"
#include "base/str.h"
#include "reconcilers/decide/health_left.h"
#include "reconcilers/model/names.h"

bool health_is_acted_on(const struct health_handling *handling)
{
    return handling->spec && handling->spec->mode != HEALTH_MODE_OBSERVE;
}

/* ---- the state */

static unsigned tries_of(const struct health_handling *in, enum repair_kind kind)
{
    return fault_record_tries(&in->record, kind, in->spec->attempts_per_s, in->now_s);
}

/* Whether every attempt to repair the node has been made. A reboot is what follows the resets. */
static bool is_spent(const struct health_handling *in)
{
    unsigned resets = tries_of(in, REPAIR_RESET), reboots = tries_of(in, REPAIR_REBOOT);
    if (in->spec->mode != HEALTH_MODE_REPAIR)
        return false;
    if (in->spec->reboot != HEALTH_REBOOT_NONE && reboots < in->spec->reboots)
        return false;
    return reboots || resets >= in->spec->resets;
}

/* Whether only a reboot repairs the node, and Ostler may reboot none. */
static bool is_barred(const struct health_status *fault, const struct health_handling *in)
{
    return in->spec->mode == HEALTH_MODE_REPAIR && fault->level == HEALTH_REBOOT &&
           in->spec->reboot == HEALTH_REBOOT_NONE;
}

static enum health_state closed_state(const struct health_status *fault,
                                      const struct health_handling *in)
{
    if (fault->level == HEALTH_HUMAN || is_barred(fault, in) || is_spent(in))
        return HEALTH_IS_HUMAN;
    return in->record.tainted ? HEALTH_IS_CLOSED : HEALTH_IS_WITHHELD;
}

/* The state of a fault that should close the node and has not. */
static enum health_state open_state(const struct health_status *fault,
                                    const struct health_handling *in)
{
    const struct fault_record *r = &in->record;
    bool of_gpu = str_eq(r->address, fault->address),
         recorded = of_gpu && str_eq(r->reason, fault->reason),
         same = of_gpu && health_left_same_event(r->reason, fault->reason);
    if ((recorded || same) && r->state == FAULT_IGNORED)
        return HEALTH_IS_IGNORED;
    if (recorded && r->state == FAULT_BRAKED)
        return HEALTH_IS_BRAKED;
    return in->now_s - fault->since_s <= HEALTH_CONFIRMING_S ? HEALTH_IS_CONFIRMING
                                                             : HEALTH_IS_REPORTED;
}

enum health_state health_state_of(const struct health_status *fault,
                                  const struct health_handling *handling)
{
    if (!health_is_acted_on(handling))
        return HEALTH_IS_REPORTED;
    if (handling->repairing)
        return HEALTH_IS_REPAIRING;
    if (handling->left_alone)
        return HEALTH_IS_IGNORED;
    bool closes = fault->level >= HEALTH_CLOSE;
    if (handling->record.state == FAULT_PROVING && !closes)
        return HEALTH_IS_PROVING;
    if (fault_state_closes(handling->record.state))
        return closed_state(fault, handling);
    return closes ? open_state(fault, handling) : HEALTH_IS_REPORTED;
}

/* ---- in words */

static const char *const sentences[HEALTH_STATES_LEN] = {
    [HEALTH_IS_REPORTED] = "",
    [HEALTH_IS_CONFIRMING] = " Ostler looks once more before it closes the node.",
    [HEALTH_IS_CLOSED] = " Ostler keeps new pods off the node; it opens after a reset or reboot "
                         "and a validation.",
    [HEALTH_IS_WITHHELD] = " Ostler leaves the node open, because the device plugin keeps pods off "
                           "the GPU.",
    [HEALTH_IS_PROVING] = " Ostler opens the node when a GPU is validated: the fault has ended.",
    [HEALTH_IS_REPAIRING] = " Ostler repairs the node.",
};

/* In place of these, in mode Repair. */
static const char *const repair_sentences[HEALTH_STATES_LEN] = {
    [HEALTH_IS_CLOSED] = " Ostler keeps new pods off the node, and repairs it when its jobs have "
                         "ended and spec.rollout allows it.",
    [HEALTH_IS_WITHHELD] = " Ostler leaves the node open, because the device plugin keeps pods off "
                           "the GPU, and repairs it when spec.rollout allows it.",
};

static const char *ignored_sentence(const struct health_handling *in, struct arena *a)
{
    if (in->left_alone)
        return arena_printf(
            a,
            " Ostler does nothing about it, because of the node's label " LABEL_HEALTH
            "=" HEALTH_IGNORE "; undo: kubectl label node %s " LABEL_HEALTH "-.",
            in->node);
    return arena_printf(
        a,
        " Ostler does nothing about it, because a user removed the taint " TAINT_UNHEALTHY
        "; undo: kubectl annotate node %s " ANNOTATION_FAULT "-.",
        in->node);
}

static const char *braked_sentence(const struct health_handling *in, struct arena *a)
{
    return arena_printf(a,
                        " Ostler left the node open, because many nodes became unhealthy at that "
                        "time; to have it closed: kubectl annotate node %s " ANNOTATION_FAULT "-.",
                        in->node);
}

static const char *human_sentence(const struct health_status *fault,
                                  const struct health_handling *in, struct arena *a)
{
    const char *kept = in->record.tainted ? "keeps new pods off the node"
                                          : "leaves the node open, because the device plugin keeps "
                                            "pods off the GPU";
    if (fault->level == HEALTH_HUMAN)
        return arena_printf(a, " Ostler %s; it cannot repair it.", kept);
    if (is_barred(fault, in))
        return arena_printf(a,
                            " Ostler %s; only a reboot repairs it, and spec.health.reboot is None: "
                            "reboot the node.",
                            kept);
    return arena_printf(a, " Ostler %s; its repairs did not help.", kept);
}

const char *health_state_sentence(const struct health_status *fault,
                                  const struct health_handling *handling, struct arena *a)
{
    enum health_state state = health_state_of(fault, handling);
    if (state == HEALTH_IS_IGNORED)
        return ignored_sentence(handling, a);
    if (state == HEALTH_IS_BRAKED)
        return braked_sentence(handling, a);
    if (state == HEALTH_IS_HUMAN)
        return human_sentence(fault, handling, a);
    bool repairs = handling->spec && handling->spec->mode == HEALTH_MODE_REPAIR;
    return repairs && repair_sentences[state] ? repair_sentences[state] : sentences[state];
}

bool health_state_needs_person(enum health_state state, const struct health_handling *handling)
{
    if (state == HEALTH_IS_CONFIRMING || state == HEALTH_IS_PROVING || state == HEALTH_IS_REPAIRING)
        return false;
    bool repairs = handling->spec && handling->spec->mode == HEALTH_MODE_REPAIR;
    return !(repairs && repair_sentences[state]);
}

/* ---- a node that is closed */

static const char *fault_of(const struct health_handling *in, struct arena *a)
{
    const struct fault_record *r = &in->record;
    return *r->address ? arena_printf(a, "%s of GPU %s", r->reason, r->address)
                       : arena_strdup(a, r->reason);
}

const char *health_closed_sentence(const struct health_handling *handling, struct arena *a)
{
    const char *fault = fault_of(handling, a);
    char since[CLOCK_TEXT_MAX];
    clock_rfc3339(handling->record.since_s * 1000000, since);
    if (handling->record.state == FAULT_PROVING)
        return arena_printf(a,
                            "the fault %s has ended; the node is closed for new pods until a GPU "
                            "is validated",
                            fault);
    return arena_printf(a,
                        "closed for new pods since %s because of the fault %s; running pods stay, "
                        "and status.health says more",
                        since, fault);
}

const char *health_closed_next(const struct health_status *fault,
                               const struct health_handling *handling)
{
    enum health_state state = fault ? health_state_of(fault, handling) : HEALTH_IS_REPORTED;
    if (handling->record.state == FAULT_PROVING && state != HEALTH_IS_HUMAN)
        return "when a GPU of the node is validated, Ostler opens the node";
    if (state == HEALTH_IS_HUMAN)
        return "nothing, until a user does what status.health says";
    if (handling->spec && handling->spec->mode == HEALTH_MODE_REPAIR)
        return "when its jobs have ended and spec.rollout allows it, Ostler repairs the node";
    return "after a reset of its GPUs or a reboot, and a validation, Ostler opens the node";
}
