/* The API server of a toy, as far as plans need it. Each write is held against what no write may ever do. */
#include "tests/unit/support/toy_inside.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/cluster.h"
#include "reconcilers/model/names.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/frame.h"

/* What server-side apply leaves of the object that was there: labels and annotations of others, and what they own in its spec. */
static json_t *applied(const json_t *before, const json_t *intent)
{
    json_t *object = json_deep_copy(intent);
    static const char *const maps[] = { "metadata.labels", "metadata.annotations" };
    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        const char *key;
        json_t *value, *map = json_at(object, maps[i]);
        json_object_foreach (json_at(before, maps[i]), key, value)
            if (map && !json_object_get(map, key) && !str_has_prefix(key, MARK_PREFIX))
                json_object_set(map, key, value);
    }
    json_t *managers = json_pack("[{s:s, s:s, s:{s:{}}}]", "manager", FIELD_MANAGER, "operation", "Apply", "fieldsV1", "f:spec");
    size_t i;
    json_t *entry;
    bool foreign = false;
    json_array_foreach (json_at(before, "metadata.managedFields"), i, entry) {
        if (str_eq(json_str(entry, "operation"), "Apply") && str_eq(json_str(entry, "manager"), FIELD_MANAGER))
            continue;
        json_array_append(managers, entry);
        foreign = true;
    }
    json_set_at(object, "metadata.managedFields", managers);
    if (foreign) {
        CLEANUP_JSON json_t *spec = json_deep_copy(json_object_get(before, "spec"));
        json_merge(spec, json_object_get(intent, "spec"));
        json_object_set(object, "spec", spec);
    }
    json_object_set(json_object_get(object, "metadata"), "uid", json_at(before, "metadata.uid"));
    json_object_set(json_object_get(object, "metadata"), "generation", json_at(before, "metadata.generation"));
    json_object_set(object, "status", json_object_get(before, "status"));
    return object;
}

/* A spec that is replaced whole would undo what somebody else writes in between: that makes the server refuse the write. What is
 * written to a node has a test of its own (test_node_cases.c). */
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
        fail_msg("a JSON patch of %s undoes what somebody else has written since it was seen", object_name(before));
}

/* A JSON patch, whose tests hold since nobody writes between a pass and its plan; what it changes in the spec is recorded under
 * its sender's name, as an update. */
static json_t *operated(const json_t *before, const json_t *operations)
{
    json_t *object = frame_operated(before, operations);
    if (!object)
        fail_msg("a JSON patch of %s is refused", object_name(before));
    assert_string_equal(json_str(json_array_get(operations, 0), "path"), "/metadata/uid");
    check_race(before, operations);
    if (!json_equal(json_object_get(before, "spec"), json_object_get(object, "spec")))
        json_array_append_new(json_at(object, "metadata.managedFields"),
                              json_pack("{s:s, s:s, s:{s:{}}}", "manager", FIELD_MANAGER, "operation", "Update", "fieldsV1",
                                        "f:spec"));
    return object;
}

/* A guarded merge patch, of the policy. */
static json_t *patched(const json_t *before, const json_t *patch)
{
    assert_string_equal(json_str_or_empty(patch, "metadata.uid"), object_uid(before));
    assert_string_equal(json_str_or_empty(patch, "metadata.resourceVersion"), json_str(before, "metadata.resourceVersion"));
    json_t *object = json_deep_copy(before);
    frame_merge(object, patch);
    return object;
}

/* No driver goes from under a GPU pod, unless a person skips the wait, or it never ran since the host has its own. A label that
 * somebody else had changed may go back to what runs. */
static void check_driver_stays(const struct toy *t, const json_t *before, const json_t *after)
{
    const char *was = object_label(before, LABEL_DRIVER), *is = object_label(after, LABEL_DRIVER);
    struct node_pods pods;
    cluster_node_pods(t->cluster, toy_slot(t, object_name(before)), &pods);
    bool allowed = !was || str_eq(was, is) || pods.host_driver || str_eq(is, pods.of[OPERAND_DRIVER].revision) ||
                   object_annotation(t->cluster->object, POLICY_FORCE_REMOVAL);
    if (!allowed && pods.gpu_pods)
        fail_msg("node %s: the driver label goes from %s to %s under %zu GPU pods", object_name(before), was, is ? is : "none",
                 pods.gpu_pods);
}

