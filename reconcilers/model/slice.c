#include "reconcilers/model/slice.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

struct slice *slice_project(const json_t *object)
{
    const char *node = json_str_or_empty(object, "spec.nodeName");
    bool offers = str_eq(json_str(object, "spec.driver"), SLICE_DRIVER) &&
                  json_array_size(json_at(object, "spec.devices")) > 0;
    if (!offers || !*node)
        return NULL;
    struct slice *s = xcalloc(1, sizeof *s);
    s->head.key = record_key(object);
    snprintf(s->head.uid, sizeof s->head.uid, "%s", object_uid(object));
    s->node = xstrdup(node);
    return s;
}

void slice_free(struct slice *s)
{
    if (!s)
        return;
    free(s->head.key);
    free(s->node);
    free(s);
}

bool slice_same(const struct slice *a, const struct slice *b)
{
    return str_eq(a->node, b->node);
}
