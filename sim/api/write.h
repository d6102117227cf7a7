/* Writes: what every change of an object goes through, whoever asks for it. Each function checks,
 * fills in what the server fills in, and commits (or not: a dry run, or a write that changes
 * nothing). Rights are checked before, by whoever calls. */
#ifndef OSTLER_SIM_API_WRITE_H
#define OSTLER_SIM_API_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/api/api.h"

/* Who writes what, and how. All is borrowed for the call. */
struct write {
    const char *user;
    const char *manager; /* field manager */
    enum api_verb verb;  /* what the commit says */
    const struct kind *kind;
    const char *ns;          /* "" for what is in no namespace */
    const char *name;        /* "" at a create: the object says, or generateName */
    const char *subresource; /* "", "status", or "binding": a pod is given its node */
    bool dry_run;
    bool strict; /* a field that the kind does not know is an error */
    /* becomes the paths of such fields, a new reference, or NULL; may be NULL */
    json_t **ret_unknown;
    /* came as bytes: held to what an API server accepts of a stranger (size, apiVersion and kind)
     */
    bool from_outside;
};

/* How the objects that an object owns go. */
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

/* 0, or -1 and a refusal (may be NULL). `ret` (may be NULL) becomes the object as it is after the
 * write, a new reference. Objects and patches are borrowed. */
int write_create(struct api *api, const struct write *w, const json_t *object, json_t **ret,
                 struct refusal *r);
/* Replaces the object; with metadata.resourceVersion or metadata.uid in it, only that version or
 * incarnation. */
int write_update(struct api *api, const struct write *w, const json_t *object, json_t **ret,
                 struct refusal *r);
/* Changes what is there by a patch of one of three kinds. */
int write_patch(struct api *api, const struct write *w, enum patch_type type, const json_t *patch,
                json_t **ret, struct refusal *r);
/* Server-side apply; `ret_created` (may be NULL) says whether the object is new. */
int write_apply(struct api *api, const struct write *w, const json_t *intent, bool force,
                json_t **ret, bool *ret_created, struct refusal *r);
/* `ret` becomes the object's last state; `ret_gone` (may be NULL) says whether it is gone rather
 * than waiting for its grace period or finalizers. */
int write_delete(struct api *api, const struct write *w, const struct delete_options *o,
                 json_t **ret, bool *ret_gone, struct refusal *r);

#endif
