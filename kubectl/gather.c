#include "kubectl/gather.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"

/* Never shown, and the largest part of a large list. */
static const char *const fields_left_out[] = { "metadata.managedFields", NULL };
static const char *const reports_left_out[] = {
    "metadata.managedFields", "status.inventory.unreadable", "status.inventory.nvSwitches",
    "status.inventory.gpus",  "status.inventory.holders",    NULL
};
static const char *const nodes_left_out[] = { "metadata.managedFields", "status.images",
                                              "status.addresses",       "status.volumesInUse",
                                              "status.volumesAttached", "status.nodeInfo",
                                              "status.conditions",      "status.capacity",
                                              "status.allocatable",     NULL };

static const char *const pods_left_out[] = { "metadata.managedFields",
                                             "metadata.annotations",
                                             "metadata.labels",
                                             "metadata.ownerReferences",
                                             "spec.containers",
                                             "spec.initContainers",
                                             "spec.volumes",
                                             "spec.tolerations",
                                             "status",
                                             NULL };

/* Parts as requests. Events need four, by namespace and object, to skip Events of other objects
 * in `default`. */
enum question {
    POLICY,
    REPORTS,
    LEASE,
    NODES,
    POLICY_EVENTS,
    EVENTS,
    OPERAND_EVENTS,
    OWN_EVENTS,
    PODS,
    SETS,
    QUESTIONS
};

static const struct question_row {
    unsigned part;
    enum resource_id resource;
    const char *member;
} questions[QUESTIONS] = {
    [POLICY] = { SEE_POLICY, RESOURCE_POLICY, "policy" },
    [REPORTS] = { SEE_REPORTS, RESOURCE_GPU_NODE, "reports" },
    [LEASE] = { SEE_LEASE, RESOURCE_LEASE, "lease" },
    [NODES] = { SEE_NODES, RESOURCE_NODE, "nodes" },
    [POLICY_EVENTS] = { SEE_EVENTS, RESOURCE_EVENT, "policyEvents" },
    [EVENTS] = { SEE_EVENTS, RESOURCE_EVENT, "events" },
    [OPERAND_EVENTS] = { SEE_EVENTS, RESOURCE_EVENT, "operandEvents" },
    [OWN_EVENTS] = { SEE_EVENTS, RESOURCE_EVENT, "ownEvents" },
    [PODS] = { SEE_PODS | SEE_PLACES, RESOURCE_POD, "pods" },
    [SETS] = { SEE_SETS, RESOURCE_DAEMONSET, "daemonsets" },
};

static void of_fleet(struct fetch *f, const struct gpu_options *o)
{
    f[NODES].in.label_selector = LABEL_GPU_PRESENT;
    f[NODES].left_out = nodes_left_out;
    f[REPORTS].left_out = reports_left_out;
    f[PODS].in.ns = o->operand_namespace;
}

/* Free `selectors` after the responses. */
static void of_node(struct fetch *f, const char *node, char *selectors[static 2])
{
    selectors[0] = xasprintf("regarding.kind=Node,regarding.name=%s", node);
    selectors[1] = xasprintf("spec.nodeName=%s", node);
    f[NODES].name = f[REPORTS].name = node;
    f[NODES].left_out = f[REPORTS].left_out = NULL;
    f[EVENTS].in.field_selector = selectors[0];
    f[OWN_EVENTS].unwanted = true;
    f[PODS].in.field_selector = selectors[1];
}

/* Both are in Ostler's namespace: if that is unknown, neither is requested. */
static void ask_where(struct ask *a, struct fetch *lease, struct fetch *own_events)
{
    CLEANUP_ERR struct err e = { 0 };
    const char *ns = ask_namespace(a, &e);
    struct fetch *const both[] = { lease, own_events };
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        both[i]->in.ns = ns;
        if (ns || both[i]->unwanted)
            continue;
        both[i]->unwanted = true;
        err_set(&both[i]->e, e.kind, "%s", err_msg(&e));
    }
}

