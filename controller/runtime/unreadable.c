#include "runtime/unreadable.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/str.h"
#include "kube/split.h"

json_t *unreadable_identity(const char *text, size_t len)
{
    static const char *const rest[] = { "data", "metadata.annotations", "metadata.labels", "metadata.managedFields",
                                        "metadata.ownerReferences", "spec", "status", NULL };
    static const struct split_view view = { rest, false };
    return split_object(text, len, &view, NULL);
}

void unreadable_note(struct unreadable *u, enum resource_id resource, const char *key, const struct err *why)
{
    u->count++;
    if (str_eq(key, u->last))
        return;
    log_warn("object cannot be read", "resource", resource_name(resource), "object", key, "err", err_msg(why), "message",
             "Ostler keeps the last state that it could read; other objects are not affected");
    free(u->last);
    u->last = xstrdup(key);
}

void unreadable_clear(struct unreadable *u)
{
    free(u->last);
    *u = (struct unreadable){ 0 };
}
