/* Whole rollouts of fleets that chance made up, in memory: nodes with GPUs, zones, pools, jobs,
 * nodes that are down or come and go, that people cordon and hold, and that fail; policies with
 * every limit. All that may happen to a node happens to it by the rules of its claim; each grant is
 * held against the limits as they are at that moment, counted here anew, and in the end every node
 * that can be is done. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "reconcilers/decide/rollout.h"
#include "tests/unit/support/chance.h"
#include "tests/unit/support/sanitized.h"
#include "tests/unit/support/suite.h"

enum {
    FLEETS = SANITIZED ? 40 : 600,
    NODES_MAX = 24,
    POOLS = 2,
    ZONES = 3,
    TICK_S = 120,
    TICKS_MAX = 4000,
    BACK_TICKS = 500,
    HALF_DAY_S = 43200,
    NOON_S = 1795262400
};

struct unit {
    struct rollout_node n;
    struct claim claim;
    char name[24];
    bool claimed, faulty, gone; /* faulty: never comes up with d2; gone: down for good */
    int64_t jobs_until_s;
    /* when it has the images of its target; 0: it was not asked for them */
    int64_t pulled_s;
    int64_t pulls_from_s; /* before that no registry gives it any */
};

struct fleet {
    struct chance chance;
    struct unit units[NODES_MAX];
    struct rollout_node nodes[NODES_MAX]; /* as a decision sees them */
    size_t count;
    struct rollout_spec spec;
    struct rollout_revision revisions[POOLS * 4];
    struct rollout_input in;
    uint64_t seed;
    size_t grants, returns;
    bool settled_plan; /* the policy no longer changes */
    bool forgives;     /* a person asks for another try whenever a revision has failed */
};

static const char *const hashes[] = { "d1", "d2", "d3", "s1" };
static const char *const pool_names[POOLS] = { "default", "legacy" };
static const char *const zones[ZONES] = { "z1", "z2", "z3" };

#define FAIL(f, ...)                                                                               \
    do {                                                                                           \
        print_error("fleet %llu: ", (unsigned long long) (f)->seed);                               \
        fail_msg(__VA_ARGS__);                                                                     \
    } while (0)

static uint32_t below(struct fleet *f, uint32_t n)
{
    return chance_below(&f->chance, n);
}

static bool one_in(struct fleet *f, uint32_t n)
{
    return below(f, n) == 0;
}

static struct rollout_revision *revision_of(struct fleet *f, const char *hash, size_t pool)
{
    for (size_t i = 0; i < ARRAY_LEN(f->revisions); i++)
        if (f->revisions[i].pool == pool && str_eq(f->revisions[i].hash, hash))
            return &f->revisions[i];
    return NULL;
}

/* ---- a fleet */

static struct rollout_count some_count(struct fleet *f, uint32_t most)
{
    if (one_in(f, 2))
        return (struct rollout_count){ .percent = true, .value = 1 + below(f, 100) };
    return (struct rollout_count){ .value = 1 + below(f, most) };
}

static void make_limits(struct fleet *f)
{
    f->spec.max_parallel = some_count(f, 5);
    f->spec.max_unavailable = some_count(f, 8);
    f->spec.max_unavailable_gpus = one_in(f, 3) ? some_count(f, 24)
                                                : (struct rollout_count){ .value = -1 };
    f->spec.topology_key = one_in(f, 3) ? "zone" : NULL;
    f->spec.order = one_in(f, 2) ? ROLLOUT_IDLE_FIRST : ROLLOUT_BY_NAME;
    f->spec.soak_s = one_in(f, 3) ? below(f, 1200) : 0;
}

static void make_spec(struct fleet *f)
{
    make_limits(f);
    f->spec.failure_threshold = (struct rollout_count){ .value = NODES_MAX + 1 };
    f->spec.canary_nodes = below(f, 4);
    f->spec.canary_soak_s = below(f, 1800);
    f->spec.install_timeout_s = 1800;
    f->spec.drain.wait_for_jobs_s = one_in(f, 2) ? -1 : (int64_t) below(f, HALF_DAY_S);
}

