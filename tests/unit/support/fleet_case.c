#include "tests/unit/support/fleet_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "kube/object.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/decide/health_report.h"
#include "runtime/loop.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/quiet.h"

static enum node_state state_of(const char *name)
{
    int state = 0;
    while (state < NODE_STATE_COUNT && !str_eq(node_state_name((enum node_state) state), name))
        state++;
    assert_int_not_equal(state, NODE_STATE_COUNT);
    return (enum node_state) state;
}

static int64_t time_of(const json_t *is, const char *key)
{
    const char *text = json_str(is, key);
    return text ? clock_parse_rfc3339(text) / 1000000 : 0;
}

static void take_tier(struct node_verdict *v, enum tier t, const char *carried, const char *target)
{
    snprintf(v->carried.hash[t], REVISION_HASH_MAX, "%s", carried);
    snprintf(v->target.hash[t], REVISION_HASH_MAX, "%s", target);
    snprintf(v->ran.hash[t], REVISION_HASH_MAX, "%s", carried);
}

static void find(struct cluster *c, struct node_slot *slot, const json_t *is)
{
    const struct node_view view = { slot->node, c->strings, NULL };
    struct health_input health;
    CLEANUP_ARENA struct arena a = { 0 };
    struct node_verdict v = { .state = state_of(json_str(is, "state")),
                              .reason = reason_parse(json_str(is, "reason")),
                              .word = json_str(is, "reason"),
                              .message = json_str(is, "message"),
                              .cause = operand_parse(json_str_or_empty(is, "operand")),
                              .pod = json_str(is, "pod"),
                              .gpu = json_bool(is, "gpu", true),
                              .looked_at = true,
                              .next_text = json_str(is, "next"),
                              .next_s = time_of(is, "nextAt"),
                              .unhealthy = json_bool(is, "unhealthy", false),
                              .since_s = time_of(is, "since") };
    v.pool = c->policy_valid ? policy_pool_of(&c->policy, node_label, &view) : 0;
    take_tier(&v, TIER_DRIVER, json_str_or_empty(is, "driver"), json_str_or_empty(is, "toDriver"));
    take_tier(&v, TIER_STACK, json_str_or_empty(is, "stack"), json_str_or_empty(is, "toStack"));
    if (cluster_health(c, slot, &health))
        v.fault = health_fault_of(&health, &slot->summary.fault, &a);
    tally_set(&c->tally, &slot->summary, &v);
}

void fleet_case_find(struct fleet_case *f, const char *node, const json_t *is)
{
    find(f->bed.cluster, testbed_slot(&f->bed, node), is);
}

static void put_report(struct testbed *t, const char *name, const json_t *status)
{
    const json_t *node = testbed_get(t, RESOURCE_NODE, name);
    testbed_put(t, RESOURCE_GPU_NODE,
                json_pack("{s:s, s:s, s:{s:s, s:[{s:s, s:s, s:s, s:s}]}, s:O}", "apiVersion",
                          "ostler.dev/v1alpha1", "kind", "GpuNode", "metadata", "name", name,
                          "ownerReferences", "apiVersion", "v1", "kind", "Node", "name", name,
                          "uid", object_uid(node), "status", status));
}

static void put_node(struct fleet_case *f, const json_t *brief)
{
    const char *name = json_str(brief, "name");
    const json_t *report = json_object_get(brief, "report"), *is = json_object_get(brief, "is");
    testbed_put(&f->bed, RESOURCE_NODE, testbed_node(brief));
    JSON_EACH (pod, json_object_get(brief, "pods")) {
        CLEANUP_JSON json_t *placed = json_deep_copy(pod);
        json_object_set_new(placed, "node", json_string(name));
        testbed_put(&f->bed, RESOURCE_POD, testbed_pod(placed));
    }
    if (report)
        put_report(&f->bed, name, report);
    if (is)
        fleet_case_find(f, name, is);
}

void fleet_case_open(struct fleet_case *f, const char *path)
{
    CLEANUP_ERR struct err e = { 0 };
    *f = (struct fleet_case){ .documents = yaml_parse_file(path, NULL, &e) };
    if (!f->documents)
        fail_msg("%s", err_msg(&e));
    const json_t *c = json_array_get(f->documents, 0);
    testbed_init(&f->bed, json_object_get(c, "policy"));
    f->loop = loop_new(&quiet_clock);
    f->source = (struct fleet_source){ f->bed.cluster, "1.2.3", "ostler-a" };
    struct cluster *cluster = f->bed.cluster;
    const struct informer_options o = { .resource = RESOURCE_GPU_NODE };
    cluster->informers[RESOURCE_GPU_NODE] = informer_new(&o, &cluster->tables[RESOURCE_GPU_NODE],
                                                         NULL, f->loop, NULL, NULL);
    JSON_EACH (record, json_object_get(c, "records"))
        testbed_put(&f->bed, RESOURCE_REVISION,
                    testbed_record(json_str(record, "hash"), json_object_get(record, "inputs")));
    JSON_EACH (node, json_object_get(c, "nodes"))
        put_node(f, node);
}

void fleet_case_close(struct fleet_case *f)
{
    struct cluster *c = f->bed.cluster;
    informer_free(TAKE(c->informers[RESOURCE_GPU_NODE]));
    testbed_clear(&f->bed);
    loop_free(f->loop);
    json_decref(f->documents);
}
