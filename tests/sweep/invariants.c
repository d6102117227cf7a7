#include "tests/sweep/invariants.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "reconcilers/model/policy.h"
#include "tests/sweep/checks.h"

typedef void sent_fn(struct invariants *v, const struct wire_client *c, const struct request *r);
typedef void written_fn(struct invariants *v, const struct api_commit *c);
typedef void quiet_fn(struct invariants *v);

/* When an invariant is looked at, and by what. */
static const struct {
    sent_fn *sent;       /* at each request that an Ostler sends */
    written_fn *written; /* at each accepted write of an Ostler but of its lease */
    quiet_fn *moment;    /* when nothing has changed for a while */
    quiet_fn *quiet;     /* when all changes have ended */
} checks[INVARIANT_COUNT] = {
    [INVARIANT_S1_BUDGET] = { .written = check_budget },
    [INVARIANT_S2_CORDON] = { .written = check_cordon },
    [INVARIANT_S3_ASSIGNED] = { .sent = check_assigned_sent, .written = check_assigned },
    [INVARIANT_S3_KEPT] = { .written = check_kept },
    [INVARIANT_S3_CLAIMED] = { .written = check_claimed },
    [INVARIANT_S3_CLOSED] = { .written = check_closed },
    [INVARIANT_S3_IMAGES] = { .written = check_images },
    [INVARIANT_S3_PROVEN] = { .written = check_proven },
    [INVARIANT_S3_STEPS] = { .written = check_steps },
    [INVARIANT_S4_EVICTION] = { .written = check_eviction },
    [INVARIANT_S6_IDENTITY] = { .sent = check_identity },
    [INVARIANT_S7_FRAME_NODE] = { .written = check_frame_node },
    [INVARIANT_S7_FRAME_CHILD] = { .written = check_frame_child },
    [INVARIANT_S7_FRAME_POLICY] = { .written = check_frame_policy },
    [INVARIANT_S8_GENERATION] = { .written = check_generation },
    [INVARIANT_S9_HONESTY] = { .written = check_honesty },
    [INVARIANT_S9_COUNTS] = { .written = check_counts },
    [INVARIANT_S9_TIMES] = { .written = check_times },
    [INVARIANT_S10_LEADER] = { .sent = check_leader },
    [INVARIANT_S11_FAILED] = { .written = check_failed_revision },
    [INVARIANT_S12_ONCE] = { .written = check_once },
    [INVARIANT_S12_EVENTS] = { .written = check_events },
    [INVARIANT_S13_DELETION] = { .written = check_deletion },
    [INVARIANT_S14_BOUNDS] = { .written = check_bounds },
    [INVARIANT_S15_SECRETS] = { .sent = check_secrets },
    [INVARIANT_S16_STATIC] = { .sent = check_static },
    [INVARIANT_G1_PAUSED] = { .written = check_paused },
    [INVARIANT_G2_APPROVED] = { .written = check_approved },
    [INVARIANT_G3_WINDOW] = { .written = check_window },
    [INVARIANT_G4_DOMAIN] = { .written = check_domain },
    [INVARIANT_G5_CANARY] = { .written = check_canary },
    [INVARIANT_G6_THRESHOLD] = { .written = check_threshold },
    [INVARIANT_G7_FIRST] = { .written = check_first_toolkit },
    [INVARIANT_UNLOAD] = { .quiet = check_unload },
    [INVARIANT_L1_STATUS] = { .quiet = check_status },
    [INVARIANT_L1_NODES] = { .quiet = check_nodes },
    [INVARIANT_L1_MARKS] = { .quiet = check_marks },
    [INVARIANT_L3_FAIR] = { .written = check_fair },
    [INVARIANT_L5_REMOVAL] = { .quiet = check_removal },
    [INVARIANT_L7_CACHE] = { .quiet = check_cache },
    [INVARIANT_L8_STATUS] = { .quiet = check_status_truth },
    [INVARIANT_L8_REPORTS] = { .quiet = check_report_truth },
    [INVARIANT_L8_MOMENTS] = { .moment = check_moment },
    [INVARIANT_L9_FLAP] = { .sent = check_flap_sent, .written = check_flap },
    [INVARIANT_H1_OBSERVE] = { .written = check_observe },
    [INVARIANT_H2_SEEN] = { .moment = check_health },
    [INVARIANT_H3_GONE] = { .quiet = check_health },
    [INVARIANT_H4_CLOSED] = { .written = check_closing, .moment = check_records },
    [INVARIANT_H5_NO_EVICTION] = { .written = check_no_eviction },
    [INVARIANT_H6_OPENED] = { .quiet = check_opened },
    [INVARIANT_H7_ATTEMPTS] = { .moment = check_attempts, .quiet = check_attempts },
    [INVARIANT_H9_BRAKE] = { .written = check_brake },
    [INVARIANT_H11_CONDITION] = { .moment = check_condition_of_health },
};