static void make_unit(struct fleet *f, size_t i)
{
    struct unit *u = &f->units[i];
    snprintf(u->name, sizeof u->name, "n%zu", i);
    u->n = (struct rollout_node){ .name = u->name,
                                  .pool = below(f, POOLS),
                                  .now = { { "d1", "s1" } },
                                  .target = { { "d2", "s1" } },
                                  .domain = zones[below(f, ZONES)],
                                  .gpus = 1u << below(f, 4),
                                  .up = true,
                                  .runs_ostler = i == 0 };
    if (one_in(f, 8))
        u->n.held = true;
    if (one_in(f, 8))
        u->n.gave_up = true;
    if (one_in(f, 3))
        u->jobs_until_s = NOON_S + below(f, HALF_DAY_S);
    u->faulty = one_in(f, 10);
    if (one_in(f, 6))
        u->pulls_from_s = NOON_S + below(f, HALF_DAY_S);
}

/* Some are out of service for good, but fewer than the limits allow, so that the others can go;
 * none where GPUs are counted, since a node with more of them than the limit goes only when nothing
 * else is out of service. */
static void take_some_down(struct fleet *f)
{
    size_t most = rollout_count_of(&f->spec.max_unavailable, f->count);
    for (size_t i = 0; i < f->count && most > 1 && f->spec.max_unavailable_gpus.value < 0; i++)
        if (one_in(f, 6)) {
            most--;
            f->units[i].n.cordoned = one_in(f, 2);
            f->units[i].gone = !f->units[i].n.cordoned;
            f->units[i].n.up = f->units[i].n.cordoned;
        }
}

static void make_fleet(struct fleet *f, uint64_t seed)
{
    *f = (struct fleet){ .chance = chance_of(seed), .seed = seed };
    f->count = 1 + below(f, NODES_MAX);
    make_spec(f);
    for (size_t i = 0; i < f->count; i++)
        make_unit(f, i);
    take_some_down(f);
    for (size_t i = 0; i < ARRAY_LEN(f->revisions); i++)
        f->revisions[i] = (struct rollout_revision){ .hash = hashes[i / POOLS],
                                                     .pool = i % POOLS,
                                                     .known_good = i < POOLS || i >= 3 * POOLS };
    f->in = (struct rollout_input){ .spec = &f->spec,
                                    .nodes = f->nodes,
                                    .node_count = f->count,
                                    .revisions = f->revisions,
                                    .revision_count = ARRAY_LEN(f->revisions),
                                    .pool_names = pool_names,
                                    .now_s = NOON_S };
}

/* ---- what is true at a moment */

static bool is_wanted(const struct unit *u)
{
    return str_eq(u->claim.to.hash[TIER_DRIVER], u->n.target.hash[TIER_DRIVER]);
}

static struct images images_of(const struct fleet *f, const struct unit *u)
{
    if (!u->pulled_s)
        return (struct images){ .state = IMAGES_UNKNOWN };
    if (f->in.now_s < u->pulls_from_s)
        return (struct images){ .state = IMAGES_MISSING, .words = "not found" };
    return (struct images){ .state = f->in.now_s < u->pulled_s ? IMAGES_PULLING : IMAGES_READY };
}

static bool is_under_way(const struct unit *u)
{
    return u->claimed && claim_phase_has_slot(u->claim.phase);
}

/* What is known good needs no images, and what has failed is only tried again where a person wants
 * it. */
static bool may_turn(struct fleet *f, const struct unit *u)
{
    const struct rollout_revision *r = revision_of(f, u->n.target.hash[TIER_DRIVER], u->n.pool);
    return r->known_good || r->failed || images_of(f, u).state == IMAGES_READY;
}

static void look(struct fleet *f)
{
    for (size_t i = 0; i < f->count; i++) {
        struct unit *u = &f->units[i];
        u->n.jobs = u->jobs_until_s > f->in.now_s;
        u->n.busy = u->n.jobs;
        if (!u->claimed || u->claim.phase != CLAIM_WAITING || u->n.jobs)
            u->n.free_s = 0;
        else if (!u->n.free_s)
            u->n.free_s = f->in.now_s;
        u->n.claim = u->claimed ? &u->claim : NULL;
        u->n.images = images_of(f, u);
        u->n.retarget_pending = is_under_way(u) && !is_wanted(u) && !may_turn(f, u);
        u->n.settled = u->n.up && !u->claimed &&
                       str_eq(u->n.now.hash[TIER_DRIVER], u->n.target.hash[TIER_DRIVER]) &&
                       !(u->faulty && str_eq(u->n.now.hash[TIER_DRIVER], "d2"));
        f->nodes[i] = u->n;
    }
}

