/* A cluster for decisions: the simulator's API server, the operator's own tables and sums over it,
 * fed by the operator's own watches, plans carried out at once, and pods that follow the labels as
 * the DaemonSet controller makes them. No network, no time, no queue.
 *
 *     testbed_init(&t, tree("{'spec': {}}"));
 *     testbed_put(&t, RESOURCE_NODE, testbed_node(tree("{'labels': {'nvidia.com/gpu.present':
 *     'true'}}")));
 *     testbed_settle(&t, true, NULL);
 *
 * What a test puts there is stored as it is, valid or not. What the operator writes goes through
 * the API server, and is held against what no write may ever do: no guard, nothing changed, marks
 * of others touched. */
#ifndef OSTLER_TESTS_SUPPORT_TESTBED_H
#define OSTLER_TESTS_SUPPORT_TESTBED_H

#include "reconcilers/manifests/render.h"
#include "reconcilers/decide/policy_plan.h"

struct api;
struct api_watch;
struct cluster;
struct reconcilers;

#define TESTBED_NAMESPACE "ostler-operands"
#define TESTBED_NOW "2026-11-20T10:00:00Z"

struct testbed {
    struct api *api;
    struct api_watch *watches[RESOURCE_COUNT]; /* NULL: the operator does not watch it */
    struct cluster *cluster;
    struct reconcilers *passes;
    const struct manifests *manifests;
    unsigned made; /* objects that a test has put there */
    /* the server may refuse a write: what a test puts there is not valid */
    bool may_refuse;
    bool absent_for_long; /* no policy has been there for so long that marks come off */
    int64_t discovered_s; /* how long its nodes have waited to be taken */
    int64_t removing_s;   /* how long Ostler has been letting go of its nodes */
    int64_t watched_s;    /* how long Ostler has been at work; 0: for ever */
    int64_t age_s;        /* how long nothing was heard */
    int64_t tasks_age_s;  /* the same of pods that prove a GPU */
    /* nodes without a stack have no turn for a toolkit but what the rollout gives them */
    bool toolkit_waits;
    /* the node whose failure keeps them from it; NULL: none; borrowed */
    const char *toolkit_stopped_by;
    bool hold;     /* it is not known what is wanted */
    bool deleting; /* revisions are on their way out */
    /* the pod whose eviction was last refused, and the message; NULL: none; borrowed */
    const char *not_evicted;
    int64_t ask_in_ms; /* when pods may be asked to leave again; 0: at once */
    bool holders_new;  /* Ostler has not looked up yet which pods hold a GPU */
    bool braked;       /* many nodes became unhealthy */
    bool nvml_spoke;   /* NVML has reported of the GPUs since the boot, and what the status shows */
    /* how long GPUs have asked for a closed node; 0: not before now */
    int64_t unhealthy_s;
    int64_t driver_s; /* how long ago the newest driver's pod was made; 0: as the pods say */
    bool monitors_exist;
    const char *agent_image;            /* of the node agent; NULL: it runs nowhere; borrowed */
    struct err refused;                 /* what the server refused of the last plan */
    struct prerequisites prerequisites; /* what is wrong with what Ostler stands on */
    bool unsettled;                     /* as if some node had not been looked at yet */
    size_t writes;                      /* actions carried out */
};

/* The policy (NULL: none) is as a person wrote it: its metadata are filled in, the finalizer
 * included. Unless it says otherwise nodes need no proof (validation.enabled,
 * nodes.startupTaint.enabled): what proves them has tests of its own. */
void testbed_init(struct testbed *t, const json_t *policy);
void testbed_clear(struct testbed *t);

/* Makes or replaces an object, as another client would; takes it. uid, resourceVersion and
 * generation are filled in. */
void testbed_put(struct testbed *t, enum resource_id resource, json_t *object_steal);
/* Merges a patch into an object, as another client would. */
void testbed_edit(struct testbed *t, enum resource_id resource, const char *name,
                  const json_t *patch);
/* The same through the server, which records it under the name of a field manager. */
void testbed_edit_as(struct testbed *t, const char *manager, enum resource_id resource,
                     const char *name, const json_t *patch);
/* Removes an object at once, whatever would keep it. */
void testbed_remove(struct testbed *t, enum resource_id resource, const char *name);
/* The object of this name in any namespace, or NULL. Borrowed until the next write. */
json_t *testbed_get(const struct testbed *t, enum resource_id resource, const char *name);
/* The objects of a resource that the operator lists, finished pods among them, as an array. New
 * reference. */
json_t *testbed_list(const struct testbed *t, enum resource_id resource);
/* Tells the operator what its watches have for it. */
void testbed_tell(struct testbed *t);

/* A whole Node of a short form: name, labels, annotations, taints, os, kernel, boot, runtime,
 * kubelet, gpus, ready, upSince, cordoned, deleting. New reference. */
json_t *testbed_node(const json_t *brief);
/* A whole Pod of a short form: name ("namespace/name"), node, operand, revision, ready, waiting
 * {reason, message}, said (by its first init container), initStatus (all of that container's),
 * deleting, gpus, labels, container (its name), image, initImage, owners, made (when), volumes,
 * tolerations, restartPolicy. Of a one-off pod on gpu-1: task, name, purpose, policy (uid),
 * resource, phase, created, started (by its kubelet), ended (how its container did), unschedulable
 * (in which words). New reference. */
json_t *testbed_pod(const json_t *brief);
/* The record of a revision with these inputs. New reference. */
json_t *testbed_record(const char *hash, const json_t *inputs);
/* The target of a node; borrowed from the cluster. */
const struct target *testbed_target(struct testbed *t, const char *node);
/* Targets are worked out anew, as after a restart: what is held may have changed. */
void testbed_forget_targets(struct testbed *t);

/* What a pass goes by now. */
enum operating_mode testbed_stance(const struct testbed *t);
/* What the operator knows of a node; fails the test when there is none of that name. */
struct node_slot *testbed_slot(const struct testbed *t, const char *name);
/* One pass over a node or the policy: what it would do. */
void testbed_pass_node(struct testbed *t, struct arena *a, const char *name, struct node_verdict *v,
                       struct actions *actions);
bool testbed_pass_policy(struct testbed *t, struct actions *actions);
/* The rollout's pass. */
void testbed_pass_rollout(struct testbed *t, struct actions *actions);
/* Carries out a plan. */
void testbed_carry_out(struct testbed *t, const struct actions *actions);
/* What the DaemonSet controller and kubelets do: pods where labels want them, none elsewhere. True
 * when anything changed. */
bool testbed_follow(struct testbed *t);
/* Passes over everything, with pods that follow when `follow` is set, until nothing is left to do;
 * fails the test when that has no end. The text of all actions goes to `log` (may be NULL), an
 * empty line after each round. */
void testbed_settle(struct testbed *t, bool follow, struct buf *log);

#endif
