/* Case files: tests/cases/cluster/ has one file per behaviour, no code: a small cluster, and steps
 * in it.
 *   policy: the object's parts that are not as usual, or null   monitors: the CRD of ServiceMonitor
 *   is there
 *   agentImage: of the node agent; without it that runs nowhere
 *   nodes: short forms (support/testbed.h)                      objects: others, whole, with their
 *   kind
 *   steps: each does something and says what comes of it, until nothing is left to do:
 *     put: short forms of nodes or pods, or whole objects
 *     edit, foreign: {kind, name, patch}; foreign: by a manager of its own
 *     remove: {kind, name}      forget: targets are worked out anew, as after a restart
 *     refused: {kind, message}: what the server refused of the last plan
 *     namespace: missing or present: the operands' namespace, as Ostler has seen it from this step
 *     on
 *     agentImage: another Ostler starts, whose image is that
 *     pods: false where no pods come up                         unsettled: not all nodes have been
 *     looked at
 *     expect: rounds of requests "Verb target Reason", those of the status left out; the order
 *     within a round does not count
 *     conditions: type to "Status Reason"; messages: a part of each      status: parts of it
 *     there, gone: "kind/name"; node: {name: parts of it}
 * `$driver` and `$stack` stand for hashes (support/symbols.h). After each step a pass over
 * everything finds nothing to do. Where the variable OSTLER_STATES names a folder, the policy after
 * each step is written into it, as CASE-STEP.json: what GitOps tools make of them is tested in
 * e2e/gitops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/cluster.h"
#include "reconcilers/model/names.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/symbols.h"
#include "tests/unit/support/testbed.h"

enum { LOG_MAX = 1 << 20 };

static enum resource_id resource_of(const json_t *o)
{
    const char *kind = json_str_or_empty(o, "kind");
    for (int i = 0; i < RESOURCE_COUNT; i++)
        if (str_eq(resource_get((enum resource_id) i)->kind, kind))
            return (enum resource_id) i;
    fail_msg("there is no kind \"%s\"", kind);
    return RESOURCE_COUNT;
}

static void put(struct testbed *t, const json_t *object)
{
    enum resource_id resource = resource_of(object);
    if (resource == RESOURCE_NODE)
        testbed_put(t, resource, testbed_node(object));
    else if (resource == RESOURCE_POD)
        testbed_put(t, resource, testbed_pod(object));
    else
        testbed_put(t, resource, json_deep_copy(object));
}

/* An edit by another client, under its own name. */
static void edit_foreign(struct testbed *t, const json_t *edit)
{
    testbed_edit_as(t, "kubectl-edit", resource_of(edit), json_str(edit, "name"),
                    json_object_get(edit, "patch"));
}

static void each(struct testbed *t, const json_t *list,
                 void (*fn)(struct testbed *t, const json_t *entry))
{
    size_t i;
    json_t *entry;
    json_array_foreach ((json_t *) list, i, entry)
        fn(t, entry);
}

static void edit(struct testbed *t, const json_t *e)
{
    testbed_edit(t, resource_of(e), json_str(e, "name"), json_object_get(e, "patch"));
}

static void take_away(struct testbed *t, const json_t *e)
{
    testbed_remove(t, resource_of(e), json_str(e, "name"));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The lines of one round, sorted and joined. Owned by the caller. */
static char *joined(const json_t *lines)
{
    size_t n = json_array_size(lines), i;
    const char **sorted = xcalloc(n + 1, sizeof *sorted);
    struct buf out = BUF_INIT(LOG_MAX);
    for (i = 0; i < n; i++)
        sorted[i] = json_string_value(json_array_get(lines, i));
    qsort(sorted, n, sizeof *sorted, by_text);
    for (i = 0; i < n; i++)
        buf_printf(&out, "%s\n", sorted[i]);
    free(sorted);
    return buf_take(&out);
}

/* A log as rounds of "Verb target Reason", without the status. New reference. */
static json_t *rounds_of(char *log)
{
    json_t *rounds = json_array(), *round = json_array();
    char *rest = log;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *end = strstr(line, ": ");
        if (*line && end && !str_has_prefix(line, "Status "))
            json_array_append_new(round, json_stringn(line, (size_t) (end - line)));
        if (!*line && json_array_size(round)) {
            json_array_append(rounds, round);
            json_decref(round);
            round = json_array();
        }
    }
    json_decref(round);
    return rounds;
}

