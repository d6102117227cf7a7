#include "commands/snapshot.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "client/read_only.h"
#include "client/session.h"
#include "reconcilers/cluster_policy.h"
#include "reconcilers/model/pod.h"
#include "runtime/loop_http.h"

/* The resources for plans, besides the policy; ConfigMaps only if the policy refers to them. */
static const enum resource_id wanted[] = { RESOURCE_NODE,     RESOURCE_POD,    RESOURCE_TASK,
                                           RESOURCE_REVISION, RESOURCE_BUDGET, RESOURCE_GPU_NODE };

/* Wraps a table's functions to keep the objects as received. */
struct tap {
    struct snapshot *snapshot;
    enum resource_id resource;
    struct table_ops to;
};

struct snapshot {
    struct session session;
    /* `reads` passes only reads on to `bounded`, which limits their time */
    struct transport bounded, reads;
    int64_t timeout_ms; /* 0: each request has its own */
    struct loop *loop;
    struct loop_http loop_http;
    struct cluster cluster;
    struct tap taps[RESOURCE_COUNT];
    json_t *objects;
    bool simulates; /* the objects are needed, too */
    bool cluster_made;
};

/* ---- the client */

static uint64_t submit_bounded(void *self, struct request *request_steal,
                               const struct transport_sink *sink)
{
    const struct snapshot *s = self;
    if (s->timeout_ms && request_steal->timeout_ms > s->timeout_ms)
        request_steal->timeout_ms = s->timeout_ms;
    return transport_submit(&s->session.transport, request_steal, sink);
}

static void cancel_bounded(void *self, uint64_t id)
{
    const struct snapshot *s = self;
    transport_cancel(&s->session.transport, id);
}

static int set_up_client(struct snapshot *s, const struct options *o, struct err *e)
{
    const struct session_options so = { o->kubeconfig, o->context, "ostler-plan", ostler_version };
    if (session_open(&s->session, &so, e) < 0)
        return -1;
    s->bounded = (struct transport){ submit_bounded, cancel_bounded, s };
    s->reads = read_only(&s->bounded);
    s->loop = loop_new(&s->session.clock);
    loop_http_add(&s->loop_http, s->loop, s->session.http);
    return 0;
}

/* ---- the cluster */

static void no_node(void *arg, const char *name)
{
    (void) arg, (void) name;
}

static void no_policy(void *arg, bool soon)
{
    (void) arg, (void) soon;
}

/* Pods that use a GPU, or all pods that an upgrade would evict; never Ostler's own, neither
 * operands nor one-off pods. */
static bool may_leave(const struct snapshot *s, const struct pod *p)
{
    return p->gpus > 0 || (s->cluster.all_pods && p->component == OPERAND_NONE);
}

/* A plan needs only budgets; a simulation's other objects would waste memory. */
static bool snapshot_is_kept(const struct tap *t, const struct record *r)
{
    if (!r || t->resource == RESOURCE_TASK || t->resource == RESOURCE_GPU_NODE ||
        (!t->snapshot->simulates && t->resource != RESOURCE_BUDGET))
        return false;
    return t->resource != RESOURCE_POD || may_leave(t->snapshot, (const struct pod *) r);
}

static struct record *tap_project(void *arg, const json_t *object)
{
    const struct tap *t = arg;
    struct record *r = t->to.project(t->to.arg, object);
    if (!snapshot_is_kept(t, r))
        return r;
    /* Items of a list lack apiVersion and kind. */
    json_t *kept = json_copy((json_t *) object);
    json_object_set_new(kept, "apiVersion", json_string(resource_api_version(t->resource)));
    json_object_set_new(kept, "kind", json_string(resource_get(t->resource)->kind));
    CLEANUP_FREE char *key = snapshot_key(resource_get(t->resource)->kind, r->key);
    json_object_set_new(t->snapshot->objects, key, kept);
    return r;
}

static bool tap_same(void *arg, const struct record *a, const struct record *b)
{
    const struct tap *t = arg;
    return t->to.same(t->to.arg, a, b);
}

static void tap_changed(void *arg, struct record *before, struct record *after)
{
    const struct tap *t = arg;
    t->to.changed(t->to.arg, before, after);
}

