/* Messages of protobuf: what was written is read again, and what is none is refused. */
#include "base/wire.h"

#include <string.h>

#include "tests/unit/support/suite.h"

#define BYTES(text) text, sizeof text - 1

static const struct row {
    const char *name;
    const char *bytes;
    size_t len;
    bool right;
    uint64_t value;   /* of field 1 */
    const char *text; /* of field 2 */
} rows[] = {
    { "nothing", BYTES(""), true, 0, "" },
    { "a number", BYTES("\x08\x96\x01"), true, 150, "" }, /* the example of protobuf's own text */
    { "a text", BYTES("\x12\x07testing"), true, 0, "testing" },
    { "the last one counts", BYTES("\x08\x01\x08\x02"), true, 2, "" },
    { "fields of fixed sizes are passed over",
      BYTES("\x19"
            "12345678"
            "\x25"
            "1234"
            "\x08\x05"),
      true, 5, "" },
    { "the largest number", BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), true, UINT64_MAX,
      "" },
    { "a number without an end", BYTES("\x08\x96"), false, 0, NULL },
    { "a number that is too long", BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), false,
      0, NULL },
    { "a text that is longer than the message", BYTES("\x12\x08testing"), false, 0, NULL },
    { "a field of no number", BYTES("\x00\x01"), false, 0, NULL },
    { "a field of an unknown form", BYTES("\x0b\x01"), false, 0, NULL },
    { "a fixed size that is cut off",
      BYTES("\x19"
            "1234567"),
      false, 0, NULL },
};

static void check(void **state)
{
    const struct row *row = *state;
    const struct wire_rest whole = { (const unsigned char *) row->bytes, row->len };
    struct wire_field number, text;
    assert_int_equal(wire_find(whole, 1, &number), row->right);
    assert_int_equal(wire_find(whole, 2, &text), row->right);
    if (!row->right)
        return;
    assert_true(number.value == row->value);
    assert_int_equal(text.bytes.len, strlen(row->text));
    assert_true(text.bytes.len == 0 || memcmp(text.bytes.at, row->text, text.bytes.len) == 0);
}

static void what_was_written_is_read(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf inner = BUF_INIT(64), message = BUF_INIT(64), small = BUF_INIT(3);
    struct wire_field outer, f;
    assert_true(wire_add_number(&inner, 1, 300) && wire_add_text(&inner, 2, "text") &&
                wire_add_message(&message, 7, &inner));
    assert_true(wire_find((struct wire_rest){ (const unsigned char *) message.data, message.len },
                          7, &outer));
    assert_true(wire_find(outer.bytes, 1, &f) && f.value == 300);
    assert_true(wire_find(outer.bytes, 2, &f) && f.bytes.len == 4 &&
                memcmp(f.bytes.at, "text", 4) == 0);
    assert_false(wire_add_message(&small, 7, &inner));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "what was written is read", what_was_written_is_read, NULL);
    return suite_run(&s, "wire");
}
