/* Errors: a value that the caller owns. A kind, because callers branch on it, and one sentence that says what, where
 * and why. The message is built where the error happened; callers on the way up add context with err_wrap(). */
#ifndef OSTLER_BASE_ERR_H
#define OSTLER_BASE_ERR_H

#include "base/mem.h"

/* kind, name as it is shown in logs and metrics */
#define ERR_KINDS(X)                                                                               \
    X(NONE, "None")                 /* no error */                                                 \
    X(INVALID, "Invalid")           /* the input is wrong; the same input fails again */           \
    X(NOT_FOUND, "NotFound")        /* 404 */                                                      \
    X(EXISTS, "AlreadyExists")      /* 409 with reason AlreadyExists */                            \
    X(CONFLICT, "Conflict")         /* 409: somebody wrote in between; read again */               \
    X(GONE, "Gone")                 /* 410: the resourceVersion is compacted away; list again */   \
    X(FORBIDDEN, "Forbidden")       /* 403: a permission is missing */                                  \
    X(UNAUTHORIZED, "Unauthorized") /* 401: the credentials are not accepted */                    \
    X(THROTTLED, "TooManyRequests") /* 429 */                                                      \
    X(BUDGET, "DisruptionBudget")   /* a PodDisruptionBudget does not let a pod go */              \
    X(SERVER, "ServerError")        /* 5xx */                                                      \
    X(UNREACHABLE, "Unreachable")   /* no answer: refused, reset, TLS, DNS */                      \
    X(TIMEOUT, "Timeout")           /* no answer in time: the outcome is unknown */                \
    X(TOO_LARGE, "TooLarge")        /* a limit of ours was reached */                              \
    X(SYSTEM, "System")             /* the operating system refused (file, socket) */

enum err_kind {
#define X(name, text) ERR_##name,
    ERR_KINDS(X)
#undef X
};

/* Zero-initialised = no error. err_clear() when done; `msg` is owned by the struct. */
struct err {
    enum err_kind kind;
    char *msg;
};

/* Sets an error (an earlier one is replaced) and returns -1, so that `return err_set(e, …)` reads well. `e` may be NULL. */
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...) PRINTF(3, 4);
/* Puts "context: " before the message, keeps the kind, returns -1. */
int err_wrap(struct err *e, const char *fmt, ...) PRINTF(2, 3);
/* The message, or "" when there is none. */
const char *err_msg(const struct err *e);
/* The kind's name, for logs and metrics. */
const char *err_kind_name(enum err_kind kind);
/* Hands the error to a new owner; `e` holds none afterwards. */
struct err err_take(struct err *e);
/* Frees the message; the struct can be used again. */
void err_clear(struct err *e);

#define CLEANUP_ERR CLEANUP(err_clear)

#endif
