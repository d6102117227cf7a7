/* What the text of a watch event says without a parser: the names and the version of its object,
 * where its labels are, and hashes of these and of all else. The API server repeats objects of
 * which only a part changes that no code reads; with the hashes such an event is known before it is
 * parsed, and of one with other labels only these are parsed. It reads what API servers write, JSON
 * without spaces and without escapes in names, and gives up at anything else. */
#ifndef OSTLER_KUBE_FRAME_H
#define OSTLER_KUBE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FRAME_KEY_MAX = 320, /* of "namespace/name": 63 + 1 + 253 */
    FRAME_RV_MAX = 21,   /* of 64 bits */
};

/* Of an object's text. Zeros: not known. */
struct frame_hash {
    uint64_t labels; /* of metadata.labels; 0: there are none */
    uint64_t rest;   /* of all else but the version; never 0 */
};

struct frame {
    char key[FRAME_KEY_MAX]; /* as record_key() */
    char rv[FRAME_RV_MAX];   /* metadata.resourceVersion */
    struct frame_hash hash;
    const char *labels; /* the text of metadata.labels, borrowed; NULL: there are none */
    size_t labels_len;
};

/* Reads {"type":"ADDED","object":{…}} or the same with MODIFIED; false: it is another event, or
 * must be parsed. */
bool frame_read(const char *text, size_t len, struct frame *ret);
/* Reads only key and version of the same event. */
bool frame_name(const char *text, size_t len, struct frame *ret);
/* Reads only key and version of an object. */
bool frame_name_object(const char *text, size_t len, struct frame *ret);

#endif
