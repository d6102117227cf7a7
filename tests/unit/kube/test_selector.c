#include "kube/selector.h"

#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const struct match_case {
    const char *name;
    const char *selector;
    const char *labels;
    bool want;
} matches[] = {
    { "an empty selector matches everything", "{}", "{'a':'1'}", true },
    { "an empty selector matches an object without labels", "{}", "{}", true },
    { "null matches everything", "null", "{'a':'1'}", true },
    { "a label with its value", "{'matchLabels':{'a':'1'}}", "{'a':'1','b':'2'}", true },
    { "a label with another value", "{'matchLabels':{'a':'1'}}", "{'a':'2'}", false },
    { "a label that is absent", "{'matchLabels':{'a':'1'}}", "{'b':'1'}", false },
    { "an empty value is a value", "{'matchLabels':{'a':''}}", "{'a':''}", true },
    { "an empty value is not absence", "{'matchLabels':{'a':''}}", "{}", false },
    { "all labels must match", "{'matchLabels':{'a':'1','b':'2'}}", "{'a':'1'}", false },
    { "In: one of the values",
      "{'matchExpressions':[{'key':'a','operator':'In','values':['1','2']}]}", "{'a':'2'}", true },
    { "In: none of the values",
      "{'matchExpressions':[{'key':'a','operator':'In','values':['1','2']}]}", "{'a':'3'}", false },
    { "In: absent", "{'matchExpressions':[{'key':'a','operator':'In','values':['1']}]}", "{}",
      false },
    { "NotIn: one of the values",
      "{'matchExpressions':[{'key':'a','operator':'NotIn','values':['1']}]}", "{'a':'1'}", false },
    { "NotIn: another value",
      "{'matchExpressions':[{'key':'a','operator':'NotIn','values':['1']}]}", "{'a':'2'}", true },
    { "NotIn: absent", "{'matchExpressions':[{'key':'a','operator':'NotIn','values':['1']}]}", "{}",
      true },
    { "Exists: there", "{'matchExpressions':[{'key':'a','operator':'Exists'}]}", "{'a':''}", true },
    { "Exists: absent", "{'matchExpressions':[{'key':'a','operator':'Exists','values':[]}]}", "{}",
      false },
    { "DoesNotExist: there", "{'matchExpressions':[{'key':'a','operator':'DoesNotExist'}]}",
      "{'a':'1'}", false },
    { "DoesNotExist: absent", "{'matchExpressions':[{'key':'a','operator':'DoesNotExist'}]}", "{}",
      true },
    { "labels and expressions must both hold",
      "{'matchLabels':{'a':'1'},'matchExpressions':[{'key':'b','operator':'Exists'}]}", "{'a':'1'}",
      false },
    { "a key with dots and a slash", "{'matchLabels':{'nvidia.com/gpu.present':'true'}}",
      "{'nvidia.com/gpu.present':'true'}", true },
};

static void check_match(void **state)
{
    const struct match_case *c = *state;
    CLEANUP_JSON json_t *selector = tree(c->selector);
    CLEANUP_JSON json_t *labels = tree(c->labels);
    CLEANUP_ERR struct err e = { 0 };
    struct selector s;

    if (selector_compile(selector, &s, &e) < 0)
        fail_msg("%s", err_msg(&e));
    assert_int_equal(selector_matches(&s, selector_lookup_json, labels), c->want);
    selector_clear(&s);
}

static const struct bad_case {
    const char *name;
    const char *selector;
    const char *want;
} bad[] = {
    { "not an object", "[]", "not a label selector" },
    { "a string", "'a=b'", "not a label selector" },
    { "matchLabels is a list", "{'matchLabels':[]}", "matchLabels: not a map" },
    { "matchExpressions is a map", "{'matchExpressions':{}}", "matchExpressions: not a list" },
    { "a label's value is a number", "{'matchLabels':{'a':1}}",
      "matchLabels: a: the value is not a string" },
    { "no key", "{'matchExpressions':[{'operator':'Exists'}]}",
      "matchExpressions[0]: key: missing" },
    { "an expression is a string", "{'matchExpressions':['a']}",
      "matchExpressions[0]: key: missing" },
    { "no operator", "{'matchExpressions':[{'key':'a'}]}",
      "matchExpressions[0]: operator: must be In, NotIn, Exists or DoesNotExist" },
    { "an unknown operator",
      "{'matchExpressions':[{'key':'a','operator':'Exists'},{'key':'a','operator':'Gt'}]}",
      "matchExpressions[1]: operator: must be In, NotIn, Exists or DoesNotExist" },
    { "In without values", "{'matchExpressions':[{'key':'a','operator':'In'}]}",
      "matchExpressions[0]: values: In takes at least one" },
    { "Exists with values", "{'matchExpressions':[{'key':'a','operator':'Exists','values':['1']}]}",
      "matchExpressions[0]: values: Exists takes none" },
    { "values are a string", "{'matchExpressions':[{'key':'a','operator':'In','values':'1'}]}",
      "matchExpressions[0]: values: not a list" },
    { "a value is a number", "{'matchExpressions':[{'key':'a','operator':'In','values':['1',2]}]}",
      "matchExpressions[0]: values[1]: not a string" },
};

