#include "base/wire.h"

#include <string.h>

enum { KIND_BITS = 3, VARINT_MAX = 10 };

static bool take_varint(struct wire_rest *r, uint64_t *ret)
{
    *ret = 0;
    for (unsigned shift = 0; shift < 64 && r->len > 0; shift += 7) {
        unsigned char byte = *r->at++;
        r->len--;
        *ret |= (uint64_t) (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static bool take_bytes(struct wire_rest *r, uint64_t len, struct wire_rest *ret)
{
    if (len > r->len)
        return false;
    *ret = (struct wire_rest){ r->at, (size_t) len };
    r->at += len;
    r->len -= (size_t) len;
    return true;
}

bool wire_take(struct wire_rest *r, struct wire_field *ret)
{
    uint64_t key, len;
    if (!take_varint(r, &key) || key >> KIND_BITS == 0 || key >> KIND_BITS > UINT32_MAX)
        return false;
    *ret = (struct wire_field){ .number = (uint32_t) (key >> KIND_BITS),
                                .wire = (enum wire)(key & ((1 << KIND_BITS) - 1)) };
    switch (ret->wire) {
    case WIRE_VARINT:
        return take_varint(r, &ret->value);
    case WIRE_BYTES:
        return take_varint(r, &len) && take_bytes(r, len, &ret->bytes);
    case WIRE_FIXED64:
        return take_bytes(r, 8, &ret->bytes);
    case WIRE_FIXED32:
        return take_bytes(r, 4, &ret->bytes);
    }
    return false;
}

bool wire_find(struct wire_rest r, uint32_t number, struct wire_field *ret)
{
    *ret = (struct wire_field){ 0 };
    for (struct wire_field f; r.len > 0;) {
        if (!wire_take(&r, &f))
            return false;
        if (f.number == number)
            *ret = f;
    }
    return true;
}

static bool add_varint(struct buf *b, uint64_t value)
{
    unsigned char bytes[VARINT_MAX];
    size_t n = 0;
    for (; value > 0x7f; value >>= 7)
        bytes[n++] = (unsigned char) (value | 0x80);
    bytes[n++] = (unsigned char) value;
    return buf_add(b, bytes, n);
}

static bool add_bytes(struct buf *b, uint32_t field, const char *bytes, size_t len)
{
    return add_varint(b, (uint64_t) field << KIND_BITS | WIRE_BYTES) && add_varint(b, len) &&
           buf_add(b, bytes, len);
}

bool wire_add_number(struct buf *b, uint32_t field, uint64_t value)
{
    return add_varint(b, (uint64_t) field << KIND_BITS | WIRE_VARINT) && add_varint(b, value);
}

bool wire_add_text(struct buf *b, uint32_t field, const char *text)
{
    return add_bytes(b, field, text, strlen(text));
}

bool wire_add_message(struct buf *b, uint32_t field, const struct buf *message)
{
    return add_bytes(b, field, message->data, message->len);
}
