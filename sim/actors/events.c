#include "sim/actors/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "sim/actors/objects.h"

enum { WRITE_MS = 20, KEPT_MS = 3600 * 1000, TIDY_MS = 10 * 60 * 1000 };

/* A recorded message and its Event. */
struct word {
    char *key;     /* object, reason and message */
    json_t *about; /* once the Event is written it is that of the Event: there are thousands */
    const char *component, *reason;
    const char *message; /* in the key */
    bool warning;
    char *name; /* of the Event; NULL: not created yet */
    int count, written;
    int64_t last_ms;
};

/* An Event of any writer. */
struct stored {
    int64_t written_ms; /* the last write */
    char key[];
};

struct teller {
    struct actors *a;
    const struct kind *kind;
    struct map words;
    struct map stored;
    struct word **due; /* changed since the last write */
    size_t due_len, due_cap;
    uint64_t made;
    struct sim_event write, tidy;
};

static void word_free(void *word)
{
    struct word *w = word;
    json_decref(w->about);
    free(w->key);
    free(w->name);
    free(w);
}

/* ---- writing */

/* The namespace of the Event. */
static const char *namespace_of(const struct word *w)
{
    const char *ns = json_key(w->about, "namespace");
    return *str_or_empty(ns) ? ns : "default";
}

static json_t *event_of(const struct word *w, const char *now)
{
    return json_pack("{s:{s:s, s:s}, s:O, s:s, s:s, s:s, s:{s:s}, s:s, s:s, s:s, s:i}", "metadata",
                     "namespace", namespace_of(w), "name", w->name, "involvedObject", w->about,
                     "reason", w->reason, "message", w->message, "type",
                     w->warning ? "Warning" : "Normal", "source", "component", w->component,
                     "reportingComponent", w->component, "firstTimestamp", now, "lastTimestamp",
                     now, "count", w->count);
}

static void write_word(struct teller *t, struct word *w)
{
    char now[CLOCK_TEXT_MAX];
    actors_now(t->a, now);
    const char *ns = namespace_of(w);
    if (w->name && api_get(t->a->api, t->kind, ns, w->name)) {
        CLEANUP_JSON json_t *patch = json_pack("{s:i, s:s}", "count", w->count, "lastTimestamp",
                                               now);
        api_merge(t->a->api, w->component, t->kind, ns, w->name, "", patch, NULL);
        return;
    }
    free(w->name);
    w->name = xasprintf("%s.%016llx", json_key(w->about, "name"), (unsigned long long) ++t->made);
    CLEANUP_JSON json_t *event = event_of(w, now);
    if (api_create(t->a->api, w->component, t->kind, event, NULL) < 0)
        return;
    const json_t *stored = api_get(t->a->api, t->kind, ns, w->name);
    json_t *about = json_incref(json_object_get(stored, "involvedObject"));
    json_decref(w->about);
    w->about = about;
}

static void write_due(void *arg)
{
    struct teller *t = arg;
    struct word **due = TAKE(t->due);
    size_t len = t->due_len;
    t->due_len = t->due_cap = 0;
    for (size_t i = 0; i < len; i++) {
        due[i]->written = due[i]->count;
        write_word(t, due[i]);
    }
    free(due);
}

/* Forgets messages that have not occurred for an hour. */
static void forget_words(struct teller *t)
{
    struct word **old = xcalloc(t->words.len + 1, sizeof *old);
    size_t len = 0;
    MAP_EACH (entry, &t->words) {
        struct word *w = entry->value;
        if (w->written == w->count && w->last_ms + KEPT_MS <= t->a->sim->now_ms)
            old[len++] = w;
    }
    for (size_t i = 0; i < len; i++) {
        map_remove(&t->words, old[i]->key);
        word_free(old[i]);
    }
    free(old);
}

/* Deletes Events that were not written for an hour, as an API server does, whoever wrote them. */
static void delete_events(struct teller *t)
{
    char **old = xcalloc(t->stored.len + 1, sizeof *old);
    size_t len = 0;
    MAP_EACH (entry, &t->stored) {
        const struct stored *e = entry->value;
        if (e->written_ms + KEPT_MS <= t->a->sim->now_ms)
            old[len++] = xstrdup(e->key);
    }
    for (size_t i = 0; i < len; i++) {
        char *slash = strchr(old[i], '/');
        *slash = '\0';
        api_delete(t->a->api, "system:apiserver", t->kind, old[i], slash + 1, NULL, -1, NULL);
        free(old[i]);
    }
    free(old);
}

