#ifndef OSTLER_MODEL_POLICY_H
#define OSTLER_MODEL_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "kube/selector.h"
#include "reconcilers/model/operand.h"

/*
 * The GpuClusterPolicy: decoded, validated and defaulted. The API server's schema has checked most
 * of it already; all of it is checked again, since an older CRD may be installed, and a file may
 * never have seen a server.
 *
 * The policy stays JSON: its *effective spec* is what the user wrote with the defaults filled in.
 * Only what decisions need at every turn has a typed member beside it.
 */

#define POLICY_API_VERSION "ostler.dev/v1alpha1"
#define POLICY_KIND "GpuClusterPolicy"
/* The only name that a policy may have. */
#define POLICY_NAME "default"
/* The pool of the nodes that no pool of the policy selects. */
#define POLICY_POOL_DEFAULT "default"
#define POLICY_FINALIZER "ostler.dev/cleanup"
#define POLICY_FORCE_REMOVAL "ostler.dev/force-removal"
#define POLICY_RETRY "ostler.dev/retry"
/* What a person types for that; with the value (plan/retry.h). */
#define POLICY_RETRY_COMMAND "kubectl annotate gpuclusterpolicy " POLICY_NAME " " POLICY_RETRY "=%s --overwrite"
#define POLICY_APPROVED "ostler.dev/approved"
/* Image prefixes that are allowed where nobody says otherwise: NVIDIA's and Google's registries. */
#define POLICY_IMAGE_PREFIXES "nvcr.io/nvidia,gcr.io/gke-release,gke.gcr.io"
/* Variables and arguments of operands that a policy may set where nobody says otherwise: how packages are fetched, and switches
 * that the images compare with a word or a number. Nothing that an interpreter, a build or a loader obeys, and no path. */
#define POLICY_SETTINGS                                                                                                   \
    "HTTP_PROXY,HTTPS_PROXY,NO_PROXY,http_proxy,https_proxy,no_proxy,GPU_DIRECT_RDMA_ENABLED,USE_HOST_MOFED,"              \
    "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED,ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS,"               \
    "DEVICE_ID_STRATEGY,DP_DISABLE_HEALTHCHECKS,GDS_ENABLED,MOFED_ENABLED,--device-id-strategy"
/* Directories of hosts that the toolkit may be installed in by default: NVIDIA's own, and one for hosts whose /usr is read-only
 * (Flatcar, Talos). Only root can write above them. Beside Google's driver Ostler takes GOOGLE_DRIVER_DIR whatever is set. */
#define POLICY_INSTALL_DIRS "/usr/local/nvidia,/opt/nvidia"
/* As many problems of one policy are kept as a person would read. */
#define POLICY_PROBLEMS_MAX 32

/* Where the driver comes from; AUTO lets each host decide. */
enum policy_driver_source {
    POLICY_SOURCE_AUTO,
    POLICY_SOURCE_CONTAINER,
    POLICY_SOURCE_COS,
    POLICY_SOURCE_HOST,
};

/* What an administrator allows a policy, whoever may edit it; comma-separated, borrowed. */
struct policy_limits {
    const char *images;   /* prefixes of images; NULL: all are allowed */
    const char *settings; /* variables and arguments of operands; "A_*" is all that begin so; NULL: none */
    const char *install_dirs; /* values of toolkit.installDir, each a whole path; NULL: all are allowed */
    bool control_plane;       /* operands may run on nodes of the control plane */
};

/* All that a policy may say is allowed. */
#define POLICY_LIMITS_NONE ((struct policy_limits){ NULL, "*", NULL, true })
/* What is allowed where an administrator says nothing. */
#define POLICY_LIMITS_DEFAULT ((struct policy_limits){ POLICY_IMAGE_PREFIXES, POLICY_SETTINGS, POLICY_INSTALL_DIRS, false })

/* One thing that is wrong with a policy. */
struct policy_problem {
    char *field;   /* "spec.pools[1].driver.version" */
    char *message; /* a sentence that says what is wrong and what would be right */
};

struct policy_problems {
    struct policy_problem *items;
    size_t len;     /* at most POLICY_PROBLEMS_MAX */
    size_t omitted; /* found beyond that */
};

/* The taint that a GPU node bears. */
struct policy_taint {
    bool enabled;
    const char *key;
    const char *value;
    const char *effect;
    bool foreign; /* nodes that another GPU stack serves bear it too */
};

/* How nodes are proven to work. */
struct policy_validation {
    bool enabled;
    int64_t timeout_s;         /* how long the pod may run */
    struct policy_taint taint; /* that keeps a new node closed until then; its value and effect are always the same */
    int64_t taint_timeout_s;   /* how long that may take */
};

