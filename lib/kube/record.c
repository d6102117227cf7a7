#include "kube/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/object.h"

char *record_key(const json_t *object)
{
    const char *ns = object_namespace(object);
    return *ns ? xasprintf("%s/%s", ns, object_name(object)) : xstrdup(object_name(object));
}

void *record_new(size_t size, const json_t *object)
{
    CLEANUP_FREE char *key = record_key(object);
    struct record *r = xcalloc(1, size + strlen(key) + 1);
    r->key = strcpy((char *) r + size, key);
    snprintf(r->uid, sizeof r->uid, "%s", object_uid(object));
    return r;
}

void *record_copy(const void *record, size_t size)
{
    const struct record *from = record;
    struct record *r = xcalloc(1, size + strlen(from->key) + 1);
    memcpy(r, from, size);
    r->key = strcpy((char *) r + size, from->key);
    return r;
}

void record_free(void *record)
{
    free(record);
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
