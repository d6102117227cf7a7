/* What a fault, a record and evidence make of a node: one table of the usual transitions, and every
 * combination of the inputs held against what must never happen. */
#include "reconcilers/decide/closing.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/sanitized.h"
#include "tests/unit/support/suite.h"

#define GPU "0000:65:00.0"
#define OTHER "0000:66:00.0"

enum { NOW_S = 1795168800, CLOSED_S = NOW_S - 3600, BOOT = 1, NEXT_BOOT = 2 };

/* ---- what is known of the GPUs */

/* Columns: id, what the agent reports, level that it asks for, evidence that a fault has ended */
#define FACTS(X)                                                                                   \
    X(SILENT, "nothing is reported", HEALTH_NONE, false)                                           \
    X(BOOTED, "nothing, and the node has booted", HEALTH_NONE, true)                               \
    X(BOOTED_UNSEEN, "the node has booted, and its agent has not reported", HEALTH_NONE, false)    \
    X(BOOTED_MUTE, "the node has booted, and NVML has not spoken yet", HEALTH_NONE, false)         \
    X(WELL, "NVML says that nothing is left to do", HEALTH_NONE, true)                             \
    X(WELL_OTHER, "NVML speaks of another GPU alone", HEALTH_NONE, false)                          \
    X(WELL_MUTE, "NVML lists the GPU without its recovery action", HEALTH_NONE, false)             \
    X(TRIED, "nothing, and Ostler has tried a repair", HEALTH_NONE, true)                          \
    X(DRIVEN, "nothing, and a newer driver was loaded", HEALTH_NONE, true)                         \
    X(IDLE, "NVML reports a row remap that waits", HEALTH_RESET_WHEN_IDLE, true)                   \
    X(SAME, "NVML reports the fault of the record", HEALTH_CLOSE, false)                           \
    X(WORSE, "NVML says that the node must boot", HEALTH_REBOOT, false)                            \
    X(BROKEN, "NVML reports a failed row remap", HEALTH_HUMAN, false)                              \
    X(LOGGED, "only the log shows a fault, since now", HEALTH_CLOSE, false)                        \
    X(CONFIRMED, "only the log shows a fault, for long", HEALTH_CLOSE, false)                      \
    X(GONE, "a GPU is gone from the bus", HEALTH_REBOOT, false)                                    \
    X(KEPT, "NVML is silent, and reported the fault before", HEALTH_CLOSE, false)

enum facts {
#define X(id, ...) FACT_##id,
    FACTS(X)
#undef X
        FACTS_LEN
};

static const struct {
    const char *what;
    enum health_level level;
    bool ended;
} facts_rows[] = {
#define X(id, ...) [FACT_##id] = { __VA_ARGS__ },
    FACTS(X)
#undef X
};

/* One set of facts with its storage. */
struct scene {
    struct node_inventory inventory;
    struct gpu_health gpu;
    struct gpu_fault fault;
    struct node_health facts;
    struct health_status concluded;
    struct health_input health;
    struct health_spec spec;
    struct closing_input in;
};

static void hear(struct gpu_heard *heard, enum facts f, enum gpu_recovery said)
{
    bool mute = f == FACT_WELL_MUTE, other = f == FACT_WELL_OTHER;
    enum gpu_recovery action = other ? RECOVERY_NONE : said;
    if (!mute && !action)
        return;
    CLEANUP_JSON json_t *list = json_pack("[{s:s, s:s?}]", "address", other ? OTHER : GPU,
                                          "recovery", mute ? NULL : gpu_recovery_name(action));
    gpu_heard_read(list, heard);
}

