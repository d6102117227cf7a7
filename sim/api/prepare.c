#include "sim/api/prepare.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/draft.h"

static void put_member(json_t *object, const char *key, struct draft *d)
{
    struct draft whole = { .value = object, .own = true };
    draft_put(&whole, key, d);
}

static struct draft prepare_member(json_t *object, const char *key)
{
    struct draft whole = { .value = object, .own = true };
    return draft_at(&whole, key);
}

static void set_metadata_text(json_t *object, const char *map, const char *key, const char *text)
{
    struct draft metadata = prepare_member(object, "metadata"), values = draft_at(&metadata, map);
    if (!str_eq(json_string_value(draft_get(&values, key)), text))
        draft_set(&values, key, json_text(text));
    draft_put(&metadata, map, &values);
    put_member(object, "metadata", &metadata);
}

/* ---- nodes, namespaces */

/* A new node takes no pods until the node controller has seen it ready. */
void prepare_new_node(json_t *object)
{
    static const char key[] = "node.kubernetes.io/not-ready";
    struct draft spec = prepare_member(object, "spec");
    json_t *taints = draft_get(&spec, "taints") ? json_copy(draft_get(&spec, "taints"))
                                                : json_array();
    bool there = false;
    JSON_EACH_AT (i, taint, taints)
        there = there || (str_eq(json_key(taint, "key"), key) &&
                          str_eq(json_key(taint, "effect"), "NoSchedule"));
    if (!there)
        json_array_append_new(taints, json_pack("{s:s, s:s}", "key", key, "effect", "NoSchedule"));
    draft_set(&spec, "taints", taints);
    put_member(object, "spec", &spec);
}

void prepare_new_namespace(json_t *object)
{
    struct draft spec = prepare_member(object, "spec");
    draft_set(&spec, "finalizers", json_pack("[s]", "kubernetes"));
    put_member(object, "spec", &spec);
    set_metadata_text(object, "labels", "kubernetes.io/metadata.name", object_name(object));
    json_object_set_new(object, "status", json_pack("{s:s}", "phase", "Active"));
}

/* Finalizers of a namespace go by a request of their own. */
void prepare_namespace(const json_t *before, json_t *object)
{
    json_object_set(object, "spec", json_object_get(before, "spec"));
}

/* ---- pods */

/* Whether a pod tolerates a NoExecute taint with this key. */
static bool tolerates(const json_t *tolerations, const char *key)
{
    JSON_EACH_AT (i, t, tolerations) {
        const char *its = str_or_empty(json_key(t, "key")),
                   *effect = str_or_empty(json_key(t, "effect"));
        if ((!*its || str_eq(its, key)) && (!*effect || str_eq(effect, "NoExecute")))
            return true;
    }
    return false;
}

/* A pod may stay five minutes on a node that is not ready or unreachable. */
static void add_tolerations(struct draft *spec)
{
    static const char *const keys[] = { "node.kubernetes.io/not-ready",
                                        "node.kubernetes.io/unreachable" };
    const json_t *is = draft_get(spec, "tolerations");
    CLEANUP_JSON json_t *added = is ? json_copy((json_t *) is) : json_array();
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!tolerates(is, keys[i]))
            json_array_append_new(added, json_pack("{s:s, s:s, s:s, s:i}", "key", keys[i],
                                                   "operator", "Exists", "effect", "NoExecute",
                                                   "tolerationSeconds", 300));
    if (json_array_size(added) > json_array_size(is))
        draft_set(spec, "tolerations", json_incref(added));
}

/* Priorities that every cluster has. The classes of the cluster's own are the scheduler's matter: a
 * pod that names one has priority 0 here. */
static const struct priority {
    const char *class;
    int value;
} priorities[] = {
    { "system-node-critical", 2000001000 },
    { "system-cluster-critical", 2000000000 },
};

static void set_priority(struct draft *spec)
{
    const char *class = str_or_empty(json_string_value(draft_get(spec, "priorityClassName")));
    int value = 0;
    for (size_t i = 0; i < ARRAY_LEN(priorities); i++)
        if (str_eq(priorities[i].class, class))
            value = priorities[i].value;
    draft_set(spec, "priority", json_integer(value));
    draft_default(spec, "preemptionPolicy", "PreemptLowerPriority");
}

/* The effect of one container on the quality of service of its pod. */
static void weigh(const json_t *container, bool *any, bool *guaranteed)
{
    static const char *const counted[] = { "cpu", "memory" };
    for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
        const json_t *limits = json_at(container, "resources.limits"),
                     *requests = json_at(container, "resources.requests");
        const char *limit = json_key(limits, counted[i]), *request = json_key(requests, counted[i]);
        request = request ? request : limit;
        *any = *any || (request && !str_eq(request, "0"));
        *guaranteed = *guaranteed && limit && str_eq(limit, request);
    }
}

