/* Plans are carried out: each request goes to the API server as it is, and what becomes of the
 * object is held against what no write may ever do. */
#include "tests/unit/support/testbed.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/cluster.h"
#include "reconcilers/model/names.h"
#include "sim/api/api.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/frame.h"

/* A spec that is replaced whole would undo what another client writes in between: that makes the
 * server refuse the write. What is written to a node has a test of its own (test_node_cases.c). */
static void check_race(const json_t *before, const json_t *operations)
{
    if (str_eq(json_str(before, "kind"), "Node"))
        return;
    CLEANUP_JSON json_t *theirs = json_deep_copy(before);
    if (object_generation(before))
        json_set_at(theirs, "metadata.generation", json_integer(object_generation(before) + 1));
    json_set_at(theirs, "metadata.resourceVersion", json_string("987654321"));
    CLEANUP_JSON json_t *object = frame_operated(theirs, operations);
    if (object)
        fail_msg("a JSON patch of %s undoes what another client has written since it was seen",
                 object_name(before));
}

/* A write says which incarnation it is for; one that merges, which version. */
static void check_guard(const struct action *a, const json_t *before, const json_t *body)
{
    const struct request *r = &a->request;
    if (request_deletes(r))
        assert_string_equal(json_str_or_empty(body, "preconditions.uid"), object_uid(before));
    else if (str_eq(r->content_type, "application/json-patch+json")) {
        assert_string_equal(json_str(json_array_get(body, 0), "path"), "/metadata/uid");
        check_race(before, body);
    } else if (str_eq(r->content_type, "application/merge-patch+json") &&
               !strstr(r->path, "/status?")) {
        assert_string_equal(json_str_or_empty(body, "metadata.uid"), object_uid(before));
        assert_string_equal(json_str_or_empty(body, "metadata.resourceVersion"),
                            json_str(before, "metadata.resourceVersion"));
    }
}

/* No driver goes from under a GPU pod, unless a person skips the wait, or it never ran since the
 * host has its own. A label that another client had changed may go back to what runs. */
static void check_driver_stays(const struct testbed *t, const json_t *before, const json_t *after)
{
    const char *was = object_label(before, LABEL_DRIVER), *is = object_label(after, LABEL_DRIVER);
    struct node_pods pods;
    cluster_node_pods(t->cluster, testbed_slot(t, object_name(before)), &pods);
    bool allowed = !was || str_eq(was, is) || pods.host_driver ||
                   str_eq(is, pods.of[OPERAND_DRIVER].revision) ||
                   object_annotation(t->cluster->object, POLICY_FORCE_REMOVAL);
    if (!allowed && pods.gpu_pods)
        fail_msg("node %s: the driver label goes from %s to %s under %zu GPU pods",
                 object_name(before), was, is ? is : "none", pods.gpu_pods);
}

/* Without what every write changes. New reference. */
static json_t *unversioned(const json_t *object)
{
    json_t *copy = json_deep_copy(object);
    json_object_del(json_object_get(copy, "metadata"), "resourceVersion");
    json_object_del(json_object_get(copy, "metadata"), "managedFields");
    return copy;
}

static void check_node_write(const struct testbed *t, const json_t *before, const json_t *after)
{
    CLEANUP_JSON json_t *was = unversioned(before), *is = unversioned(after);
    const char *broken = frame_broken(was, is);
    if (broken)
        fail_msg("node %s: %s", object_name(before), broken);
    check_driver_stays(t, before, after);
    if (object_is_deleting(before))
        fail_msg("node %s is being deleted and is written to", object_name(before));
}

static void check_changes_something(const struct action *a, const json_t *before,
                                    const json_t *after)
{
    CLEANUP_JSON json_t *b = unversioned(before);
    CLEANUP_JSON json_t *c = unversioned(after);
    /* An apply that only confirms what is there, or takes its fields over, may find it so already.
     */
    if (json_equal(b, c) && !str_eq(a->reason, "Confirm") && !str_eq(a->reason, "Drift"))
        fail_msg("%s %s %s changes nothing", verb_text(a->verb), a->target, a->reason);
}

/* What a kubelet says of a one-off pod at once: every image is there. */
static void report_images(struct testbed *t, const json_t *pod)
{
    json_t *statuses = json_array(), *container;
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:s, s:o}}", "status", "phase", "Pending",
                                           "containerStatuses", statuses);
    size_t i;
    json_array_foreach (json_at(pod, "spec.containers"), i, container)
        json_array_append_new(statuses, json_pack("{s:O, s:O, s:O}", "name",
                                                  json_object_get(container, "name"), "image",
                                                  json_object_get(container, "image"), "imageID",
                                                  json_object_get(container, "image")));
    testbed_edit(t, RESOURCE_TASK, object_name(pod), patch);
}

/* False when it is refused, which only what a test has spoilt may be. */
static bool send(struct testbed *t, const struct action *a)
{
    const struct request *r = &a->request;
    const struct api_call call = { .method = r->method,
                                   .target = r->path,
                                   .content_type = r->content_type,
                                   .body = r->body,
                                   .body_len = r->body ? strlen(r->body) : 0,
                                   .user = "ostler",
                                   .user_agent = "ostler" };
    struct api_answer answer = { 0 };
    api_serve(t->api, &call, &answer);
    bool accepted = answer.status < 300;
    if (!accepted && !t->may_refuse)
        fail_msg("%s %s %s is refused: %.*s\n%s", verb_text(a->verb), a->target, a->reason,
                 (int) answer.len, answer.body, r->body);
    api_answer_clear(&answer);
    return accepted;
}

/* A kubelet ends a pod that is asked to leave. */
static void end_pod(struct testbed *t, enum resource_id resource, const char *name)
{
    const json_t *pod = testbed_get(t, resource, name);
    if (pod && (resource == RESOURCE_POD || resource == RESOURCE_TASK))
        testbed_remove(t, resource, name);
}

static void check_write(struct testbed *t, const struct action *a, const json_t *before,
                        const json_t *after)
{
    if (before && after)
        check_changes_something(a, before, after);
    if (before && after && a->request.resource == RESOURCE_NODE)
        check_node_write(t, before, after);
}

static void carry_out(struct testbed *t, const struct action *a)
{
    if (a->request.looks)
        return; /* all that is there is known */
    enum resource_id resource = a->request.resource;
    CLEANUP_FREE char *name = xstrdup(resource == RESOURCE_POLICY ? POLICY_NAME
                                                                  : strrchr(a->target, '/') + 1);
    CLEANUP_JSON json_t *before = json_incref(testbed_get(t, resource, name));
    CLEANUP_JSON json_t *body = json_parse(a->request.body, strlen(a->request.body), NULL);
    t->writes++;
    if (before)
        check_guard(a, before, body);
    if (!send(t, a))
        return;
    CLEANUP_JSON json_t *after = json_incref(testbed_get(t, resource, name));
    bool goes = request_deletes(&a->request) || (a->request.evicts && !a->request.dry_run);
    if (!goes && !a->request.evicts)
        check_write(t, a, before, after);
    if (after && !goes)
        cluster_written(t->cluster, resource, after);
    testbed_tell(t);
    if (goes)
        end_pod(t, resource, name);
    else if (str_eq(a->request.method, "POST") && resource == RESOURCE_TASK)
        report_images(t, after);
}

void testbed_carry_out(struct testbed *t, const struct actions *actions)
{
    for (size_t i = 0; i < actions->len; i++)
        carry_out(t, &actions->items[i]);
}