static void put_facts(struct scene *s, enum facts f)
{
    const enum gpu_recovery said[FACTS_LEN] = { [FACT_WELL] = RECOVERY_NONE,
                                                [FACT_IDLE] = RECOVERY_NONE,
                                                [FACT_SAME] = RECOVERY_RESET,
                                                [FACT_WORSE] = RECOVERY_REBOOT };
    bool logged = f == FACT_LOGGED || f == FACT_CONFIRMED;
    s->inventory = (struct node_inventory){ .boot = BOOT, .gpus_known = true, .driven = 2 };
    s->gpu = (struct gpu_health){ .address = GPU, .recovery = (uint8_t) said[f] };
    s->gpu.remap_pending = f == FACT_IDLE;
    s->gpu.remap_failed = f == FACT_BROKEN;
    s->inventory.health_listed = said[f] || f == FACT_BROKEN;
    hear(&s->inventory.heard, f, said[f]);
    s->fault = (struct gpu_fault){ .address = OTHER, .xid = 95, .count = 1, .boot = BOOT };
    s->fault.first_s = s->fault.last_s = NOW_S - 2;
    s->facts = (struct node_health){ .gpus = &s->gpu, .faults = &s->fault };
    s->facts.gpus_len = s->inventory.health_listed;
    s->facts.faults_len = logged;
    s->inventory.lost = f == FACT_GONE;
    if (f == FACT_GONE)
        memcpy(s->inventory.lost_address, OTHER, sizeof OTHER);
}

static void put_health(struct scene *s, enum facts f)
{
    bool seen = f == FACT_BOOTED || f == FACT_BOOTED_MUTE, booted = seen || f == FACT_BOOTED_UNSEEN;
    s->inventory.boot = seen ? NEXT_BOOT : BOOT;
    s->inventory.said_s = f == FACT_BOOTED_MUTE ? NOW_S - 60 : 0;
    s->concluded = (struct health_status){
        .level = HEALTH_CLOSE, .reason = "RecoveryReset", .address = GPU, .since_s = CLOSED_S
    };
    s->health = (struct health_input){ .facts = &s->facts,
                                       .inventory = &s->inventory,
                                       .boot = booted ? NEXT_BOOT : BOOT,
                                       .concluded = f == FACT_KEPT ? &s->concluded : NULL,
                                       .nvml_told = f == FACT_KEPT,
                                       .driver_s = f == FACT_DRIVEN ? NOW_S - 60 : 0,
                                       .now_s = NOW_S };
}

static void scene_init(struct scene *s, enum facts f)
{
    memset(s, 0, sizeof *s);
    put_facts(s, f);
    put_health(s, f);
    s->spec = (struct health_spec){ .mode = HEALTH_MODE_CLOSE,
                                    .resets = 1,
                                    .reboots = 2,
                                    .attempts_per_s = 7 * 24 * 3600,
                                    .repairs = true };
    s->in = (struct closing_input){ .spec = &s->spec,
                                    .health = &s->health,
                                    .reported = f != FACT_BOOTED_UNSEEN,
                                    .own_driver = true,
                                    .validates = true,
                                    .boot = s->health.boot,
                                    .unhealthy_since_s = f == FACT_CONFIRMED ? CLOSED_S : NOW_S,
                                    .now_s = NOW_S };
}

/* ---- the record of the node */

enum records { OVER, CLOSED, WITHHELD, PROVING, IGNORED, BRAKED, RECORDS_LEN };

static void put_record(struct scene *s, enum records r, enum facts f)
{
    static const enum fault_state states[] = { FAULT_OVER,    FAULT_CLOSED,  FAULT_CLOSED,
                                               FAULT_PROVING, FAULT_IGNORED, FAULT_BRAKED };
    if (r != OVER)
        s->in.record = (struct fault_record){ .state = states[r],
                                              .reason = "RecoveryReset",
                                              .address = GPU,
                                              .boot = BOOT,
                                              .since_s = CLOSED_S,
                                              .tainted = r == CLOSED || r == PROVING };
    s->in.tainted = s->in.record.tainted;
    if (f == FACT_TRIED)
        fault_record_try(&s->in.record, REPAIR_RESET, CLOSED_S);
}

static enum records record_of(const struct closing *c)
{
    static const enum records records[] = { [FAULT_OVER] = OVER,
                                            [FAULT_CLOSED] = CLOSED,
                                            [FAULT_PROVING] = PROVING,
                                            [FAULT_IGNORED] = IGNORED,
                                            [FAULT_BRAKED] = BRAKED };
    bool withheld = c->record.state == FAULT_CLOSED && !c->record.tainted;
    return withheld ? WITHHELD : records[c->record.state];
}

