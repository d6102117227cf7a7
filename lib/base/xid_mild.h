/* Numbers of GPU faults (Xids) after which nothing has to be done: programs cause most of them by
 * their own errors, as often as they like. Where there is room for few faults, these make room for
 * others. */
#ifndef OSTLER_BASE_XID_MILD_H
#define OSTLER_BASE_XID_MILD_H

#include <stdbool.h>
#include <stdint.h>

/* Exactly those with the level None in reconcilers/model/xids.inc. Not for SXids. */
bool xid_is_mild(int64_t xid);

#endif
