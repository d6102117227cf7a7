/* What Ostler sees is old: streams that stand still, answers of a replica that is behind, events
 * that it never hears of. */
#include <stdio.h>

#include "base/str.h"
#include "kube/object.h"
#include "tests/sweep/sweep.h"

enum {
    LATER_MAX = 4,           /* how many writes after a notification the view stays old, at most */
    PATIENCE_MS = 40 * 1000, /* so many writes may not come */
    LAG_MS = 25 * 1000,      /* from the write until the view is new again */
    HIDDEN_MS = 20 * 1000,   /* an event that nothing cancels within this time is no case */
};

/* How the view is old. */
enum staleness { STALE_ALL, STALE_KIND, STALE_TRAVEL, STALE_REPLICA, STALENESS_COUNT };
static const char *const staleness_texts[STALENESS_COUNT] = {
    "all watches stand still",
    "the watch of this kind stands still",
    "Ostler starts anew on the state of then, and its watches stand still",
    "Ostler starts anew, and a replica that is behind answers its lists",
};

/* One case, while it goes on. */
struct view_case {
    uint64_t nth; /* the notification with which it begins */
    enum staleness how;
    size_t later; /* and the write after it with which it acts */
    uint64_t notifications, rv;
    size_t writes_left;
    bool begun, acted;
    struct run *run;
    struct sim_event end;
    const struct kind *kind;
    char key[256]; /* of the hidden object */
};

/* Whether it is something that a watch of Ostler's brings, and that Ostler did not do. */
static bool is_notification(const struct api_commit *c)
{
    static const char *const watched[] = { "gpuclusterpolicies", "nodes",    "pods",
                                           "daemonsets",         "services", "runtimeclasses" };
    if (str_eq(c->user, OSTLER_USER))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        if (str_eq(c->kind->plural, watched[i]))
            return true;
    return false;
}

static void on_end(void *arg)
{
    struct view_case *v = arg;
    wire_list_from(v->run->wire, 0);
    wire_thaw(v->run->wire);
}

static void end_after(struct view_case *v, int64_t ms)
{
    sim_after(&v->run->sim, &v->end, ms);
    run_hold(v->run, v->run->sim.now_ms + ms);
}

static void begin(struct view_case *v, struct run *r, const struct api_commit *c)
{
    v->begun = true;
    v->run = r;
    v->rv = c->rv;
    v->end = (struct sim_event){ .fn = on_end, .arg = v };
    v->writes_left = v->later;
    if (v->how == STALE_ALL || v->how == STALE_KIND)
        wire_freeze(r->wire, v->how == STALE_ALL ? NULL : c->kind);
    end_after(v, PATIENCE_MS);
}

/* The write has come at which the view is used. */
static void act(struct view_case *v)
{
    struct run *r = v->run;
    v->acted = true;
    if (v->how == STALE_TRAVEL || v->how == STALE_REPLICA) {
        wire_list_from(r->wire, v->rv);
        process_kill(r->ostlers[0]);
    }
    if (v->how == STALE_TRAVEL)
        wire_freeze(r->wire, NULL);
    end_after(v, LAG_MS);
    r->result->counts.fired++;
}

static void on_stale_commit(struct run *r, const struct api_commit *c)
{
    struct view_case *v = r->plan->arg;
    if (is_notification(c) && ++v->notifications == v->nth)
        begin(v, r, c);
    bool ours = str_eq(c->user, OSTLER_USER) && !str_eq(c->kind->plural, "leases") &&
                !str_eq(c->kind->plural, "events");
    if (v->begun && !v->acted && ours && --v->writes_left == 0)
        act(v);
}

size_t stale_cases(const struct sweep_env *env)
{
    return env->notifications * LATER_MAX * STALENESS_COUNT;
}

size_t stale_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    struct view_case v = { .how = (enum staleness)(index % STALENESS_COUNT),
                           .later = index / STALENESS_COUNT % LATER_MAX + 1,
                           .nth = index / STALENESS_COUNT / LATER_MAX + 1 };
    char what[256];
    snprintf(what, sizeof what, "from notification %zu on, used at the %zu. write after it: %s",
             (size_t) v.nth, v.later, staleness_texts[v.how]);
    struct run_plan plan = { .seed = 1, .on_commit = on_stale_commit, .arg = &v };
    struct view_case fresh = v;
    plan.fresh = &fresh;
    plan.arg_size = sizeof v;
    return sweep_live(env, &plan, true, what, counts, out);
}

/* ---- events that are never seen */

static void key_of(const struct api_commit *c, char *out, size_t size)
{
    const json_t *object = c->after ? c->after : c->before;
    snprintf(out, size, "%s/%s/%s", c->kind->plural, object_namespace(object), object_name(object));
}

/* The state between the two events was never seen: the watch says that it is too old, and a list
 * brings what is there now. */
static void on_hidden_end(void *arg)
{
    struct view_case *v = arg;
    wire_thaw(v->run->wire);
    wire_gone(v->run->wire, v->kind);
}

static void on_hidden_commit(struct run *r, const struct api_commit *c)
{
    struct view_case *v = r->plan->arg;
    bool notification = is_notification(c);
    char key[sizeof v->key];
    if (notification && ++v->notifications == v->nth) {
        v->begun = true;
        v->run = r;
        v->kind = c->kind;
        key_of(c, v->key, sizeof v->key);
        v->end = (struct sim_event){ .fn = on_hidden_end, .arg = v };
        wire_freeze(r->wire, c->kind);
        end_after(v, HIDDEN_MS);
    } else if (notification && v->begun && !v->acted) {
        key_of(c, key, sizeof key);
        if (!str_eq(key, v->key))
            return;
        v->acted = true;
        r->result->counts.fired++;
        end_after(v, 1);
    }
}

size_t unobserved_cases(const struct sweep_env *env)
{
    return env->notifications;
}

size_t unobserved_run(const struct sweep_env *env, size_t index, struct counts *counts,
                      struct buf *out)
{
    struct view_case v = { .nth = index + 1 };
    char what[128];
    snprintf(what, sizeof what,
             "notification %zu is not seen, only what comes of the next one of its object",
             index + 1);
    struct run_plan plan = { .seed = 1, .on_commit = on_hidden_commit, .arg = &v };
    struct view_case fresh = v;
    plan.fresh = &fresh;
    plan.arg_size = sizeof v;
    return sweep_live(env, &plan, true, what, counts, out);
}

/* ---- how many there are */

void view_count_notification(struct run *r, const struct api_commit *c)
{
    *(uint64_t *) r->plan->arg += is_notification(c);
}
