/* What an HTTP answer that is no success means: status and metav1.Status to one kind and one sentence. */
#ifndef OSTLER_KUBE_REPLY_H
#define OSTLER_KUBE_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/transport.h"

/* The kind of an HTTP status and a metav1.Status reason ("" when there was none). */
enum err_kind reply_kind(int status, const char *reason);
/* Whether a Status names causes. A refusal of a JSON patch whose test failed is told by that from one that is not valid: it
 * has none. */
bool reply_names_causes(const char *body, size_t len);
/* Sets the error that an answer with a status >= 300 stands for; `body` may be anything, NULL when `len` is 0. Always -1. */
int reply_error(int status, const char *body, size_t len, struct err *e);
/* The error of how an answer came out: that none came, or what a status >= 300 stands for. -1 with it; 0: it is a success. */
int reply_take(const struct transport_result *result, const char *body, size_t len, struct err *e);
/* As reply_error(), of the answer to an eviction. Where the pod's PodDisruptionBudgets are the reason it is ERR_BUDGET and the
 * sentence names the budget; `ret_wait_ms` is the least time until it may be otherwise, 0 for other reasons. */
int reply_eviction_error(int status, const char *body, size_t len, struct err *e, int64_t *ret_wait_ms);

#endif
