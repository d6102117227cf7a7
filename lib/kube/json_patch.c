#include "kube/json_patch.h"

#include <string.h>

#include "base/mem.h"

void json_patch_add(json_t *operations, const char *op, const char *path, json_t *value_steal)
{
    json_t *operation = json_pack("{s:s, s:s}", "op", op, "path", path);
    if (value_steal)
        json_object_set_new(operation, "value", value_steal);
    json_array_append_new(operations, operation);
}

/* The escape of a key's byte in a path; NULL: none. */
static const char *escape_of(char c)
{
    return c == '~' ? "~0" : c == '/' ? "~1" : NULL;
}

char *json_patch_path(const char *object, const char *key)
{
    char *path = xcalloc(1, strlen(object) + strlen("/") + 2 * strlen(key) + 1);
    char *end = stpcpy(stpcpy(path, object), "/");
    for (; *key; key++) {
        const char *escape = escape_of(*key);
        if (escape)
            end = stpcpy(end, escape);
        else
            *end++ = *key;
    }
    return path;
}