static void tidy(void *arg)
{
    struct teller *t = arg;
    forget_words(t);
    delete_events(t);
    if (t->words.len > 0 || t->stored.len > 0)
        sim_after(t->a->sim, &t->tidy, TIDY_MS);
}

/* ---- recording */

static struct word *events_word_of(struct teller *t, const char *component, const json_t *object,
                                   bool warning, const char *reason, const char *message)
{
    const char *uid = str_or_empty(json_str(object, "metadata.uid"));
    CLEANUP_FREE char *key = xasprintf("%s %s/%s %s %s", uid, object_namespace(object),
                                       object_name(object), reason, message);
    struct word *w = map_get(&t->words, key);
    if (w)
        return w;
    w = xcalloc(1, sizeof *w);
    *w = (struct word){
        .key = TAKE(key), .component = component, .reason = reason, .warning = warning
    };
    w->message = w->key + strlen(w->key) - strlen(message);
    w->about = json_pack("{s:s*, s:s*, s:s, s:s, s:s*}", "apiVersion",
                         json_key(object, "apiVersion"), "kind", json_key(object, "kind"), "name",
                         object_name(object), "namespace", object_namespace(object), "uid",
                         json_str(object, "metadata.uid"));
    map_put(&t->words, w->key, w);
    return w;
}

void events_record(const struct actors *a, const char *component, const json_t *object,
                   bool warning, const char *reason, const char *fmt, ...)
{
    struct teller *t = a->selves[ACTOR_PLACE_EVENTS];
    if (!t)
        return;
    CLEANUP_FREE char *message = FORMATTED(fmt);
    struct word *w = events_word_of(t, component, object, warning, reason, message);
    w->last_ms = a->sim->now_ms;
    if (w->count++ == w->written) {
        t->due = xgrow(t->due, t->due_len, &t->due_cap, sizeof(struct word *));
        t->due[t->due_len++] = w;
    }
    if (!heap_holds(&t->write.item))
        sim_after(a->sim, &t->write, WRITE_MS);
    if (!heap_holds(&t->tidy.item))
        sim_after(a->sim, &t->tidy, TIDY_MS);
}

int events_create_pod(struct actors *a, const char *user, const char *component,
                      const json_t *owner, const json_t *pod)
{
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    if (api_create(a->api, user, a->kinds.pod, pod, &refusal) == 0)
        return 0;
    events_record(a, component, owner, true, "FailedCreate", "Error creating: %s", refusal.message);
    return -1;
}

/* ---- Events from commits */

/* The components that record Events about pods of their kind. */
static const struct {
    const char *kind, *component;
} controllers[] = {
    { "DaemonSet", "daemonset-controller" },
    { "ReplicaSet", "replicaset-controller" },
    { "Job", "job-controller" },
};

/* The pod's controller records that it created or deleted the pod. */
static void record_controller(const struct actors *a, const json_t *pod, const char *reason,
                              const char *verb)
{
    const json_t *controller = object_controller(pod);
    for (size_t i = 0; controller && i < ARRAY_LEN(controllers); i++) {
        if (!str_eq(json_key(controller, "kind"), controllers[i].kind))
            continue;
        CLEANUP_JSON json_t *owner = json_pack(
            "{s:s*, s:s*, s:{s:s*, s:s, s:s*}}", "apiVersion", json_key(controller, "apiVersion"),
            "kind", json_key(controller, "kind"), "metadata", "name", json_key(controller, "name"),
            "namespace", object_namespace(pod), "uid", json_key(controller, "uid"));
        events_record(a, controllers[i].component, owner, false, reason, "%s pod: %s", verb,
                      object_name(pod));
    }
}

