#include "kube/reply.h"

#include "base/json.h"
#include "base/str.h"

/* Text of a body that is not a Status (a proxy's page): this much is shown. */
enum { TEXT_MAX = 256, MESSAGE_MAX = 1024 };

static const struct reason_row {
    int status;         /* 0: any */
    const char *reason; /* NULL: any */
    enum err_kind kind;
} rows[] = {
    /* First match wins. A server that lags behind our resourceVersion answers 504 with this cause; it is put in `reason`. */
    { 0, "ResourceVersionTooLarge", ERR_GONE },
    { 409, "AlreadyExists", ERR_EXISTS },
    { 409, NULL, ERR_CONFLICT },
    { 410, NULL, ERR_GONE },
    { 404, NULL, ERR_NOT_FOUND },
    { 401, NULL, ERR_UNAUTHORIZED },
    { 403, NULL, ERR_FORBIDDEN },
    { 429, NULL, ERR_THROTTLED },
    { 413, NULL, ERR_TOO_LARGE },
    { 504, NULL, ERR_TIMEOUT },
};

enum err_kind reply_kind(int status, const char *reason)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((!rows[i].status || rows[i].status == status) && (!rows[i].reason || str_eq(rows[i].reason, reason)))
            return rows[i].kind;
    return status >= 500 ? ERR_SERVER : ERR_INVALID;
}

/* The reason, or the first cause's where that says more. */
static const char *reason_of(const json_t *status)
{
    const json_t *causes = json_at(status, "details.causes");
    const char *cause = json_str_or_empty(json_array_get(causes, 0), "reason");
    return str_eq(cause, "ResourceVersionTooLarge") ? cause : json_str_or_empty(status, "reason");
}

bool reply_names_causes(const char *body, size_t len)
{
    CLEANUP_JSON json_t *status = json_parse(body, len, NULL);
    return json_array_size(json_at(status, "details.causes")) > 0;
}

/* A sentence is one line: control bytes become spaces, and those at the end go. */
static void to_one_line(char *text)
{
    size_t used = 0;
    for (size_t i = 0; text[i]; i++) {
        if ((unsigned char) text[i] < ' ')
            text[i] = ' ';
        if (text[i] != ' ')
            used = i + 1;
    }
    text[used] = '\0';
}

int reply_error(int status, const char *body, size_t len, struct err *e)
{
    CLEANUP_JSON json_t *object = json_parse(body, len, NULL);
    const char *message = json_str(object, "message");
    enum err_kind kind = reply_kind(status, reason_of(object));
    CLEANUP_FREE char *raw = len ? xstrndup(body, len) : xstrdup("");
    CLEANUP_FREE char *text = str_shortened(message ? message : raw, message ? MESSAGE_MAX : TEXT_MAX);
    to_one_line(text);
    return err_set(e, kind, "HTTP %d: %s", status, *text ? text : "(empty answer)");
}

