#include "sim/api/refusal.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/kind.h"

/* Sentences are made of messages of the program's own, each bounded by a request. */
enum { SENTENCE_MAX = 64 << 20 };

/* Causes beyond this are left out: no client reads so many. */
enum { CAUSES_MAX = 1000 };

static const struct code_reason {
    int code;
    const char *reason;
} reasons[] = {
    { 400, "BadRequest" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "NotFound" },
    { 405, "MethodNotAllowed" },
    { 406, "NotAcceptable" },
    { 409, "Conflict" },
    { 410, "Expired" },
    { 413, "RequestEntityTooLarge" },
    { 422, "Invalid" },
    { 415, "UnsupportedMediaType" },
    { 429, "TooManyRequests" },
    { 504, "Timeout" },
    { 503, "ServiceUnavailable" },
};

/* NULL for a code without a reason, such as 500. */
static const char *refusal_reason_of(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].code == code)
            return reasons[i].reason;
    return NULL;
}

static void set_message(struct refusal *r, char *message_steal)
{
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): each refusal begins as zero. */
    free(r->message);
    r->message = message_steal;
}

int refuse(struct refusal *r, int code, const char *fmt, ...)
{
    refusal_clear(r);
    r->code = code;
    r->reason = refusal_reason_of(code);
    set_message(r, FORMATTED(fmt));
    return -1;
}

static const char *or_null(const char *s)
{
    return *s ? s : NULL;
}

/* Details name the object as the sentence does: by resource or by kind. */
static int set_details(struct refusal *r, const char *group, const char *what, const char *name)
{
    json_t *named = json_pack("{s:o*, s:s*, s:s*}", "name", *name ? json_text(name) : NULL, "group",
                              or_null(group), "kind", or_null(what));
    r->details = r->details ? r->details : json_object();
    json_object_update_new(r->details, named);
    return -1;
}

/* "daemonsets.apps", "nodes". Owned by the caller. */
static char *qualified(const char *what, const char *group)
{
    return *group ? xasprintf("%s.%s", what, group) : xstrdup(what);
}

static int refuse_object(struct refusal *r, int code, const struct kind *k, const char *name,
                         const char *why)
{
    CLEANUP_FREE char *what = qualified(k->plural, k->group);
    refuse(r, code, "%s \"%s\" %s", what, name, why);
    return set_details(r, k->group, k->plural, name);
}

int refuse_not_found(struct refusal *r, const struct kind *k, const char *name)
{
    return refuse_object(r, 404, k, name, "not found");
}

int refuse_exists(struct refusal *r, const struct kind *k, const char *name)
{
    refuse_object(r, 409, k, name, "already exists");
    r->reason = "AlreadyExists";
    return -1;
}

int refuse_forbidden(struct refusal *r, const struct kind *k, const char *name, const char *why)
{
    CLEANUP_FREE char *what = qualified(k->plural, k->group);
    if (*name)
        refuse(r, 403, "%s \"%s\" is forbidden: %s", what, name, why);
    else
        refuse(r, 403, "%s is forbidden: %s", what, why);
    return set_details(r, k->group, k->plural, name);
}

static int refuse_fulfilment(struct refusal *r, const struct kind *k, const char *what,
                             const char *name, const char *why)
{
    CLEANUP_FREE char *full = qualified(what, k->group);
    refuse(r, 409, "Operation cannot be fulfilled on %s \"%s\": %s", full, name, why);
    return set_details(r, k->group, what, name);
}

int refuse_conflict(struct refusal *r, const struct kind *k, const char *name, const char *why)
{
    return refuse_fulfilment(r, k, k->plural, name, why);
}

int refuse_precondition(struct refusal *r, const struct kind *k, const char *name, const char *why)
{
    return refuse_fulfilment(r, k, k->kind, name, why);
}

int refuse_generic(struct refusal *r, int code, const char *message)
{
    refuse(r, code, "%s", message);
    r->details = json_object();
    return -1;
}

void refuse_cause(struct refusal *r, const char *type, const char *field, const char *fmt, ...)
{
    if (!r->code)
        refuse(r, 422, "%s", "");
    json_t *causes = json_object_get(r->details, "causes");
    if (!causes) {
        r->details = r->details ? r->details : json_object();
        causes = json_array();
        json_object_set_new(r->details, "causes", causes);
    }
    if (json_array_size(causes) >= CAUSES_MAX)
        return;
    CLEANUP_FREE char *body = FORMATTED(fmt);
    json_array_append_new(causes,
                          json_pack("{s:s*, s:o, s:o*}", "reason", type, "message", json_text(body),
                                    "field", field ? json_text(field) : NULL));
}

/* Whether an earlier cause is the same; the sentence has it once. */
static bool said_before(const json_t *causes, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (json_equal(json_array_get(causes, j), json_array_get(causes, i)))
            return true;
    return false;
}

int refuse_finish_invalid(struct refusal *r, const struct kind *k, const char *name)
{
    const json_t *causes = json_object_get(r->details, "causes");
    if (json_array_size(causes) == 0)
        return r->code ? -1 : 0;
    CLEANUP_BUF struct buf all = BUF_INIT(SENTENCE_MAX);
    size_t said = 0;
    JSON_EACH_AT (i, cause, causes) {
        if (said_before(causes, i))
            continue;
        const char *field = json_str(cause, "field");
        buf_printf(&all, "%s%s%s%s", said++ ? ", " : "", str_or_empty(field), field ? ": " : "",
                   json_str_or_empty(cause, "message"));
    }
    CLEANUP_FREE char *what = qualified(k->kind, k->group);
    set_message(r, xasprintf("%s \"%s\" is invalid: %s%s%s", what, name, said > 1 ? "[" : "",
                             buf_text(&all), said > 1 ? "]" : ""));
    return set_details(r, k->group, k->kind, name);
}

json_t *refusal_status(const struct refusal *r)
{
    json_t *token = r->continuation ? json_text(r->continuation) : NULL;
    json_t *details = r->details             ? json_copy(r->details)
                      : r->retry_after_s > 0 ? json_object()
                                             : NULL;
    if (r->retry_after_s > 0)
        json_object_set_new(details, "retryAfterSeconds", json_integer(r->retry_after_s));
    return json_pack("{s:s, s:s, s:{s:o*}, s:s, s:o, s:s*, s:o*, s:i}", "kind", "Status",
                     "apiVersion", "v1", "metadata", "continue", token, "status", "Failure",
                     "message", json_text(str_or_empty(r->message)), "reason", r->reason, "details",
                     details, "code", r->code);
}

void refusal_clear(struct refusal *r)
{
    free(r->message);
    free(r->continuation);
    json_decref(r->details);
    *r = (struct refusal){ 0 };
}
