/* Why a request is refused: the content of a metav1.Status. */
#ifndef OSTLER_SIM_API_REFUSAL_H
#define OSTLER_SIM_API_REFUSAL_H

#include <jansson.h>

#include "base/mem.h"

struct kind;

/* Zero-initialised = not refused. */
struct refusal {
    int code;           /* HTTP status, 0: not refused */
    const char *reason; /* static text: "Conflict", "Invalid", … */
    char *message;      /* owned */
    json_t *details;    /* owned; NULL when there are none */
    int retry_after_s;  /* Retry-After header and details.retryAfterSeconds; 0: none */
    /* of a 410: the token to continue the list inconsistently; owned; NULL: none */
    char *continuation;
};

#define CLEANUP_REFUSAL CLEANUP(refusal_clear)

/* Sets a refusal, whose reason follows from the code, and returns -1, for `return refuse(r, …)`. */
int refuse(struct refusal *r, int code, const char *fmt, ...) PRINTF(3, 4);
/* 404, in the words of the API server: `nodes "gpu-1" not found`; sets details (name, group, kind).
 */
int refuse_not_found(struct refusal *r, const struct kind *k, const char *name);
/* 409 AlreadyExists. */
int refuse_exists(struct refusal *r, const struct kind *k, const char *name);
/* 409 Conflict: the object has been modified, or a precondition failed; `why` is the end of the
 * sentence. */
int refuse_conflict(struct refusal *r, const struct kind *k, const char *name, const char *why);
/* The same for the preconditions of a deletion, where the API server names the kind and not the
 * resource. */
int refuse_precondition(struct refusal *r, const struct kind *k, const char *name, const char *why);
/* 403; `name` "" for a whole resource. */
int refuse_forbidden(struct refusal *r, const struct kind *k, const char *name, const char *why);
/* A refusal that names no object (404 of a path, 405, 406, 415): its details are empty. */
int refuse_generic(struct refusal *r, int code, const char *message);
/* Adds one cause (422 Invalid, 409 of an apply): `type` is a metav1.CauseType
 * ("FieldValueInvalid"), `field` a path. The first call makes an empty refusal 422 Invalid;
 * refuse_finish_invalid() then writes its sentence. */
void refuse_cause(struct refusal *r, const char *type, const char *field, const char *fmt, ...)
    PRINTF(4, 5);
/* -1 and the sentence `Kind.group "name" is invalid: …` if there are causes, else 0. */
int refuse_finish_invalid(struct refusal *r, const struct kind *k, const char *name);
/* The metav1.Status. New reference. */
json_t *refusal_status(const struct refusal *r);
/* Frees what it owns; it is then empty. */
void refusal_clear(struct refusal *r);

#endif
