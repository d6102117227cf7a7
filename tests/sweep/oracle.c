#include "tests/sweep/oracle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/request.h"
#include "sim/actors/objects.h"

enum {
    PATH_MAX_BYTES = 4096,
    TEXT_MAX = 1 << 20,
    UID_LEN = 36,
    POD_SUFFIX_LEN = 5,
    DATE_LEN = 10,
    TIME_LEN = 19
};

/* An object by its name, over all its incarnations. */
struct story {
    char *key;
    unsigned creates, deletes;
    bool counted; /* of a kind that Ostler makes */
};

/* Which story a uid belongs to. */
struct incarnation {
    char *uid, *said; /* "daemonsets/ostler-operands/exporter#2" */
};

struct oracle {
    enum looseness loose;
    struct map stories, incarnations;
};

/* What differs from run to run and means nothing; `*` at the end stands for any rest, and an index
 * is "[]". */
static const struct {
    const char *kind; /* plural; NULL: any */
    const char *path;
    enum looseness from; /* only where ends are compared as loosely as this */
} skipped[] = {
    { .path = "metadata.resourceVersion" },
    { .path = "metadata.managedFields[].time" },
    { .path = "metadata.annotations.ostler.dev/intent" }, /* a hash over times and uids too */
    { .kind = "pods", .path = "metadata.name" },
    { .kind = "pods", .path = "spec.nodeName", .from = LOOSE },
    { .kind = "pods", .path = "status.podIP*" },
    { .kind = "pods", .path = "status.hostIP*" },
    { .kind = "pods", .path = "status.containerStatuses[].containerID" },
    { .kind = "pods", .path = "status.initContainerStatuses[].containerID" },
    { .kind = "pods", .path = "status.containerStatuses[].lastState*" },
    { .kind = "pods", .path = "status.containerStatuses[].restartCount" },
    { .kind = "pods", .path = "status.initContainerStatuses[].lastState*" },
    { .kind = "pods", .path = "status.initContainerStatuses[].restartCount" },
    /* goes with time, once the plugin is gone */
    { .kind = "nodes", .path = "status.capacity.nvidia.com*" },
    { .kind = "nodes", .path = "status.nodeInfo.bootID" },
    { .kind = "nodes", .path = "status.nodeInfo.machineID" },
    { .kind = "nodes", .path = "status.nodeInfo.systemUUID" },
    { .kind = "nodes", .path = "status.addresses*" },
    { .kind = "nodes", .path = "status.images*" },
    { .kind = "nodes", .path = "spec.podCIDR*" },
    { .kind = "gpunodes", .path = "status.policyGeneration" },
    { .kind = "gpunodes", .path = "status.inventory.bootId" },
    { .kind = "gpunodes", .path = "status.inventory.faults[].bootId" },
    /* Who has a GPU open goes with where pods happen to be, and is told in the order in which they
     * came. */
    { .kind = "gpunodes", .path = "status.inventory.heldBy" },
    { .kind = "gpunodes", .path = "status.inventory.holders*" },
    { .kind = "gpunodes", .path = "status.timeToReady*" },
    { .kind = "gpunodes", .path = "status.lastWords*" }, /* which node the canary was */
    { .kind = "services", .path = "spec.clusterIP*" },
    /* Edits that come soon after one another may be taken as one. */
    { .kind = "daemonsets", .path = "metadata.generation" },
    { .kind = "daemonsets",
      .path = "metadata.annotations.deprecated.daemonset.template.generation" },
    { .kind = "daemonsets", .path = "status.observedGeneration" },
    { .kind = "pods", .path = "metadata.labels.pod-template-generation" },
    { .kind = "gpuclusterpolicies", .path = "status.firstCauses[].pod" },
    /* How long nodes took, and what follows for those that are still to go. */
    { .kind = "gpuclusterpolicies", .path = "status.rollout.pace*" },
    { .kind = "gpuclusterpolicies", .path = "status.rollout.plan.message" },
    { .kind = "gpuclusterpolicies", .path = "status.rollout.plan.ends" },
    /* A plan says what was in the way, and who was to go, when it was made: it is made again a
     * minute later at the earliest. */
    { .kind = "gpuclusterpolicies", .path = "status.rollout.plan.blockers*" },
    { .kind = "gpuclusterpolicies", .path = "status.rollout.plan.pods*" },
    { .kind = "gpuclusterpolicies", .path = "status.rollout.plan.pools*" },
    { .kind = "gpuclusterpolicies", .path = "status.rollout.plan.stay*" },
    { .kind = "gpuclusterpolicies", .path = "status.rollout.plan.nodes" },
    { .kind = "gpuclusterpolicies", .path = "status.rollout.plan.wave*" },
    /* How long it is until the next try. */
    { .kind = "pods", .path = "status.containerStatuses[].state.waiting.message", .from = LOOSEST },
    { .kind = "pods",
      .path = "status.initContainerStatuses[].state.waiting.message",
      .from = LOOSEST },
    { .path = "metadata.managedFields*", .from = LOOSEST },
    /* A driver that hangs is started again and again; an agent tells of it when it looks. */
    { .kind = "gpunodes", .path = "status.inventory.driverContainer", .from = LOOSEST },
    /* What each pool has ever run, also those that the policy has no more. */
    { .kind = "controllerrevisions",
      .path = "metadata.annotations.ostler.dev/target-*",
      .from = LOOSEST },
    { .kind = "controllerrevisions",
      .path = "metadata.annotations.ostler.dev/ran-*",
      .from = LOOSEST },
    { .kind = "controllerrevisions",
      .path = "metadata.annotations.ostler.dev/completed-*",
      .from = LOOSEST },
    { .kind = "controllerrevisions",
      .path = "metadata.annotations.ostler.dev/canary-*",
      .from = LOOSEST },
    /* Edits that are taken back still count. */
    { .kind = "gpuclusterpolicies", .path = "metadata.generation", .from = LOOSEST },
    { .kind = "gpuclusterpolicies", .path = "status.observedGeneration", .from = LOOSEST },
    { .kind = "gpuclusterpolicies",
      .path = "status.conditions[].observedGeneration",
      .from = LOOSEST },
};

