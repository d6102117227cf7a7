/* Something happens at a step of a node's way to another revision: at each write of Ostler's to a
 * node that is claimed, and a little later. When all is quiet it is looked at, taken back, and in
 * the end all must be as if it had not been. What happens is in tests/sweep/steps/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/expect.h"
#include "tests/sweep/reading.h"
#include "tests/sweep/sweep.h"

#define FOLDER "tests/sweep/steps/"

enum {
    NAME_MAX_LEN = 64,
    TEXT_MAX = 64 * 1024,
    WAITS_MAX = 24,
    TURN = 5, /* from step to step the rows begin so much later */
    WAIT_MS = 10 * 60 * 1000,
    NOTICED_MS = 60 * 1000, /* a node that is silent for so long is Unknown */
};

/* When it happens after the write: at once, and in the middle of what follows from it. */
static const int64_t moments_ms[] = { 0, 700 };

/* One row of a file in one life. */
struct step_case {
    const json_t *row;
    size_t nth; /* step, from 1 */
    int64_t after_ms;
    size_t seen;
    bool happened;
    char node[NAME_MAX_LEN], version[NAME_MAX_LEN];
    struct step_things *things;
};

/* What it owns in one life. */
struct step_things {
    struct scenario *doing, *undoing; /* whose actions are what is done */
    struct expectations *expectations;
    struct journal *journal;
    bool none_closed; /* when all is quiet; people and machines may keep a node closed */
};

/* One action on its way. */
struct errand {
    struct run *run;
    const struct spec_action *action;
};

static struct step_case *case_of(const struct run *r)
{
    return r->plan->arg;
}

static void forget(struct step_things *t)
{
    scenario_free(t->doing);
    scenario_free(t->undoing);
    expectations_free(t->expectations);
    if (t->journal)
        journal_free(t->journal);
    *t = (struct step_things){ .none_closed = t->none_closed };
}

/* ---- what is done */

/* A text with every `word` replaced. Owned. */
static char *replaced(const char *text, const char *word, const char *by)
{
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    for (const char *found; (found = strstr(text, word)); text = found + strlen(word))
        buf_printf(&out, "%.*s%s", (int) (found - text), text, by);
    buf_str(&out, text);
    return buf_take(&out);
}

/* The node's claim as an Ostler would write it that knows one member more, as JSON; "null": it has
 * none. Owned. */
static char *newer_claim(const struct run *r, const char *node)
{
    const char *text = object_annotation(api_get(r->api, kind_named("nodes"), NULL, node),
                                         ANNOTATION_CLAIM);
    CLEANUP_JSON json_t *claim = text ? json_parse(text, strlen(text), NULL) : NULL;
    if (!claim)
        return xstrdup("null");
    json_object_set_new(claim, "ofANewerOstler", json_string("soon"));
    CLEANUP_FREE char *newer = json_compact(claim);
    CLEANUP_JSON json_t *quoted = json_string(newer);
    return json_dumps(quoted, JSON_ENCODE_ANY);
}

/* The row's actions as those of a scenario in which there are the life's machines. */
static struct scenario *scenario_of(struct run *r, const char *key)
{
    const struct step_case *c = case_of(r);
    const struct spec_world *w = &r->life->scenario->world;
    CLEANUP_ERR struct err e = { 0 };
    const char *shape = w->nodes[0].shape->name;
    json_t *nodes = json_pack("[{s:s, s:s}]", "name", "late-1", "shape", shape);
    for (size_t i = 0; i < w->node_count; i++)
        json_array_append_new(nodes,
                              json_pack("{s:s, s:s}", "name", w->nodes[i].name, "shape", shape));
    CLEANUP_JSON json_t *root = json_pack("{s:[{s:s}], s:o, s:O}", "shapes", "name", shape, "nodes",
                                          nodes, "actions", json_object_get(c->row, key));
    if (str_eq(key, "do"))
        json_object_set(root, "expect", json_object_get(c->row, "expect"));
    CLEANUP_FREE char *form = json_compact(root), *named = replaced(form, "NODE", c->node);
    CLEANUP_FREE char *versioned = replaced(named, "VERSION", c->version),
                      *claim = newer_claim(r, c->node);
    CLEANUP_FREE char *text = replaced(versioned, "\"NEWERCLAIM\"", claim);
    struct scenario *s = scenario_parse(key, text, strlen(text), &e);
    if (!s)
        run_finding(r, "%s", err_msg(&e));
    return s;
}

