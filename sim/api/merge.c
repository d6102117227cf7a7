#include "sim/api/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/field_element.h"
#include "sim/api/text.h"

/* Bounds the text of all that is wrong with one intent. */
enum { PROBLEMS_MAX = 16 << 20 };

/* ---- check */

/* A step of the path to a value: a field or an item. */
struct step {
    const struct step *before; /* NULL: the first */
    const char *field;         /* its name; NULL: `element` is that of an item */
    const char *element;
};

struct check {
    const struct step *last;
    struct buf problems; /* a line each */
    size_t count;
};

static void add_problem(struct check *c, const char *place, const char *what, const char *detail)
{
    buf_printf(&c->problems, "%s%s: %s %s", c->count++ ? "\n  " : "", place, what, detail);
}

static void add_way(struct buf *out, const struct step *last)
{
    if (!last)
        return;
    add_way(out, last->before);
    CLEANUP_FREE char *text = last->field ? xasprintf(".%s", last->field)
                                          : field_element_text(last->element);
    buf_str(out, text);
}

/* A problem of the value that is being looked at. */
static void add_problem_here(struct check *c, const char *what, const char *detail)
{
    CLEANUP_BUF struct buf place = BUF_INIT(PROBLEMS_MAX);
    add_way(&place, c->last);
    add_problem(c, buf_text(&place), what, detail);
}

static void check_value(struct check *c, const struct merge_type *t, const json_t *value);

static void check_below(struct check *c, const struct merge_type *t, struct step step,
                        const json_t *value)
{
    step.before = c->last;
    c->last = &step;
    check_value(c, t, value);
    c->last = step.before;
}

static void check_items(struct check *c, const struct merge_type *t, const json_t *list)
{
    const struct merge_type item = merge_type_item(t);
    CLEANUP_ITEMS struct field_items items = field_items_of(t, list);
    for (size_t i = 0; i < items.len; i++) {
        const char *element = items.elements[i];
        if (!element)
            continue;
        if (field_items_find(&items, element, 0) != i) {
            CLEANUP_FREE char *text = field_element_text(element);
            add_problem_here(c, "duplicate entries for key", text);
        }
        check_below(c, &item, (struct step){ .element = element }, json_array_get(list, i));
    }
}

static void check_fields(struct check *c, const struct merge_type *t, const json_t *object)
{
    JSON_EACH_MEMBER (name, child, object)
        check_below(c, merge_type_field(t, name), (struct step){ .field = name }, child);
}

/* A field without a row may be of any type. */
static void check_value(struct check *c, const struct merge_type *t, const json_t *value)
{
    bool list = t->how == MERGE_LIST || t->how == MERGE_SET,
         object = t->how == MERGE_FIELDS || t->how == MERGE_MAP;
    if (list && json_is_array(value)) {
        check_items(c, t, value);
    } else if (object && json_is_object(value)) {
        check_fields(c, t, value);
    } else if ((list || (object && t->name)) && !json_is_null(value)) {
        CLEANUP_FREE char *text = go_text(value);
        CLEANUP_FREE char *detail = xasprintf("&{%s}", text);
        add_problem_here(c, list ? "expected list, got" : "expected map, got", detail);
    }
}

static struct check check_begin(void)
{
    return (struct check){ .problems = BUF_INIT(PROBLEMS_MAX) };
}

/* 0, or -1 and a refusal with all problems. */
static int check_end(struct check *c, const json_t *intent, struct refusal *r)
{
    const char *version = json_str_or_empty(intent, "apiVersion");
    if (c->count > 0)
        refuse(r, 500, "failed to create typed patch object (%s/%s; %s%s, Kind=%s): %s%s",
               json_str_or_empty(intent, "metadata.namespace"),
               json_str_or_empty(intent, "metadata.name"), strchr(version, '/') ? "" : "/", version,
               json_str_or_empty(intent, "kind"), c->count > 1 ? "errors:\n  " : "",
               buf_text(&c->problems));
    buf_clear(&c->problems);
    return c->count > 0 ? -1 : 0;
}

int merge_check(const struct merge_root *root, const json_t *intent, struct refusal *r)
{
    struct check c = check_begin();
    check_value(&c, &root->type, intent);
    return check_end(&c, intent, r);
}

/* The place of an item, "[name="a"]" where items have keys. Owned by the caller. */
static char *item_text(const struct merge_type *t, const json_t *list, size_t i)
{
    CLEANUP_ITEMS struct field_items items = field_items_of(t, list);
    return i < items.len && items.elements[i] ? field_element_text(items.elements[i])
                                              : xasprintf("[%zu]", i);
}

/* The length of an index, "[12]", at the start of a place; 0 if there is none. Clients choose
 * names, so any text is possible. */
static size_t index_at(const char *place, size_t *ret)
{
    size_t digits = *place == '[' ? strspn(place + 1, "0123456789") : 0;
    if (digits == 0 || digits > 9 || place[digits + 1] != ']')
        return 0;
    *ret = strtoul(place + 1, NULL, 10);
    return digits + 2;
}