/* ---- the usual transitions: mode Close, nothing withheld, no brake, no user */

/* In each row a letter per record: Over, Closed, Withheld, Proving, Ignored, Braked. */
static const char letters[] = "OCWPIB";
static const struct {
    enum facts facts;
    const char *then;
} usual[] = {
    { FACT_SILENT, "OCWPIB" },      { FACT_BOOTED, "OPOPOO" }, { FACT_BOOTED_UNSEEN, "OCWPIB" },
    { FACT_BOOTED_MUTE, "OCWPIB" }, { FACT_WELL, "OPOPOO" },   { FACT_WELL_OTHER, "OCWPIB" },
    { FACT_WELL_MUTE, "OCWPIB" },   { FACT_TRIED, "OPOPOO" },  { FACT_DRIVEN, "OPOPOO" },
    { FACT_IDLE, "OPOPOO" },        { FACT_SAME, "CCCCIB" },   { FACT_WORSE, "CCCCCB" },
    { FACT_BROKEN, "CCCCCB" },      { FACT_LOGGED, "OCWCIB" }, { FACT_CONFIRMED, "CCCCCC" },
    { FACT_GONE, "CCCCCC" },        { FACT_KEPT, "CCWCIB" },
};

static void check_usual(void **state)
{
    (void) state;
    assert_int_equal(ARRAY_LEN(usual), FACTS_LEN);
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        for (int r = 0; r < RECORDS_LEN; r++) {
            CLEANUP_ARENA struct arena a = { 0 };
            struct scene s;
            struct closing c;
            scene_init(&s, usual[i].facts);
            put_record(&s, (enum records) r, usual[i].facts);
            closing_decide(&s.in, &a, &c);
            assert_int_equal(c.level, facts_rows[usual[i].facts].level);
            if (letters[record_of(&c)] != usual[i].then[r])
                fail_msg("%s: %c becomes %c, not %c", facts_rows[usual[i].facts].what, letters[r],
                         letters[record_of(&c)], usual[i].then[r]);
        }
}

/* ---- every combination */

/* Under a sanitizer each 31st set of flags, another of each record and each set of facts. */
enum { FLAGS = 11, STEP = SANITIZED ? 31 : 1 };

static void put_flags(struct scene *s, unsigned flags)
{
    bool *const members[FLAGS] = { &s->in.claimed,
                                   &s->in.ignored,
                                   &s->in.held,
                                   &s->in.withheld,
                                   &s->in.braked,
                                   &s->in.asked,
                                   &s->in.validates,
                                   &s->in.proven,
                                   &s->in.counted,
                                   &s->in.tainted,
                                   NULL };
    for (int i = 0; i < FLAGS - 1; i++)
        *members[i] = flags >> i & 1;
    s->in.proven = s->in.proven && !s->in.counted;
    s->spec.reboot = flags >> (FLAGS - 1) & 1 ? HEALTH_REBOOT_POD : HEALTH_REBOOT_NONE;
}

