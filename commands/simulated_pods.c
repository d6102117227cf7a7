/* The pods of a snapshot in the simulator. */
#include "commands/simulated_world.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/vendor.h"
#include "kube/object.h"
#include "kube/record.h"

/* Identifies the pods of one owner. */
#define LABEL_OWNER "simulated-owner"
#define USER "snapshot"

/* A running pod on a simulated machine. */
struct guest {
    const struct pod *record;
    const json_t *object;
};

struct adding {
    const struct simulated_world *world;
    struct api *api;
    json_t *owners; /* number of recreated pods per owner, by owner_key() */
};

/* ---- resources of a pod */

/* Counts as the engine does: a value that is not a plain number counts as one. */
static int64_t asks_for(const json_t *container, const char *resource)
{
    const json_t *value = json_object_get(json_at(container, "resources.limits"), resource);
    int64_t n;
    if (!value)
        return 0;
    return str_parse_int(str_or_empty(json_string_value(value)), 0, UINT16_MAX, &n) ? n : 1;
}

/* The pod's peak: init containers run one by one before all others, sidecars as long as the main
 * containers. */
static int64_t simulated_pods_holds(const json_t *spec, const char *resource)
{
    int64_t running = 0, most = 0;
    JSON_EACH (c, json_object_get(spec, "containers"))
        running += asks_for(c, resource);
    JSON_EACH (c, json_object_get(spec, "initContainers")) {
        int64_t n = asks_for(c, resource);
        if (str_eq(json_str(c, "restartPolicy"), "Always"))
            running += n;
        else if (n > most)
            most = n;
    }
    return running > most ? running : most;
}

/* Limits for each GPU resource. New reference. */
static json_t *limits_of(const json_t *spec)
{
    static const char *const lists[] = { "initContainers", "containers" };
    json_t *limits = json_object();
    for (size_t list = 0; list < ARRAY_LEN(lists); list++)
        JSON_EACH (c, json_object_get(spec, lists[list]))
            JSON_EACH_MEMBER (name, value, json_at(c, "resources.limits"))
                if (vendor_of_resource(name) && !json_object_get(limits, name))
                    json_object_set_new(
                        limits, name,
                        json_textf("%lld", (long long) simulated_pods_holds(spec, name)));
    return limits;
}

static json_t *simulated_pods_spec_of(const struct guest *g)
{
    const struct pod *p = g->record;
    const json_t *given = json_object_get(g->object, "spec");
    static const char *const kept[] = { "tolerations", "resourceClaims" };
    json_t *spec = json_pack("{s:[{s:s, s:s, s:{s:o}}], s:s}", "containers", "name", "main",
                             "image", p->ends ? SIMULATED_JOB : SIMULATED_SERVICE, "resources",
                             "limits", limits_of(given), "restartPolicy",
                             p->ends ? "Never" : "Always");
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (json_object_get(given, kept[i]))
            json_object_set(spec, kept[i], json_object_get(given, kept[i]));
    if (p->scratch)
        json_object_set_new(spec, "volumes",
                            json_pack("[{s:s, s:{}}]", "name", "scratch", "emptyDir"));
    return spec;
}

/* ---- owners */

/* Whether a controller recreates the pod on any node with room. */
static bool is_made_again(const struct pod *p)
{
    return !p->ends && !p->bare && !p->daemon && !p->fixed;
}

static char *owner_key(const struct guest *g)
{
    return xasprintf("%s/%s", object_namespace(g->object),
                     json_str_or_empty(object_controller(g->object), "name"));
}

/* A hash, since a name may be longer than a label's value. */
static json_t *owner_label(const struct guest *g)
{
    CLEANUP_FREE char *key = owner_key(g);
    return json_textf("%016llx", (unsigned long long) str_hash(key, strlen(key)));
}

static json_t *labels_of(const struct guest *g)
{
    json_t *labels = json_deep_copy(json_at(g->object, "metadata.labels"));
    if (!labels)
        labels = json_object();
    json_object_set_new(labels, LABEL_OWNER, owner_label(g));
    return labels;
}

