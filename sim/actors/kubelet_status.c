/* Writes the status of a pod with a real kubelet's texts. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "sim/actors/kubelet.h"

static json_t *kubelet_status_time_text(const struct sim *sim, int64_t ms)
{
    char text[CLOCK_TEXT_MAX];
    clock_rfc3339(sim_wall_us(sim, ms), text);
    return json_string(text);
}

static json_t *terminated(const struct sim *sim, const struct ending *e)
{
    return json_pack("{s:{s:i, s:s, s:o, s:o, s:o*}}", "terminated", "exitCode", e->code, "reason",
                     e->reason, "startedAt", kubelet_status_time_text(sim, e->started_ms),
                     "finishedAt", kubelet_status_time_text(sim, e->finished_ms), "message",
                     e->message ? json_text(e->message) : NULL);
}

static json_t *waiting(const char *reason, const char *message)
{
    return json_pack("{s:{s:s, s:o*}}", "waiting", "reason", reason, "message",
                     message ? json_text(message) : NULL);
}

static bool shows_terminated(const struct box *b)
{
    return b->now.is && (b->state == BOX_DONE || b->shows_end);
}

static json_t *kubelet_status_state_of(const struct box *b)
{
    const struct sim *sim = b->pod->machine->a->sim;
    if (box_is_alive(b))
        return json_pack("{s:{s:o}}", "running", "startedAt",
                         kubelet_status_time_text(sim, b->started_ms));
    return shows_terminated(b) ? terminated(sim, &b->now) : waiting(b->reason, b->message);
}

static json_t *last_state_of(const struct box *b)
{
    const struct ending *e = box_is_alive(b) || shows_terminated(b) ? &b->last : &b->now;
    return e->is ? terminated(b->pod->machine->a->sim, e) : json_object();
}

static bool is_ready(const struct box *b)
{
    return b->init ? b->state == BOX_DONE && b->now.code == 0 : box_is_alive(b) && b->ready;
}

static json_t *container_status(const struct box *b)
{
    bool ran = b->started_ms >= 0;
    json_t *id = ran ? json_textf("containerd://%s/%s/%d", b->pod->uid, b->name, b->restarts)
                     : NULL;
    return json_pack("{s:s, s:o, s:o, s:b, s:i, s:s, s:s, s:b, s:o*}", "name", b->name, "state",
                     kubelet_status_state_of(b), "lastState", last_state_of(b), "ready",
                     is_ready(b), "restartCount", b->restarts, "image", b->image, "imageID",
                     ran ? b->image : "", "started", box_is_alive(b) && (b->init || b->ready),
                     "containerID", id);
}

static json_t *statuses(const struct pod_box *p, size_t from, size_t to)
{
    json_t *list = json_array();
    for (size_t i = from; i < to; i++)
        json_array_append_new(list, container_status(&p->boxes[i]));
    return list;
}

/* ---- phase */

static bool init_is_done(const struct pod_box *p)
{
    for (size_t i = 0; i < p->init_count; i++)
        if (!is_ready(&p->boxes[i]))
            return false;
    return true;
}

static bool init_has_failed(const struct pod_box *p)
{
    for (size_t i = 0; i < p->init_count; i++)
        if (p->boxes[i].state == BOX_DONE && p->boxes[i].now.code != 0)
            return true;
    return false;
}

static const char *phase_of(const struct pod_box *p)
{
    size_t running = 0, waits = 0, failed = 0, ended = 0;
    for (size_t i = p->init_count; i < p->box_count; i++) {
        const struct box *b = &p->boxes[i];
        bool stopped = !box_is_alive(b) && b->now.is;
        running += box_is_alive(b);
        waits += !box_is_alive(b) && !stopped;
        ended += stopped && b->state == BOX_DONE;
        failed += stopped && b->state == BOX_DONE && b->now.code != 0;
    }
    if (p->rejected || init_has_failed(p))
        return "Failed";
    if (!init_is_done(p) || waits > 0)
        return "Pending";
    if (running > 0 || ended < p->box_count - p->init_count)
        return "Running";
    return failed > 0 ? "Failed" : "Succeeded";
}

/* A pod in deletion has a final phase before it is removed. */
static const char *last_phase_of(const struct pod_box *p)
{
    for (size_t i = 0; i < p->box_count; i++)
        if (!p->boxes[i].now.is ? !p->boxes[i].init || !is_ready(&p->boxes[i])
                                : p->boxes[i].now.code != 0)
            return "Failed";
    return "Succeeded";
}

/* ---- conditions */

/* "containers with unready status: [a b]" of the boxes that are not ready; NULL: all are ready.
 * Owned by the caller. */
