/* The life of a pod on a node: admission, sandbox, init containers in order, containers, and its
 * end. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/kubelet.h"

enum { GRACE_DEFAULT_S = 30, SANDBOX_RETRY_MS = 12 * 1000, NO_WAIT_MS = 1000 };

static void add_boxes(struct pod_box *p, const json_t *list, bool init)
{
    JSON_EACH (spec, list) {
        struct box *b = &p->boxes[p->box_count++];
        *b = (struct box){ .pod = p,
                           .spec = spec,
                           .name = json_str_or_empty(spec, "name"),
                           .image = json_str_or_empty(spec, "image"),
                           .init = init,
                           .reason = init || p->init_count > 0 ? "PodInitializing"
                                                               : "ContainerCreating",
                           .started_ms = -1,
                           .ready_at_ms = -1,
                           .step_at_ms = -1,
                           .ends_at_ms = -1 };
    }
}

static void status_due(void *arg)
{
    pod_write_status(arg, false);
}

static void killed(void *arg)
{
    struct pod_box *p = arg;
    for (size_t i = 0; i < p->box_count; i++)
        box_kill(&p->boxes[i]);
}

static void retry(void *arg);

struct pod_box *pod_box_new(struct machine *m, json_t *object)
{
    struct pod_box *p = xcalloc(1, sizeof *p);
    const json_t *init = json_at(object, "spec.initContainers"),
                 *main = json_at(object, "spec.containers");
    p->machine = m;
    p->uid = xstrdup(object_uid(object));
    p->key = object_key(object);
    p->object = json_incref(object);
    p->first = json_incref(object);
    p->start_ms = m->a->sim->now_ms;
    p->kill_at_ms = -1;
    p->init_count = json_array_size(init);
    p->boxes = xcalloc(p->init_count + json_array_size(main) + 1, sizeof *p->boxes);
    add_boxes(p, init, true);
    add_boxes(p, main, false);
    p->status_event = (struct sim_event){ .fn = status_due, .arg = p };
    p->kill_event = (struct sim_event){ .fn = killed, .arg = p };
    p->retry_event = (struct sim_event){ .fn = retry, .arg = p };
    m->pods = xgrow(m->pods, m->pod_count, &m->pod_cap, sizeof *m->pods);
    m->pods[m->pod_count++] = p;
    map_put(&m->kubelet->boxes, p->uid, p);
    return p;
}

static void cancel_events(struct pod_box *p)
{
    struct sim *sim = p->machine->a->sim;
    sim_cancel(sim, &p->status_event);
    sim_cancel(sim, &p->kill_event);
    sim_cancel(sim, &p->retry_event);
}

void pod_box_free(struct pod_box *p)
{
    struct machine *m = p->machine;
    cancel_events(p);
    for (size_t i = 0; i < p->box_count; i++)
        box_clear(&p->boxes[i]);
    size_t place = 0;
    while (m->pods[place] != p)
        place++;
    memmove(&m->pods[place], &m->pods[place + 1],
            (--m->pod_count - place) * sizeof(struct pod_box *));
    map_remove(&m->kubelet->boxes, p->uid);
    json_decref(p->object);
    json_decref(p->first);
    free(p->boxes);
    free(p->rejection);
    free(p->uid);
    free(p->key);
    free(p);
}

static bool any_alive(const struct pod_box *p)
{
    for (size_t i = 0; i < p->box_count; i++)
        if (box_is_alive(&p->boxes[i]))
            return true;
    return false;
}

/* ---- admission */

int64_t pod_devices(const json_t *pod, const char *resource)
{
    int64_t total = 0, n;
    JSON_EACH (c, json_at(pod, "spec.containers"))
        if (str_parse_int(str_or_empty(json_key(json_at(c, "resources.limits"), resource)), 0,
                          INT32_MAX, &n))
            total += n;
    return total;
}

/* Whether all containers have ended for good: the kubelet knows before the API server does. */
static bool has_ended(const struct pod_box *p)
{
    for (size_t i = p->init_count; i < p->box_count; i++)
        if (p->boxes[i].state != BOX_DONE)
            return false;
    return p->box_count > p->init_count;
}

/* Devices of the machine that no admitted pod uses. */
static int64_t free_devices(const struct machine *m, const char *resource)
{
    int64_t free_ones = machine_gives(m, resource, m->devices);
    for (size_t i = 0; i < m->pod_count; i++) {
        const struct pod_box *p = m->pods[i];
        if (p->admitted && !p->rejected && !pod_is_finished(p->object) && !has_ended(p))
            free_ones -= pod_devices(p->object, resource);
    }
    return free_ones > 0 ? free_ones : 0;
}

static bool refuses(struct pod_box *p, const char *resource)
{
    int64_t wanted = pod_devices(p->object, resource),
            there = wanted ? free_devices(p->machine, resource) : 0;
    if (wanted <= there)
        return false;
    p->rejected = "UnexpectedAdmissionError";
    p->rejection = xasprintf(
        "Pod was rejected: Allocate failed due to requested number of devices unavailable for %s. "
        "Requested: %d, Available: %d, which is unexpected",
        resource, (int) wanted, (int) there);
    return true;
}

/* Rejects a pod for good if it requests devices that are not free. */
static void admit(struct pod_box *p)
{
    bool refused = refuses(p, machine_resource(p->machine));
    JSON_EACH_MEMBER (resource, number, p->machine->shape->more)
        refused = refused || refuses(p, resource);
    p->admitted = true;
    if (refused)
        pod_note_status(p);
}