static void check_bad(void **state)
{
    const struct bad_case *c = *state;
    CLEANUP_JSON json_t *selector = tree(c->selector);
    CLEANUP_ERR struct err e = { 0 };
    struct selector s;

    assert_int_equal(selector_compile(selector, &s, &e), -1);
    assert_int_equal(e.kind, ERR_INVALID);
    assert_string_equal(err_msg(&e), c->want);
}

static void check_limits(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *labels = json_object();
    CLEANUP_JSON json_t *values = json_array();
    CLEANUP_ERR struct err e = { 0 };
    struct selector s;

    for (int i = 0; i < SELECTOR_MAX_REQUIREMENTS; i++) {
        CLEANUP_FREE char *key = xasprintf("k%d", i);
        json_object_set_new(labels, key, json_string("v"));
    }
    assert_int_equal(selector_compile_labels(labels, &s, &e), 0);
    assert_true(selector_matches(&s, selector_lookup_json, labels));
    selector_clear(&s);
    json_object_set_new(labels, "one more", json_string("v"));
    assert_int_equal(selector_compile_labels(labels, &s, &e), -1);

    for (int i = 0; i <= SELECTOR_MAX_VALUES; i++)
        json_array_append_new(values, json_string("v"));
    CLEANUP_JSON json_t *selector = json_pack("{s:[{s:s,s:s,s:O}]}", "matchExpressions", "key", "a",
                                              "operator", "In", "values", values);
    assert_int_equal(selector_compile(selector, &s, &e), -1);
}

static void check_node_selector(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *labels = tree("{'gpu':'a100','zone':'b'}");
    CLEANUP_JSON json_t *list = tree("['gpu']");
    CLEANUP_ERR struct err e = { 0 };
    struct selector_label items[] = { { "zone", "b" }, { "gpu", "a100" }, { "x", "y" } };
    struct selector_labels all = { items, 3 }, first = { items, 1 };
    struct selector s;

    assert_int_equal(selector_compile_labels(labels, &s, &e), 0);
    assert_false(selector_is_empty(&s));
    assert_true(selector_matches(&s, selector_lookup_list, &all));
    assert_false(selector_matches(&s, selector_lookup_list, &first));
    selector_clear(&s);

    assert_int_equal(selector_compile_labels(NULL, &s, &e), 0);
    assert_true(selector_is_empty(&s));
    assert_int_equal(selector_compile_labels(list, &s, &e), -1);
}

static void check_asks(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *text = tree("{'matchLabels': {'a': 'x'}, 'matchExpressions': [{'key': "
                                     "'b', 'operator': 'DoesNotExist'}]}");
    CLEANUP_JSON json_t *part = tree("{'matchLabels': {'a': 'y'}}");
    CLEANUP(selector_clear) struct selector both = { 0 }, one = { 0 }, none = { 0 };
    assert_int_equal(selector_compile(text, &both, NULL), 0);
    assert_int_equal(selector_compile(part, &one, NULL), 0);
    assert_true(selector_asks(&both, "a"));
    assert_true(selector_asks(&both, "b"));
    assert_false(selector_asks(&both, "x"));
    assert_false(selector_asks(&none, "a"));
    assert_true(selector_asks_no_more(&one, &both));
    assert_true(selector_asks_no_more(&none, &one));
    assert_false(selector_asks_no_more(&both, &one));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_match, matches);
    SUITE_ROWS(&s, check_bad, bad);
    suite_add(&s, "limits of requirements and values", check_limits, NULL);
    suite_add(&s, "a node selector is a map of labels", check_node_selector, NULL);
    suite_add(&s, "the labels that a selector asks for", check_asks, NULL);
    return suite_run(&s, "selector");
}
