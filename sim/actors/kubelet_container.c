/* The life of a container: pull, start, end and restart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/events.h"
#include "sim/actors/fit.h"
#include "sim/actors/kubelet.h"

enum {
    BACKOFF_MIN_MS = 10 * 1000,
    BACKOFF_MAX_MS = 300 * 1000,
    BACKOFF_FORGET_MS = 600 * 1000, /* a run of this length resets the backoff */
    SHOWS_ERROR_MS = 12 * 1000,     /* a failed pull shows its error for so long, then a back-off */
    QUICK_PULL_MS = 300,            /* checks the registry for an image that is present */
    POLL_MS = 2000,                 /* polling interval of waiting scripts */
    GONE_CODE = 255,                /* reported for containers that a reboot ended */
    TERM_CODE = 143,                /* of programs without a handler for SIGTERM */
    KILL_CODE = 137,
    INIT_MS = 1000,      /* an init container without a row */
    NO_START_CODE = 128, /* of containers whose command is not in their image */
};

/* The kubelet records an Event about a container's pod. */
#define tell(b, warning, reason, ...)                                                              \
    events_record((b)->pod->machine->a, "kubelet", (b)->pod->first, warning, reason, __VA_ARGS__)

static void happened(void *arg);

static struct kubelet *kubelet_of(const struct box *b)
{
    return b->pod->machine->kubelet;
}

static struct sim *sim_of(const struct box *b)
{
    return b->pod->machine->a->sim;
}

static const struct spec_world *world_of(const struct box *b)
{
    return &b->pod->machine->a->world;
}

static void wake_after(struct box *b, int64_t ms)
{
    b->event.fn = happened;
    b->event.arg = b;
    sim_after(sim_of(b), &b->event, ms);
}

static void set_waiting(struct box *b, enum box_state state, const char *reason,
                        char *message_steal)
{
    b->state = state;
    b->reason = reason;
    free(b->message);
    b->message = message_steal;
    b->shows_end = false;
    pod_note_status(b->pod);
}

bool box_is_alive(const struct box *b)
{
    return b->state == BOX_RUNNING;
}

/* ---- images */

static const struct spec_image *image_row(const struct box *b)
{
    const struct spec_world *w = world_of(b);
    for (size_t i = 0; i < w->image_count; i++)
        if (fit_pattern(w->images[i].pattern, b->image) &&
            fit_pattern(w->images[i].node, b->pod->machine->name))
            return &w->images[i];
    return NULL;
}

static bool never_pulls(const struct box *b)
{
    return str_eq(json_str(b->spec, "imagePullPolicy"), "Never");
}

static void kubelet_container_start(struct box *b)
{
    b->state = BOX_STARTING;
    wake_after(b, kubelet_draw(kubelet_of(b), world_of(b)->latencies.start));
}

/* Whether the pod names the pull secret that the registry requires. */
static bool has_secret(const struct box *b, const char *secret)
{
    return json_find(json_at(b->pod->first, "spec.imagePullSecrets"), "name", secret) != NULL;
}

/* The registry refuses the image; it is also asked about a present image if the pull policy says
 * so. */
static bool is_refused(const struct box *b, const struct spec_image *row)
{
    bool asked = !machine_has_image(b->pod->machine, b->image) ||
                 str_eq(json_str(b->spec, "imagePullPolicy"), "Always");
    return asked && row && (row->missing || (row->secret && !has_secret(b, row->secret)));
}

static char *pull_error(const struct box *b, const struct spec_image *row)
{
    if (never_pulls(b))
        return xasprintf("Container image \"%s\" is not present with pull policy of Never",
                         b->image);
    if (row->message)
        return xstrdup(row->message);
    if (!row->missing)
        return xasprintf("failed to pull and unpack image \"%s\": failed to resolve reference "
                         "\"%s\": unexpected status from "
                         "HEAD request: 401 Unauthorized",
                         b->image, b->image);
    return xasprintf(
        "failed to pull and unpack image \"%s\": failed to resolve reference \"%s\": %s: not found",
        b->image, b->image, b->image);
}

