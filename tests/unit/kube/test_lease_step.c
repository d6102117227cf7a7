#include "kube/lease_step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* What the machine wants next, in words. */
static char *next_text(struct lease_next next)
{
    static const char *const words[] = { [LEASE_DO_GET] = "get",
                                         [LEASE_DO_CREATE] = "create",
                                         [LEASE_DO_UPDATE] = "update",
                                         [LEASE_DO_EXIT] = "exit" };
    if (next.what == LEASE_DO_WAIT)
        return xasprintf("wait %lld", (long long) next.delay_ms);
    return xstrdup(words[next.what]);
}

/* A record as another candidate (or we) left it. */
static json_t *record(const char *holder, const char *renewed, int duration_s)
{
    return json_pack("{s:{s:s}, s:{s:s, s:s, s:i}}", "metadata", "resourceVersion", "5", "spec",
                     "holderIdentity", holder, "renewTime", renewed, "leaseDurationSeconds",
                     duration_s);
}

/* One thing that happens, at a time in milliseconds, and what must come of it. */
struct turn {
    const char *want; /* NULL ends the script */
    enum { NONE, READ, WRITTEN, FAIL } what;
    int64_t now_ms;
    const char *holder, *renewed; /* READ */
    int duration_s;               /* READ */
    int64_t sent_ms;              /* WRITTEN */
    enum err_kind error;          /* FAIL */
};

/* clang-format off */
#define READ_NONE(at, want) { want, NONE, at, NULL, NULL, 0, 0, ERR_NONE }
#define READ(at, holder, renewed, want) { want, READ, at, holder, renewed, 15, 0, ERR_NONE }
#define READ_FOR(at, holder, s, want) { want, READ, at, holder, "10:00", s, 0, ERR_NONE }
#define WRITTEN(at, sent, want) { want, WRITTEN, at, NULL, NULL, 0, sent, ERR_NONE }
#define FAILED(at, kind, want) { want, FAIL, at, NULL, NULL, 0, 0, ERR_##kind }
/* clang-format on */

