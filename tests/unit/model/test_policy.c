#include "reconcilers/model/policy.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* Whose spec is invalid has to be known: what was valid of another incarnation says nothing about
 * this one. */
static void check_invalid_keeps_identity(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *object = tree(
        "{'metadata':{'name':'default','uid':'u'},'spec':{'driver':1}}");
    struct policy p;
    struct policy_problems problems = { 0 };

    assert_int_equal(
        policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true }, &p,
                      &problems),
        -1);
    assert_string_equal(p.uid, "u");
    assert_null(p.spec);
    assert_null(p.pools);
    assert_int_equal(p.pools_len, 0);
    policy_clear(&p);
    policy_problems_clear(&problems);
}

static const struct hostile_case {
    const char *name;
    const char *object;
} hostile_cases[] = {
    { "null", "null" },
    { "a list", "[]" },
    { "a string", "'policy'" },
    { "metadata is a list", "{'metadata':[],'spec':{}}" },
    { "finalizers are a map", "{'metadata':{'name':'x','finalizers':{}}}" },
    { "annotations are a string", "{'metadata':{'name':'x','annotations':'a'}}" },
    { "spec is a string", "{'metadata':{'name':'default'},'spec':'x'}" },
    { "spec is true", "{'metadata':{'name':'default'},'spec':true}" },
    { "selector is a list", "{'metadata':{'name':'default'},'spec':{'nodes':{'selector':[]}}}" },
    { "pools hold null", "{'metadata':{'name':'default'},'spec':{'pools':[null]}}" },
};

static void check_hostile(void **state)
{
    const struct hostile_case *c = *state;
    CLEANUP_JSON json_t *object = tree(c->object);
    struct policy p;
    struct policy_problems problems = { 0 };

    assert_int_equal(
        policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true }, &p,
                      &problems),
        -1);
    assert_true(problems.len > 0);
    policy_clear(&p);
    policy_problems_clear(&problems);
}

/* ---- the typed members */

static void check_members(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *object = tree(
        "{'metadata':{'name':'default'},'spec':{'nodes':{'selector':{'matchLabels':{'team':'ml'}},"
        "'taint':{'value':'x'},'labels':{'a':'b'}},'driver':{'source':'Container'},"
        "'pools':[{'name':'old','nodeSelector':{'gpu':'k80'},'nodeLabels':{'age':'old'}}]}}");
    CLEANUP_JSON json_t *ours = tree("{'team':'ml'}");
    CLEANUP_JSON json_t *theirs = tree("{'team':'web'}");
    struct policy p;
    struct policy_problems problems = { 0 };

    assert_int_equal(
        policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true }, &p,
                      &problems),
        0);
    assert_true(selector_matches(&p.nodes, selector_lookup_json, ours));
    assert_false(selector_matches(&p.nodes, selector_lookup_json, theirs));
    assert_tree(p.node_labels, "{'a':'b'}");
    assert_int_equal(p.pools_len, 2);
    assert_string_equal(p.pools[0].name, "old");
    assert_int_equal(p.pools[0].source, POLICY_SOURCE_CONTAINER);
    assert_true(p.pools[0].taint.enabled);
    assert_string_equal(p.pools[0].taint.key, "nvidia.com/gpu");
    assert_string_equal(p.pools[0].taint.value, "x");
    assert_string_equal(p.pools[0].taint.effect, "NoSchedule");
    assert_tree(p.pools[0].node_labels, "{'age':'old'}");
    assert_string_equal(p.pools[1].name, POLICY_POOL_DEFAULT);
    assert_null(p.pools[1].node_labels);
    policy_clear(&p);
}

/* ---- problems */

static void check_many_problems(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *object = tree("{'metadata':{'name':'default'},'spec':{}}");
    json_t *spec = json_object_get(object, "spec");
    for (int i = 0; i < POLICY_PROBLEMS_MAX + 3; i++) {
        CLEANUP_FREE char *key = xasprintf("unknown%d", i);
        json_object_set_new(spec, key, json_null());
    }
    struct policy p;
    struct policy_problems problems = { 0 };

    assert_int_equal(
        policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true }, &p,
                      &problems),
        -1);
    assert_int_equal(problems.len, POLICY_PROBLEMS_MAX);
    assert_int_equal(problems.omitted, 3);
    CLEANUP_FREE char *text = policy_problems_text(&problems);
    assert_true(str_has_prefix(
        text, "spec.unknown0: is not a field that this version of Ostler knows; spec.unknown1: "));
    assert_true(str_has_suffix(text, "; and 3 more"));
    policy_clear(&p);
    policy_problems_clear(&problems);
}

