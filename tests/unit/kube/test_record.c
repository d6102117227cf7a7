#include "kube/record.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static void key_has_the_namespace(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *in_one = tree("{'metadata': {'name': 'a', 'namespace': 'ns'}}");
    CLEANUP_JSON json_t *in_none = tree("{'metadata': {'name': 'a'}}");
    CLEANUP_FREE char *with = record_key(in_one);
    CLEANUP_FREE char *without = record_key(in_none);
    assert_string_equal(with, "ns/a");
    assert_string_equal(without, "a");
}

static void parts_of_a_key(void **state)
{
    (void) state;
    const char *name;
    CLEANUP_FREE char *ns = record_namespace("ns/a", &name);
    assert_string_equal(ns, "ns");
    assert_string_equal(name, "a");
    assert_string_equal(record_name("ns/a"), "a");
    assert_string_equal(record_name("a"), "a");
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a key has the namespace, where there is one", key_has_the_namespace, NULL);
    suite_add(&s, "the namespace and the name of a key", parts_of_a_key, NULL);
    return suite_run(&s, "record");
}
