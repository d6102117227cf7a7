#include "tests/sweep/journal.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "sim/actors/fit.h"
#include "sim/actors/objects.h"
#include "tests/sweep/checks.h"

#define ZONE "topology.kubernetes.io/zone"

/* How often each thing happened to one. */
struct entry {
    size_t times[JOURNAL_EDIT_COUNT];
    char name[];
};

/* A node as it counts. */
struct node_note {
    size_t counts[JOURNAL_FIGURE_COUNT]; /* but of zones, which are counted from `zone` */
    size_t gpus;                         /* the most that its kubelet ever had to give */
    char *zone;
    char name[];
};

struct journal {
    struct map entries; /* struct entry by name: nodes, "namespace/name" of pods, kinds */
    struct map nodes;   /* struct node_note by name */
    size_t now[JOURNAL_FIGURE_COUNT], most[JOURNAL_FIGURE_COUNT];
    const char **claims; /* names of entries */
    size_t claim_count;
};

static const char *const edit_names[JOURNAL_EDIT_COUNT] = {
#define X(id, name) [JOURNAL_##id] = name,
    JOURNAL_EDITS(X)
#undef X
};

static const char *const figure_names[JOURNAL_FIGURE_COUNT] = {
#define X(id, name) [JOURNAL_##id] = name,
    JOURNAL_FIGURES(X)
#undef X
};

static int place_of(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (str_eq(names[i], name))
            return i;
    return -1;
}

int journal_edit_named(const char *name)
{
    return place_of(edit_names, JOURNAL_EDIT_COUNT, name);
}

int journal_figure_named(const char *name)
{
    return place_of(figure_names, JOURNAL_FIGURE_COUNT, name);
}

struct journal *journal_new(void)
{
    return xcalloc(1, sizeof(struct journal));
}

void journal_free(struct journal *j)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&j->entries, &cursor)))
        free(e->value);
    cursor = 0;
    while ((e = map_next(&j->nodes, &cursor))) {
        struct node_note *n = e->value;
        free(n->zone);
        free(n);
    }
    map_clear(&j->entries);
    map_clear(&j->nodes);
    free(j->claims);
    free(j);
}

/* What a map has under a name, made when there is nothing: `size` bytes of which the last, from
 * `name_at` on, are the name. */
static void *under_name(struct map *map, const char *name, size_t size, size_t name_at)
{
    char *value = map_get(map, name);
    if (value)
        return value;
    value = xcalloc(1, size + strlen(name) + 1);
    memcpy(value + name_at, name, strlen(name) + 1);
    map_put(map, value + name_at, value);
    return value;
}

static struct entry *entry_of(struct journal *j, const char *name)
{
    return under_name(&j->entries, name, sizeof(struct entry), offsetof(struct entry, name));
}

/* ---- nodes: what is so now */

static struct node_note *node_of(struct journal *j, const char *name)
{
    return under_name(&j->nodes, name, sizeof(struct node_note), offsetof(struct node_note, name));
}

/* How many zones there are with nodes that are being changed. Few are changed at a time, and only
 * their number matters. */
static size_t zones_of(const struct journal *j)
{
    struct map zones = { 0 };
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&j->nodes, &cursor))) {
        struct node_note *n = e->value;
        if (n->counts[JOURNAL_CHANGING] && n->zone)
            map_put(&zones, n->zone, n);
    }
    size_t count = zones.len;
    map_clear(&zones);
    return count;
}

/* What a node counts; nothing where it is gone. */
static void count_node(struct node_note *n, const json_t *node)
{
    struct reading_claim claim;
    bool claimed = node && check_claim_of(node, &claim), closed = node && check_is_closed(node);
    bool up = str_eq(condition_status(json_at(node, "status.conditions"), "Ready"), "True");
    int64_t gpus = 0;
    const char *text = json_key(json_at(node, "status.allocatable"), RESOURCE_GPU);
    if (text && str_parse_int(text, 0, INT32_MAX, &gpus) && (size_t) gpus > n->gpus)
        n->gpus = (size_t) gpus;
    n->counts[JOURNAL_CLOSED] = closed;
    n->counts[JOURNAL_CHANGING] = claimed && reading_has_place(&claim);
    n->counts[JOURNAL_OUT] = node &&
                             (closed || !up || json_bool(node, "spec.unschedulable", false));
    n->counts[JOURNAL_GPUS] = closed ? n->gpus : 0;
}

static void note_figures(struct journal *j, const json_t *before, const json_t *after)
{
    struct node_note *n = node_of(j, object_name(after ? after : before));
    bool was_changing = n->counts[JOURNAL_CHANGING];
    for (size_t i = 0; i < JOURNAL_FIGURE_COUNT; i++)
        j->now[i] -= n->counts[i];
    count_node(n, after);
    for (size_t i = 0; i < JOURNAL_FIGURE_COUNT; i++)
        j->now[i] += n->counts[i];
    const char *zone = object_label(after, ZONE);
    if (zone && !n->zone)
        n->zone = xstrdup(zone);
    size_t zones = n->zone && n->counts[JOURNAL_CHANGING] && !was_changing ? zones_of(j) : 0;
    for (size_t i = 0; i < JOURNAL_FIGURE_COUNT; i++) {
        size_t now = i == JOURNAL_ZONES ? zones : j->now[i];
        j->most[i] = now > j->most[i] ? now : j->most[i];
    }
}