/* The first sentence that does not hold; NULL: all hold. */
static const char *broken(const struct scene *s, enum facts f, const struct closing *c)
{
    const struct closing_input *in = &s->in;
    bool off = in->ignored || s->spec.mode == HEALTH_MODE_OBSERVE, was_closed = in->record.tainted,
         opened = was_closed && in->tainted && !c->taint,
         closes = c->taint && !(was_closed && in->tainted), hard = f == FACT_GONE,
         asks = facts_rows[f].level >= HEALTH_CLOSE,
         removed = was_closed && !in->tainted && !(off && !in->claimed),
         left = (in->record.state == FAULT_IGNORED || in->record.state == FAULT_BRAKED) && !off,
         ended = facts_rows[f].ended, settled = in->now_s - in->record.since_s >= 600;
    const struct {
        bool holds;
        const char *what;
    } rows[] = {
        { c->taint == (c->record.tainted &&
                       (c->record.state == FAULT_CLOSED || c->record.state == FAULT_PROVING)),
          "taint and record agree" },
        { !closes || (asks && !off && !in->withheld && !in->claimed && !removed),
          "only a fault closes, and no user and no claim says otherwise" },
        { !closes || !in->held, "a held node is not closed" },
        { !closes || !in->braked || hard, "the brake holds back soft evidence" },
        { !closes || f != FACT_LOGGED, "the log alone is confirmed" },
        { asks || !left || ended || c->record.state == in->record.state,
          "silence does not take back what a user or the brake decided" },
        { !c->outdates || !in->record.relapses || settled || in->record.state == FAULT_PROVING,
          "after a relapse, evidence must stand" },
        { !opened || off || (asks && in->withheld) ||
              (!asks &&
               (in->record.state == FAULT_PROVING ? (in->proven && in->reported) || !in->validates
                                                  : facts_rows[f].ended && !in->validates)),
          "a node opens on evidence and a validation" },
        { !removed || !c->taint, "a user who removes the taint wins" },
        { !off || in->claimed || (!c->taint && c->record.state == FAULT_OVER),
          "where Ostler only reports, it leaves nothing" },
        { !in->claimed || removed || !c->reason, "a claimed node stays as it is" },
        { !c->outdates || (c->record.state == FAULT_PROVING && in->validates),
          "the validation becomes outdated for another one" },
        { c->proves == (c->record.state == FAULT_PROVING && in->validates), "proving validates" },
        { !c->reason == !c->message, "each write says why" },
        { c->record.tries_len == in->record.tries_len, "no repair is forgotten" },
        { !c->again_s || c->again_s > in->now_s, "the next look is ahead" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!rows[i].holds)
            return rows[i].what;
    return NULL;
}

static const char *broken_repair(const struct scene *s, enum facts f, const struct closing *c)
{
    const struct closing_input *in = &s->in;
    bool off = in->ignored || s->spec.mode == HEALTH_MODE_OBSERVE, repairs = c->repair,
         asked = c->wants == REPAIR_ASKED;
    enum fault_state state = c->record.state;
    const struct {
        bool holds;
        const char *what;
    } rows[] = {
        { !repairs || !in->held, "a held node is not repaired" },
        { !repairs || s->spec.mode != HEALTH_MODE_OBSERVE, "Observe repairs nothing" },
        { asked == (in->asked && !in->held && s->spec.mode != HEALTH_MODE_OBSERVE),
          "a user is obeyed" },
        { !repairs || asked || (s->spec.mode == HEALTH_MODE_REPAIR && !off),
          "only mode Repair repairs unasked" },
        { c->repair != REPAIR_FAULT || state == FAULT_CLOSED ||
              (state == FAULT_BRAKED && !in->braked),
          "a repair is of a closed node, or of one that the brake kept open" },
        { c->repair != REPAIR_FAULT || facts_rows[f].level != HEALTH_HUMAN,
          "what only a person repairs is left to a person" },
        { c->repair != REPAIR_FAULT || facts_rows[f].level != HEALTH_REBOOT ||
              s->spec.reboot != HEALTH_REBOOT_NONE,
          "no repair that needs a reboot which the policy forbids" },
        { (in->claimed && state == FAULT_CLOSED) ||
              (c->repair == REPAIR_IDLE) ==
                  (f == FACT_IDLE && !asked && !off && !in->held &&
                   s->spec.mode == HEALTH_MODE_REPAIR && state != FAULT_CLOSED),
          "a repair that can wait" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!rows[i].holds)
            return rows[i].what;
    return NULL;
}

/* Whether the record changes exactly where a write says why. */
static bool writes_what_changes(const struct scene *s, const struct closing *c)
{
    CLEANUP_FREE char *was = fault_record_text(&s->in.record), *is = fault_record_text(&c->record);
    return str_eq(was, is) == !c->reason;
}

/* Deciding again, after the write, changes nothing: but for a node that is proven at once. */
static bool rests(const struct scene *s, const struct closing *c)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct scene after = *s;
    struct closing again;
    after.in.record = c->record;
    after.in.tainted = c->taint;
    after.in.proven = after.in.counted = false;
    if (c->record.state == FAULT_PROVING && !s->in.validates)
        return true;
    closing_decide(&after.in, &a, &again);
    return !again.reason;
}

/* The brake never blocks healing. */
static bool heals_as_without_brake(const struct scene *s, const struct closing *c)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct scene other = *s;
    struct closing without;
    other.in.braked = !s->in.braked;
    closing_decide(&other.in, &a, &without);
    bool open = s->in.record.tainted && s->in.tainted;
    return !open || without.taint == c->taint;
}