static void check_bounded_problem(void **state)
{
    (void) state;
    char huge[100001];
    memset(huge, 'x', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    CLEANUP_JSON json_t *object = tree("{'metadata':{'name':'default'},'spec':{'driver':{}}}");
    json_object_set_new(json_at(object, "spec"), huge, json_true());
    json_object_set_new(json_at(object, "spec.driver"), "version", json_string(huge));
    json_object_set_new(json_at(object, "spec.driver"), "image", json_string("a\x1b[31mb\n"));
    struct policy p;
    struct policy_problems problems = { 0 };

    assert_int_equal(
        policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true }, &p,
                      &problems),
        -1);
    assert_int_equal(problems.len, 3);
    for (size_t i = 0; i < problems.len; i++) {
        assert_in_range(strlen(problems.items[i].field), 1, 512);
        assert_in_range(strlen(problems.items[i].message), 1, 512);
    }
    /* Nothing reaches a terminal but text. */
    assert_non_null(strstr(problems.items[0].message, "not \"a?[31mb?\""));
    policy_clear(&p);
    policy_problems_clear(&problems);
}

/* Nothing is used up to the NUL. */
static void check_nul(void **state)
{
    (void) state;
    static const char *const fields[] = { "spec.nodes.selector.matchExpressions[0].values[0]",
                                          "spec.nodes.labels[a]",
                                          "spec.driver.source",
                                          "spec.driver.version",
                                          "spec.driver.env[0].value",
                                          "spec.driver.args[0]",
                                          "spec.rollout.maxUnavailable" };
    CLEANUP_JSON json_t *object = tree(
        "{'metadata':{'name':'default'},'spec':{'nodes':{'labels':{'a':'b\\u0000'},'selector':{'"
        "matchExpressions':[{'key':'a',"
        "'operator':'In',"
        "'values':['b\\u0000c']}]}},'driver':{'source':'Host\\u0000','version':'580\\u0000','args':"
        "['--a\\u0000'],"
        "'env':[{'name':'A','value':'\\u0000'}]},'rollout':{'maxUnavailable':'25%\\u0000'}}}");
    struct policy p;
    struct policy_problems problems = { 0 };

    assert_int_equal(
        policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true }, &p,
                      &problems),
        -1);
    for (size_t i = 0; i < problems.len && i < ARRAY_LEN(fields); i++) {
        assert_string_equal(problems.items[i].field, fields[i]);
        assert_string_equal(problems.items[i].message, "must not contain a NUL character");
    }
    assert_int_equal(problems.len, ARRAY_LEN(fields));
    policy_clear(&p);
    policy_problems_clear(&problems);
}

static void check_long_list(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *object = tree(
        "{'metadata':{'name':'default'},'spec':{'driver':{'args':[]}}}");
    json_t *args = json_at(object, "spec.driver.args");
    for (int i = 0; i < 100000; i++)
        json_array_append_new(args, json_true());
    struct policy p;
    struct policy_problems problems = { 0 };

    assert_int_equal(
        policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true }, &p,
                      &problems),
        -1);
    assert_int_equal(problems.len, 1);
    assert_string_equal(problems.items[0].field, "spec.driver.args");
    assert_string_equal(problems.items[0].message, "must have at most 32 items, not 100000");
    policy_clear(&p);
    policy_problems_clear(&problems);
}

/* ---- images */

static const struct image_case {
    const char *name;
    const char *driver;
    const char *known_image, *known_version;
    const char *want_image, *want_version;
} image_cases[] = {
    { "nothing set, nothing known: built in", "{}", NULL, NULL, "nvcr.io/nvidia/driver",
      "580.178.04" },
    { "nothing set: known good", "{}", "mirror/x/driver", "570.1", "mirror/x/driver", "570.1" },
    { "version set", "{'version':'590.1'}", "mirror/x/driver", "570.1", "mirror/x/driver",
      "590.1" },
    { "repository set", "{'repository':'r.local'}", "mirror/x/driver2", "570.1", "r.local/driver2",
      "570.1" },
    { "name set", "{'image':'k8s/drv'}", "mirror/x/driver", "570.1", "mirror/x/k8s/drv", "570.1" },
    { "all set", "{'repository':'r','image':'i','version':'v'}", "m/d", "1", "r/i", "v" },
    { "known good has no path", "{}", "driver", "1", "nvcr.io/nvidia/driver", "1" },
};

static void check_image(void **state)
{
    const struct image_case *c = *state;
    CLEANUP_JSON json_t *spec = json_object();
    json_object_set_new(spec, "driver", tree(c->driver));
    struct policy_image image;

    policy_image_resolve(spec, OPERAND_DRIVER, c->known_image, c->known_version, &image);
    assert_string_equal(image.image, c->want_image);
    assert_string_equal(image.version, c->want_version);
    policy_image_clear(&image);
}

static const struct prefix_case {
    const char *name;
    const char *image, *prefixes;
    bool want;
} prefix_cases[] = {
    { "under the prefix", "nvcr.io/nvidia/driver", "nvcr.io/nvidia", true },
    { "the prefix ends in a slash", "nvcr.io/nvidia/driver", "nvcr.io/nvidia/", true },
    { "a longer name is not under it", "nvcr.io/nvidia2/driver", "nvcr.io/nvidia", false },
    { "the second prefix", "a.io/b/c", "nvcr.io/nvidia,a.io/b", true },
    { "spaces after commas", "a.io/b/c", "nvcr.io/nvidia, a.io/b", true },
    { "a whole registry", "a.io/b/c", "a.io", true },
    { "a port belongs to the registry", "a.io:5000/b", "a.io", false },
    { "no prefix allows nothing", "a.io/b", "", false },
    { "empty items allow nothing", "a.io/b", ",,/,", false },
    { "the image itself", "a.io/b", "a.io/b", true },
    { "the built-in prefixes", "nvcr.io/nvidia/k8s/dcgm-exporter", POLICY_IMAGE_PREFIXES, true },
};