static const struct script {
    const char *name;
    struct turn turns[14];
} scripts[] = {
    { "without a record: create it, lead, renew every 2 s",
      { READ_NONE(0, "create"), WRITTEN(40, 0, "wait 2000"), READ(2040, "me", "10:00", "update"),
        WRITTEN(2080, 2050, "wait 2000") } },
    { "another client is faster to create it",
      { READ_NONE(0, "create"), FAILED(40, EXISTS, "get"),
        READ(50, "other", "10:00", "wait 2000") } },
    { "a free record is taken at once",
      { READ(0, "", "10:00", "update"), WRITTEN(40, 0, "wait 2000") } },
    { "a record that is renewed is left alone",
      { READ(0, "other", "10:00", "wait 2000"), READ(2000, "other", "10:02", "wait 2000"),
        READ(16000, "other", "10:16", "wait 2000"), READ(18000, "other", "10:18", "wait 2000") } },
    { "a record that no leader renews for 15 s is taken",
      { READ(1000, "other", "10:00", "wait 2000"), READ(3000, "other", "10:00", "wait 2000"),
        READ(15000, "other", "10:00", "wait 1000"), READ(15999, "other", "10:00", "wait 1"),
        READ(16000, "other", "10:00", "update"), WRITTEN(16040, 16000, "wait 2000") } },
    { "a record from long ago is waited for all the same",
      { READ(0, "other", "1970-01-01", "wait 2000"), READ(14999, "other", "1970-01-01", "wait 1"),
        READ(15000, "other", "1970-01-01", "update") } },
    { "a record from the future is taken after the same time",
      { READ(0, "other", "2999-01-01", "wait 2000"),
        READ(15000, "other", "2999-01-01", "update") } },
    { "a renewal time that goes back counts as a renewal",
      { READ(0, "other", "12:00", "wait 2000"), READ(14000, "other", "11:00", "wait 2000"),
        READ(28000, "other", "11:00", "wait 1000") } },
    { "a new holder begins a new time",
      { READ(0, "other", "10:00", "wait 2000"), READ(14000, "third", "10:00", "wait 2000"),
        READ(28000, "third", "10:00", "wait 1000") } },
    { "a record asks for its own time",
      { READ_FOR(0, "other", 60, "wait 2000"), READ_FOR(59000, "other", 60, "wait 1000"),
        READ_FOR(60000, "other", 60, "update") } },
    { "a record with a time beyond reason is waited for",
      { READ_FOR(0, "other", INT32_MAX, "wait 2000"),
        READ_FOR(60000, "other", INT32_MAX, "wait 2000") } },
    { "a released record is taken at once",
      { READ(0, "other", "10:00", "wait 2000"), READ(500, "", "10:01", "update") } },
    { "our own record of an earlier life is renewed at once",
      { READ(0, "me", "09:00", "update"), WRITTEN(40, 0, "wait 2000") } },
    { "another client takes an expired record first",
      { READ(0, "other", "10:00", "wait 2000"), READ(15000, "other", "10:00", "update"),
        FAILED(15040, CONFLICT, "get"), READ(15050, "third", "10:20", "wait 2000") } },
    { "a candidate that cannot reach the server tries again",
      { FAILED(0, UNREACHABLE, "wait 1000"), FAILED(1000, FORBIDDEN, "wait 1000"),
        READ_NONE(2000, "create") } },

    { "a renewal that fails is tried again, past the fence too",
      { READ_NONE(0, "create"), WRITTEN(40, 0, "wait 2000"), FAILED(2040, TIMEOUT, "wait 1000"),
        FAILED(5000, UNREACHABLE, "wait 1000"), FAILED(9999, SERVER, "wait 1000"),
        FAILED(10000, SERVER, "wait 1000"), FAILED(70000, UNREACHABLE, "wait 1000"),
        READ(71000, "me", "10:00", "update"), WRITTEN(71040, 71010, "wait 2000") } },
    { "a leader that was cut off goes when it sees another one",
      { READ_NONE(0, "create"), WRITTEN(40, 0, "wait 2000"),
        FAILED(10000, UNREACHABLE, "wait 1000"), READ(71000, "other", "10:00", "exit") } },
    { "a renewal within the fence saves the leader",
      { READ_NONE(0, "create"), WRITTEN(40, 0, "wait 2000"), FAILED(9000, SERVER, "wait 1000"),
        READ(9500, "me", "10:00", "update"), WRITTEN(9900, 9600, "wait 2000"),
        FAILED(19599, SERVER, "wait 1000") } },
    { "an answer that comes after its own fence is worth nothing",
      { READ_NONE(0, "create"), WRITTEN(10000, 0, "wait 0") } },
    { "a leader that slept through its fence goes on when no client took its place",
      { READ_NONE(0, "create"), WRITTEN(40, 0, "wait 2000"),
        READ(20000, "me", "10:00", "update") } },
    { "a leader that slept through its fence goes when another client took its place",
      { READ_NONE(0, "create"), WRITTEN(40, 0, "wait 2000"),
        READ(20000, "other", "10:00", "exit") } },
    { "a renewal that was answered while the leader slept is worth nothing",
      { READ_NONE(0, "create"), WRITTEN(40, 0, "wait 2000"), READ(2040, "me", "10:00", "update"),
        WRITTEN(22000, 2050, "wait 0") } },
    { "a leader that loses a race looks who won: itself",
      { READ_NONE(0, "create"), WRITTEN(40, 0, "wait 2000"), FAILED(2040, CONFLICT, "get"),
        READ(2050, "me", "10:00", "update") } },
    { "a leader that loses a race looks who won: another",
      { READ_NONE(0, "create"), WRITTEN(40, 0, "wait 2000"), FAILED(2040, CONFLICT, "get"),
        READ(2050, "other", "10:00", "exit") } },
    { "a leader whose record was deleted makes it again",
      { READ_NONE(0, "create"), WRITTEN(40, 0, "wait 2000"), FAILED(2040, NOT_FOUND, "get"),
        READ_NONE(2050, "create") } },
    { "a leader whose record was emptied takes it again",
      { READ_NONE(0, "create"), WRITTEN(40, 0, "wait 2000"), READ(2040, "", "10:00", "update") } },
};

static struct lease_next take_turn(struct lease_state *s, const struct turn *turn)
{
    CLEANUP_JSON json_t *lease = turn->what == READ
                                     ? record(turn->holder, turn->renewed, turn->duration_s)
                                 : turn->what == WRITTEN
                                     ? lease_record(s, NULL, "ns", "ostler", "10:00", false)
                                     : NULL;
    switch (turn->what) {
    case NONE:
    case READ:
        return lease_step_read(s, lease, turn->now_ms);
    case WRITTEN:
        return lease_step_written(s, lease, turn->sent_ms, turn->now_ms);
    case FAIL:
        break;
    }
    return lease_step_failed(s, turn->error, turn->now_ms);
}

