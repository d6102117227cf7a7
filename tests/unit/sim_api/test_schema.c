/* Objects of custom kinds against the schemas of the definitions: what is left out, what is filled
 * in, what is refused in which words. The words are those of kube-apiserver 1.36. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/builtin.h"
#include "sim/api/cel.h"
#include "sim/api/custom_rules.h"
#include "sim/api/rules.h"
#include "tests/unit/support/causes.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static struct custom_schemas *schemas;

#define BLOCKED                                                                                    \
    "Invalid <nil>: Invalid value: null: some validation rules were not checked because the "      \
    "object was invalid; correct the "                                                             \
    "existing erro…\n"

/* ---- reading */

static const struct read_row {
    const char *name;
    const char *object;
    const char *want;   /* what is understood; NULL: it is refused */
    const char *strict; /* why a strict client is refused; NULL: it is not */
} reads[] = {
    { "fields that are known stay", "{'spec': {'nodes': {'taint': {'enabled': true}}}}",
      "{'metadata': {}, 'spec': {'nodes': {'taint': {'enabled': true}}}, 'status': "
      "{'observedGeneration': -1}}",
      NULL },
    { "unknown fields go", "{'spec': {'foo': 1, 'driver': {'x': {'y': 2}}}}",
      "{'metadata': {}, 'spec': {'driver': {}}, 'status': {'observedGeneration': -1}}",
      "strict decoding error: unknown field \"spec.driver.x\", unknown field \"spec.foo\"" },
    { "unknown fields of metadata go", "{'metadata': {'name': 'default', 'foo': 1}}",
      "{'metadata': {'name': 'default'}, 'status': {'observedGeneration': -1}}",
      "strict decoding error: unknown field \"metadata.foo\"" },
    { "unknown fields in items go",
      "{'spec': {'driver': {'env': [{'name': 'A', 'value': '1', 'zip': 2}]}}}",
      "{'metadata': {}, 'spec': {'driver': {'env': [{'name': 'A', 'value': '1'}]}}, 'status': "
      "{'observedGeneration': -1}}",
      "strict decoding error: unknown field \"spec.driver.env[0].zip\"" },
    { "null is nothing where the schema has none",
      "{'spec': {'driver': null, 'nodes': {'taint': {'enabled': null}}}}",
      "{'metadata': {}, 'spec': {'nodes': {'taint': {}}}, 'status': {'observedGeneration': -1}}",
      NULL },
    { "null is a value where the schema has it", "{'spec': {'rollout': {'topologyKey': null}}}",
      "{'metadata': {}, 'spec': {'rollout': {'topologyKey': null}}, 'status': "
      "{'observedGeneration': -1}}",
      NULL },
    { "keys of maps are free", "{'spec': {'nodes': {'labels': {'a': 'b', 'c/d': 'e'}}}}",
      "{'metadata': {}, 'spec': {'nodes': {'labels': {'a': 'b', 'c/d': 'e'}}}, 'status': "
      "{'observedGeneration': -1}}",
      NULL },
    { "what is of a wrong type is kept, to be refused later", "{'spec': [1]}",
      "{'metadata': {}, 'spec': [1], 'status': {'observedGeneration': -1}}", NULL },
    { "a number with nothing behind its point is an integer",
      "{'spec': {'rollout': {'maxParallel': 3.0, 'maxUnavailable': 1.5}}}",
      "{'metadata': {}, 'spec': {'rollout': {'maxParallel': 3, 'maxUnavailable': 1.5}}, 'status': "
      "{'observedGeneration': -1}}",
      NULL },
    { "a default is for what is not there", "{'status': {}}", "{'metadata': {}, 'status': {}}",
      NULL },
    { "labels are strings", "{'metadata': {'labels': {'a': 5}}}", NULL,
      "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string" },
    { "labels are a map", "{'metadata': {'labels': 5}}", NULL,
      "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type "
      "map[string]string" },
};

