#include "reconcilers/model/gpu_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/request.h"
#include "reconcilers/model/reason.h"

static const char *gpu_node_owner_of(const json_t *object)
{
    JSON_EACH (owner, json_at(object, "metadata.ownerReferences"))
        if (str_eq(json_str(owner, "kind"), "Node"))
            return json_str_or_empty(owner, "uid");
    return "";
}

static void take_state(const json_t *object, char ret[static GPU_NODE_STATE_MAX])
{
    const char *text = json_str_or_empty(object, "status.state");
    if (strlen(text) < GPU_NODE_STATE_MAX)
        snprintf(ret, GPU_NODE_STATE_MAX, "%s", text);
}

static int64_t since_of(const json_t *object)
{
    const char *text = json_str_or_empty(object, "status.since");
    return strlen(text) < GPU_NODE_TIME_MAX ? object_time_s(object, "status.since") : 0;
}

struct log_tail *log_tail_new(const char *pod, const char *container, const char *text)
{
    struct log_tail *w = xcalloc(1, sizeof *w);
    w->pod = xstrdup(pod);
    w->container = xstrdup(container);
    w->text = xstrdup_or_null(text);
    return w;
}

void log_tail_free(struct log_tail *w)
{
    if (!w)
        return;
    free(w->pod);
    free(w->container);
    free(w->text);
    free(w);
}

static struct log_tail *gpu_node_words_of(const json_t *object)
{
    const json_t *said = json_at(object, "status.lastWords");
    const char *pod = json_str(said, "pod"), *container = json_str(said, "container"),
               *text = json_str(said, "text");
    if (!pod || !container || !text || strlen(text) > LAST_WORDS_MAX)
        return NULL;
    return log_tail_new(pod, container, text);
}

/* When a client other than Ostler, the node's agent, last wrote its status. */
static uint32_t said_at(const json_t *object)
{
    int64_t newest_s = 0;
    JSON_EACH (writer, json_at(object, "metadata.managedFields")) {
        bool agents = str_eq(json_str(writer, "subresource"), "status") &&
                      !str_eq(json_str(writer, "manager"), FIELD_MANAGER);
        int64_t s = agents ? object_time_s(writer, "time") : 0;
        newest_s = s > newest_s ? s : newest_s;
    }
    return newest_s < UINT32_MAX ? (uint32_t) newest_s : 0;
}

bool gpu_node_falls_back(const json_t *status)
{
    enum reason reason = reason_parse(json_str(status, "reason"));
    return reason == REASON_ROLLED_BACK || reason == REASON_REVISION_FAILED;
}

struct gpu_node *gpu_node_project(const json_t *object)
{
    struct gpu_node *g = record_new(sizeof *g, object);
    g->owner = str_hash_id(gpu_node_owner_of(object));
    take_state(object, g->state);
    g->falls_back = gpu_node_falls_back(json_object_get(object, "status"));
    g->since_s = since_of(object);
    g->said = gpu_node_said(json_object_get(object, "status"));
    g->concluded = health_status_read(json_object_get(object, "status"));
    g->words = gpu_node_words_of(object);
    g->inventory = node_inventory_read(json_at(object, "status." GPU_NODE_INVENTORY));
    if (g->inventory)
        g->inventory->said_s = said_at(object);
    g->holders = node_holders_read(json_at(object, "status." GPU_NODE_INVENTORY));
    g->health = node_health_read(json_at(object, "status." GPU_NODE_INVENTORY));
    node_stages_read(json_object_get(object, "status"), &g->stages);
    g->deleting = object_is_deleting(object);
    return g;
}

bool gpu_node_same(const struct gpu_node *a, const struct gpu_node *b)
{
    return a->said == b->said && a->deleting == b->deleting && a->owner == b->owner &&
           node_inventory_same(a->inventory, b->inventory) &&
           node_holders_same(a->holders, b->holders) && node_health_same(a->health, b->health);
}

void gpu_node_free(struct gpu_node *g)
{
    log_tail_free(g->words);
    free(g->concluded);
    free(g->inventory);
    node_holders_free(g->holders);
    free(g->health);
    record_free(g);
}

uint64_t gpu_node_said(const json_t *status)
{
    static const char *const of_others[] = { GPU_NODE_GENERATION, GPU_NODE_STAGES,
                                             GPU_NODE_INVENTORY, NULL };
    uint64_t said = 0;
    JSON_EACH_MEMBER (key, value, status)
        if (!str_is_any_of(key, of_others))
            said += json_hash_member(key, value);
    return said;
}