/* ---- nodes: what happens */

static void note_claim(struct journal *j, struct entry *e, const json_t *before,
                       const json_t *after)
{
    struct reading_claim was = { 0 }, is = { 0 };
    bool had = check_claim_of(before, &was), has = check_claim_of(after, &is);
    const char *driver = object_label(before, LABEL_DRIVER);
    e->times[JOURNAL_CLAIMED] += has && !had;
    e->times[JOURNAL_RELEASED] += had && !has;
    e->times[JOURNAL_DRAINED] += has && str_eq(is.phase, "Draining") &&
                                 !str_eq(was.phase, "Draining");
    e->times[JOURNAL_FAILED] += has && str_eq(is.phase, "Failed") && !str_eq(was.phase, "Failed");
    e->times[JOURNAL_ROLLED_BACK] += has && str_eq(is.kind, "Rollback") &&
                                     !(had && str_eq(was.kind, "Rollback"));
    e->times[JOURNAL_UNLOADED] += driver && *driver &&
                                  !str_eq(driver, object_label(after, LABEL_DRIVER));
    if (has && !had) {
        j->claims = xreallocarray(j->claims, j->claim_count + 1, sizeof *j->claims);
        j->claims[j->claim_count++] = e->name;
    }
}

static void note_node(struct journal *j, const struct api_commit *c)
{
    struct entry *e = entry_of(j, object_name(c->after ? c->after : c->before));
    if (c->before && c->after)
        note_claim(j, e, c->before, c->after);
    note_figures(j, c->before, c->after);
}

/* ---- pods */

static bool uses_gpus(const json_t *pod)
{
    size_t i;
    json_t *container;
    json_array_foreach (json_at(pod, "spec.containers"), i, container)
        if (json_object_get(json_at(container, "resources.limits"), RESOURCE_GPU))
            return true;
    return false;
}

static int64_t restarts_of(const json_t *pod)
{
    int64_t sum = 0;
    size_t i;
    json_t *status;
    json_array_foreach (json_at(pod, "status.containerStatuses"), i, status)
        sum += json_int(status, "restartCount", 0);
    return sum;
}

static bool runs(const json_t *pod)
{
    return pod && *json_str_or_empty(pod, "spec.nodeName") && !object_is_deleting(pod) &&
           !pod_is_finished(pod);
}

static void note_pod(struct journal *j, const struct api_commit *c)
{
    const json_t *any = c->after ? c->after : c->before;
    bool ours = str_eq(c->user, OSTLER_USER), eviction = str_eq(c->subresource, "eviction");
    bool operand = str_eq(object_namespace(any), OPERAND_NAMESPACE);
    if (!operand && !uses_gpus(any) && !(ours && eviction))
        return;
    CLEANUP_FREE char *name = xasprintf("%s/%s", object_namespace(any), object_name(any));
    struct entry *e = entry_of(j, name);
    bool ends = runs(c->before) && (!c->after || object_is_deleting(c->after));
    e->times[JOURNAL_DELETED] += ends && ours && !eviction;
    if (operand)
        return;
    bool fails = runs(c->before) && c->after &&
                 str_eq(json_str(c->after, "status.phase"), "Failed");
    e->times[JOURNAL_EVICTED] += ends && ours && eviction;
    e->times[JOURNAL_LOST] += ends || fails;
    if (c->before && c->after && restarts_of(c->after) > restarts_of(c->before))
        e->times[JOURNAL_RESTARTED] += (size_t) (restarts_of(c->after) - restarts_of(c->before));
}

void journal_commit(struct journal *j, const struct api_commit *c)
{
    if (str_eq(c->user, OSTLER_USER))
        entry_of(j, c->kind->plural)->times[JOURNAL_WRITTEN]++;
    if (str_eq(c->kind->plural, "nodes"))
        note_node(j, c);
    else if (str_eq(c->kind->plural, "pods"))
        note_pod(j, c);
}

/* ---- what is asked */

size_t journal_times(const struct journal *j, enum journal_edit edit, const char *pattern,
                     bool *ret_known)
{
    size_t cursor = 0, sum = 0;
    const struct map_entry *m;
    *ret_known = false;
    while ((m = map_next(&j->entries, &cursor))) {
        const struct entry *e = m->value;
        if (!fit_pattern(pattern, e->name))
            continue;
        *ret_known = true;
        sum += e->times[edit];
    }
    return sum;
}

size_t journal_most(const struct journal *j, enum journal_figure figure)
{
    return j->most[figure];
}

size_t journal_claim_count(const struct journal *j)
{
    return j->claim_count;
}

const char *journal_claim(const struct journal *j, size_t i)
{
    return j->claims[i];
}