static void record_scheduling(const struct actors *a, const json_t *before, const json_t *pod)
{
    const char *node = json_str_or_empty(pod, "spec.nodeName");
    if (*node && !*json_str_or_empty(before, "spec.nodeName"))
        events_record(a, "default-scheduler", pod, false, "Scheduled",
                      "Successfully assigned %s/%s to %s", object_namespace(pod), object_name(pod),
                      node);
    const json_t *was = condition_of(before, "PodScheduled");
    const json_t *is = condition_of(pod, "PodScheduled");
    if (str_eq(json_key(is, "status"), "False") &&
        !str_eq(json_key(was, "message"), json_key(is, "message")))
        events_record(a, "default-scheduler", pod, true, "FailedScheduling", "%s",
                      str_or_empty(json_key(is, "message")));
}

static void record_pod(const struct actors *a, const struct api_commit *c)
{
    if (!c->after)
        return;
    if (!c->before)
        record_controller(a, c->after, "SuccessfulCreate", "Created");
    else if (object_is_deleting(c->after) && !object_is_deleting(c->before) &&
             strstr(c->user, "-controller"))
        record_controller(a, c->after, "SuccessfulDelete", "Deleted");
    record_scheduling(a, c->before, c->after);
}

static void record_node(const struct actors *a, const struct api_commit *c)
{
    const char *name = c->after ? object_name(c->after) : "";
    const char *was = condition_status(json_at(c->before, "status.conditions"), "Ready");
    const char *is = condition_status(json_at(c->after, "status.conditions"), "Ready");
    if (!c->after)
        return;
    if (!c->before)
        events_record(a, "node-controller", c->after, false, "RegisteredNode",
                      "Node %s event: Registered Node %s in Controller", name, name);
    if (str_eq(was, is))
        return;
    if (str_eq(is, "True"))
        events_record(a, "kubelet", c->after, false, "NodeReady",
                      "Node %s status is now: NodeReady", name);
    else if (str_eq(was, "True"))
        events_record(a, "node-controller", c->after, false, "NodeNotReady",
                      "Node %s status is now: NodeNotReady", name);
}

static void record_job(const struct actors *a, const struct api_commit *c)
{
    const json_t *was = json_at(c->before, "status.conditions"),
                 *is = json_at(c->after, "status.conditions");
    if (was == is)
        return;
    if (str_eq(condition_status(is, "Complete"), "True") &&
        !str_eq(condition_status(was, "Complete"), "True"))
        events_record(a, "job-controller", c->after, false, "Completed", "Job completed");
    const json_t *failed = condition_find(is, "Failed");
    if (str_eq(json_key(failed, "status"), "True") &&
        !str_eq(condition_status(was, "Failed"), "True"))
        events_record(a, "job-controller", c->after, true, "BackoffLimitExceeded", "%s",
                      str_or_empty(json_key(failed, "message")));
}

static void note_event(struct teller *t, const struct api_commit *c)
{
    const json_t *event = c->after ? c->after : c->before;
    CLEANUP_FREE char *key = xasprintf("%s/%s", object_namespace(event), object_name(event));
    if (!c->after) {
        free(map_remove(&t->stored, key));
        return;
    }
    MAP_MAKE(struct stored, key, &t->stored, key)->written_ms = t->a->sim->now_ms;
    if (!heap_holds(&t->tidy.item))
        sim_after(t->a->sim, &t->tidy, TIDY_MS);
}

static void events_commit(void *self, const struct api_commit *c)
{
    struct teller *t = self;
    if (c->kind == t->kind)
        note_event(t, c);
    else if (c->kind == t->a->kinds.pod)
        record_pod(t->a, c);
    else if (c->kind == t->a->kinds.node)
        record_node(t->a, c);
    else if (c->kind == t->a->kinds.job && c->after)
        record_job(t->a, c);
}

static void events_begin(void *self)
{
    struct teller *t = self;
    t->kind = kind_of("v1", "Event");
    t->write = (struct sim_event){ .fn = write_due, .arg = t };
    t->tidy = (struct sim_event){ .fn = tidy, .arg = t };
}

static void events_end(void *self)
{
    struct teller *t = self;
    sim_cancel(t->a->sim, &t->write);
    sim_cancel(t->a->sim, &t->tidy);
    map_clear_with(&t->words, word_free);
    map_clear_with(&t->stored, free);
    free(t->due);
}

const struct actor events_actor = {
    .size = sizeof(struct teller),
    .begin = events_begin,
    .commit = events_commit,
    .end = events_end,
};