static void check_log(const json_t *want, const json_t *symbols, const char *log)
{
    const json_t *expected = json_object_get(want, "expect");
    if (!expected)
        return;
    CLEANUP_FREE char *named = symbols_named(symbols, log);
    CLEANUP_FREE char *copy = xstrdup(named);
    CLEANUP_JSON json_t *rounds = rounds_of(copy);
    for (size_t i = 0; i < json_array_size(rounds) || i < json_array_size(expected); i++) {
        CLEANUP_FREE char *got = joined(json_array_get(rounds, i));
        CLEANUP_FREE char *wanted = joined(json_array_get(expected, i));
        if (!str_eq(got, wanted))
            fail_msg("round %zu is\n%snot\n%sof\n%s", i, got, wanted, named);
    }
}

static void check_conditions(const json_t *want, const json_t *status)
{
    const char *type;
    json_t *value;
    json_object_foreach (json_object_get(want, "conditions"), type, value) {
        const json_t *c = condition_find(json_object_get(status, "conditions"), type);
        CLEANUP_FREE char *got = xasprintf("%s %s", json_str_or_empty(c, "status"),
                                           json_str_or_empty(c, "reason"));
        if (!str_eq(got, json_string_value(value)))
            fail_msg("%s is %s (%s), not %s", type, got, json_str_or_empty(c, "message"),
                     json_string_value(value));
    }
    json_object_foreach (json_object_get(want, "messages"), type, value) {
        const char *got = json_str_or_empty(
            condition_find(json_object_get(status, "conditions"), type), "message");
        if (!strstr(got, json_string_value(value)))
            fail_msg("%s says\n%s, without\n%s", type, got, json_string_value(value));
    }
}

/* The first place where `got` lacks something of `want`; NULL when it has all. Lists are compared
 * by place, null means absent. */
static char *lacking(const char *path, const json_t *got, const json_t *want)
{
    const char *key;
    json_t *value;
    size_t i;
    char *found = NULL;
    json_object_foreach ((json_t *) want, key, value) {
        CLEANUP_FREE char *here = xasprintf("%s.%s", path, key);
        if (!found)
            found = lacking(here, json_object_get(got, key), value);
    }
    json_array_foreach ((json_t *) want, i, value) {
        CLEANUP_FREE char *here = xasprintf("%s[%zu]", path, i);
        if (!found)
            found = lacking(here, json_array_get(got, i), value);
    }
    if (json_is_array(want) && json_array_size(got) != json_array_size(want) && !found)
        return xasprintf("%s (its length)", path);
    bool leaf = !json_is_object(want) && !json_is_array(want);
    bool equal = json_is_null(want) ? !got : json_equal(got, want);
    return leaf && !equal ? xstrdup(path) : found;
}

static void check_parts(const char *what, const json_t *got, const json_t *want)
{
    CLEANUP_FREE char *path = lacking(what, got, want);
    CLEANUP_FREE char *text = got ? json_canonical(got) : xstrdup("(nothing)");
    if (want && path)
        fail_msg("%s is not as it should be in\n%s", path, text);
}

static const json_t *object_of(const struct testbed *t, const char *path)
{
    const char *slash = strchr(path, '/');
    CLEANUP_JSON json_t *kind = json_pack("{s:s%}", "kind", path, (size_t) (slash - path));
    return testbed_get(t, resource_of(kind), slash + 1);
}

static void check_objects(const struct testbed *t, const json_t *want)
{
    size_t i;
    json_t *path;
    const char *name;
    json_t *parts;
    json_array_foreach (json_object_get(want, "there"), i, path)
        if (!object_of(t, json_string_value(path)))
            fail_msg("%s is not there", json_string_value(path));
    json_array_foreach (json_object_get(want, "gone"), i, path)
        if (object_of(t, json_string_value(path)))
            fail_msg("%s is there", json_string_value(path));
    json_object_foreach (json_object_get(want, "objects"), name, parts)
        check_parts(name, object_of(t, name), parts);
    json_object_foreach (json_object_get(want, "node"), name, parts)
        check_parts(name, testbed_get(t, RESOURCE_NODE, name), parts);
}

static void check_quiet(struct testbed *t)
{
    CLEANUP_BUF struct buf log = BUF_INIT(LOG_MAX);
    testbed_settle(t, false, &log);
    if (log.len > 0)
        fail_msg("a settled cluster is written to:\n%s", buf_text(&log));
}

/* Symbols of all nodes as they are now; the plain ones are those of the case's first node. */
static void name_targets(struct testbed *t, const char *first, json_t *symbols)
{
    size_t i;
    json_t *node;
    bool plain = json_object_size(symbols) == 0;
    CLEANUP_JSON json_t *nodes = testbed_list(t, RESOURCE_NODE);
    if (testbed_stance(t) != MODE_MANAGE)
        return;
    json_array_foreach (nodes, i, node) {
        const char *name = object_name(node);
        symbols_add(symbols, name, testbed_target(t, name));
        if (plain && str_eq(name, first ? first : name))
            symbols_add(symbols, NULL, testbed_target(t, name));
    }
}

