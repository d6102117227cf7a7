#include "kube/record.h"

#include <string.h>

#include "base/mem.h"

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
