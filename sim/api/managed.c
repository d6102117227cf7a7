#include "sim/api/managed.h"

#include <string.h>

#include "base/json.h"
#include "sim/api/tracking.h"

/* Whether a client asks to forget who owns what: by an empty list, or one with an empty entry. */
static bool asks_to_forget(const json_t *said)
{
    size_t entries = json_array_size(said);
    return json_is_array(said) &&
           (entries == 0 || (entries == 1 && json_object_size(json_array_get(said, 0)) == 0));
}

/* What a client sends counts where it is whole and written to the object itself; else what the
 * object has. */
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
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) after, name, value)
        if (strcmp(name, aside) != 0 && !json_equal(json_object_get(before, name), value))
            return false;
    json_object_foreach ((json_t *) before, name, value)
        if (strcmp(name, aside) != 0 && !json_object_get(after, name))
            return false;
    return true;
}

bool managed_is_same(const json_t *before, const json_t *after)
{
    const json_t *was = tracking_entries(before), *is = tracking_entries(after);
    size_t i;
    json_t *entry;
    if (before == after)
        return true;
    if (json_array_size(was) != json_array_size(is))
        return false;
    json_array_foreach (is, i, entry)
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
    if (!before || m.len > 0) { /* else nobody tracked it so far, and an update does not begin to */
        CLEANUP_DIFF struct field_diff change;
        field_diff(w->root, before, after, &change);
        field_diff_leave_out(&change, tracking_resets(w->root, w->subresource));
        tracking_note(&m, &change, w);
    }
    tracking_write(after, &m);
}
