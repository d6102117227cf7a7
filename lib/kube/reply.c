#include "kube/reply.h"

#include "base/json.h"
#include "base/str.h"

/* Bytes shown of a body that is not a Status (a proxy's page), and of a Status. */
enum { TEXT_MAX = 256, MESSAGE_MAX = 1024 };

static const struct reason_row {
    int status;         /* 0: any */
    const char *reason; /* NULL: any */
    enum err_kind kind;
} rows[] = {
    /* First match wins. A server that lags behind our resourceVersion responds 504 with this
     * cause, which reason_of() returns. */
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
        if ((!rows[i].status || rows[i].status == status) &&
            (!rows[i].reason || str_eq(rows[i].reason, reason)))
            return rows[i].kind;
    return status >= 500 ? ERR_SERVER : ERR_INVALID;
}

/* The reason, or the first cause's if that is more specific. */
static const char *reply_reason_of(const json_t *status)
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

/* Makes text one line: control bytes become spaces, trailing ones are removed. */
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

/* The message of a Status, otherwise the body. Owned by the caller. */
static char *reply_sentence_of(const json_t *status, const char *body, size_t len)
{
    const char *message = json_str(status, "message");
    CLEANUP_FREE char *raw = len ? xstrndup(body, len) : xstrdup("");
    char *text = str_shortened(message ? message : raw, message ? MESSAGE_MAX : TEXT_MAX);
    to_one_line(text);
    return text;
}

int reply_error(int status, const char *body, size_t len, struct err *e)
{
    CLEANUP_JSON json_t *object = json_parse(body, len, NULL);
    CLEANUP_FREE char *text = reply_sentence_of(object, body, len);
    return err_set(e, reply_kind(status, reply_reason_of(object)), "HTTP %d: %s", status,
                   *text ? text : "(empty answer)");
}

int reply_take(const struct transport_result *result, const char *body, size_t len, struct err *e)
{
    if (result->err.kind != ERR_NONE)
        return err_set(e, result->err.kind, "%s", err_msg(&result->err));
    return result->status >= 300 ? reply_error(result->status, body, len, e) : 0;
}

/* ---- evictions */

enum {
    BUDGET_WAIT_MS = 60 * 1000,  /* the budget's watch reports earlier changes */
    MISTAKE_WAIT_MS = 60 * 1000, /* only an admin can change that */
};

/* Responses that do not mean a failed eviction request. */
static const struct eviction_row {
    int status;
    const char *cause; /* reason of the first cause; "": none */
    const char *kind;  /* of the object in the response; "": none */
    bool has_reason;
    enum err_kind error;
    int64_t wait_ms;
} eviction_rows[] = {
    { 429, "DisruptionBudget", "", true, ERR_BUDGET, BUDGET_WAIT_MS },
    /* The budget's own status is invalid. */
    { 403, "", "poddisruptionbudget", true, ERR_BUDGET, MISTAKE_WAIT_MS },
    /* Several budgets select the pod: the API server's only response without a reason. */
    { 500, "", "", false, ERR_BUDGET, MISTAKE_WAIT_MS },
    /* The pod's namespace is being deleted: no permission is missing. */
    { 403, "NamespaceTerminating", "pods", true, ERR_CONFLICT, 0 },
};

static const struct eviction_row *find_eviction_row(int code, const json_t *status,
                                                    const json_t *cause)
{
    if (!str_eq(json_str(status, "kind"), "Status"))
        return NULL;
    bool has_reason = *json_str_or_empty(status, "reason") != '\0';
    for (size_t i = 0; i < ARRAY_LEN(eviction_rows); i++) {
        const struct eviction_row *row = &eviction_rows[i];
        if (row->status == code && row->has_reason == has_reason &&
            str_eq(row->cause, json_str_or_empty(cause, "reason")) &&
            str_eq(row->kind, json_str_or_empty(status, "details.kind")))
            return row;
    }
    return NULL;
}

int reply_eviction_error(int status, const char *body, size_t len, struct err *e,
                         int64_t *ret_wait_ms)
{
    CLEANUP_JSON json_t *object = json_parse(body, len, NULL);
    const json_t *cause = json_array_get(json_at(object, "details.causes"), 0);
    const struct eviction_row *row = find_eviction_row(status, object, cause);
    *ret_wait_ms = row ? row->wait_ms : 0;
    if (!row)
        return reply_error(status, body, len, e);
    /* The cause names the budget. */
    CLEANUP_FREE char *said = xasprintf("%s %s", json_str_or_empty(object, "message"),
                                        json_str_or_empty(cause, "message"));
    CLEANUP_FREE char *text = str_shortened(said, MESSAGE_MAX);
    to_one_line(text);
    return err_set(e, row->error, "%s", text);
}
