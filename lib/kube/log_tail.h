/* The end of a container's log, as short text that is safe to show. */
#ifndef OSTLER_KUBE_LOG_TAIL_H
#define OSTLER_KUBE_LOG_TAIL_H

#include <stddef.h>

/* The last lines of a log that fit in `max` bytes. A longer line loses its beginning. Any
 * program may have written the log: invalid UTF-8 becomes "?", tabs become spaces, all other
 * control characters except line ends are removed. "" if nothing is left. Owned by the caller. */
char *log_tail_cut(const char *bytes, size_t len, size_t max);

#endif
