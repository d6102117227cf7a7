#include "base/terminal.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"

bool terminal_obeys(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c >= 0xd800 && c < 0xe000);
}

/* `kept` is a control character to keep. */
static void terminal_add_now(struct buf *out, const char *s, char kept)
{
    size_t n;
    for (s = str_or_empty(s); *s; s += n) {
        uint32_t c = str_utf8_first(s, &n);
        bool stays = *s == kept || !terminal_obeys(c);
        if (!buf_add(out, c == 0 ? "?" : stays ? s : " ", c != 0 && stays ? n : 1))
            return;
    }
}

/* Appends the sanitised text. */
static void terminal_add(struct buf *out, const char *s)
{
    terminal_add_now(out, s, '\0');
}

char *terminal_clean(const char *s)
{
    struct buf b = BUF_INIT(SIZE_MAX);
    terminal_add(&b, s);
    return buf_take(&b);
}

char *terminal_clean_lines(const char *s)
{
    struct buf b = BUF_INIT(SIZE_MAX);
    terminal_add_now(&b, s, '\n');
    return buf_take(&b);
}

/* A copy of a tree whose texts this function copies. */
static json_t *copy_tree(const json_t *value, char *(*copy_text)(const char *s))
{
    json_t *copy = json_is_object(value)  ? json_object()
                   : json_is_array(value) ? json_array()
                                          : NULL;
    JSON_EACH_MEMBER (key, child, value)
        json_object_set_new(copy, key, copy_tree(child, copy_text));
    JSON_EACH (child, value)
        json_array_append_new(copy, copy_tree(child, copy_text));
    if (copy || !json_is_string(value))
        return copy ? copy : json_deep_copy(value);
    CLEANUP_FREE char *text = copy_text(json_string_value(value));
    return json_text(text);
}

json_t *terminal_clean_tree(const json_t *value)
{
    return copy_tree(value, terminal_clean_lines);
}

/* ---- escapes */

void terminal_escape(const char *s, size_t n, char ret[static TERMINAL_ESCAPE_MAX])
{
    size_t whole;
    if (n == 1)
        snprintf(ret, TERMINAL_ESCAPE_MAX, "\\x%02x", (unsigned) (unsigned char) *s);
    else
        snprintf(ret, TERMINAL_ESCAPE_MAX, "\\u%04x", str_utf8_first(s, &whole));
}

/* Keeps line ends. */
static char *terminal_shown(const char *s)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    size_t n;
    for (s = str_or_empty(s); *s; s += n) {
        bool stays = !terminal_obeys(str_utf8_first(s, &n)) || *s == '\n';
        char escape[TERMINAL_ESCAPE_MAX];
        if (!stays)
            terminal_escape(s, n, escape);
        if (!buf_add(&out, stays ? s : escape, stays ? n : strlen(escape)))
            break;
    }
    return buf_take(&out);
}

json_t *terminal_shown_tree(const json_t *value)
{
    return copy_tree(value, terminal_shown);
}

/* Whether JSON has each byte of the text as it is. */
static bool is_plain(const char *s, size_t *ret_len)
{
    const char *at = s;
    while (*at >= ' ' && *at < 0x7f && *at != '"' && *at != '\\')
        at++;
    *ret_len = (size_t) (at - s);
    return !*at;
}

bool terminal_add_json(struct buf *out, const char *s)
{
    size_t len;
    if (is_plain(s, &len)) {
        char *to = buf_grow(out, len + 2);
        if (to) {
            *to = to[len + 1] = '"';
            memcpy(to + 1, s, len);
        }
        return to;
    }
    CLEANUP_FREE char *shown = terminal_shown(s);
    CLEANUP_JSON json_t *text = json_text(shown);
    CLEANUP_FREE char *json = json_compact(text);
    return buf_add(out, json, strlen(json));
}

/* jansson escapes characters below a blank; all others occur only inside strings, where an
 * escape is valid. */
char *terminal_json(const json_t *value, bool one_line)
{
    CLEANUP_FREE char *json = json_dumps(value, (one_line ? JSON_COMPACT : JSON_INDENT(2)) |
                                                    JSON_ENCODE_ANY);
    struct buf out = BUF_INIT(SIZE_MAX);
    size_t n;
    for (const char *s = str_or_empty(json); *s; s += n) {
        uint32_t c = str_utf8_first(s, &n);
        if (c >= 0x7f && terminal_obeys(c))
            buf_printf(&out, "\\u%04x", c);
        else if (!buf_add(&out, s, n))
            break;
    }
    return buf_take(&out);
}
