#include "reconcilers/model/pod.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/log_tail.h"
#include "kube/object.h"
#include "kube/split.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/pod_traits.h"

_Static_assert(sizeof(struct pod) <= 80, "a pod takes no step of the allocator more");
_Static_assert(OPERAND_NONE < 1 << 5, "a component fits into its bits");

enum {
    PROBLEM_MAX = 300, /* a problem is one sentence, not a log */
    SAID_MAX = 200,    /* of the log tail, besides the names of reason and container */
    WORD_MAX = 63,
};

/* The number in a device quantity. A quantity that is not a plain number counts as one, so that its
 * pod does not look idle. */
static int64_t devices(const char *quantity)
{
    int64_t n;
    return str_parse_int(str_or_empty(quantity), 0, UINT16_MAX, &n) ? n : 1;
}

/* Devices that one container requests. For extended resources, limits and requests are equal. */
static int64_t container_gpus(const json_t *container)
{
    int64_t total = 0;
    JSON_EACH_MEMBER (key, value, json_at(container, "resources.limits"))
        if (vendor_of_resource(key))
            total += devices(json_string_value(value));
    return total;
}

static int64_t list_gpus(const json_t *containers)
{
    int64_t total = 0;
    JSON_EACH (c, containers)
        total += container_gpus(c);
    /* Containers beyond the limit are not read and must not look idle. */
    return total + (json_array_size(containers) >= SPLIT_MEMBERS_MAX);
}

/* The pod's maximum at any time. Init containers run one after another before the main containers,
 * which reuse their devices. A restartable init container (sidecar) keeps its devices as long as
 * the main containers. */
static int64_t most_gpus(const json_t *spec)
{
    int64_t running = list_gpus(json_object_get(spec, "containers")), most = 0;
    JSON_EACH (c, json_object_get(spec, "initContainers")) {
        int64_t n = container_gpus(c);
        if (str_eq(json_str(c, "restartPolicy"), "Always"))
            running += n;
        else if (n > most)
            most = n;
    }
    return running > most ? running : most;
}

bool pod_is_over(const json_t *object)
{
    const char *phase = json_str_or_empty(object, "status.phase");
    return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

/* The devices of a claim (dynamic resource allocation) are listed elsewhere: each claim counts as
 * one device, so that its pod does not look idle. */
static int64_t requested_gpus(const json_t *object)
{
    return most_gpus(json_object_get(object, "spec")) +
           (int64_t) json_array_size(json_at(object, "spec.resourceClaims"));
}

bool pod_requests_gpus(const json_t *object)
{
    return requested_gpus(object) > 0;
}

uint16_t pod_gpus(const json_t *object)
{
    int64_t total = pod_is_over(object) ? 0 : requested_gpus(object);
    return total > UINT16_MAX ? UINT16_MAX : (uint16_t) total;
}

static const char *pod_label(const void *object, const char *key)
{
    return object_label(object, key);
}

static bool has_volume(const json_t *object, const char *kind)
{
    JSON_EACH (v, json_at(object, "spec.volumes"))
        if (json_object_get(v, kind))
            return true;
    return false;
}

/* The owner of a pod, if it has this kind and controls the pod. Any user who can create pods can
 * name any owner. The garbage collector deletes a pod whose owner does not exist with that uid, but
 * only if it knows the kinds of all owners. So a pod counts as owned only if it has exactly one
 * owner, of a group and version that every API server has. */
static const json_t *pod_owner_of(const json_t *object, const char *api_version, const char *kind)
{
    const json_t *owner = object_controller(object);
    bool alone = json_array_size(json_at(object, "metadata.ownerReferences")) == 1;
    return alone && str_eq(json_str(owner, "apiVersion"), api_version) &&
                   str_eq(json_str(owner, "kind"), kind)
               ? owner
               : NULL;
}

static bool is_of_daemonset(const json_t *object)
{
    return pod_owner_of(object, "apps/v1", "DaemonSet") != NULL;
}

/* The node that a static pod names as its owner; NULL: it is not static. The kubelet deletes a pod
 * with that annotation for which it has no file, and never runs it. */
static const json_t *owner_of_static(const json_t *object)
{
    const json_t *owner = pod_owner_of(object, "v1", "Node");
    bool there = str_eq(json_str(owner, "name"), json_str_or_empty(object, "spec.nodeName"));
    return there && object_annotation(object, KUBELET_MIRROR) ? owner : NULL;
}

const struct sign *pod_serves_for_others(const json_t *object)
{
    /* Installers run as init containers, followed only by a pause container. */
    static const char *const lists[] = { "spec.initContainers", "spec.containers" };
    if (!has_volume(object, "hostPath"))
        return NULL;
    const struct sign *sign = detect_foreign_pod(pod_label, object, NULL, NULL);
    for (size_t list = 0; list < ARRAY_LEN(lists) && !sign; list++) {
        JSON_EACH (c, json_at(object, lists[list]))
            if (!sign)
                sign = detect_foreign_pod(pod_label, object, json_str(c, "image"),
                                          json_str(c, "name"));
    }
    return sign;
}

/* A user who can create pods could label one as a driver and keep a new node from being served. So
 * only a DaemonSet's pod that accesses its host counts: both need more permissions than creating
 * pods. */
static const struct sign *foreign_sign(const json_t *object)
{
    return is_of_daemonset(object) ? pod_serves_for_others(object) : NULL;
}

/* Reasons become reasons of conditions, which must be one word: a node's text must not invalidate a
 * whole status. */
static bool pod_is_word(const char *reason)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t len = strlen(reason);
    return len > 0 && len <= WORD_MAX && strspn(reason, letters) == len &&
           strcspn(reason, "0123456789") > 0;
}