static const char *quality_of(const json_t *spec)
{
    static const char *const lists[] = { "containers", "initContainers" };
    bool any = false, guaranteed = true;
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        JSON_EACH_AT (i, container, json_object_get(spec, lists[l]))
            weigh(container, &any, &guaranteed);
    return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

void prepare_new_pod(json_t *object)
{
    struct draft spec = prepare_member(object, "spec");
    add_tolerations(&spec);
    set_priority(&spec);
    draft_default(&spec, "serviceAccountName", "default");
    draft_default(&spec, "serviceAccount",
                  str_or_empty(json_string_value(draft_get(&spec, "serviceAccountName"))));
    token_volume_add(&spec, object_name(object));
    put_member(object, "spec", &spec);
    json_object_set_new(object, "status",
                        json_pack("{s:s, s:s}", "phase", "Pending", "qosClass",
                                  quality_of(json_object_get(object, "spec"))));
}

/* Keeps what admission and defaults filled in if a client leaves it out. */
static void keep_members(json_t *object, const json_t *before, const char *const *keys, size_t len)
{
    struct draft spec = prepare_member(object, "spec");
    const json_t *was = json_object_get(before, "spec");
    for (size_t i = 0; i < len; i++)
        if (json_object_get(was, keys[i]))
            draft_default_value(&spec, keys[i], json_incref(json_object_get(was, keys[i])));
    put_member(object, "spec", &spec);
}

void prepare_pod(const json_t *before, json_t *object)
{
    static const char *const keys[] = { "serviceAccountName", "serviceAccount", "priority",
                                        "preemptionPolicy" };
    keep_members(object, before, keys, ARRAY_LEN(keys));
    struct draft spec = prepare_member(object, "spec");
    add_tolerations(&spec);
    put_member(object, "spec", &spec);
}

/* ---- services */

/* An address of the service network, derived from the name. Two names may share one: nothing
 * connects to it. */
static char *address_of(const json_t *object)
{
    CLEANUP_FREE char *key = xasprintf("%s/%s", object_namespace(object), object_name(object));
    uint64_t hash = str_hash(key, strlen(key));
    return xasprintf("10.96.%d.%d", (int) (hash >> 8 & 0xff), (int) (hash & 0x7f) + 10);
}

static void set_node_port(struct draft *port, size_t i, const void *address)
{
    enum { FIRST = 30000, COUNT = 2768 };
    uint64_t hash = str_hash(address, strlen(address));
    draft_default_value(port, "nodePort", json_integer(FIRST + (json_int_t) ((hash + i) % COUNT)));
}

/* Ports on the nodes, if a service of this type does not name them. */
static void set_node_ports(const json_t *object, struct draft *spec)
{
    static const char *const types[] = { "NodePort", "LoadBalancer", NULL };
    CLEANUP_FREE char *address = address_of(object);
    if (str_is_any_of(json_string_value(draft_get(spec, "type")), types))
        draft_each(spec, "ports", set_node_port, address);
}

void prepare_new_service(json_t *object)
{
    struct draft spec = prepare_member(object, "spec");
    set_node_ports(object, &spec);
    if (!str_eq(json_string_value(draft_get(&spec, "type")), "ExternalName")) {
        CLEANUP_FREE char *address = address_of(object);
        draft_default(&spec, "clusterIP", address);
        draft_default_value(&spec, "clusterIPs", json_pack("[O]", draft_get(&spec, "clusterIP")));
        /* A service without an address and a selector has both families. */
        bool both = str_eq(json_string_value(draft_get(&spec, "clusterIP")), "None") &&
                    !draft_get(&spec, "selector");
        draft_default_value(&spec, "ipFamilies",
                            both ? json_pack("[s, s]", "IPv4", "IPv6") : json_pack("[s]", "IPv4"));
        draft_default(&spec, "ipFamilyPolicy", both ? "RequireDualStack" : "SingleStack");
    }
    put_member(object, "spec", &spec);
}

void prepare_service(const json_t *before, json_t *object)
{
    static const char *const keys[] = { "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy" };
    if (!str_eq(json_str(object, "spec.type"), "ExternalName"))
        keep_members(object, before, keys, ARRAY_LEN(keys));
    struct draft spec = prepare_member(object, "spec");
    set_node_ports(object, &spec);
    put_member(object, "spec", &spec);
}

/* ---- jobs */

static const char *const job_uid_labels[] = { "batch.kubernetes.io/controller-uid",
                                              "controller-uid" };
static const char *const job_name_labels[] = { "batch.kubernetes.io/job-name", "job-name" };

static void label_job(json_t *object, const char *uid, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(job_uid_labels); i++) {
        set_metadata_text(object, "labels", job_uid_labels[i], uid);
        set_metadata_text(object, "labels", job_name_labels[i], name);
    }
}

/* A job labels its pods with its uid and selects them by it, unless manualSelector is set. */
void prepare_new_job(json_t *object)
{
    struct draft spec = prepare_member(object, "spec");
    if (!json_is_true(draft_get(&spec, "manualSelector"))) {
        const char *uid = object_uid(object), *name = object_name(object);
        label_job(object, uid, name);
        json_t *template = draft_get(&spec, "template") ? json_copy(draft_get(&spec, "template"))
                                                        : json_object();
        label_job(template, uid, name);
        draft_set(&spec, "template", template);
        struct draft selector = draft_at(&spec, "selector"),
                     labels = draft_at(&selector, "matchLabels");
        draft_set(&labels, job_uid_labels[0], json_text(uid));
        draft_put(&selector, "matchLabels", &labels);
        draft_put(&spec, "selector", &selector);
        draft_set(&spec, "manualSelector", json_false());
    }
    put_member(object, "spec", &spec);
}

/* ---- DaemonSets */

static void set_template_generation(json_t *object, int64_t generation)
{
    CLEANUP_FREE char *text = xasprintf("%" PRId64, generation);
    set_metadata_text(object, "annotations", TEMPLATE_GENERATION, text);
}

void prepare_new_daemon_set(json_t *object)
{
    set_template_generation(object, 1);
}

void prepare_daemon_set(const json_t *before, json_t *object)
{
    int64_t generation = 1;
    const char *was = object_annotation(before, TEMPLATE_GENERATION);
    if (was)
        str_parse_int(was, 0, INT64_MAX - 1, &generation);
    bool same = json_equal(json_at(before, "spec.template"), json_at(object, "spec.template"));
    set_template_generation(object, same ? generation : generation + 1);
}
