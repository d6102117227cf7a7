#include "sim/api/draft.h"

#include "base/json.h"

struct draft draft_of(const json_t *value)
{
    return (struct draft){ .value = json_incref((json_t *) value) };
}

static void make_own(struct draft *d)
{
    if (d->own)
        return;
    json_t *copy = json_copy(d->value);
    json_decref(d->value);
    *d = (struct draft){ .value = copy, .own = true };
}

struct draft draft_at(const struct draft *d, const char *key)
{
    json_t *value = draft_get(d, key);
    return json_is_object(value) ? draft_of(value)
                                 : (struct draft){ .value = json_object(), .own = true };
}

void draft_put(struct draft *d, const char *key, struct draft *child)
{
    if (child->own)
        draft_set(d, key, json_incref(child->value));
    json_decref(draft_end(child));
}

json_t *draft_get(const struct draft *d, const char *key)
{
    return json_object_get(d->value, key);
}

void draft_set(struct draft *d, const char *key, json_t *value_steal)
{
    if (draft_get(d, key) == value_steal) {
        json_decref(value_steal);
        return;
    }
    make_own(d);
    json_object_set_new_nocheck(d->value, key, value_steal);
}

void draft_set_item(struct draft *d, size_t i, json_t *value_steal)
{
    if (json_array_get(d->value, i) == value_steal) {
        json_decref(value_steal);
        return;
    }
    make_own(d);
    json_array_set_new(d->value, i, value_steal);
}

bool draft_each(struct draft *d, const char *key, draft_item_fn *change, const void *arg)
{
    json_t *list = draft_get(d, key);
    if (!list)
        return false;
    struct draft changed = draft_of(list);
    JSON_EACH_AT (i, old, list) {
        struct draft item = draft_of(old);
        change(&item, i, arg);
        draft_set_item(&changed, i, draft_end(&item));
    }
    bool any = changed.own;
    draft_put(d, key, &changed);
    return any;
}

void draft_drop(struct draft *d, const char *key)
{
    if (!draft_get(d, key))
        return;
    make_own(d);
    json_object_del(d->value, key);
}

void draft_default_value(struct draft *d, const char *key, json_t *value_steal)
{
    if (draft_get(d, key))
        json_decref(value_steal);
    else
        draft_set(d, key, value_steal);
}

void draft_default(struct draft *d, const char *key, const char *text)
{
    draft_default_value(d, key, json_string(text));
}

json_t *draft_own_top(const json_t *object)
{
    json_t *own = json_copy((json_t *) object), *metadata = json_object_get(object, "metadata");
    json_object_set_new(own, "metadata",
                        json_is_object(metadata) ? json_copy(metadata) : json_object());
    return own;
}

json_t *draft_end(struct draft *d)
{
    json_t *value = d->value;
    *d = (struct draft){ 0 };
    return value;
}
