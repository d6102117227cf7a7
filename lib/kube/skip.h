/* Skips JSON of which only the end matters, 64 bytes at a time where the processor has AVX2. */
#ifndef OSTLER_KUBE_SKIP_H
#define OSTLER_KUBE_SKIP_H

#include <stdbool.h>
#include <stddef.h>

/* Where the text stands. */
struct skip {
    size_t open; /* containers that are open, of both kinds */
    bool in_string;
    bool in_escape; /* after a backslash in a string */
};

/* Goes on in the text, which may be cut anywhere: to its end, or behind the bracket that closes the
 * last open container. Returns the number of bytes. */
size_t skip_json(struct skip *s, const char *text, size_t len);

#endif
