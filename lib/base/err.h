/* Errors: a value that the caller owns, with a kind and a message. Callers branch on the kind.
 * The message says in one sentence what failed, where and why. The failing code writes it;
 * callers add context with err_wrap(). */
#ifndef OSTLER_BASE_ERR_H
#define OSTLER_BASE_ERR_H

#include "base/mem.h"

/* kind, its name in logs and metrics */
#define ERR_KINDS(X)                                                                               \
    X(NONE, "None")                 /* no error */                                                 \
    X(INVALID, "Invalid")           /* the input is wrong; a retry fails again */                  \
    X(NOT_FOUND, "NotFound")        /* 404 */                                                      \
    X(EXISTS, "AlreadyExists")      /* 409 with reason AlreadyExists */                            \
    X(CONFLICT, "Conflict")         /* 409: another writer came first; read again */               \
    X(GONE, "Gone")                 /* 410: the resourceVersion is compacted; list again */        \
    X(FORBIDDEN, "Forbidden")       /* 403: a permission is missing */                             \
    X(UNAUTHORIZED, "Unauthorized") /* 401: the credentials were rejected */                       \
    X(THROTTLED, "TooManyRequests") /* 429 */                                                      \
    X(BUDGET, "DisruptionBudget")   /* a PodDisruptionBudget blocks an eviction */                 \
    X(SERVER, "ServerError")        /* 5xx */                                                      \
    X(UNREACHABLE, "Unreachable")   /* no response: refused, reset, TLS, DNS */                    \
    X(TIMEOUT, "Timeout")           /* no response in time: the outcome is unknown */              \
    X(TOO_LARGE, "TooLarge")        /* a limit of Ostler was exceeded */                           \
    X(SYSTEM, "System")             /* a system call failed (file, socket) */

enum err_kind {
#define X(name, text) ERR_##name,
    ERR_KINDS(X)
#undef X
};

/* Zero-initialised = no error. Call err_clear() when done; the struct owns `msg`. */
struct err {
    enum err_kind kind;
    char *msg;
};

/* Sets an error (replacing an earlier one) and returns -1, for `return err_set(e, …)`. `e` may
 * be NULL. */
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...) PRINTF(3, 4);
/* Puts "context: " before the message, keeps the kind and returns -1. */
int err_wrap(struct err *e, const char *fmt, ...) PRINTF(2, 3);
/* The message, or "" if there is none. */
const char *err_msg(const struct err *e);
/* The name of a kind, for logs and metrics. */
const char *err_kind_name(enum err_kind kind);
/* Moves the error to a new owner; `e` is empty afterwards. */
struct err err_take(struct err *e);
/* Frees the message; the struct can be reused. */
void err_clear(struct err *e);

#define CLEANUP_ERR CLEANUP(err_clear)

#endif
