/* A job of two weeks lands on an idle node a moment before that is claimed, or a moment after: what
 * Ostler claims is then not as it took it to be. However near the two are, the job runs to its end,
 * and all other nodes go on. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/sweep.h"

/* The job is the last of its actions. */
#define SCENARIO "tests/sweep/steps/job.yaml"
#define NODE "gpu-1"
#define JOB "train-"

enum {
    AROUND_MS = 250,
    STEP_MS = 5,
    NEAR_MS = 2, /* so near to what was meant it has to land */
};

/* What is seen of a life; 0: not yet. */
struct jobs_seen {
    int64_t claimed_ms, landed_ms;
};

static void look(struct run *r, const struct api_commit *c, struct jobs_seen *seen)
{
    const char *name = object_name(c->after);
    if (!c->after)
        return;
    if (!seen->claimed_ms && str_eq(c->kind->plural, "nodes") && str_eq(name, NODE) &&
        object_annotation(c->after, ANNOTATION_CLAIM))
        seen->claimed_ms = r->sim.now_ms;
    if (!seen->landed_ms && str_eq(c->kind->plural, "pods") && str_has_prefix(name, JOB))
        seen->landed_ms = r->sim.now_ms;
}

static void on_commit(struct run *r, const struct api_commit *c, void *arg)
{
    look(r, c, arg);
}

static void on_first_commit(struct run *r, const struct api_commit *c)
{
    look(r, c, r->plan->arg);
}

/* The same life in which the job comes when all is over: when the node is claimed, and how long the
 * job takes to land. */
static struct jobs_seen learn(const struct life *life)
{
    struct jobs_seen seen = { 0 };
    struct run_plan plan = { .seed = life->scenario->seed,
                             .calm = true,
                             .alone = true,
                             .on_commit = on_first_commit,
                             .arg = &seen };
    struct run_result result;
    run_life(life, &plan, &result);
    run_result_clear(&result);
    return seen;
}

static size_t live(const struct sweep_env *env, struct life *life, struct expectations *x,
                   int64_t after_ms, struct counts *counts, struct buf *out)
{
    struct scenario *s = life->scenario;
    const struct jobs_seen before = learn(life);
    struct jobs_seen seen = { 0 };
    struct spec_action *actions = xcalloc(s->world.action_count, sizeof *actions);
    memcpy(actions, s->world.actions, s->world.action_count * sizeof *actions);
    const struct spec_action *own = s->world.actions;
    s->world.actions = actions;
    struct spec_action *job = &actions[s->world.action_count - 1];
    int64_t meant_ms = before.claimed_ms + after_ms;
    job->at_ms += meant_ms - before.landed_ms;
    size_t found = rollouts_live(env, life, x,
                                 &(struct rollouts_watch){ .on_commit = on_commit, .arg = &seen },
                                 counts, out);
    if (!before.claimed_ms || !before.landed_ms || seen.landed_ms - meant_ms > NEAR_MS ||
        meant_ms - seen.landed_ms > NEAR_MS) {
        buf_printf(out, "the job lands at %" PRId64 " ms, not at %" PRId64 " ms\n", seen.landed_ms,
                   meant_ms);
        found++;
    }
    s->world.actions = own;
    free(actions);
    return found;
}

size_t jobs_cases(const struct sweep_env *env)
{
    (void) env;
    return 2 * AROUND_MS / STEP_MS + 1;
}

size_t jobs_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    int64_t after_ms = (int64_t) index * STEP_MS - AROUND_MS;
    struct life life;
    struct expectations *x = NULL;
    CLEANUP_ERR struct err e = { 0 };
    size_t found = 1;
    buf_printf(out, "the job lands %+" PRId64 " ms after the claim:\n", after_ms);
    if (life_load_by_clock(&life, SCENARIO, &e) == 0)
        x = expectations_new(life.scenario->expect, &e);
    if (x)
        found = live(env, &life, x, after_ms, counts, out);
    else
        buf_printf(out, "%s\n", err_msg(&e));
    expectations_free(x);
    if (life.scenario)
        life_clear(&life);
    return found;
}
