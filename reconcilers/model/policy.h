#ifndef OSTLER_MODEL_POLICY_H
#define OSTLER_MODEL_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "kube/selector.h"
#include "reconcilers/model/operand.h"
#include "reconcilers/model/policy_problems.h"

/* The GpuClusterPolicy: decoded, validated and defaulted. Ostler repeats the API server's schema
 * checks, because an older CRD may be installed, and a file may never reach a server.
 *
 * The policy stays JSON: its *effective spec* is what the user wrote with the defaults filled in.
 * Only what decisions use all the time also has a typed member. */

#define POLICY_API_VERSION "ostler.dev/v1alpha1"
#define POLICY_KIND "GpuClusterPolicy"
/* The only allowed name of a policy. */
#define POLICY_NAME "default"
/* The pool of nodes that no pool of the policy selects. */
#define POLICY_POOL_DEFAULT "default"
#define POLICY_FINALIZER "ostler.dev/cleanup"
#define POLICY_FORCE_REMOVAL "ostler.dev/force-removal"
#define POLICY_RETRY "ostler.dev/retry"
/* The command for that; %s is its value (decide/retry.h). */
#define POLICY_RETRY_COMMAND                                                                       \
    "kubectl annotate gpuclusterpolicy " POLICY_NAME " " POLICY_RETRY "=%s --overwrite"
#define POLICY_APPROVED "ostler.dev/approved"
/* Image prefixes that are allowed by default: NVIDIA's and Google's registries. */
#define POLICY_IMAGE_PREFIXES "nvcr.io/nvidia,gcr.io/gke-release,gke.gcr.io"
/* Operand variables and arguments that a policy may set by default: package downloads, and switches
 * that the images compare with a word or number. No path, and nothing that an interpreter, a build
 * or a loader obeys. */
#define POLICY_SETTINGS                                                                            \
    "HTTP_PROXY,HTTPS_PROXY,NO_PROXY,http_proxy,https_proxy,no_proxy,GPU_DIRECT_RDMA_ENABLED,USE_" \
    "HOST_MOFED,"                                                                                  \
    "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED,ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_"     \
    "VOLUME_MOUNTS,"                                                                               \
    "DEVICE_ID_STRATEGY,DP_DISABLE_HEALTHCHECKS,GDS_ENABLED,MOFED_ENABLED,--device-id-strategy"
/* Host directories that the toolkit may be installed in by default: NVIDIA's own, and one for hosts
 * with a read-only /usr (Flatcar, Talos). Only root can write above them. With Google's driver
 * Ostler uses GOOGLE_DRIVER_DIR, whatever is set. */
#define POLICY_INSTALL_DIRS "/usr/local/nvidia,/opt/nvidia"
/* The driver's source; AUTO decides by host. */
enum policy_driver_source {
    POLICY_SOURCE_AUTO,
    POLICY_SOURCE_CONTAINER,
    POLICY_SOURCE_COS,
    POLICY_SOURCE_HOST,
};

/* What the administrator lets any policy do, whoever edits it. Comma-separated, borrowed. */
struct policy_limits {
    const char *images;       /* prefixes of images; NULL: all are allowed */
    const char *settings;     /* variables and arguments; "A_*" allows a prefix; NULL: none */
    const char *install_dirs; /* values of toolkit.installDir, whole paths; NULL: all are allowed */
    bool control_plane;       /* operands may run on control plane nodes */
    bool repairs;             /* it may ask for repairs: resets of GPUs, and reboots */
};

/* No limits. */
#define POLICY_LIMITS_NONE ((struct policy_limits){ NULL, "*", NULL, true, true })
/* The limits if the administrator sets none. */
#define POLICY_LIMITS_DEFAULT                                                                      \
    ((struct policy_limits){ POLICY_IMAGE_PREFIXES, POLICY_SETTINGS, POLICY_INSTALL_DIRS, false,   \
                             false })

/* The taint of GPU nodes. */
struct policy_taint {
    bool enabled;
    const char *key;
    const char *value;
    const char *effect;
    bool foreign; /* nodes that another GPU stack serves also get it */
};

/* GPU validation of nodes. */
struct policy_validation {
    bool enabled;
    int64_t timeout_s;         /* maximum run time of the pod */
    struct policy_taint taint; /* closes a new node until validation; fixed value and effect */
    int64_t taint_timeout_s;   /* maximum time until then */
};

