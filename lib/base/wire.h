/* Protobuf messages in wire format: a sequence of numbered fields
 * (https://protobuf.dev/programming-guides/encoding/). The reader knows what a field means. */
#ifndef OSTLER_BASE_WIRE_H
#define OSTLER_BASE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Wire types, with protobuf's numbers. */
enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* Unread bytes. Borrowed. */
struct wire_rest {
    const unsigned char *at;
    size_t len;
};

/* One decoded field. */
struct wire_field {
    uint32_t number;
    enum wire wire;
    uint64_t value;         /* of a number */
    struct wire_rest bytes; /* of the other types */
};

/* Reads the next field; call it only while bytes are left. False: the bytes are not a message. */
bool wire_take(struct wire_rest *r, struct wire_field *ret);
/* The last field with a number; NULL bytes and 0 if there is none. False: the bytes are not a
 * message. */
bool wire_find(struct wire_rest r, uint32_t number, struct wire_field *ret);

/* Appends a field: a number, a text or another message. False if the buffer's limit would be
 * exceeded. */
bool wire_add_number(struct buf *b, uint32_t field, uint64_t value)
    __attribute__((warn_unused_result));
bool wire_add_text(struct buf *b, uint32_t field, const char *text)
    __attribute__((warn_unused_result));
bool wire_add_message(struct buf *b, uint32_t field, const struct buf *message)
    __attribute__((warn_unused_result));

#endif
