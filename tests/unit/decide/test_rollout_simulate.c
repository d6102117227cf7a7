/* Forecasts: tables of small fleets, and fleets that chance made up, whose rollouts are played here
 * step by step with every decision, and held against what was told before the first of them. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "reconcilers/decide/rollout_simulate.h"
#include "tests/unit/support/chance.h"
#include "tests/unit/support/sanitized.h"
#include "tests/unit/support/suite.h"

enum {
    FLEETS = SANITIZED ? 25 : 400,
    NODES_MAX = 20,
    POOLS = 2,
    MINUTE_S = 60,
    PACE_S = 5 * MINUTE_S,
    WINDOW_S = 40 * MINUTE_S,
    NOON_S = 1795262400,
    DAYS_S = 30 * 86400,
    PLENTY = 1 << 24,
    TEXT_MAX = 1 << 14
};

static const char *const pool_names[POOLS] = { "default", "legacy" };
static const struct rollout_pace known_pace[TIERS] = { { PACE_S, 3 }, { MINUTE_S, 1 } };
static const struct rollout_pace no_pace[TIERS] = { 0 };

static struct rollout_spec usual_spec(void)
{
    return (struct rollout_spec){ .max_parallel = { .value = 1 },
                                  .max_unavailable = { .value = 100 },
                                  .max_unavailable_gpus = { .value = -1 },
                                  .failure_threshold = { .value = 100 },
                                  .order = ROLLOUT_BY_NAME,
                                  .install_timeout_s = 1800,
                                  .drain = { .wait_for_jobs_s = -1 } };
}

/* ---- small fleets */

/* Nodes a, b, c, … that go from driver d1 to d2. */
struct little {
    struct rollout_spec spec;
    struct rollout_node nodes[4];
    char names[4][2];
    size_t count;
    bool known_good;
};

static void say_wave(const struct rollout_simulation *f, const struct planned_wave *w,
                     struct buf *out)
{
    buf_printf(out, "%s[", out->len ? " " : "");
    for (size_t i = 0; i < w->count; i++)
        buf_printf(out, "%s%s", i ? " " : "", f->moves[w->first + i].node->name);
    buf_printf(out, "%s]", w->canary ? "*" : "");
    if (w->timed)
        buf_printf(out, "+%lldm", (long long) (w->begins_s - NOON_S) / MINUTE_S);
    else if (w->begins_s > NOON_S)
        buf_printf(out, ">%lldm", (long long) (w->begins_s - NOON_S) / MINUTE_S);
}

/* "[a*]+0m [b c]+20m [d]>35m | e NodesSkipped | 25m": the last wave begins later than in 35
 * minutes. */
static void say(const struct rollout_simulation *f, struct buf *out)
{
    for (size_t i = 0; i < f->wave_count; i++)
        say_wave(f, &f->waves[i], out);
    for (size_t i = 0; i < f->stay_count; i++)
        buf_printf(out, " | %s %s", f->stays[i].node->name,
                   reason_text(rollout_hold_reason(f->stays[i].hold)));
    if (f->timed)
        buf_printf(out, " | %lldm", (long long) (f->ends_s - NOON_S) / MINUTE_S);
    if (f->beyond)
        buf_printf(out, " | and %zu more", f->beyond);
}

static void two_at_a_time(struct little *l)
{
    l->spec.max_parallel.value = 2;
}

static void with_canary(struct little *l)
{
    two_at_a_time(l);
    l->spec.canary_nodes = 1;
    l->spec.canary_soak_s = 15 * MINUTE_S;
}

static void of_the_stack(struct little *l)
{
    for (size_t i = 0; i < l->count; i++) {
        l->nodes[i].target.hash[TIER_DRIVER] = "d1";
        l->nodes[i].target.hash[TIER_STACK] = "s2";
    }
}

static void one_held_one_down_one_busy(struct little *l)
{
    l->nodes[0].held = true;
    l->nodes[1].up = false;
    l->nodes[2].jobs = 1;
}