static void check_read(void **state)
{
    const struct read_row *row = *state;
    CLEANUP_JSON json_t *object = tree(row->object);
    CLEANUP_JSON json_t *untouched = json_deep_copy(object);
    CLEANUP_FREE char *why = NULL, *strict_why = NULL;
    CLEANUP_JSON json_t *read = rules_read(schemas, kind_named("gpuclusterpolicies"), NULL, object,
                                           false, NULL, &why);
    CLEANUP_JSON json_t *strict = rules_read(schemas, kind_named("gpuclusterpolicies"), NULL,
                                             object, true, NULL, &strict_why);
    assert_true(json_equal(object, untouched));
    if (row->want)
        assert_tree(read, row->want);
    else
        assert_string_equal(why, row->strict);
    assert_int_equal(strict != NULL, row->strict == NULL);
    assert_string_equal(str_or_empty(strict_why), str_or_empty(row->strict));
}

/* An unchanged part stays the same tree, so that the server does not check it again. */
static void check_sharing(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *object = tree("{'metadata': {'name': 'default'}, 'spec': {'nodes': "
                                       "{'labels': {'a': 'b'}}, 'driver': {'x': 1}}}");
    CLEANUP_FREE char *why = NULL;
    CLEANUP_JSON json_t *read = rules_read(schemas, kind_named("gpuclusterpolicies"), NULL, object,
                                           false, NULL, &why);
    assert_ptr_equal(json_at(read, "spec.nodes"), json_at(object, "spec.nodes"));
    assert_ptr_not_equal(json_at(read, "metadata"), json_at(object, "metadata"));
    CLEANUP_FREE char *again_why = NULL;
    CLEANUP_JSON json_t *again = rules_read(schemas, kind_named("gpuclusterpolicies"), read, read,
                                            false, NULL, &again_why);
    assert_ptr_equal(json_at(again, "spec"), json_at(read, "spec"));
}

/* ---- checking */

