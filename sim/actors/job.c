/* The Job controller: runs pods until enough have succeeded, with retries up to the limit. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "sim/actors/events.h"
#include "sim/actors/objects.h"

#define USER "system:serviceaccount:kube-system:job-controller"
#define FINALIZER "batch.kubernetes.io/job-tracking"

enum { BACKOFF_MIN_MS = 10 * 1000, BACKOFF_MAX_MS = 6 * 60 * 1000, PODS_PER_LOOK = 500 };

struct job_controller {
    struct actors *a;
    struct agenda agenda;
    struct agenda orphans; /* pods whose job may be gone */
};

/* A job's pods at one sync. */
struct tally {
    int64_t active, ready, terminating, succeeded, failed;
    int64_t last_failure_ms; /* -1: none in this sync */
};

/* "namespace/name" of the job that controls a pod; NULL: none. Owned by the caller. */
static char *key_of_job(const json_t *pod)
{
    const json_t *controller = object_controller(pod);
    if (!controller || !str_eq(json_str(controller, "kind"), "Job"))
        return NULL;
    return xasprintf("%s/%s", object_namespace(pod), json_str_or_empty(controller, "name"));
}

/* Whether it has the finalizer of a job that is gone: then the finalizer is removed without a
 * count. */
static bool is_orphan(const struct job_controller *j, const json_t *pod)
{
    if (!object_has_finalizer(pod, FINALIZER))
        return false;
    CLEANUP_FREE char *key = key_of_job(pod);
    const json_t *job = key ? object_of_key(j->a, j->a->kinds.job, key) : NULL;
    return !job || !str_eq(object_uid(job), json_str_or_empty(object_controller(pod), "uid"));
}

static void job_note_pod(struct job_controller *j, const json_t *pod)
{
    CLEANUP_FREE char *job = key_of_job(pod);
    if (job)
        agenda_note(&j->agenda, job);
    if (is_orphan(j, pod))
        agenda_note_object(&j->orphans, pod);
}

static void job_commit(void *self, const struct api_commit *c)
{
    struct job_controller *j = self;
    if (c->kind == j->a->kinds.pod)
        job_note_pod(j, c->after ? c->after : c->before);
    else if (c->kind == j->a->kinds.job && c->after && !str_eq(c->user, USER))
        agenda_note_object(&j->agenda, c->after);
}

static void look_at_orphan(void *self, const char *key)
{
    struct job_controller *j = self;
    const json_t *pod = object_of_key(j->a, j->a->kinds.pod, key);
    if (pod && is_orphan(j, pod))
        object_drop_finalizer(j->a, USER, j->a->kinds.pod, pod, FINALIZER);
}

/* No kubelet reports the failure of a pod that is deleted before it is bound. */
static bool has_ended(const json_t *pod)
{
    return pod_is_finished(pod) || (object_is_deleting(pod) && !json_str(pod, "spec.nodeName"));
}

/* Counts a pod; an ended one counts once, and its finalizer marks it as uncounted. */
static void count_pod(struct job_controller *j, struct tally *t, const json_t *pod)
{
    bool counted = !object_has_finalizer(pod, FINALIZER);
    bool succeeded = str_eq(json_str(pod, "status.phase"), "Succeeded");
    if (!has_ended(pod)) {
        t->terminating += object_is_deleting(pod);
        t->active += !object_is_deleting(pod);
        t->ready += !object_is_deleting(pod) && condition_is_true(pod, "Ready");
        return;
    }
    if (counted)
        return;
    t->succeeded += succeeded;
    t->failed += !succeeded;
    if (!succeeded)
        t->last_failure_ms = j->a->sim->now_ms;
    object_drop_finalizer(j->a, USER, j->a->kinds.pod, pod, FINALIZER);
}

/* Pods of a deleted job are not counted. */
static void release_pods(struct job_controller *j, const json_t *pods)
{
    JSON_EACH (pod, pods)
        if (object_has_finalizer(pod, FINALIZER))
            object_drop_finalizer(j->a, USER, j->a->kinds.pod, pod, FINALIZER);
}

static int create_pod(struct job_controller *j, const json_t *job)
{
    CLEANUP_JSON json_t *pod = pod_of_template(j->a->kinds.job, job, json_at(job, "spec.template"));
    json_t *metadata = json_object_get(pod, "metadata"),
           *labels = json_object_get(metadata, "labels");
    CLEANUP_JSON json_t *own = json_pack(
        "{s:s, s:s, s:s, s:s}", "batch.kubernetes.io/controller-uid", object_uid(job),
        "batch.kubernetes.io/job-name", object_name(job), "controller-uid", object_uid(job),
        "job-name", object_name(job));
    json_object_update(labels, own);
    json_object_set_new(metadata, "finalizers", json_pack("[s]", FINALIZER));
    return events_create_pod(j->a, USER, "job-controller", job, pod);
}

/* Creates pods up to the wanted number until one is refused. Each created pod causes another
 * sync. */
static void create_pods(struct job_controller *j, const json_t *job, const char *key,
                        struct tally *t, int64_t wanted)
{
    for (int made = 0; t->active < wanted && made < PODS_PER_LOOK; made++) {
        if (create_pod(j, job) < 0) {
            agenda_retry(&j->agenda, key);
            return;
        }
        t->active++;
    }
    agenda_succeeded(&j->agenda, key);
}

