/* Writes. Each function checks, completes and commits a change of an object; a dry run or a write
 * without a change commits nothing. Callers check rights before. */
#ifndef OSTLER_SIM_API_WRITE_H
#define OSTLER_SIM_API_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/api/api.h"

/* One write. Everything is borrowed for the call. */
struct write {
    const char *user;
    const char *manager; /* field manager */
    enum api_verb verb;  /* recorded in the commit */
    const struct kind *kind;
    const char *ns;          /* "": cluster-scoped */
    const char *name;        /* "" at a create: from the object or generateName */
    const char *subresource; /* "", "status", or "binding": a pod is given its node */
    bool dry_run;
    bool strict; /* a field that the kind does not know is an error */
    /* becomes the paths of such fields, a new reference, or NULL; may be NULL */
    json_t **ret_unknown;
    bool from_outside; /* from HTTP: size, apiVersion and kind are checked */
};

/* A write whose user is the field manager, too. `ns` may be NULL. */
struct write write_by(const char *user, enum api_verb verb, const struct kind *k, const char *ns,
                      const char *name);

/* What happens to the dependents of a deleted object. */
enum propagation {
    PROPAGATE_DEFAULT,
    PROPAGATE_BACKGROUND,
    PROPAGATE_FOREGROUND,
    PROPAGATE_ORPHAN
};

/* metav1.DeleteOptions. */
struct delete_options {
    int64_t grace_s; /* -1: the object's own */
    const char *uid; /* precondition; NULL: none */
    const char *rv;  /* precondition; NULL: none */
    enum propagation propagation;
};

enum patch_type { PATCH_MERGE, PATCH_JSON, PATCH_STRATEGIC };

/* 0, or -1 and a refusal (may be NULL). `ret` (may be NULL) becomes the object after the write, a
 * new reference. Objects and patches are borrowed. */
int write_create(struct api *api, const struct write *w, const json_t *object, json_t **ret,
                 struct refusal *r);
/* Replaces the object; with metadata.resourceVersion or metadata.uid in it, only that version or
 * incarnation. */
int write_update(struct api *api, const struct write *w, const json_t *object, json_t **ret,
                 struct refusal *r);
/* Patches an existing object. */
int write_patch(struct api *api, const struct write *w, enum patch_type type, const json_t *patch,
                json_t **ret, struct refusal *r);
/* Server-side apply; `ret_created` (may be NULL) says whether the object is new. */
int write_apply(struct api *api, const struct write *w, const json_t *intent, bool force,
                json_t **ret, bool *ret_created, struct refusal *r);
/* `ret` becomes the object's last state; `ret_gone` (may be NULL) says whether it is removed or
 * waits for its grace period or finalizers. */
int write_delete(struct api *api, const struct write *w, const struct delete_options *o,
                 json_t **ret, bool *ret_gone, struct refusal *r);

/* Evicts a pod by a policy/v1 Eviction (NULL: an empty one), if its PodDisruptionBudgets allow
 * that: writes the status of the budget, and deletes the pod with the eviction's deleteOptions
 * (preconditions, grace, dryRun). 404 without the pod, 429 if a budget does not allow it, 500 with
 * more than one budget. */
int evict_pod(struct api *api, const char *user, const char *ns, const char *name,
              const json_t *eviction, struct refusal *r);

#endif