static void jobs_for_an_hour(struct little *l)
{
    l->spec.drain.wait_for_jobs_s = 3600;
    l->nodes[0].jobs = 1;
}

static void at_night(struct little *l)
{
    l->spec.window_count = 1;
    window_parse("0 20 * * *", 8 * MINUTE_S, "UTC", &l->spec.windows[0]);
}

static void paused_and_manual(struct little *l)
{
    l->spec.paused = l->spec.manual = true;
}

static void soaking(struct little *l)
{
    two_at_a_time(l);
    l->spec.soak_s = 10 * MINUTE_S;
}

static void by_zone(struct little *l)
{
    two_at_a_time(l);
    l->spec.topology_key = "zone";
    for (size_t i = 0; i < l->count; i++)
        l->nodes[i].domain = i % 2 ? "z2" : "z1";
}

static void ostler_on_a(struct little *l)
{
    l->nodes[0].runs_ostler = true;
}

static void busy_a(struct little *l)
{
    l->spec.order = ROLLOUT_IDLE_FIRST;
    l->nodes[0].busy = 2;
}

static void four_gpus(struct little *l)
{
    l->spec.max_parallel.value = 4;
    l->spec.max_unavailable_gpus.value = 4;
    l->nodes[1].gpus = 4;
}

static const struct row {
    const char *name;
    void (*make)(struct little *l);
    const struct rollout_pace *pace;
    size_t looks;
    const char *want;
} rows[] = {
    { "one at a time by name", NULL, known_pace, PLENTY, "[a]+0m [b]+5m [c]+10m [d]+15m | 20m" },
    { "without a known pace only what begins at once has a time", NULL, no_pace, PLENTY,
      "[a]+0m [b] [c] [d]" },
    { "without one a canary soaks all the same", with_canary, no_pace, PLENTY,
      "[a*]+0m [b c]>15m [d]>15m" },
    { "without one waves soak all the same", soaking, no_pace, PLENTY, "[a b]+0m [c d]>10m" },
    { "without one a window opens all the same", at_night, no_pace, PLENTY,
      "[a]+480m [b]>480m [c]>480m [d]>480m" },
    { "two at a time", two_at_a_time, known_pace, PLENTY, "[a b]+0m [c d]+5m | 10m" },
    { "a canary goes first and soaks", with_canary, known_pace, PLENTY,
      "[a*]+0m [b c]+20m [d]+25m | 30m" },
    { "the stack has a pace of its own", of_the_stack, known_pace, PLENTY,
      "[a]+0m [b]+1m [c]+2m [d]+3m | 4m" },
    { "who stays is named with the reason", one_held_one_down_one_busy, known_pace, PLENTY,
      "[d]+0m | a NodesSkipped | b NodesDown | c WaitingForJobs | 5m" },
    { "jobs are waited for as long as the policy says", jobs_for_an_hour, known_pace, PLENTY,
      "[b]+0m [c]+5m [d]+10m [a]+60m | 65m" },
    { "windows of eight minutes fit two nodes that begin", at_night, known_pace, PLENTY,
      "[a]+480m [b]+485m [c]+1920m [d]+1925m | 1930m" },
    { "a pause and a missing approval are thought away", paused_and_manual, known_pace, PLENTY,
      "[a]+0m [b]+5m [c]+10m [d]+15m | 20m" },
    { "waves soak", soaking, known_pace, PLENTY, "[a b]+0m [c d]+15m | 20m" },
    { "one domain at a time", by_zone, known_pace, PLENTY, "[a c]+0m [b d]+5m | 10m" },
    { "the node that runs Ostler is last", ostler_on_a, known_pace, PLENTY,
      "[b]+0m [c]+5m [d]+10m [a]+15m | 20m" },
    { "idle nodes first", busy_a, known_pace, PLENTY, "[b]+0m [c]+5m [d]+10m [a]+15m | 20m" },
    { "GPUs are counted", four_gpus, known_pace, PLENTY, "[a c d]+0m [b]+5m | 10m" },
    { "a fleet that is too large is looked at in part", NULL, known_pace, 10,
      "[a]+0m | and 3 more" },
};

