#include "sim/api/patch.h"

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/story.h"
#include "tests/unit/sim_api/merging.h"

static struct custom_schemas *schemas;

static bool is_patch(const struct story_step *s)
{
    return str_eq(s->verb, "merge") || str_eq(s->verb, "json") || str_eq(s->verb, "strategic");
}

static json_t *patched(const struct story_step *s, struct refusal *r)
{
    if (str_eq(s->verb, "merge"))
        return patch_merge(s->before, s->body);
    if (str_eq(s->verb, "json"))
        return patch_json(s->before, s->body, r);
    return patch_strategic(&merging_of(schemas, s->before)->type, s->before, s->body, r);
}

static void gives_what_the_real_server_has(void **state)
{
    const struct story_step *s = *state;
    CLEANUP_REFUSAL struct refusal r = { 0 };
    CLEANUP_JSON json_t *before = json_deep_copy(s->before);
    CLEANUP_JSON json_t *shared = patched(s, &r);
    CLEANUP_JSON json_t *got = shared ? json_deep_copy(shared) : NULL;
    story_assert_same(s->before, before); /* what is given never changes */
    if (s->refusal) {
        assert_null(got);
        assert_int_equal(r.code, s->code);
        assert_string_equal(r.message, json_str(s->refusal, "message"));
        assert_string_equal(str_or_empty(r.reason), json_str_or_empty(s->refusal, "reason"));
        return;
    }
    CLEANUP_JSON json_t *written = story_written(s);
    story_put_back(s, got);
    CLEANUP_JSON json_t *got_bare = story_bare(got);
    CLEANUP_JSON json_t *want_bare = story_bare(written);
    if (s->defaulted)
        story_assert_within(got_bare, want_bare);
    else
        story_assert_same(got_bare, want_bare);
}

int main(void)
{
    schemas = custom_schemas_new();
    int rc = story_run("patch", is_patch, gives_what_the_real_server_has);
    custom_schemas_free(schemas);
    return rc;
}
