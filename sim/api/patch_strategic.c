/* Strategic merge patches, as Kubernetes has them for built-in kinds. */
#include "sim/api/patch.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/text.h"
#include "sim/api/typed.h"

#define NOWHERE SIZE_MAX

static const char directive[] = "$patch";
static const char retain_keys[] = "$retainKeys";
static const char element_order[] = "$setElementOrder/";
static const char delete_list[] = "$deleteFromPrimitiveList/";

static json_t *merge_map(const struct merge_type *t, const json_t *original, const json_t *patch,
                         struct refusal *r);

/* ---- what is taken from a patch as it is */

/* A part of a patch without directives and null members; NULL if it has a $patch directive. New
 * reference. */
static json_t *plain(const json_t *value)
{
    if (json_is_object(value)) {
        if (json_object_get(value, directive))
            return NULL;
        json_t *copy = json_object();
        JSON_EACH_MEMBER (name, child, value)
            if (*name != '$' && !json_is_null(child))
                json_object_set_new(copy, name, plain(child));
        return copy;
    }
    if (json_is_array(value)) {
        json_t *copy = json_array();
        JSON_EACH_AT (i, child, value)
            json_array_append_new(copy, plain(child));
        return copy;
    }
    return json_incref((json_t *) value);
}

/* ---- items of lists */

static bool is_same_item(const char *key, const json_t *a, const json_t *b)
{
    return *key ? json_equal(json_object_get(a, key), json_object_get(b, key)) : json_equal(a, b);
}

/* The identity of an item: the text of its key or, with key "", of its value. Owned by the caller;
 * NULL: no key. */
static char *item_text(const char *key, const json_t *item)
{
    const json_t *teller = *key ? json_object_get(item, key) : item;
    return teller ? json_dumps(teller, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS) : NULL;
}

/* Records the place of an item; the first of equal ones counts. False: it is a duplicate. */
static bool patch_strategic_add_place(json_t *places, const char *key, const json_t *item,
                                      size_t place)
{
    CLEANUP_FREE char *text = item_text(key, item);
    if (!text || json_object_get(places, text))
        return !text;
    json_object_set_new(places, text, json_integer((json_int_t) place));
    return true;
}

/* The places of a list's items by their identity, to avoid a search in long lists. New reference.
 */
static json_t *places_of(const json_t *list, const char *key)
{
    json_t *places = json_object();
    JSON_EACH_AT (i, item, list)
        patch_strategic_add_place(places, key, item, i);
    return places;
}

/* The place of an item; NOWHERE if it is absent. */
static size_t place_in(const json_t *places, const char *key, const json_t *item)
{
    CLEANUP_FREE char *text = item_text(key, item);
    const json_t *place = text ? json_object_get(places, text) : NULL;
    return place ? (size_t) json_integer_value(place) : NOWHERE;
}

/* The items that are not in another list. New reference. */
static json_t *without_items(const json_t *list, const char *key, const json_t *unwanted)
{
    CLEANUP_JSON json_t *places = places_of(unwanted, key);
    json_t *left = json_array();
    JSON_EACH_AT (i, item, list)
        if (place_in(places, key, item) == NOWHERE)
            json_array_append(left, item);
    return left;
}

/* 0, or -1 and 500 unless all items are objects with the key or, with key "", none is a list or
 * object. */
static int check_items(const json_t *list, const char *key, struct refusal *r)
{
    JSON_EACH_AT (i, item, list) {
        bool container = json_is_object(item) || json_is_array(item);
        if (*key ? !json_is_object(item) : container)
            return refuse(r, 500, "list element types are not identical");
        if (*key && !json_object_get(item, key) && !str_eq(json_key(item, directive), "replace")) {
            CLEANUP_FREE char *text = go_text(item);
            return refuse(r, 500, "map: %s does not contain declared merge key: %s", text, key);
        }
    }
    return 0;
}

/* ---- order: items of the patch come as it has them, the others keep their places among those that
 * were there before */

/* An item that is being sorted. */
struct placed {
    json_t *item;
    size_t place; /* its place in the wanted order */
    size_t was;   /* its old place */
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->was < y->was ? -1 : 1;
}

/* The items of `list` that are in `order` (or, with `in` false, those that are not), in order of
 * `by`; both are places. New reference. */
static json_t *select_items(const json_t *list, const char *key, const json_t *order, bool in,
                            const json_t *by)
{
    struct placed *placed = xcalloc(json_array_size(list) + 1, sizeof *placed);
    size_t count = 0;
    json_t *selected = json_array();
    JSON_EACH_AT (i, item, list)
        if ((place_in(order, key, item) != NOWHERE) == in)
            placed[count++] = (struct placed){ item, place_in(by, key, item), i };
    qsort(placed, count, sizeof *placed, by_place);
    for (size_t i = 0; i < count; i++)
        json_array_append(selected, placed[i].item);
    free(placed);
    return selected;
}

