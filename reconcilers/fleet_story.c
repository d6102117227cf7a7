#include "reconcilers/fleet_story.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/vendor.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/decide/holders.h"
#include "reconcilers/view/snapshot.h"

/* ---- what the agent reported */

/* Not known: absent. */
static void set_time(json_t *object, const char *key, int64_t at_s)
{
    char text[CLOCK_TEXT_MAX];
    clock_rfc3339(at_s * 1000000, text);
    if (at_s)
        json_object_set_new(object, key, json_string(text));
}

/* Of a boot id only a hash is kept: it is compared, not shown. */
static json_t *boot_json(uint64_t boot)
{
    return json_textf("%016" PRIx64, boot);
}

static json_t *fault_json(const struct gpu_fault *f)
{
    json_t *fault = json_pack("{s:s, s:i, s:b, s:b, s:I, s:o, s:s*}", "address", f->address, "xid",
                              (int) f->xid, "nvswitch", f->nvswitch, "fatal", f->fatal, "count",
                              (json_int_t) f->count, "bootId", boot_json(f->boot), "recovery",
                              f->recovery ? gpu_recovery_name((enum gpu_recovery) f->recovery)
                                          : NULL);
    set_time(fault, "first", f->first_s);
    set_time(fault, "last", f->last_s);
    return fault;
}

static json_t *faults_json(const struct node_health *h)
{
    json_t *faults = json_array();
    for (size_t i = 0; h && i < h->faults_len; i++)
        json_array_append_new(faults, fault_json(&h->faults[i]));
    return faults;
}

/* The product is that of the first; it holds for all if they are alike. */
static json_t *gpus_json(const struct node_inventory *i)
{
    json_t *gpus = json_array();
    char address[INVENTORY_ADDRESS_MAX];
    bool alike = i->driven && i->alike == i->driven;
    for (size_t k = 0; node_inventory_address(i, k, address); k++)
        json_array_append_new(gpus, json_pack("{s:s, s:s*}", "address", address, "product",
                                              alike ? i->product : NULL));
    return gpus;
}

static const char *holders_text(const struct node_holders *h, struct arena *a)
{
    const char *text = NULL;
    for (size_t i = 0; h && i < h->host_count; i++)
        text = arena_printf(a, "%s%s%s", str_or_empty(text), text ? ", " : "",
                            holders_host_text(&h->hosts[i], a));
    return text;
}

json_t *fleet_inventory(const struct cluster *c, const struct node_slot *slot, struct arena *a)
{
    const struct gpu_node *report = cluster_report(c, slot);
    const struct node_inventory *i = report ? report->inventory : NULL;
    if (!i)
        return NULL;
    json_t *inventory = json_pack("{s:o, s:o, s:o, s:s*}", "bootId", boot_json(i->boot), "gpus",
                                  gpus_json(i), "faults", faults_json(report->health), "heldBy",
                                  holders_text(cluster_holders(c, slot), a));
    if (*i->module_version)
        json_object_set_new(inventory, "module", json_pack("{s:s}", "version", i->module_version));
    return inventory;
}

/* ---- the node */

static void take_label(json_t *labels, const struct node_view *view, const char *key)
{
    const char *value = node_label(view, key);
    if (value)
        json_object_set_new(labels, key, json_text(value));
}

static void take_annotation(json_t *annotations, const struct intern *strings, const char *key,
                            uint32_t value)
{
    const char *text = intern_text(strings, value);
    if (text)
        json_object_set_new(annotations, key, json_text(text));
}

/* The marks that the story is about: they are read here, and do not leave the process. */
static json_t *node_json(const struct cluster *c, const struct node_slot *slot)
{
    const struct node *n = slot->node;
    const struct node_view view = cluster_view(c, n);
    json_t *labels = json_object(), *annotations = json_object(),
           *ready = json_pack("{s:s, s:s}", "type", "Ready", "status", n->ready ? "True" : "False");
    take_label(labels, &view, LABEL_HOLD);
    take_label(labels, &view, LABEL_HEALTH);
    take_label(labels, &view, LABEL_MANAGED);
    take_annotation(annotations, c->strings, ANNOTATION_CLAIM, n->claim);
    take_annotation(annotations, c->strings, ANNOTATION_FAULT, n->fault);
    take_annotation(annotations, c->strings, ANNOTATION_GAVE_UP, n->gave_up);
    take_annotation(annotations, c->strings, ANNOTATION_REPAIR, n->repair);
    set_time(ready, "lastTransitionTime", n->up_since_s);
    return json_pack("{s:{s:s, s:o, s:o}, s:{s:b}, s:{s:[o]}}", "metadata", "name", slot->name,
                     "labels", labels, "annotations", annotations, "spec", "unschedulable",
                     n->cordoned, "status", "conditions", ready);
}

/* ---- its pods */

static bool is_ours(const struct pod *p)
{
    return p->component != OPERAND_NONE || p->is_task;
}

