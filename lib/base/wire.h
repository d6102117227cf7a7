/* Messages of protobuf as they go over the wire: numbered fields, one after the other
 * (https://protobuf.dev/programming-guides/encoding/). What a field means, its reader knows. */
#ifndef OSTLER_BASE_WIRE_H
#define OSTLER_BASE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* How a field goes over the wire; the numbers are protobuf's. */
enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* Bytes that are still to be read. Borrowed. */
struct wire_rest {
    const unsigned char *at;
    size_t len;
};

/* One field as it came. */
struct wire_field {
    uint32_t number;
    enum wire wire;
    uint64_t value;         /* of a number */
    struct wire_rest bytes; /* of anything else */
};

/* The next field; false: the bytes are no message. Only where bytes are left. */
bool wire_take(struct wire_rest *r, struct wire_field *ret);
/* The last field of a number in a message; NULL bytes and 0 where it has none. False: the bytes are no message. */
bool wire_find(struct wire_rest r, uint32_t number, struct wire_field *ret);

/* Appends a field with a number, a text, or another message. False: it passes the buffer's limit. */
bool wire_add_number(struct buf *b, uint32_t field, uint64_t value) __attribute__((warn_unused_result));
bool wire_add_text(struct buf *b, uint32_t field, const char *text) __attribute__((warn_unused_result));
bool wire_add_message(struct buf *b, uint32_t field, const struct buf *message) __attribute__((warn_unused_result));

#endif
