/* What a testbed holds: the API server, what a test puts there, and the operator's watches. */
#include "tests/unit/support/testbed.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/request.h"
#include "reconcilers/cluster.h"
#include "reconcilers/model/names.h"
#include "reconcilers/reconcilers.h"
#include "sim/api/builtin.h"
#include "sim/api/custom_rules.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/frame.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/testbed_store.h"

/* Parsed once for all testbeds: they are most of what one costs. */
static struct {
    struct manifests *manifests;
    struct custom_schemas *schemas;
    json_t *definitions;
} shared;

static void share(void)
{
    CLEANUP_ERR struct err e = { 0 };
    if (shared.manifests)
        return;
    shared.manifests = manifests_new(&e);
    assert_non_null(shared.manifests);
    shared.schemas = custom_schemas_new();
    shared.definitions = builtin_crds();
    json_array_append_new(shared.definitions, builtin_crd_of("servicemonitors"));
    size_t i;
    json_t *definition;
    json_array_foreach (shared.definitions, i, definition) /* the schemas are shared apart */
        json_object_del(json_array_get(json_at(definition, "spec.versions"), 0), "schema");
}

static const struct kind *kind_for(enum resource_id resource)
{
    return kind_of(resource_api_version(resource), resource_get(resource)->kind);
}

/* ---- the server */

static void start_server(struct testbed *t)
{
    size_t i;
    json_t *definition;
    t->api = api_new(&quiet_clock);
    api_share_schemas(t->api, shared.schemas);
    json_array_foreach (shared.definitions, i, definition)
        api_restore(t->api, kind_named("customresourcedefinitions"), definition);
    CLEANUP_JSON json_t *namespace = json_pack("{s:{s:s}}", "metadata", "name", TESTBED_NAMESPACE);
    assert_int_equal(api_create(t->api, "admin", kind_named("namespaces"), namespace, NULL), 0);
}

static void start_watches(struct testbed *t)
{
    struct informer_options rows[RESOURCE_COUNT];
    size_t count = cluster_informers(t->cluster, rows);
    CLEANUP_FREE char *rv = xasprintf("%llu", (unsigned long long) api_rv(t->api));
    for (size_t i = 0; i < count; i++) {
        struct request request = request_watch(rows[i].resource, &rows[i].list, rv, 300);
        const struct api_call call = { .method = request.method,
                                       .target = request.path,
                                       .user = "ostler" };
        struct api_answer answer = { 0 };
        api_serve(t->api, &call, &answer);
        assert_non_null(answer.watch);
        t->watches[rows[i].resource] = TAKE(answer.watch);
        api_answer_clear(&answer);
        request_clear(&request);
    }
}

json_t *testbed_list(const struct testbed *t, enum resource_id resource)
{
    struct informer_options rows[RESOURCE_COUNT];
    size_t last = cluster_informers(t->cluster, rows) - 1;
    while (last > 0 && rows[last].resource != resource)
        last--;
    const struct list_options *o = &rows[last].list;
    const struct kind *k = kind_for(resource);
    json_t *list = json_array();
    for (size_t i = 0; i < api_count(t->api, k); i++) {
        json_t *object = api_at(t->api, k, i);
        bool there = !o->ns || str_eq(object_namespace(object), o->ns);
        if (there && (!o->label_selector || object_label(object, o->label_selector)))
            json_array_append(list, object);
    }
    return list;
}

void testbed_tell(struct testbed *t)
{
    const char *line;
    size_t len;
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        while (t->watches[i] && api_watch_next(t->watches[i], &line, &len) == API_WATCH_FRAME) {
            CLEANUP_JSON json_t *object = testbed_committed(t->api, api_watch_rv(t->watches[i]));
            table_event(&t->cluster->tables[i], object,
                        str_has_prefix(line, "{\"type\":\"DELETED\""));
        }
}