static void run_errand(void *arg)
{
    struct errand *e = arg;
    struct spec_action action = *e->action;
    struct run *r = e->run;
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    if (action.shape)
        action.shape = r->life->scenario->world.nodes[0].shape;
    if (r->plan->verbose)
        printf("         %s is done to %s\n", json_str_or_empty(case_of(r)->row, "name"),
               str_or_empty(action.name));
    if (!actors_do(r->actors, &action, &refusal))
        run_finding(r, "what happens is refused: %s", str_or_empty(refusal.message));
    free(e);
}

static void send(struct run *r, const struct scenario *s)
{
    for (size_t i = 0; s && i < s->world.action_count; i++) {
        struct errand *e = xcalloc(1, sizeof *e);
        *e = (struct errand){ .run = r, .action = &s->world.actions[i] };
        run_call(r, e->action->at_ms, run_errand, e, free);
        run_hold(r, r->sim.now_ms + e->action->at_ms + NOTICED_MS);
    }
}

static void happen(void *arg)
{
    struct run *r = arg;
    struct step_case *c = case_of(r);
    CLEANUP_ERR struct err e = { 0 };
    c->things->doing = scenario_of(r, "do");
    if (c->things->doing)
        c->things->expectations = expectations_new(c->things->doing->expect, &e);
    if (c->things->expectations)
        expectations_begin(c->things->expectations, r, c->things->journal);
    else
        run_finding(r, "%s", err_msg(&e));
    send(r, c->things->doing);
    r->result->counts.fired++;
}

/* ---- when */

/* What the life before this one left is forgotten; the nodes are there already, and come into the
 * journal with their first change. */
static void on_begin(struct run *r)
{
    struct step_case *c = case_of(r);
    forget(c->things);
    c->things->journal = journal_new();
}

static void on_commit(struct run *r, const struct api_commit *commit)
{
    struct step_case *c = case_of(r);
    if (c->things->journal)
        journal_commit(c->things->journal, commit);
    if (!run_is_step(commit) || ++c->seen != c->nth)
        return;
    const json_t *policy = api_get(r->api, kind_named("gpuclusterpolicies"), NULL, "default");
    snprintf(c->node, sizeof c->node, "%s", object_name(commit->after));
    snprintf(c->version, sizeof c->version, "%s", json_str_or_empty(policy, "spec.driver.version"));
    c->happened = true;
    run_call(r, c->after_ms, happen, r, NULL);
    run_hold(r, r->sim.now_ms + c->after_ms + 1);
}

/* ---- when all is quiet */

/* Whether a rollout goes on by itself after a while. */
static bool waits_for_time(const struct run *r)
{
    static const char *const reasons[] = { "WaitingToRetry", "Soaking" };
    const json_t *policy = api_get(r->api, kind_named("gpuclusterpolicies"), NULL, "default");
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (str_eq(json_str(policy, "status.rollout.reason"), reasons[i]))
            return true;
    return false;
}

static void wait_out(struct run *r)
{
    run_settle(r);
    for (size_t i = 0; i < WAITS_MAX && waits_for_time(r); i++) {
        run_hold(r, r->sim.now_ms + WAIT_MS);
        run_settle(r);
    }
}

/* Nothing comes back where all was removed. And where the driver fails nodes go back to what was
 * known good last, which another version may have come to be in between. */
static bool is_incomparable(const struct run *r)
{
    const struct step_case *c = case_of(r);
    return json_bool(c->row, "ends", false) ||
           (json_bool(c->row, "knownGood", false) && life_driver_fails(r->life, c->version));
}

/* When all is quiet, and nothing waits for time, no node is on its way: Ostler keeps none closed
 * that is not being changed and has not failed. Where people keep a node on its way, their rows say
 * so. */