static const struct check_row {
    const char *name;
    const char *spec;
    const char *want; /* all causes; "" = none */
} checks[] = {
    { "nothing is asked for", "{}", "" },
    { "a list for an object", "[]",
      "TypeInvalid spec: Invalid value: \"array\": spec in body must be of type object: "
      "\"array\"\n" BLOCKED },
    { "types of members", "{'driver': {'precompiled': 'yes', 'version': 5}}",
      "TypeInvalid spec.driver.precompiled: Invalid value: \"string\": spec.driver.precompiled in "
      "body must be of type boolean: "
      "\"string\"\n"
      "TypeInvalid spec.driver.version: Invalid value: \"integer\": spec.driver.version in body "
      "must be of type string: "
      "\"integer\"\n" BLOCKED },
    { "words", "{'driver': {'source': 'Foo'}}",
      "NotSupported spec.driver.source: Unsupported value: \"Foo\": supported values: \"Auto\", "
      "\"Container\", \"COS\", "
      "\"Host\"\n" BLOCKED },
    { "too short", "{'driver': {'repository': ''}}",
      "Invalid spec.driver.repository: Invalid value: \"\": spec.driver.repository in body should "
      "be at least 1 chars long\n"
      "Invalid spec.driver.repository: Invalid value: \"\": must be a registry and path without "
      "scheme or tag, such as "
      "\"nvcr.io/nvidia\"\n" },
    { "a pattern does not keep rules from being checked",
      "{'nodes': {'selector': {'matchLabels': {'a b': 'c', 'd': '$'}}}}",
      "Invalid spec.nodes.selector.matchLabels.d: Invalid value: \"$\": "
      "spec.nodes.selector.matchLabels.d in body should match "
      "'^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z…\n"
      "Invalid spec.nodes.selector.matchLabels: Invalid value: every key must be a label key, such "
      "as \"team\" or "
      "\"example.com/team\"\n" },
    { "required, in items",
      "{'nodes': {'selector': {'matchExpressions': [{'operator': 'In', 'values': ['a']}, 5]}}}",
      "Required spec.nodes.selector.matchExpressions[0].key: Required value\n"
      "TypeInvalid spec.nodes.selector.matchExpressions[1]: Invalid value: \"integer\": "
      "spec.nodes.selector.matchExpressions[1] "
      "in body must be of type object: \"integer\"\n" BLOCKED },
    { "a rule over keys of a map",
      "{'nodes': {'labels': {'kubernetes.io/x': 'a', 'ostler.dev/x': 'b', "
      "'nvidia.com/gpu.present': 'c'}}}",
      "Invalid spec.nodes.labels: Invalid value: keys under kubernetes.io and k8s.io belong to "
      "Kubernetes and cannot be set "
      "here\n"
      "Invalid spec.nodes.labels: Invalid value: keys under ostler.dev belong to Ostler and cannot "
      "be set here\n"
      "Invalid spec.nodes.labels: Invalid value: nvidia.com/gpu.present and "
      "nvidia.com/gpu.deploy.operands say which nodes are "
      "served and cannot be set…\n" },
    { "durations", "{'nodes': {'startupTaint': {'timeout': '5s'}}}",
      "Invalid spec.nodes.startupTaint.timeout: Invalid value: \"5s\": must be a duration from 1m "
      "to 24h\n" },
    { "what is no duration", "{'nodes': {'startupTaint': {'timeout': 'abc'}}}",
      "Invalid spec.nodes.startupTaint.timeout: Invalid value: \"abc\": "
      "spec.nodes.startupTaint.timeout in body should match "
      "'^(0|([0-9]{1,6}(h|m|s|ms))+)$'\n"
      "Invalid spec.nodes.startupTaint.timeout: Invalid value: \"string\": type conversion error "
      "from 'string' to "
      "'google.protobuf.Duration' evaluating rule: must be a…\n" },
    { "a rule over several members",
      "{'driver': {'precompiled': true, 'version': "
      "'sha256:0000000000000000000000000000000000000000000000000000000000000000'}}",
      "Invalid spec.driver: Invalid value: a precompiled driver has one image for each kernel: "
      "version cannot be a digest\n" },
    { "a number or a percentage", "{'rollout': {'maxUnavailable': '0%', 'maxParallel': 0}}",
      "Invalid spec.rollout.maxUnavailable: Invalid value: \"0%\": spec.rollout.maxUnavailable in "
      "body should match "
      "'^([1-9][0-9]?|100)%$'\n"
      "Invalid spec.rollout.maxParallel: Invalid value: 0: spec.rollout.maxParallel in body should "
      "be greater than or equal to "
      "1\n" },
    { "neither number nor text", "{'rollout': {'maxUnavailable': true}}",
      "TypeInvalid spec.rollout.maxUnavailable: Invalid value: \"boolean\": "
      "spec.rollout.maxUnavailable in body must be of type "
      "integer,string: "
      "\"boolean\"\n"
      "Invalid <nil>: Invalid value: \"\": \"spec.rollout.maxUnavailable\" must validate at least "
      "one schema (anyOf)\n"
      "TypeInvalid spec.rollout.maxUnavailable: Invalid value: \"boolean\": "
      "spec.rollout.maxUnavailable in body must be of type "
      "integer: "
      "\"boolean\"\n" BLOCKED },
    { "duplicates in a list that is a map",
      "{'driver': {'env': [{'name': 'A', 'value': ''}, {'name': 'A', 'value': ''}]}}",
      "Duplicate spec.driver.env[1]: Duplicate value: {\"name\":\"A\"}\n" },
    { "null where it is a value", "{'rollout': {'topologyKey': null}}", "" },
    { "a NUL in what may be anything", "{'driver': {'args': ['a\\u0000b']}}", "" },
    { "a NUL where there is a pattern", "{'rollout': {'maxUnavailable': '25%\\u0000'}}",
      "Invalid spec.rollout.maxUnavailable: Invalid value: \"25%\\u0000\": "
      "spec.rollout.maxUnavailable in body should match "
      "'^([1-9][0-9]?|100)%$'\n" },
    { "a NUL where a rule has a pattern", "{'driver': {'version': '580\\u0000'}}",
      "Invalid spec.driver.version: Invalid value: \"580\\u0000\": must be the tag of an image, or "
      "sha256: and 64 hexadecimal "
      "digits\n" },
    { "a number beyond those that can be counted", "{'rollout': {'maxUnavailable': 1e300}}",
      "TypeInvalid spec.rollout.maxUnavailable: Invalid value: \"number\": "
      "spec.rollout.maxUnavailable in body must be of type "
      "integer,string: \"number\"\n"
      "Invalid <nil>: Invalid value: \"\": \"spec.rollout.maxUnavailable\" must validate at least "
      "one schema (anyOf)\n"
      "TypeInvalid spec.rollout.maxUnavailable: Invalid value: \"number\": "
      "spec.rollout.maxUnavailable in body must be of type "
      "integer: \"number\"\n"
      "Invalid <nil>: Invalid value: \"\": Checked value must be of type integer (default format) "
      "in "
      "spec.rollout.maxUnavailable\n" BLOCKED },
};

