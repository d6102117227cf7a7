/* A toy cluster for decisions: objects in memory, the cluster's own tables and sums over them, plans carried out at once as the
 * API server would, and pods that follow the labels as the DaemonSet controller makes them. No network, no time, no queue.
 *
 *     toy_init(&t, tree("{'spec': {}}"));
 *     toy_put(&t, RESOURCE_NODE, toy_node(tree("{'labels': {'nvidia.com/gpu.present': 'true'}}")));
 *     toy_settle(&t, true, NULL);
 *
 * Each write is held against what no write may ever do: no guard, nothing changed, marks of others touched. */
#ifndef OSTLER_TESTS_SUPPORT_TOY_H
#define OSTLER_TESTS_SUPPORT_TOY_H

#include "reconcilers/manifests/render.h"
#include "reconcilers/plan/policy_plan.h"

struct cluster;
struct reconcilers;

#define TOY_NAMESPACE "ostler-operands"
#define TOY_NOW "2026-11-20T10:00:00Z"

struct toy {
    struct cluster *cluster;
    struct reconcilers *passes;
    const struct manifests *manifests;
    json_t *objects[RESOURCE_COUNT]; /* name to object */
    uint64_t rv;
    bool absent_for_long;            /* no policy has been there for so long that marks come off */
    int64_t discovered_s;            /* how long its nodes have waited to be taken */
    int64_t removing_s;              /* how long Ostler has been letting go of its nodes */
    int64_t watched_s;               /* how long Ostler has been at work; 0: for ever */
    int64_t age_s;                   /* how long nothing was heard */
    int64_t tasks_age_s;             /* the same of pods that prove a GPU */
    bool toolkit_waits;              /* nodes without a stack have no turn for a toolkit but what the rollout gives them */
    const char *toolkit_stopped_by;  /* whose failure keeps them from it; NULL: nobody's; borrowed */
    bool hold;                       /* it is not known what is wanted */
    bool deleting;                   /* revisions are on their way out */
    const char *not_evicted;         /* whose eviction was refused last, and in which words; NULL: nobody's; borrowed */
    int64_t ask_in_ms;               /* when somebody may be asked to leave again; 0: at once */
    bool holders_new;                /* nobody has looked yet which pods have a GPU open */
    bool monitors_exist;
    const char *agent_image;         /* of the node agent; NULL: it runs nowhere; borrowed */
    struct err refused;              /* what the server refused of the last plan */
    struct surroundings surroundings; /* what is wrong with what Ostler stands on */
    bool unsettled;                  /* as if some node had not been looked at yet */
    size_t writes;                   /* actions carried out */
};

/* The policy (NULL: none) is as a person wrote it: its metadata are filled in, the finalizer included. Unless it says otherwise
 * nodes need no proof (validation.enabled, nodes.startupTaint.enabled): what proves them has tests of its own. */
void toy_init(struct toy *t, const json_t *policy);
void toy_clear(struct toy *t);

/* Makes or replaces an object, as somebody else would; takes it. uid, resourceVersion and generation are filled in. */
void toy_put(struct toy *t, enum resource_id resource, json_t *object_steal);
/* Merges a patch into an object, as somebody else would. */
void toy_edit(struct toy *t, enum resource_id resource, const char *name, const json_t *patch);
void toy_remove(struct toy *t, enum resource_id resource, const char *name);
/* The object, or NULL. Borrowed. */
json_t *toy_get(const struct toy *t, enum resource_id resource, const char *name);

/* A whole Node of a short form: name, labels, annotations, taints, os, kernel, boot, runtime, kubelet, gpus, ready, upSince,
 * cordoned, deleting. New reference. */
json_t *toy_node(const json_t *brief);
/* A whole Pod of a short form: name ("namespace/name"), node, operand, revision, ready, waiting {reason, message}, said (by its
 * first init container), initStatus (all of that container's), deleting, gpus, labels, container (its name), image, initImage,
 * owners, made (when), volumes, tolerations, restartPolicy. Of a one-off pod on gpu-1: task, name, purpose, policy (uid),
 * resource, phase, created, started (by its kubelet), ended (how its container did), unschedulable (in which words). New
 * reference. */
json_t *toy_pod(const json_t *brief);
/* The record of a revision with these inputs. New reference. */
json_t *toy_record(const char *hash, const json_t *inputs);
/* The target of a node; borrowed from the cluster. */
const struct target *toy_target(struct toy *t, const char *node);
/* Targets are worked out anew, as after a restart: what is held may have changed. */
void toy_forget_targets(struct toy *t);

/* What a pass goes by now. */
enum stance toy_stance(const struct toy *t);
/* One pass over a node or the policy: what it would do. */
void toy_pass_node(struct toy *t, struct arena *a, const char *name, struct node_verdict *v, struct plan *plan);
bool toy_pass_policy(struct toy *t, struct plan *plan);
/* The rollout's pass. */
void toy_pass_rollout(struct toy *t, struct plan *plan);
/* Carries out a plan. */
void toy_carry_out(struct toy *t, const struct plan *plan);
/* What the DaemonSet controller does: pods where labels want them, none elsewhere. True when anything changed. */
bool toy_follow(struct toy *t);
/* Passes over everything, with pods that follow when `follow` is set, until nothing is left to do; fails the test when that has
 * no end. The text of all actions goes to `log` (may be NULL), an empty line after each round. */
void toy_settle(struct toy *t, bool follow, struct buf *log);

#endif