static void run_turns(struct lease_state *s, const struct turn *turns, size_t n)
{
    for (size_t i = 0; i < n && turns[i].want; i++) {
        CLEANUP_FREE char *got = next_text(take_turn(s, &turns[i]));
        if (!str_eq(got, turns[i].want))
            fail_msg("turn %zu: \"%s\", not \"%s\"", i + 1, got, turns[i].want);
    }
}

static void check_script(void **state)
{
    const struct script *script = *state;
    struct lease_state s = { .me = "me" };
    run_turns(&s, script->turns, ARRAY_LEN(script->turns));
}

/* What a leader that renewed its lease at 0 hears next, and until when it may write then. */
static const struct doubt {
    const char *name;
    struct turn turns[4];
    int64_t fence_ms; /* INT64_MIN: nothing may be written */
} doubts[] = {
    { "a renewal that another one's write refuses suspends writing at once",
      { FAILED(2040, CONFLICT, "get") },
      INT64_MIN },
    { "a renewal whose record is gone suspends writing at once, and the record is looked for",
      { FAILED(2040, NOT_FOUND, "get") },
      INT64_MIN },
    { "a renewal that merely failed leaves the time of the last one",
      { FAILED(2040, SERVER, "wait 1000") },
      10000 },
    { "a record that is still the leader's own lets it write until the time of the last renewal",
      { FAILED(2040, CONFLICT, "get"), READ(2050, "me", "10:00", "update") },
      10000 },
    { "a record that is read as its own too late forbids writes before it is renewed",
      { FAILED(9990, CONFLICT, "get"), READ(10000, "me", "10:00", "update") },
      INT64_MIN },
    { "a record that cannot be read leaves the doubt",
      { FAILED(2040, CONFLICT, "get"), FAILED(2050, UNREACHABLE, "wait 1000") },
      INT64_MIN },
    { "a record that another client emptied forbids writes before it is taken again",
      { FAILED(2040, CONFLICT, "get"), READ(2050, "", "10:00", "update") },
      INT64_MIN },
    { "a record that is gone forbids writes before it is made again",
      { FAILED(2040, NOT_FOUND, "get"), READ_NONE(2050, "create") },
      INT64_MIN },
    { "a record that was made again is good from its sending",
      { FAILED(2040, NOT_FOUND, "get"), READ_NONE(2050, "create"),
        WRITTEN(2070, 2050, "wait 2000") },
      12050 },
    { "a record that cannot be made is not asked for without a pause",
      { FAILED(2040, NOT_FOUND, "get"), READ_NONE(2050, "create"),
        FAILED(2060, NOT_FOUND, "wait 1000") },
      INT64_MIN },
};

static void check_doubt(void **state)
{
    const struct doubt *row = *state;
    struct lease_state s = { .me = "me" };
    CLEANUP_JSON json_t *lease = lease_record(&s, NULL, "ns", "ostler", "10:00", false);
    lease_step_written(&s, lease, 0, 40);
    run_turns(&s, row->turns, ARRAY_LEN(row->turns));
    assert_true(lease_fence(&s) == row->fence_ms);
}

static void fence_is_ten_seconds_after_sending(void **state)
{
    (void) state;
    struct lease_state s = { .me = "me" };
    assert_true(lease_fence(&s) == INT64_MIN);
    CLEANUP_JSON json_t *lease = lease_record(&s, NULL, "ns", "ostler", "10:00", false);
    lease_step_written(&s, lease, 7000, 7500);
    assert_true(s.leading);
    assert_int_equal(lease_fence(&s), 17000);
    lease_step_failed(&s, ERR_SERVER, 16999);
    assert_true(s.leading);
    lease_step_failed(&s, ERR_SERVER, 17000);
    assert_false(s.leading);
    assert_true(lease_fence(&s) == INT64_MIN);
}

static const struct hostile_row {
    const char *name;
    const char *lease;
} hostiles[] = {
    { "a record without a spec is free", "{'metadata':{}}" },
    { "a spec of the wrong type is free", "{'spec':[]}" },
    { "members of the wrong type are free",
      "{'spec':{'holderIdentity':7,'renewTime':{},'leaseDurationSeconds':'15'}}" },
    { "a record that is no object is free", "[]" },
};

static void check_hostile(void **state)
{
    const struct hostile_row *row = *state;
    struct lease_state s = { .me = "me" };
    CLEANUP_JSON json_t *lease = tree(row->lease);
    assert_int_equal(lease_step_read(&s, lease, 0).what, LEASE_DO_UPDATE);
    CLEANUP_JSON json_t *ours = lease_record(&s, lease, "ns", "ostler", "10:00", false);
    assert_string_equal(json_str(ours, "spec.holderIdentity"), "me");
}