static void check_causes(const json_t *before, const json_t *object, const char *want)
{
    const struct kind *k = kind_named("gpuclusterpolicies");
    CLEANUP_FREE char *why = NULL;
    CLEANUP_JSON json_t *read = rules_read(schemas, k, before, object, false, NULL, &why);
    assert_non_null(read);
    CLEANUP_REFUSAL struct refusal r = { 0 };
    assert_int_equal(rules_validate(schemas, k, "", before, read, &r), *want ? -1 : 0);
    CLEANUP_FREE char *got = causes_text(&r);
    assert_string_equal(got, want);
    assert_int_equal(r.code, *want ? 422 : 0);
}

static void check_spec(void **state)
{
    const struct check_row *row = *state;
    CLEANUP_JSON json_t *object = tree("{'metadata': {'name': 'default'}}");
    json_object_set_new(object, "spec", tree(row->spec));
    check_causes(NULL, object, row->want);
}

static void check_name(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *object = tree("{'metadata': {'name': 'other'}, 'spec': {}}");
    check_causes(NULL, object,
                 "Invalid <nil>: Invalid value: metadata.name must be \"default\": a cluster has "
                 "one GpuClusterPolicy\n");
}

/* What was wrong already may stay. */
static void check_ratchet(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *before = tree(
        "{'metadata': {'name': 'default'}, 'spec': {'driver': {'source': 'Foo'}}}");
    CLEANUP_JSON json_t *after = json_copy(before);
    json_object_set_new(after, "status", tree("{'observedGeneration': 1}"));
    check_causes(before, after, "");
}

static void check_status(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *object = tree(
        "{'metadata': {'name': 'default'}, 'spec': {'exporter': {'imagePullSecrets': ['a', 'a']}}, "
        "'status': {"
        "'conditions': [{'type': 'Ready', 'status': 'True', 'reason': 'A', 'message': '', "
        "'lastTransitionTime': 'yesterday'}]}}");
    check_causes(
        NULL, object,
        "Duplicate spec.exporter.imagePullSecrets[1]: Duplicate value: \"a\"\n"
        "TypeInvalid status.conditions[0].lastTransitionTime: Invalid value: \"yesterday\": "
        "status.conditions[0].lastTransitionTime in body must be of type date-time: "
        "\"yesterday\"\n" BLOCKED);
}

/* ---- rules */

static const struct cel_row {
    const char *name;
    const char *rule;
    const char *self;
    const char *want; /* "true", "false", or the error */
} rules[] = {
    { "has", "has(self.a) && !has(self.b)", "{'a': 1}", "true" },
    { "a missing field is an error", "self.a == 1", "{}", "no such key: a" },
    { "or decides in spite of an error", "self.a == 1 || true", "{}", "true" },
    { "and does so, too", "self.a == 1 && false", "{}", "false" },
    { "one error and nothing that decides", "self.a == 1 && true", "{}", "no such key: a" },
    { "if", "self.a ? size(self.b) > 1 : false", "{'a': true, 'b': [1, 2]}", "true" },
    { "in a list", "self.a in ['x', 'y']", "{'a': 'y'}", "true" },
    { "in a map", "'k' in self", "{'k': null}", "true" },
    { "not in", "!('k' in self)", "{'k': null}", "false" },
    { "durations compare", "duration(self.d) <= duration('1m')", "{'d': '60s'}", "true" },
    { "matches looks anywhere", "self.a.matches('b+')", "{'a': 'abbc'}", "true" },
    { "matches looks behind a NUL", "self.a.matches('^a$') || self.a.matches('c')",
      "{'a': 'a\\u0000b'}", "false" },
    { "what is equal up to a NUL is not equal", "self.a == 'a' || self.a in ['a']",
      "{'a': 'a\\u0000'}", "false" },
    { "a duration has no NUL", "duration(self.a) == duration('1m')", "{'a': '1m\\u0000'}",
      "type conversion error from 'string' to 'google.protobuf.Duration'" },
    { "escapes", "self.a == 'it\\'s'", "{'a': \"it's\"}", "true" },
    { "all over keys", "self.all(k, k.startsWith('a'))", "{'ab': 1, 'ac': 2}", "true" },
    { "all over items", "self.l.all(i, i < 3)", "{'l': [1, 2, 3]}", "false" },
    { "numbers and texts do not compare", "self.a < 'x'", "{'a': 1}", "no such overload" },
    { "precedence", "true || false && false", "{}", "true" },
    { "brackets", "(true || false) && false", "{}", "false" },
};