/* "spec.containers[0].x" as ".spec.containers[name="a"].x". */
static void merge_add_place(struct buf *out, const struct merge_root *root, const json_t *value,
                            const char *place)
{
    struct merge_type type = root->type;
    while (*place) {
        size_t i, n = index_at(place, &i);
        if (n) {
            CLEANUP_FREE char *text = item_text(&type, value, i);
            buf_str(out, text);
            type = merge_type_item(&type);
            value = json_array_get(value, i);
            place += n;
            continue;
        }
        place += *place == '.';
        n = strcspn(place, ".[");
        CLEANUP_FREE char *name = xstrndup(place, n == 0 && *place ? 1 : n);
        buf_printf(out, ".%s", name);
        type = *merge_type_field(&type, name);
        value = json_object_get(value, name);
        place += strlen(name);
    }
}

int merge_refuse_unknown(const struct merge_root *root, const json_t *intent, const json_t *places,
                         struct refusal *r)
{
    struct check c = check_begin();
    JSON_EACH_AT (i, place, places) {
        CLEANUP_BUF struct buf way = BUF_INIT(PROBLEMS_MAX);
        merge_add_place(&way, root, intent, json_string_value(place));
        add_problem(&c, buf_text(&way), "field not declared in", "schema");
    }
    return check_end(&c, intent, r);
}

/* ---- merge */

/* Two lists that are merged by path elements. The order is that of the intent; items that only the
 * live list has keep their places among the others. */
struct zip {
    struct merge_type item;
    const json_t *live, *intent;
    struct field_items ours, theirs; /* of live, of intent */
    json_t *out;
};

static bool is_in(const struct field_items *items, const char *element)
{
    return element && field_items_find(items, element, 0) < items->len;
}

/* The next item of the intent, from `from` on, that the live list has, too; `len` if there is none.
 */
static size_t next_shared(const struct zip *z, size_t from)
{
    while (from < z->theirs.len && !is_in(&z->ours, z->theirs.elements[from]))
        from++;
    return from;
}

/* Emits an item of the intent, merged with the live one if that is unique. */
static void emit_theirs(struct zip *z, size_t i)
{
    const char *element = z->theirs.elements[i];
    size_t at = element ? field_items_find(&z->ours, element, 0) : z->ours.len;
    bool alone = at < z->ours.len && field_items_find(&z->ours, element, at + 1) == z->ours.len;
    const json_t *live = alone ? json_array_get(z->live, at) : NULL;
    json_array_append_new(z->out, merge_objects(&z->item, live, json_array_get(z->intent, i)));
}

/* Whether the intent puts another item before this live one. */
static bool comes_later(const struct zip *z, const char *ours, size_t shared)
{
    return is_in(&z->theirs, ours) && shared < z->theirs.len &&
           !str_eq(ours, z->theirs.elements[shared]);
}

static void merge_in_order(struct zip *z)
{
    size_t l = 0, t = 0;
    while (l < z->ours.len || t < z->theirs.len) {
        const char *ours = l < z->ours.len ? z->ours.elements[l] : NULL;
        bool both = l < z->ours.len && t < z->theirs.len;
        if (both && ours && str_eq(ours, z->theirs.elements[t])) {
            emit_theirs(z, t++);
            l++;
        } else if (both && comes_later(z, ours, next_shared(z, t))) {
            l++;
        } else if (l < z->ours.len && !is_in(&z->theirs, ours)) {
            json_array_append(z->out, json_array_get(z->live, l++));
        } else {
            if (l < z->ours.len && field_items_find(&z->theirs, ours, 0) < t)
                l++;
            if (t < z->theirs.len)
                emit_theirs(z, t++);
        }
    }
}

static bool same_items(const json_t *a, const json_t *b)
{
    JSON_EACH_AT (i, item, a)
        if (item != json_array_get(b, i))
            return false;
    return json_array_size(a) == json_array_size(b);
}

static json_t *merge_lists(const struct merge_type *t, const json_t *live, const json_t *intent)
{
    struct zip z = {
        .item = merge_type_item(t), .live = live, .intent = intent, .out = json_array()
    };
    z.ours = field_items_of(t, live);
    z.theirs = field_items_of(t, intent);
    merge_in_order(&z);
    field_items_clear(&z.ours);
    field_items_clear(&z.theirs);
    if (!same_items(live, z.out))
        return z.out;
    json_decref(z.out);
    return json_incref((json_t *) live);
}

static json_t *merge_fields(const struct merge_type *t, const json_t *live, const json_t *intent)
{
    json_t *copy = NULL;
    JSON_EACH_MEMBER (name, theirs, intent) {
        json_t *ours = json_object_get(live, name);
        json_t *both = merge_objects(merge_type_field(t, name), ours, theirs);
        if (both == ours) {
            json_decref(both);
            continue;
        }
        if (!copy)
            copy = json_copy((json_t *) live);
        json_object_set_new(copy, name, both);
    }
    return copy ? copy : json_incref((json_t *) live);
}

json_t *merge_objects(const struct merge_type *t, const json_t *live, const json_t *intent)
{
    if (!live || !intent)
        return json_incref((json_t *) (live ? live : intent));
    bool mergeable = !merge_type_is_leaf(t, live) && !merge_type_is_leaf(t, intent);
    if (mergeable && json_is_object(live) && json_is_object(intent))
        return merge_fields(t, live, intent);
    if (mergeable && json_is_array(live) && json_is_array(intent))
        return merge_lists(t, live, intent);
    /* Null removes a value, except a mergeable list or object and fields of the server. */
    bool stays = json_is_null(intent) && (t->how == MERGE_UNOWNED || !merge_type_is_leaf(t, live));
    return json_incref((json_t *) (stays || json_equal(live, intent) ? live : intent));
}
