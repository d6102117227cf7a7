#include "sim/api/prepare.h"

#include "base/json.h"
#include "base/str.h"
#include "sim/api/draft.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define PLACE "/var/run/secrets/kubernetes.io/serviceaccount"

static const struct volume_row {
    const char *name;
    const char *spec;
    size_t volumes;                   /* how many there are then */
    size_t first_mounts, main_mounts; /* of the first container of each list */
} rows[] = {
    { "all containers get it", "{'initContainers': [{'name': 'i'}], 'containers': [{'name': 'a'}]}",
      1, 1, 1 },
    { "it comes behind what is there",
      "{'containers': [{'name': 'a', 'volumeMounts': [{'name': 'v', 'mountPath': '/v'}]}], "
      "'volumes': [{'name': 'v'}]}",
      2, 0, 2 },
    { "a pod that wants none",
      "{'automountServiceAccountToken': false, 'containers': [{'name': 'a'}]}", 0, 0, 0 },
    { "a pod that says that it wants one",
      "{'automountServiceAccountToken': true, 'containers': [{'name': 'a'}]}", 1, 0, 1 },
    { "something is mounted there",
      "{'containers': [{'name': 'a', 'volumeMounts': [{'name': 'v', 'mountPath': '" PLACE "'}]}]}",
      0, 0, 1 },
    { "something is mounted there in one of them",
      "{'initContainers': [{'name': 'i', 'volumeMounts': [{'name': 'v', 'mountPath': '" PLACE
      "'}]}], 'containers': [{'name': "
      "'a'}]}",
      1, 1, 1 },
};

static void check_row(void **state)
{
    const struct volume_row *row = *state;
    CLEANUP_JSON json_t *spec = tree(row->spec);
    CLEANUP_JSON json_t *untouched = json_deep_copy(spec);
    struct draft d = draft_of(spec);
    token_volume_add(&d, "pod");
    CLEANUP_JSON json_t *result = draft_end(&d);
    assert_true(json_equal(spec, untouched)); /* objects of the store are shared */
    assert_int_equal(json_array_size(json_object_get(result, "volumes")), row->volumes);
    const json_t *first = json_array_get(json_object_get(result, "initContainers"), 0),
                 *main = json_array_get(json_object_get(result, "containers"), 0);
    assert_int_equal(json_array_size(json_object_get(first, "volumeMounts")), row->first_mounts);
    assert_int_equal(json_array_size(json_object_get(main, "volumeMounts")), row->main_mounts);
}

static void check_names(void **state)
{
    (void) state;
    static const char *const salts[] = { "a", "a", "b" };
    CLEANUP_JSON json_t *names = json_array();
    for (size_t i = 0; i < ARRAY_LEN(salts); i++) {
        CLEANUP_JSON json_t *spec = tree("{'containers': [{'name': 'a'}]}");
        struct draft d = draft_of(spec);
        token_volume_add(&d, salts[i]);
        CLEANUP_JSON json_t *result = draft_end(&d);
        const json_t *volume = json_array_get(json_object_get(result, "volumes"), 0);
        const json_t *container = json_array_get(json_object_get(result, "containers"), 0);
        const json_t *mount = json_array_get(json_object_get(container, "volumeMounts"), 0);
        assert_string_equal(json_key(mount, "name"), json_key(volume, "name"));
        json_array_append(names, json_object_get(volume, "name"));
    }
    assert_true(json_equal(json_array_get(names, 0), json_array_get(names, 1)));
    assert_false(json_equal(json_array_get(names, 0), json_array_get(names, 2)));
}

int main(void)
{
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        suite_add(&s, rows[i].name, check_row, &rows[i]);
    suite_add(&s, "the name follows from the pod's", check_names, NULL);
    return suite_run(&s, "token_volume");
}
