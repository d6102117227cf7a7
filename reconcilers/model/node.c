#include "reconcilers/model/node.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/vendor.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/node_inventory.h"
#include "reconcilers/model/policy_formats.h"

/* More labels than any node has; the rest is ignored. */
enum { LABELS_MAX = 4096 };
/* More bytes than an object has. */
enum { LABEL_BYTES_MAX = 64 << 20 };

_Static_assert(offsetof(struct node, keeps) + sizeof(uint32_t[KEEP_COUNT]) ==
                   offsetof(struct node, texts) + sizeof(uint32_t[NODE_TEXTS]),
               "all texts are counted");

/* Longest text of slices: far more kinds than one GPU can have. */
enum { SLICES_MAX_BYTES = 512 };

static void project_labels(struct intern *in, struct node *n, const json_t *labels)
{
    size_t count = json_object_size(labels);
    n->labels = xcalloc(count < LABELS_MAX ? count : LABELS_MAX, sizeof *n->labels);
    CLEANUP_BUF struct buf label = BUF_INIT(LABEL_BYTES_MAX);
    JSON_EACH_MEMBER (key, value, labels) {
        if (n->label_count == LABELS_MAX)
            break;
        buf_reset(&label);
        buf_str(&label, key);
        buf_str(&label, "=");
        buf_str(&label, str_or_empty(json_string_value(value)));
        n->labels[n->label_count++] = intern_add(in, buf_text(&label));
    }
}

/* A node's status may have resources with any name. The API server accepts in a pod only those with
 * the format of label keys. */
static bool can_be_asked_for(const char *resource)
{
    return policy_format_matches(FORMAT_LABEL_KEY, resource);
}

/* Which of two resources to request: a whole GPU, else the first by name, so that the choice is
 * stable. */
static bool is_better(const struct vendor *v, const char *resource, const char *than)
{
    if (!than || str_eq(resource, v->resource))
        return true;
    return !str_eq(than, v->resource) && strcmp(resource, than) < 0;
}

/* Allocatable GPUs of a vendor, together, and a resource to request one. */
static int32_t count_gpus(const struct vendor *v, const json_t *allocatable,
                          const char **ret_device)
{
    int64_t total = 0;
    *ret_device = NULL;
    JSON_EACH_MEMBER (key, value, allocatable) {
        int64_t n;
        const char *text = json_string_value(value);
        if (vendor_of_resource(key) != v || !text || !str_parse_int(text, 0, INT32_MAX, &n))
            continue;
        total += n;
        if (n > 0 && can_be_asked_for(key) && is_better(v, key, *ret_device))
            *ret_device = key;
    }
    return total > INT32_MAX ? INT32_MAX : (int32_t) total;
}

/* Kinds of slices, sorted by name, so that equal sets give equal text. */
static uint32_t project_slices(struct intern *in, const struct vendor *v, const json_t *allocatable)
{
    CLEANUP_BUF struct buf text = BUF_INIT(SLICES_MAX_BYTES);
    const char **names = xcalloc(json_object_size(allocatable) + 1, sizeof *names);
    size_t count = 0;
    JSON_EACH_MEMBER (key, value, allocatable)
        if (vendor_partition(v, key) && can_be_asked_for(key))
            names[count++] = key;
    qsort(names, count, sizeof *names, str_compare);
    for (size_t i = 0; i < count; i++) {
        const char *amount = json_key(allocatable, names[i]);
        int64_t n;
        if (!amount || !str_parse_int(amount, 1, INT32_MAX, &n))
            continue;
        CLEANUP_FREE char *kind = xasprintf("%s%s=%lld", text.len ? "," : "",
                                            vendor_partition(v, names[i]), (long long) n);
        if (!buf_add(&text, kind, strlen(kind)))
            break;
    }
    free(names);
    return intern_add(in, text.len ? buf_text(&text) : NULL);
}

/* A kubelet that once had devices keeps listing their resources with 0 units. */
static const struct vendor *had_devices_of(const json_t *capacity)
{
    const struct vendor *v = NULL;
    JSON_EACH_MEMBER (key, value, capacity) {
        const struct vendor *of = vendor_of_resource(key);
        if (of && (!v || of < v))
            v = of;
    }
    return v;
}

