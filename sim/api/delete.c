/* Deletes an object: preconditions, grace periods, finalizers, orphans. */
#include "sim/api/write.h"

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/admit.h"
#include "sim/api/container.h"
#include "sim/api/draft.h"
#include "sim/api/event_view.h"
#include "sim/api/state.h"

#define FOREGROUND "foregroundDeletion"
#define ORPHAN "orphan"

static int check_precondition(const struct admission *a, const char *what, const char *wanted,
                              const char *is, const char *problem, struct refusal *r)
{
    if (!wanted || str_eq(wanted, is))
        return 0;
    CLEANUP_FREE char *why = xasprintf("the %s in the precondition (%s) does not match the %s in "
                                       "record (%s). The object might have "
                                       "been %s",
                                       what, wanted, what, is, problem);
    return refuse_precondition(r, a->w->kind, a->name, why);
}

static int check_preconditions(const struct admission *a, const struct delete_options *o,
                               struct refusal *r)
{
    const char *rv = json_str_or_empty(a->before, "metadata.resourceVersion");
    if (check_precondition(a, "UID", o->uid, object_uid(a->before), "deleted and then recreated",
                           r) < 0)
        return -1;
    return check_precondition(a, "ResourceVersion", o->rv, rv, "modified", r);
}

/* Whether dependents are orphaned or deleted first: by the deletion, else by the object's
 * finalizers, else by the kind's default. */
static bool wants(const struct admission *a, const struct delete_options *o, enum propagation way,
                  const char *finalizer)
{
    if (o->propagation != PROPAGATE_DEFAULT)
        return o->propagation == way;
    if (object_has_finalizer(a->before, finalizer))
        return true;
    return way == PROPAGATE_ORPHAN && a->kind->flags & KIND_ORPHANS &&
           !object_has_finalizer(a->before, FOREGROUND);
}

/* The finalizers of the object with those of its propagation. New reference. */
static json_t *finalizers_for(const struct admission *a, const struct delete_options *o)
{
    json_t *list = json_array();
    JSON_EACH_AT (i, finalizer, json_at(a->before, "metadata.finalizers")) {
        const char *name = str_or_empty(json_string_value(finalizer));
        if (!str_eq(name, FOREGROUND) && !str_eq(name, ORPHAN))
            json_array_append(list, finalizer);
    }
    if (wants(a, o, PROPAGATE_ORPHAN, ORPHAN))
        json_array_append_new(list, json_string(ORPHAN));
    if (wants(a, o, PROPAGATE_FOREGROUND, FOREGROUND))
        json_array_append_new(list, json_string(FOREGROUND));
    return list;
}

/* The grace period of a pod; 0 if no node runs it. */
static int64_t grace_of_pod(const json_t *pod, int64_t asked)
{
    const char *phase = json_str_or_empty(pod, "status.phase");
    if (!*json_str_or_empty(pod, "spec.nodeName") || str_eq(phase, "Succeeded") ||
        str_eq(phase, "Failed"))
        return 0;
    int64_t grace = asked >= 0 ? asked : json_int(pod, "spec.terminationGracePeriodSeconds", 0);
    if (grace < 0)
        return 1;
    return grace < INT32_MAX ? grace : INT32_MAX; /* what the clock can count */
}

/* Marks the object as deleted at a time, with these finalizers. */
static void mark(struct admission *a, int64_t at_us, int64_t grace_s, const json_t *finalizers)
{
    a->after = draft_own_top(a->before);
    json_t *metadata = json_object_get(a->after, "metadata");
    char at[CLOCK_TEXT_MAX];
    clock_rfc3339(at_us, at);
    bool is_first = !object_is_deleting(a->before);
    if (is_first && object_generation(a->before) > 0)
        json_object_set_new(metadata, "generation", json_integer(object_generation(a->before) + 1));
    json_object_set_new(metadata, "deletionTimestamp", json_string(at));
    json_object_set_new(metadata, "deletionGracePeriodSeconds", json_integer(grace_s));
    if (json_array_size(finalizers) > 0)
        json_object_set(metadata, "finalizers", (json_t *) finalizers);
    else
        json_object_del(metadata, "finalizers");
}

/* Commits the mark; `before` becomes the marked object. */
static void commit_mark(struct admission *a)
{
    if (!a->w->dry_run)
        admission_publish(a, json_incref(a->after));
    json_decref(a->before);
    a->before = TAKE(a->after);
}

/* Marks the object if it must wait or its kind is deleted in two steps; whether it is removed now.
 */
static bool mark_and_decide(struct admission *a, const struct delete_options *o)
{
    int64_t now = clock_wall_us(&a->api->clock);
    CLEANUP_JSON json_t *finalizers = finalizers_for(a, o);
    bool graceful = a->kind->flags & KIND_GRACEFUL, deleting = object_is_deleting(a->before);
    int64_t left = json_int(a->before, "metadata.deletionGracePeriodSeconds", 0);
    if (graceful && deleting && left > 0) {
        /* Only a shorter period has an effect; it counts from the start of the first one. */
        if (o->grace_s < 0 || o->grace_s >= left)
            return false;
        int64_t end = clock_parse_rfc3339(
            json_str_or_empty(a->before, "metadata.deletionTimestamp"));
        mark(a, end - (left - o->grace_s) * 1000000, o->grace_s, finalizers);
        commit_mark(a);
        return o->grace_s == 0 && json_array_size(finalizers) == 0;
    }
    if (graceful && !deleting) {
        int64_t grace = grace_of_pod(a->before, o->grace_s);
        mark(a, now + grace * 1000000, grace, finalizers);
        commit_mark(a);
        return grace == 0 && json_array_size(finalizers) == 0;
    }
    if (json_array_size(finalizers) == 0)
        return true;
    if (!deleting || !json_equal(finalizers, json_at(a->before, "metadata.finalizers"))) {
        mark(a,
             deleting
                 ? clock_parse_rfc3339(json_str_or_empty(a->before, "metadata.deletionTimestamp"))
                 : now,
             0, finalizers);
        commit_mark(a);
    }
    return false;
}

int write_delete(struct api *api, const struct write *w, const struct delete_options *o,
                 json_t **ret, bool *ret_gone, struct refusal *r)
{
    CLEANUP_REFUSAL struct refusal unread = { 0 };
    r = r ? r : &unread;
    CLEANUP_ADMISSION struct admission a = { 0 };
    if (admission_begin(&a, api, w, r) < 0 || check_preconditions(&a, o, r) < 0)
        return -1;
    if (container_is(a.kind))
        return container_delete(&a, ret, ret_gone, r);
    bool gone = mark_and_decide(&a, o);
    if (gone && !w->dry_run)
        admission_publish(&a, NULL);
    if (ret && gone && !w->dry_run) {
        CLEANUP_JSON json_t *last = api_last_state(a.before, api->store.rv);
        *ret = event_view(w->kind, last);
    } else if (ret) {
        *ret = event_view(w->kind, a.before);
    }
    if (ret_gone)
        *ret_gone = gone;
    return 0;
}
