/* Others write taints, labels and annotations between Ostler's reading and its writing, at every
 * write of its. None of what they wrote is lost, and what is Ostler's comes to be as it should. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "sim/api/path.h"
#include "tests/sweep/sweep.h"
#include "tests/sweep/sweep_writers_edits.h"

enum {
    REPENT_QUIET_MS = 45 * 1000,
    THEFTS_MAX = 30, /* in one phase: each makes Ostler write again */
    TARGETS_MAX = 512,
};

/* One life among adversaries. */
struct writers_case {
    struct rng rng;
    /* by uid: what is foreign on the object, as its last foreign writer left it */
    json_t *model;
    unsigned thefts; /* in this phase */
    bool over;       /* the adversaries rest, and the phase comes to its end */
};

/* One edit on its way. */
struct errand {
    struct run *run;
    const struct writers_edit *edit;
    const struct kind *kind;
    char *ns, *name;
    bool between; /* the request is on its way */
};

static struct writers_case *case_of(const struct run *r)
{
    return r->plan->arg;
}

/* ---- what must stay */

static bool is_watched(const struct kind *k)
{
    static const char *const kinds[] = { "nodes",    "gpuclusterpolicies", "daemonsets",
                                         "services", "runtimeclasses",     "controllerrevisions" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eq(k->plural, kinds[i]))
            return true;
    return false;
}

static void compare(struct run *r, const struct kind *k, const json_t *object, const char *when)
{
    const json_t *wanted = json_object_get(case_of(r)->model, object_uid(object));
    if (!wanted)
        return;
    CLEANUP_JSON json_t *is = writers_foreign(object);
    r->result->counts.compared += json_object_size(json_object_get(wanted, "labels")) +
                                  json_object_size(json_object_get(wanted, "annotations")) +
                                  json_object_size(json_object_get(wanted, "taints")) + 1;
    if (json_equal((json_t *) wanted, is))
        return;
    CLEANUP_FREE char *a = json_canonical(wanted), *b = json_canonical(is);
    run_finding(r, "%s, %s/%s has lost what others wrote: %s, not %s", when, k->plural,
                object_name(object), b, a);
}

static void compare_all(struct run *r, const char *when)
{
    for (size_t i = 0; i < kind_count(); i++) {
        const struct kind *k = kind_at(i);
        for (size_t j = 0; is_watched(k) && j < api_count(r->api, k); j++)
            compare(r, k, api_at(r->api, k, j), when);
    }
}

/* ---- edits */

static void free_errand(void *arg)
{
    struct errand *e = arg;
    free(e->ns);
    free(e->name);
    free(e);
}

/* Nodes that people cordon in the life itself stay as they want them. */
static bool is_cordoned_in_life(const struct run *r, const char *node)
{
    const struct spec_world *w = &r->life->scenario->world;
    for (size_t i = 0; i < w->action_count; i++)
        if (w->actions[i].verb == SPEC_CORDON && str_eq(w->actions[i].name, node))
            return true;
    return false;
}

static bool may_happen(const struct errand *e, const json_t *object)
{
    if (!object || case_of(e->run)->over || object_is_deleting(object))
        return false;
    return e->edit->kind != WRITERS_CORDON || !is_cordoned_in_life(e->run, e->name);
}

static void run_errand(void *arg)
{
    struct errand *e = arg;
    struct run *r = e->run;
    struct writers_case *c = case_of(r);
    const json_t *object = api_get(r->api, e->kind, e->ns, e->name);
    if (may_happen(e, object) && writers_do(r->api, e->edit, e->kind, object, &c->rng)) {
        r->result->counts.interleavings += e->between;
        r->result->counts.others += !e->between;
        c->thefts += e->edit->kind == WRITERS_THEFT;
        if (r->plan->verbose)
            printf("         %s %s %s %s/%s\n", e->between ? "before" : "after", e->edit->user,
                   e->edit->name, e->kind->plural, e->name);
    }
    free_errand(e);
}

static unsigned object_bit(const struct kind *k)
{
    return str_eq(k->plural, "nodes")                ? WRITERS_NODE
           : str_eq(k->plural, "gpuclusterpolicies") ? WRITERS_POLICY
                                                     : WRITERS_CHILD;
}

static const struct writers_edit *choose(struct writers_case *c, const struct kind *k)
{
    size_t n;
    const struct writers_edit *all = writers_edits(&n);
    for (;;) {
        const struct writers_edit *edit = &all[rng_below(&c->rng, n)];
        if ((edit->objects & object_bit(k)) &&
            (edit->kind != WRITERS_THEFT || c->thefts < THEFTS_MAX))
            return edit;
    }
}

