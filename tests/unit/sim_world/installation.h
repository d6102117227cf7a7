/* A cluster of one GPU node and a policy, in which up to two Ostlers are installed. */
#ifndef OSTLER_TESTS_SIM_WORLD_INSTALLATION_H
#define OSTLER_TESTS_SIM_WORLD_INSTALLATION_H

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/engine/engine.h"
#include "kube/object.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/prerequisites.h"
#include "sim/api/access.h"
#include "sim/api/builtin.h"
#include "sim/world/process.h"
#include "tests/unit/sim_world/one_node.h"
#include "tests/unit/support/suite.h"

enum { SETTLED_MS = 5000, LOOKED_AGAIN_MS = 12 * 1000, LEASE_MS = 20 * 1000, CLAIM_MS = 70 * 1000 };

/* A cluster of one GPU node, a policy, and up to two Ostlers. */
struct setting {
    struct sim sim;
    struct api *api;
    struct wire *wire;
    struct fault_plan faults;
    struct manifests *manifests;
    struct process *first, *second;
    /* the policy is changed when a request whose path ends so has reached the server; NULL: not
     * again */
    const char *edit_at;
    int deletions, late_deletions; /* that were sent, and of these while the first one held still */
};

/* A merge patch of an object in no namespace. */
static inline void change(struct setting *s, const char *plural, const char *name,
                          json_t *patch_steal)
{
    CLEANUP_JSON json_t *patch = patch_steal;
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_merge(s->api, "admin", kind_named(plural), NULL, name, "", patch, &r) < 0)
        fail_msg("%s", r.message);
}

static inline json_t *annotation(const char *key, const char *value)
{
    return json_pack("{s:{s:{s:s?}}}", "metadata", "annotations", key, value);
}

static inline json_t *label(const char *key, const char *value)
{
    return json_pack("{s:{s:{s:s?}}}", "metadata", "labels", key, value);
}

static inline struct process *process(const struct setting *s, const char *name, const char *ns)
{
    return process_new(&(struct process_options){
        .sim = (struct sim *) &s->sim,
        .wire = s->wire,
        .engine.manifests = s->manifests,
        .name = name,
        .user = "system:serviceaccount:ostler-system:ostler",
        .engine.lease_namespace = ns,
        .engine.cluster.operand_namespace = "ostler-operands",
        .engine.cluster.limits = { "nvcr.io/nvidia", "*", NULL, true, true },
        .engine.cluster.absent_grace_ms = 600 * 1000,
        .restart_ms = -1,
        .engine.leader_elect = true });
}

static inline bool works(const struct process *p)
{
    return process_engine(p) && engine_working(process_engine(p));
}

static inline void on_sent(void *arg, struct wire_client *c, const struct request *r)
{
    (void) c;
    struct setting *s = arg;
    s->deletions += request_deletes(r);
    s->late_deletions += request_deletes(r) && !works(s->first);
}

static inline void on_arrived(void *arg, struct wire_client *c, const struct request *r)
{
    (void) c;
    struct setting *s = arg;
    if (request_deletes(r) &&
        str_has_suffix(r->path, "/ostler-system/deployments/" DEPLOYMENT_NAME))
        process_stop(s->first);
    if (!s->edit_at || !str_has_suffix(r->path, s->edit_at))
        return;
    s->edit_at = NULL;
    change(s, "gpuclusterpolicies", "default",
           json_pack("{s:{s:{s:b}}}", "spec", "exporter", "enabled", 0));
}

static inline int set_up(void **state)
{
    struct setting *s = xcalloc(1, sizeof *s);
    log_setup(LOG_SILENT, false);
    sim_init(&s->sim, 1);
    s->faults = (struct fault_plan){ .rng = rng_of(1) };
    s->api = api_new(&s->sim.clock);
    s->wire = wire_new(&(struct wire_options){ .sim = &s->sim,
                                               .api = s->api,
                                               .faults = &s->faults,
                                               .latency_min_ms = 1,
                                               .latency_max_ms = 20,
                                               .sent = on_sent,
                                               .arrived = on_arrived,
                                               .arg = s });
    s->manifests = manifests_new(NULL);
    create_cluster(s->api);
    s->first = process(s, "first", "ostler-system");
    s->second = process(s, "second", "elsewhere");
    *state = s;
    return 0;
}

static inline int tear_down(void **state)
{
    struct setting *s = *state;
    process_free(s->first);
    process_free(s->second);
    wire_free(s->wire);
    fault_plan_clear(&s->faults);
    sim_clear(&s->sim);
    api_free(s->api);
    manifests_free(s->manifests);
    free(s);
    return 0;
}

static inline void pass(struct setting *s, int64_t ms)
{
    sim_run_until(&s->sim, s->sim.now_ms + ms);
}

static inline const json_t *policy(const struct setting *s)
{
    return api_get(s->api, kind_named("gpuclusterpolicies"), NULL, "default");
}

static inline bool is_marked(const struct setting *s)
{
    return object_annotation(api_get(s->api, kind_named("nodes"), NULL, "gpu-1"), ANNOTATION_MARKS);
}

/* The first Ostler runs, and all is at rest. */
static inline struct setting *begun(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    return s;
}

/* From now on Ostler may do what the chart lets it do. Owned by the caller, who may take rights
 * away. */
static inline struct access *with_charts_rights(struct setting *s)
{
    struct access *access = access_new();
    access_add_chart(access, "ostler-system", "ostler-operands", NULL);
    api_set_access(s->api, access);
    return access;
}

#endif
