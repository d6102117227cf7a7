/* Which parts of an object become those of its last state, or of other objects. */
#include "sim/api/share.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* The value at a path whose steps may be places in a list: "status.conditions.0". */
static json_t *part(json_t *root, const char *path)
{
    CLEANUP_FREE char *steps = xstrdup(path);
    char *rest = steps;
    for (const char *step; root && (step = strsep(&rest, "."));)
        root = json_is_array(root) ? json_array_get(root, strtoul(step, NULL, 10))
                                   : json_object_get(root, step);
    return root;
}

#define POD(rest) "{'kind': 'Pod', 'metadata': {'name': 'p'}" rest "}"
#define CONDITIONS(a, b) ", 'status': {'conditions': [{'type': 'A', 'status': '" a "'}, " b "]}"
#define B_TRUE "{'type': 'B', 'status': 'True'}"

static const struct share_row {
    const char *label, *before, *after;
    const char *same, *other; /* paths of parts that are, and are not, those of the last state */
} rows[] = {
    { "all is equal", POD(", 'spec': {'a': [1, {'b': null}]}"),
      POD(", 'spec': {'a': [1, {'b': null}]}"), "kind metadata spec", NULL },
    { "an order of keys", POD(", 'spec': {'a': 1, 'b': 2}"), POD(", 'spec': {'b': 2, 'a': 1}"),
      "spec metadata", NULL },
    { "one condition changes", POD(CONDITIONS("True", B_TRUE)), POD(CONDITIONS("False", B_TRUE)),
      "metadata status.conditions.0.type status.conditions.1",
      "status status.conditions status.conditions.0 status.conditions.0.status" },
    { "a list gets longer", POD(CONDITIONS("True", B_TRUE)),
      POD(CONDITIONS("True", B_TRUE ", {'type': 'C'}")), "status.conditions.0 status.conditions.1",
      "status.conditions status" },
    { "a list gets shorter", POD(", 'spec': {'a': [{'b': 1}, {'b': 2}]}"),
      POD(", 'spec': {'a': [{'b': 1}]}"), "spec.a.0", "spec.a spec" },
    { "a member goes", POD(", 'spec': {'a': {'b': 1}, 'c': {'d': 1}}"),
      POD(", 'spec': {'a': {'b': 1}}"), "spec.a", "spec" },
    { "a member takes another's place", POD(", 'spec': {'a': {'b': 1}, 'c': {'d': 1}}"),
      POD(", 'spec': {'a': {'b': 1}, 'e': {'d': 1}}"), "spec.a", "spec" },
    { "another type", POD(", 'spec': {'a': {}, 'b': '1', 'c': []}"),
      POD(", 'spec': {'a': [], 'b': 1, 'c': {}}"), "metadata", "spec spec.a spec.c" },
};

static void check_paths(const struct share_row *row, json_t *before, json_t *after,
                        const char *paths, bool same)
{
    CLEANUP_FREE char *list = xstrdup(str_or_empty(paths));
    char *rest = list;
    for (const char *path; (path = strsep(&rest, " "));) {
        if (!*path)
            continue;
        assert_non_null(part(after, path));
        if ((part(before, path) == part(after, path)) != same)
            fail_msg("%s: %s is %sthat of the last state", row->label, path, same ? "not " : "");
    }
}

static void check_last_state(void **state)
{
    (void) state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP_JSON json_t *before = tree(rows[i].before), *after = tree(rows[i].after);
        CLEANUP(share_clear) struct map parts = { 0 };
        share_parts(&parts, before, after);
        assert_tree(before, rows[i].before);
        assert_tree(after, rows[i].after);
        assert_ptr_not_equal(before, after);
        check_paths(&rows[i], before, after, rows[i].same, true);
        check_paths(&rows[i], before, after, rows[i].other, false);
    }
}

#define EVENT(name, reason, message)                                                               \
    "{'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'name': '" name "', 'namespace': 'ops', "  \
    "'creationTimestamp': '2026-01-01T00:00:00Z', 'managedFields': [{'manager': 'kubelet', "       \
    "'fieldsV1': {'f:count': {}}}]}, 'involvedObject': {'kind': 'Pod', 'name': 'p'}, "             \
    "'reason': '" reason "', 'message': '" message "', 'type': 'Normal', "                         \
    "'source': {'component': 'kubelet'}, 'lastTimestamp': '2026-01-01T00:00:00Z'}"

/* Thousands of Events live an hour: they are most of the memory of a small cluster. */
static void check_events(void **state)
{
    (void) state;
    static const char *const same[] = { "apiVersion",    "kind",
                                        "type",          "involvedObject",
                                        "source",        "metadata.managedFields",
                                        "lastTimestamp", "metadata.creationTimestamp" };
    CLEANUP_JSON json_t *first = tree(EVENT("p.1", "Created", "main")),
                        *second = tree(EVENT("p.2", "Started", "main"));
    CLEANUP(share_clear) struct map parts = { 0 };
    share_parts(&parts, NULL, first);
    share_parts(&parts, NULL, second);
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        assert_ptr_equal(part(second, same[i]), part(first, same[i]));
    assert_tree(second, EVENT("p.2", "Started", "main"));
}

static void check_new_pods(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *first = tree(POD(", 'spec': {'tolerations': [{'key': 'a'}]}")),
                        *second = tree(POD(", 'spec': {'tolerations': [{'key': 'a'}]}"));
    CLEANUP(share_clear) struct map parts = { 0 };
    share_parts(&parts, NULL, first);
    share_parts(&parts, NULL, second);
    assert_ptr_equal(part(second, "spec.tolerations"), part(first, "spec.tolerations"));
    assert_ptr_not_equal(part(second, "metadata"), part(first, "metadata"));
    assert_ptr_not_equal(part(second, "kind"), part(first, "kind"));
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "what is as in the last state is its tree", check_last_state, NULL);
    suite_add(&s, "Events share all but name, uid and message", check_events, NULL);
    suite_add(&s, "of a new pod only parts of the template are shared", check_new_pods, NULL);
    return suite_run(&s, "sim_api/share");
}