static bool has_failed(const struct unit *u)
{
    return u->claimed && u->claim.phase == CLAIM_FAILED &&
           str_eq(u->claim.to.hash[TIER_DRIVER], u->n.target.hash[TIER_DRIVER]);
}

static bool is_out(const struct unit *u)
{
    return !has_failed(u) && (u->claimed || !u->n.up || u->n.cordoned);
}

static bool is_ours(const struct unit *u)
{
    return u->claimed && u->claim.phase != CLAIM_FAILED;
}

/* ---- each grant, before it is carried out */

static void check_unavailable(struct fleet *f, const struct unit *u)
{
    size_t out = 0, ours = 0, out_gpus = 0, ours_gpus = 0, all_gpus = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct unit *o = &f->units[i];
        all_gpus += o->n.gpus;
        out += is_out(o);
        out_gpus += is_out(o) ? o->n.gpus : 0;
        ours += is_ours(o);
        ours_gpus += is_ours(o) ? o->n.gpus : 0;
    }
    size_t most = rollout_count_of(&f->spec.max_unavailable, f->count),
           most_gpus = rollout_count_of(&f->spec.max_unavailable_gpus, all_gpus);
    if (is_ours(u))
        return;
    if (is_out(u) ? ours + 1 > most : out + 1 > most)
        FAIL(f,
             "%s is claimed while %zu are out of service, %zu of them because of us; "
             "maxUnavailable is %zu",
             u->name, out, ours, most);
    size_t gpus = is_out(u) ? ours_gpus : out_gpus;
    if (gpus && gpus + u->n.gpus > most_gpus)
        FAIL(f,
             "%s with %u GPUs is claimed while %zu are out of service; maxUnavailableGpus is %zu",
             u->name, u->n.gpus, gpus, most_gpus);
}

static void check_parallel(struct fleet *f, const struct unit *u)
{
    size_t used = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct unit *o = &f->units[i];
        if (!is_under_way(o) || !o->n.up)
            continue;
        used++;
        if (f->spec.topology_key && !str_eq(o->n.domain, u->n.domain))
            FAIL(f, "%s of domain %s begins while %s of %s is under way", u->name, u->n.domain,
                 o->name, o->n.domain);
    }
    if (used + 1 > rollout_count_of(&f->spec.max_parallel, f->count))
        FAIL(f, "%s begins beside %zu others", u->name, used);
    if (!u->n.up)
        FAIL(f, "%s begins and is down", u->name);
}

static void check_canary(struct fleet *f, const struct unit *u)
{
    const struct rollout_revision *r = revision_of(f, u->n.target.hash[TIER_DRIVER], u->n.pool);
    bool over = f->spec.canary_nodes == 0 || r->known_good ||
                (r->canary_s > 0 && f->in.now_s - r->canary_s >= f->spec.canary_soak_s);
    int64_t used = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct unit *o = &f->units[i];
        if (o->n.pool != u->n.pool ||
            !str_eq(o->n.target.hash[TIER_DRIVER], u->n.target.hash[TIER_DRIVER]) || o == u)
            continue;
        used += is_under_way(o) &&
                (o->n.up || f->in.now_s - o->claim.since_s < f->spec.install_timeout_s);
        used += !o->claimed && o->n.up &&
                str_eq(o->n.now.hash[TIER_DRIVER], u->n.target.hash[TIER_DRIVER]);
    }
    if (!over && used >= f->spec.canary_nodes)
        FAIL(f, "%s begins beside %lld canaries", u->name, (long long) used);
    if (r->failed)
        FAIL(f, "%s gets revision %s, which failed", u->name, r->hash);
}

static void check_jobs(struct fleet *f, const struct unit *u)
{
    int64_t wait = f->spec.drain.wait_for_jobs_s;
    if (u->n.jobs &&
        (wait < 0 || (wait > 0 && (!u->claimed || f->in.now_s - u->claim.claimed_s < wait))))
        FAIL(f, "%s begins while a job runs", u->name);
}

