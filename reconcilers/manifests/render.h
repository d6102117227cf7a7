/* From a revision's inputs and the policy to the objects that we apply: embedded YAML, copied and
 * changed by a table of overlays. Pure: no I/O, no clock, no lookups. The YAML is parsed once. */
#ifndef OSTLER_RECONCILERS_MANIFESTS_RENDER_H
#define OSTLER_RECONCILERS_MANIFESTS_RENDER_H

#include <jansson.h>

#include "base/err.h"
#include "kube/resource.h"
#include "reconcilers/model/operand.h"
#include "reconcilers/model/task.h"

/* What can be rendered: the DaemonSet of each operand that has one, RENDER_DRIVER and so on, and what is in render_others. */
enum render_object {
#define OPERAND(id, ...) RENDER_##id = OPERAND_##id,
#include "reconcilers/model/operand_rows.h"
    RENDER_EXPORTER_SERVICE = OPERANDS_MAX, /* Service */
    RENDER_EXPORTER_MONITOR,                /* ServiceMonitor of the Prometheus operator */
    RENDER_RUNTIME_CLASS,                   /* RuntimeClass `nvidia`, cluster-scoped */
    RENDER_OBJECTS,
};

/* An object besides the operands' DaemonSets. All static. */
struct render_other {
    enum render_object what;
    enum operand operand;    /* that it goes with; OPERAND_NONE: with none */
    enum resource_id resource; /* what it is */
    const char *name;
    const char *manifest;      /* a file of this folder */
    const char *wish;          /* path of the switch in the policy's spec, off by default; NULL: it is always wanted */
};

/* All of them; the last one has no name. */
extern const struct render_other render_others[];
/* Whether a policy with this spec wants the object wherever it wants its operand. */
bool render_is_wished(const struct render_other *row, const json_t *spec);

/* The DaemonSet of an operand. */
static inline enum render_object render_daemonset(enum operand operand)
{
    return (enum render_object) operand;
}

/* Longest name of a child with its NUL. */
enum { RENDER_NAME_MAX = 64 };

/* Everything is borrowed for the call. */
struct render_context {
    const char *operand_namespace; /* where children live */
    const char *policy_name;
    const char *policy_uid;
    const json_t *spec; /* effective spec: the pool's for tiers, the policy's for followers */
    /* Of the revision; of a follower follower_inputs(), of the agent agent_inputs(); NULL where there are none. */
    const json_t *inputs;
    const char *hash; /* of the revision; NULL for objects that belong to none */
    /* Ostler's own image, of which operands have containers; NULL: not known, so that it has to be on the nodes as "ostler". It
     * is no input: a new Ostler makes no new revision. */
    const char *agent_image;
    bool keep_off_control_plane; /* pods of DaemonSets run on no node of the control plane */
};

/* The manifests, checked. One per process; render functions only read it. */
struct manifests;
/* Parses what is embedded. An error means a broken build. */
struct manifests *manifests_new(struct err *e);
/* Frees them; NULL is none. */
void manifests_free(struct manifests *m);
#define CLEANUP_MANIFESTS CLEANUP(manifests_cleanup)
static inline void manifests_cleanup(struct manifests **m)
{
    manifests_free(*m);
}

/* The object, ready to be applied: with names, labels, the intent's hash and, for followers, the
 * ownerReference. New reference, or NULL with an error when an overlay finds no place (a broken
 * build) or inputs lack what is needed. */
json_t *render_object(const struct manifests *m, enum render_object what,
                      const struct render_context *ctx, struct err *e);
/* The ControllerRevision that records ctx->inputs under ctx->hash. New reference. */
json_t *render_revision(const struct render_context *ctx);
/* A container of a one-off pod. */
struct render_image {
    const char *name;        /* of the container: what the image is for, "driver" */
    const char *image;       /* "nvcr.io/nvidia/driver:580.178.04-ubuntu24.04"; NULL, of a proof: Ostler's own */
    const char *pull_policy; /* NULL: Kubernetes' own default */
};

/* A one-off pod. Everything is borrowed for the call. */
struct render_task {
    enum task_kind kind;
    const char *operand_namespace;
    const char *policy_uid;
    const char *purpose;               /* of the label ostler.dev/revision */
    const char *node;                  /* the only one that it may run on */
    const struct render_image *images; /* a container for each, in this order; at least one */
    size_t image_count;
    const json_t *pull_secrets;        /* list of names; NULL: none */
    const char *agent_image;           /* of Ostler's own containers, as in the context above; of a pull none is needed */
    const json_t *spec;                /* whose section of the agent says how that is pulled; NULL: as nobody has said */
    const char *resource;              /* each container asks for one of these; NULL: for none */
    int64_t deadline_s;                /* it is ended when it has taken so long since its kubelet saw it; 0: never */
};

/* The Pod, ready to be created. New reference, or NULL with an error. */
json_t *render_task(const struct manifests *m, const struct render_task *want, struct err *e);
/* The object's name: "toolkit-<hash>", "exporter", "nvidia". */
void render_name(enum render_object what, const char *hash, char out[static RENDER_NAME_MAX]);
/* The name of a revision's record: "driver-<hash>" or "stack-<hash>". */
void render_revision_name(const char *tier, const char *hash, char out[static RENDER_NAME_MAX]);
/* Puts the annotation ostler.dev/intent on an object: the hash of all the rest of it.
 * render_object() has done so. */
void render_seal(json_t *object);
/* The operand that an object belongs to; OPERAND_NONE for the RuntimeClass. */
enum operand render_operand_of(enum render_object what);

#endif
