/* The lists of the fields that leave the process: each is one that viewers of a cluster may read in
 * the status of the policy or of a GpuNode, or one that the page adds, which stands here. */
#include "reconcilers/fleet_fields.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* What the page adds; "…" ends what begins so. */
static const char *const added[] = {
    "name",
    "ready",
    "reason",
    "message",
    "paused",
    "windows[].opens",
    "windows[].closes",
    "soak.canary",
    "soak.wave",
    "health.mode",
    "health.braked",
    "health.reason",
    "health.message",
    "blockers[].…",
    "asOf",
    "text",
    "cut",
    "commands[]",
    "explain.node",
    "explain.asOf",
    "explain.loaded",
    "explain.holders",
    "explain.seconds",
    "explain.held",
    "explain.cordoned",
    "explain.story[].…",
    "explain.operandPods[].…",
    "explain.gpuPods[].…",
    "explain.ostler.…",
    "explain.next[].text",
    "explain.next[].at",
    "explain.missing.events",
};

/* What no field may be called, wherever it is. */
static const char *const never[] = { "env",  "annotation", "token", "secret",
                                     "uuid", "serial",     "label" };

static bool is_added(const char *field)
{
    for (size_t i = 0; i < ARRAY_LEN(added); i++) {
        const char *more = strstr(added[i], "…");
        if (more ? strncmp(field, added[i], (size_t) (more - added[i])) == 0
                 : str_eq(field, added[i]))
            return true;
    }
    return false;
}

/* The schema of a field in the status of a CRD; NULL: it has none. */
static const json_t *schema_of(const json_t *status, const char *field)
{
    CLEANUP_FREE char *copy = xstrdup(field);
    char *rest = copy, *part;
    while (status && (part = strsep(&rest, "."))) {
        char *list = strstr(part, "[]");
        if (list)
            *list = '\0';
        status = json_object_get(json_object_get(status, "properties"), part);
        status = list && status ? json_object_get(status, "items") : status;
    }
    return status;
}

static json_t *read_status(const char *path)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(path, NULL, &e);
    if (!documents)
        fail_msg("%s", err_msg(&e));
    const json_t *versions = json_at(json_array_get(documents, 0), "spec.versions");
    return json_incref(
        json_at(json_array_get(versions, 0), "schema.openAPIV3Schema.properties.status"));
}

static void check_fields(const char *const *fields, const char *crd, const char *under)
{
    CLEANUP_JSON json_t *status = read_status(crd);
    assert_non_null(status);
    for (; *fields; fields++) {
        const char *in_status = *under ? strchr(*fields, '.') : NULL;
        in_status = in_status ? in_status + 1 : *fields;
        if (!is_added(*fields) && !schema_of(status, in_status))
            fail_msg("%s is no field of the status in %s", *fields, crd);
        for (size_t i = 0; i < ARRAY_LEN(never); i++)
            if (strcasestr(*fields, never[i]))
                fail_msg("%s names %s", *fields, never[i]);
    }
}

static void policy_shows_its_status(void **state)
{
    (void) state;
    check_fields(fleet_policy_fields, "crds/ostler.dev_gpuclusterpolicies.yaml", "");
}

static void node_shows_the_status_of_its_gpu_node(void **state)
{
    (void) state;
    check_fields(fleet_node_fields, "crds/ostler.dev_gpunodes.yaml", "status");
}

/* ---- what is picked */

static const char *const some[] = { "a", "b.c", "list[].d", "texts[]", "none.x", NULL };

static const struct row {
    const char *name, *tree, *want;
} rows[] = {
    { "listed", "{'a': 1, 'b': {'c': 'x'}}", "{'a': 1, 'b': {'c': 'x'}}" },
    { "not listed", "{'z': 1, 'b': {'z': 'x', 'c': true}, 'A': 2}", "{'b': {'c': true}}" },
    { "lists", "{'list': [{'d': 1, 'e': 2}, {'e': 3}], 'texts': ['x', 'y']}",
      "{'list': [{'d': 1}, {}], 'texts': ['x', 'y']}" },
    { "a tree where a value is listed", "{'a': {'a': 1}, 'texts': [{'a': 1}]}", "{'texts': []}" },
    { "a value where a tree is listed", "{'b': 'x', 'list': 'y'}", "{}" },
    { "null where a tree is listed", "{'none': null, 'z': null}", "{'none': null}" },
    { "a name that begins like a listed one", "{'aa': 1, 'b': {'cc': 1, '': 2}}", "{'b': {}}" },
    { "a name with a dot", "{'b.c': 1, 'b': {'c.x': 1}}", "{'b': {}}" },
    { "escapes", "{'a': 'x\\u001b\\u202e'}", "{'a': 'x\\\\x1b\\\\u202e'}" },
};

static void check_row(void **state)
{
    const struct row *row = *state;
    CLEANUP_JSON json_t *value = tree(row->tree);
    CLEANUP_JSON json_t *picked = fleet_fields_pick(value, some);
    assert_tree(picked, row->want);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "the policy shows its status", policy_shows_its_status, NULL);
    suite_add(&s, "a node shows the status of its GpuNode", node_shows_the_status_of_its_gpu_node,
              NULL);
    SUITE_ROWS(&s, check_row, rows);
    return suite_run(&s, "fleet_fields");
}
