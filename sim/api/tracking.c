#include "sim/api/tracking.h"

#include "base/json.h"
#include "base/str.h"
#include "sim/api/field_set.h"

const json_t *tracking_entries(const json_t *object)
{
    return json_object_get(json_object_get(object, "metadata"), "managedFields");
}

const char *const *tracking_resets(const struct merge_root *root, const char *subresource)
{
    return str_eq(subresource, "status") ? root->status_reset : root->reset;
}

void tracking_note(struct managers *m, const struct field_diff *change,
                   const struct managed_writer *w)
{
    struct managed_writer writer = *w;
    if (!*str_or_empty(w->manager))
        writer.manager = "unknown";
    /* The writer's own entry keeps what is set anew: taking that away first would only copy it. */
    struct manager *own = managers_find(m, &writer, "Update");
    managers_yield(m, change, own);
    if (own)
        manager_own(own, field_set_difference(own->fields, change->gone));
    if (change->set) {
        own = managers_get(m, &writer, "Update");
        manager_own(own, field_set_union(own->fields, change->set));
        manager_touch(own, w->time);
    }
    managers_cap(m);
}

void tracking_write(json_t *object, struct managers *m)
{
    json_t *metadata = json_object_get(object, "metadata");
    json_t *entries = managers_write(m);
    if (entries)
        json_object_set_new(metadata, "managedFields", entries);
    else
        json_object_del(metadata, "managedFields");
}
