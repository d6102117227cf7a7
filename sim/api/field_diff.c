#include "sim/api/field_diff.h"

#include "base/json.h"
#include "sim/api/field_element.h"
#include "sim/api/field_set.h"

/* A value before and after. `was` and `is` say whether the field exists; one that the server's type
 * always has may exist without a value. */
struct change {
    const json_t *before, *after;
    bool was, is;
};

static bool field_diff_is_empty(const json_t *v)
{
    if (json_is_object(v))
        return json_object_size(v) == 0;
    return !v || json_is_null(v) || (json_is_array(v) && json_array_size(v) == 0);
}

/* Whether a value is the zero value of its type. */
static bool is_zero(const json_t *v)
{
    return field_diff_is_empty(v) || json_is_false(v) ||
           (json_is_string(v) && json_string_length(v) == 0) ||
           (json_is_integer(v) && json_integer_value(v) == 0);
}

static bool is_same(const struct change *c)
{
    if (json_equal(c->before, c->after))
        return true;
    bool one_is_absent = !c->before || !c->after, always = c->was && c->is;
    return one_is_absent &&
           (always ? is_zero(c->before) && is_zero(c->after)
                   : field_diff_is_empty(c->before) && field_diff_is_empty(c->after));
}

static bool is_nothing(const json_t *v)
{
    return !v || json_is_null(v);
}

static void diff_value(const struct merge_type *t, struct change c, struct field_diff *d);

/* Puts the differences of a child below its path element. */
static void put_child(struct field_diff *d, struct field_diff *child, const char *element)
{
    field_set_put(&d->set, element, TAKE(child->set));
    field_set_put(&d->gone, element, TAKE(child->gone));
}

static void diff_field(const struct merge_type *t, const char *name, struct change parent,
                       struct field_diff *d)
{
    const struct merge_type *f = merge_type_field(t, name);
    struct change c = { json_object_get(parent.before, name), json_object_get(parent.after, name),
                        false, false };
    c.was = c.before || (parent.was && f->always);
    c.is = c.after || (parent.is && f->always);
    CLEANUP_DIFF struct field_diff child = { 0 };
    diff_value(f, c, &child);
    if (!child.set && !child.gone)
        return;
    CLEANUP_FREE char *element = field_element_of_key(name);
    put_child(d, &child, element);
}

static void diff_fields(const struct merge_type *t, struct change c, struct field_diff *d)
{
    JSON_EACH_MEMBER (name, value, c.after)
        diff_field(t, name, c, d);
    JSON_EACH_MEMBER (name, value, c.before)
        if (!json_object_get(c.after, name))
            diff_field(t, name, c, d);
}

/* ---- lists: items are matched by their path elements; an element that occurs twice stands for all
 * that have it */

/* The items of one list with the same element: how often it occurs, and the first. */
struct group {
    size_t count;
    const json_t *first;
};

static struct group group_of(const json_t *list, const struct field_items *items,
                             const char *element)
{
    struct group g = { 0 };
    for (size_t i = field_items_find(items, element, 0); i < items->len;
         i = field_items_find(items, element, i + 1))
        if (g.count++ == 0)
            g.first = json_array_get(list, i);
    return g;
}

static bool is_same_group(const struct change *c, const struct field_items *before,
                          const struct field_items *after, const char *element)
{
    size_t b = field_items_find(before, element, 0), a = field_items_find(after, element, 0);
    while (b < before->len && a < after->len &&
           json_equal(json_array_get(c->before, b), json_array_get(c->after, a))) {
        b = field_items_find(before, element, b + 1);
        a = field_items_find(after, element, a + 1);
    }
    return b == before->len && a == after->len;
}

static void diff_item(const struct merge_type *t, struct change c, const struct field_items *before,
                      const struct field_items *after, const char *element, struct field_diff *d)
{
    struct group b = group_of(c.before, before, element), a = group_of(c.after, after, element);
    CLEANUP_DIFF struct field_diff child = { 0 };
    if (b.count <= 1 && a.count <= 1) {
        diff_value(t, (struct change){ b.first, a.first, b.count > 0, a.count > 0 }, &child);
    } else if (b.count > 1 && a.count > 1) {
        if (!is_same_group(&c, before, after, element))
            field_set_mark(&child.set);
    } else if (b.count > 1) {
        if (a.count == 1)
            diff_value(t, (struct change){ NULL, a.first, false, true }, &child);
        field_set_mark(&child.gone);
    } else {
        if (b.count == 1)
            diff_value(t, (struct change){ b.first, NULL, true, false }, &child);
        field_set_mark(&child.set);
    }
    put_child(d, &child, element);
}

static void diff_items(const struct merge_type *t, struct change c, struct field_diff *d)
{
    const struct merge_type item = merge_type_item(t);
    CLEANUP_ITEMS struct field_items before = field_items_of(t, c.before);
    CLEANUP_ITEMS struct field_items after = field_items_of(t, c.after);
    for (size_t i = 0; i < before.len; i++)
        if (before.elements[i] && field_items_find(&before, before.elements[i], 0) == i)
            diff_item(&item, c, &before, &after, before.elements[i], d);
    for (size_t i = 0; i < after.len; i++)
        if (after.elements[i] && field_items_find(&after, after.elements[i], 0) == i &&
            field_items_find(&before, after.elements[i], 0) == before.len)
            diff_item(&item, c, &before, &after, after.elements[i], d);
}

static bool is_container(const json_t *v)
{
    return json_is_object(v) || json_is_array(v);
}

/* An object or list becomes something else; possible only without a schema. */
static bool changes_its_kind(const struct change *c)
{
    /* is_nothing() is true for NULL. */
    return !is_nothing(c->before) && !is_nothing(c->after) &&
           /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
           json_typeof(c->before) != json_typeof(c->after) &&
           (is_container(c->before) || is_container(c->after));
}

static void diff_value(const struct merge_type *t, struct change c, struct field_diff *d)
{
    if ((c.before == c.after && c.was == c.is) || t->how == MERGE_UNOWNED)
        return;
    if (changes_its_kind(&c)) {
        diff_value(t, (struct change){ c.before, NULL, c.was, true }, d);
        diff_value(t, (struct change){ NULL, c.after, true, c.is }, d);
        return;
    }
    const json_t *container = is_nothing(c.after) ? c.before : c.after;
    bool leaf = merge_type_is_leaf(t, container) ||
                (field_diff_is_empty(c.before) && field_diff_is_empty(c.after));
    if (!leaf && json_is_array(container))
        diff_items(t, c, d);
    else if (!leaf)
        diff_fields(t, c, d);
    if (c.was != c.is || (leaf && !is_same(&c)))
        field_set_mark(c.is ? &d->set : &d->gone);
}

void field_diff(const struct merge_root *root, const json_t *before, const json_t *after,
                struct field_diff *ret)
{
    *ret = (struct field_diff){ 0 };
    diff_value(&root->type, (struct change){ before, after, true, true }, ret);
}

void field_diff_leave_out(struct field_diff *d, const char *const *paths)
{
    for (; *paths; paths++) {
        field_set_drop(&d->set, *paths);
        field_set_drop(&d->gone, *paths);
    }
}

void field_diff_clear(struct field_diff *d)
{
    json_decref(d->set);
    json_decref(d->gone);
    *d = (struct field_diff){ 0 };
}
