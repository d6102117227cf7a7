/* Checks of each write that gives a node its first toolkit: how many nodes of its pool have it
 * already without ever having worked with it. Ostler may hear of a node that works later than it
 * does, and never before: so it is asked for no more than this. */
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/checks.h"

#define TOOLKIT "toolkit"
#define PLUGIN "device-plugin"

enum {
    HEARD_MS = 10 * 1000,             /* a client hears of a change by then */
    DEFAULT_INSTALL_MS = 1800 * 1000, /* docs/policy.md */
};

/* What a node with a stack has shown. */
struct toolkit_history {
    char *node;
    bool worked; /* its toolkit and device plugin have been up with it */
};

static struct toolkit_history *history_of(const struct invariants *v, const char *node)
{
    return map_get(&v->toolkits, node);
}

static void forget(struct invariants *v, struct toolkit_history *h)
{
    map_remove(&v->toolkits, h->node);
    free(h->node);
    free(h);
}

static bool is_up(const json_t *object)
{
    return str_eq(check_condition(object, "Ready"), "True");
}

/* Whether there is a DaemonSet for an operand of the stack. */
static bool has_operand(const struct invariants *v, const char *operand, const char *stack)
{
    CLEANUP_FREE char *name = xasprintf("%s-%s", operand, stack);
    return api_get(v->run->api, kind_named("daemonsets"), OPERAND_NAMESPACE, name);
}

static bool pod_is_up(const struct invariants *v, const char *node, const char *operand,
                      const char *stack)
{
    const struct kind *pods = kind_named("pods");
    for (size_t i = 0; i < api_count(v->run->api, pods); i++) {
        const json_t *pod = api_at(v->run->api, pods, i);
        if (str_eq(json_str(pod, "spec.nodeName"), node) &&
            str_eq(object_label(pod, LABEL_COMPONENT), operand) &&
            str_eq(object_label(pod, LABEL_REVISION), stack) && is_up(pod))
            return true;
    }
    return false;
}

static bool operand_works(const struct invariants *v, const char *node, const char *operand,
                          const char *stack)
{
    return !has_operand(v, operand, stack) || pod_is_up(v, node, operand, stack);
}

static void look_at(struct invariants *v, const char *name)
{
    struct toolkit_history *h = name ? history_of(v, name) : NULL;
    const json_t *node = h && !h->worked ? api_get(v->run->api, kind_named("nodes"), NULL, name)
                                         : NULL;
    const char *stack = object_label(node, LABEL_STACK);
    if (node && stack && is_up(node))
        h->worked = operand_works(v, name, TOOLKIT, stack) && operand_works(v, name, PLUGIN, stack);
}

static void note_node(struct invariants *v, const struct api_commit *c)
{
    const char *name = object_name(c->after ? c->after : c->before);
    const char *was = object_label(c->before, LABEL_STACK),
               *is = object_label(c->after, LABEL_STACK);
    struct toolkit_history *h = history_of(v, name);
    if (h && (!is || !str_eq(was, is))) {
        forget(v, h);
        h = NULL;
    }
    if (!h && is && *is) {
        h = xcalloc(1, sizeof *h);
        h->node = xstrdup(name);
        map_put(&v->toolkits, h->node, h);
    }
    look_at(v, name);
}

static void note_record(struct invariants *v, const struct api_commit *c)
{
    static const char prefix[] = "ostler.dev/completed-";
    const char *key;
    json_t *value;
    json_object_foreach (json_at(c->after, "metadata.annotations"), key, value) {
        if (!str_has_prefix(key, prefix))
            continue;
        CLEANUP_FREE char *done = xasprintf("%s/%s", object_name(c->after),
                                            key + sizeof prefix - 1);
        if (check_noted(&v->completions, done) < 0)
            check_note(v, &v->completions, done);
    }
}

void check_toolkit_commit(struct invariants *v, const struct api_commit *c)
{
    if (check_is_kind(c->kind, "nodes"))
        note_node(v, c);
    else if (check_is_kind(c->kind, "controllerrevisions") && c->after)
        note_record(v, c);
    else if (check_is_kind(c->kind, "pods") && c->after && object_label(c->after, LABEL_COMPONENT))
        look_at(v, json_str(c->after, "spec.nodeName"));
}

void check_toolkit_clear(struct invariants *v)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&v->toolkits, &cursor))) {
        struct toolkit_history *h = e->value;
        free(h->node);
        free(h);
    }
    map_clear(&v->toolkits);
    check_notes_clear(&v->completions);
}

/* Whether a node has been down for as long as a step may take: then no node waits for it. */
static bool is_lost(const struct invariants *v, const json_t *policy, const json_t *node)
{
    int64_t install_ms = reading_duration_ms(
        json_str_or_empty(policy, "spec.rollout.timeouts.install"));
    int64_t changed_ms = check_noted(&v->services, object_name(node));
    return !is_up(node) && v->run->sim.now_ms - changed_ms + HEARD_MS >=
                               (install_ms < 0 ? DEFAULT_INSTALL_MS : install_ms);
}

/* Nodes that have the stack: those that worked with it, and those that have not so far. */
struct tried {
    size_t worked, untried;
};

static struct tried tried_of(const struct invariants *v, const json_t *policy, const json_t *self)
{
    const struct kind *nodes = kind_named("nodes");
    const char *pool = reading_pool(policy, self), *stack = object_label(self, LABEL_STACK);
    struct tried t = { 0 };
    for (size_t i = 0; i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        const struct toolkit_history *h = history_of(v, object_name(node));
        struct reading_claim claim;
        if (!h || str_eq(object_name(node), object_name(self)) ||
            !str_eq(object_label(node, LABEL_STACK), stack) ||
            !str_eq(reading_pool(policy, node), pool))
            continue;
        bool counts = !reading_claim(node, &claim) && check_is_wanted(policy, node) &&
                      !is_lost(v, policy, node) && !object_is_deleting(node);
        t.worked += h->worked;
        t.untried += !h->worked && counts;
    }
    return t;
}

/* Whether a node without a claim gets its first stack, one with a toolkit that no pool is known to
 * have run. */
static bool is_first(const struct invariants *v, const json_t *policy, const struct api_commit *c)
{
    struct reading_claim claim;
    const char *stack = object_label(c->after, LABEL_STACK);
    if (!policy || !c->before || object_label(c->before, LABEL_STACK) || !stack || !*stack ||
        reading_claim(c->after, &claim) || reading_claim(c->before, &claim) ||
        !has_operand(v, TOOLKIT, stack))
        return false;
    CLEANUP_FREE char *done = xasprintf("stack-%s/%s", stack, reading_pool(policy, c->after));
    return check_noted(&v->completions, done) < 0;
}

void check_first_toolkit(struct invariants *v, const struct api_commit *c)
{
    const json_t *policy = check_is_kind(c->kind, "nodes") && c->after ? check_policy(v) : NULL;
    if (!is_first(v, policy, c))
        return;
    struct tried t = tried_of(v, policy, c->after);
    size_t canary = (size_t) reading_canary_nodes(policy);
    canary = canary ? canary : 1;
    size_t most = t.worked < canary ? canary - t.worked : t.worked + 1;
    check_tried(v, INVARIANT_G7_FIRST);
    if (t.untried >= most)
        check_failed(
            v, INVARIANT_G7_FIRST,
            "%s gets stack %s, with which %zu nodes of its pool have worked and %zu have not yet",
            object_name(c->after), object_label(c->after, LABEL_STACK), t.worked, t.untried);
}
