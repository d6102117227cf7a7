#include "client/headers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "client/limits.h"
#include "client/trim.h"
#include "kube/transport.h"

/* Whole seconds only; a date would require synchronised clocks. */
static void take_retry_after(struct headers *h, const char *value)
{
    int64_t seconds;
    if (str_parse_int(value, 0, INT32_MAX, &seconds))
        h->retry_after_ms = transport_retry_after_ms(seconds);
}

/* `299 - "text"`: the API server's only kind of warning. Escapes stay, since the text is for the
 * log. */
static void take_warning(struct headers *h, const char *value)
{
    if (!str_has_prefix(value, "299 "))
        return;
    const char *quote = strchr(value, '"');
    const char *text = quote ? quote + 1 : value + 4;
    size_t len = strlen(text);
    if (quote && len > 0 && text[len - 1] == '"')
        len--;
    CLEANUP_FREE char *inside = xstrndup(text, len);
    free(h->warning);
    h->warning = str_shortened(inside, LIMIT_WARNING_BYTES);
}

/* The only date format that current servers send. */
static void take_date(struct headers *h, const char *value)
{
    struct tm tm = { 0 };
    const char *end = strptime(value, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    if (end && !*end)
        h->date_s = timegm(&tm);
}

static const struct taker {
    const char *name;
    void (*take)(struct headers *h, const char *value);
} takers[] = {
    { "retry-after", take_retry_after },
    { "warning", take_warning },
    { "date", take_date },
};

bool headers_add(struct headers *h, const char *line, size_t len)
{
    h->bytes += len;
    if (h->bytes > LIMIT_HEADER_BYTES)
        return false;
    const char *colon = memchr(line, ':', len);
    if (!colon)
        return true;
    size_t name_len = (size_t) (colon - line);
    for (size_t i = 0; i < ARRAY_LEN(takers); i++) {
        if (strlen(takers[i].name) != name_len || strncasecmp(takers[i].name, line, name_len) != 0)
            continue;
        const char *text = colon + 1;
        size_t text_len = len - name_len - 1;
        trim(&text, &text_len);
        CLEANUP_FREE char *value = xstrndup(text, text_len);
        takers[i].take(h, value);
    }
    return true;
}

void headers_clear(struct headers *h)
{
    free(h->warning);
    *h = (struct headers){ .retry_after_ms = -1 };
}
