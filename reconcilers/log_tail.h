/* What a container said before it failed: read once for each failure, for people alone. */
#ifndef OSTLER_RECONCILERS_LOG_TAIL_H
#define OSTLER_RECONCILERS_LOG_TAIL_H

#include "reconcilers/reconcilers.h"

/* After a node's pass: asks for the end of the log of the operand that failed there, where nobody has yet, and forgets what was
 * said of an upgrade before the one that begins. */
void log_tail_request(struct reconcilers *r, struct node_slot *slot, const struct node_verdict *v);
/* The answer to a question; NULL: there is none, which is no news to anybody. `key` is that of the question. */
void log_tail_take(struct reconcilers *r, const char *key, const char *bytes, size_t len);

#endif
