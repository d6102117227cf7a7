/* Logs: one line per entry on stderr, a constant message and key-value strings; JSON lines for machines or text for people.
 * The one place with static state, set up once in main. Pure code never logs: it returns reasons. Secrets never come here. */
#ifndef OSTLER_BASE_LOG_H
#define OSTLER_BASE_LOG_H

#include <stdbool.h>

/* LOG_SILENT: not a level of lines, but one that drops them all. */
enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_SILENT };

/* From here on lines below `level` are dropped. */
void log_setup(enum log_level level, bool json);
/* The level of a name ("debug", "info", "warn", "error"); false when it is none of them. */
bool log_level_parse(const char *name, enum log_level *ret);
/* One entry: key, value, key, value, …, NULL. A NULL value is shown as "". */
void log_write(enum log_level level, const char *msg, ...) __attribute__((sentinel));

#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__, NULL)
#define log_info(...) log_write(LOG_INFO, __VA_ARGS__, NULL)
#define log_warn(...) log_write(LOG_WARN, __VA_ARGS__, NULL)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__, NULL)

#endif