static void pull_failed(struct box *b, const struct spec_image *row)
{
    CLEANUP_FREE char *why = pull_error(b, row);
    tell(b, true, "Failed", "Failed to pull image \"%s\": %s", b->image, why);
    set_waiting(b, BOX_NO_IMAGE, never_pulls(b) ? "ErrImageNeverPull" : "ErrImagePull",
                pull_error(b, row));
    b->pull_backoff_ms = agenda_backoff(b->pull_backoff_ms, BACKOFF_MIN_MS, BACKOFF_MAX_MS);
    b->ends_at_ms = sim_of(b)->now_ms + b->pull_backoff_ms;
    wake_after(b, b->pull_backoff_ms < SHOWS_ERROR_MS ? b->pull_backoff_ms : SHOWS_ERROR_MS);
}

static void pulled(struct box *b)
{
    const struct spec_image *row = image_row(b);
    if (is_refused(b, row)) {
        pull_failed(b, row);
        return;
    }
    tell(b, false, "Pulled",
         machine_has_image(b->pod->machine, b->image)
             ? "Container image \"%s\" already present on machine"
             : "Successfully pulled image \"%s\"",
         b->image);
    machine_add_image(b->pod->machine, b->image);
    b->pull_backoff_ms = 0;
    kubelet_container_start(b);
}

/* A failed pull shows a back-off after a while, and is retried at its end. */
static void pull_again(struct box *b)
{
    int64_t now = sim_of(b)->now_ms;
    if (now >= b->ends_at_ms) {
        b->ends_at_ms = -1;
        b->state = BOX_PULLING;
        wake_after(b, QUICK_PULL_MS);
        return;
    }
    tell(b, false, "BackOff", "Back-off pulling image \"%s\"", b->image);
    if (!never_pulls(b))
        set_waiting(b, BOX_NO_IMAGE, "ImagePullBackOff",
                    xasprintf("Back-off pulling image \"%s\": ErrImagePull: %s", b->image,
                              str_or_empty(b->message)));
    wake_after(b, b->ends_at_ms - now);
}

void box_begin(struct box *b)
{
    const struct spec_image *row = image_row(b);
    bool there = machine_has_image(b->pod->machine, b->image) || never_pulls(b);
    struct spec_delay pull = row && row->pull.high_ms ? row->pull : world_of(b)->latencies.pull;
    set_waiting(b, BOX_PULLING,
                b->init || b->pod->init_count > 0 ? "PodInitializing" : "ContainerCreating", NULL);
    if (!there)
        tell(b, false, "Pulling", "Pulling image \"%s\"", b->image);
    wake_after(b, there ? (never_pulls(b) ? 0 : QUICK_PULL_MS) : kubelet_draw(kubelet_of(b), pull));
}

/* ---- running */

static const struct spec_program *program_row(const struct box *b)
{
    const struct spec_world *w = world_of(b);
    for (size_t i = 0; i < w->program_count; i++)
        if (fit_pattern(w->programs[i].image, b->image) &&
            fit_pattern(w->programs[i].pod, b->pod->key))
            return &w->programs[i];
    return NULL;
}

/* Behavior of a container that is not an operand: init containers succeed, others run for ever,
 * unless the world says otherwise. */
static struct run program_run(const struct box *b)
{
    const struct spec_latencies *l = &world_of(b)->latencies;
    const struct spec_program *row = program_row(b);
    struct kubelet *k = kubelet_of(b);
    struct run run = { .ends_ms = b->init ? INIT_MS : -1, .step_ms = -1, .stop_code = TERM_CODE };
    if (!row) {
        run.ready_ms = kubelet_draw(k, l->ready);
        run.stop_ms = kubelet_draw(k, l->stop);
        return run;
    }
    if (row->run.high_ms)
        run.ends_ms = kubelet_draw(k, row->run);
    run.code = row->exit_code;
    run.message = row->message;
    run.ready_ms = row->never_ready ? -1
                                    : kubelet_draw(k, row->ready.high_ms ? row->ready : l->ready);
    run.stop_ms = row->ignores_term ? -1 : kubelet_draw(k, row->stop.high_ms ? row->stop : l->stop);
    run.unkillable = row->unkillable;
    return run;
}

static int64_t at_or_never(const struct box *b, int64_t after_ms)
{
    return after_ms < 0 ? -1 : b->started_ms + after_ms;
}

/* Schedules the earliest of its times. */
static void schedule(struct box *b)
{
    const int64_t times[] = { b->step_at_ms, b->ready_at_ms, b->ends_at_ms };
    int64_t at = -1;
    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        if (times[i] >= 0 && (at < 0 || times[i] < at))
            at = times[i];
    sim_cancel(sim_of(b), &b->event);
    if (at >= 0)
        wake_after(b, at - sim_of(b)->now_ms);
}