static void tap_free(void *arg, struct record *r)
{
    const struct tap *t = arg;
    t->to.free(t->to.arg, r);
}

static void tap_table(struct snapshot *s, enum resource_id resource)
{
    struct table *t = &s->cluster.tables[resource];
    s->taps[resource] = (struct tap){ .snapshot = s, .resource = resource, .to = t->ops };
    t->ops = (struct table_ops){ tap_project, tap_same, tap_changed, tap_free, &s->taps[resource] };
    /* These take the argument of before. Without them every object is parsed, as a tap wants. */
    t->relabelled = NULL;
    t->matters = NULL;
    t->read = NULL;
}

static void set_up_cluster(struct snapshot *s, const struct options *o)
{
    struct informer_options rows[RESOURCE_COUNT];
    cluster_init(&s->cluster,
                 &(struct cluster_options){ .operand_namespace = o->operand_namespace,
                                            .limits = o->limits,
                                            .node_name = o->node_name,
                                            .all_labels = true,
                                            .clock = &s->session.clock,
                                            .listener = { .node = no_node, .policy = no_policy } });
    s->cluster_made = true;
    s->objects = json_object();
    size_t n = cluster_informers(&s->cluster, rows);
    for (size_t i = 0; i < n; i++) {
        tap_table(s, rows[i].resource);
        s->cluster.informers[rows[i].resource] = informer_new(
            &rows[i], &s->cluster.tables[rows[i].resource], &s->reads, s->loop, NULL, NULL);
    }
}

/* ---- reading */

static const char *problem(const struct snapshot *s)
{
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        if (s->cluster.informers[i] && informer_state(s->cluster.informers[i]).problem)
            return informer_state(s->cluster.informers[i]).problem;
    return NULL;
}

static bool all_read(const struct snapshot *s)
{
    for (size_t i = 0; i < RESOURCE_COUNT; i++) {
        const struct informer *inf = s->cluster.informers[i];
        if (inf && informer_state(inf).started && !informer_state(inf).synced)
            return false;
    }
    return true;
}

/* Waits until every started list is complete or one has failed: a user of a command retries it. */
static int wait_for_lists(struct snapshot *s, struct err *e)
{
    loop_turn(s->loop);
    while (!all_read(s) && !problem(s))
        loop_wait(s->loop);
    return problem(s) ? err_set(e, ERR_UNREACHABLE, "%s (cluster: %s)", problem(s),
                                s->session.config.description)
                      : 0;
}

struct snapshot *snapshot_open(const struct options *o, struct err *e)
{
    struct snapshot *s = xcalloc(1, sizeof *s);
    s->simulates = o->simulate;
    s->timeout_ms = o->request_timeout_ms;
    if (set_up_client(s, o, e) < 0)
        goto fail;
    set_up_cluster(s, o);
    informer_start(s->cluster.informers[RESOURCE_POLICY]);
    if (wait_for_lists(s, e) < 0)
        goto fail;
    return s;
fail:
    snapshot_free(s);
    return NULL;
}

int snapshot_read(struct snapshot *s, const json_t *policy, struct err *e)
{
    /* First, since the policy decides which pods are kept. */
    cluster_take_policy(&s->cluster, policy);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        informer_start(s->cluster.informers[wanted[i]]);
    if (json_str(policy, "spec.devicePlugin.config.name"))
        informer_start(s->cluster.informers[RESOURCE_CONFIGMAP]);
    return wait_for_lists(s, e);
}

struct cluster *snapshot_cluster(struct snapshot *s)
{
    return &s->cluster;
}

bool snapshot_has_budgets(const struct snapshot *s)
{
    return informer_state(s->cluster.informers[RESOURCE_BUDGET]).present;
}

char *snapshot_key(const char *kind, const char *key)
{
    return xasprintf("%s/%s", kind, key);
}

const json_t *snapshot_objects(const struct snapshot *s)
{
    return s->objects;
}

void snapshot_free(struct snapshot *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < RESOURCE_COUNT && s->cluster_made; i++)
        informer_free(s->cluster.informers[i]);
    if (s->cluster_made)
        cluster_clear(&s->cluster);
    session_close(&s->session); /* last: the others may cancel their requests */
    loop_free(s->loop);
    json_decref(s->objects);
    free(s);
}
