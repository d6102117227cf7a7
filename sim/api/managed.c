#include "sim/api/managed.h"

#include <string.h>

#include "base/json.h"

/* Whether a client resets managedFields, by an empty list or one with an empty entry. */
static bool asks_to_forget(const json_t *said)
{
    size_t entries = json_array_size(said);
    return json_is_array(said) &&
           (entries == 0 || (entries == 1 && json_object_size(json_array_get(said, 0)) == 0));
}

/* Reads the client's managedFields if they are valid and the write is not to a subresource,
 * otherwise those of the object. */
static void read_managers(struct managers *m, const json_t *before, const json_t *after,
                          const char *subresource)
{
    const json_t *said = *subresource ? NULL : tracking_entries(after);
    *m = (struct managers){ 0 };
    if (asks_to_forget(said))
        return;
    if (!managers_read(m, said) || m->len == 0) {
        managers_clear(m);
        managers_read(m, tracking_entries(before));
    }
}

/* Equal objects, one member aside. */
static bool is_same_but(const char *aside, const json_t *before, const json_t *after)
{
    JSON_EACH_MEMBER (name, value, after)
        if (strcmp(name, aside) != 0 && !json_equal(json_object_get(before, name), value))
            return false;
    JSON_EACH_MEMBER (name, value, before)
        if (strcmp(name, aside) != 0 && !json_object_get(after, name))
            return false;
    return true;
}

bool managed_is_same(const json_t *before, const json_t *after)
{
    const json_t *was = tracking_entries(before), *is = tracking_entries(after);
    if (before == after)
        return true;
    if (json_array_size(was) != json_array_size(is))
        return false;
    JSON_EACH_AT (i, entry, is)
        if (!is_same_but("time", json_array_get(was, i), entry))
            return false;
    return is_same_but("metadata", before, after) &&
           is_same_but("managedFields", json_object_get(before, "metadata"),
                       json_object_get(after, "metadata"));
}

void managed_update(const json_t *before, json_t *after, const struct managed_writer *w)
{
    CLEANUP_MANAGERS struct managers m;
    read_managers(&m, before, after, w->subresource);
    if (!before || m.len > 0) { /* an update does not start tracking */
        CLEANUP_DIFF struct field_diff change;
        tracking_diff(w, before, after, &change);
        tracking_note(&m, &change, w);
    }
    tracking_write(after, &m);
}