/* Kinds whose objects come and go by themselves, and CRDs: large, and S7_FRAME_CHILD sees to it
 * that Ostler leaves them alone. */
static const char *const left_out[] = { "events", "leases", "endpoints", "endpointslices",
                                        "customresourcedefinitions" };
/* Kinds whose objects Ostler makes: how often must not depend on faults. */
static const char *const made[] = { "daemonsets", "controllerrevisions", "services",
                                    "runtimeclasses", "servicemonitors" };

static bool is_in(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* The DaemonSet controller keeps its own history, in which edits that were taken as one are one. */
static bool is_left_out(const struct kind *k, const json_t *object)
{
    return is_in(left_out, ARRAY_LEN(left_out), k->plural) ||
           (strcmp(k->plural, "controllerrevisions") == 0 && object_controller(object));
}

/* A pod that has ended stays as long as its node does. That its kubelet refused it, since others
 * had opened the node in between, is an end, too. */
static bool is_ended_pod(const struct oracle *o, const struct kind *k, const json_t *object)
{
    return o->loose == LOOSEST && strcmp(k->plural, "pods") == 0 && pod_is_finished(object);
}

/* A record that no DaemonSet is made from: what was known good in a pool before. Which revision
 * that is depends on the run's past. */
static bool is_remembered(const struct oracle *o, const struct api *api, const struct kind *k,
                          const json_t *object)
{
    const struct kind *sets = kind_named("daemonsets");
    const char *hash = strrchr(object_name(object), '-');
    if (o->loose != LOOSEST || strcmp(k->plural, "controllerrevisions") != 0 || !hash)
        return false;
    for (size_t i = 0; i < api_count(api, sets); i++)
        if (str_eq(strrchr(object_name(api_at(api, sets, i)), '-'), hash))
            return false;
    return true;
}

/* ---- stories */

/* The name by which an object is known in every run: pods by owner, and those of DaemonSets by
 * node. Where others run, the scheduler finds. Owned. */
static char *key_of(const struct kind *k, const json_t *object)
{
    const json_t *owner = object_controller(object);
    bool pod = strcmp(k->plural, "pods") == 0 && owner;
    if (pod && !str_eq(json_str(owner, "kind"), "DaemonSet"))
        return xasprintf("pods/%s/%s", object_namespace(object), json_str_or_empty(owner, "name"));
    if (pod)
        return xasprintf("pods/%s/%s@%s", object_namespace(object),
                         json_str_or_empty(owner, "name"),
                         json_str_or_empty(object, "spec.nodeName"));
    return xasprintf("%s/%s/%s", k->plural, object_namespace(object), object_name(object));
}

static struct story *story_of(struct oracle *o, const struct kind *k, const json_t *object)
{
    char *key = key_of(k, object);
    struct story *s = map_get(&o->stories, key);
    if (s) {
        free(key);
        return s;
    }
    s = xcalloc(1, sizeof *s);
    *s = (struct story){ .key = key, .counted = is_in(made, ARRAY_LEN(made), k->plural) };
    map_put(&o->stories, s->key, s);
    return s;
}

static void take_creation(struct oracle *o, const struct api_commit *c)
{
    struct story *s = story_of(o, c->kind, c->after);
    s->creates++;
    struct incarnation *i = xcalloc(1, sizeof *i);
    *i = (struct incarnation){ .uid = xstrdup(object_uid(c->after)) };
    i->said = s->counted && !o->loose ? xasprintf("%s#%u", s->key, s->creates) : xstrdup(s->key);
    map_put(&o->incarnations, i->uid, i);
}

void oracle_commit(struct oracle *o, const struct api_commit *c)
{
    if (is_left_out(c->kind, c->after ? c->after : c->before))
        return;
    if (!c->before)
        take_creation(o, c);
    else if (!c->after)
        story_of(o, c->kind, c->before)->deletes++;
}

struct oracle *oracle_new(enum looseness loose)
{
    struct oracle *o = xcalloc(1, sizeof *o);
    o->loose = loose;
    return o;
}

void oracle_free(struct oracle *o)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&o->stories, &cursor))) {
        struct story *s = e->value;
        free(s->key);
        free(s);
    }
    for (cursor = 0; (e = map_next(&o->incarnations, &cursor));) {
        struct incarnation *i = e->value;
        free(i->uid);
        free(i->said);
        free(i);
    }
    map_clear(&o->stories);
    map_clear(&o->incarnations);
    free(o);
}