/* Deletes up to `count` active pods, the youngest first. */
static void delete_active(struct job_controller *j, const json_t *pods, int64_t count)
{
    for (size_t i = json_array_size(pods); i-- > 0 && count > 0;) {
        const json_t *pod = json_array_get(pods, i);
        if (pod_is_finished(pod) || object_is_deleting(pod))
            continue;
        pod_delete(j->a, USER, pod, -1);
        count--;
    }
}

static bool is_over(const json_t *job)
{
    const json_t *conditions = json_at(job, "status.conditions");
    return str_eq(condition_status(conditions, "Complete"), "True") ||
           str_eq(condition_status(conditions, "Failed"), "True");
}

static int64_t wanted_active(const json_t *job, const struct tally *t)
{
    const json_t *completions = json_at(job, "spec.completions");
    int64_t parallelism = json_int(job, "spec.parallelism", 1);
    if (json_bool(job, "spec.suspend", false))
        return 0;
    if (!completions)
        return t->succeeded > 0 ? t->active : parallelism;
    int64_t left = json_integer_value(completions) - t->succeeded;
    return left < parallelism ? (left > 0 ? left : 0) : parallelism;
}

/* Time without new pods after the last failure. */
static int64_t backoff_ms(int64_t failures)
{
    int64_t ms = BACKOFF_MIN_MS;
    for (int64_t i = 1; i < failures && ms < BACKOFF_MAX_MS; i++)
        ms = agenda_backoff(ms, BACKOFF_MIN_MS, BACKOFF_MAX_MS);
    return ms;
}

/* The reason why the job has ended, and its condition type; NULL: it goes on. */
static const char *ending(const json_t *job, const struct tally *t, const char **ret_type)
{
    const json_t *completions = json_at(job, "spec.completions");
    *ret_type = "Failed";
    if (t->failed > json_int(job, "spec.backoffLimit", 6))
        return "BackoffLimitExceeded";
    *ret_type = "Complete";
    bool enough = completions ? t->succeeded >= json_integer_value(completions) : t->succeeded > 0;
    return enough && t->active == 0 ? "CompletionsReached" : NULL;
}

static void job_write_status(struct job_controller *j, const json_t *job, const struct tally *t,
                             const char *type, const char *reason)
{
    char now[CLOCK_TEXT_MAX];
    actors_now(j->a, now);
    const json_t *old = json_object_get(job, "status");
    json_t *status = json_pack("{s:{}, s:I, s:I, s:I, s:I, s:I}", "uncountedTerminatedPods",
                               "active", (json_int_t) t->active, "ready", (json_int_t) t->ready,
                               "terminating", (json_int_t) t->terminating, "succeeded",
                               (json_int_t) t->succeeded, "failed", (json_int_t) t->failed);
    json_object_set_new(status, "startTime",
                        json_string(json_str(old, "startTime") ? json_str(old, "startTime") : now));
    if (reason) {
        bool complete = str_eq(type, "Complete");
        const char *message = complete ? "Reached expected number of succeeded pods"
                                       : "Job has reached the specified backoff limit";
        json_t *conditions = conditions_with(json_object_get(old, "conditions"),
                                             complete ? "SuccessCriteriaMet" : "FailureTarget",
                                             "True", reason, message, now);
        json_object_set_new(status, "conditions",
                            conditions_with(conditions, type, "True", reason, message, now));
        json_decref(conditions);
        if (complete)
            json_object_set_new(status, "completionTime", json_string(now));
    }
    object_set_status(j->a, USER, j->a->kinds.job, job, status);
}

static void job_look(void *self, const char *key)
{
    struct job_controller *j = self;
    CLEANUP_JSON json_t *job = json_incref(object_of_key(j->a, j->a->kinds.job, key));
    if (!job)
        return;
    CLEANUP_JSON json_t *pods = index_copy(j->a->index, j->a->kinds.pod, object_uid(job));
    struct tally t = { .succeeded = json_int(job, "status.succeeded", 0),
                       .failed = json_int(job, "status.failed", 0),
                       .last_failure_ms = -1 };
    JSON_EACH (pod, pods)
        count_pod(j, &t, pod);
    if (object_is_deleting(job))
        release_pods(j, pods);
    if (object_is_deleting(job) || is_over(job))
        return;
    const char *type, *reason = ending(job, &t, &type);
    int64_t wanted = reason ? 0 : wanted_active(job, &t);
    delete_active(j, pods, t.active - wanted);
    if (t.last_failure_ms >= 0 && wanted > t.active)
        agenda_after(&j->agenda, key, backoff_ms(t.failed));
    else
        create_pods(j, job, key, &t, wanted);
    job_write_status(j, job, &t, type, reason);
}

const struct actor job_actor = {
    .size = sizeof(struct job_controller),
    .agendas = { AGENDA(struct job_controller, agenda, "job", controller, job_look),
                 AGENDA(struct job_controller, orphans, "job-orphans", controller,
                        look_at_orphan) },
    .commit = job_commit,
};