static void check_images(struct fleet *f, const struct unit *u)
{
    if (!u->claimed && images_of(f, u).state != IMAGES_READY)
        FAIL(f, "%s is claimed without its images", u->name);
}

static void check_grant(struct fleet *f, const struct rollout_grant *g, const struct unit *u)
{
    bool was_waiting = u->claimed && u->claim.phase == CLAIM_WAITING,
         had_failed = u->claimed && u->claim.phase == CLAIM_FAILED;
    if (u->n.held || u->n.gave_up || u->n.cordoned)
        FAIL(f, "%s gets a grant against the will of people", u->name);
    if ((g->kind == GRANT_DRAIN) != was_waiting || (g->kind == GRANT_RETRY) != had_failed ||
        (str_eq(u->n.now.hash[TIER_DRIVER], u->n.target.hash[TIER_DRIVER]) && !had_failed))
        FAIL(f, "%s gets a grant that does not fit it", u->name);
    check_images(f, u);
    check_unavailable(f, u);
    if (g->kind == GRANT_CLAIM_WAITING)
        return;
    check_parallel(f, u);
    check_canary(f, u);
    check_jobs(f, u);
}

/* ---- what happens */

static void copy_hash(char *to, const char *from)
{
    snprintf(to, REVISION_HASH_MAX, "%s", from);
}

static void set_phase(struct fleet *f, struct unit *u, enum claim_phase phase)
{
    u->claim.phase = phase;
    u->claim.since_s = f->in.now_s;
    copy_hash(u->claim.reason, phase == CLAIM_FAILED ? "Install" : "");
}

static void carry_out(struct fleet *f, const struct rollout_grant *g)
{
    struct unit *u = &f->units[g->node - f->nodes];
    check_grant(f, g, u);
    bool goes_on = u->claimed &&
                   str_eq(u->claim.to.hash[TIER_DRIVER], u->n.target.hash[TIER_DRIVER]);
    unsigned attempt = goes_on && g->kind == GRANT_RETRY ? u->claim.attempt + 1 : 1;
    int64_t claimed_s = g->kind == GRANT_DRAIN && u->n.jobs ? u->claim.claimed_s : f->in.now_s;
    if (!u->claimed || !goes_on) {
        u->claim = (struct claim){ .attempt = attempt, .claimed_s = claimed_s, .gpus = u->n.gpus };
        copy_hash(u->claim.to.hash[TIER_DRIVER], u->n.target.hash[TIER_DRIVER]);
        copy_hash(u->claim.to.hash[TIER_STACK], "s1");
        copy_hash(u->claim.from.hash[TIER_DRIVER], u->n.now.hash[TIER_DRIVER]);
        copy_hash(u->claim.from.hash[TIER_STACK], "s1");
    }
    u->claimed = true;
    u->claim.attempt = attempt;
    u->claim.claimed_s = claimed_s;
    set_phase(f, u, g->kind == GRANT_CLAIM_WAITING ? CLAIM_WAITING : CLAIM_DRAINING);
    f->grants++;
}

/* Only who was not changed and was not let go on returns to service; and who makes room does so for
 * a node that may begin. */
static void send_back(struct fleet *f, const struct rollout_return *r)
{
    struct unit *u = &f->units[r->node - f->nodes];
    if (!u->claimed || u->claim.phase != CLAIM_WAITING ||
        !str_eq(u->n.now.hash[TIER_DRIVER], u->claim.from.hash[TIER_DRIVER]))
        FAIL(f, "%s returns to service from a phase that changes it, or from none", u->name);
    if (r->makes_room_for && !u->n.jobs)
        FAIL(f, "%s has no jobs and makes room for %s", u->name, r->makes_room_for);
    u->claimed = false;
    f->returns++;
}

/* Within a minute or an hour. */
static void pull(struct fleet *f, const struct rollout_node *n)
{
    struct unit *u = &f->units[n - f->nodes];
    if (u->pulled_s || (u->claimed && is_wanted(u)) || !u->n.up)
        FAIL(f, "%s is asked for images that it has, or cannot get", u->name);
    u->pulled_s = f->in.now_s + below(f, one_in(f, 4) ? 3600 : 60) + 1;
}