/* ---- one object, line by line */

struct walk {
    const struct oracle *oracle;
    const char *skipped[ARRAY_LEN(skipped) + 1]; /* paths of this kind; ended by NULL */
    struct buf path;
    uint64_t hash; /* sum over the lines: their order does not count */
    char **lines;  /* where texts are kept */
    size_t line_count;
    bool keep;
};

static bool fits(const char *pattern, const char *path, size_t len)
{
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*')
        return len >= n - 1 && memcmp(pattern, path, n - 1) == 0;
    return len == n && memcmp(pattern, path, n) == 0;
}

static void choose_skipped(struct walk *w, const struct kind *k)
{
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(skipped); i++) {
        bool kind = !skipped[i].kind || strcmp(skipped[i].kind, k->plural) == 0;
        if (kind && skipped[i].from <= w->oracle->loose)
            w->skipped[n++] = skipped[i].path;
    }
}

static bool is_skipped(const struct walk *w)
{
    for (const char *const *path = w->skipped; *path; path++)
        if (fits(*path, w->path.data, w->path.len))
            return true;
    return false;
}

static bool is_time(const char *s)
{
    return strlen(s) >= 20 && s[4] == '-' && s[7] == '-' && s[10] == 'T' &&
           isdigit((unsigned char) s[0]) && isdigit((unsigned char) s[9]);
}

/* Whether a node's report says that a version failed on this node. On which one it failed is where
 * its canary was: that others may have changed. */
static bool is_canary_word(const struct walk *w, const char *s)
{
    static const char *const paths[] = { "status.reason", "status.next.reason" };
    bool here = false;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        here |= fits(paths[i], w->path.data, w->path.len);
    return here && strcmp(s, "RolledBack") == 0;
}

/* What stands for a text in every run. */
static const char *said(const struct walk *w, const char *s)
{
    if (is_time(s))
        return "(time)";
    if (is_canary_word(w, s))
        return "RevisionFailed";
    const struct incarnation *i = strlen(s) == UID_LEN ? map_get(&w->oracle->incarnations, s)
                                                       : NULL;
    return i ? i->said : s;
}

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static void add_line(struct walk *w, const char *text)
{
    w->hash += mixed(str_hash(w->path.data, w->path.len) ^ mixed(str_hash(text, strlen(text))));
    if (!w->keep)
        return;
    w->lines = xreallocarray(w->lines, w->line_count + 1, sizeof *w->lines);
    w->lines[w->line_count++] = xasprintf("%s = %s", w->path.data, text);
}

