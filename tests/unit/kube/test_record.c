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

static void a_record_has_its_key_and_its_uid(void **state)
{
    struct thing_of_test {
        struct record head;
        char last;
    };
    (void) state;
    CLEANUP_JSON json_t *object = tree(
        "{'metadata': {'name': 'a', 'namespace': 'ns', 'uid': 'u'}}");
    struct thing_of_test *r = record_new(sizeof *r, object);
    r->last = 'x'; /* the key lies after it */
    assert_string_equal(r->head.key, "ns/a");
    assert_string_equal(r->head.uid, "u");
    assert_int_equal(r->head.rv, 0);
    record_free(r);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a key has the namespace, where there is one", key_has_the_namespace, NULL);
    suite_add(&s, "a record has its key and its uid", a_record_has_its_key_and_its_uid, NULL);
    suite_add(&s, "the namespace and the name of a key", parts_of_a_key, NULL);
    return suite_run(&s, "record");
}