static int64_t replicas_of(const struct adding *a, const struct guest *g)
{
    CLEANUP_FREE char *key = owner_key(g);
    return json_integer_value(json_object_get(a->owners, key));
}

/* Creates each owner once per namespace. Its uid is borrowed. */
static const char *owner_uid(const struct adding *a, const struct guest *g)
{
    const struct kind *k = kind_named("replicasets");
    const char *ns = object_namespace(g->object),
               *name = json_str_or_empty(object_controller(g->object), "name");
    if (!api_get(a->api, k, ns, name)) {
        CLEANUP_JSON json_t *set = json_pack(
            "{s:{s:s, s:s}, s:{s:I, s:{s:{s:o}}, s:{s:{s:o}, s:o}}}", "metadata", "name", name,
            "namespace", ns, "spec", "replicas", (json_int_t) replicas_of(a, g), "selector",
            "matchLabels", LABEL_OWNER, owner_label(g), "template", "metadata", "labels",
            labels_of(g), "spec", simulated_pods_spec_of(g));
        api_create(a->api, USER, k, set, NULL);
    }
    return object_uid(api_get(a->api, k, ns, name));
}

static json_t *owner_references(const struct adding *a, const struct guest *g)
{
    const json_t *owner = object_controller(g->object);
    if (is_made_again(g->record))
        return json_pack("[{s:s, s:s, s:s, s:s, s:b}]", "apiVersion", "apps/v1", "kind",
                         "ReplicaSet", "name", json_str_or_empty(owner, "name"), "uid",
                         owner_uid(a, g), "controller", 1);
    return owner ? json_pack("[O]", owner) : json_array();
}

/* ---- creation */

static void add_namespace(struct api *api, const char *name)
{
    const struct kind *k = kind_named("namespaces");
    CLEANUP_JSON json_t *ns = json_pack("{s:{s:s}}", "metadata", "name", name);
    if (!api_get(api, k, "", name))
        api_create(api, USER, k, ns, NULL);
}

static void simulated_pods_add_pod(struct adding *a, const struct guest *g)
{
    const char *ns = object_namespace(g->object);
    add_namespace(a->api, ns);
    json_t *spec = simulated_pods_spec_of(g);
    json_object_set(spec, "nodeName", json_at(g->object, "spec.nodeName"));
    CLEANUP_JSON json_t *pod = json_pack(
        "{s:{s:s, s:s, s:o, s:o}, s:o}", "metadata", "name", object_name(g->object), "namespace",
        ns, "labels", labels_of(g), "ownerReferences", owner_references(a, g), "spec", spec);
    api_create(a->api, USER, kind_named("pods"), pod, NULL);
}

/* Counts pods per owner, before the first owner is created. */
static void count_owner(struct adding *a, const struct guest *g)
{
    CLEANUP_FREE char *key = owner_key(g);
    if (is_made_again(g->record))
        json_object_set_new(a->owners, key,
                            json_integer(json_integer_value(json_object_get(a->owners, key)) + 1));
}

static bool is_guest(const struct simulated_world *w, const json_t *object, struct guest *ret)
{
    if (!str_eq(json_str(object, "kind"), "Pod"))
        return false;
    CLEANUP_FREE char *key = record_key(object);
    const struct pod *p = (const struct pod *) table_get(&w->cluster->tables[RESOURCE_POD], key);
    const char *node = p ? intern_text(w->cluster->strings, p->node) : NULL;
    const struct node_slot *slot = node ? map_get(&w->cluster->slots, node) : NULL;
    *ret = (struct guest){ p, object };
    return slot && simulated_world_has_machine(slot) && !p->deleting;
}

static void each_guest(struct adding *a, void (*fn)(struct adding *a, const struct guest *g))
{
    struct guest g;
    JSON_EACH_MEMBER (key, object, a->world->objects)
        if (is_guest(a->world, object, &g))
            fn(a, &g);
}

void simulated_pods_add(const struct simulated_world *w, struct api *api)
{
    CLEANUP_JSON json_t *owners = json_object();
    struct adding a = { .world = w, .api = api, .owners = owners };
    each_guest(&a, count_owner);
    each_guest(&a, simulated_pods_add_pod);
}
