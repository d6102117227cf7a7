#include "sim/api/field_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/field_element.h"

enum { PATH_MAX_BYTES = 4 << 20 };

bool field_set_is_member(const json_t *node)
{
    return node && (json_object_size(node) == 0 || json_object_get(node, "."));
}

static bool has_children(const json_t *node)
{
    size_t size = json_object_size(node);
    return size > 1 || (size == 1 && !json_object_get(node, "."));
}

void field_set_mark(json_t **node)
{
    if (!*node)
        *node = json_object();
    else if (json_object_size(*node) > 0)
        json_object_set_new(*node, ".", json_object());
}

void field_set_put(json_t **node, const char *element, json_t *child_steal)
{
    if (!child_steal)
        return;
    bool member = *node && json_object_size(*node) == 0;
    if (!*node)
        *node = json_object();
    if (member)
        json_object_set_new(*node, ".", json_object());
    json_object_set_new(*node, element, child_steal);
}

void field_set_drop(json_t **set, const char *path)
{
    size_t len = strcspn(path, ".");
    CLEANUP_FREE char *element = xasprintf("f:%.*s", (int) len, path);
    json_t *child = json_incref(json_object_get(*set, element));
    if (!child)
        return;
    json_object_del(*set, element);
    if (path[len])
        field_set_drop(&child, path + len + 1);
    else
        json_decref(TAKE(child));
    if (child)
        json_object_set_new(*set, element, child);
    else if (json_object_size(*set) == 0)
        json_decref(TAKE(*set));
}

/* A copy of a node that may be changed, without its own membership. */
static json_t *copy_unmarked(const json_t *node)
{
    json_t *copy = json_copy((json_t *) node);
    json_object_del(copy, ".");
    return copy;
}

json_t *field_set_union(const json_t *a, const json_t *b)
{
    if (!a || !b || a == b)
        return json_incref((json_t *) (a ? a : b));
    json_t *copy = NULL;
    JSON_EACH_MEMBER (element, theirs, b) {
        if (strcmp(element, ".") == 0)
            continue;
        const json_t *ours = json_object_get(a, element);
        json_t *both = field_set_union(ours, theirs);
        if (both == ours) {
            json_decref(both);
            continue;
        }
        if (!copy)
            copy = copy_unmarked(a);
        json_object_set_new(copy, element, both);
    }
    bool member = field_set_is_member(a) || field_set_is_member(b);
    if (!copy && member == field_set_is_member(a))
        return json_incref((json_t *) a);
    if (!copy)
        copy = copy_unmarked(a);
    if (member)
        field_set_mark(&copy);
    return copy;
}

json_t *field_set_intersection(const json_t *a, const json_t *b)
{
    if (!a || !b || a == b)
        return a == b ? json_incref((json_t *) a) : NULL;
    json_t *both = NULL;
    JSON_EACH_MEMBER (element, ours, a)
        if (strcmp(element, ".") != 0)
            field_set_put(&both, element,
                          field_set_intersection(ours, json_object_get(b, element)));
    if (field_set_is_member(a) && field_set_is_member(b))
        field_set_mark(&both);
    return both;
}

/* The result of a difference: NULL if nothing is left. */
static json_t *settle_difference(json_t *copy_steal, bool member)
{
    if (!has_children(copy_steal) && !member) {
        json_decref(copy_steal);
        return NULL;
    }
    if (member)
        field_set_mark(&copy_steal);
    return copy_steal;
}

json_t *field_set_difference(const json_t *a, const json_t *b)
{
    if (!a || a == b)
        return NULL;
    if (!b)
        return json_incref((json_t *) a);
    json_t *copy = NULL;
    JSON_EACH_MEMBER (element, theirs, b) {
        const json_t *ours = strcmp(element, ".") == 0 ? NULL : json_object_get(a, element);
        json_t *left = field_set_difference(ours, theirs);
        if (left != ours) {
            if (!copy)
                copy = copy_unmarked(a);
            if (left)
                json_object_set(copy, element, left);
            else
                json_object_del(copy, element);
        }
        json_decref(left);
    }
    bool was = field_set_is_member(a), member = was && !field_set_is_member(b);
    if (!copy && was == member)
        return json_incref((json_t *) a);
    return settle_difference(copy ? copy : copy_unmarked(a), member);
}

static int by_element(const void *a, const void *b)
{
    return field_element_compare(*(const char *const *) a, *(const char *const *) b);
}

/* The path elements below a node in the order of the API server. Owned by the caller; the texts are
 * borrowed. */
static const char **sorted_elements(const json_t *node, size_t *ret_len)
{
    const char **elements = xcalloc(json_object_size(node) + 1, sizeof *elements);
    size_t len = 0;
    JSON_EACH_MEMBER (element, child, node)
        if (strcmp(element, ".") != 0)
            elements[len++] = element;
    qsort(elements, len, sizeof *elements, by_element);
    *ret_len = len;
    return elements;
}

static void each(const json_t *node, struct buf *path, field_set_fn *fn, void *arg)
{
    size_t len, start = path->len;
    CLEANUP_FREE const char **elements = sorted_elements(node, &len);
    for (int below = 0; below <= 1; below++) {
        for (size_t i = 0; i < len; i++) {
            const json_t *child = json_object_get(node, elements[i]);
            if (below ? !has_children(child) : !field_set_is_member(child))
                continue;
            CLEANUP_FREE char *text = field_element_text(elements[i]);
            buf_str(path, text);
            if (below)
                each(child, path, fn, arg);
            else
                fn(arg, buf_text(path));
            path->len = start;
        }
    }
}

void field_set_each(const json_t *set, field_set_fn *fn, void *arg)
{
    CLEANUP_BUF struct buf path = BUF_INIT(PATH_MAX_BYTES);
    if (set)
        each(set, &path, fn, arg);
}
