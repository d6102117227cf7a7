#include "sim/api/managed.h"

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/story.h"
#include "tests/unit/sim_api/merging.h"

static struct custom_schemas *schemas;

static bool is_apply(const struct story_step *s)
{
    return str_eq(s->verb, "apply");
}

static void assert_refused(const struct story_step *s, const struct refusal *r)
{
    assert_int_equal(r->code, s->code);
    assert_string_equal(r->message, json_str(s->refusal, "message"));
    assert_string_equal(str_or_empty(r->reason), json_str_or_empty(s->refusal, "reason"));
    story_assert_same(r->details, json_object_get(s->refusal, "details"));
}

/* What is committed: the result, with the server's own doing left out; nothing when that is the
 * same as before. New reference. */
static json_t *committed(const struct story_step *s, const json_t *result)
{
    json_t *object = json_deep_copy(result);
    story_put_back(s, object);
    if (!s->before || !managed_is_same(s->before, object))
        return object;
    json_decref(object);
    return json_deep_copy(s->before);
}

static void assert_applied(const struct story_step *s, const json_t *result)
{
    CLEANUP_JSON json_t *written = story_written(s);
    CLEANUP_JSON json_t *got = committed(s, result);
    CLEANUP_JSON json_t *got_bare = story_bare(got);
    CLEANUP_JSON json_t *want_bare = story_bare(written);
    story_assert_same(tracking_entries(got), tracking_entries(s->after));
    if (s->defaulted)
        story_assert_within(got_bare, want_bare);
    else
        story_assert_same(got_bare, want_bare);
}

static void answers_as_the_real_server(void **state)
{
    const struct story_step *s = *state;
    CLEANUP_REFUSAL struct refusal r = { 0 };
    struct managed_writer w = { s->manager, json_str(s->body, "apiVersion"), s->subresource,
                                s->time, .root = merging_of(schemas, s->body) };
    CLEANUP_JSON json_t *got = managed_apply(s->before, s->body, &w, s->force, &r);
    if (s->refusal) {
        assert_null(got);
        assert_refused(s, &r);
    } else {
        assert_int_equal(r.code, 0);
        assert_applied(s, got);
    }
}

int main(void)
{
    schemas = custom_schemas_new();
    int rc = story_run("apply", is_apply, answers_as_the_real_server);
    custom_schemas_free(schemas);
    return rc;
}