static void become_ready(struct box *b)
{
    b->ready_at_ms = -1;
    b->ready = true;
    operand_on(b, OPERAND_READY);
    pod_note_status(b->pod);
}

static void ended(struct box *b, int code, const char *reason, const char *message);

static const char *command_of(const struct box *b)
{
    return str_or_empty(json_string_value(json_array_get(json_object_get(b->spec, "command"), 0)));
}

/* Keeps its last end before a restart. */
static void keep_last(struct box *b)
{
    if (!b->now.is)
        return;
    free(b->last.message);
    b->last = b->now;
    b->now = (struct ending){ 0 };
}

static void start_failed(struct box *b)
{
    CLEANUP_FREE char *why = xasprintf(
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
        "runc create failed: unable to start container process: exec: \"%s\": stat %s: no such "
        "file or directory: unknown",
        command_of(b), command_of(b));
    tell(b, true, "Failed", "Error: %s", why);
    keep_last(b);
    b->started_ms = sim_of(b)->now_ms;
    ended(b, NO_START_CODE, "StartError", why);
}

static void started(struct box *b)
{
    struct machine *m = b->pod->machine;
    /* No image has commands with this prefix: the runtime creates the container, and cannot start
     * it. */
    if (str_has_prefix(command_of(b), "/ostler-")) {
        start_failed(b);
        return;
    }
    tell(b, false, "Created", "Container created: %s", b->name);
    tell(b, false, "Started", "Container started: %s", b->name);
    b->state = BOX_RUNNING;
    b->started_ms = sim_of(b)->now_ms;
    b->stopping = b->killed = false;
    b->shows_end = false;
    keep_last(b);
    if (!operand_run(b, &b->run))
        b->run = program_run(b);
    b->step_at_ms = at_or_never(b, b->run.step_ms);
    b->ready_at_ms = b->init ? -1 : at_or_never(b, b->run.ready_ms);
    b->ends_at_ms = at_or_never(b, b->run.ends_ms);
    const struct spec_program *row = program_row(b);
    b->holds_module = m->module && (operand_holds_module(b) || (row && row->holds_gpu));
    m->users += b->holds_module;
    if (b->holds_module)
        agent_note(m);
    pod_note_status(b->pod);
    if (b->ready_at_ms == b->started_ms)
        become_ready(b);
    if (b->run.waits && operand_may_go(b))
        box_let_go(b);
    else
        schedule(b);
}

void box_let_go(struct box *b)
{
    b->ends_at_ms = sim_of(b)->now_ms +
                    kubelet_draw(kubelet_of(b), (struct spec_delay){ 0, POLL_MS });
    schedule(b);
}

/* ---- ends */

/* Whether an ended container is restarted. */
static bool starts_again(const struct box *b)
{
    const char *policy = str_or_empty(json_str(b->pod->object, "spec.restartPolicy"));
    if (b->pod->terminating)
        return false;
    if (b->init)
        return b->now.code != 0 && !str_eq(policy, "Never");
    return str_eq(policy, "Never") ? false : str_eq(policy, "OnFailure") ? b->now.code != 0 : true;
}

/* The first restart is immediate, then after 10 s, 20 s, …, as in kubelets. */
static void back_off(struct box *b)
{
    int64_t now = sim_of(b)->now_ms;
    if (b->crash_backoff_ms && now - b->now.started_ms > BACKOFF_FORGET_MS)
        b->crash_backoff_ms = 0;
    int64_t wait = b->crash_backoff_ms;
    b->crash_backoff_ms = agenda_backoff(wait, BACKOFF_MIN_MS, BACKOFF_MAX_MS);
    b->state = BOX_BACKOFF;
    b->shows_end = true;
    b->ends_at_ms = now + (wait ? wait : kubelet_draw(kubelet_of(b), world_of(b)->latencies.start));
    /* Shows the end first, then that it waits. */
    wake_after(b, wait ? 1000 : b->ends_at_ms - now);
}

