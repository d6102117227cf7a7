/* Translates a failed HTTP response (status and metav1.Status) to an error kind and one
 * sentence. */
#ifndef OSTLER_KUBE_REPLY_H
#define OSTLER_KUBE_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/transport.h"

/* The kind for an HTTP status and a metav1.Status reason ("" if there is none). */
enum err_kind reply_kind(int status, const char *reason);
/* Whether a Status names causes. A JSON patch whose test failed gets a Status without causes; an
 * invalid patch gets one with causes. */
bool reply_names_causes(const char *body, size_t len);
/* Sets the error of a response with status >= 300; `body` may be anything, NULL if `len` is 0.
 * Always -1. */
int reply_error(int status, const char *body, size_t len, struct err *e);
/* Sets the error if there was no response or its status is >= 300, and returns -1; 0: success. */
int reply_take(const struct transport_result *result, const char *body, size_t len, struct err *e);
/* As reply_error(), for an eviction. If PodDisruptionBudgets block it, the kind is ERR_BUDGET
 * and the sentence names the budget. `ret_wait_ms` is then the least time before a retry can
 * succeed, otherwise 0. */
int reply_eviction_error(int status, const char *body, size_t len, struct err *e,
                         int64_t *ret_wait_ms);

#endif