static void find_closed(struct run *r)
{
    static const char *const under_way[] = { "Unloading", "Installing", "Validating", "Failed" };
    const struct kind *nodes = kind_named("nodes");
    for (size_t i = 0; i < api_count(r->api, nodes); i++) {
        const json_t *node = api_at(r->api, nodes, i);
        struct reading_claim claim = { 0 };
        bool claimed = reading_claim(node, &claim), may_be = false;
        for (size_t p = 0; claimed && p < ARRAY_LEN(under_way); p++)
            may_be |= str_eq(claim.phase, under_way[p]);
        if ((reading_is_closed(node) || json_bool(node, "spec.unschedulable", false)) && !may_be)
            run_finding(r, "all is quiet, and %s stays closed: %s", object_name(node),
                        claimed ? claim.phase : "no claim");
    }
}

/* Afterwards the life is at its end: what comes later was tried without it. */
static void on_quiet(struct run *r)
{
    struct step_case *c = case_of(r);
    if (!c->happened)
        return;
    wait_out(r);
    if (c->things->expectations)
        expectations_end(c->things->expectations);
    if (c->things->none_closed)
        find_closed(r);
    if (!json_bool(c->row, "strands", false))
        invariants_quiet(r->invariants);
    if (json_object_get(c->row, "undo")) {
        c->things->undoing = scenario_of(r, "undo");
        send(r, c->things->undoing);
        wait_out(r);
    }
    r->over = true;
    r->result->incomparable = is_incomparable(r);
}

/* ---- the sweeps */

static json_t *rows_of(const char *file)
{
    CLEANUP_ERR struct err e = { 0 };
    json_t *documents = yaml_parse_file(file, NULL, &e);
    if (!documents) {
        fprintf(stderr, "sweep: %s\n", err_msg(&e));
        exit(2);
    }
    return documents;
}

static size_t cases_of(const struct sweep_env *env, const char *file)
{
    CLEANUP_JSON json_t *documents = rows_of(file);
    return env->reference.counts.steps * ARRAY_LEN(moments_ms) *
           json_array_size(json_array_get(documents, 0));
}

/* Cases that are side by side are of other rows at the same step, turned from step to step, so that
 * few cases, evenly spread, are of all rows and steps. */
static size_t run_of(const struct sweep_env *env, const char *file, bool none_closed, size_t index,
                     struct counts *counts, struct buf *out)
{
    CLEANUP_JSON json_t *documents = rows_of(file);
    const json_t *rows = json_array_get(documents, 0);
    size_t n = json_array_size(rows), step = index / n, row = (index + step * TURN) % n;
    struct step_things things = { .none_closed = none_closed };
    struct step_case c = { .row = json_array_get(rows, row),
                           .nth = step / ARRAY_LEN(moments_ms) + 1,
                           .after_ms = moments_ms[step % ARRAY_LEN(moments_ms)],
                           .things = &things },
                     fresh = c;
    CLEANUP_FREE char *what = xasprintf("%d ms after step %zu: %s", (int) c.after_ms, c.nth,
                                        json_str_or_empty(c.row, "name"));
    struct run_plan plan = { .seed = 1,
                             .on_begin = on_begin,
                             .on_commit = on_commit,
                             .on_quiet = on_quiet,
                             .arg = &c,
                             .fresh = &fresh,
                             .arg_size = sizeof c };
    size_t found = sweep_live(env, &plan, true, what, counts, out);
    forget(&things);
    return found;
}

size_t people_cases(const struct sweep_env *env)
{
    return cases_of(env, FOLDER "people.yaml");
}

size_t people_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    return run_of(env, FOLDER "people.yaml", false, index, counts, out);
}

size_t policy_cases(const struct sweep_env *env)
{
    return cases_of(env, FOLDER "policy.yaml");
}

size_t policy_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    return run_of(env, FOLDER "policy.yaml", true, index, counts, out);
}

size_t nodes_cases(const struct sweep_env *env)
{
    return cases_of(env, FOLDER "nodes.yaml");
}

size_t nodes_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    return run_of(env, FOLDER "nodes.yaml", false, index, counts, out);
}

size_t agents_cases(const struct sweep_env *env)
{
    return cases_of(env, FOLDER "agents.yaml");
}

size_t agents_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    return run_of(env, FOLDER "agents.yaml", false, index, counts, out);
}
