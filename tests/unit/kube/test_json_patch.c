#include "kube/json_patch.h"

#include "base/mem.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const struct path_row {
    const char *name, *object, *key, *path;
} paths[] = {
    { "a plain key", "/metadata/labels", "team", "/metadata/labels/team" },
    { "a key with a prefix", "/metadata/labels", "ostler.dev/driver",
      "/metadata/labels/ostler.dev~1driver" },
    { "a tilde is escaped, and not twice", "/a", "~/~1", "/a/~0~1~01" },
    { "an empty key", "/a", "", "/a/" },
};

static void check_path(void **state)
{
    const struct path_row *row = *state;
    CLEANUP_FREE char *path = json_patch_path(row->object, row->key);
    assert_string_equal(path, row->path);
}

static void operations_are_appended(void **state)
{
    (void) state;
    json_t *operations = json_array();
    json_patch_add(operations, "test", "/a", json_null());
    json_patch_add(operations, "add", "/b", json_string("x"));
    json_patch_add(operations, "remove", "/c", NULL);
    assert_tree(
        operations,
        "[{'op': 'test', 'path': '/a', 'value': null}, {'op': 'add', 'path': '/b', 'value': 'x'}, "
        "{'op': 'remove', 'path': '/c'}]");
    json_decref(operations);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_path, paths);
    suite_add(&s, "operations are appended, with a value or without", operations_are_appended,
              NULL);
    return suite_run(&s, "json_patch");
}