static void check_one(struct scene *s, enum facts f, enum records r, unsigned flags)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct closing c;
    closing_decide(&s->in, &a, &c);
    const char *what = broken(s, f, &c);
    what = what ? what : broken_repair(s, f, &c);
    if (!what && !writes_what_changes(s, &c))
        what = "a write for each change, and none besides";
    if (!what && !rests(s, &c))
        what = "the decision rests after its write";
    if (!what && !heals_as_without_brake(s, &c))
        what = "the brake keeps no node closed";
    if (what)
        fail_msg("%s: not with mode %d, record %c, flags %#x and: %s (then: %c, %s)", what,
                 s->spec.mode, letters[r], flags, facts_rows[f].what, letters[record_of(&c)],
                 str_or_empty(c.message));
}

static void check_every(void **state)
{
    (void) state;
    for (int mode = 0; mode <= HEALTH_MODE_REPAIR; mode++)
        for (int f = 0; f < FACTS_LEN; f++)
            for (int r = 0; r < RECORDS_LEN; r++)
                for (unsigned flags = (unsigned) (f + r) % STEP; flags < 1u << FLAGS;
                     flags += STEP) {
                    struct scene s;
                    scene_init(&s, (enum facts) f);
                    put_record(&s, (enum records) r, (enum facts) f);
                    put_flags(&s, flags);
                    s.spec.mode = (enum health_mode) mode;
                    check_one(&s, (enum facts) f, (enum records) r, flags);
                }
}

/* ---- single things */

static void check_old_tries(void **state)
{
    (void) state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct scene s;
    struct closing c;
    scene_init(&s, FACT_SILENT);
    fault_record_try(&s.in.record, REPAIR_RESET, NOW_S - 7 * 24 * 3600);
    fault_record_try(&s.in.record, REPAIR_REBOOT, NOW_S - 7 * 24 * 3600 + 1);
    closing_decide(&s.in, &a, &c);
    assert_int_equal(c.record.tries_len, 1);
    assert_int_equal(c.record.tries[0].kind, REPAIR_REBOOT);
    assert_true(c.reason);
}

static void check_nothing_known(void **state)
{
    (void) state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct scene s;
    struct closing c;
    scene_init(&s, FACT_SILENT);
    s.in.health = NULL;
    closing_decide(&s.in, &a, &c);
    assert_false(c.reason || c.taint || c.repair || c.again_s);
    put_record(&s, CLOSED, FACT_SILENT);
    closing_decide(&s.in, &a, &c);
    assert_true(c.taint && !c.reason);
}

/* Another GPU becomes bad, and a user has left the first fault alone in this boot. */
static void check_left_alone(void **state)
{
    (void) state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct scene s;
    struct closing c;
    scene_init(&s, FACT_SAME);
    put_record(&s, IGNORED, FACT_SAME);
    s.fault.first_s = s.fault.last_s = NOW_S - 60;
    s.facts.faults_len = 1;
    s.in.unhealthy_since_s = CLOSED_S;
    closing_decide(&s.in, &a, &c);
    assert_string_equal(c.record.reason, "Xid95");
    assert_true(c.taint);
    assert_string_equal(c.record.left.reason, "RecoveryReset");
    /* A user opens the node again: both are left alone. */
    s.in.record = c.record;
    closing_decide(&s.in, &a, &c);
    assert_int_equal(c.record.state, FAULT_IGNORED);
    s.in.record = c.record;
    closing_decide(&s.in, &a, &c);
    assert_false(c.taint || c.reason);
    assert_true(c.left);
    /* The second one ends, and the first one is still left alone. */
    s.facts.faults_len = 0;
    s.in.record.state = FAULT_PROVING;
    s.in.record.tainted = s.in.tainted = s.in.proven = true;
    closing_decide(&s.in, &a, &c);
    assert_int_equal(c.record.state, FAULT_IGNORED);
    assert_string_equal(c.record.reason, "RecoveryReset");
    /* Not in another boot. */
    s.in.record.left.boot = NEXT_BOOT;
    closing_decide(&s.in, &a, &c);
    assert_int_equal(c.record.state, FAULT_CLOSED);
}