static void note(struct fleet *f, const struct rollout_note *n)
{
    struct rollout_revision *r = revision_of(f, n->hash, n->pool);
    if (r->canary_s == n->canary_s && r->wave_s == n->wave_s && !n->failed)
        FAIL(f, "what is noted of %s is no news", n->hash);
    r->canary_s = n->canary_s;
    r->wave_s = n->wave_s;
    if (n->failed && f->forgives)
        r->forgiven_s = f->in.now_s;
    else
        r->failed |= n->failed != NULL;
}

/* The text of a hash that outlives the claim which names it. */
static const char *lasting(const char *hash)
{
    size_t i = 0;
    while (!str_eq(hashes[i], hash))
        i++;
    return hashes[i];
}

/* One step of a node under way: what no longer is wanted turns to what is when it can, and what
 * cannot come up fails. */
static void step(struct fleet *f, struct unit *u)
{
    bool wanted = is_wanted(u);
    if (!wanted && u->claim.phase <= CLAIM_DRAINING)
        u->claimed = false;
    if (u->claimed && is_under_way(u) && wanted)
        u->pulled_s = 0;
    if (!u->claimed || !is_under_way(u) || !u->n.up || one_in(f, 3))
        return;
    if (!wanted && may_turn(f, u)) {
        copy_hash(u->claim.to.hash[TIER_DRIVER], u->n.target.hash[TIER_DRIVER]);
        set_phase(f, u, CLAIM_UNLOADING);
    } else if (u->claim.phase == CLAIM_UNLOADING) {
        u->n.now.hash[TIER_DRIVER] = lasting(u->claim.to.hash[TIER_DRIVER]);
        set_phase(f, u, CLAIM_INSTALLING);
    } else if (u->claim.phase == CLAIM_VALIDATING) {
        u->claimed = false;
    } else {
        bool fails = u->claim.phase == CLAIM_INSTALLING &&
                     str_eq(u->n.now.hash[TIER_DRIVER], "d2") && (u->faulty || one_in(f, 20));
        set_phase(f, u, fails ? CLAIM_FAILED : u->claim.phase + 1);
    }
}

static void come_and_go(struct fleet *f, struct unit *u)
{
    if (u->gone || u->n.cordoned)
        return;
    u->n.up = u->n.up ? !one_in(f, 60) || f->in.now_s > NOON_S + HALF_DAY_S : one_in(f, 4);
}

static void set_target(struct unit *u, const char *hash)
{
    u->n.target.hash[TIER_DRIVER] = hash;
    u->pulled_s = 0;
}

static void retarget(struct fleet *f, const char *hash)
{
    for (size_t i = 0; i < f->count; i++)
        set_target(&f->units[i], hash);
}

/* In the middle of a rollout the policy may say something else. */
static void change_policy(struct fleet *f)
{
    if (f->settled_plan || !one_in(f, 20))
        return;
    f->settled_plan = one_in(f, 2);
    if (f->spec.max_unavailable_gpus.value < 0 && one_in(f, 2)) {
        struct rollout_count unavailable = f->spec.max_unavailable;
        make_limits(f);
        f->spec.max_unavailable = unavailable;
        f->spec.max_unavailable_gpus.value = -1;
    } else {
        retarget(f, hashes[below(f, 3)]);
    }
}

/* A revision that failed in a pool: its failed nodes and those under way go back. */
static void roll_back(struct fleet *f)
{
    for (size_t i = 0; i < f->count; i++) {
        struct unit *u = &f->units[i];
        if (u->claimed && revision_of(f, u->n.target.hash[TIER_DRIVER], u->n.pool)->failed)
            set_target(u, "d1");
    }
}

static void decide(struct fleet *f)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_decision d;
    look(f);
    rollout_decide(&f->in, &a, &d);
    if (d.pending + d.active + d.waiting + d.failed + d.skipped + d.done != f->count)
        FAIL(f, "the nodes of the decision are not all nodes");
    if (d.again_s && d.again_s <= f->in.now_s)
        FAIL(f, "it wants to look again at a time that is over");
    for (size_t i = 0; i < d.note_count; i++)
        note(f, &d.notes[i]);
    for (size_t i = 0; i < d.grant_count; i++)
        carry_out(f, &d.grants[i]);
    for (size_t i = 0; i < d.return_count; i++)
        send_back(f, &d.returns[i]);
    for (size_t i = 0; i < d.pull_count; i++)
        pull(f, d.pulls[i]);
}

