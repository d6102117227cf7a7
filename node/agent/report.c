#include "node/agent/report.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "node/inventory/inventory.h"

/* Limit of a response; the largest GpuNode is far smaller. */
enum { ANSWER_MAX = 1 << 20 };

static void report_send(struct report *r, enum report_step step, struct request request)
{
    r->step = step;
    exchange_send(&r->exchange, request);
}

static void report_make(struct report *r)
{
    CLEANUP_JSON json_t *object = json_pack(
        "{s:s, s:s, s:{s:s}}", "apiVersion", resource_api_version(RESOURCE_GPU_NODE), "kind",
        resource_get(RESOURCE_GPU_NODE)->kind, "metadata", "name", r->node);
    report_send(r, REPORT_MAKE, request_create(RESOURCE_GPU_NODE, NULL, object));
}

/* The JSON merge patch that turns `before` into `after`; lists are replaced whole. New
 * reference. */
static json_t *merge_patch(const json_t *before, const json_t *after)
{
    json_t *patch = json_object();
    JSON_EACH_MEMBER (key, value, after) {
        const json_t *old = json_object_get(before, key);
        if (json_is_object(old) && json_is_object(value) && !json_equal(old, value))
            json_object_set_new(patch, key, merge_patch(old, value));
        else if (!json_equal(old, value))
            json_object_set(patch, key, value);
    }
    JSON_EACH_MEMBER (key, value, before)
        if (!json_object_get(after, key))
            json_object_set_new(patch, key, json_null());
    return patch;
}

/* Patches only this incarnation: if the object was recreated, it must be read first. */
static void write_into(struct report *r, const json_t *there)
{
    json_t *change = merge_patch(json_at(there, "status.inventory"), r->inventory);
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:s}, s:{s:o}}", "metadata", "uid",
                                           object_uid(there), "status", "inventory", change);
    report_send(
        r, REPORT_WRITE,
        request_merge_status_as(NODE_FIELD_MANAGER, RESOURCE_GPU_NODE, NULL, r->node, patch));
}

static bool finds_none(const json_t *inventory)
{
    const json_t *gpus = json_object_get(inventory, "gpus");
    return json_is_array(gpus) && json_array_size(gpus) == 0;
}

/* An earlier count is only valid on the same boot. */
static void count_absence(struct report *r, const json_t *said)
{
    int64_t before = 0;
    if (!finds_none(r->inventory))
        return;
    if (finds_none(said) && str_eq(json_str(said, "bootId"), json_str(r->inventory, "bootId")))
        before = json_int(said, "absentLooks", 0);
    r->absent = before < 0                   ? 1
                : before >= ABSENT_LOOKS_MAX ? ABSENT_LOOKS_MAX
                                             : (unsigned) before + 1;
    json_object_set_new(r->inventory, "absentLooks", json_integer(r->absent));
}

/* Whether Ostler waits for open GPU devices to be closed. A node that waits for its jobs is not
 * meant, because that may take weeks: jobs are pods, which the API server reports. Only the agent
 * reports processes. */
static bool is_closed(const json_t *object)
{
    static const char *const states[] = { "Draining", "Unloading", "Removing", NULL };
    return str_is_any_of(json_str(object, "status.state"), states) ||
           json_find(json_at(object, "status.waitingFor"), "reason", "HostProcess");
}

static void take_object(struct report *r, const json_t *object)
{
    const json_t *said = json_at(object, "status.inventory");
    if (r->join)
        r->join(r->arg, said, r->inventory);
    count_absence(r, said);
    if (inventory_same(said, r->inventory))
        r->step = REPORT_DONE;
    else
        write_into(r, object);
}

static bool is_worth_a_gpu_node(const json_t *inventory)
{
    return json_array_size(json_object_get(inventory, "gpus")) ||
           json_array_size(json_object_get(inventory, "nvSwitches"));
}

/* Handles a failed request; a missing GpuNode is not a failure. */
static void report_take_failure(struct report *r, struct reply *reply)
{
    enum report_step step = r->step;
    r->step = REPORT_DONE;
    if (step != REPORT_READ || reply->err.kind != ERR_NOT_FOUND)
        r->err = err_take(&reply->err);
    else if (is_worth_a_gpu_node(r->inventory))
        report_make(r);
}

/* The GpuNode in a response. New reference, or NULL: the response is not from the API server. */
static json_t *object_of(const struct report *r, struct reply *reply)
{
    CLEANUP_JSON json_t *object = reply_object(reply, NULL);
    if (object && (!str_eq(object_name(object), r->node) || !*object_uid(object)))
        err_set(&reply->err, ERR_SERVER, "the answer is not the GpuNode of this name");
    return reply->err.kind == ERR_NONE ? json_incref(object) : NULL;
}

static void take_answer(struct report *r, struct reply *reply)
{
    CLEANUP_JSON json_t *object = object_of(r, reply);
    enum report_step step = r->step;
    r->step = REPORT_DONE;
    r->err = err_take(&reply->err);
    r->closed = is_closed(object);
    if (!object || step == REPORT_WRITE)
        r->wrote = object != NULL;
    else
        take_object(r, object);
}

static void report_on_reply(void *arg, struct reply *reply)
{
    struct report *r = arg;
    r->retry_after_ms = reply->result->retry_after_ms;
    if (reply->err.kind == ERR_NONE)
        take_answer(r, reply);
    else
        report_take_failure(r, reply);
}

void report_begin(struct report *r, const struct transport *transport, const char *node,
                  json_t *inventory_steal)
{
    *r = (struct report){ .node = node, .inventory = inventory_steal, .retry_after_ms = -1 };
    r->exchange = (struct exchange){
        .transport = transport, .done = report_on_reply, .arg = r, .body = BUF_INIT(ANSWER_MAX)
    };
    report_send(r, REPORT_READ, request_get(RESOURCE_GPU_NODE, NULL, node));
}

void report_clear(struct report *r)
{
    exchange_cancel(&r->exchange);
    json_decref(r->inventory);
    err_clear(&r->err);
}