/* The kubelet's GPUs, of the first vendor that it has any of. */
static void project_gpus(struct intern *in, struct node *n, const json_t *status)
{
    const json_t *allocatable = json_object_get(status, "allocatable");
    const char *device = NULL;
    const struct vendor *of = vendors, *had = had_devices_of(json_object_get(status, "capacity"));
    while (of < vendors + vendor_count && (n->gpus = count_gpus(of, allocatable, &device)) == 0)
        of++;
    if (n->gpus == 0)
        of = had ? had : vendors;
    n->vendor = vendor_row(of);
    n->device = intern_add(in, device);
    n->slices = project_slices(in, of, allocatable);
    n->has_served = n->gpus > 0 || had;
}

static uint32_t project_taints(struct intern *in, const json_t *object)
{
    const json_t *taints = json_at(object, "spec.taints");
    CLEANUP_FREE char *text = json_array_size(taints) ? json_compact(taints) : NULL;
    return intern_add(in, text);
}

/* An annotation of Ostler's; if it is not a string it counts as absent. */
static uint32_t project_note(struct intern *in, const json_t *object, const char *key,
                             bool *ret_unreadable)
{
    const char *text = object_annotation(object, key);
    *ret_unreadable = !text && json_object_get(json_at(object, "metadata.annotations"), key);
    return intern_add(in, text);
}

/* A node that has just joined and does not report Ready yet is not down. */
static bool node_is_up(const char *ready)
{
    return str_eq(ready, "True") || !*ready;
}

/* While a node was down it had no time for anything that was asked of it. */
static int64_t up_since(const json_t *conditions)
{
    const json_t *ready = condition_find(conditions, "Ready");
    bool up = str_eq(json_str(ready, "status"), "True");
    return up ? object_time_s(ready, "lastTransitionTime") : 0;
}

static uint32_t text_hash(const json_t *object, const char *key)
{
    const char *text = json_str_or_empty(object, key);
    return (uint32_t) str_hash(text, strlen(text));
}

struct node_condition node_condition(const json_t *condition)
{
    const char *status = json_str_or_empty(condition, "status");
    if (!condition)
        return (struct node_condition){ CONDITION_ABSENT, 0, 0 };
    struct node_condition said = { CONDITION_OTHER, text_hash(condition, "reason"),
                                   text_hash(condition, "message") };
    if (str_eq(status, "True"))
        said.status = CONDITION_TRUE;
    else if (str_eq(status, "False"))
        said.status = CONDITION_FALSE;
    return said;
}

struct node *node_project(struct intern *in, const json_t *object)
{
    struct node *n = record_new(sizeof *n, object);
    project_labels(in, n, json_at(object, "metadata.labels"));
    n->taints = project_taints(in, object);
    n->marks = project_note(in, object, ANNOTATION_MARKS, &n->marks_unreadable);
    n->claim = project_note(in, object, ANNOTATION_CLAIM, &n->claim_unreadable);
    n->gave_up = project_note(in, object, ANNOTATION_GAVE_UP, &n->gave_up_unreadable);
    n->proof = project_note(in, object, ANNOTATION_PROOF, &n->proof_unreadable);
    n->fault = project_note(in, object, ANNOTATION_FAULT, &n->fault_unreadable);
    n->repair = project_note(in, object, ANNOTATION_REPAIR, &n->repair_unreadable);
    for (size_t i = 0; i < KEEP_COUNT; i++)
        n->keeps[i] = intern_add(in, object_annotation(object, autoscaler_keeps[i]));
    if (n->claim_unreadable)
        n->claim = intern_add(in, CLAIM_UNREADABLE);
    n->annotated = json_is_object(json_at(object, "metadata.annotations"));
    n->host_driver = str_eq(object_annotation(object, ANNOTATION_HOST_DRIVER), "true");
    const json_t *info = json_at(object, "status.nodeInfo");
    n->os_image = intern_add(in, json_str(info, "osImage"));
    n->kernel = intern_add(in, json_str(info, "kernelVersion"));
    n->kubelet = intern_add(in, json_str(info, "kubeletVersion"));
    n->runtime = intern_add(in, json_str(info, "containerRuntimeVersion"));
    n->architecture = intern_add(in, json_str(info, "architecture"));
    n->boot = str_hash_id(json_str(info, "bootID"));
    project_gpus(in, n, json_object_get(object, "status"));
    n->ready = node_is_up(condition_status(json_at(object, "status.conditions"), "Ready"));
    n->up_since_s = up_since(json_at(object, "status.conditions"));
    n->gpu_ready = node_condition(condition_of(object, NODE_CONDITION));
    n->gpu_healthy = node_condition(condition_of(object, NODE_CONDITION_HEALTH));
    n->cordoned = json_bool(object, "spec.unschedulable", false);
    n->deleting = object_is_deleting(object);
    n->leaving = n->deleting || autoscaler_removes(json_at(object, "spec.taints"));
    return n;
}