/* Nodes that share overrides. The strings and JSON are borrowed from the policy's spec. */
struct policy_pool {
    const char *name;
    struct selector selector;
    enum policy_driver_source source;
    struct policy_taint taint; /* of its nodes: the policy's, with what the pool has different */
    unsigned operands;         /* bits 1u << enum operand of those that are not switched off there */
    bool only_watched;         /* driver, toolkit and device plugin are somebody else's there, by the policy's word */
    const json_t *node_labels; /* extra labels of its nodes, beside the policy's; NULL: none */
};

struct policy {
    char *uid; /* of the object, also when the spec is invalid; "" in a file */

    /* All below is empty when the spec is invalid. */
    json_t *spec;  /* the effective spec: every object is there, and every leaf that has a default;
                      repository, image and version only where they were given */
    struct selector nodes;     /* nodes that Ostler may touch at all */
    struct policy_validation validation; /* the same */
    const json_t *node_labels; /* extra labels for GPU nodes, borrowed; NULL: none */
    struct policy_pool *pools; /* in order; the last is POLICY_POOL_DEFAULT and takes the rest */
    size_t pools_len;          /* at least 1 */
};

/*
 * Decodes a whole object that has to keep to these limits. 0
 * when it is valid. -1 when it is not: then `problems` says why, and of `ret` only the uid is
 * filled. `problems` must be zero or cleared before; both outputs are to be cleared in either
 * case.
 */
int policy_decode(const json_t *object, const struct policy_limits *limits, struct policy *ret,
                  struct policy_problems *problems);

/* Frees all that it owns; it is empty afterwards. */
void policy_clear(struct policy *policy);

/* Frees the problems; there are none afterwards. */
void policy_problems_clear(struct policy_problems *problems);

/* The problems as one text for a condition or a terminal, "field: message; field: message". The
 * caller frees it. */
char *policy_problems_text(const struct policy_problems *problems);

/* The index of the first pool that selects these labels; the last pool selects everything. */
size_t policy_pool_of(const struct policy *policy, selector_lookup_fn *lookup, const void *labels);

/* The effective spec of one pool, a new reference: its operands merged over the policy's (lists are
 * replaced whole), its taint over nodes.taint, its node labels over nodes.labels, and no `pools`. */
json_t *policy_pool_spec(const struct policy *policy, size_t pool);

/* Whether the policy, or the pool, does not switch an operand off. */
bool policy_pool_runs(const struct policy_pool *pool, enum operand operand);
/* Whether an operand runs in any pool. */
bool policy_runs(const struct policy *policy, enum operand operand);
/* Whether it runs in some pools and not in others. */
bool policy_runs_in_part(const struct policy *policy, enum operand operand);

/* "Auto", "Container", "COS", "Host". */
const char *policy_source_name(enum policy_driver_source source);

/* An image as a revision has it: path without tag, and tag or "sha256:..." digest. */
struct policy_image {
    char *image;   /* "nvcr.io/nvidia/driver" */
    char *version; /* "580.178.04" */
};

/* Whether GPUs are proven by a sample: the policy names a part of its image. Else Ostler's own program does it, in Ostler's own
 * image. */
bool policy_names_sample(const json_t *spec);

/*
 * The image of an operand. Each part (repository, image, version) is what `spec` gives, else what
 * the known good revision has, else what is built in (operand_rows.h). `spec` is an effective spec, of the policy or of
 * a pool; `known_image` and `known_version` are NULL where nothing is known good.
 */
void policy_image_resolve(const json_t *spec, enum operand operand, const char *known_image,
                          const char *known_version, struct policy_image *ret);

/* Frees both texts. */
void policy_image_clear(struct policy_image *image);

/* Whether an image lies under one of the prefixes, a comma-separated list. A prefix ends at a
 * slash: "nvcr.io/nvidia" allows nvcr.io/nvidia/driver and not nvcr.io/nvidia2/driver. */
bool policy_image_allowed(const char *image, const char *prefixes);


/* Adds a problem for each variable and argument of the spec, of its pools too, that is not allowed or has control characters. */
void policy_check_settings(const json_t *spec, const char *allowed, struct policy_problems *problems);

/* Adds a problem for each toolkit, of the policy or of a pool, that is installed in a directory that is not in a comma-separated
 * list: its programs run as root on the host, so no other process may be able to rename a directory above them. Of the policy
 * only `spec` is looked at. */
void policy_check_install_dirs(const struct policy *policy, const char *allowed, struct policy_problems *problems);

/* Adds a problem for each image that the policy names, of its pools too, and that no prefix allows.
 * Of the policy only `spec` is looked at; what is missing in it counts as not given. */
void policy_check_images(const struct policy *policy, const char *prefixes,
                         struct policy_problems *problems);

/* Adds a problem for each maintenance window that never opens: in a time zone that nobody knows, or on 30 February. Of the policy
 * only `spec` is looked at; what is missing in it counts as not given. */
void policy_check_windows(const struct policy *policy, struct policy_problems *problems);

#endif
