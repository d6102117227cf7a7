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
    assert_string_equal(RECORD_UID(&r->head), "u");
    assert_int_equal(r->head.rv, 0);
    record_free(r);
}

static struct record *record_with(const char *uid)
{
    CLEANUP_JSON json_t *object = json_pack("{s:{s:s, s:s}}", "metadata", "name", "a", "uid", uid);
    return record_new(sizeof(struct record), object);
}

#define UUID "8b023758-89ea-4e19-be7a-c1994fc9b54f"

static void a_uid_stays_as_it_is(void **state)
{
    static const char *const uids[] = {
        UUID,
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        /* no UUID as API servers write it */
        "00000000-0000-0000-0000-000000000000",
        "8B023758-89EA-4E19-BE7A-C1994FC9B54F",
        "8b023758-89ea-4e19-be7a-c1994fc9b54",
        "8b023758-89ea-4e19-be7a-c1994fc9b54f0",
        "8b023758x89ea-4e19-be7a-c1994fc9b54f",
        /* other texts */
        "",
        "u",
        "fifteen-letters",
        "sixteen-letters-",
        "caf\303\251s and sugar",
    };
    (void) state;
    for (size_t i = 0; i < ARRAY_LEN(uids); i++) {
        struct record *r = record_with(uids[i]), *copy = record_copy(r, sizeof *r);
        assert_string_equal(RECORD_UID(r), uids[i]);
        assert_string_equal(RECORD_UID(copy), uids[i]);
        assert_true(record_same_uid(r, copy));
        for (size_t j = 0; j < ARRAY_LEN(uids); j++) {
            struct record *other = record_with(uids[j]);
            assert_int_equal(record_same_uid(r, other), i == j);
            record_free(other);
        }
        record_free(copy);
        record_free(r);
    }
}

static void a_uid_that_is_too_long_is_cut(void **state)
{
    (void) state;
    struct record *r = record_with(UUID UUID);
    CLEANUP_FREE char *cut = xstrndup(UUID UUID, RECORD_UID_MAX - 1);
    assert_string_equal(RECORD_UID(r), cut);
    record_free(r);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a key has the namespace, where there is one", key_has_the_namespace, NULL);
    suite_add(&s, "a record has its key and its uid", a_record_has_its_key_and_its_uid, NULL);
    suite_add(&s, "a uid stays as it is", a_uid_stays_as_it_is, NULL);
    suite_add(&s, "a uid that is too long is cut", a_uid_that_is_too_long_is_cut, NULL);
    suite_add(&s, "the namespace and the name of a key", parts_of_a_key, NULL);
    return suite_run(&s, "record");
}
