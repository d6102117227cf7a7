#include "sim/api/spot.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

/* More than a request may have. */
enum { SPOT_TEXT_MAX = 8 << 20 };

static void spot_add(const struct spot *s, struct buf *b)
{
    if (s->up)
        spot_add(s->up, b);
    if (!s->key)
        buf_printf(b, "[%zu]", s->index);
    else if (s->is_map)
        buf_printf(b, "[%s]", s->key);
    else
        buf_printf(b, "%s%s", b->len ? "." : "", s->key);
}

char *spot_text(const struct spot *s)
{
    struct buf b = BUF_INIT(SPOT_TEXT_MAX);
    spot_add(s, &b);
    return buf_take(&b);
}

/* Adds a cause. */
static void cause(struct refusal *r, const struct spot *s, const char *type, const char *message)
{
    CLEANUP_FREE char *path = spot_text(s);
    refuse_cause(r, type, path, "%s", message);
}

/* A value as messages show it. Owned by the caller. */
static char *spot_shown(const json_t *value)
{
    return value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : xstrdup("null");
}

void spot_invalid(struct refusal *r, const struct spot *s, const json_t *value, const char *fmt,
                  ...)
{
    CLEANUP_FREE char *why = FORMATTED(fmt);
    CLEANUP_FREE char *text = spot_shown(value);
    CLEANUP_FREE char *message = xasprintf("Invalid value: %s: %s", text, why);
    cause(r, s, "FieldValueInvalid", message);
}

void spot_invalid_text(struct refusal *r, const struct spot *s, const char *value, const char *fmt,
                       ...)
{
    CLEANUP_FREE char *why = FORMATTED(fmt);
    CLEANUP_JSON json_t *text = json_text(value);
    spot_invalid(r, s, text, "%s", why);
}

static void spot_cause_of(struct refusal *r, const struct spot *s, const char *type,
                          const char *word, const char *why)
{
    CLEANUP_FREE char *message = xasprintf("%s%s%s", word, *why ? ": " : "", why);
    cause(r, s, type, message);
}

void spot_required(struct refusal *r, const struct spot *s, const char *why)
{
    spot_cause_of(r, s, "FieldValueRequired", "Required value", why);
}

void spot_forbidden(struct refusal *r, const struct spot *s, const char *why)
{
    spot_cause_of(r, s, "FieldValueForbidden", "Forbidden", why);
}

void spot_duplicate(struct refusal *r, const struct spot *s, const json_t *value, const char *why)
{
    CLEANUP_FREE char *text = spot_shown(value);
    CLEANUP_FREE char *word = xasprintf("Duplicate value: %s", text);
    spot_cause_of(r, s, "FieldValueDuplicate", word, why);
}

void spot_not_found(struct refusal *r, const struct spot *s, const char *name)
{
    CLEANUP_FREE char *message = xasprintf("Not found: \"%s\"", name);
    cause(r, s, "FieldValueNotFound", message);
}

void spot_not_supported(struct refusal *r, const struct spot *s, const json_t *value,
                        const char *const *supported)
{
    CLEANUP_FREE char *text = spot_shown(value);
    CLEANUP_BUF struct buf b = BUF_INIT(SPOT_TEXT_MAX);
    buf_printf(&b, "Unsupported value: %s: supported values: ", text);
    for (size_t i = 0; supported[i]; i++)
        buf_printf(&b, "%s\"%s\"", i ? ", " : "", supported[i]);
    cause(r, s, "FieldValueNotSupported", buf_text(&b));
}

void spot_too_long(struct refusal *r, const struct spot *s, size_t max)
{
    CLEANUP_FREE char *why = xasprintf("may not be more than %zu bytes", max);
    spot_cause_of(r, s, "FieldValueTooLong", "Too long", why);
}