static void check_node_write(const struct toy *t, const json_t *before, const json_t *after)
{
    const char *broken = frame_broken(before, after);
    if (broken)
        fail_msg("node %s: %s", object_name(before), broken);
    check_driver_stays(t, before, after);
    if (object_is_deleting(before))
        fail_msg("node %s is being deleted and is written to", object_name(before));
}

static void check_changes_something(const struct action *a, const json_t *before, const json_t *after)
{
    CLEANUP_JSON json_t *b = json_deep_copy(before);
    json_object_del(json_object_get(b, "metadata"), "resourceVersion");
    CLEANUP_JSON json_t *c = json_deep_copy(after);
    json_object_del(json_object_get(c, "metadata"), "resourceVersion");
    /* An apply that only confirms what is there, or takes its fields over, may find it so already. */
    if (json_equal(b, c) && !str_eq(a->reason, "Confirm") && !str_eq(a->reason, "Drift"))
        fail_msg("%s %s %s changes nothing", verb_text(a->verb), a->target, a->reason);
}

/* A one-off pod, and what its kubelet says at once: every image is there. */
static json_t *created(const json_t *before, const json_t *body)
{
    if (before)
        fail_msg("%s is there already", object_name(before));
    json_t *object = json_deep_copy(body), *statuses = json_array(), *container;
    size_t i;
    json_array_foreach (json_at(object, "spec.containers"), i, container)
        json_array_append_new(statuses, json_pack("{s:O, s:O, s:O}", "name", json_object_get(container, "name"), "image",
                                                  json_object_get(container, "image"), "imageID",
                                                  json_object_get(container, "image")));
    json_set_at(object, "status.phase", json_string("Pending"));
    json_set_at(object, "status.containerStatuses", statuses);
    return object;
}

static json_t *result_of(const struct action *a, const json_t *before, const json_t *body)
{
    if (str_eq(a->request.method, "POST"))
        return created(before, body);
    if (strstr(a->request.path, "/status?")) {
        json_t *object = json_deep_copy(before);
        json_object_set(object, "status", json_object_get(body, "status"));
        return object;
    }
    if (str_has_prefix(a->request.content_type, "application/apply-patch"))
        return applied(before, body);
    if (str_has_prefix(a->request.content_type, "application/merge-patch"))
        return patched(before, body);
    return operated(before, body);
}

static void carry_out(struct toy *t, const struct action *a)
{
    CLEANUP_ERR struct err e = { 0 };
    if (a->request.looks)
        return; /* all that is there is known */
    enum resource_id resource = a->request.resource;
    CLEANUP_FREE char *name = xstrdup(resource == RESOURCE_POLICY ? POLICY_NAME : strrchr(a->target, '/') + 1);
    CLEANUP_JSON json_t *before = json_incref(toy_get(t, resource, name));
    CLEANUP_JSON json_t *body = json_parse(a->request.body, strlen(a->request.body), &e);
    t->writes++;
    if (a->request.evicts) {
        if (!a->request.dry_run)
            toy_remove(t, resource, name);
        return;
    }
    if (request_deletes(&a->request)) {
        assert_string_equal(json_str_or_empty(body, "preconditions.uid"), object_uid(before));
        toy_remove(t, resource, name);
        return;
    }
    json_t *after = result_of(a, before, body);
    if (before)
        check_changes_something(a, before, after);
    if (resource == RESOURCE_NODE)
        check_node_write(t, before, after);
    toy_store(t, resource, after);
    bool gone = object_is_deleting(after) && json_array_size(json_at(after, "metadata.finalizers")) == 0;
    cluster_written(t->cluster, resource, after);
    if (gone)
        toy_remove(t, resource, name);
}

void toy_carry_out(struct toy *t, const struct plan *plan)
{
    for (size_t i = 0; i < plan->len; i++)
        carry_out(t, &plan->actions[i]);
}
