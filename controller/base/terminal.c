#include "base/terminal.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"

/* The character at s, and its bytes; 0 with 1 byte where it is no UTF-8. */
static uint32_t character(const char *s, size_t *ret_bytes)
{
    unsigned char lead = (unsigned char) *s;
    size_t more = lead < 0x80 ? 0 : lead < 0xc2 ? 4 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : 4;
    *ret_bytes = 1;
    if (more > 3)
        return 0;
    uint32_t c = more ? lead & (0x3fu >> more) : lead;
    for (size_t i = 1; i <= more; i++) {
        if (((unsigned char) s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | ((unsigned char) s[i] & 0x3f);
    }
    *ret_bytes = more + 1;
    return c;
}

bool terminal_obeys(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xd800 && c < 0xe000);
}

/* `kept` is a control character that stays. */
static void add(struct buf *out, const char *s, char kept)
{
    size_t n;
    for (s = str_or_empty(s); *s; s += n) {
        uint32_t c = character(s, &n);
        bool stays = *s == kept || !terminal_obeys(c);
        if (!buf_add(out, c == 0 ? "?" : stays ? s : " ", c != 0 && stays ? n : 1))
            return;
    }
}

void terminal_add(struct buf *out, const char *s)
{
    add(out, s, '\0');
}

char *terminal_clean(const char *s)
{
    struct buf b = BUF_INIT(SIZE_MAX);
    terminal_add(&b, s);
    return buf_take(&b);
}

json_t *terminal_clean_tree(const json_t *value)
{
    const char *key;
    size_t i;
    json_t *child, *copy = json_is_object(value) ? json_object() : json_is_array(value) ? json_array() : NULL;
    json_object_foreach ((json_t *) value, key, child)
        json_object_set_new(copy, key, terminal_clean_tree(child));
    json_array_foreach (value, i, child)
        json_array_append_new(copy, terminal_clean_tree(child));
    if (copy || !json_is_string(value))
        return copy ? copy : json_deep_copy(value);
    struct buf b = BUF_INIT(SIZE_MAX);
    add(&b, json_string_value(value), '\n');
    CLEANUP_FREE char *clean = buf_take(&b);
    return json_text(clean);
}

/* jansson escapes what is below a blank; the others can stand in strings alone, and so as an escape. */
char *terminal_json(const json_t *value, bool one_line)
{
    CLEANUP_FREE char *json = json_dumps(value, (one_line ? JSON_COMPACT : JSON_INDENT(2)) | JSON_ENCODE_ANY);
    struct buf out = BUF_INIT(SIZE_MAX);
    size_t n;
    for (const char *s = str_or_empty(json); *s; s += n) {
        uint32_t c = character(s, &n);
        if (c >= 0x7f && terminal_obeys(c))
            buf_printf(&out, "\\u%04x", c);
        else if (!buf_add(&out, s, n))
            break;
    }
    return buf_take(&out);
}
