/* Timeouts of a node that exclude times when it was down or not watched. */
#ifndef OSTLER_RECONCILERS_DECIDE_DEADLINE_H
#define OSTLER_RECONCILERS_DECIDE_DEADLINE_H

#include "reconcilers/decide/node_types.h"

/* The start of the timeout, in epoch seconds: the latest of `since_s`, when the node came up, when
 * its removal was called off, and when the watches last resumed. Earlier time does not count,
 * because the node's state was not known. So a clock that jumps ahead fails no node. */
int64_t deadline_from_s(const struct node_input *in, int64_t since_s);
/* Whether a timeout is over. Never on a node that is down. Also not while the caches may be older
 * than its end, which takes up to a minute in a quiet cluster. Otherwise requests a requeue.
 * `of_proof`: a validation pod ends it. */
bool deadline_is_over(const struct node_pass *p, int64_t since_s, int64_t timeout_s, bool of_proof);

/* The same for a phase in which the node goes down, and returns: its time runs while it is down. */
bool deadline_of_boot_is_over(const struct node_pass *p, int64_t since_s, int64_t timeout_s);

#endif
