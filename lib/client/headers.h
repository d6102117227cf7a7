/* The response headers that Ostler needs. Pure. */
#ifndef OSTLER_CLIENT_HEADERS_H
#define OSTLER_CLIENT_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise, then set retry_after_ms to -1. */
struct headers {
    size_t bytes;           /* of all lines so far */
    int64_t retry_after_ms; /* -1: no such header, or not whole seconds */
    int64_t date_s;         /* `Date:`, seconds since 1970; 0: absent or not parsable */
    char *warning;          /* text of the last `Warning: 299`; owned, NULL: none */
};

/* Parses one line, with or without its line end. False if the lines exceed LIMIT_HEADER_BYTES. */
bool headers_add(struct headers *h, const char *line, size_t len);
/* Frees what it owns. */
void headers_clear(struct headers *h);

#endif