static void durations_beyond_64_bits_do_no_harm(void **state)
{
    (void) state;
    static const char *const durations[] = { "9223372036854775807", "-9223372036854775808" };
    for (size_t i = 0; i < ARRAY_LEN(durations); i++) {
        struct lease_state s = { .me = "me" };
        CLEANUP_FREE char *text = xasprintf(
            "{'spec':{'holderIdentity':'other','renewTime':'10:00','leaseDurationSeconds':%s}}",
            durations[i]);
        CLEANUP_JSON json_t *lease = tree(text);
        lease_step_read(&s, lease, 1000);
        assert_in_range(s.seen_duration_ms, 0, INT32_MAX * 1000LL);
    }
}

static void renewals_are_seen_behind_a_long_name(void **state)
{
    (void) state;
    char holder[600];
    memset(holder, 'x', sizeof holder - 1);
    holder[sizeof holder - 1] = '\0';
    struct lease_state s = { .me = "me" };
    for (int i = 0; i < 20; i++) {
        char renewed[16];
        snprintf(renewed, sizeof renewed, "10:%02d", i);
        CLEANUP_JSON json_t *lease = record(holder, renewed, 15);
        assert_int_equal(lease_step_read(&s, lease, i * 2000).what, LEASE_DO_WAIT);
    }
}

static void first_record_has_no_transitions(void **state)
{
    (void) state;
    struct lease_state s = { .me = "me" };
    CLEANUP_JSON json_t *got = lease_record(&s, NULL, "ns", "ostler", "10:00", false);
    assert_tree(got, "{'apiVersion':'coordination.k8s.io/"
                     "v1','kind':'Lease','metadata':{'name':'ostler','namespace':'ns'},"
                     "'spec':{'holderIdentity':'me','leaseDurationSeconds':15,'acquireTime':'10:00'"
                     ",'renewTime':'10:00',"
                     "'leaseTransitions':0}}");
}

#define RECORD_OF(holder)                                                                          \
    "{'metadata':{'name':'ostler','resourceVersion':'7','labels':{'a':'b'}},"                      \
    "'spec':{'holderIdentity':'" holder "','leaseDurationSeconds':15,'acquireTime':'09:00',"       \
    "'renewTime':'09:59','leaseTransitions':3,'strategy':'OldestEmulationVersion','"               \
    "preferredHolder':'x'}}"

static const struct record_row {
    const char *name;
    const char *previous;
    bool release;
    const char *spec; /* what is expected to differ, beside the fields that Ostler does not know */
} records[] = {
    { "a renewal keeps when it was acquired", RECORD_OF("me"), false,
      "'holderIdentity':'me','leaseDurationSeconds':15,'acquireTime':'09:00','renewTime':'10:00','"
      "leaseTransitions':3" },
    { "a takeover counts as a transition", RECORD_OF("other"), false,
      "'holderIdentity':'me','leaseDurationSeconds':15,'acquireTime':'10:00','renewTime':'10:00','"
      "leaseTransitions':4" },
    { "taking a released record counts as a transition", RECORD_OF(""), false,
      "'holderIdentity':'me','leaseDurationSeconds':15,'acquireTime':'10:00','renewTime':'10:00','"
      "leaseTransitions':4" },
    { "a release names no holder, for a second", RECORD_OF("me"), true,
      "'holderIdentity':'','leaseDurationSeconds':1,'acquireTime':'09:00','renewTime':'10:00','"
      "leaseTransitions':3" },
};

static void check_record(void **state)
{
    const struct record_row *row = *state;
    struct lease_state s = { .me = "me" };
    CLEANUP_JSON json_t *previous = tree(row->previous);
    json_set_at(previous, "metadata.managedFields", tree("[{'manager':'x'}]"));
    CLEANUP_JSON json_t *before = json_deep_copy(previous);
    CLEANUP_JSON json_t *got = lease_record(&s, previous, "ns", "ostler", "10:00", row->release);
    CLEANUP_FREE char *want = xasprintf(
        "{'metadata':{'name':'ostler','resourceVersion':'7','labels':{'a':'b'}},"
        "'spec':{%s,'strategy':'OldestEmulationVersion','preferredHolder':'x'}}",
        row->spec);
    assert_tree(got, want);
    assert_true(json_equal(previous, before)); /* what was read stays as it was */
}

