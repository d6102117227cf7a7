/* Case files: tests/cases/policy/ has one file per case, no code. The first document is a policy,
 * the second what must come of it:
 *   whole: the effective spec, all of it          spec: parts of it            absent: paths that
 *   it does not have
 *   problems: all of them as "field: message", in order
 *   settings: variables and arguments that are allowed; any where it is missing
 *   repairs: whether they are allowed; they are where it is missing
 *   pools: labels and the pool they belong to     poolSpecs: parts of each pool's effective spec,
 *   in order */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "reconcilers/model/policy.h"
#include "tests/unit/support/suite.h"

#define CASES "tests/cases/policy"
#define IMAGE_PREFIXES POLICY_IMAGE_PREFIXES ",registry.local:5000"

/* The first place where `got` lacks something of `want`, as a path; NULL when it has all. Lists are
 * compared whole. */
static char *first_difference(const char *path, const json_t *got, const json_t *want)
{
    const char *key;
    json_t *value;
    if (!json_is_object(want))
        return json_equal(got, want) ? NULL : xstrdup(path);
    json_object_foreach ((json_t *) want, key, value) {
        CLEANUP_FREE char *here = xasprintf("%s.%s", path, key);
        char *difference = first_difference(here, json_object_get(got, key), value);
        if (difference)
            return difference;
    }
    return NULL;
}

static void check_equal(const char *what, const json_t *got, const json_t *want)
{
    CLEANUP_FREE char *got_text = json_canonical(got);
    CLEANUP_FREE char *want_text = json_canonical(want);
    if (want && !str_eq(got_text, want_text))
        fail_msg("%s is\n%s, not\n%s", what, got_text, want_text);
}

static void check_part(const char *what, const json_t *got, const json_t *want)
{
    CLEANUP_FREE char *difference = first_difference(what, got, want);
    CLEANUP_FREE char *got_text = json_canonical(got);
    if (want && difference)
        fail_msg("%s differs: %s", difference, got_text);
}

static void check_problems(const struct policy_problems *problems, const json_t *want)
{
    CLEANUP_JSON json_t *got = json_array();
    for (size_t i = 0; i < problems->len; i++)
        json_array_append_new(
            got, json_textf("%s: %s", problems->items[i].field, problems->items[i].message));
    size_t n = json_array_size(got), m = json_array_size(want);
    for (size_t i = 0; i < n || i < m; i++) {
        const char *a = str_or_empty(json_string_value(json_array_get(got, i)));
        const char *b = str_or_empty(json_string_value(json_array_get(want, i)));
        if (!str_eq(a, b))
            fail_msg("problem %zu is\n%s, not\n%s", i, a, b);
    }
}

static void check_absent(const struct policy *p, const json_t *want)
{
    size_t i;
    json_t *path;
    json_array_foreach ((json_t *) want, i, path) {
        if (json_at(p->spec, json_string_value(path)))
            fail_msg("%s is there", json_string_value(path));
    }
}

static void check_pools(const struct policy *p, const json_t *want)
{
    size_t i;
    json_t *row;
    json_array_foreach ((json_t *) want, i, row) {
        size_t pool = policy_pool_of(p, selector_lookup_json, json_object_get(row, "labels"));
        assert_string_equal(p->pools[pool].name, json_str(row, "is"));
    }
}

static void check_pool_specs(const struct policy *p, const json_t *want)
{
    size_t i;
    json_t *row;
    json_array_foreach ((json_t *) want, i, row) {
        CLEANUP_JSON json_t *spec = policy_pool_spec(p, i);
        check_part(p->pools[i].name, spec, row);
        assert_null(json_object_get(spec, "pools"));
        assert_string_equal(policy_source_name(p->pools[i].source),
                            json_str(spec, "driver.source"));
    }
}

static void check_valid(const struct policy *p, const json_t *want)
{
    check_equal("the effective spec", p->spec, json_object_get(want, "whole"));
    check_part("spec", p->spec, json_object_get(want, "spec"));
    check_absent(p, json_object_get(want, "absent"));
    check_pools(p, json_object_get(want, "pools"));
    check_pool_specs(p, json_object_get(want, "poolSpecs"));
}

static void check_case(void **state)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(*state, NULL, &e);
    if (!documents)
        fail_msg("%s", err_msg(&e));
    const json_t *want = json_array_get(documents, 1);
    struct policy policy;
    struct policy_problems problems = { 0 };

    const char *settings = json_str(want, "settings"), *images = json_str(want, "images");
    const struct policy_limits limits = { images ? images : IMAGE_PREFIXES,
                                          settings ? settings : "*", json_str(want, "installDirs"),
                                          true, json_bool(want, "repairs", true) };
    int result = policy_decode(json_array_get(documents, 0), &limits, &policy, &problems);
    check_problems(&problems, json_object_get(want, "problems"));
    assert_int_equal(result, problems.len > 0 ? -1 : 0);
    if (result == 0)
        check_valid(&policy, want);
    policy_clear(&policy);
    policy_problems_clear(&problems);
}

static int is_case(const struct dirent *entry)
{
    return str_has_suffix(entry->d_name, ".yaml");
}

int main(void)
{
    struct suite s = { 0 };
    struct dirent **entries;
    int n = scandir(CASES, &entries, is_case, alphasort);
    char **paths = xcalloc(n > 0 ? (size_t) n : 1, sizeof *paths);
    for (int i = 0; i < n; i++) {
        paths[i] = xasprintf("%s/%s", CASES, entries[i]->d_name);
        suite_add(&s, paths[i], check_case, paths[i]);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    int failed = suite_run(&s, "policy cases");
    for (int i = 0; i < n; i++)
        free(paths[i]);
    free(paths);
    return n > 0 ? failed : 1;
}
