/* Renders the objects that Ostler applies, from a revision's inputs and the policy: copies embedded
 * YAML and changes it by a table of overlays. Pure: no I/O, no clock, no lookups. The YAML is
 * parsed once. */
#ifndef OSTLER_RECONCILERS_MANIFESTS_RENDER_H
#define OSTLER_RECONCILERS_MANIFESTS_RENDER_H

#include <jansson.h>

#include "base/err.h"
#include "kube/resource.h"
#include "reconcilers/manifests/values.h"
#include "reconcilers/model/task.h"

/* What can be rendered: the DaemonSet of each operand that has one, as RENDER_DRIVER and so on, and
 * the rows of render_others. */
enum render_object {
#define OPERAND(id, ...) RENDER_##id = OPERAND_##id,
#include "reconcilers/model/operand_rows.h"
    RENDER_EXPORTER_SERVICE = OPERANDS_MAX, /* Service */
    RENDER_EXPORTER_MONITOR,                /* ServiceMonitor of the Prometheus operator */
    RENDER_NODE_CARDS_DEFAULT,              /* DaemonSet for nodes with FOLLOWER_DEFAULT_RUNTIME */
    RENDER_RUNTIME_CLASS,                   /* RuntimeClass `nvidia`, cluster-scoped */
    RENDER_OBJECTS,
};

/* An object other than the operands' DaemonSets. All static. */
struct render_other {
    enum render_object what;
    enum operand operand;      /* its operand; OPERAND_NONE: none */
    enum resource_id resource; /* its kind */
    const char *name;
    const char *manifest; /* a file in this directory */
    const char *wish; /* path of its switch in the policy's spec, default off; NULL: always on */
};

/* All rows; the last one has no name. */
extern const struct render_other render_others[];
/* Whether a policy with this spec wants the object if it wants the operand. */
bool render_is_wished(const struct render_other *row, const json_t *spec);

/* The DaemonSet of an operand. */
static inline enum render_object render_daemonset(enum operand operand)
{
    return (enum render_object) operand;
}

/* Longest name of a child, including the NUL. */
enum { RENDER_NAME_MAX = 64 };

/* The validated manifests. One per process; rendering only reads them. */
struct manifests;
/* Parses the embedded YAML. An error means a broken build. */
struct manifests *manifests_new(struct err *e);
/* NULL is allowed. */
void manifests_free(struct manifests *m);
#define CLEANUP_MANIFESTS CLEANUP(manifests_cleanup)
static inline void manifests_cleanup(struct manifests **m)
{
    manifests_free(*m);
}

/* The object, ready to apply: with names, labels, the intent hash and, for followers, the
 * ownerReference. New reference, or NULL with an error if an overlay finds no place (a broken
 * build) or inputs are missing. */
json_t *render_object(const struct manifests *m, enum render_object what,
                      const struct render_context *ctx, struct err *e);
/* The ControllerRevision that records ctx->inputs under ctx->hash. New reference. */
json_t *render_revision(const struct render_context *ctx);
/* A container of a one-off pod. */
struct render_image {
    const char *name; /* of the container; tells what the image is for: "driver" */
    /* "nvcr.io/nvidia/driver:580.178.04-ubuntu24.04"; NULL: Ostler's own. */
    const char *image;
    const char *pull_policy; /* NULL: Kubernetes' default */
};

/* A one-off pod. All members are borrowed for the call. */
struct render_task {
    enum task_kind kind;
    const char *operand_namespace;
    const char *policy_uid;
    const char *purpose;               /* value of the label ostler.dev/revision */
    const char *node;                  /* the only node that it may run on */
    const struct render_image *images; /* one container each, in this order; at least one */
    size_t image_count;
    const json_t *pull_secrets; /* list of names; NULL: none */
    /* Arguments of the container; NULL: those of the manifest. Of a reboot they also decide which
     * manifest it is, so that a pod has no more privileges than its command needs. */
    const json_t *args;
    const char *agent_image; /* Ostler's own image, as above; a pull pod needs none */
    /* The spec whose agent section has the pull settings of that image; NULL: defaults. */
    const json_t *spec;
    const char *resource; /* each container requests one of these; NULL: none */
    int64_t deadline_s;   /* the pod is ended this long after its kubelet saw it; 0: never */
    uint64_t boot;        /* of a reboot: the boot to end (struct node); others: 0 */
    /* The node belongs to the control plane and is served all the same. On others, a pod that
     * resets or reboots excludes the control plane, as the chart's admission policies demand. */
    bool on_control_plane;
};

/* The Pod, ready to create. New reference, or NULL with an error. */
json_t *render_task(const struct manifests *m, const struct render_task *want, struct err *e);
/* The object's name: "toolkit-<hash>", "exporter", "nvidia". */
void render_name(enum render_object what, const char *hash, char out[static RENDER_NAME_MAX]);
/* The name of a revision's record: "driver-<hash>" or "stack-<hash>". */
void render_revision_name(const char *tier, const char *hash, char out[static RENDER_NAME_MAX]);
/* Sets the annotation ostler.dev/intent: the hash of the rest of the object. render_object() has
 * already done so. */
void render_seal(json_t *object);
/* The operand of an object; OPERAND_NONE for the RuntimeClass. */
enum operand render_operand_of(enum render_object what);

#endif