/* Steals `list`. */
static json_t *in_order(json_t *list_steal, const char *key, const json_t *order,
                        const json_t *before)
{
    CLEANUP_JSON json_t *list = list_steal;
    CLEANUP_JSON json_t *ordered = places_of(order, key);
    CLEANUP_JSON json_t *had = places_of(before, key);
    CLEANUP_JSON json_t *theirs = select_items(list, key, ordered, true, ordered);
    CLEANUP_JSON json_t *others = select_items(list, key, ordered, false, had);
    json_t *all = json_array();
    size_t t = 0, o = 0;
    while (t < json_array_size(theirs) || o < json_array_size(others)) {
        json_t *their = json_array_get(theirs, t), *other = json_array_get(others, o);
        size_t their_place = their ? place_in(had, key, their) : NOWHERE;
        size_t other_place = other ? place_in(had, key, other) : NOWHERE;
        bool other_first = !their || (their_place != NOWHERE && other_place < their_place);
        json_array_append(all, other_first ? other : their);
        *(other_first ? &o : &t) += 1;
    }
    return all;
}

/* ---- lists */

/* Carries out the directives among the items of a patch. `ret_kept` becomes the rest of the
 * original, `ret_items` the items without directives; both are new references. 0, or -1 and a
 * refusal. */
static int split_items(const char *key, const json_t *original, const json_t *patch,
                       json_t **ret_kept, json_t **ret_items, struct refusal *r)
{
    CLEANUP_JSON json_t *deleted = json_array();
    json_t *items = *ret_items = json_array();
    bool replace = false;
    JSON_EACH_AT (i, item, patch) {
        const char *what = json_key(item, directive);
        if (!json_object_get(item, directive)) {
            json_array_append(items, item);
        } else if (str_eq(what, "delete")) {
            json_array_append(deleted, item);
        } else if (str_eq(what, "replace")) {
            replace = true;
        } else {
            CLEANUP_FREE char *text = go_text(item);
            return refuse(r, 500, "unknown patch type: %s in map: %s", str_or_empty(what), text);
        }
    }
    *ret_kept = replace ? json_copy(items) : without_items(original, key, deleted);
    if (replace)
        json_array_clear(items);
    return 0;
}

/* A patch's items, each merged into the original's with the same key or added behind. New
 * reference, NULL and a refusal. */
static json_t *merge_items(const struct merge_type *t, const json_t *original, const json_t *items,
                           struct refusal *r)
{
    const struct merge_type type = merge_type_item(t);
    CLEANUP_JSON json_t *places = places_of(original, t->patch_key);
    json_t *merged = json_copy((json_t *) original);
    JSON_EACH_AT (i, item, items) {
        size_t at = place_in(places, t->patch_key, item);
        if (at == NOWHERE) {
            patch_strategic_add_place(places, t->patch_key, item, json_array_size(merged));
            json_array_append_new(merged, plain(item));
            continue;
        }
        json_t *both = merge_map(&type, json_array_get(merged, at), item, r);
        if (!both) {
            json_decref(merged);
            return NULL;
        }
        json_array_set_new(merged, at, both);
    }
    return merged;
}

static json_t *merge_maps(const struct merge_type *t, const json_t *original, const json_t *patch,
                          struct refusal *r)
{
    CLEANUP_JSON json_t *kept = NULL;
    CLEANUP_JSON json_t *items = NULL;
    if (split_items(t->patch_key, original, patch, &kept, &items, r) < 0)
        return NULL;
    json_t *merged = merge_items(t, kept, items, r);
    return merged ? in_order(merged, t->patch_key, items, kept) : NULL;
}

static json_t *merge_scalars(const json_t *original, const json_t *patch)
{
    CLEANUP_JSON json_t *places = json_object();
    json_t *merged = json_array();
    const json_t *const both[] = { original, patch };
    for (size_t b = 0; b < ARRAY_LEN(both); b++)
        JSON_EACH_AT (i, value, both[b])
            if (patch_strategic_add_place(places, "", value, i))
                json_array_append(merged, value);
    return in_order(merged, "", patch, original);
}

static json_t *merge_list(const struct merge_type *t, const json_t *original, const json_t *patch,
                          struct refusal *r)
{
    if (!t->patch_key)
        return plain(patch);
    if (check_items(original, t->patch_key, r) < 0 || check_items(patch, t->patch_key, r) < 0)
        return NULL;
    return *t->patch_key ? merge_maps(t, original, patch, r) : merge_scalars(original, patch);
}

/* ---- directives of a map */

/* $retainKeys: fields that it does not name go. 0, or -1 and 400 where the patch sets one of those.
 */
static int keep_only(json_t *merged, const json_t *patch, struct refusal *r)
{
    const json_t *names = json_object_get(patch, retain_keys);
    if (!names)
        return 0;
    CLEANUP_JSON json_t *kept = places_of(names, "");
    bool valid = json_is_array(names);
    JSON_EACH_MEMBER (name, value, patch) {
        CLEANUP_JSON json_t *text = json_string(name);
        valid = valid &&
                (*name == '$' || json_is_null(value) || place_in(kept, "", text) != NOWHERE);
    }
    if (!valid)
        return refuse(r, 400, "invalid patch format of retainKeys");
    void *next;
    const char *name;
    json_t *value;
    json_object_foreach_safe (merged, next, name, value) {
        CLEANUP_JSON json_t *text = json_string(name);
        if (place_in(kept, "", text) == NOWHERE)
            json_object_del(merged, name);
    }
    return 0;
}