static void check_rule(void **state)
{
    const struct cel_row *row = *state;
    CLEANUP_ERR struct err e = { 0 };
    struct cel *c = cel_compile(row->rule, &e);
    assert_string_equal(err_msg(&e), "");
    json_error_t error;
    CLEANUP_JSON json_t *self = str_eq(row->name, "escapes")
                                    ? json_loads("{\"a\": \"it's\"}", 0, &error)
                                    : tree(row->self);
    bool holds;
    int rc = cel_eval(c, self, &holds, &e);
    assert_string_equal(rc < 0 ? err_msg(&e) : holds ? "true" : "false", row->want);
    cel_free(c);
}

static const struct bad_row {
    const char *name;
    const char *rule;
    const char *want;
} bad_rules[] = {
    { "nothing", "", "column 1: expected a value" },
    { "half", "self.a ==", "column 10: expected a value" },
    { "no end of a string", "self == 'a", "column 11: a string without an end" },
    { "something behind it", "true true", "column 6: something follows the rule" },
    { "a function that is not known", "foo(self)", "column 5: a function that is not known" },
    { "a method that is not known", "self.contains('a')", "column 15: a method that is not known" },
    { "a broken pattern", "self.matches('(')", "column 18: a pattern that is not known" },
    { "an open bracket", "(self", "column 6: expected )" },
    { "has() of no field", "has(self)", "column 10: has() wants a field" },
};

static void check_bad_rule(void **state)
{
    const struct bad_row *row = *state;
    CLEANUP_ERR struct err e = { 0 };
    assert_null(cel_compile(row->rule, &e));
    assert_string_equal(err_msg(&e), row->want);
}

static void check_deep_rule(void **state)
{
    (void) state;
    CLEANUP_FREE char *rule = xcalloc(100001, 1);
    memset(rule, '(', 100000);
    CLEANUP_ERR struct err e = { 0 };
    assert_null(cel_compile(rule, &e));
    memset(rule, '!', 100000);
    assert_null(cel_compile(rule, &e));
}

/* Counts the rules below a schema; fails the test when one does not compile. */
static size_t count_rules(const json_t *schema)
{
    size_t count = 0, i;
    const char *key;
    json_t *member;
    json_array_foreach (json_object_get(schema, "x-kubernetes-validations"), i, member) {
        CLEANUP_ERR struct err e = { 0 };
        struct cel *c = cel_compile(json_str_or_empty(member, "rule"), &e);
        if (!c)
            fail_msg("%s: %s", json_str_or_empty(member, "rule"), err_msg(&e));
        cel_free(c);
        count++;
    }
    json_object_foreach ((json_t *) schema, key, member)
        count += count_rules(member);
    json_array_foreach ((json_t *) schema, i, member)
        count += count_rules(member);
    return count;
}

/* Every rule of the definition can be carried out. */
static void check_all_rules(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *definition = builtin_crd_of("gpuclusterpolicies");
    assert_non_null(definition);
    assert_true(count_rules(definition) > 50);
}

int main(void)
{
    schemas = custom_schemas_new();
    struct suite t = { 0 };
    SUITE_ROWS(&t, check_read, reads);
    suite_add(&t, "what stays the same is shared", check_sharing, NULL);
    SUITE_ROWS(&t, check_spec, checks);
    suite_add(&t, "a rule over the whole object", check_name, NULL);
    suite_add(&t, "what was wrong already may stay", check_ratchet, NULL);
    suite_add(&t, "the status is checked, too", check_status, NULL);
    SUITE_ROWS(&t, check_rule, rules);
    SUITE_ROWS(&t, check_bad_rule, bad_rules);
    suite_add(&t, "a rule that is very deep is refused", check_deep_rule, NULL);
    suite_add(&t, "every rule of the definition compiles", check_all_rules, NULL);
    int rc = suite_run(&t, "schema");
    custom_schemas_free(schemas);
    return rc;
}