/* A fault that is no worse does not take the record from one that is still there. */
static void check_beside(void **state)
{
    (void) state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct scene s;
    struct closing c;
    scene_init(&s, FACT_SAME);
    put_record(&s, CLOSED, FACT_SAME);
    s.fault.first_s = s.fault.last_s = NOW_S - 60;
    s.facts.faults_len = 1;
    s.in.unhealthy_since_s = CLOSED_S;
    closing_decide(&s.in, &a, &c);
    assert_string_equal(c.word, "Xid95");
    assert_false(c.reason);
    s.fault.xid = 79;
    closing_decide(&s.in, &a, &c);
    assert_string_equal(c.record.reason, "Xid79");
    s.fault.xid = 95;
    s.gpu.recovery = RECOVERY_NONE;
    closing_decide(&s.in, &a, &c);
    assert_string_equal(c.record.reason, "Xid95");
    s.inventory.heard = (struct gpu_heard){ 0 };
    s.facts.gpus_len = 0;
    closing_decide(&s.in, &a, &c);
    assert_false(c.reason);
}

static const struct relapse_row {
    const char *name;
    unsigned relapses;
    int64_t wait_s;
} relapse_rows[] = {
    { "once: 10 minutes", 1, 600 },        { "twice: 20 minutes", 2, 1200 },
    { "four times: 80 minutes", 4, 4800 }, { "five times: 2 hours", 5, 7200 },
    { "very often: 2 hours", 255, 7200 },
};

static void check_relapse(void **state)
{
    const struct relapse_row *row = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct scene s;
    struct closing c;
    scene_init(&s, FACT_WELL);
    put_record(&s, CLOSED, FACT_WELL);
    s.in.record.relapses = (uint8_t) row->relapses;
    s.in.record.since_s = NOW_S - row->wait_s;
    closing_decide(&s.in, &a, &c);
    assert_int_equal(c.record.state, FAULT_PROVING);
    assert_int_equal(c.record.relapses, row->relapses);
    s.in.record.since_s++;
    closing_decide(&s.in, &a, &c);
    assert_int_equal(c.reason, REASON_NONE);
    assert_int_equal(c.again_s, NOW_S + 1);
    /* Neither a wrong clock nor a first fault has to wait. */
    s.in.record.since_s = NOW_S + 24 * 3600;
    closing_decide(&s.in, &a, &c);
    assert_int_equal(c.record.state, FAULT_PROVING);
    s.in.record.since_s = NOW_S;
    s.in.record.relapses = 0;
    closing_decide(&s.in, &a, &c);
    assert_int_equal(c.record.state, FAULT_PROVING);
}

static void check_relapses_are_counted(void **state)
{
    (void) state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct scene s;
    struct closing c;
    scene_init(&s, FACT_SAME);
    put_record(&s, PROVING, FACT_SAME);
    closing_decide(&s.in, &a, &c);
    assert_int_equal(c.record.relapses, 1);
    s.in.record.relapses = UINT8_MAX;
    closing_decide(&s.in, &a, &c);
    assert_int_equal(c.record.relapses, UINT8_MAX);
}