static void pod_set_problem(struct intern *in, struct pod *p, const char *given_reason,
                            const char *message)
{
    if (p->problem || !given_reason)
        return;
    const char *reason = pod_is_word(given_reason) ? given_reason : reason_text(REASON_POD_PROBLEM);
    CLEANUP_FREE char *text = message && *message ? xasprintf("%s: %s", reason, message)
                                                  : xstrdup(reason);
    p->problem = str_shortened(text, PROBLEM_MAX);
    for (char *c = p->problem; *c; c++)
        if ((unsigned char) *c < ' ')
            *c = ' '; /* one line, without bytes that JSON encodes as six */
    p->reason = intern_add(in, reason);
}

/* Waiting reasons that only mean "not yet". */
static bool is_normal_wait(enum reason reason)
{
    return reason == REASON_POD_INITIALIZING || reason == REASON_CONTAINER_CREATING;
}

/* The last failed end of a container that is not up; NULL: it did not fail. */
static const json_t *last_bad_end(const json_t *status)
{
    const json_t *ended = json_at(status, "state.terminated");
    if (!ended && !json_bool(status, "ready", false))
        ended = json_at(status, "lastState.terminated");
    return json_int(ended, "exitCode", 0) != 0 ? ended : NULL;
}

/* A container's termination message. If it wrote none, the kubelet uses the log tail
 * (FallbackToLogsOnError): several lines, and the last have the reason. */
static char *last_said(const json_t *end)
{
    const char *message = json_str_or_empty(end, "message");
    return strchr(message, '\n') ? log_tail_cut(message, strlen(message), SAID_MAX)
                                 : xstrdup(message);
}

/* A container that crashes repeatedly waits, runs and ends in turn. All three get one text;
 * otherwise each change would be reported. If the toolkit rolled back its change of the container
 * runtime's configuration, its termination message starts with the reason
 * (node/operand/runtime_change.h), which replaces the kubelet's reason. */
static void set_crash(struct intern *in, struct pod *p, const json_t *status, const json_t *end)
{
    const char *message = json_str_or_empty(end, "message"),
               *runtime = reason_text(REASON_RUNTIME_CONFIG_FAILED);
    bool is_ours = str_has_prefix(message, runtime) &&
                   str_has_prefix(message + strlen(runtime), ": ");
    CLEANUP_FREE char *said = is_ours ? xstrdup(message) : last_said(end);
    bool first = !p->problem, again = json_int(status, "restartCount", 0) > 0;
    CLEANUP_FREE char *text = xasprintf(
        "container %s exited with code %d%s%s", json_str_or_empty(status, "name"),
        (int) json_int(end, "exitCode", 0), *said ? ": " : "", said);
    const char *kubelets = again ? reason_text(REASON_CRASH_LOOP_BACK_OFF)
                                 : json_str(end, "reason");
    pod_set_problem(in, p, is_ours ? runtime : kubelets, text);
    if (!first || !p->problem || p->component == OPERAND_NONE)
        return;
    p->ended.container = intern_add(in, json_str(status, "name"));
    p->ended.again = !json_at(status, "state.terminated");
}

/* Registry errors do not have the image's name. */
static void set_waiting(struct intern *in, struct pod *p, const char *reason, const char *message,
                        const char *image)
{
    bool names = *image && *message && task_cannot_pull(reason_parse(reason)) &&
                 !strstr(message, image);
    CLEANUP_FREE char *text = names ? xasprintf("%s: %s", image, message) : xstrdup(message);
    pod_set_problem(in, p, reason, text);
}