/* The API server takes 32-bit numbers only: with a larger one no client could take the lease. */
static void transitions_begin_again(void **state)
{
    (void) state;
    static const struct {
        const char *had;
        int64_t has;
    } rows[] = {
        { "2147483645", INT32_MAX - 1 },
        { "2147483646", INT32_MAX },
        { "2147483647", 0 },
        { "9223372036854775807", 0 },
        { "-1", 0 },
        { "'3'", 1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct lease_state s = { .me = "me" };
        CLEANUP_FREE char *text = xasprintf(
            "{'spec':{'holderIdentity':'other','leaseTransitions':%s}}", rows[i].had);
        CLEANUP_JSON json_t *previous = tree(text);
        CLEANUP_JSON json_t *got = lease_record(&s, previous, "ns", "ostler", "10:00", false);
        assert_int_equal(json_int(got, "spec.leaseTransitions", -1), rows[i].has);
    }
}

/* ---- Candidates against one server, with every delay and mishap that chance can make: never two
 * leaders. */

enum { CANDIDATES = 3, TICK_MS = 100 };

static uint64_t chance_state;

static uint32_t chance(uint32_t below)
{
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return (uint32_t) (chance_state >> 32) % below;
}

/* The server's one record. */
struct server {
    json_t *lease; /* NULL: none */
    int rv;
};

/* A process with a clock of its own; what it has under way is sent now, applied later, answered
 * later still. */
struct candidate {
    struct lease_state s;
    int64_t mono_offset_ms, wall_offset_s;
    struct lease_next next;
    int64_t due_ms;                           /* when `next` is to be done */
    int64_t asleep_ms;                        /* stopped until then */
    json_t *read;                             /* the record as last read */
    json_t *body;                             /* of the write that is under way */
    int64_t sent_ms, applied_ms, answered_ms; /* 0: nothing under way */
    bool applied, accepted, cut;
    int led;
};

static void server_take(struct server *server, struct candidate *c)
{
    c->applied = true;
    if (c->next.what == LEASE_DO_GET) {
        json_decref(c->read);
        c->read = json_incref(server->lease);
        c->accepted = true;
        return;
    }
    bool creation = c->next.what == LEASE_DO_CREATE;
    const char *rv = json_str(server->lease, "metadata.resourceVersion");
    c->accepted = creation
                      ? !server->lease
                      : str_eq(json_str(c->body, "metadata.resourceVersion"), rv) && server->lease;
    if (!c->accepted)
        return;
    json_decref(server->lease);
    server->lease = json_deep_copy(c->body);
    json_set_at(server->lease, "metadata.resourceVersion", json_textf("%d", ++server->rv));
}

static void candidate_send(struct candidate *c, int64_t now_ms)
{
    if (c->next.what == LEASE_DO_WAIT)
        c->next.what = LEASE_DO_GET;
    if (c->next.what != LEASE_DO_GET) {
        char micro[32];
        snprintf(micro, sizeof micro, "%lld", (long long) (now_ms / 1000 + c->wall_offset_s));
        json_decref(c->body);
        c->body = lease_record(&c->s, c->next.what == LEASE_DO_UPDATE ? c->read : NULL, "ns",
                               "ostler", micro, false);
    }
    c->sent_ms = now_ms;
    c->applied_ms = now_ms + TICK_MS * (1 + chance(chance(8) ? 3 : 60));
    c->answered_ms = c->applied_ms + TICK_MS * (1 + chance(chance(8) ? 3 : 60));
    c->cut = chance(12) == 0; /* the answer, or the request with it, is lost */
    c->applied = c->accepted = false;
}

static void candidate_answer(struct candidate *c, int64_t now_ms)
{
    int64_t mine_ms = now_ms + c->mono_offset_ms;
    if (c->cut)
        c->next = lease_step_failed(&c->s, ERR_TIMEOUT, mine_ms);
    else if (c->next.what == LEASE_DO_GET)
        c->next = lease_step_read(&c->s, c->read, mine_ms);
    else if (!c->accepted)
        c->next = lease_step_failed(&c->s, ERR_CONFLICT, mine_ms);
    else
        c->next = lease_step_written(&c->s, c->body, c->sent_ms + c->mono_offset_ms, mine_ms);
    c->led += c->s.leading;
    c->due_ms = now_ms + (c->next.what == LEASE_DO_WAIT ? c->next.delay_ms : 0);
    c->sent_ms = 0;
}

/* A fresh process in the place of one that went. */
static void candidate_restart(struct candidate *c, int id, int life)
{
    json_decref(c->read);
    json_decref(c->body);
    *c = (struct candidate){ .mono_offset_ms = chance(1000000),
                             .wall_offset_s = chance(7200),
                             .led = c->led };
    snprintf(c->s.me, sizeof c->s.me, "candidate-%d-%d", id, life);
    c->next.what = LEASE_DO_GET;
}

static void candidate_turn(struct candidate *c, int id, struct server *server, int64_t now_ms)
{
    if (c->sent_ms && !c->applied && now_ms >= c->applied_ms && !(c->cut && chance(2)))
        server_take(server, c); /* the server does not care whether the sender sleeps */
    if (chance(3000) == 0)
        c->asleep_ms = now_ms + chance(40000);
    if (now_ms < c->asleep_ms)
        return;
    if (c->sent_ms && now_ms >= c->answered_ms)
        candidate_answer(c, now_ms);
    if (c->next.what == LEASE_DO_EXIT || chance(5000) == 0)
        candidate_restart(c, id, (int) (now_ms / TICK_MS));
    if (!c->sent_ms && now_ms >= c->due_ms)
        candidate_send(c, now_ms);
}

static void never_two_leaders_within_their_fences(void **state)
{
    (void) state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        chance_state = seed * 0x9E3779B97F4A7C15ULL;
        struct server server = { 0 };
        struct candidate candidates[CANDIDATES] = { 0 };
        for (int i = 0; i < CANDIDATES; i++)
            candidate_restart(&candidates[i], i, 0);
        for (int64_t now_ms = TICK_MS; now_ms < 3600 * 1000; now_ms += TICK_MS) {
            int leaders = 0;
            for (int i = 0; i < CANDIDATES; i++) {
                candidate_turn(&candidates[i], i, &server, now_ms);
                leaders += now_ms + candidates[i].mono_offset_ms < lease_fence(&candidates[i].s);
            }
            assert_true(leaders <= 1);
        }
        int led = 0;
        for (int i = 0; i < CANDIDATES; i++) {
            led += candidates[i].led;
            json_decref(candidates[i].read);
            json_decref(candidates[i].body);
        }
        json_decref(server.lease);
        assert_true(led > 100); /* and most of the time there was one */
    }
}