static void ended(struct box *b, int code, const char *reason, const char *message)
{
    struct machine *m = b->pod->machine;
    m->users -= b->holds_module;
    b->holds_module = b->ready = false;
    b->now = (struct ending){ true,          code,
                              reason,        xstrdup_or_null(message),
                              b->started_ms, sim_of(b)->now_ms };
    b->step_at_ms = b->ready_at_ms = b->ends_at_ms = -1;
    b->state = BOX_DONE;
    sim_cancel(sim_of(b), &b->event);
    operand_on(b, OPERAND_ENDED);
    if (starts_again(b))
        back_off(b);
    pod_note_status(b->pod);
    machine_changed(m);
    pod_box_advance(b->pod);
}

void box_end(struct box *b, int code, const char *message)
{
    if (box_is_alive(b))
        ended(b, code, code ? "Error" : "Completed", message);
}

void box_stop(struct box *b)
{
    if (!box_is_alive(b)) {
        sim_cancel(sim_of(b), &b->event);
        b->ends_at_ms = -1;
        if (b->state != BOX_NONE && !b->now.is)
            b->state = BOX_NONE;
        else if (b->now.is)
            b->state = BOX_DONE;
        return;
    }
    if (b->stopping)
        return;
    b->stopping = true;
    tell(b, false, "Killing", "Stopping container %s", b->name);
    operand_on(b, OPERAND_STOPPING);
    b->step_at_ms = -1;
    b->ends_at_ms = b->run.unkillable || b->run.stop_ms < 0 ? -1
                                                            : sim_of(b)->now_ms + b->run.stop_ms;
    schedule(b);
}

void box_kill(struct box *b)
{
    if (!box_is_alive(b) || b->run.unkillable)
        return;
    b->killed = true;
    ended(b, KILL_CODE, "Error", NULL);
}

void box_lose(struct box *b)
{
    sim_cancel(sim_of(b), &b->event);
    b->pod->machine->users -= b->holds_module;
    b->holds_module = b->ready = false;
    if (box_is_alive(b))
        b->now = (struct ending){
            true, GONE_CODE, "Unknown", NULL, b->started_ms, sim_of(b)->now_ms
        };
    b->step_at_ms = b->ready_at_ms = b->ends_at_ms = -1;
}

void box_clear(struct box *b)
{
    sim_cancel(sim_of(b), &b->event);
    if (b->holds_module)
        b->pod->machine->users--;
    free(b->message);
    free(b->now.message);
    free(b->last.message);
}

/* ---- its event */

static void run_goes_on(struct box *b)
{
    int64_t now = sim_of(b)->now_ms;
    if (b->step_at_ms >= 0 && b->step_at_ms <= now) {
        b->step_at_ms = -1;
        operand_on(b, OPERAND_STEP);
    }
    if (b->ready_at_ms >= 0 && b->ready_at_ms <= now)
        become_ready(b);
    if (b->ends_at_ms >= 0 && b->ends_at_ms <= now)
        box_end(b, b->stopping ? b->run.stop_code : b->run.code,
                b->stopping ? NULL : b->run.message);
    else
        schedule(b);
}

/* "40s", "1m20s", as kubelets print it. */
static void print_length(int64_t ms, char *out, size_t size)
{
    int seconds = (int) (ms / 1000);
    if (seconds < 60)
        snprintf(out, size, "%ds", seconds);
    else
        snprintf(out, size, "%dm%ds", seconds / 60, seconds % 60);
}

static void backoff_goes_on(struct box *b)
{
    int64_t now = sim_of(b)->now_ms;
    if (now >= b->ends_at_ms) {
        b->ends_at_ms = -1;
        b->restarts++;
        kubelet_container_start(b);
        return;
    }
    tell(b, true, "BackOff", "Back-off restarting failed container %s in pod %s_%s(%s)", b->name,
         object_name(b->pod->first), object_namespace(b->pod->first), b->pod->uid);
    char length[32];
    print_length(b->ends_at_ms - b->now.finished_ms, length, sizeof length);
    set_waiting(b, BOX_BACKOFF, "CrashLoopBackOff",
                xasprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)", length,
                          b->name, object_name(b->pod->first), object_namespace(b->pod->first),
                          b->pod->uid));
    wake_after(b, b->ends_at_ms - now);
}

static void happened(void *arg)
{
    static void (*const next[])(struct box * b) = {
        [BOX_PULLING] = pulled,      [BOX_NO_IMAGE] = pull_again,     [BOX_STARTING] = started,
        [BOX_RUNNING] = run_goes_on, [BOX_BACKOFF] = backoff_goes_on, [BOX_DONE] = NULL,
    };
    struct box *b = arg;
    if (next[b->state])
        next[b->state](b);
}
