#include "reconcilers/manifests/overlay.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

static const char *const container_lists[] = { POD_SPEC ".initContainers", POD_SPEC ".containers" };

/* Index of the element with that name or number; -1: none. */
static int place_of(const json_t *list, const char *name)
{
    JSON_EACH_AT (i, element, list)
        if (str_eq(json_key(element, "name"), name))
            return (int) i;
    int64_t index;
    if (str_parse_int(name, 0, (int64_t) json_array_size(list) - 1, &index))
        return (int) index;
    return -1;
}

/* The node that one path step ("hostPath", "volumes[cdi]") leads to, or NULL. */
static json_t *overlay_step(json_t *node, const char *text, size_t len)
{
    CLEANUP_FREE char *key = xstrndup(text, len);
    char *bracket = strchr(key, '[');
    if (!bracket)
        return json_object_get(node, key);
    *bracket = '\0';
    char *name = bracket + 1;
    name[strcspn(name, "]")] = '\0';
    json_t *list = json_object_get(node, key);
    int i = place_of(list, name);
    return i < 0 ? NULL : json_array_get(list, (size_t) i);
}

/* Sets the value at a path below `root`. The last step is a plain key. */
static int put_at(const struct overlay *overlay, json_t *root, json_t *value, struct err *e)
{
    const char *at = overlay->path;
    for (size_t len = strcspn(at, "."); at[len]; len = strcspn(at, ".")) {
        root = overlay_step(root, at, len);
        if (!root)
            return err_set(e, ERR_INVALID, "overlay %s: there is no %.*s", overlay->path,
                           (int) (at - overlay->path + (ptrdiff_t) len), overlay->path);
        at += len + 1;
    }
    overlay->put(root, at, value);
    return 0;
}

bool overlay_is_own(const json_t *container)
{
    return str_eq(json_key(container, "image"), "ostler");
}

/* Whether the overlay applies to a container. A manifest must have the container that an overlay
 * names. */
static bool is_for(const struct overlay *overlay, const json_t *container)
{
    bool own = overlay_is_own(container);
    if (str_eq(overlay->container, OVERLAY_OWN_CONTAINERS))
        return own;
    if (str_eq(overlay->container, OVERLAY_OPERAND_CONTAINERS))
        return !own;
    return str_eq(overlay->container, OVERLAY_ALL_CONTAINERS) ||
           str_eq(json_key(container, "name"), overlay->container);
}

static int put_in_containers(const struct overlay *overlay, json_t *manifest, json_t *value,
                             struct err *e)
{
    bool found = overlay->container[0] == '*';
    for (size_t l = 0; l < ARRAY_LEN(container_lists); l++) {
        JSON_EACH (container, json_at(manifest, container_lists[l])) {
            if (!is_for(overlay, container))
                continue;
            found = true;
            if (put_at(overlay, container, value, e) < 0)
                return err_wrap(e, "container %s", json_key(container, "name"));
        }
    }
    if (!found)
        return err_set(e, ERR_INVALID, "overlay %s: there is no container %s", overlay->path,
                       overlay->container);
    return 0;
}

static bool overlay_is_empty(const json_t *value)
{
    return !value || json_is_null(value) ||
           (json_is_object(value) && json_object_size(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0);
}

int overlay_apply(const struct overlay *overlay, json_t *manifest, const json_t *values,
                  struct err *e)
{
    json_t *value = json_at(values, overlay->from);
    if (overlay_is_empty(value))
        return 0;
    return overlay->container ? put_in_containers(overlay, manifest, value, e)
                              : put_at(overlay, manifest, value, e);
}

void overlay_put(json_t *parent, const char *key, json_t *value)
{
    json_object_set_new(parent, key, json_deep_copy(value));
}

/* The list under a key, created if absent. */
static json_t *list_at(json_t *parent, const char *key)
{
    if (!json_object_get(parent, key))
        json_object_set_new(parent, key, json_array());
    return json_object_get(parent, key);
}

void overlay_append(json_t *parent, const char *key, json_t *value)
{
    json_t *list = list_at(parent, key);
    JSON_EACH (element, value)
        json_array_append_new(list, json_deep_copy(element));
}

void overlay_append_names(json_t *parent, const char *key, json_t *value)
{
    json_t *list = list_at(parent, key);
    JSON_EACH (name, value)
        if (!json_find(list, "name", json_string_value(name)))
            json_array_append_new(list, json_pack("{s:O}", "name", name));
}

static void merge_by_name(json_t *list, json_t *elements)
{
    JSON_EACH (element, elements) {
        int at = place_of(list, json_key(element, "name"));
        if (at < 0)
            json_array_append_new(list, json_deep_copy(element));
        else
            json_array_set_new(list, (size_t) at, json_deep_copy(element));
    }
}

void overlay_merge(json_t *parent, const char *key, json_t *value)
{
    if (json_is_array(value)) {
        merge_by_name(list_at(parent, key), value);
        return;
    }
    json_t *object = json_object_get(parent, key);
    if (object)
        json_object_update(object, value);
    else
        json_object_set_new(parent, key, json_deep_copy(value));
}

/* Merges one element of a part's list into a list; `key` is the list's name. */
static int merge_element(json_t *list, const char *key, json_t *element, struct err *e)
{
    const char *name = json_key(element, "name");
    int at = place_of(list, name);
    if (str_eq(json_key(element, "$patch"), "delete")) {
        if (at < 0)
            return err_set(e, ERR_INVALID, "%s[%s] is to be removed and is not there", key, name);
        json_array_remove(list, (size_t) at);
        return 0;
    }
    if (at >= 0)
        return overlay_merge_part(json_array_get(list, (size_t) at), element, e);
    /* A new container has an image. Without one, the element changes a container that must
     * exist. */
    if (str_has_suffix(key, "ontainers") && !json_key(element, "image"))
        return err_set(e, ERR_INVALID, "%s[%s] is to be changed and is not there", key, name);
    json_array_append_new(list, json_deep_copy(element));
    return 0;
}

static int merge_list(json_t *list, const char *key, const json_t *elements, struct err *e)
{
    JSON_EACH (element, elements)
        if (merge_element(list, key, element, e) < 0)
            return -1;
    return 0;
}

int overlay_merge_part(json_t *manifest, const json_t *part, struct err *e)
{
    JSON_EACH_MEMBER (key, value, part) {
        json_t *there = json_object_get(manifest, key);
        if (json_is_null(value)) {
            json_object_del(manifest, key);
        } else if (json_is_object(there) && json_is_object(value)) {
            if (overlay_merge_part(there, value, e) < 0)
                return -1;
        } else if (json_is_array(there) && json_key(json_array_get(value, 0), "name")) {
            if (merge_list(there, key, value, e) < 0)
                return -1;
        } else {
            json_object_set_new(manifest, key, json_deep_copy(value));
        }
    }
    return 0;
}
