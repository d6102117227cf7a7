#include "commands/plan_command.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/terminal.h"
#include "base/yaml.h"
#include "kube/object.h"
#include "commands/plan_file.h"
#include "commands/plan_print.h"
#include "reconcilers/cluster_policy.h"
#include "reconcilers/dry_run.h"
#include "commands/simulation.h"
#include "commands/simulation_print.h"
#include "commands/snapshot.h"

/* Exit codes; see docs/ostler.1. */
enum { MADE = 0, NOT_MADE = 1, NOT_TO_ITS_END = 3 };

struct planning {
    struct options o;
    struct snapshot *snapshot;
    json_t *policy;  /* as it would be on the server */
    bool unfinished; /* simulated, and some node did not reach its target */
    struct err e;
};

/* ---- which policy */

/* The cluster's Ostler has validated this policy within its limits and found no problem. */
static bool was_judged(const json_t *policy)
{
    return json_int(policy, "status.observedGeneration", -1) == object_generation(policy) &&
           json_array_size(json_at(policy, "status.problems")) == 0;
}

/* This process does not know the cluster's limits. */
static void judge_no_more(struct planning *p, struct cluster *c)
{
    CLEANUP_JSON json_t *policy = json_incref(c->object);
    bool control_plane = p->o.limits.control_plane;
    p->o.limits = POLICY_LIMITS_NONE;
    p->o.limits.control_plane = control_plane;
    c->o.limits = p->o.limits;
    cluster_take_policy(c, NULL);
    cluster_take_policy(c, policy);
}

static int choose_policy(struct planning *p, const json_t *file)
{
    struct cluster *c = snapshot_cluster(p->snapshot);
    if (!file && !c->object)
        return err_set(
            &p->e, ERR_NOT_FOUND,
            "the cluster has no GpuClusterPolicy; use -f FILE to plan with the policy of a file");
    if (!file && object_is_deleting(c->object))
        return err_set(&p->e, ERR_INVALID,
                       "the cluster's GpuClusterPolicy is being deleted; use -f FILE to plan with "
                       "the policy of a file");
    if (file && c->object)
        plan_file_compare(&p->o, c->object, file);
    else if (!file && was_judged(c->object))
        judge_no_more(p, c);
    p->policy = dry_run_object(c->object, file);
    return 0;
}

/* ---- output */

/* Names, and texts from registries, are foreign. */
static void print(const struct planning *p, const json_t *plan, void (*as_text)(const json_t *plan))
{
    if (p->o.output == OUTPUT_TEXT) {
        CLEANUP_JSON json_t *clean = terminal_clean_tree(plan);
        as_text(clean);
        return;
    }
    CLEANUP_FREE char *text = p->o.output == OUTPUT_YAML ? yaml_dump(plan)
                                                         : terminal_json(plan, false);
    printf("%s%s", text, p->o.output == OUTPUT_YAML ? "" : "\n");
}

/* The timeline has no row for these nodes. */
static int simulate(struct planning *p, const json_t *plan)
{
    static const char *const others[] = { "first", "notServed", "noGpu" };
    const struct cluster *c = snapshot_cluster(p->snapshot);
    CLEANUP_JSON json_t *told = simulation_run(&p->o, c, snapshot_objects(p->snapshot), p->policy,
                                               &p->e);
    if (!told)
        return -1;
    json_object_set_new(told, "assumptions", simulation_assumptions(&p->o, c, plan));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        json_object_set(told, others[i], json_object_get(plan, others[i]));
    p->unfinished = !json_bool(told, "summary.complete", false);
    print(p, told, simulation_print);
    return 0;
}

/* A simulation needs the plan, too: the plan makes a pass over every node. */
static int make_plan(struct planning *p)
{
    struct dry_run ahead = { 0 };
    CLEANUP(blocking_budgets_clear) struct blocking_budgets blocking;
    blocking_budgets_make(snapshot_objects(p->snapshot), &blocking);
    int rc = dry_run(snapshot_cluster(p->snapshot), p->policy, &blocking, &ahead, &p->e);
    CLEANUP_JSON json_t *plan = rc == 0 ? dry_run_json(&ahead) : NULL;
    if (plan && p->o.file)
        json_object_set_new(plan, "ofFile", json_true());
    if (plan && p->o.simulate)
        rc = simulate(p, plan);
    else if (plan)
        print(p, plan, plan_print);
    dry_run_clear(&ahead);
    return rc;
}

static int plan_command_run(struct planning *p, const json_t *file)
{
    p->snapshot = snapshot_open(&p->o, &p->e);
    if (!p->snapshot || choose_policy(p, file) < 0 ||
        snapshot_read(p->snapshot, p->policy, &p->e) < 0)
        return -1;
    if (!snapshot_has_budgets(p->snapshot))
        fprintf(stderr,
                "%s: PodDisruptionBudgets cannot be read here, so the plan does not show the pods "
                "that they protect\n",
                p->o.called);
    return make_plan(p);
}

int plan_command(const struct options *o)
{
    struct planning p = { .o = *o };
    /* An error is reported once, at the end. */
    log_setup(o->log_level == LOG_DEBUG ? LOG_DEBUG : LOG_SILENT, o->log_json);
    CLEANUP_JSON json_t *file = o->file ? plan_file_load(o) : NULL;
    if (o->file && !file)
        return NOT_MADE;
    int rc = plan_command_run(&p, file);
    CLEANUP_FREE char *why = terminal_clean(err_msg(&p.e));
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", o->called, why);
    json_decref(p.policy);
    snapshot_free(p.snapshot);
    err_clear(&p.e);
    if (rc < 0)
        return NOT_MADE;
    return p.unfinished ? NOT_TO_ITS_END : MADE;
}