static void prepare(struct fetch *f, const struct gpu_options *o, const struct gathering *g)
{
    for (size_t i = 0; i < QUESTIONS; i++)
        f[i] = (struct fetch){ .resource = questions[i].resource,
                               .unwanted = !(g->parts & questions[i].part),
                               .left_out = fields_left_out };
    f[LEASE].name = LEASE_NAME;
    f[EVENTS].in = (struct list_options){ .ns = "default",
                                          .field_selector = "regarding.kind=Node" };
    f[POLICY_EVENTS].in = (struct list_options){ .ns = "default",
                                                 .field_selector = "regarding.kind=" POLICY_KIND };
    f[OPERAND_EVENTS].in.ns = f[SETS].in.ns = o->operand_namespace;
    if (g->parts & SEE_PLACES)
        f[PODS].left_out = pods_left_out;
    f[POLICY].left_out = NULL; /* managedFields name the tool that manages it */
}

/* Why a part was not readable, as a sentence that depends on the error's kind. */
static char *why(const struct gpu_options *o, const struct ask *a, enum question q,
                 const struct err *e)
{
    bool custom = q == POLICY || q == REPORTS;
    if (e->kind == ERR_NOT_FOUND && custom)
        return xasprintf(
            "%sthe API server of %s does not know %s%s",
            q == POLICY ? "Ostler is not installed here: " : "", ask_cluster(a),
            resource_get(questions[q].resource)->kind,
            q == POLICY ? "" : ", a CRD that Ostler needs: kubectl apply --server-side -f crds");
    if (e->kind == ERR_FORBIDDEN)
        return xasprintf("a permission is missing: %s", err_msg(e));
    if (e->kind == ERR_UNREACHABLE || e->kind == ERR_TIMEOUT)
        return xasprintf("%s (cluster: %s; request timeout %llds)", err_msg(e), ask_cluster(a),
                         (long long) (o->request_timeout_ms / 1000));
    return xstrdup(err_msg(e));
}

/* The policy; if there were several, which the API server prevents, the effective one. */
static json_t *only_policy(json_t *list)
{
    json_t *policy = json_find(list, "metadata.name", POLICY_NAME);
    policy = policy ? policy : json_array_get(list, 0);
    return policy ? json_incref(policy) : NULL;
}

static int gather_take(json_t *snapshot, struct fetch *f, enum question q,
                       const struct gathering *g, const struct gpu_options *o, const struct ask *a,
                       struct err *e)
{
    const struct question_row *row = &questions[q];
    if (f->unwanted && f->e.kind == ERR_NONE)
        return 0;
    if (f->ret) {
        json_t *got = q == POLICY ? only_policy(f->ret) : json_incref(f->ret);
        if (got)
            json_object_set_new(snapshot, row->member, got);
        return 0;
    }
    /* The absence of a single object is a valid result. */
    if (f->name && f->e.kind == ERR_NOT_FOUND)
        return 0;
    CLEANUP_FREE char *sentence = why(o, a, q, &f->e);
    bool absent = q == POLICY && f->e.kind == ERR_NOT_FOUND; /* then Ostler is not installed */
    if (g->needs & row->part || absent)
        return err_set(e, f->e.kind, "%s", sentence);
    json_t *missing = json_object_get(snapshot, "missing");
    if (!missing)
        json_object_set_new(snapshot, "missing", missing = json_object());
    json_object_set_new(missing, row->member, json_text(sentence));
    return 0;
}

json_t *gather(struct ask *a, const struct gpu_options *o, const struct gathering *g, struct err *e)
{
    struct fetch f[QUESTIONS];
    char *selectors[2] = { NULL, NULL };
    prepare(f, o, g);
    if (g->node)
        of_node(f, g->node, selectors);
    else
        of_fleet(f, o);
    if (g->parts & (SEE_LEASE | SEE_EVENTS))
        ask_where(a, &f[LEASE], &f[OWN_EVENTS]);
    ask_all(a, f, QUESTIONS);
    json_t *snapshot = json_object();
    int rc = 0;
    for (size_t i = 0; i < QUESTIONS && rc == 0; i++)
        rc = gather_take(snapshot, &f[i], (enum question) i, g, o, a, e);
    fetches_clear(f, QUESTIONS);
    for (size_t i = 0; i < ARRAY_LEN(selectors); i++)
        mem_cleanup_free(&selectors[i]);
    if (rc == 0)
        return snapshot;
    json_decref(snapshot);
    return NULL;
}
