/* What the facts about a node's GPUs mean: the worst fault, and what it asks for. Pure, and used
 * by everything that shows it or acts on it.
 *
 * The hardware's state comes before the log: NVML's recovery action decides what a fault asks for
 * where the driver reports it (model/xid.h), but for a worse one that the log has just told. Of
 * several faults, the one that asks for most counts; of equal ones hard evidence comes first, then
 * the order of the tables in health.c, then the fault that came first: so the verdict does not
 * change back and forth.
 *
 * What does not count:
 * - facts of another boot of the machine;
 * - faults of the log within Ostler's own change of the node's driver (struct health_quiet), since
 *   a driver that is unloaded makes noise; meanwhile NVML's silence means nothing either;
 * - faults of the log from before the present driver was installed, and from the minute after
 *   that, unless they ask for a reboot or a person: loading a driver resets the GPU. A driver that
 *   is gone again has ended them too.
 * While Ostler changes the driver, a fault of the log up to CLOSE asks for no more than the status
 * shows: the driver that said what it needs is gone. What NVML does not report any longer is not
 * known, which is not good: the status keeps it (health_kept()). */
#ifndef OSTLER_RECONCILERS_DECIDE_HEALTH_H
#define OSTLER_RECONCILERS_DECIDE_HEALTH_H

#include "reconcilers/decide/health_left.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/fault_record.h"
#include "reconcilers/model/health_status.h"
#include "reconcilers/model/node_health.h"
#include "reconcilers/model/node_inventory.h"
#include "reconcilers/model/reason.h"

/* How long after a change of its driver a node's log counts as noise; how old NVML's answer may be,
 * with the time that a report takes. */
enum { HEALTH_QUIET_S = 60, HEALTH_NVML_S = 120 };

/* Times between which the node's driver is, or was, being changed by Ostler; zeros: never. */
struct health_quiet {
    uint32_t from_s, until_s; /* epoch seconds */
};

/* The newest driver that was seen up on a node in one boot of it. */
struct health_driver {
    uint64_t boot;
    uint32_t made_s; /* when its pod was created, epoch seconds; 0: none was seen */
};

/* Takes a look at a node's claim, whose phases Unloading to Validating change its driver, unless it
 * leaves the driver. NULL: it has none. */
void health_quiet_take(struct health_quiet *q, const struct claim *claim, int64_t now_s);

/* All borrowed. */
struct health_input {
    const struct node_health *facts;        /* NULL: nothing is wrong, or nothing is known */
    const struct node_inventory *inventory; /* of the agent; NULL: no report yet */
    uint64_t boot;                          /* of the node, like that of the inventory */
    /* status.health as it is: what was concluded before; NULL: nothing was wrong. */
    const struct health_status *concluded;
    /* When the newest pod of its driver in this boot was created, epoch seconds; 0: not known, or
     * it had none. */
    uint32_t driver_s;
    struct health_quiet quiet;
    bool nvml_spoke; /* in this boot, as far as this process knows */
    bool nvml_told;  /* the same about what the status shows (health_is_heard()) */
    /* Since when a failed proof shows that pods fail there (black_hole.h), epoch seconds; 0: none
     * does. */
    int64_t proof_failed_s;
    /* Its driver failed in the pool because of such faults (suspicion.h). */
    bool driver_suspected;
    int64_t now_s;
    const json_t *xids; /* spec.health.xids of the policy; NULL: it says nothing */
    /* Faults that the verdict leaves out, with what they cover (zeros: none), and the only one that
     * it is about (NULL: all). */
    struct health_left except[2];
    const struct fault_name *only;
};

/* Zeros: nothing is known to be wrong. */
struct health_verdict {
    enum health_level level;
    enum reason reason;           /* a row of reasons_health.inc; NONE with level NONE */
    const char *address;          /* of the GPU or NVSwitch; "" or NULL: not of one GPU */
    const struct gpu_fault *log;  /* the fault of the log that it is; NULL: another fact */
    const struct gpu_health *gpu; /* what NVML reports of the GPU; NULL: nothing */
    /* The PCI bus or a failed proof shows a fault of the node, be it this one or another: capacity
     * is gone already. Otherwise the verdict rests on a log or a library. */
    bool hard;
};

/* What the rollout needs of a node's worst fault, if it asks for CLOSE or more. Zeros: there is
 * none. */
struct health_fault {
    enum health_level level;
    bool hard;        /* as in the verdict */
    int64_t since_s;  /* when it first came, epoch seconds */
    const char *word; /* "Xid119"; borrowed */
};

/* The verdict on a node. It borrows from the input. */
struct health_verdict health_judge(const struct health_input *in);
/* The verdict on one GPU alone. */
struct health_verdict health_of_gpu(const struct health_input *in, const char *address);
/* The branch of the loaded driver: 580; 0: not known. */
unsigned health_branch(const struct health_input *in);
/* Whether NVML says now whether what the status shows holds: of its GPU, and about this fact. A GPU
 * that is out of the machine has no fact. */
bool health_is_heard(const struct health_input *in);
/* The fact of NVML that the status shows, if it stands because NVML has fallen silent about it;
 * NULL: none. What no boot repairs stands until NVML speaks of it again; the rest until the agent
 * reports of another boot. Borrowed. */
const struct health_status *health_kept(const struct health_input *in);
/* The level of the verdict or of what is kept, whichever asks for more. */
enum health_level health_level_of(const struct health_input *in);
/* The level by which a fault of the log is counted: that of its number, whatever the driver says
 * later; for Xid 154 that of its action. NONE: it does not count. */
enum health_level health_counted_as(const struct health_input *in, const struct gpu_fault *fault);
/* Whether the node has a fault that a driver may have caused, and its driver is suspected. */
bool health_blames_driver(const struct health_input *in);
/* Whether NVML reports of the node's GPUs in this boot. */
bool health_nvml_speaks(const struct health_input *in);
/* When the same facts may come to mean something else, epoch seconds; 0: they do not. */
int64_t health_due_s(const struct health_input *in);
/* The verdict on one fault of the log, which is one of the input; zeros: it does not count. */
struct health_verdict health_of_fault(const struct health_input *in, const struct gpu_fault *fault);
#endif