static void make_little(const struct row *row, struct little *l)
{
    *l = (struct little){ .spec = usual_spec(), .count = ARRAY_LEN(l->nodes) };
    for (size_t i = 0; i < l->count; i++) {
        l->names[i][0] = (char) ('a' + i);
        l->nodes[i] = (struct rollout_node){ .name = l->names[i],
                                             .now = { { "d1", "s1" } },
                                             .target = { { "d2", "s1" } },
                                             .domain = "",
                                             .gpus = 1,
                                             .up = true };
    }
    if (row->make)
        row->make(l);
}

static void check_row(void **state)
{
    const struct row *row = *state;
    struct little l;
    make_little(row, &l);
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_simulation f;
    const struct rollout_input in = { .spec = &l.spec,
                                      .nodes = l.nodes,
                                      .node_count = l.count,
                                      .pool_names = pool_names,
                                      .now_s = NOON_S };
    rollout_simulate(&in, row->pace, row->looks, &a, &f);
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    say(&f, &text);
    assert_string_equal(buf_text(&text), row->want);
}

static void check_nothing_to_do(void **state)
{
    (void) state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_simulation f;
    struct rollout_spec spec = usual_spec();
    const struct rollout_node done = { .name = "a",
                                       .now = { { "d1", "s1" } },
                                       .target = { { "d1", "s1" } },
                                       .domain = "",
                                       .up = true,
                                       .settled = true };
    const struct rollout_input in = {
        .spec = &spec, .nodes = &done, .node_count = 1, .pool_names = pool_names, .now_s = NOON_S
    };
    rollout_simulate(&in, known_pace, PLENTY, &a, &f);
    assert_string_equal(f.hash, "");
    assert_int_equal(f.move_count + f.stay_count + f.beyond, 0);
}

/* ---- fleets that chance made up */

struct fleet {
    struct chance chance;
    struct rollout_spec spec;
    struct rollout_node nodes[NODES_MAX];
    struct claim claims[NODES_MAX];
    char names[NODES_MAX][24];
    struct rollout_revision revisions[POOLS * 2];
    struct rollout_input in;
    size_t order[NODES_MAX]; /* who began, one after the other */
    int64_t began_s[NODES_MAX];
    size_t begun;
};

static bool one_in(struct fleet *f, uint32_t n)
{
    return chance_below(&f->chance, n) == 0;
}

static struct rollout_count some_count(struct fleet *f, uint32_t most)
{
    uint32_t n = 1 + chance_below(&f->chance, most);
    return one_in(f, 3) ? (struct rollout_count){ .percent = true, .value = 5 * n }
                        : (struct rollout_count){ .value = n };
}

static void make_spec(struct fleet *f)
{
    f->spec = usual_spec();
    f->spec.max_parallel = some_count(f, 5);
    f->spec.max_unavailable = some_count(f, 8);
    if (one_in(f, 3))
        f->spec.max_unavailable_gpus = some_count(f, 16);
    f->spec.topology_key = one_in(f, 3) ? "zone" : NULL;
    f->spec.order = one_in(f, 2) ? ROLLOUT_IDLE_FIRST : ROLLOUT_BY_NAME;
    f->spec.canary_nodes = chance_below(&f->chance, 4);
    f->spec.canary_soak_s = MINUTE_S * chance_below(&f->chance, 30);
    f->spec.soak_s = one_in(f, 3) ? MINUTE_S * chance_below(&f->chance, 20) : 0;
    if (one_in(f, 2))
        f->spec.drain.wait_for_jobs_s = MINUTE_S * chance_below(&f->chance, 120);
    f->spec.window_count = one_in(f, 4);
    window_parse("30 */3 * * *", WINDOW_S, "Asia/Tokyo", &f->spec.windows[0]);
}

