/* Objects as YAML, in kubectl's format. */
#include "base/yaml.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/terminal.h"
#include "base/yaml_scalar.h"

enum {
    INDENT = 2,
    SIMPLE_KEY_MAX = 1000, /* parsers look for a key's ":" within 1024 characters */
};

/* Characters that a terminal interprets, including line breaks, or that a parser may not accept
 * raw. */
static bool is_special(uint32_t c)
{
    return terminal_obeys(c) || c == 0xa0 || (c & 0xfffe) == 0xfffe;
}

static bool has_special(const char *s, const char *except)
{
    size_t n;
    for (; *s; s += n) {
        uint32_t c = str_utf8_first(s, &n);
        if (is_special(c) && !(n == 1 && strchr(except, *s)))
            return true;
    }
    return false;
}

static bool fits_plain(const char *s)
{
    if (yaml_scalar_needs_quotes(s) || has_special(s, ""))
        return false;
    /* "-" begins a list item only before a space, so that command-line options need no quotes */
    bool starts_well = *s == '-' ? s[1] && s[1] != ' ' : !strchr("?:,[]{}#&*!|>'\"%@` ", *s);
    char last = s[strlen(s) - 1];
    return starts_well && !strstr(s, ": ") && !strstr(s, " #") && last != ':' && last != ' ' &&
           !str_has_prefix(s, "---") && !str_has_prefix(s, "...");
}

/* Several lines without escapes and with at most one final newline. */
static bool fits_literal(const char *s)
{
    return strchr(s, '\n') && !strchr("\n\t ", *s) && !str_has_suffix(s, "\n\n") &&
           !has_special(s, "\n\t");
}

static void put_bytes(struct buf *b, const char *bytes, size_t n)
{
    bool fits = buf_add(b, bytes, n);
    assert(fits);
    (void) fits;
}

static void put_spaces(struct buf *b, int n)
{
    buf_printf(b, "%*s", n, "");
}

static void put_quoted(struct buf *b, const char *s)
{
    buf_str(b, "\"");
    size_t n;
    for (; *s; s += n) {
        uint32_t c = str_utf8_first(s, &n);
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", (char) c);
        else if (c == '\n')
            buf_str(b, "\\n");
        else if (c == '\t')
            buf_str(b, "\\t");
        else if (is_special(c))
            buf_printf(b, c > 0xffff ? "\\U%08X" : "\\u%04X", c);
        else
            put_bytes(b, s, n);
    }
    buf_str(b, "\"");
}

static void put_literal(struct buf *b, const char *s, int indent)
{
    buf_str(b, str_has_suffix(s, "\n") ? "|" : "|-");
    while (*s) {
        size_t n = strcspn(s, "\n");
        buf_str(b, "\n");
        if (n > 0) {
            put_spaces(b, indent + INDENT);
            put_bytes(b, s, n);
        }
        s += n + (s[n] == '\n');
    }
}

static void put_string(struct buf *b, const char *s, int indent)
{
    if (fits_literal(s))
        put_literal(b, s, indent);
    else if (fits_plain(s))
        buf_str(b, s);
    else
        put_quoted(b, s);
}

static bool is_block(const json_t *value)
{
    return json_object_size(value) > 0 || json_array_size(value) > 0;
}

/* A value on the same line, or a literal below it. */
static void put_inline(struct buf *b, const json_t *value, int indent)
{
    if (json_is_string(value)) {
        put_string(b, json_string_value(value), indent);
    } else {
        CLEANUP_FREE char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        buf_str(b, text);
    }
    buf_str(b, "\n");
}

static void put_block(struct buf *b, const json_t *value, int indent, bool goes_on);

/* A value after "-", "?" or the ":" of a long key: on the same line, the rest indented by two. */
static void put_item(struct buf *b, const json_t *value, int indent)
{
    buf_str(b, " ");
    if (is_block(value))
        put_block(b, value, indent + INDENT, true);
    else
        put_inline(b, value, indent);
}

static void put_member(struct buf *b, const char *key, const json_t *value, int indent)
{
    if (strlen(key) > SIMPLE_KEY_MAX) {
        buf_str(b, "? ");
        put_quoted(b, key);
        buf_str(b, "\n");
        put_spaces(b, indent);
        buf_str(b, ":");
        put_item(b, value, indent);
        return;
    }
    if (fits_plain(key))
        buf_str(b, key);
    else
        put_quoted(b, key);
    buf_str(b, ":");
    if (!is_block(value)) {
        buf_str(b, " ");
        put_inline(b, value, indent);
        return;
    }
    buf_str(b, "\n");
    put_block(b, value, json_is_array(value) ? indent : indent + INDENT, false);
}

/* A list or a map; its first line continues the current line (goes_on) or starts a new one. */
static void put_block(struct buf *b, const json_t *value, int indent, bool goes_on)
{
    JSON_EACH_MEMBER (key, child, value) {
        put_spaces(b, goes_on ? 0 : indent);
        put_member(b, key, child, indent);
        goes_on = false;
    }
    JSON_EACH (child, value) {
        put_spaces(b, goes_on ? 0 : indent);
        buf_str(b, "-");
        put_item(b, child, indent);
        goes_on = false;
    }
}

char *yaml_dump(const json_t *value)
{
    struct buf b = BUF_INIT(SIZE_MAX);
    if (is_block(value))
        put_block(&b, value, 0, false);
    else
        put_inline(&b, value, 0);
    return buf_take(&b);
}
