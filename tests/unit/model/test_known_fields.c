/* What of a status is sent to an API server whose definition is older: server-side apply refuses
 * any other field. */
#include "reconcilers/model/prerequisites.h"

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const struct row {
    const char *name;
    const char *schema; /* NULL: nothing is known of the definition */
    const char *value, *known;
} rows[] = {
    { "a field that it has stays, another goes", "{'properties':{'a':{'type':'string'}}}",
      "{'a':'1','b':'2'}", "{'a':'1'}" },
    { "fields of an object in it", "{'properties':{'a':{'properties':{'b':{'type':'string'}}}}}",
      "{'a':{'b':'1','c':'2'}}", "{'a':{'b':'1'}}" },
    { "fields of what a list holds",
      "{'properties':{'a':{'items':{'properties':{'b':{'type':'string'}}}}}}",
      "{'a':[{'b':'1','c':'2'},{'c':'3'}]}", "{'a':[{'b':'1'},{}]}" },
    { "texts in a list", "{'properties':{'a':{'items':{'type':'string'}}}}", "{'a':['1','2']}",
      "{'a':['1','2']}" },
    { "keys of a map, and fields of what it holds",
      "{'properties':{'a':{'additionalProperties':{'properties':{'b':{'type':'string'}}}}}}",
      "{'a':{'x':{'b':'1','c':'2'}}}", "{'a':{'x':{'b':'1'}}}" },
    { "keys of a map of anything", "{'properties':{'a':{'additionalProperties':true}}}",
      "{'a':{'x':{'c':'2'}}}", "{'a':{'x':{'c':'2'}}}" },
    { "what it keeps whatever it is",
      "{'properties':{'a':{'x-kubernetes-preserve-unknown-fields':true}}}", "{'a':{'x':'1'}}",
      "{'a':{'x':'1'}}" },
    { "an object of which it names no field", "{'properties':{'a':{'type':'object'}}}",
      "{'a':{'x':'1'}}", "{'a':{}}" },
    { "no schema", NULL, "{'a':{'x':'1'}}", "{'a':{'x':'1'}}" },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_JSON json_t *schema = row->schema ? tree(row->schema) : NULL;
    CLEANUP_JSON json_t *value = tree(row->value), *as_it_was = tree(row->value);
    CLEANUP_JSON json_t *known = known_fields(schema, value);
    assert_tree(known, row->known);
    assert_true(json_equal(value, as_it_was));
}

static void check_definition(void **state)
{
    (void) state;
    CLEANUP_JSON json_t
        *crd = tree(
            "{'spec':{'versions':[{'schema':{'openAPIV3Schema':{'properties':{'spec':{'a':1},"
            "'status':{'b':2}}}}}]}}"),
        *unread = tree("{'metadata':{}}");
    assert_tree(known_fields_of(crd), "{'b':2}");
    assert_null(known_fields_of(unread));
    assert_null(known_fields_of(NULL));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "the schema of a definition's status", check_definition, NULL);
    return suite_run(&s, "known fields");
}
