#include "tests/sweep/fact.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"

char *fact_text(const json_t *value)
{
    if (!value || json_is_null(value))
        return xstrdup("none");
    return json_is_string(value) ? xstrdup(json_string_value(value))
                                 : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
}

static char *text_or_none(const char *text)
{
    return xstrdup(text && *text ? text : "none");
}

static char *number(int64_t n)
{
    return xasprintf("%lld", (long long) n);
}

/* ---- what is written on the object */

static char *label(const json_t *object, const char *key)
{
    return text_or_none(object_label(object, key));
}

static char *annotation(const json_t *object, const char *key)
{
    return text_or_none(object_annotation(object, key));
}

static char *taint(const json_t *object, const char *key)
{
    size_t i;
    json_t *t;
    json_array_foreach (json_at(object, "spec.taints"), i, t)
        if (str_eq(json_str(t, "key"), key))
            return text_or_none(json_str(t, "effect"));
    return text_or_none(NULL);
}

/* "Ready", or "Ready message". */
static char *condition(const json_t *object, const char *key)
{
    const char *space = strchr(key, ' ');
    CLEANUP_FREE char *type = xstrndup(key, strcspn(key, " "));
    const json_t *found = condition_find(json_at(object, "status.conditions"), type);
    return text_or_none(json_str(found, space ? space + 1 : "status"));
}

/* ---- a node's claim */

static char *claim(const json_t *object, const char *key)
{
    const char *text = object_annotation(object, ANNOTATION_CLAIM);
    struct claim c;
    if (!text || !claim_parse(text, &c, NULL))
        return xstrdup(text ? "unreadable" : "none");
    if (str_eq(key, ".kind"))
        return text_or_none(claim_kinds[c.kind].name);
    if (str_eq(key, ".reason"))
        return text_or_none(c.reason);
    return str_eq(key, ".attempt") ? number(c.attempt) : text_or_none(claim_phase_name(c.phase));
}

/* ---- its machine */

static char *machine(const struct run *r, const json_t *object, const char *name)
{
    struct actors_machine m;
    if (!actors_machine(r->actors, object_name(object), &m))
        return text_or_none(NULL);
    const struct {
        const char *name;
        int64_t is;
    } rows[] = { { "gpus", m.gpus },
                 { "boots", m.boots },
                 { "unloads", (int64_t) m.modules_unloaded },
                 { "configured", m.configured } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(rows[i].name, name))
            return number(rows[i].is);
    /* The image's tag: the version, and the system that it is made for. */
    CLEANUP_FREE char *version = xstrndup(str_or_empty(m.module),
                                          strcspn(str_or_empty(m.module), "-"));
    return text_or_none(version);
}

static bool is_of_machine(const char *name)
{
    static const char *const names[] = { "driver", "gpus", "boots", "unloads", "configured" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(names[i], name))
            return true;
    return false;
}

char *fact_of(const struct run *r, const json_t *object, const char *name)
{
    static const struct {
        const char *prefix;
        char *(*read)(const json_t *object, const char *rest);
    } rows[] = {
        { "label ", label }, { "annotation ", annotation },
        { "taint ", taint }, { "condition ", condition },
        { "claim", claim },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_has_prefix(name, rows[i].prefix))
            return rows[i].read(object, name + strlen(rows[i].prefix));
    return is_of_machine(name) ? machine(r, object, name) : fact_text(json_at(object, name));
}