/* Whether a pod's name ends after these characters: they are drawn by chance. */
static bool is_pod_suffix(const char *s)
{
    return strspn(s, "bcdfghjklmnpqrstvwxz2456789") == POD_SUFFIX_LEN &&
           !isalnum((unsigned char) s[POD_SUFFIX_LEN]) && s[POD_SUFFIX_LEN] != '-';
}

/* On which node a revision failed first is where its canary was: that others may have changed. */
static void hide_canary(char *text)
{
    static const char *const befores[] = { ", on ", "which failed on " };
    for (size_t i = 0; i < ARRAY_LEN(befores); i++) {
        size_t len = strlen(befores[i]);
        char *at = strstr(text, befores[i]), *end = at ? strstr(at, " with ") : NULL;
        if (end)
            memset(at + len, '*', (size_t) (end - at) - len);
    }
}

/* In the record of a fault: a boot is another one in each run. */
static void hide_boot(char *text)
{
    static const char before[] = "\"boot\":\"";
    char *at = strstr(text, before), *boot = at ? at + sizeof before - 1 : NULL;
    if (boot)
        memset(boot, '*', strspn(boot, "0123456789abcdef"));
}

/* A pod's log is read once, as an extra: if that fails the message has no log tail. */
static void cut_last_words(char *text)
{
    char *at = strstr(text, "; its log ends: ");
    if (at)
        *at = '\0';
}

/* A sentence with names of pods, and times, as they are in every run. Owned. */
static char *sentence(const char *s)
{
    char *text = xstrdup(s);
    hide_canary(text);
    hide_boot(text);
    cut_last_words(text);
    for (char *at = strchr(text, '-'); at; at = strchr(at + 1, '-'))
        if (is_pod_suffix(at + 1))
            memset(at + 1, '*', POD_SUFFIX_LEN);
    for (char *at = strchr(text, 'T'); at; at = strchr(at + 1, 'T'))
        if (at - text >= DATE_LEN && is_time(at - DATE_LEN))
            memset(at - DATE_LEN, '*', TIME_LEN);
    return text;
}

static void add_value(struct walk *w, const json_t *value)
{
    if (json_is_string(value)) {
        CLEANUP_FREE char *text = sentence(said(w, json_string_value(value)));
        add_line(w, text);
        return;
    }
    char number[32];
    snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    add_line(w, json_is_integer(value) ? number
                : json_is_true(value)  ? "true"
                : json_is_false(value) ? "false"
                                       : "null");
}

static void walk(struct walk *w, const json_t *value);

static void step(struct walk *w, const char *separator, const char *name, const json_t *value)
{
    size_t len = w->path.len;
    buf_str(&w->path, separator);
    buf_str(&w->path, name);
    walk(w, value);
    w->path.len = len;
    w->path.data[len] = '\0';
}

/* What is noted of the fields of others depends on whether their change was taken back by a repair
 * or by an apply. */
static bool is_of_others(const struct walk *w, const json_t *element)
{
    return fits("metadata.managedFields", w->path.data, w->path.len) &&
           !str_eq(json_str(element, "manager"), FIELD_MANAGER);
}

static void walk(struct walk *w, const json_t *value)
{
    if (w->path.len && is_skipped(w))
        return;
    if (json_is_object(value)) {
        const char *key;
        json_t *member;
        json_object_foreach ((json_t *) value, key, member)
            step(w, w->path.len ? "." : "", key, member);
    } else if (json_is_array(value)) {
        size_t i;
        json_t *element;
        json_array_foreach (value, i, element)
            if (!is_of_others(w, element))
                step(w, "", "[]", element);
    } else {
        add_value(w, value);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

/* All lines as one text; frees them. Owned. */
static char *joined(struct walk *w)
{
    struct buf text = BUF_INIT(TEXT_MAX);
    if (w->line_count)
        qsort(w->lines, w->line_count, sizeof *w->lines, by_text);
    for (size_t i = 0; i < w->line_count; i++) {
        buf_printf(&text, "%s\n", w->lines[i]);
        free(w->lines[i]);
    }
    free(w->lines);
    return buf_take(&text);
}

/* ---- snapshots */

static void add_entry(struct snapshot *s, char *key_steal, uint64_t hash, char *text_steal)
{
    s->entries = xreallocarray(s->entries, s->len + 1, sizeof *s->entries);
    s->entries[s->len++] = (struct snapshot_entry){ key_steal, hash, text_steal };
}

static void add_object(const struct oracle *o, const struct kind *k, const json_t *object,
                       bool keep, struct snapshot *s)
{
    struct walk w = { .oracle = o, .path = BUF_INIT(PATH_MAX_BYTES), .keep = keep };
    choose_skipped(&w, k);
    walk(&w, object);
    buf_clear(&w.path);
    add_entry(s, key_of(k, object), w.hash, keep ? joined(&w) : NULL);
}

static void add_counts(const struct oracle *o, struct snapshot *s)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&o->stories, &cursor))) {
        const struct story *story = e->value;
        if (!story->counted)
            continue;
        char *text = xasprintf("created %u times, deleted %u times\n", story->creates,
                               story->deletes);
        add_entry(s, xasprintf("count of %s", story->key), str_hash(text, strlen(text)), text);
    }
}

