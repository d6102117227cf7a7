#include "runtime/unreadable.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "kube/object.h"

/* The type of a frame, and the object's names, uid and version, if the rest is unreadable or
 * cut; NULL: these are unreadable, too. New reference. */
static json_t *unreadable_identity(const char *text, size_t len)
{
    static const char *const rest[] = { "data",
                                        "metadata.annotations",
                                        "metadata.labels",
                                        "metadata.managedFields",
                                        "metadata.ownerReferences",
                                        "spec",
                                        "status",
                                        NULL };
    static const struct split_view view = { rest, false };
    return split_object_begun(text, len, &view);
}

/* `key`: as record_key(); "": unknown. */
static void note(struct unreadable *u, const char *key, const struct err *why)
{
    u->count++;
    if (str_eq(key, u->last))
        return;
    log_warn("object cannot be read", "resource", resource_name(u->resource), "object", key, "err",
             err_msg(why), "message",
             "Ostler keeps the last state that it could read; other objects are not affected");
    xstrset(&u->last, key);
}

/* Only the beginning of an object that is too large is there, which is not usable: a node
 * without its taints would be another node. */
static json_t *read_bare(const struct unreadable *u, const char *text, size_t len)
{
    return u->bare ? split_object(text, len, u->bare, NULL) : NULL;
}

/* One bad object must not fail the list: its author could blind Ostler to all others. Nor may it
 * seem deleted, since Ostler cleans up after deleted objects. */
void unreadable_item(struct unreadable *u, const char *text, size_t len, const struct err *why)
{
    CLEANUP_JSON json_t *identity = unreadable_identity(text, len);
    bool known = *object_name(identity) != '\0';
    CLEANUP_FREE char *key = known ? record_key(identity) : xstrdup("");
    note(u, key, why);
    if (!known) {
        table_list_keep_all(u->table);
    } else if (!table_list_keep(u->table, key, object_uid(identity))) {
        CLEANUP_JSON json_t *bare = read_bare(u, text, len);
        if (bare)
            table_list_item(u->table, bare);
    }
}

json_t *unreadable_frame(struct unreadable *u, const char *text, size_t len, const struct err *why,
                         bool *ret_keeps, struct err *e)
{
    json_t *identity = unreadable_identity(text, len);
    const json_t *object = json_object_get(identity, "object");
    if (!*object_name(object) || !*json_str_or_empty(identity, "type")) {
        json_decref(identity);
        err_set(e, why->kind, "%s", err_msg(why));
        return NULL;
    }
    CLEANUP_FREE char *key = record_key(object);
    note(u, key, why);
    json_t *bare = table_knows(u->table, key, object_uid(object)) ? NULL : read_bare(u, text, len);
    *ret_keeps = !bare && !str_eq(json_str(identity, "type"), "DELETED");
    if (!bare)
        return identity;
    json_decref(identity);
    return bare;
}

void unreadable_clear(struct unreadable *u)
{
    free(u->last);
    *u = (struct unreadable){ 0 };
}
