/* A revision: the inputs of one tier for one kind of host, and their hash. Inputs hold only what
 * affects the kernel or the container runtime. So they have no resources, labels, tolerations, pull
 * secrets, priority class or pool name. */
#ifndef OSTLER_RECONCILERS_MODEL_REVISION_H
#define OSTLER_RECONCILERS_MODEL_REVISION_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/assignment.h"
#include "reconcilers/model/host.h"
#include "reconcilers/model/policy.h"

/* The source of a node's driver. */
enum driver_source {
    DRIVER_SOURCE_NONE,      /* this host cannot have it; driver_source_problem() says why */
    DRIVER_SOURCE_CONTAINER, /* NVIDIA's driver container */
    DRIVER_SOURCE_COS,       /* Google's installer for Container-Optimized OS */
    DRIVER_SOURCE_HOST,      /* the host's own driver: no driver tier */
};

/* The device plugin's configuration for a node. The text itself is an input. So new text makes a
 * new revision, and Ostler can recreate a revision's DaemonSet after the ConfigMap changed or was
 * deleted. */
struct plugin_config {
    const char *name; /* name of the ConfigMap */
    const char *key;  /* key in its data */
    const char *text;
};

/* The driver source that a pool's wish results in. `host_driver`: the host has a driver that
 * Ostler did not install. AUTO and CONTAINER then give HOST, because Ostler never replaces a
 * host driver. */
enum driver_source driver_source_for(enum policy_driver_source wish, const struct host *host,
                                     bool host_driver);
/* One sentence that says why driver_source_for() returns DRIVER_SOURCE_NONE. From the arena. */
const char *driver_source_problem(struct arena *a, enum policy_driver_source wish,
                                  const struct host *host, const struct node_facts *facts);
/* "Container", "COS", "Host", or "". */
const char *driver_source_name(enum driver_source source);

/* Whose toolkit a policy asks for. */
enum toolkit_wish {
    TOOLKIT_AUTO, /* the host's if it has a usable one, else Ostler's */
    TOOLKIT_OF_OSTLER,
    TOOLKIT_OF_HOST, /* Ostler installs none, even if the host has none */
};

/* toolkit.source of an effective spec. If it is absent, toolkit.enabled decides, for older
 * policies: false is Host, true is Ostler. Without both it is Auto. */
enum toolkit_wish toolkit_wish_of(const json_t *spec);
/* Whether Ostler installs its toolkit on such a host. */
bool toolkit_is_ostlers(const json_t *spec, const struct host *host);

/* Inputs of the tier `driver`; NULL for sources that have none. `pool_spec` is a pool's effective
 * spec. `held` lists the inputs of revisions that the pool keeps, best first. A value that the
 * policy leaves open comes from the first of `held` that has it, else from the built-in defaults.
 * New reference. */
json_t *driver_inputs(const json_t *pool_spec, enum driver_source source, const struct host *host,
                      const json_t *held);
/* Inputs of the tier `stack`: toolkit and device plugin. `config` may be NULL: none. New
 * reference. */
json_t *stack_inputs(const json_t *pool_spec, enum driver_source source, const struct host *host,
                     const struct plugin_config *config, const json_t *held);

/* Inputs of a follower. A follower has no revision, but `held` works as above. `traits` are bits of
 * enum follower_trait; bits that the follower does not use are ignored. `host` is the host of any
 * GPU node: the kubelet's directory depends on the distribution, and a cluster has one
 * distribution. NULL: no node yet. New reference. */
json_t *follower_inputs(const struct operand_row *follower, const json_t *spec,
                        const struct host *host, const json_t *held, unsigned traits);
/* Those of its DaemonSet for nodes with FOLLOWER_DEFAULT_RUNTIME, from the others. New
 * reference. */
json_t *follower_inputs_of_default_runtime(const struct operand_row *follower,
                                           const json_t *inputs);
/* Whether containers without a RuntimeClass get GPUs on nodes of a stack with these inputs, and
 * those with the RuntimeClass may not start there. */
bool stack_has_default_runtime(const json_t *stack_inputs);
/* The traits of a stack with these inputs that followers need: bits of enum follower_trait. */
unsigned follower_traits(const json_t *stack_inputs);

/* Inputs of the node agent, which is not an operand: the policy's node selector as node affinity
 * expressions. New reference. */
json_t *agent_inputs(const json_t *spec);

/* The version text of a host's own toolkit. */
#define REVISION_HOST_TOOLKIT "host's own"
/* The version that users know a revision by: the driver's, or the toolkit's for a stack. NULL: the
 * inputs are not known or have no version. Borrowed. */
const char *revision_version(const json_t *inputs, const char *tier);

/* The title of a revision for users: "driver 580.178.04", "toolkit 1.18.0 and device plugin
 * 0.18.0". From the arena; NULL: the inputs are not known, or name no version. */
const char *revision_title(struct arena *a, const json_t *inputs, const char *tier);
/* The title, with the hash if it is ambiguous or not known: "driver 580.178.04 (revision
 * 0bcdfghjkl)". `namesake`: another revision has the same title. From the arena. */
const char *revision_name(struct arena *a, const json_t *inputs, const char *tier, const char *hash,
                          bool namesake);
/* Whether two different revisions of a tier have the same title. */
bool revision_same_title(const json_t *a, const json_t *b, const char *tier);

/* Whether two revisions of a tier are for the same kind of host: the host inputs that both have are
 * equal. */
bool revision_same_host(const json_t *a, const json_t *b);
/* The same, but ignores the driver's source, which the policy sets and which may change on one
 * machine. */
bool revision_same_machine(const json_t *a, const json_t *b);

/* A revision's hash: FNV-1a (64 bits) of the canonical text, as ten letters and digits that are
 * valid in labels and names. */
void revision_hash(const json_t *inputs, char out[static REVISION_HASH_MAX]);
/* Whether a text has the format of a hash. */
bool revision_is_hash(const char *text);

#endif