/* Only the next status speaks of it, unless the step says so again. */
static void take_refusal(struct testbed *t, const json_t *refused)
{
    err_clear(&t->refused);
    for (enum err_kind kind = ERR_NONE; refused && kind <= ERR_SYSTEM; kind++)
        if (str_eq(err_kind_name(kind), json_str(refused, "kind")))
            err_set(&t->refused, kind, "%s", json_str_or_empty(refused, "message"));
    assert_int_equal(t->refused.kind == ERR_NONE, refused == NULL);
}

static void take_namespace(struct testbed *t, const char *namespace)
{
    if (str_eq(namespace, "missing"))
        prerequisites_take(&t->prerequisites, PREREQUISITES_NAMESPACE, NULL, TESTBED_NAMESPACE);
    else if (str_eq(namespace, "present"))
        prerequisites_forget(&t->prerequisites, PREREQUISITES_NAMESPACE);
    else
        assert_null(namespace);
}

/* It remembers nothing of what the one before has rendered. */
static void start_another(struct testbed *t, const char *agent_image)
{
    if (!agent_image)
        return;
    t->agent_image = agent_image;
    intents_clear(&t->cluster->intents);
    testbed_forget_targets(t);
}

static void check_step(struct testbed *t, const json_t *unresolved, const char *first,
                       json_t *symbols)
{
    CLEANUP_JSON json_t *step = symbols_resolved(symbols, unresolved);
    CLEANUP_BUF struct buf log = BUF_INIT(LOG_MAX);
    t->unsettled = json_bool(step, "unsettled", false);
    start_another(t, json_str(unresolved, "agentImage"));
    take_refusal(t, json_object_get(step, "refused"));
    take_namespace(t, json_str(step, "namespace"));
    each(t, json_object_get(step, "put"), put);
    each(t, json_object_get(step, "edit"), edit);
    each(t, json_object_get(step, "foreign"), edit_foreign);
    each(t, json_object_get(step, "remove"), take_away);
    if (json_bool(step, "forget", false))
        testbed_forget_targets(t);
    testbed_settle(t, json_bool(step, "pods", true), &log);
    name_targets(t, first, symbols);

    CLEANUP_JSON json_t *want = symbols_resolved(symbols, unresolved);
    check_log(unresolved, symbols, buf_text(&log));
    const json_t *status = json_object_get(testbed_get(t, RESOURCE_POLICY, POLICY_NAME), "status");
    check_conditions(want, status);
    check_parts("status", status, json_object_get(want, "status"));
    check_objects(t, want);
    check_quiet(t);
}

/* The policy as the server has it now, for others to judge. */
static void record(const struct testbed *t, const char *file, size_t step)
{
    const char *folder = getenv("OSTLER_STATES");
    const json_t *policy = testbed_get(t, RESOURCE_POLICY, POLICY_NAME);
    if (!folder || !policy)
        return;
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    CLEANUP_FREE char *path = xasprintf("%s/%.*s-%zu.json", folder, (int) strcspn(name, "."), name,
                                        step);
    if (json_dump_file(policy, path, JSON_COMPACT) < 0)
        fail_msg("%s cannot be written", path);
}

static void check_case(void **state)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(*state, NULL, &e);
    if (json_array_size(documents) != 1)
        fail_msg("%s", documents ? "one document is needed" : err_msg(&e));
    const json_t *given = json_array_get(documents, 0), *policy = json_object_get(given, "policy");
    struct testbed t;
    CLEANUP_JSON json_t *usual = json_object();
    testbed_init(&t, !policy ? usual : json_is_null(policy) ? NULL : policy);
    t.monitors_exist = json_bool(given, "monitors", false);
    t.agent_image = json_str(given, "agentImage");
    CLEANUP_JSON json_t *symbols = json_object();
    size_t i;
    json_t *entry;
    json_array_foreach (json_object_get(given, "nodes"), i, entry)
        testbed_put(&t, RESOURCE_NODE, testbed_node(entry));
    each(&t, json_object_get(given, "objects"), put);
    json_t *node = json_array_get(json_object_get(given, "nodes"), 0);
    const char *name = json_str(node, "name"), *first = name || !node ? name : "gpu-1";
    name_targets(&t, first, symbols);
    json_array_foreach (json_object_get(given, "steps"), i, entry) {
        print_message("step %zu\n", i);
        check_step(&t, entry, first, symbols);
        record(&t, *state, i);
    }
    testbed_clear(&t);
}

int main(void)
{
    return cases_run("cluster cases", "tests/cases/cluster", check_case);
}