/* Another client writes to an object as soon as what is going on at this moment is over. */
static void send_writer(struct run *r, const struct kind *k, const char *ns, const char *name,
                        bool between)
{
    struct writers_case *c = case_of(r);
    if (c->over)
        return;
    struct errand *e = xcalloc(1, sizeof *e);
    *e = (struct errand){ .run = r,
                          .edit = choose(c, k),
                          .kind = k,
                          .ns = xstrdup(str_or_empty(ns)),
                          .name = xstrdup(name),
                          .between = between };
    run_call(r, 0, run_errand, e, free_errand);
}

static void on_writers_sent(struct run *r, const struct wire_client *client,
                            const struct request *request)
{
    (void) client;
    if (request->class != REQUEST_WRITE)
        return;
    CLEANUP_PATH struct path p = { 0 };
    path_parse(request->path, &p);
    const struct kind *nodes = kind_named("nodes");
    if (p.end == PATH_OBJECT && is_watched(p.kind))
        send_writer(r, p.kind, p.ns, p.name, true);
    else if (api_count(r->api, nodes))
        send_writer(r, nodes, NULL,
                    object_name(api_at(r->api, nodes,
                                       rng_below(&case_of(r)->rng, api_count(r->api, nodes)))),
                    true);
}

static void on_writers_commit(struct run *r, const struct api_commit *c)
{
    struct writers_case *w = case_of(r);
    if (!is_watched(c->kind))
        return;
    if (!c->after) {
        json_object_del(w->model, object_uid(c->before));
    } else if (!str_eq(c->user, OSTLER_USER)) {
        json_object_set_new(w->model, object_uid(c->after), writers_foreign(c->after));
    } else {
        compare(r, c->kind, c->after, "after a write of ours");
        if (rng_one_in(&w->rng, 2))
            send_writer(r, c->kind, object_namespace(c->after), object_name(c->after), false);
    }
}

/* ---- the end of a phase */

static void patch_all(struct run *r, const char *user, const struct kind *k,
                      json_t *(*patch_of)(const struct run *r, const json_t *object))
{
    for (size_t i = 0; i < api_count(r->api, k); i++) {
        const json_t *object = api_at(r->api, k, i);
        CLEANUP_JSON json_t *patch = patch_of(r, object);
        CLEANUP_REFUSAL struct refusal refusal = { 0 };
        if (patch && api_merge(r->api, user, k, object_namespace(object), object_name(object), "",
                               patch, &refusal) < 0)
            run_finding(r, "cleaning up is refused: %s", refusal.message);
    }
}

static json_t *uncordoned(const struct run *r, const json_t *node)
{
    bool ours = json_bool(node, "spec.unschedulable", false) &&
                !is_cordoned_in_life(r, object_name(node));
    return ours ? json_pack("{s:{s:n}}", "spec", "unschedulable") : NULL;
}

static json_t *cleaned(const struct run *r, const json_t *object)
{
    (void) r;
    return writers_clean(object);
}

static json_t *given_back(const struct run *r, const json_t *node)
{
    (void) r;
    return writers_repent(node);
}

static void rest(struct run *r)
{
    run_hold(r, r->sim.now_ms + 1);
    while (r->sim.now_ms < r->changed_ms + REPENT_QUIET_MS)
        sim_step(&r->sim, r->changed_ms + REPENT_QUIET_MS);
}

/* Nothing was lost. Then the adversaries take off what is theirs and give back what they stole, so
 * that the cluster must come to be what it is without them. */
static void on_writers_quiet(struct run *r)
{
    struct writers_case *c = case_of(r);
    const struct kind *nodes = kind_named("nodes");
    compare_all(r, "at rest");
    c->over = true;
    for (size_t i = 0; i < kind_count(); i++)
        if (is_watched(kind_at(i)))
            patch_all(r, "writer-of-labels", kind_at(i), cleaned);
    patch_all(r, "writer-of-cordons", nodes, uncordoned);
    patch_all(r, "thief", nodes, given_back);
    rest(r);
    compare_all(r, "at the end of a phase");
    c->over = false;
    c->thefts = 0;
}

static void on_writers_begin(struct run *r)
{
    json_object_clear(case_of(r)->model);
}

size_t writers_cases(const struct sweep_env *env)
{
    (void) env;
    return SWEEP_SEEDS;
}

size_t writers_run(const struct sweep_env *env, size_t index, struct counts *counts,
                   struct buf *out)
{
    struct writers_case c = { .rng = rng_of(index + 1), .model = json_object() }, fresh = c;
    char what[64];
    snprintf(what, sizeof what, "seed %zu", index);
    struct run_plan plan = { .seed = 1,
                             .on_begin = on_writers_begin,
                             .on_sent = on_writers_sent,
                             .on_commit = on_writers_commit,
                             .on_quiet = on_writers_quiet,
                             .arg = &c,
                             .fresh = &fresh,
                             .arg_size = sizeof c };
    size_t found = sweep_live(env, &plan, true, what, counts, out);
    json_decref(c.model);
    return found;
}
