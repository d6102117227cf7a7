/* Reads the kernel log without a device: syslog(2), which needs CAP_SYSLOG and never changes the
 * log. A file in the same format can stand in for it. Each line is "<N>[SECONDS] TEXT"; the number
 * has the level, and from bit 3 on who wrote it: 0 is the kernel itself. What programs write to
 * /dev/kmsg never has 0.
 *
 * A message of several lines has the same prefix before each of them. A program can choose where
 * such a line begins, because kernel messages contain names and texts of programs. Messages are
 * told apart by their time stamps, in microseconds: of two with the same prefix in a row, the
 * second one seems to continue the first. */
#ifndef OSTLER_NODE_INVENTORY_KERNEL_LOG_H
#define OSTLER_NODE_INVENTORY_KERNEL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/inventory/text.h"

/* At most the end of the log: at the first look, which the scan's process takes, and at the later
 * ones, in the agent's own memory. */
enum { KERNEL_LOG_MAX = 1 << 20, KERNEL_LOG_AGENT_MAX = 1 << 18 };

/* Its name in error messages. */
#define KERNEL_LOG_NAME "kernel log"

/* Memory of its own, which the system gets back with kernel_log_close(). */
struct kernel_log {
    char *at;
    size_t len, size;
};

#define CLEANUP_KERNEL_LOG CLEANUP(kernel_log_close)

/* Reads the last `max` bytes from a line's beginning. `file`: "" for the kernel's own log. Returns
 * 0 or an errno. */
int kernel_log_read(const char *file, size_t max, struct kernel_log *ret);
void kernel_log_close(struct kernel_log *l);

struct kernel_log_line {
    struct part whole;
    struct part prefix; /* number, time stamp and writer */
    struct part text;   /* without the prefix */
    bool by_kernel;     /* the kernel itself wrote it */
    bool continues;     /* it seems to be a further line of the message before it */
    int64_t stamp_us;   /* since boot; -1: the log has no time stamps (printk.time=0) */
};

/* The next line with a prefix; false at the end. `line`: the one before, or zeros. */
bool kernel_log_next(struct part *text, struct kernel_log_line *line);
/* Whether messages can be told apart: each line has a time stamp. */
bool kernel_log_has_stamps(struct part text);

#endif
