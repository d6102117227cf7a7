#include "tests/unit/support/story.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

/* All steps of all stories. */
struct book {
    json_t *stories; /* what the files say */
    struct story_step *steps;
    size_t len;
};

static void read_step(struct book *b, const char *story, const json_t *data, size_t number,
                      const json_t *before)
{
    b->steps = xreallocarray(b->steps, b->len + 1, sizeof *b->steps);
    struct story_step *s = &b->steps[b->len++];
    *s = (struct story_step){
        .name = xasprintf("%s: %s", story, json_str(data, "name")),
        .verb = json_str(data, "verb"),
        .manager = json_str(data, "manager"),
        .subresource = json_str_or_empty(data, "subresource"),
        .force = json_bool(data, "force", false),
        .defaulted = json_bool(data, "defaulted", false),
        .server_sets = json_object_get(data, "server_sets"),
        .body = json_object_get(data, "body"),
        .before = before,
        .after = json_object_get(data, "after"),
        .refusal = json_object_get(data, "refusal"),
        .code = (int) json_int(data, "code", 0),
    };
    snprintf(s->time, sizeof s->time, "2026-01-01T00:00:%02zuZ", number);
}

static void read_story(struct book *b, const char *path)
{
    json_error_t error;
    json_t *story = json_load_file(path, 0, &error);
    if (!story)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    json_array_append_new(b->stories, story);
    const char *file = strrchr(path, '/') + 1;
    CLEANUP_FREE char *name = xstrndup(file, strcspn(file, "."));
    const json_t *before = NULL;
    size_t i;
    json_t *data;
    json_array_foreach (json_object_get(story, "steps"), i, data) {
        read_step(b, name, data, i, before);
        if (json_object_get(data, "after"))
            before = json_object_get(data, "after");
    }
}

int story_run(const char *group, story_filter *wants, CMUnitTestFunction check)
{
    struct book b = { .stories = json_array() };
    struct suite s = { 0 };
    glob_t files;
    if (glob("tests/cases/sim_apply/*.json", 0, NULL, &files) != 0)
        return 1;
    for (size_t i = 0; i < files.gl_pathc; i++)
        read_story(&b, files.gl_pathv[i]);
    globfree(&files);
    for (size_t i = 0; i < b.len; i++)
        if (wants(&b.steps[i]))
            suite_add(&s, b.steps[i].name, check, &b.steps[i]);
    bool none = s.len == 0;
    int failed = suite_run(&s, group);
    for (size_t i = 0; i < b.len; i++)
        free(b.steps[i].name);
    free(b.steps);
    json_decref(b.stories);
    return none ? 1 : failed;
}

/* Makes what is at a path of keys ("/metadata/labels/a") what it is in `from`, or nothing. */
static void put_back(json_t *object, const json_t *from, const char *path)
{
    const char *rest = path + 1;
    size_t len;
    for (; rest[len = strcspn(rest, "/")]; rest += len + 1) {
        CLEANUP_FREE char *key = xstrndup(rest, len);
        object = json_object_get(object, key);
        from = json_object_get(from, key);
    }
    json_t *value = json_object_get(from, rest);
    if (value)
        json_object_set_new(object, rest, json_deep_copy(value));
    else
        json_object_del(object, rest);
}

void story_put_back(const struct story_step *step, json_t *object)
{
    size_t i;
    json_t *path;
    json_array_foreach (step->server_sets, i, path)
        put_back(object, step->before, json_string_value(path));
}

json_t *story_written(const struct story_step *step)
{
    json_t *object = json_deep_copy(step->after);
    story_put_back(step, object);
    put_back(object, step->before, "/metadata/managedFields");
    return object;
}

json_t *story_bare(const json_t *object)
{
    json_t *bare = json_deep_copy(object);
    json_object_del(json_object_get(bare, "metadata"), "managedFields");
    json_object_del(json_object_get(bare, "metadata"), "generation");
    json_object_del(json_object_get(bare, "metadata"), "creationTimestamp");
    return bare;
}

/* Fails the test where two trees first differ. With `part`, members of objects that only `want` has
 * do not count. */
static void compare(const json_t *got, const json_t *want, bool part, const char *path)
{
    const char *key;
    json_t *value;
    size_t i;
    if (part && json_is_null(got))
        return;
    bool objects = json_is_object(got) && json_is_object(want),
         arrays = json_is_array(got) && json_is_array(want);
    if (objects) {
        json_object_foreach ((json_t *) got, key, value) {
            CLEANUP_FREE char *below = xasprintf("%s/%s", path, key);
            compare(value, json_object_get(want, key), part, below);
        }
        json_object_foreach ((json_t *) want, key, value)
            if (!part && !json_object_get(got, key))
                fail_msg("%s/%s is missing", path, key);
    } else if (arrays && json_array_size(got) == json_array_size(want)) {
        json_array_foreach (got, i, value) {
            CLEANUP_FREE char *below = xasprintf("%s/%zu", path, i);
            compare(value, json_array_get(want, i), part, below);
        }
    } else if (!json_equal(got, want)) {
        CLEANUP_FREE char *got_text = got ? json_canonical(got) : xstrdup("nothing");
        CLEANUP_FREE char *want_text = want ? json_canonical(want) : xstrdup("nothing");
        fail_msg("%s: got %s, want %s", path, got_text, want_text);
    }
}

void story_assert_same(const json_t *got, const json_t *want)
{
    if (got != want)
        compare(got, want, false, "");
}

void story_assert_within(const json_t *part, const json_t *whole)
{
    compare(part, whole, true, "");
}