void testbed_init(struct testbed *t, const json_t *policy)
{
    share();
    *t = (struct testbed){ .cluster = xcalloc(1, sizeof *t->cluster),
                           .manifests = shared.manifests };
    cluster_init(t->cluster, &(struct cluster_options){
                                 .operand_namespace = TESTBED_NAMESPACE,
                                 .limits = { POLICY_IMAGE_PREFIXES, "*", NULL, false, true },
                                 .clock = &quiet_clock,
                                 .listener = quiet_listener });
    t->passes = xcalloc(1, sizeof *t->passes);
    *t->passes = (struct reconcilers){ .cluster = t->cluster,
                                       .manifests = t->manifests,
                                       .policy = quiet_listener.policy };
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        t->cluster->tables[i].synced = true;
    start_server(t);
    start_watches(t);
    if (!policy)
        return;
    CLEANUP_JSON json_t *base = json_pack(
        "{s:s, s:s, s:{s:s, s:[s]}, s:{s:{s:b}, s:{s:{s:b}}}}", "apiVersion", POLICY_API_VERSION,
        "kind", POLICY_KIND, "metadata", "name", POLICY_NAME, "finalizers", POLICY_FINALIZER,
        "spec", "validation", "enabled", 0, "nodes", "startupTaint", "enabled", 0);
    json_merge(base, policy);
    testbed_put(t, RESOURCE_POLICY, json_incref(base));
}

void testbed_clear(struct testbed *t)
{
    rollout_report_clear(&t->passes->rollout);
    rollout_plan_status_clear(&t->passes->plans);
    free(t->passes);
    cluster_clear(t->cluster);
    free(t->cluster);
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        api_watch_free(t->watches[i]);
    api_free(t->api);
    err_clear(&t->refused);
    prerequisites_clear(&t->prerequisites);
}

/* ---- what others do */

json_t *testbed_get(const struct testbed *t, enum resource_id resource, const char *name)
{
    const struct kind *k = kind_for(resource);
    size_t count = api_count(t->api, k);
    for (size_t i = 0; i < count; i++)
        if (str_eq(object_name(api_at(t->api, k, i)), name))
            return api_at(t->api, k, i);
    return NULL;
}

/* What the server would fill in. */
static void complete(struct testbed *t, const struct kind *k, const json_t *before, json_t *object)
{
    json_t *metadata = json_object_get(object, "metadata");
    const char *name = object_name(object);
    json_object_set_new(object, "apiVersion", json_string(kind_api_version(k)));
    json_object_set_new(object, "kind", json_string(k->kind));
    if (!*object_uid(object))
        json_object_set_new(metadata, "uid", json_textf("uid-%s-%u", name, t->made));
    const json_t *was = json_object_get(before, "spec"), *is = json_object_get(object, "spec");
    bool changed = !before || (was != is && !json_equal(was, is));
    if (object_is_deleting(object) && !json_object_get(metadata, "deletionGracePeriodSeconds"))
        json_object_set_new(metadata, "deletionGracePeriodSeconds", json_integer(0));
    if (k->flags & KIND_GENERATION && (changed || !object_generation(object)))
        json_object_set_new(metadata, "generation", json_integer(object_generation(before) + 1));
}

void testbed_put(struct testbed *t, enum resource_id resource, json_t *object_steal)
{
    const struct kind *k = kind_for(resource);
    if (k->namespaced && !*object_namespace(object_steal))
        json_set_at(object_steal, "metadata.namespace", json_string(TESTBED_NAMESPACE));
    t->made++;
    json_t *before = api_get(t->api, k, object_namespace(object_steal), object_name(object_steal));
    complete(t, k, before, object_steal);
    testbed_commit(t->api, k, before, object_steal);
    testbed_tell(t);
}

void testbed_edit(struct testbed *t, enum resource_id resource, const char *name,
                  const json_t *patch)
{
    const json_t *before = testbed_get(t, resource, name);
    if (!before)
        fail_msg("there is no %s", name);
    json_t *object = json_deep_copy(before);
    frame_merge(object, patch);
    testbed_put(t, resource, object);
}

void testbed_edit_as(struct testbed *t, const char *manager, enum resource_id resource,
                     const char *name, const json_t *patch)
{
    const json_t *before = testbed_get(t, resource, name);
    struct refusal r = { 0 };
    if (api_merge(t->api, manager, kind_for(resource), object_namespace(before), name, "", patch,
                  &r) < 0)
        fail_msg("the edit of %s is refused: %s", name, r.message);
    testbed_tell(t);
}

void testbed_remove(struct testbed *t, enum resource_id resource, const char *name)
{
    const json_t *before = testbed_get(t, resource, name);
    if (!before)
        fail_msg("there is no %s", name);
    testbed_commit(t->api, kind_for(resource), before, NULL);
    testbed_tell(t);
}