static const struct {
    const char *name, *text;
} names[INVARIANT_COUNT] = {
#define X(id, text) { #id, text },
    INVARIANTS(X)
#undef X
};

struct invariants *invariants_new(struct run *run)
{
    struct invariants *v = xcalloc(1, sizeof *v);
    v->run = run;
    v->sight = sight_new();
    return v;
}

void invariants_free(struct invariants *v)
{
    for (size_t i = 0; i < v->client_count; i++)
        free(v->clients[i].holder);
    free(v->clients);
    check_begin_clear(v);
    check_toolkit_clear(v);
    check_flap_clear(v);
    check_live_clear(v);
    check_closing_clear(v);
    checks_state_clear(v);
    sight_free(v->sight);
    free(v);
}

void invariants_taken(struct invariants *v, const struct wire_client *c, const struct wire_taken *t)
{
    sight_taken(v->sight, wire_client_number(c), t, v->run->sim.now_ms);
    check_flap_taken(v, c, t);
    check_begin_taken(v, c, t);
}

void invariants_sent(struct invariants *v, const struct wire_client *c, const struct request *r)
{
    sight_sent(v->sight, wire_client_number(c), r, v->run->sim.now_ms);
    check_begin_sent(v, c, r);
    for (size_t i = 0; i < INVARIANT_COUNT; i++)
        if (checks[i].sent)
            checks[i].sent(v, c, r);
}

void invariants_commit(struct invariants *v, const struct api_commit *c)
{
    bool ours = str_eq(c->user, OSTLER_USER);
    if (check_is_kind(c->kind, "leases")) {
        check_leader_commit(v, c);
        return;
    }
    for (size_t i = 0; ours && i < INVARIANT_COUNT; i++)
        if (checks[i].written)
            checks[i].written(v, c);
    moments_commit(v, c);
    check_flap_commit(v, c);
    check_honesty_commit(v, c);
    check_budget_commit(v, c);
    check_begin_commit(v, c);
    check_toolkit_commit(v, c);
    check_closing_commit(v, c);
}

void invariants_pass(struct invariants *v, int64_t until_ms)
{
    if (!moments_pass(v, until_ms))
        return;
    for (size_t i = 0; i < INVARIANT_COUNT; i++)
        if (checks[i].moment)
            checks[i].moment(v);
}

void invariants_time(struct invariants *v)
{
    check_live(v);
}

void invariants_quiet(struct invariants *v)
{
    for (size_t i = 0; i < INVARIANT_COUNT; i++)
        if (checks[i].quiet)
            checks[i].quiet(v);
}

void invariants_day(struct invariants *v, size_t writes)
{
    check_rest(v, writes);
}

const char *invariant_name(enum invariant_id id)
{
    return names[id].name;
}

const char *invariant_text(enum invariant_id id)
{
    return names[id].text;
}

/* ---- for the checks */

void check_tried(struct invariants *v, enum invariant_id id)
{
    v->run->result->counts.tried[id]++;
}

void check_failed(struct invariants *v, enum invariant_id id, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    CLEANUP_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    run_finding(v->run, "%s (%s): %s", names[id].name, names[id].text, text);
}

bool check_is_kind(const struct kind *k, const char *plural)
{
    return strcmp(k->plural, plural) == 0;
}

const json_t *check_policy(const struct invariants *v)
{
    return api_get(v->run->api, kind_named("gpuclusterpolicies"), NULL, POLICY_NAME);
}

bool check_has_taint(const json_t *node, const char *key)
{
    return json_find(json_at(node, "spec.taints"), "key", key) != NULL;
}

const char *check_condition(const json_t *object, const char *type)
{
    return condition_status(json_at(object, "status.conditions"), type);
}