/* A sandbox needs the handler of the pod's runtime class. */
static bool has_handler(const struct pod_box *p)
{
    const char *class = json_str(p->object, "spec.runtimeClassName");
    const struct actors *a = p->machine->a;
    if (!class)
        return true;
    const json_t *object = api_get(a->api, a->kinds.runtimeclass, "", class);
    return object &&
           (p->machine->handler || !str_has_prefix(json_str_or_empty(object, "handler"), "nvidia"));
}

/* The pod's volumes need their ConfigMaps. */
static bool has_volumes(const struct pod_box *p)
{
    const struct actors *a = p->machine->a;
    JSON_EACH (volume, json_at(p->object, "spec.volumes")) {
        const char *name = json_str(volume, "configMap.name");
        if (name && !json_bool(volume, "configMap.optional", false) &&
            !api_get(a->api, a->kinds.configmap, object_namespace(p->object), name))
            return false;
    }
    return true;
}

/* ---- progress */

static void write_over(struct pod_box *p);

/* Advances the init containers; false while they are not all done. */
static bool init_is_through(struct pod_box *p)
{
    for (size_t i = 0; i < p->init_count; i++) {
        struct box *b = &p->boxes[i];
        if (b->state == BOX_NONE)
            box_begin(b);
        if (b->state != BOX_DONE || b->now.code != 0)
            return false;
    }
    return true;
}

void pod_box_advance(struct pod_box *p)
{
    if (!p->machine->up)
        return;
    if (p->terminating) {
        /* Not directly: the caller may be a container of this pod. */
        if (!any_alive(p) && !heap_holds(&p->retry_event.item))
            sim_after(p->machine->a->sim, &p->retry_event,
                      kubelet_draw(p->machine->kubelet, p->machine->a->world.latencies.kubelet));
        return;
    }
    if (!p->admitted)
        admit(p);
    if (p->rejected)
        return;
    if (!p->sandbox && !(has_volumes(p) && has_handler(p))) {
        sim_after(p->machine->a->sim, &p->retry_event, SANDBOX_RETRY_MS);
        return;
    }
    p->sandbox = true;
    if (!init_is_through(p))
        return;
    for (size_t i = p->init_count; i < p->box_count; i++)
        if (p->boxes[i].state == BOX_NONE)
            box_begin(&p->boxes[i]);
}

static void retry(void *arg)
{
    struct pod_box *p = arg;
    if (p->terminating && !any_alive(p))
        write_over(p);
    else
        pod_box_advance(p);
}

/* ---- the end */

/* All containers have ended: writes the last status, and completes the deletion. */
static void write_over(struct pod_box *p)
{
    struct machine *m = p->machine;
    if (m->cut_off) /* written after the rejoin */
        return;
    if (!p->gone) {
        pod_write_status(p, true);
        api_delete(m->a->api, KUBELET_USER, m->a->kinds.pod, object_namespace(p->first),
                   object_name(p->first), p->uid, 0, NULL);
    }
    pod_box_free(p);
}

/* The remaining grace period can only become shorter. */
static void set_kill_time(struct pod_box *p)
{
    int64_t grace_s = json_int(p->object, "metadata.deletionGracePeriodSeconds", -1);
    if (grace_s < 0)
        grace_s = json_int(p->object, "spec.terminationGracePeriodSeconds", GRACE_DEFAULT_S);
    int64_t at = p->machine->a->sim->now_ms + (grace_s > 0 ? grace_s * 1000 : NO_WAIT_MS);
    if (p->kill_at_ms >= 0 && p->kill_at_ms <= at)
        return;
    p->kill_at_ms = at;
    sim_at(p->machine->a->sim, &p->kill_event, at);
}

static void terminate(struct pod_box *p)
{
    set_kill_time(p);
    if (p->terminating)
        return;
    p->terminating = true;
    sim_cancel(p->machine->a->sim, &p->retry_event);
    for (size_t i = 0; i < p->box_count; i++)
        box_stop(&p->boxes[i]);
    pod_box_advance(p);
}

void pod_box_sync(struct pod_box *p, json_t *object)
{
    if (object) {
        json_decref(p->object);
        p->object = json_incref(object);
    } else {
        p->gone = true;
    }
    if (!p->machine->up)
        return;
    if (p->gone || object_is_deleting(p->object) ||
        (pod_is_finished(p->object) && !p->rejected && any_alive(p)))
        terminate(p);
    else if (!pod_is_finished(p->object))
        pod_box_advance(p);
}

/* ---- power */

void pod_box_lose(struct pod_box *p)
{
    cancel_events(p);
    for (size_t i = 0; i < p->box_count; i++)
        box_lose(&p->boxes[i]);
}

/* Whether containers that a reboot ended are started again. */
static bool starts_again(const struct pod_box *p)
{
    return !p->rejected && !pod_is_finished(p->object) && !p->terminating &&
           !str_eq(json_str(p->object, "spec.restartPolicy"), "Never");
}

void pod_box_begin_anew(struct pod_box *p)
{
    bool again = starts_again(p);
    p->admitted = p->sandbox = false;
    for (size_t i = 0; i < p->box_count; i++) {
        struct box *b = &p->boxes[i];
        bool has_run = b->now.is;
        b->stopping = b->killed = false;
        b->shows_end = has_run && !again;
        b->state = again ? BOX_NONE : has_run ? BOX_DONE : BOX_NONE;
        b->restarts += again && has_run;
        b->crash_backoff_ms = b->pull_backoff_ms = 0;
    }
    if (!again)
        p->admitted = p->sandbox = true;
    pod_note_status(p);
    pod_box_advance(p);
}
