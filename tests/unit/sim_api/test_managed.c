#include "sim/api/managed.h"

#include "base/json.h"
#include "base/str.h"
#include "sim/api/patch.h"
#include "tests/unit/support/story.h"
#include "tests/unit/sim_api/merging.h"

static struct custom_schemas *schemas;

static bool is_no_apply(const struct story_step *s)
{
    return s->after && !str_eq(s->verb, "apply");
}

/* What a client says of managedFields itself. */
static void take_said_entries(const struct story_step *s, json_t *written)
{
    CLEANUP_REFUSAL struct refusal r = { 0 };
    CLEANUP_JSON json_t *patched = NULL;
    if (str_eq(s->verb, "json"))
        patched = patch_json(s->before, s->body, &r);
    else if (str_eq(s->verb, "merge"))
        patched = patch_merge(s->before, s->body);
    if (patched && tracking_entries(patched) != tracking_entries(s->before))
        json_object_set_new(json_object_get(written, "metadata"), "managedFields",
                            json_deep_copy(tracking_entries(patched)));
}

static void owners_are_those_of_the_real_server(void **state)
{
    const struct story_step *s = *state;
    CLEANUP_JSON json_t *written = story_written(s);
    take_said_entries(s, written);
    struct managed_writer w = { s->manager, json_str(s->after, "apiVersion"), s->subresource,
                                s->time, .root = merging_of(schemas, s->after) };
    managed_update(s->before, written, &w);
    story_assert_same(tracking_entries(written), tracking_entries(s->after));
}

int main(void)
{
    schemas = custom_schemas_new();
    int rc = story_run("managed", is_no_apply, owners_are_those_of_the_real_server);
    custom_schemas_free(schemas);
    return rc;
}