/* Whether the items that a patch sets stand in the order that it gives. */
static bool is_ordered(const json_t *items, const char *key, const json_t *order)
{
    size_t at = 0;
    JSON_EACH_AT (i, item, items) {
        if (json_object_get(item, directive))
            continue;
        while (at < json_array_size(order) && !is_same_item(key, json_array_get(order, at), item))
            at++;
        if (at++ >= json_array_size(order))
            return json_array_size(order) == 0;
    }
    return true;
}

/* $setElementOrder of one list, together with what the patch sets in it. 0, or -1 and a refusal. */
static int order_list(const struct merge_type *t, json_t *merged, const json_t *patch,
                      const char *name, const json_t *order, struct refusal *r)
{
    const struct merge_type *list = merge_type_field(t, name);
    const char *key = str_or_empty(list->patch_key);
    const json_t *items = json_object_get(patch, name);
    CLEANUP_JSON json_t *original = json_incref(json_object_get(merged, name));
    if (!json_is_array(order) || (items && !json_is_array(items)))
        return refuse(r, 400, "invalid patch format of setElementOrder list");
    if (!is_ordered(items, key, order)) {
        CLEANUP_FREE char *items_text = go_text(items);
        CLEANUP_FREE char *order_text = go_text(order);
        return refuse(r, 500,
                      "The order in patch list:\n%s\n doesn't match $setElementOrder list:\n%s\n",
                      items_text, order_text);
    }
    if (!json_is_array(original) && !items)
        return 0;
    json_t *both = !items      ? json_incref(original)
                   : !original ? plain(items)
                               : merge_list(list, original, items, r);
    if (!both)
        return -1;
    json_object_set_new(merged, name, in_order(both, key, order, original));
    return 0;
}

/* ---- maps */

static int merge_field(const struct merge_type *t, json_t *merged, const char *name,
                       const json_t *value, struct refusal *r)
{
    const json_t *original = json_object_get(merged, name);
    const struct merge_type *f = merge_type_field(t, name);
    json_t *both;
    if (json_is_null(value)) {
        json_object_del(merged, name);
        return 0;
    }
    if (json_is_object(original) && json_is_object(value))
        both = merge_map(f, original, value, r);
    else if (json_is_array(original) && json_is_array(value))
        both = merge_list(f, original, value, r);
    else if ((both = plain(value)) == NULL) {
        json_object_del(merged, name);
        return 0;
    }
    if (!both)
        return -1;
    json_object_set_new(merged, name, both);
    return 0;
}

static int merge_member(const struct merge_type *t, json_t *merged, const json_t *patch,
                        const char *name, const json_t *value, struct refusal *r)
{
    CLEANUP_FREE char *order = xasprintf("%s%s", element_order, name);
    if (str_has_prefix(name, delete_list)) {
        const char *list = name + strlen(delete_list);
        /* The server ignores a directive that is not a list or not for a list. */
        if (json_is_array(json_object_get(merged, list)) && json_is_array(value))
            json_object_set_new(merged, list,
                                without_items(json_object_get(merged, list), "", value));
        return 0;
    }
    if (*name == '$' || json_object_get(patch, order))
        return 0;
    return merge_field(t, merged, name, value, r);
}

static json_t *do_directive(const json_t *patch, struct refusal *r)
{
    const char *what = json_key(patch, directive);
    if (str_eq(what, "delete"))
        return json_object();
    if (!str_eq(what, "replace")) {
        CLEANUP_FREE char *text = go_text(patch);
        refuse(r, 500, "unknown patch type: %s in map: %s", str_or_empty(what), text);
        return NULL;
    }
    json_t *replacement = json_copy((json_t *) patch);
    json_object_del(replacement, directive);
    return replacement;
}

static json_t *merge_map(const struct merge_type *t, const json_t *original, const json_t *patch,
                         struct refusal *r)
{
    if (json_object_get(patch, directive))
        return do_directive(patch, r);
    json_t *merged = json_copy((json_t *) original);
    int rc = keep_only(merged, patch, r);
    JSON_EACH_MEMBER (name, value, patch)
        if (rc == 0 && str_has_prefix(name, element_order))
            rc = order_list(t, merged, patch, name + strlen(element_order), value, r);
    JSON_EACH_MEMBER (name, value, patch)
        if (rc == 0)
            rc = merge_member(t, merged, patch, name, value, r);
    if (rc == 0)
        return merged;
    json_decref(merged);
    return NULL;
}

json_t *patch_strategic(const struct merge_type *t, const json_t *object, const json_t *patch,
                        struct refusal *r)
{
    if (!json_is_object(patch)) {
        refuse(r, 400, "json: cannot unmarshal %s into Go value of type map[string]interface {}",
               typed_word(patch));
        return NULL;
    }
    return merge_map(t, object, patch, r);
}
