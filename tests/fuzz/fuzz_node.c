/* Any JSON as a Node and a Pod on it: no crash, and what is planned keeps the rules. The input is a
 * Node, a zero byte, and a Pod; the first byte chooses between managing and removing. A write
 * touches nothing of others, and when it has been carried out the next pass has nothing more to
 * write until something else happens (a step of a removal may be followed by the next one). */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/decide/node_plan.h"
#include "tests/fuzz/two_texts.h"
#include "tests/unit/support/frame.h"

/* More writes in a row than any sequence of steps has. */
enum { WRITES_MAX = 8 };

/* Some time. */
enum { NOW_S = 1795168800 };

#define OPERANDS "ostler-operands"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    struct intern *strings;
    struct policy policy;
    struct targets *targets;
    json_t *record; /* what every record holds */
    struct node_pods pods;
    const struct pod *pod;
    const struct manifests *manifests; /* the same for all inputs */
    struct rollout_spec rollout;
    struct health_spec health;
    enum operating_mode mode;
};

static const json_t *record(void *arg, enum tier tier, const char *hash)
{
    (void) tier;
    (void) hash;
    return ((const struct seen *) arg)->record;
}

static void see_pod(struct seen *s, const struct pod *p)
{
    if (!p)
        return;
    s->pods.gpu_pods = p->gpus > 0;
    s->pods.gpu_pod[0] = p->head.key;
    s->pods.foreign = pod_foreign(p);
    s->pods.foreign_pod = p->head.key;
    s->pods.host_driver = p->host_driver;
    if (p->component == OPERAND_NONE)
        return;
    s->pods.of[p->component].present = true;
    s->pods.of[p->component].ready = p->ready;
    s->pods.of[p->component].revision = intern_text(s->strings, p->revision);
    s->pods.of[p->component].reason = intern_text(s->strings, p->reason);
    s->pods.of[p->component].problem = p->problem;
    s->pods.of[p->component].key = p->head.key;
}

/* What becomes of the node itself: the one write of it. NULL: none. Everything else is about pods:
 * looked at, asked to leave, or deleted; those of a proof or of a pull are made as well. */
static const struct request *write_of(const struct actions *actions)
{
    const struct request *found = NULL;
    for (size_t i = 0; i < actions->len; i++) {
        const struct request *r = &actions->items[i].request;
        if (r->resource == RESOURCE_NODE) {
            assert(!found);
            found = r;
        } else {
            assert(r->resource == RESOURCE_TASK ||
                   (r->resource == RESOURCE_POD &&
                    (r->evicts || request_deletes(r) || r->class == REQUEST_READ)));
        }
    }
    return found;
}

/* Plans for the node as it is; the node after the plan, or NULL when there is nothing to do. New
 * reference. */
static json_t *pass(struct seen *s, const json_t *object)
{
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    struct node_verdict v;
    struct node *n = node_project(s->strings, object);
    bool manage = s->mode == MODE_MANAGE;
    struct node_input in = { .view = { n, s->strings, NULL },
                             .pods = &s->pods,
                             .mode = s->mode,
                             .may_mark = true,
                             .policy = manage ? &s->policy : NULL,
                             .targets = manage ? s->targets : NULL,
                             .rollout = manage ? &s->rollout : NULL,
                             .health_spec = manage ? &s->health : NULL,
                             .pod_list = s->pod,
                             .now_s = NOW_S,
                             .record = record,
                             .manifests = s->manifests,
                             .operand_namespace = OPERANDS,
                             .arg = s };
    node_plan(&in, &a, &v, &actions);
    json_t *after = NULL;
    const struct request *write = write_of(&actions);
    if (write) {
        assert(!object_is_deleting(object));
        CLEANUP_JSON json_t *patch = json_parse(write->body, strlen(write->body), NULL);
        after = frame_operated(object, patch);
        assert(after);
        frame_show(after);
        assert(!frame_broken(object, after));
        bool driver_goes = object_label(object, LABEL_DRIVER) && !object_label(after, LABEL_DRIVER);
        assert(!driver_goes || !s->pods.gpu_pods || s->pods.host_driver);
    }
    node_free(s->strings, n);
    return after;
}

/* Members of a Node that the API server would never have let through are not the plan's business.
 */
static bool is_possible(const json_t *object)
{
    static const char *const objects[] = { "metadata", "metadata.labels", "metadata.annotations",
                                           "spec" };
    const char *key;
    json_t *value;
    if (!json_at(object, "metadata"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(objects); i++)
        if (json_at(object, objects[i]) && !json_is_object(json_at(object, objects[i])))
            return false;
    json_object_foreach (json_at(object, "metadata.labels"), key, value)
        if (!json_is_string(value) || !json_is_whole(value) || strchr(key, '='))
            return false;
    json_object_foreach (json_at(object, "metadata.annotations"), key, value)
        if (!json_is_string(value))
            return false;
    return !json_at(object, "spec.taints") || json_is_array(json_at(object, "spec.taints"));
}

static void walk(struct seen *s, const json_t *first)
{
    CLEANUP_JSON json_t *object = json_deep_copy(first);
    json_set_at(object, "metadata.uid", json_string("u1"));
    frame_show(object);
    for (int i = 0; i <= WRITES_MAX; i++) {
        json_t *after = pass(s, object);
        if (!after)
            return;
        assert(i < WRITES_MAX);
        json_decref(object);
        object = after;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    CLEANUP_JSON json_t *node = NULL, *pod = NULL;
    two_texts(data + 1, size - 1, &node, &pod);
    CLEANUP_JSON json_t *policy = json_pack("{s:{s:s, s:s}, s:{s:{s:{s:s}}}}", "metadata", "name",
                                            POLICY_NAME, "uid", "u1", "spec", "nodes", "labels",
                                            "example.com/extra", "x");
    struct policy_problems problems = { 0 };
    static struct manifests *manifests;
    if (!manifests)
        manifests = manifests_new(NULL);
    struct seen s = { .strings = intern_new(),
                      .record = json_object(),
                      .manifests = manifests,
                      .mode = data[0] & 1 ? MODE_REMOVE : MODE_MANAGE };
    assert(policy_decode(policy,
                         &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true },
                         &s.policy, &problems) == 0);
    rollout_spec_decode(s.policy.spec, &s.rollout);
    health_spec_decode(s.policy.spec, true, &s.health);
    s.targets = targets_new(&s.policy, &(struct target_sources){ 0 });
    struct pod *p = pod ? pod_project(s.strings, OPERANDS, NULL, pod) : NULL;
    see_pod(&s, p);
    s.pod = p;
    if (is_possible(node))
        walk(&s, node);
    else if (node)
        node_free(s.strings, node_project(s.strings, node));
    if (p)
        pod_free(s.strings, p);
    targets_free(s.targets);
    assert(intern_count(s.strings) == 0);
    intern_free(s.strings);
    policy_clear(&s.policy);
    json_decref(s.record);
    return 0;
}