static void tick(struct fleet *f)
{
    decide(f);
    for (size_t i = 0; i < f->count; i++) {
        step(f, &f->units[i]);
        come_and_go(f, &f->units[i]);
    }
    f->in.now_s += TICK_S;
}

/* ---- the ends */

/* Whether the rollout no longer waits for this node. */
static bool is_through(const struct unit *u)
{
    if (u->n.held || u->n.gave_up || u->n.cordoned || u->gone)
        return !is_under_way(u) || u->gone;
    if (u->faulty && str_eq(u->n.target.hash[TIER_DRIVER], "d2"))
        return true;
    return !u->claimed && str_eq(u->n.now.hash[TIER_DRIVER], u->n.target.hash[TIER_DRIVER]);
}

static bool all_through(const struct fleet *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (!is_through(&f->units[i]))
            return false;
    return true;
}

static void fail_with_state(struct fleet *f)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_decision d;
    look(f);
    rollout_decide(&f->in, &a, &d);
    for (size_t i = 0; i < f->count; i++) {
        const struct unit *u = &f->units[i];
        print_error(
            "%s %s>%s %s%s%s%s%s\n", u->name, u->n.now.hash[TIER_DRIVER],
            u->n.target.hash[TIER_DRIVER], u->claimed ? claim_phase_name(u->claim.phase) : "-",
            u->n.up ? "" : " down", u->faulty ? " faulty" : "",
            u->n.held || u->n.gave_up || u->n.cordoned ? " people" : "", is_through(u) ? "" : " <");
    }
    FAIL(f, "it does not come to an end: %s: %s", reason_text(rollout_hold_reason(d.hold)),
         d.message);
}

/* Every node that is well gets what the policy says in the end, whatever the others do, and no
 * limit is ever passed. */
static void check_fleets_come_to_an_end(void **state)
{
    (void) state;
    size_t grants = 0, ticks = 0, returns = 0;
    for (uint64_t seed = 0; seed < FLEETS; seed++) {
        struct fleet f;
        make_fleet(&f, seed);
        f.forgives = true;
        for (size_t t = 0; t < TICKS_MAX && !(f.settled_plan && all_through(&f)); t++, ticks++) {
            change_policy(&f);
            tick(&f);
        }
        if (!all_through(&f))
            fail_with_state(&f);
        grants += f.grants;
        returns += f.returns;
        if (f.returns > f.grants)
            FAIL(&f, "nodes return to service more often than they are claimed");
    }
    print_message("%d fleets, %zu decisions, %zu grants, %zu returns to service\n", FLEETS, ticks,
                  grants, returns);
    assert_true(grants > FLEETS && returns > FLEETS);
}

/* Failures reach the threshold: the revision is recorded as failed, no other node gets it, and
 * all nodes that were on the way run the known good one. */
static void check_failed_fleets_go_back(void **state)
{
    (void) state;
    size_t failed = 0;
    for (uint64_t seed = 0; seed < FLEETS; seed++) {
        struct fleet f;
        make_fleet(&f, seed);
        f.spec.failure_threshold = (struct rollout_count){ .value = 1 + below(&f, 3) };
        f.settled_plan = true;
        for (size_t t = 0; t < BACK_TICKS; t++) {
            tick(&f);
            roll_back(&f);
        }
        for (size_t i = 0; i < f.count; i++) {
            const struct unit *u = &f.units[i];
            bool stays = u->n.held || u->n.gave_up || u->n.cordoned || u->gone;
            failed += revision_of(&f, "d2", u->n.pool)->failed;
            if (revision_of(&f, "d2", u->n.pool)->failed && !stays &&
                (u->claimed || (u->faulty && !str_eq(u->n.now.hash[TIER_DRIVER], "d1"))))
                fail_with_state(&f);
        }
    }
    assert_true(failed > FLEETS);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "every well node of every fleet is done in the end", check_fleets_come_to_an_end,
              NULL);
    suite_add(&s, "fleets whose revision fails go back", check_failed_fleets_go_back, NULL);
    return suite_run(&s, "rollout fleets");
}