static char *names_of_unready(const struct pod_box *p, size_t from, size_t to, const char *what)
{
    struct buf names = BUF_INIT(1 << 16);
    for (size_t i = from; i < to; i++)
        if (!is_ready(&p->boxes[i]))
            buf_printf(&names, "%s%s", names.len ? " " : "", p->boxes[i].name);
    char *text = names.len ? xasprintf("containers with %s status: [%s]", what, buf_text(&names))
                           : NULL;
    buf_clear(&names);
    return text;
}

struct ready_reason {
    bool is;
    const char *reason, *message;
};

/* Sets one condition. Lists are immutable, so each step makes a new one. */
static json_t *with(json_t *conditions_steal, const char *type, struct ready_reason r,
                    const char *now)
{
    json_t *next = conditions_with(conditions_steal, type, r.is ? "True" : "False",
                                   r.is ? NULL : r.reason, r.is ? NULL : r.message, now);
    json_decref(conditions_steal);
    return next;
}

static json_t *kubelet_status_conditions_of(const struct pod_box *p, const char *phase)
{
    char now[CLOCK_TEXT_MAX];
    actors_now(p->machine->a, now);
    CLEANUP_FREE char *init = names_of_unready(p, 0, p->init_count, "incomplete");
    CLEANUP_FREE char *main = names_of_unready(p, p->init_count, p->box_count, "unready");
    bool completed = str_eq(phase, "Succeeded"), failed = str_eq(phase, "Failed");
    const char *reason = completed ? "PodCompleted" : failed ? "PodFailed" : "ContainersNotReady";
    const struct ready_reason initialized = { !init, "ContainersNotInitialized", init };
    const struct ready_reason ready = { !init && !main && !completed && !failed, reason,
                                        completed || failed ? NULL : main };
    const json_t *old = json_at(p->object, "status.conditions");
    json_t *list = old ? json_incref((json_t *) old) : json_array();
    list = with(list, "PodReadyToStartContainers", (struct ready_reason){ p->sandbox, NULL, NULL },
                now);
    list = with(list, "Initialized", initialized, now);
    list = with(list, "Ready", ready, now);
    list = with(list, "ContainersReady", ready, now);
    return with(list, "PodScheduled", (struct ready_reason){ .is = true }, now);
}

/* ---- the whole status */

/* Conditions of others; those of an earlier kubelet on a node of the same name are dropped. New
 * reference. */
static json_t *conditions_of_others(const struct pod_box *p)
{
    static const char *const own[] = { "PodReadyToStartContainers", "Initialized", "Ready",
                                       "ContainersReady" };
    json_t *list = json_array();
    JSON_EACH (condition, json_at(p->object, "status.conditions")) {
        bool ours = false;
        for (size_t k = 0; k < ARRAY_LEN(own); k++)
            ours |= str_eq(json_str(condition, "type"), own[k]);
        if (!ours)
            json_array_append(list, condition);
    }
    return list;
}

static json_t *rejected_status(const struct pod_box *p)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "phase", "Failed", "reason", p->rejected,
                     "message", p->rejection, "startTime",
                     kubelet_status_time_text(p->machine->a->sim, p->start_ms), "conditions",
                     conditions_of_others(p));
}

static json_t *kubelet_status_status_of(const struct pod_box *p, const char *phase)
{
    if (p->rejected)
        return rejected_status(p);
    json_t *s = json_pack("{s:s, s:o, s:o, s:o, s:s}", "phase", phase, "conditions",
                          kubelet_status_conditions_of(p, phase), "containerStatuses",
                          statuses(p, p->init_count, p->box_count), "startTime",
                          kubelet_status_time_text(p->machine->a->sim, p->start_ms), "hostIP",
                          "10.0.0.1");
    if (p->init_count > 0)
        json_object_set_new(s, "initContainerStatuses", statuses(p, 0, p->init_count));
    return s;
}

static void take_object(struct pod_box *p, json_t *live)
{
    json_decref(p->object);
    p->object = json_incref(live);
}

/* The kubelet knows its own write at once: an ended pod frees its devices. */
void pod_write_status(struct pod_box *p, bool last)
{
    sim_cancel(p->machine->a->sim, &p->status_event);
    if (p->gone || p->machine->cut_off)
        return;
    const struct actors *a = p->machine->a;
    /* Keeps conditions that others have set meanwhile. */
    json_t *live = object_of_key(a, a->kinds.pod, p->key);
    if (!live || !str_eq(object_uid(live), p->uid))
        return;
    take_object(p, live);
    json_t *status = kubelet_status_status_of(p, last ? last_phase_of(p) : phase_of(p));
    if (object_set_status(p->machine->a, KUBELET_USER, a->kinds.pod, p->object, status) == 0)
        take_object(p, object_of_key(a, a->kinds.pod, p->key));
}

void pod_note_status(struct pod_box *p)
{
    if (!p->machine->up || p->gone || heap_holds(&p->status_event.item))
        return;
    sim_after(p->machine->a->sim, &p->status_event,
              kubelet_draw(p->machine->kubelet, p->machine->a->world.latencies.kubelet));
}
