/* The last words of a container: what a log says at its end, as one short text that may be shown to people. */
#ifndef OSTLER_KUBE_LOG_TAIL_H
#define OSTLER_KUBE_LOG_TAIL_H

#include <stddef.h>

/* The last lines of a log that have room in `max` bytes, without what only a terminal would show. A line too long for it loses
 * its beginning. The log is what any program wrote: bytes that are no UTF-8 become "?", tabs become spaces, other control
 * characters but the ends of lines go. "" where it says nothing. Owned by the caller. */
char *log_tail_cut(const char *bytes, size_t len, size_t max);

#endif