/* All times of such a lease are longer, and its record tells others to wait so much longer. */
static void a_slow_lease_is_held_longer(void **state)
{
    (void) state;
    struct lease_state s = { .me = "me", .slowness = 4 };
    CLEANUP_JSON json_t *mine = lease_record(&s, NULL, "ns", "ostler",
                                             "2026-01-01T00:00:00.000000Z", false);
    assert_int_equal(json_int(mine, "spec.leaseDurationSeconds", 0), 4 * LEASE_DURATION_MS / 1000);
    struct lease_next next = lease_step_written(&s, mine, 1000, 1000);
    assert_int_equal(next.delay_ms, 4 * LEASE_RETRY_MS);
    assert_int_equal(lease_fence(&s), 1000 + 4 * LEASE_RENEW_DEADLINE_MS);
    assert_int_equal(lease_step_failed(&s, ERR_TIMEOUT, 2000).delay_ms, 4 * LEASE_RETRY_MS / 2);
    struct lease_state other = { .me = "other", .slowness = 4 };
    assert_int_equal(lease_step_read(&other, mine, 0).delay_ms, 4 * LEASE_RETRY_MS);
    assert_int_equal(lease_step_read(&other, mine, 4 * LEASE_DURATION_MS).what, LEASE_DO_UPDATE);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_script, scripts);
    SUITE_ROWS(&s, check_doubt, doubts);
    suite_add(&s, "the fence is ten seconds after sending", fence_is_ten_seconds_after_sending,
              NULL);
    SUITE_ROWS(&s, check_hostile, hostiles);
    suite_add(&s, "durations beyond 64 bits do no harm", durations_beyond_64_bits_do_no_harm, NULL);
    suite_add(&s, "renewals are seen behind a long name", renewals_are_seen_behind_a_long_name,
              NULL);
    suite_add(&s, "the first record has no transitions", first_record_has_no_transitions, NULL);
    suite_add(&s, "transitions begin again where no more can be written", transitions_begin_again,
              NULL);
    SUITE_ROWS(&s, check_record, records);
    suite_add(&s, "a slow lease is held longer", a_slow_lease_is_held_longer, NULL);
    suite_add(&s, "never two leaders within their fences", never_two_leaders_within_their_fences,
              NULL);
    return suite_run(&s, "lease_step");
}