void node_keep_runtime(struct intern *in, struct node *n, const struct node *before)
{
    if (!before || !record_same_uid(&before->head, &n->head) ||
        !host_runtime_is_silent(intern_text(in, n->runtime)))
        return;
    intern_drop(in, n->runtime);
    n->runtime = intern_add(in, intern_text(in, before->runtime));
}

struct node *node_relabelled(struct intern *in, const struct node *n, const json_t *labels)
{
    struct node *copy = record_copy(n, sizeof *n);
    for (size_t i = 0; i < NODE_TEXTS; i++)
        intern_add(in, intern_text(in, n->texts[i]));
    copy->label_count = 0;
    project_labels(in, copy, labels);
    return copy;
}

bool node_same_but_labels(const struct node *a, const struct node *b)
{
    /* Both are allocated with xcalloc(), so padding is equal too. */
    const size_t from = offsetof(struct node, texts);
    return memcmp((const char *) a + from, (const char *) b + from, sizeof *a - from) == 0;
}

bool node_same(const struct node *a, const struct node *b)
{
    return a->label_count == b->label_count &&
           memcmp(a->labels, b->labels, a->label_count * sizeof *a->labels) == 0 &&
           node_same_but_labels(a, b);
}

void node_free(struct intern *in, struct node *n)
{
    for (size_t i = 0; i < n->label_count; i++)
        intern_drop(in, n->labels[i]);
    for (size_t i = 0; i < NODE_TEXTS; i++)
        intern_drop(in, n->texts[i]);
    free(n->labels);
    record_free(n);
}

const char *node_label(const void *view, const char *key)
{
    const struct node_view *v = view;
    size_t len = strlen(key);
    label_reads_note(v->reads, key);
    for (size_t i = 0; i < v->node->label_count; i++) {
        const char *label = intern_text(v->strings, v->node->labels[i]);
        if (strncmp(label, key, len) == 0 && label[len] == '=')
            return label + len + 1;
    }
    return NULL;
}

static bool has_interned(const struct node *n, uint32_t label)
{
    for (size_t i = 0; i < n->label_count; i++)
        if (n->labels[i] == label)
            return true;
    return false;
}

/* Whether a label of `a` that `b` lacks was asked for. */
static bool lacks_read(const struct label_reads *reads, const struct intern *in,
                       const struct node *a, const struct node *b)
{
    for (size_t i = 0; i < a->label_count; i++) {
        const char *label = intern_text(in, a->labels[i]);
        if (!has_interned(b, a->labels[i]) && label_reads_have(reads, label, strcspn(label, "=")))
            return true;
    }
    return false;
}

bool node_same_read_labels(const struct label_reads *reads, const struct intern *in,
                           const struct node *a, const struct node *b)
{
    /* A patch depends on whether there are labels. */
    return !a->label_count == !b->label_count && !lacks_read(reads, in, a, b) &&
           !lacks_read(reads, in, b, a);
}

struct assignment_ref node_assigned(const struct node_view *view)
{
    struct assignment_ref ref;
    for (enum tier t = 0; t < TIERS; t++)
        ref.hash[t] = node_label(view, tiers[t].label);
    return ref;
}

bool node_is_assigned(const struct node_view *view)
{
    for (enum tier t = 0; t < TIERS; t++)
        if (node_label(view, tiers[t].label))
            return true;
    return false;
}

bool node_bears(const struct node_view *view, const struct assignment *a)
{
    return assignment_same(node_assigned(view), assignment_ref(a));
}

bool node_is_held(const struct node_view *view)
{
    const char *hold = node_label(view, LABEL_HOLD);
    return hold && !str_eq(hold, "false");
}

bool node_ignores_faults(const struct node_view *view)
{
    return str_eq(node_label(view, LABEL_HEALTH), HEALTH_IGNORE);
}

bool node_has_booted(uint64_t now, uint64_t before)
{
    return now && now != before;
}

struct node_facts node_facts(const struct node_view *view)
{
    const struct node *n = view->node;
    return (struct node_facts){
        .label = node_label,
        .labels = view,
        .os_image = intern_text(view->strings, n->os_image),
        .kernel_version = intern_text(view->strings, n->kernel),
        .kubelet_version = intern_text(view->strings, n->kubelet),
        .runtime_version = intern_text(view->strings, n->runtime),
        .architecture = intern_text(view->strings, n->architecture),
    };
}
