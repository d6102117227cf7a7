#include "sim/api/refusal.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/kind.h"

/* Sentences are made of messages of the program's own, each bounded by a request. */
enum { SENTENCE_MAX = 64 << 20 };

/* More causes than anybody reads are left out. */
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

/* NULL for a code without one: a 500 that nobody foresaw has no reason. */
static const char *refusal_reason_of(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].code == code)
            return reasons[i].reason;
    return NULL;
}

static void set_message(struct refusal *r, char *message_steal)
{
    free(r->message);
    r->message = message_steal;
}

int refuse(struct refusal *r, int code, const char *reason, const char *fmt, ...)
{
    if (!r)
        return -1;
    refusal_clear(r);
    r->code = code;
    r->reason = reason ? reason : refusal_reason_of(code);
    va_list ap;
    va_start(ap, fmt);
    set_message(r, xvasprintf(fmt, ap));
    va_end(ap);
    return -1;
}

/* Details name the object as the sentence does: by resource or by kind. */
static void set_details(struct refusal *r, const char *group, const char *what, const char *name)
{
    if (!r->details)
        r->details = json_object();
    if (*name)
        json_object_set_new(r->details, "name", json_text(name));
    if (*group)
        json_object_set_new(r->details, "group", json_string(group));
    if (*what)
        json_object_set_new(r->details, "kind", json_string(what));
}

/* "daemonsets.apps", "nodes". Owned by the caller. */
static char *qualified(const char *what, const char *group)
{
    return *group ? xasprintf("%s.%s", what, group) : xstrdup(what);
}

static int refuse_object(struct refusal *r, int code, const char *reason, const struct kind *k,
                         const char *name, const char *fmt)
{
    if (!r)
        return -1;
    CLEANUP_FREE char *what = qualified(k->plural, k->group);
    refuse(r, code, reason, "%s \"%s\" %s", what, name, fmt);
    set_details(r, k->group, k->plural, name);
    return -1;
}

int refuse_not_found(struct refusal *r, const struct kind *k, const char *name)
{
    return refuse_object(r, 404, NULL, k, name, "not found");
}

int refuse_exists(struct refusal *r, const struct kind *k, const char *name)
{
    return refuse_object(r, 409, "AlreadyExists", k, name, "already exists");
}

int refuse_forbidden(struct refusal *r, const struct kind *k, const char *name, const char *why)
{
    if (!r)
        return -1;
    CLEANUP_FREE char *what = qualified(k->plural, k->group);
    if (*name)
        refuse(r, 403, NULL, "%s \"%s\" is forbidden: %s", what, name, why);
    else
        refuse(r, 403, NULL, "%s is forbidden: %s", what, why);
    set_details(r, k->group, k->plural, name);
    return -1;
}

static int refuse_fulfilment(struct refusal *r, const struct kind *k, const char *what,
                             const char *name, const char *why)
{
    if (!r)
        return -1;
    CLEANUP_FREE char *full = qualified(what, k->group);
    refuse(r, 409, NULL, "Operation cannot be fulfilled on %s \"%s\": %s", full, name, why);
    set_details(r, k->group, what, name);
    return -1;
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
    if (!r)
        return -1;
    refuse(r, code, NULL, "%s", message);
    r->details = json_object();
    return -1;
}

void refuse_cause(struct refusal *r, const char *type, const char *field, const char *fmt, ...)
{
    if (!r)
        return;
    if (!r->code)
        refuse(r, 422, NULL, "%s", "");
    if (!r->details)
        r->details = json_object();
    json_t *causes = json_object_get(r->details, "causes");
    if (!causes) {
        causes = json_array();
        json_object_set_new(r->details, "causes", causes);
    }
    if (json_array_size(causes) >= CAUSES_MAX)
        return;
    va_list ap;
    va_start(ap, fmt);
    CLEANUP_FREE char *body = xvasprintf(fmt, ap);
    va_end(ap);
    json_t *cause = json_object();
    if (type)
        json_object_set_new(cause, "reason", json_string(type));
    json_object_set_new(cause, "message", json_text(body));
    if (field)
        json_object_set_new(cause, "field", json_text(field));
    json_array_append_new(causes, cause);
}

/* Whether an earlier cause says the same: the sentence says it once. */
static bool said_before(const json_t *causes, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (json_equal(json_array_get(causes, j), json_array_get(causes, i)))
            return true;
    return false;
}

int refuse_finish_invalid(struct refusal *r, const struct kind *k, const char *name)
{
    const json_t *causes = r ? json_object_get(r->details, "causes") : NULL;
    if (json_array_size(causes) == 0)
        return r && r->code ? -1 : 0;
    CLEANUP_BUF struct buf all = BUF_INIT(SENTENCE_MAX);
    size_t said = 0;
    for (size_t i = 0; i < json_array_size(causes); i++) {
        const json_t *cause = json_array_get(causes, i);
        if (said_before(causes, i))
            continue;
        const char *field = json_str(cause, "field");
        buf_printf(&all, "%s%s%s%s", said++ ? ", " : "", str_or_empty(field), field ? ": " : "",
                   json_str_or_empty(cause, "message"));
    }
    CLEANUP_FREE char *what = qualified(k->kind, k->group);
    set_message(r, xasprintf("%s \"%s\" is invalid: %s%s%s", what, name, said > 1 ? "[" : "",
                             buf_text(&all), said > 1 ? "]" : ""));
    set_details(r, k->group, k->kind, name);
    return -1;
}

json_t *refusal_status(const struct refusal *r)
{
    json_t *s = json_pack("{s:s, s:s, s:{}, s:s}", "kind", "Status", "apiVersion", "v1", "metadata",
                          "status", "Failure");
    if (r->continuation)
        json_object_set_new(json_object_get(s, "metadata"), "continue", json_text(r->continuation));
    json_object_set_new(s, "message", json_text(str_or_empty(r->message)));
    if (r->reason)
        json_object_set_new(s, "reason", json_string(r->reason));
    json_t *details = r->details ? json_copy(r->details) : NULL;
    if (r->retry_after_s > 0) {
        details = details ? details : json_object();
        json_object_set_new(details, "retryAfterSeconds", json_integer(r->retry_after_s));
    }
    if (details)
        json_object_set_new(s, "details", details);
    json_object_set_new(s, "code", json_integer(r->code));
    return s;
}

void refusal_clear(struct refusal *r)
{
    free(r->message);
    free(r->continuation);
    json_decref(r->details);
    *r = (struct refusal){ 0 };
}
