/* What the text of a watch event says without a parser: the names and the version of its object,
 * and a hash of all else. The API server repeats objects of which only a part changes that no code
 * reads; with its hash such an event is known before it is parsed. It reads what API servers
 * write, JSON without spaces and without escapes in names, and gives up at anything else. */
#ifndef OSTLER_KUBE_FRAME_H
#define OSTLER_KUBE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FRAME_KEY_MAX = 320, /* of "namespace/name": 63 + 1 + 253 */
    FRAME_RV_MAX = 21,   /* of 64 bits */
};

struct frame {
    char key[FRAME_KEY_MAX]; /* as record_key() */
    char rv[FRAME_RV_MAX];   /* metadata.resourceVersion */
    uint64_t hash;           /* of the object without its version; never 0 */
};

/* Reads {"type":"ADDED","object":{…}} or the same with MODIFIED; false: it is another event, or
 * must be parsed. */
bool frame_read(const char *text, size_t len, struct frame *ret);

#endif
