/* Whether a node is closed for new pods because its GPUs have a fault, and when it opens again.
 * Pure: what is known of the GPUs, the node's record of the fault (model/fault_record.h) and the
 * time give the next record, and whether the node has the taint ostler.dev/unhealthy.
 *
 * - A fault that asks for CLOSE or more closes the node. One that only the kernel log shows does so
 *   after CLOSING_CONFIRM_S, so that NVML can say that nothing needs to be done.
 * - A node whose device plugin withholds every bad GPU gets a record and no taint.
 * - Silence opens no node: it stays closed until something shows that the fault has ended, and then
 *   until a pod has validated a GPU.
 * - A user who removes the taint opens the node: Ostler does nothing more about that fault.
 * - While the node is claimed, its claim decides: the record and the taint stay. */
#ifndef OSTLER_RECONCILERS_DECIDE_CLOSING_H
#define OSTLER_RECONCILERS_DECIDE_CLOSING_H

#include "base/arena.h"
#include "reconcilers/decide/node_types.h"
#include "reconcilers/model/fault_record.h"

/* How long a fault must be known that only the kernel log shows. */
enum { CLOSING_CONFIRM_S = 8 };

/* All borrowed. */
struct closing_input {
    const struct health_spec *spec;
    const struct health_input *health; /* NULL: nothing is or was wrong */
    struct fault_record record;        /* as the node has it; zeros: none */
    bool tainted;                      /* the node has the taint */
    bool claimed;
    bool ignored;    /* a user's label: Ostler does nothing about faults */
    bool held;       /* a user holds the node: it is not closed, and not repaired */
    bool withheld;   /* the device plugin withholds every bad GPU, and the others work */
    bool braked;     /* many nodes became unhealthy: soft evidence closes none */
    bool asked;      /* a user asks for a repair, or the claim is for one that a user asked for */
    bool failed;     /* a repair of it has failed: that it was tried shows nothing */
    bool own_driver; /* its driver is Ostler's: it can be unloaded, so GPUs can be reset */
    bool reported;   /* the node's agent has reported since the boot, or none will */
    /* The policy asks for a validation. A pod has passed it since it became outdated, or there is
     * nothing to validate. It passed because every GPU was in use, which does not count here. */
    bool validates, proven, counted;
    uint64_t boot;             /* of the node; 0: not known */
    int64_t unhealthy_since_s; /* as in struct node_input */
    int64_t now_s;
};

/* What is decided. Strings are from the arena, static, or borrowed from the input. */
struct closing {
    struct fault_record record; /* as it shall be */
    bool taint;                 /* the node shall have the taint */
    bool outdates;              /* its validation becomes outdated */
    bool proves;                /* a pod must validate a GPU before it opens */
    enum reason reason;         /* of the write; NONE: the record stays as it is */
    const char *message;
    int64_t again_s;         /* when to decide again without an event, epoch seconds; 0: never */
    enum repair_need wants;  /* which repair the fault, or a user, asks for */
    enum repair_need repair; /* the same; NOTHING if nothing is left that Ostler may try */
    enum repair_kind first;  /* what Ostler tries first; REPAIR_KINDS: nothing */
    int64_t repair_since_s;
    /* What a repair is for: the level below, without faults that a user left alone; CLOSE where
     * nothing is known of the fault of a closed node. */
    enum health_level repair_level;
    /* The worst fault that is known now: what it asks for, its word and its GPU; "": none. */
    enum health_level level;
    const char *word, *address;
    bool left; /* a user has left it alone, and there is no other */
};

void closing_decide(const struct closing_input *in, struct arena *a, struct closing *ret);
/* "Xid79 of GPU 0000:65:00.0"; without an address: "FabricUnhealthy". From the arena. */
const char *closing_fault_text(struct arena *a, const char *word, const char *address);

#endif
