/* `Warning:` headers of the API server (deprecations): logs each text once. */
#ifndef OSTLER_CLIENT_WARNINGS_H
#define OSTLER_CLIENT_WARNINGS_H

#include <stddef.h>
#include <stdint.h>

#include "client/limits.h"

/* Zero-initialised = none seen. */
struct warnings {
    uint64_t seen[LIMIT_WARNINGS]; /* hashes; if the table is full, new warnings are dropped */
    size_t count;
};

/* Logs the text of a warning unless it was logged before. */
void warnings_log_once(struct warnings *w, const char *text);

#endif