static void make_fleet(struct fleet *f, uint64_t seed)
{
    static const char *const zones[] = { "z1", "z2", "z3" };
    *f = (struct fleet){ .chance = chance_of(seed) };
    make_spec(f);
    size_t n = 1 + chance_below(&f->chance, NODES_MAX);
    for (size_t i = 0; i < n; i++) {
        bool stack = one_in(f, 4);
        snprintf(f->names[i], sizeof f->names[i], "n%zu", i);
        f->nodes[i] = (struct rollout_node){
            .name = f->names[i],
            .pool = chance_below(&f->chance, POOLS),
            .now = { { "d1", "s1" } },
            .target.hash[TIER_DRIVER] = stack ? "d1" : "d2",
            .target.hash[TIER_STACK] = stack ? "s2" : "s1",
            .domain = zones[chance_below(&f->chance, ARRAY_LEN(zones))],
            .gpus = 1 + chance_below(&f->chance, 8),
            .busy = chance_below(&f->chance, 3),
            .jobs = one_in(f, 4),
            .up = !one_in(f, 12),
            .cordoned = one_in(f, 12),
            .held = one_in(f, 12),
            .settled = true,
            .runs_ostler = i == 0
        };
    }
    for (size_t i = 0; i < ARRAY_LEN(f->revisions); i++)
        f->revisions[i] = (struct rollout_revision){ .hash = i / POOLS ? "s1" : "d1",
                                                     .pool = i % POOLS,
                                                     .known_good = true };
    f->in = (struct rollout_input){ .spec = &f->spec,
                                    .nodes = f->nodes,
                                    .node_count = n,
                                    .revisions = f->revisions,
                                    .revision_count = ARRAY_LEN(f->revisions),
                                    .pool_names = pool_names,
                                    .now_s = NOON_S };
}

/* What a record keeps of a revision, here in the test's own way: a list that grows. */
struct records {
    struct rollout_revision all[64];
    size_t count;
};

static void note(struct records *r, const struct rollout_note *n)
{
    size_t i = 0;
    while (i < r->count && (r->all[i].pool != n->pool || !str_eq(r->all[i].hash, n->hash)))
        i++;
    if (i == r->count)
        r->all[r->count++] = (struct rollout_revision){ .hash = n->hash, .pool = n->pool };
    r->all[i].canary_s = n->canary_s;
    r->all[i].wave_s = n->wave_s;
}

static void put(char to[static REVISION_HASH_MAX], const char *from)
{
    snprintf(to, REVISION_HASH_MAX, "%s", from);
}

static void carry_out(struct fleet *f, const struct rollout_grant *g)
{
    size_t i = (size_t) (g->node - f->nodes);
    struct rollout_node *n = &f->nodes[i];
    struct claim *c = &f->claims[i];
    bool drains = !str_eq(n->now.hash[TIER_DRIVER], n->target.hash[TIER_DRIVER]);
    if (!n->claim) {
        *c = (struct claim){ .attempt = 1, .claimed_s = f->in.now_s };
        put(c->to.hash[TIER_DRIVER], n->target.hash[TIER_DRIVER]);
        put(c->to.hash[TIER_STACK], n->target.hash[TIER_STACK]);
        put(c->from.hash[TIER_DRIVER], n->now.hash[TIER_DRIVER]);
        put(c->from.hash[TIER_STACK], n->now.hash[TIER_STACK]);
        n->claim = c;
    }
    c->phase = g->kind == GRANT_CLAIM_WAITING ? CLAIM_WAITING
               : drains                       ? CLAIM_DRAINING
                                              : CLAIM_UNLOADING;
    c->since_s = f->in.now_s;
    if (c->phase == CLAIM_WAITING)
        return;
    f->began_s[i] = f->in.now_s;
    f->order[f->begun++] = i;
}

