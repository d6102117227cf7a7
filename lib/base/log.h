/* Logs: one line per entry on stderr, a constant message and key-value strings, as JSON or text.
 * The level and the format are static, set once in main. Pure code never logs: it returns
 * reasons. Never log secrets. */
#ifndef OSTLER_BASE_LOG_H
#define OSTLER_BASE_LOG_H

#include <stdbool.h>

/* LOG_SILENT: no line has this level; it drops all lines. */
enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_SILENT };

/* Sets the format and drops lines below `level` from now on. */
void log_setup(enum log_level level, bool json);
/* The names of the levels, ended by NULL. */
extern const char *const log_levels[];
/* Writes one entry: key, value, key, value, …, NULL. A NULL value becomes "". */
void log_write(enum log_level level, const char *msg, ...) __attribute__((sentinel));

#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__, NULL)
#define log_info(...) log_write(LOG_INFO, __VA_ARGS__, NULL)
#define log_warn(...) log_write(LOG_WARN, __VA_ARGS__, NULL)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__, NULL)

#endif
