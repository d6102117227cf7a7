/* Values as Go prints them. */
#include "sim/api/text.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

/* Values are parts of one request. */
enum { TEXT_MAX = 64 << 20 };

static void go_text_add(struct buf *b, const json_t *value);

char *text_lower(const char *text)
{
    char *lower = xstrdup(text);
    for (char *c = lower; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char) (*c - 'A' + 'a') : *c;
    return lower;
}

void text_sort(const char **texts, size_t n)
{
    qsort(texts, n, sizeof *texts, str_compare);
}

static void add_map(struct buf *b, const json_t *map)
{
    CLEANUP_FREE const char **names = xcalloc(json_object_size(map) + 1, sizeof *names);
    size_t len = 0;
    JSON_EACH_MEMBER (name, value, map)
        names[len++] = name;
    text_sort(names, len);
    buf_str(b, "map[");
    for (size_t i = 0; i < len; i++) {
        buf_printf(b, "%s%s:", i > 0 ? " " : "", names[i]);
        go_text_add(b, json_object_get(map, names[i]));
    }
    buf_str(b, "]");
}

static void add_list(struct buf *b, const json_t *list)
{
    buf_str(b, "[");
    JSON_EACH_AT (i, value, list) {
        buf_str(b, i > 0 ? " " : "");
        go_text_add(b, value);
    }
    buf_str(b, "]");
}

static void go_text_add(struct buf *b, const json_t *value)
{
    if (json_is_object(value)) {
        add_map(b, value);
    } else if (json_is_array(value)) {
        add_list(b, value);
    } else if (json_is_string(value)) {
        buf_str(b, json_string_value(value));
    } else if (json_is_real(value)) {
        buf_printf(b, "%.16g", json_real_value(value));
    } else if (json_is_null(value)) {
        buf_str(b, "<nil>");
    } else {
        CLEANUP_FREE char *text = json_compact(value);
        buf_str(b, text);
    }
}

char *go_text(const json_t *value)
{
    struct buf b = BUF_INIT(TEXT_MAX);
    go_text_add(&b, value);
    return buf_take(&b);
}
