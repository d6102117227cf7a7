/* What the decision about the whole cluster looks at: the policy, the sums over the nodes, and the children that there are. */
#ifndef OSTLER_RECONCILERS_DECIDE_CLUSTER_VIEW_H
#define OSTLER_RECONCILERS_DECIDE_CLUSTER_VIEW_H

#include "base/arena.h"
#include "base/err.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/child.h"
#include "reconcilers/model/prerequisites.h"
#include "reconcilers/decide/intents.h"
#include "reconcilers/decide/rollout_simulate.h"
#include "reconcilers/decide/rollout_report.h"
#include "reconcilers/decide/tally.h"

/* Everything is borrowed for the call. */
struct cluster_view {
    const json_t *object;         /* the policy as it is on the server; NULL: there is none */
    const struct policy *policy;  /* the newest valid spec of this policy that was seen; NULL: none was */
    const char *problems;         /* why the spec of `object` is not acted on, one text; NULL: it is */
    const struct policy_problems *problem_list;
    enum operating_mode mode;
    struct targets *targets;      /* with MODE_MANAGE */
    const struct tally *tally;
    bool settled;                 /* every node that there is has been looked at under this policy */
    bool settling;                /* not settled, or records are on their way, but only since a moment ago: the status can wait */
    bool status_overdue;          /* the status has waited long enough, whatever goes on */
    int64_t counts_wait_ms;       /* the status was written a moment ago: other counts alone wait so long; 0: they need not */
    const struct child *const *children; /* all of ours and those that bear our names */
    size_t child_count;
    /* Whether the child is as it was when the server last confirmed our own apply. */
    bool (*confirmed)(void *arg, const struct child *c);
    /* What the container that last failed on a node said last, one line; NULL: not known. */
    const char *(*log_tail)(void *arg, const char *node, struct arena *a);
    void *arg;
    const struct prerequisites *prerequisites; /* what is wrong with what Ostler stands on; NULL: nothing is known to be */
    const struct prerequisite_problem *blocked; /* of that, why nothing is done but to say so; NULL: work goes on */
    const struct err *failure;    /* what the server refused when the last plan was carried out; NULL: nothing */
    const struct rollout_report *rollout; /* what the rollout's last pass came to */
    const json_t *plan;           /* of the rollout, as its status has it; NULL: none was made */
    const struct rollout_pace *pace; /* of each tier */
    bool monitors_exist;          /* the CRD of ServiceMonitor is installed */
    const struct node_facts *any_gpu_node; /* facts of some GPU node; NULL: there is none */
    size_t reports;               /* GpuNodes, and nodes with marks or conditions, that have to go first, with MODE_REMOVE */
    const struct manifests *manifests;
    struct intents *intents;      /* what rendered children were like under this policy */
    const char *operand_namespace;
    const char *agent_image;      /* of the node agent; NULL: not known, so it runs nowhere */
    size_t control_plane;         /* nodes of the control plane, where operands may not run there */
    bool keep_off_control_plane;  /* and no pod of an operand is on one of them already */
    const char *now;              /* RFC 3339 */
    int64_t now_s;                /* seconds of the epoch */
    int64_t agents_up_s;          /* the same: since when agents have been up on all nodes, as far as was seen; 0: long ago */
};

/* The child of a resource and a name, or NULL. */
const struct child *cluster_child(const struct cluster_view *v, enum resource_id resource, const char *name);
/* The inputs of a revision: its record's, else those of the target that it is; NULL when nobody knows. Borrowed. */
const json_t *cluster_inputs(const struct cluster_view *v, const char *tier, const char *hash);

/* Whether a DaemonSet of the same revision as the record is still there: the record is deleted last. */
bool cluster_has_daemonset(const struct cluster_view *v, const struct child *record);

#endif