/* "ImagePullBackOff: Back-off …" as the state of a container; NULL: nothing is wrong. */
static json_t *trouble_json(const struct cluster *c, const struct pod *p)
{
    const char *word = p->ready || !is_ours(p) ? NULL : intern_text(c->strings, p->reason);
    const char *text = str_or_empty(p->problem);
    if (!word)
        return NULL;
    if (str_has_prefix(text, word))
        text += strlen(word);
    text += strspn(text, ": ");
    return json_pack("[{s:{s:{s:o, s:o}}}]", "state", "waiting", "reason", json_text(word),
                     "message", json_text(text));
}

static json_t *labels_json(const struct pod *p)
{
    const struct task *task = pod_task(p);
    return json_pack("{s:s*, s:s*, s:s*}", LABEL_MANAGED_BY, is_ours(p) ? MANAGED_BY : NULL,
                     LABEL_COMPONENT,
                     p->component != OPERAND_NONE ? operand_name(p->component) : NULL, LABEL_TASK,
                     task ? task_kind_name(task->kind) : NULL);
}

/* An operand that is not ready has no time in its record. */
static int64_t made_s(const struct pod *p)
{
    const struct task *task = pod_task(p);
    return task ? task->created_s : p->component == OPERAND_NONE || p->ready ? p->made_s : 0;
}

static json_t *resources_json(const struct node_slot *slot, const struct pod *p)
{
    return p->gpus ? json_pack("[{s:{s:{s:o}}}]", "resources", "limits",
                               vendors[slot->node->vendor].resource, json_textf("%u", p->gpus))
                   : json_array();
}

/* Of the pods of others only the phase is kept, and of none how often it restarted: null. */
static json_t *conditions_json(const struct pod *p)
{
    return is_ours(p)
               ? json_pack("[{s:s, s:s}]", "type", "Ready", "status", p->ready ? "True" : "False")
               : json_null();
}

static json_t *pod_json(const struct cluster *c, const struct node_slot *slot, const struct pod *p)
{
    const char *slash = strchr(p->head.key, '/');
    const char *name = slash ? slash + 1 : p->head.key;
    json_t *pod = json_pack(
        "{s:{s:s%, s:s, s:o}, s:{s:o}, s:{s:s, s:o, s:n, s:o*}}", "metadata", "namespace",
        p->head.key, slash ? (size_t) (slash - p->head.key) : 0, "name", name, "labels",
        labels_json(p), "spec", "containers", resources_json(slot, p), "status", "phase",
        p->ready || p->running ? "Running" : "Pending", "conditions", conditions_json(p),
        "containerStatuses", "initContainerStatuses", trouble_json(c, p));
    set_time(json_object_get(pod, "metadata"), "creationTimestamp", made_s(p));
    if (p->deleting)
        json_set_at(pod, "metadata.deletionTimestamp", json_string(""));
    return pod;
}

static int by_name(const json_t *a, const json_t *b)
{
    return strcmp(json_str_or_empty(a, "metadata.name"), json_str_or_empty(b, "metadata.name"));
}

/* Other pods that Ostler keeps, to drain them, hold no GPU. */
static json_t *pods_json(const struct cluster *c, const struct node_slot *slot)
{
    json_t *pods = json_array();
    for (const struct pod *p = slot->pods; p; p = p->next_on_node)
        if (is_ours(p) || p->gpus)
            json_array_append_new(pods, pod_json(c, slot, p));
    return snapshot_sorted(pods, by_name);
}

/* ---- all of it */

json_t *fleet_story(const struct fleet_source *s, const struct node_slot *slot,
                    const json_t *status, const char *now)
{
    const struct cluster *c = s->cluster;
    json_t *events = recent_events_of(&c->recent, RESOURCE_NODE, slot->name);
    CLEANUP_JSON json_t *of_report = recent_events_of(&c->recent, RESOURCE_GPU_NODE, slot->name);
    json_array_extend(events, of_report);
    size_t pool = slot->summary.pool;
    bool known = c->policy_valid && pool < c->policy.pools_len;
    return json_pack(
        "{s:s*, s:O*, s:{s:{s:s}, s:{s:s, s:s}}, s:{s:{s:s}, s:O}, s:o, s:o, s:o, s:o, s:{s:o}}",
        "pool", known ? c->policy.pools[pool].name : NULL, "policy", c->object, "lease", "metadata",
        "namespace", OSTLER_NAMESPACE, "spec", "holderIdentity", s->holder, "renewTime", now,
        "reports", "metadata", "name", slot->name, "status", status, "nodes", node_json(c, slot),
        "pods", pods_json(c, slot), "events", events, "policyEvents",
        recent_events_of(&c->recent, RESOURCE_POLICY, POLICY_NAME), "missing", "events",
        json_text("Ostler keeps only its own newest Events, and neither who set a label nor how "
                  "often a pod restarted: kubectl gpu explain shows all"));
}