static void check_prefix(void **state)
{
    const struct prefix_case *c = *state;
    assert_int_equal(policy_image_allowed(c->image, c->prefixes), c->want);
}

static const struct allowed_case {
    const char *name;
    const char *spec;
    const char *want; /* fields that are refused */
} allowed_cases[] = {
    { "what is built in is not asked for", "{}", "" },
    { "an allowed repository", "{'driver':{'repository':'nvcr.io/nvidia/x'}}", "" },
    { "a repository that is not", "{'driver':{'repository':'evil.io'}}",
      "spec.driver.repository " },
    { "an image's name stays under the built-in repository", "{'toolkit':{'image':'x'}}", "" },
    { "of every operand",
      "{'driver':{'repository':'e'},'toolkit':{'repository':'e'},'devicePlugin':{'repository':'e'},"
      "'exporter':{'repository':'e'},'validation':{'repository':'e'}}",
      "spec.driver.repository spec.toolkit.repository spec.devicePlugin.repository "
      "spec.exporter.repository "
      "spec.validation.repository " },
    { "of a pool",
      "{'pools':[{'name':'a','nodeSelector':{'a':'b'},'driver':{'version':'1'}},"
      "{'name':'b','nodeSelector':{'a':'c'},'driver':{'repository':'evil.io'}}]}",
      "spec.pools[1].driver.repository " },
    { "of a pool, its name under a refused repository",
      "{'driver':{'repository':'evil.io'},"
      "'pools':[{'name':'a','nodeSelector':{'a':'b'},'driver':{'image':'x'}}]}",
      "spec.driver.repository spec.pools[0].driver.image " },
};

static void check_allowed(void **state)
{
    const struct allowed_case *c = *state;
    CLEANUP_JSON json_t *object = tree("{'metadata':{'name':'default'}}");
    json_object_set_new(object, "spec", tree(c->spec));
    struct policy p;
    struct policy_problems problems = { 0 };

    const struct policy_limits limits = { POLICY_IMAGE_PREFIXES, "*", NULL, true, true };
    assert_int_equal(policy_decode(object, &limits, &p, &problems), *c->want ? -1 : 0);
    char fields[512] = "";
    for (size_t i = 0; i < problems.len; i++) {
        size_t n = strlen(fields);
        snprintf(fields + n, sizeof fields - n, "%s ", problems.items[i].field);
    }
    assert_string_equal(fields, c->want);
    policy_clear(&p);
    policy_problems_clear(&problems);
}

static void check_builtin_allowed(void **state)
{
    (void) state;
    for (const struct operand_row *o = operand_rows; o->section; o++) {
        struct policy_image image;
        if (!o->image.image)
            continue;
        policy_image_resolve(NULL, o->id, NULL, NULL, &image);
        assert_true(policy_image_allowed(image.image, POLICY_IMAGE_PREFIXES));
        assert_string_equal(image.version, o->image.version);
        policy_image_clear(&image);
    }
}

/* Before these a container's image could leave its container by the toolkit: 1.16.2 (CVE-2024-0132,
 * CVE-2024-0133), 1.17.8 (CVE-2025-23266, CVE-2025-23267), 1.19.1 (CVE-2026-24260). */
static void check_builtin_toolkit(void **state)
{
    (void) state;
    int major = 0, minor = 0, patch = 0;
    assert_int_equal(
        sscanf(operand_get(OPERAND_TOOLKIT)->image.version, "v%d.%d.%d", &major, &minor, &patch),
        3);
    assert_true(major * 10000 + minor * 100 + patch >= 11901);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_hostile, hostile_cases);
    suite_add(&s, "an invalid policy keeps its identity", check_invalid_keeps_identity, NULL);
    suite_add(&s, "typed members", check_members, NULL);
    suite_add(&s, "problems beyond the limit are counted", check_many_problems, NULL);
    suite_add(&s, "a problem is bounded and has no control characters", check_bounded_problem,
              NULL);
    suite_add(&s, "a text with a NUL is a problem of its field", check_nul, NULL);
    suite_add(&s, "a list that is too long is one problem", check_long_list, NULL);
    SUITE_ROWS(&s, check_image, image_cases);
    SUITE_ROWS(&s, check_prefix, prefix_cases);
    SUITE_ROWS(&s, check_allowed, allowed_cases);
    suite_add(&s, "what is built in is allowed by default", check_builtin_allowed, NULL);
    suite_add(&s, "the built-in toolkit has no known way out of a container", check_builtin_toolkit,
              NULL);
    return suite_run(&s, "policy");
}