static int by_key(const void *a, const void *b)
{
    const struct snapshot_entry *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : x->hash < y->hash ? -1 : x->hash > y->hash;
}

void oracle_snapshot(const struct oracle *o, const struct api *api, bool keep_text,
                     struct snapshot *ret)
{
    *ret = (struct snapshot){ 0 };
    for (size_t i = 0; i < kind_count(); i++) {
        const struct kind *k = kind_at(i);
        for (size_t j = 0; j < api_count(api, k); j++)
            if (!is_left_out(k, api_at(api, k, j)) && !is_ended_pod(o, k, api_at(api, k, j)) &&
                !is_remembered(o, api, k, api_at(api, k, j)))
                add_object(o, k, api_at(api, k, j), keep_text, ret);
    }
    if (!o->loose)
        add_counts(o, ret);
    if (ret->len)
        qsort(ret->entries, ret->len, sizeof *ret->entries, by_key);
}

void snapshot_clear(struct snapshot *s)
{
    for (size_t i = 0; i < s->len; i++) {
        free(s->entries[i].key);
        free(s->entries[i].text);
    }
    free(s->entries);
    *s = (struct snapshot){ 0 };
}

/* ---- differences */

/* The next line of a text and its length; moves on. */
static const char *next_line(const char **at, size_t *ret_len)
{
    const char *line = *at, *end = strchr(line, '\n');
    *ret_len = end ? (size_t) (end - line) : strlen(line);
    *at = line + *ret_len + (end != NULL);
    return line;
}

static int compare_lines(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return order ? order : a_len < b_len ? -1 : a_len > b_len;
}

/* Lines that only one of two sorted texts has. */
static void tell_lines(const char *wanted, const char *got, struct buf *out)
{
    while (*wanted || *got) {
        size_t a_len, b_len;
        const char *a_rest = wanted, *b_rest = got;
        const char *a = next_line(&a_rest, &a_len), *b = next_line(&b_rest, &b_len);
        int order = !*wanted ? 1 : !*got ? -1 : compare_lines(a, a_len, b, b_len);
        if (order < 0)
            buf_printf(out, "    without faults  %.*s\n", (int) a_len, a);
        else if (order > 0)
            buf_printf(out, "    here            %.*s\n", (int) b_len, b);
        wanted = order <= 0 ? a_rest : wanted;
        got = order >= 0 ? b_rest : got;
    }
}

static void tell(const struct snapshot_entry *wanted, const struct snapshot_entry *got,
                 struct buf *out)
{
    const char *what = !wanted ? "is there only here" : !got ? "is not there" : "is different";
    buf_printf(out, "  %s %s\n", wanted ? wanted->key : got->key, what);
    if (wanted && got && wanted->text && got->text)
        tell_lines(wanted->text, got->text, out);
}

bool snapshot_same(const struct snapshot *wanted, const struct snapshot *got, struct buf *out)
{
    bool same = true;
    for (size_t i = 0, j = 0; i < wanted->len || j < got->len;) {
        const struct snapshot_entry *a = i < wanted->len ? &wanted->entries[i] : NULL;
        const struct snapshot_entry *b = j < got->len ? &got->entries[j] : NULL;
        int order = !a ? 1 : !b ? -1 : strcmp(a->key, b->key);
        bool equal = order == 0 && a->hash == b->hash;
        same &= equal;
        if (!equal && out)
            tell(order <= 0 ? a : NULL, order >= 0 ? b : NULL, out);
        i += order <= 0;
        j += order >= 0;
    }
    return same;
}
