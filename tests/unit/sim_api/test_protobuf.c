#include "sim/api/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define MAGIC "6b387300"
/* What says that a Namespace of v1 follows. */
#define NAMESPACE MAGIC "0a0f 0a027631 12094e616d657370616365"

enum { BYTES_MAX = 1024 };

static const struct row {
    const char *name;
    const char *bytes;  /* in hexadecimal digits */
    const char *object; /* with ' for "; NULL: it is refused */
    enum err_kind kind;
} rows[] = {
    { "kubectl create namespace foo, as 1.36.3 sends it",
      NAMESPACE "121b 0a13 0a03666f6f 1200 1a00 2200 2a00 3200 3800 4200 1200 1a02 0a00 1a00 2200",
      "{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'foo'}}", ERR_NONE },
    { "labels, and a time", NAMESPACE "1217 0a15 0a0161 4206 08f8acd9ba06 5a08 0a0178 120379657a",
      "{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'a', 'labels': {'x': 'yez'}, "
      "'creationTimestamp': "
      "'2024-12-09T02:31:20Z'}}",
      ERR_NONE },
    { "a field that no table has, with something in it", NAMESPACE "1207 0a05 0a0161 3801", NULL,
      ERR_NOT_FOUND },
    { "a kind that no table has", MAGIC "0a0b 0a027631 12054576656e74 1200", NULL, ERR_NOT_FOUND },
    { "nothing", "", NULL, ERR_INVALID },
    { "JSON", "7b7d", NULL, ERR_INVALID },
    { "only the first bytes", MAGIC, NULL, ERR_NOT_FOUND },
    { "a length beyond the end", NAMESPACE "12ff", NULL, ERR_INVALID },
    { "a length of 64 bits", NAMESPACE "12ffffffffffffffffff01", NULL, ERR_INVALID },
    { "a number that does not end", NAMESPACE "12ffffffffffffffffffffffffffff", NULL, ERR_INVALID },
    { "a number where a text belongs", NAMESPACE "1204 0a02 0801", NULL, ERR_INVALID },
    { "a text that is not UTF-8", NAMESPACE "1205 0a03 0a01ff", NULL, ERR_INVALID },
    { "a group, which protobuf has deprecated", NAMESPACE "1202 0b0c", NULL, ERR_INVALID },
};

static size_t bytes_of(const char *digits, unsigned char *ret)
{
    size_t len = 0;
    for (; *digits; digits++) {
        char pair[3] = { digits[0], digits[0] == ' ' ? ' ' : digits[1], 0 };
        if (*digits == ' ')
            continue;
        assert_true(len < BYTES_MAX);
        ret[len++] = (unsigned char) strtoul(pair, NULL, 16);
        digits++;
    }
    return len;
}

static void check(void **state)
{
    const struct row *row = *state;
    unsigned char bytes[BYTES_MAX];
    size_t len = bytes_of(row->bytes, bytes);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *object = protobuf_object((const char *) bytes, len, &e);
    assert_int_equal(e.kind, row->kind);
    assert_int_equal(object != NULL, row->object != NULL);
    if (!object)
        return;
    CLEANUP_JSON json_t *wanted = tree(row->object);
    CLEANUP_FREE char *is = json_dumps(object, JSON_SORT_KEYS),
                      *should_be = json_dumps(wanted, JSON_SORT_KEYS);
    assert_string_equal(is, should_be);
}

/* A head of a field of bytes, before what is there already from `at` on; where it begins. */
static size_t wrap(unsigned char *bytes, size_t at, size_t end, unsigned char key)
{
    size_t len = end - at;
    bytes[--at] = (unsigned char) (len >> 7);
    bytes[--at] = (unsigned char) (0x80 | (len & 0x7f));
    bytes[--at] = key;
    return at;
}

/* Messages in messages without end, in a field that no table has. */
static void depth_is_bounded(void **state)
{
    enum { DEEP = 2000, ROOM = 3 * (DEEP + 1) + BYTES_MAX };
    (void) state;
    static unsigned char bytes[ROOM];
    unsigned char head[BYTES_MAX];
    size_t at = ROOM, len = bytes_of(NAMESPACE, head);
    for (int i = 0; i < DEEP; i++)
        at = wrap(bytes, at, ROOM, 0x7a);
    at = wrap(bytes, at, ROOM, 0x12) - len;
    memcpy(bytes + at, head, len);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *object = protobuf_object((const char *) bytes + at, ROOM - at, &e);
    assert_null(object);
    assert_int_equal(e.kind, ERR_NOT_FOUND);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "messages in messages without end", depth_is_bounded, NULL);
    return suite_run(&s, "protobuf");
}