/* Nodes go through their phases, the last of which is over when their pace is. */
static void go_on(struct fleet *f)
{
    for (size_t i = 0; i < f->in.node_count; i++) {
        struct rollout_node *n = &f->nodes[i];
        if (!n->claim || n->claim->phase == CLAIM_WAITING)
            continue;
        bool stack = str_eq(f->claims[i].to.hash[TIER_DRIVER], f->claims[i].from.hash[TIER_DRIVER]);
        if (f->in.now_s - f->began_s[i] >= (stack ? MINUTE_S : PACE_S)) {
            n->now.hash[TIER_DRIVER] = n->target.hash[TIER_DRIVER];
            n->now.hash[TIER_STACK] = n->target.hash[TIER_STACK];
            n->claim = NULL;
        } else if (f->claims[i].phase < CLAIM_VALIDATING) {
            f->claims[i].phase++;
        }
    }
}

/* Everything that is granted at this moment is carried out, then time passes. */
static void live(struct fleet *f, struct records *r, int64_t pause_s)
{
    for (bool more = true; more;) {
        CLEANUP_ARENA struct arena a = { 0 };
        struct rollout_decision d;
        f->in.revisions = r->all;
        f->in.revision_count = r->count;
        rollout_decide(&f->in, &a, &d);
        for (size_t i = 0; i < d.note_count; i++)
            note(r, &d.notes[i]);
        for (size_t i = 0; i < d.grant_count && !d.note_count; i++)
            carry_out(f, &d.grants[i]);
        for (size_t i = 0; i < d.return_count && !d.note_count; i++)
            f->nodes[d.returns[i].node - f->nodes].claim = NULL;
        more = d.note_count || d.grant_count || d.return_count;
    }
    f->in.now_s += pause_s;
    go_on(f);
}

/* Whether all nodes went that were told to go: from then on no node goes, and a look in each of the
 * windows shows that. */
static bool all_went(const struct fleet *f, const struct rollout_simulation *told)
{
    for (size_t i = 0; i < f->in.node_count; i++)
        if (f->nodes[i].claim)
            return false;
    return f->begun == told->move_count;
}

static void hold_against(struct fleet *f, const struct rollout_simulation *told, uint64_t seed)
{
    if (told->move_count != f->begun)
        fail_msg("fleet %llu: %zu nodes were told to go, %zu went", (unsigned long long) seed,
                 told->move_count, f->begun);
    for (size_t k = 0; k < f->begun; k++) {
        const struct planned_move *m = &told->moves[k];
        const char *went = f->names[f->order[k]];
        if (!str_eq(m->node->name, went))
            fail_msg("fleet %llu: place %zu was told to be %s, and %s went",
                     (unsigned long long) seed, k, m->node->name, went);
        if (told->waves[m->wave].begins_s != f->began_s[f->order[k]])
            fail_msg("fleet %llu: %s was told to begin at %lld, and began at %lld",
                     (unsigned long long) seed, went, (long long) told->waves[m->wave].begins_s,
                     (long long) f->began_s[f->order[k]]);
    }
}

static void check_fleets(void **state)
{
    (void) state;
    size_t moves = 0, stays = 0;
    for (uint64_t seed = 0; seed < FLEETS; seed++) {
        struct fleet f;
        make_fleet(&f, seed);
        CLEANUP_ARENA struct arena a = { 0 };
        struct fleet before = f;
        struct rollout_simulation told;
        before.in.nodes = before.nodes;
        before.in.spec = &before.spec;
        before.in.revisions = before.revisions;
        rollout_simulate(&before.in, known_pace, PLENTY, &a, &told);
        struct records r = { .count = f.in.revision_count };
        memcpy(r.all, f.revisions, sizeof f.revisions);
        while (f.in.now_s < NOON_S + DAYS_S / 10)
            live(&f, &r, all_went(&f, &told) ? WINDOW_S / 2 : MINUTE_S);
        hold_against(&f, &told, seed);
        moves += told.move_count;
        stays += told.stay_count;
    }
    print_message("%d fleets: %zu nodes went as told, %zu stayed\n", FLEETS, moves, stays);
    assert_true(moves > FLEETS && stays > FLEETS);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    suite_add(&s, "there is no forecast where every node runs its target", check_nothing_to_do,
              NULL);
    suite_add(&s, "fleets go as was told before", check_fleets, NULL);
    return suite_run(&s, "rollout forecast");
}