/* The first container that waits for a bad reason, or failed, names the problem. */
static void look_at_containers(struct intern *in, struct pod *p, const json_t *statuses)
{
    JSON_EACH (s, statuses) {
        const json_t *waiting = json_at(s, "state.waiting");
        const char *word = json_str(waiting, "reason");
        const json_t *end = last_bad_end(s);
        enum reason reason = reason_parse(word);
        bool crashes = end &&
                       (!word || is_normal_wait(reason) || reason == REASON_CRASH_LOOP_BACK_OFF);
        if (crashes)
            set_crash(in, p, s, end);
        else if (word && !is_normal_wait(reason))
            set_waiting(in, p, word, json_str_or_empty(waiting, "message"),
                        json_str_or_empty(s, "image"));
    }
}

/* The first init container reports a host driver: in its ended run, or between two runs in the
 * previous one. A later run that succeeded overrides an earlier report. */
static bool said_host_driver(const json_t *object)
{
    const json_t *first = json_array_get(json_at(object, "status.initContainerStatuses"), 0);
    const json_t *ended = json_at(first, "state.terminated");
    return detect_host_driver(ended ? json_str(ended, "message")
                                    : json_str(first, "lastState.terminated.message"));
}

uint32_t pod_made_s(const char *text)
{
    int64_t us = clock_parse_rfc3339(text), s = us > 0 ? us / 1000000 : 0;
    return s < UINT32_MAX ? (uint32_t) s : 0;
}

static uint32_t time_made(const json_t *object)
{
    return pod_made_s(json_str(object, "metadata.creationTimestamp"));
}

static void look_at_status(struct intern *in, struct pod *p, const json_t *object)
{
    const json_t *conditions = json_at(object, "status.conditions");
    p->ready = str_eq(condition_status(conditions, "Ready"), "True");
    if (p->ready) {
        /* This field shares space with a one-off pod's reason. */
        p->made_s = p->is_task ? 0 : time_made(object);
        return;
    }
    look_at_containers(in, p, json_at(object, "status.initContainerStatuses"));
    look_at_containers(in, p, json_at(object, "status.containerStatuses"));
    const json_t *scheduled = condition_find(conditions, "PodScheduled");
    if (str_eq(json_str(scheduled, "status"), "False"))
        pod_set_problem(in, p, json_str(scheduled, "reason"), json_str(scheduled, "message"));
    if (pod_is_over(object))
        pod_set_problem(in, p, json_str(object, "status.reason"),
                        json_str(object, "status.message"));
}

/* An operand is a pod that a DaemonSet of Ostler's controls. An orphaned pod is the user's, and
 * Ostler does not wait for it. */
static bool is_operand(const char *operand_namespace, const json_t *object)
{
    return object_controller(object) && str_eq(object_namespace(object), operand_namespace) &&
           str_eq(object_label(object, LABEL_MANAGED_BY), MANAGED_BY);
}

/* Only Ostler, and users who may act as Ostler, have the permission to create pods there. */
static enum task_kind task_of(const char *operand_namespace, const json_t *object)
{
    bool there = str_eq(object_namespace(object), operand_namespace) && task_node(object);
    return there ? task_kind_of(object) : TASK_NONE;
}

/* ---- what a drain needs to know */

static void look_at_use(struct intern *in, struct pod *p, const struct selector *asks,
                        const json_t *object)
{
    const char *restart = json_str_or_empty(object, "spec.restartPolicy");
    const json_t *node = owner_of_static(object);
    p->traits = pod_traits(in, asks, object);
    p->running = str_eq(json_str(object, "status.phase"), "Running");
    p->ends = *restart && !str_eq(restart, "Always");
    p->bare = !object_controller(object);
    p->daemon = is_of_daemonset(object);
    p->fixed = node != NULL;
    if (node)
        p->owner = str_hash_id(json_str_or_empty(node, "uid"));
    p->scratch = has_volume(object, "emptyDir");
    p->made_s = time_made(object);
}

/* ---- */

const struct task *pod_task(const struct pod *p)
{
    return p->is_task ? p->task_state : NULL;
}

const struct sign *pod_foreign(const struct pod *p)
{
    return p->is_task || p->fixed || p->component != OPERAND_NONE ? NULL : p->foreign;
}

bool pod_is_static(const struct pod *p, const char *node_uid)
{
    return p->fixed && *node_uid && p->owner == str_hash_id(node_uid);
}

const char *pod_ended(const struct intern *in, const struct pod *p, bool *ret_again)
{
    *ret_again = p->component != OPERAND_NONE && p->ended.again;
    return p->component != OPERAND_NONE ? intern_text(in, p->ended.container) : NULL;
}

/* Whether it has a namespace: the API server sends no pod without one, and record_namespace() needs
 * it. */
static bool has_namespace(const json_t *object)
{
    return *object_namespace(object) != '\0';
}

/* Members that every pod has. */
static struct pod *pod_begin(struct intern *in, const json_t *object, const char *node)
{
    struct pod *p = record_new(sizeof *p, object);
    p->node = intern_add(in, node);
    p->component = OPERAND_NONE;
    p->deleting = object_is_deleting(object);
    return p;
}

