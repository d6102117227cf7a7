#include "sim/api/filter.h"

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* Selectors against one object of a kind. */
static const struct match_row {
    const char *name;
    const char *plural;
    const char *labels;
    const char *fields;
    const char *object;
    bool want;
} matches[] = {
    { "nothing selected matches everything", "nodes", "", "", "{}", true },
    { "a label that is so", "nodes", "a=b", "", "{'metadata': {'labels': {'a': 'b'}}}", true },
    { "two equal signs say the same", "nodes", "a==b", "", "{'metadata': {'labels': {'a': 'b'}}}",
      true },
    { "a label that is something else", "nodes", "a=b", "", "{'metadata': {'labels': {'a': 'c'}}}",
      false },
    { "a label that is absent", "nodes", "a=b", "", "{'metadata': {}}", false },
    { "not equal holds for an absent one", "nodes", "a!=b", "", "{'metadata': {}}", true },
    { "not equal", "nodes", "a!=b", "", "{'metadata': {'labels': {'a': 'b'}}}", false },
    { "an empty value", "nodes", "a=", "", "{'metadata': {'labels': {'a': ''}}}", true },
    { "there", "nodes", "a", "", "{'metadata': {'labels': {'a': ''}}}", true },
    { "absent", "nodes", "!a", "", "{'metadata': {'labels': {'a': ''}}}", false },
    { "one of several", "nodes", "a in (x, b)", "", "{'metadata': {'labels': {'a': 'b'}}}", true },
    { "none of several", "nodes", "a notin (x,b)", "", "{'metadata': {'labels': {'a': 'b'}}}",
      false },
    { "none of several holds for an absent one", "nodes", "a notin (x,b)", "", "{}", true },
    { "an empty set holds the empty value", "nodes", "a in ()", "",
      "{'metadata': {'labels': {'a': ''}}}", true },
    { "all must hold", "nodes", "a=b, ostler.dev/c in (d) ,!e", "",
      "{'metadata': {'labels': {'a': 'b', 'ostler.dev/c': 'd'}}}", true },
    { "one does not hold", "nodes", "a=b,c=d,!e", "",
      "{'metadata': {'labels': {'a': 'b', 'c': 'd', 'e': ''}}}", false },
    { "a key may be called in", "nodes", "in in (in)", "", "{'metadata': {'labels': {'in': 'in'}}}",
      true },
    { "a name", "nodes", "", "metadata.name=n", "{'metadata': {'name': 'n'}}", true },
    { "another name", "configmaps", "", "metadata.name==n", "{'metadata': {'name': 'm'}}", false },
    { "not this name", "configmaps", "", "metadata.name!=n", "{'metadata': {'name': 'm'}}", true },
    { "a pod's node", "pods", "", "spec.nodeName=gpu-1", "{'spec': {'nodeName': 'gpu-1'}}", true },
    { "a pod without a node", "pods", "", "spec.nodeName=", "{'spec': {}}", true },
    { "a pod's phase and node", "pods", "", "status.phase!=Failed,spec.nodeName=a",
      "{'spec': {'nodeName': 'a'}, 'status': {'phase': 'Failed'}}", false },
    { "a node that may take pods does not say so", "nodes", "", "spec.unschedulable=false",
      "{'spec': {}}", true },
    { "a node that may not", "nodes", "", "spec.unschedulable=true",
      "{'spec': {'unschedulable': true}}", true },
    { "a number", "jobs", "", "status.successful=2", "{'status': {'succeeded': 2}}", true },
    { "an event's object, in its new words", "events", "", "regarding.name=n",
      "{'involvedObject': {'name': 'n'}}", true },
    { "both", "pods", "a=b", "spec.nodeName=x",
      "{'metadata': {'labels': {'a': 'b'}}, 'spec': {'nodeName': 'y'}}", false },
};

static void check_match(void **state)
{
    const struct match_row *row = *state;
    CLEANUP_FILTER struct filter f = { 0 };
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (filter_compile(kind_named(row->plural), "", row->labels, row->fields, &f, &r) < 0)
        fail_msg("%s", r.message);
    json_t *object = tree(row->object);
    assert_int_equal(filter_matches(&f, object), row->want);
    assert_int_equal(filter_selects(&f), *row->labels || *row->fields);
    json_decref(object);
}

static const struct refusal_row {
    const char *name;
    const char *plural;
    const char *labels;
    const char *fields;
    const char *message;
} refusals[] = {
    { "a value that is none", "nodes", "a=b=c", "", "found '=', expected: ',' or 'end of string'" },
    { "in without a list", "nodes", "a in", "",
      "unable to parse requirement: found '' expected: '('" },
    { "a list without an end", "nodes", "a in (b", "",
      "unable to parse requirement: found '', expected: ',' or ')'" },
    { "not, and nothing else", "nodes", "!", "",
      "unable to parse requirement: found '', expected: identifier" },
    { "a comma, and nothing else", "nodes", ",", "",
      "found ',', expected: !, identifier, or 'end of string'" },
    { "a comma at the end", "nodes", "a,", "", "found '', expected: identifier after ','" },
    { "two words", "nodes", "a b", "",
      "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt" },
    { "a key that is none", "nodes", "-a", "",
      "unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of "
      "alphanumeric characters, '-', '_' or "
      "'.', and must start and end with an alphanumeric character" },
    { "a value that no label has", "nodes", "a=-b", "",
      "unable to parse requirement: values[0][a]: Invalid value: \"-b\": a valid label must be an "
      "empty string or consist of "
      "alphanumeric characters, '-', '_' or '.'" },
    { "a field of no kind", "pods", "", "a", "invalid selector: 'a'; can't understand 'a'" },
    { "a field that a pod is not selected by", "pods", "", "spec.foo=x",
      "field label not supported: spec.foo" },
    { "a field of a custom kind", "gpuclusterpolicies", "", "spec.x=1",
      "field label not supported: spec.x" },
    { "a field that a DaemonSet is not selected by", "daemonsets", "", "spec.nodeName=x",
      "\"spec.nodeName\" is not a known field selector: only \"metadata.name\", "
      "\"metadata.namespace\"" },
    { "an event's object in its old words", "events", "", "involvedObject.name=n",
      "field label not supported: involvedObject.name" },
};

static void check_refusal(void **state)
{
    const struct refusal_row *row = *state;
    CLEANUP_FILTER struct filter f = { 0 };
    CLEANUP_REFUSAL struct refusal r = { 0 };
    assert_int_equal(
        filter_compile(kind_named(row->plural), NULL, row->labels, row->fields, &f, &r), -1);
    assert_int_equal(r.code, 400);
    assert_string_equal(r.reason, "BadRequest");
    assert_string_equal(r.message, row->message);
}

static void check_namespace(void **state)
{
    (void) state;
    CLEANUP_FILTER struct filter f = { 0 };
    assert_int_equal(filter_compile(kind_named("pods"), "a", NULL, NULL, &f, NULL), 0);
    CLEANUP_JSON json_t *in = tree("{'metadata': {'namespace': 'a'}}");
    CLEANUP_JSON json_t *out = tree("{'metadata': {'namespace': 'ab'}}");
    assert_true(filter_matches(&f, in));
    assert_false(filter_matches(&f, out));
    assert_false(filter_matches(&f, NULL));
    assert_false(filter_selects(&f));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_match, matches);
    SUITE_ROWS(&s, check_refusal, refusals);
    suite_add(&s, "a namespace", check_namespace, NULL);
    return suite_run(&s, "sim_api/filter");
}
