#include "kube/record.h"

#include <string.h>

#include "base/mem.h"
#include "kube/object.h"

char *record_key(const json_t *object)
{
    const char *ns = object_namespace(object);
    return *ns ? xasprintf("%s/%s", ns, object_name(object)) : xstrdup(object_name(object));
}

const char *record_name(const char *key)
{
    const char *slash = strchr(key, '/');
    return slash ? slash + 1 : key;
}

char *record_namespace(const char *key, const char **ret_name)
{
    char *ns = xstrdup(key), *slash = strchr(ns, '/');
    *slash = '\0';
    *ret_name = slash + 1;
    return ns;
}