struct pod *pod_project_task(struct intern *in, const char *operand_namespace, const json_t *object)
{
    enum task_kind kind = task_of(operand_namespace, object);
    if (kind == TASK_NONE || !has_namespace(object))
        return NULL;
    struct pod *p = pod_begin(in, object, task_node(object));
    p->is_task = true;
    p->task_state = task_project(in, kind, object);
    look_at_status(in, p, object);
    return p;
}

struct pod *pod_project(struct intern *in, const char *operand_namespace,
                        const struct selector *asks, const json_t *object)
{
    if (task_of(operand_namespace, object) != TASK_NONE || !has_namespace(object))
        return NULL;
    bool ours = is_operand(operand_namespace, object);
    enum operand component = ours ? operand_parse(object_label(object, LABEL_COMPONENT))
                                  : OPERAND_NONE;
    uint16_t gpus = ours ? 0 : pod_gpus(object);
    const struct sign *foreign = ours || pod_is_over(object) ? NULL : foreign_sign(object);
    const char *node = json_str(object, "spec.nodeName");
    /* Users may have thousands of pods that are not bound yet. */
    if (component == OPERAND_NONE && (!node || (!gpus && !foreign)))
        return NULL;

    struct pod *p = pod_begin(in, object, node);
    p->foreign = foreign;
    p->gpus = gpus;
    p->component = (uint8_t) (component & 0x1f);
    if (component == OPERAND_NONE) {
        look_at_use(in, p, asks, object);
        return p;
    }
    p->revision = intern_add(in, object_label(object, LABEL_REVISION));
    p->host_driver = component == OPERAND_DRIVER && said_host_driver(object);
    p->running = str_eq(json_str(object, "status.phase"), "Running");
    look_at_status(in, p, object);
    return p;
}

struct pod *pod_project_any(struct intern *in, const char *operand_namespace,
                            const struct selector *asks, const json_t *object)
{
    struct pod *p = pod_project(in, operand_namespace, asks, object);
    const char *node = json_str_or_empty(object, "spec.nodeName");
    if (p || !*node || !has_namespace(object) || pod_is_over(object) ||
        task_of(operand_namespace, object) != TASK_NONE)
        return p;
    p = pod_begin(in, object, node);
    look_at_use(in, p, asks, object);
    return p;
}

/* The container whose log has the reason changes with each run, although the problem stays the
 * same. */
static bool same_end(const struct pod *a, const struct pod *b)
{
    return a->component == OPERAND_NONE ||
           (a->ended.container == b->ended.container && a->ended.again == b->ended.again);
}

bool pod_same(const struct pod *a, const struct pod *b)
{
    return a->node == b->node && a->gpus == b->gpus && a->flags == b->flags &&
           a->revision == b->revision && pod_foreign(a) == pod_foreign(b) &&
           task_same(pod_task(a), pod_task(b)) && same_end(a, b) &&
           (!a->fixed || a->owner == b->owner) && str_eq(a->problem, b->problem);
}

void pod_free(struct intern *in, struct pod *p)
{
    intern_drop(in, p->node);
    intern_drop(in, p->revision); /* or its traits */
    if (p->is_task || (p->component != OPERAND_NONE && !p->ready))
        intern_drop(in, p->reason);
    if (p->is_task)
        task_free(in, p->task_state);
    else if (p->component != OPERAND_NONE)
        intern_drop(in, p->ended.container);
    free(p->problem);
    record_free(p);
}

/* ---- its traits */

/* The traits of a user's pod. */
static const char *traits_of(const struct intern *in, const struct pod *p)
{
    return str_or_empty(p->component == OPERAND_NONE ? intern_text(in, p->traits) : NULL);
}

bool pod_tolerates(const struct intern *in, const struct pod *p, const char *key)
{
    size_t len = strlen(key);
    for (const char *line = traits_of(in, p); *line == '~'; line = strchr(line, '\n') + 1)
        if (line[1] == '\n' || (strncmp(&line[1], key, len) == 0 && line[1 + len] == '\n'))
            return true;
    return false;
}

bool pod_selected(const struct intern *in, const struct pod *p, const struct selector *selector)
{
    if (selector_is_empty(selector))
        return true;
    CLEANUP_ARENA struct arena a = { 0 };
    char *rest = arena_strdup(&a, traits_of(in, p)), *line;
    /* A line has at least two bytes. */
    struct selector_label *items = arena_alloc(&a, (strlen(rest) / 2 + 1) * sizeof *items);
    struct selector_labels labels = { items, 0 };
    while ((line = strsep(&rest, "\n")) && *line) {
        if (*line == '~')
            continue;
        const char *key = strsep(&line, "=");
        items[labels.len++] = (struct selector_label){ key, str_or_empty(line) };
    }
    return selector_matches(selector, selector_lookup_list, &labels);
}
