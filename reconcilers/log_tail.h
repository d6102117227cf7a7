/* The log tail of a container that failed: read once for each failure, only for users. */
#ifndef OSTLER_RECONCILERS_LOG_TAIL_H
#define OSTLER_RECONCILERS_LOG_TAIL_H

#include "reconcilers/reconcilers.h"

/* After a node's pass: requests the log tail of the operand that failed there, once. Forgets the
 * log tail of an earlier upgrade when one starts. */
void log_tail_request(struct reconcilers *r, struct node_slot *slot, const struct node_verdict *v);
/* Takes the response; NULL: there is none. `key` is the key of the request. */
void log_tail_take(struct reconcilers *r, const char *key, const char *bytes, size_t len);

#endif
