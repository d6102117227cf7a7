/* The input of the policy's reconcile: the policy, the sums over the nodes, and the existing
 * children. */
#ifndef OSTLER_RECONCILERS_DECIDE_CLUSTER_VIEW_H
#define OSTLER_RECONCILERS_DECIDE_CLUSTER_VIEW_H

#include "base/arena.h"
#include "base/err.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/child.h"
#include "reconcilers/model/prerequisites.h"
#include "reconcilers/decide/brake.h"
#include "reconcilers/decide/intents.h"
#include "reconcilers/decide/rollout_simulate.h"
#include "reconcilers/decide/rollout_report.h"
#include "reconcilers/decide/tally.h"

/* All members are borrowed for the call. */
struct cluster_view {
    const json_t *object;        /* the policy on the API server; NULL: there is none */
    const struct policy *policy; /* the newest valid spec of this policy; NULL: none yet */
    const char *problems; /* why Ostler does not act on `object`'s spec, one text; NULL: it does */
    const struct policy_problems *problem_list;
    enum operating_mode mode;
    struct targets *targets; /* with MODE_MANAGE */
    const struct tally *tally;
    bool settled; /* every node has been reconciled under this policy */
    /* Not settled or records are being written, but only for a moment: the status can wait. */
    bool settling;
    bool status_overdue; /* the status has waited long enough, so write it anyway */
    /* The status was written a moment ago: a change of counts alone waits this long; 0: no wait. */
    int64_t counts_wait_ms;
    const struct child *const *children; /* Ostler's own, and those with names that Ostler uses */
    size_t child_count;
    /* Whether the child is unchanged since the API server confirmed Ostler's own apply. */
    bool (*confirmed)(void *arg, const struct child *c);
    /* The log tail, one line, of the container that last failed on a node; NULL: not known. */
    const char *(*log_tail)(void *arg, const char *node, struct arena *a);
    void *arg;
    /* Prerequisites with problems; NULL: no problem is known. */
    const struct prerequisites *prerequisites;
    /* The problem that stops all work except reporting; NULL: none. */
    const struct prerequisite_problem *blocked;
    const struct err *failure; /* what the API server refused of the last plan; NULL: nothing */
    /* Nodes whose GPUs ask for CLOSE or more, or that are closed, and those that were to be closed
     * within the window or the storm; NULL: none. */
    const struct brake_list *unhealthy, *closings;
    struct brake_verdict brake;            /* the storm brake */
    const struct health_spec *health;      /* of `policy`; NULL: none */
    const struct rollout_report *rollout;  /* result of the rollout's last pass */
    const json_t *plan;                    /* of the rollout, in its status format; NULL: none */
    const struct rollout_pace *pace;       /* of each tier */
    bool monitors_exist;                   /* the CRD of ServiceMonitor is installed */
    const struct node_facts *any_gpu_node; /* facts of any GPU node; NULL: there is none */
    /* GpuNodes, and nodes with Ostler's labels, taints or conditions, that must go first, with
     * MODE_REMOVE. */
    size_t reports;
    const struct manifests *manifests;
    struct intents *intents; /* cached intents of children under this policy */
    const char *operand_namespace;
    const char *agent_image;     /* of the node agent; NULL: not known, so no agent runs */
    size_t control_plane;        /* control plane nodes, if operands may not run there */
    bool keep_off_control_plane; /* and no operand pod runs on one yet */
    const char *now;             /* RFC 3339 */
    int64_t now_s;               /* epoch seconds */
    /* Epoch seconds: since when agents are up on all nodes, as far as Ostler saw; 0: long ago. */
    int64_t agents_up_s;
};

/* The child with this resource and name, or NULL. */
const struct child *cluster_child(const struct cluster_view *v, enum resource_id resource,
                                  const char *name);
/* Whether a child is the DaemonSet of an operand, of any revision. */
bool cluster_is_daemonset_of(const struct child *c, enum operand operand);
/* Whether a child is the record of a revision of the tier; NULL: of any tier. */
bool cluster_is_record(const struct child *c, const char *tier);
/* The record of a revision; NULL: there is none. */
const struct child *cluster_find_record(const struct cluster_view *v, const char *tier,
                                        const char *hash);
/* The inputs of a revision, from its record or from a target; NULL: not known. Borrowed. */
const json_t *cluster_inputs(const struct cluster_view *v, const char *tier, const char *hash);

/* Whether a DaemonSet of the record's revision still exists: the record is deleted last. */
bool cluster_has_daemonset(const struct cluster_view *v, const struct child *record);

#endif
