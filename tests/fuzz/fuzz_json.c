/* Any bytes as JSON: no crash; what is read is written, compact and sorted, as texts that are read
 * as the same, and paths into it end somewhere. What the reader of plain JSON reads, jansson reads
 * as the same tree with the same order of keys. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_plain.h"
#include "base/mem.h"
#include "tests/fuzz/floats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const json_t *value, char *text_steal)
{
    CLEANUP_FREE char *text = text_steal;
    CLEANUP_JSON json_t *again = json_parse(text, strlen(text), NULL);
    if (!again || !json_equal(value, again))
        abort();
}

/* What is read of any tree, whatever it is. */
static void check_reading(const json_t *value)
{
    static const char *const paths[] = { "kind", "metadata.name", "spec.n", "metadata.labels.x" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const json_t *at = json_at(value, paths[i]);
        const char *text = json_str(value, paths[i]);
        if (!at != !json_at(value, paths[i]) || (text && text != json_string_value(at)) ||
            (!text && *json_str_or_empty(value, paths[i])))
            abort();
    }
}

static void check_plain(const char *text, size_t len)
{
    CLEANUP_JSON json_t *plain = json_plain(text, len);
    CLEANUP_JSON json_t *jansson = json_loadb(text, len, JSON_DECODE_ANY, NULL);
    if (!plain)
        return;
    CLEANUP_FREE char *is = json_plain_write(plain),
                      *wanted = json_dumps(jansson, JSON_COMPACT | JSON_ENCODE_ANY);
    if (!jansson || !json_equal(plain, jansson) || (is && strcmp(is, wanted) != 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_plain((const char *) data, size);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *value = json_parse((const char *) data, size, &e);
    if (!value && (e.kind == ERR_NONE || !*err_msg(&e)))
        abort();
    if (!value)
        return 0;
    check_reading(value);
    if (!has_float(value)) {
        check_text(value, json_canonical(value));
        check_text(value, json_compact(value));
    }
    return 0;
}
