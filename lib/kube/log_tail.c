#include "kube/log_tail.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

#define ESCAPE 0x1b
#define DELETE 0x7f

/* Bytes of the UTF-8 character at `s`; 0: none. */
static size_t character(const unsigned char *s, size_t len)
{
    size_t n = *s < 0x80             ? 1
               : (*s & 0xe0) == 0xc0 ? 2
               : (*s & 0xf0) == 0xe0 ? 3
               : (*s & 0xf8) == 0xf0 ? 4
                                     : 0;
    if (n <= 1 || n > len)
        return n <= len ? n : 0;
    CLEANUP_JSON json_t *text = json_stringn((const char *) s, n); /* NULL if badly encoded */
    return text ? n : 0;
}

/* Bytes of a sequence that sets colours or moves the cursor: ESC, "[", parameters, one letter.
 * 1: it is cut or different. */
static size_t escape(const unsigned char *s, size_t len)
{
    if (len < 2 || s[1] != '[')
        return 1;
    size_t n = 2;
    while (n < len && s[n] >= 0x20 && s[n] < 0x40)
        n++;
    return n < len && s[n] >= 0x40 && s[n] < DELETE ? n + 1 : 1;
}

/* Whether a character is a control character, including two-byte ones (U+0080 to U+009F). */
static bool is_control(const unsigned char *s, size_t n)
{
    return n == 1 ? *s < ' ' || *s == DELETE : n == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

/* Writes the sanitised log to `out`; it is never longer than the original. */
static size_t clean(const unsigned char *s, size_t len, char *out)
{
    size_t used = 0;
    for (size_t i = 0, n; i < len; i += n) {
        n = character(s + i, len - i);
        bool shown = s[i] == '\n' || !is_control(s + i, n);
        if (s[i] == ESCAPE) {
            n = escape(s + i, len - i);
        } else if (n == 0 || s[i] == '\t') {
            out[used++] = n == 0 ? '?' : ' ';
            n = 1;
        } else if (shown) {
            memcpy(out + used, s + i, n);
            used += n;
        }
    }
    return used;
}

static const char *skip_line_ends(const char *at)
{
    return at + strspn(at, "\n");
}

/* Where the last `max` bytes begin: at a line start if possible, otherwise at a character. */
static const char *beginning(const char *text, size_t max)
{
    size_t len = strlen(text);
    const char *at = len > max ? text + len - max : text;
    if (at == text || at[-1] == '\n')
        return skip_line_ends(at);
    const char *end = strchr(at, '\n');
    if (end && *skip_line_ends(end))
        return skip_line_ends(end);
    while (((unsigned char) *at & 0xc0) == 0x80)
        at++;
    return at;
}

char *log_tail_cut(const char *bytes, size_t len, size_t max)
{
    CLEANUP_FREE char *text = xcalloc(len + 1, 1);
    size_t used = clean((const unsigned char *) bytes, len, text);
    while (used && strchr("\n ", text[used - 1]))
        used--;
    text[used] = '\0';
    return xstrdup(beginning(text, max));
}