/* Nodes with common overrides. Strings and JSON are borrowed from the specs. */
struct policy_pool {
    const char *name;
    json_t *spec; /* policy_pool_spec() of the pool. Owned */
    struct selector selector;
    enum policy_driver_source source;
    struct policy_taint taint; /* of its nodes: the policy's taint with the pool's overrides */
    unsigned operands; /* bits 1u << enum operand of the operands that are not switched off there */
    bool only_watched; /* others install driver, toolkit and device plugin, by the policy */
    const json_t *node_labels; /* extra labels of its nodes, besides the policy's; NULL: none */
};

struct policy {
    char *uid; /* of the object, even if the spec is invalid; "" for a file */

    /* All members below are empty if the spec is invalid. */
    /* The effective spec: all objects and all leaves with a default are present; repository, image
     * and version only if given. */
    json_t *spec;
    struct selector nodes;               /* nodes that Ostler may manage */
    struct policy_validation validation; /* the same */
    const json_t *node_labels;           /* extra labels for GPU nodes, borrowed; NULL: none */
    struct policy_pool *pools; /* in order; the last, POLICY_POOL_DEFAULT, takes the rest */
    size_t pools_len;          /* at least 1 */
};

/* Decodes a whole object and checks it against the limits. Returns 0 if it is valid, else -1; then
 * `problems` says why, and `ret` has only the uid. `problems` must be zero or cleared before. The
 * caller clears both outputs in either case. */
int policy_decode(const json_t *object, const struct policy_limits *limits, struct policy *ret,
                  struct policy_problems *problems);

/* Frees all members and makes it empty. */
void policy_clear(struct policy *policy);

/* The index of the first pool that selects these labels; the last pool selects all. */
size_t policy_pool_of(const struct policy *policy, selector_lookup_fn *lookup, const void *labels);

/* The effective spec of one pool, a new reference that is only read: the policy's operands with the
 * pool's overrides (lists are replaced whole), the pool's taint in nodes.taint, its node labels in
 * nodes.labels, and no `pools`. */
json_t *policy_pool_spec(const struct policy *policy, size_t pool);

/* Whether neither the policy nor the pool switches the operand off. */
bool policy_pool_runs(const struct policy_pool *pool, enum operand operand);
/* Whether any pool runs the operand. */
bool policy_runs(const struct policy *policy, enum operand operand);

/* "Auto", "Container", "COS", "Host". */
const char *policy_source_name(enum policy_driver_source source);

/* An image in a revision: path without tag, and tag or "sha256:..." digest. */
struct policy_image {
    char *image;   /* "nvcr.io/nvidia/driver" */
    char *version; /* "580.178.04" */
};

/* Whether a CUDA sample validates GPUs, because the policy names a part of its image. Otherwise
 * Ostler's own program does, in Ostler's image. */
bool policy_names_sample(const json_t *spec);

/* The image of an operand. Each part (repository, image, version) comes from `spec`, else from the
 * known good revision, else from the built-in default (operand_rows.h). `spec` is an effective
 * spec, of the policy or a pool. `known_image` and `known_version` are NULL if no revision is known
 * good. */
void policy_image_resolve(const json_t *spec, enum operand operand, const char *known_image,
                          const char *known_version, struct policy_image *ret);

/* Frees both texts. */
void policy_image_clear(struct policy_image *image);

/* Whether an image is under one of the comma-separated prefixes. A prefix ends at a slash:
 * "nvcr.io/nvidia" allows nvcr.io/nvidia/driver but not nvcr.io/nvidia2/driver. */
bool policy_image_allowed(const char *image, const char *prefixes);

/* ---- checks of policy_decode(). `at` is the place of the spec. They use only `spec` of a policy;
 * missing values count as not given. */

/* Adds a problem for each selector that stops matching once Ostler labels the nodes that it
 * selects. */
void policy_check_selectors(const json_t *spec, const struct policy_place *at);
/* Adds a problem for each image, of the policy or a pool, that no prefix allows. */
void policy_check_images(const struct policy *policy, const char *prefixes,
                         const struct policy_place *at);
/* Adds a problem for each variable or argument, of the policy or a pool, that is not allowed or has
 * control characters. */
void policy_check_settings(const json_t *spec, const char *allowed, const struct policy_place *at);
/* Adds a problem for each toolkit, of the policy or a pool, whose install directory is not in the
 * comma-separated list. The toolkit's programs run as root on the host, so no other process may
 * rename a directory above them. */
void policy_check_install_dirs(const struct policy *policy, const char *allowed,
                               const struct policy_place *at);
/* Adds a problem if the spec asks for repairs, which the administrator has not allowed. */
void policy_check_repairs(const json_t *spec, const struct policy_place *at);
/* Adds a problem for each maintenance window that never opens: in an unknown time zone, or on 30
 * February. */
void policy_check_windows(const json_t *spec, const struct policy_place *at);

#endif