/* The oldest unhealthy node goes first: since its record was written, or its fault concluded. */
static void check_repair_since(void **state)
{
    (void) state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct scene s;
    struct closing c;
    scene_init(&s, FACT_SAME);
    put_record(&s, CLOSED, FACT_SAME);
    s.spec.mode = HEALTH_MODE_REPAIR;
    closing_decide(&s.in, &a, &c);
    assert_int_equal(c.repair, REPAIR_FAULT);
    assert_int_equal(c.repair_since_s, CLOSED_S);
    /* A claim that came before the write would keep it from being made. */
    scene_init(&s, FACT_SAME);
    s.spec.mode = HEALTH_MODE_REPAIR;
    closing_decide(&s.in, &a, &c);
    assert_true(c.taint);
    assert_int_equal(c.repair, REPAIR_NOTHING);
    scene_init(&s, FACT_IDLE);
    s.spec.mode = HEALTH_MODE_REPAIR;
    s.health.concluded = &s.concluded;
    closing_decide(&s.in, &a, &c);
    assert_int_equal(c.repair, REPAIR_IDLE);
    assert_int_equal(c.repair_since_s, CLOSED_S);
}

static enum repair_need wanted(enum facts f, bool claimed, bool failed)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct scene s;
    struct closing c;
    scene_init(&s, f);
    put_record(&s, CLOSED, f);
    s.spec.mode = HEALTH_MODE_REPAIR;
    s.spec.resets = 2;
    s.in.claimed = claimed;
    s.in.failed = failed;
    closing_decide(&s.in, &a, &c);
    return c.wants;
}

/* A closed node asks for a repair while its fault is reported, or nothing shows that it has ended;
 * with a claim as without, or the claim would be given back and made again without end. A repair
 * that failed shows nothing. */
static void check_silence(void **state)
{
    (void) state;
    for (int f = 0; f < FACTS_LEN; f++) {
        enum repair_need want = !facts_rows[f].ended ? REPAIR_FAULT
                                : f == FACT_IDLE     ? REPAIR_IDLE /* of what is left */
                                                     : REPAIR_NOTHING;
        if (wanted((enum facts) f, true, false) != want ||
            wanted((enum facts) f, false, false) != want)
            fail_msg("%s", facts_rows[f].what);
    }
    assert_int_equal(wanted(FACT_TRIED, true, true), REPAIR_FAULT);
}

/* Without the administrator's permission nothing asks for a repair: no fault, and no user. */
static void check_repairs_not_allowed(void **state)
{
    (void) state;
    static const struct {
        enum facts fact;
        bool asked, closed;
        enum repair_need allowed;
    } cases[] = {
        { FACT_SAME, false, true, REPAIR_FAULT },
        { FACT_SAME, true, true, REPAIR_ASKED },
        { FACT_IDLE, false, false, REPAIR_IDLE },
        { FACT_IDLE, true, false, REPAIR_ASKED },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP_ARENA struct arena a = { 0 };
        struct scene s;
        struct closing c;
        scene_init(&s, cases[i].fact);
        if (cases[i].closed)
            put_record(&s, CLOSED, cases[i].fact);
        s.spec.mode = HEALTH_MODE_REPAIR;
        s.in.asked = cases[i].asked;
        closing_decide(&s.in, &a, &c);
        assert_int_equal(c.repair, cases[i].allowed);
        s.spec.repairs = false;
        closing_decide(&s.in, &a, &c);
        assert_int_equal(c.repair, REPAIR_NOTHING);
        assert_int_equal(c.taint, cases[i].closed);
    }
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "the usual transitions", check_usual, NULL);
    suite_add(&s, "every combination keeps what must hold", check_every, NULL);
    suite_add(&s, "attempts that are too old to count are forgotten", check_old_tries, NULL);
    suite_add(&s, "a node of which nothing is known", check_nothing_known, NULL);
    suite_add(&s, "a fault that a user left alone, beside others", check_left_alone, NULL);
    suite_add(&s, "a fault beside that of the record", check_beside, NULL);
    SUITE_ROWS(&s, check_relapse, relapse_rows);
    suite_add(&s, "relapses are counted", check_relapses_are_counted, NULL);
    suite_add(&s, "since when a node waits for its repair", check_repair_since, NULL);
    suite_add(&s, "a repair is for a fault that is there, or of which nothing is known",
              check_silence, NULL);
    suite_add(&s, "nothing asks for a repair that is not allowed", check_repairs_not_allowed, NULL);
    return suite_run(&s, "closing");
}
