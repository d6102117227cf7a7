/* When the agent looks next, and what it says: each row is a story of looks and news. */
#include "node/agent/pace.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { STEPS_MAX = 12, NOW_MS = 1000 * 1000, SOON = PACE_SETTLE_MS };

enum kind {
    END,
    /* time has come to the next look; it sees `all` and `lasting`, and `verdict` must be what to do
     */
    LOOK,
    SERVER, /* and so it went, when it was said */
    NEWS,   /* comes `ms` later */
    NEXT,   /* the next look is within `ms` to `max_ms` from now */
};

struct step {
    enum kind kind;
    struct inventory_hash seen;
    enum turn_end verdict;
    struct scan_outcome outcome;
    int64_t ms, max_ms;
};

#define SEES(all, lasting, verdict)                                                                \
    {                                                                                              \
        LOOK, { all, lasting, 0, 0 }, verdict, { 0 }, 0, 0                                         \
    }
#define USED(all, users, verdict)                                                                  \
    {                                                                                              \
        LOOK, { all, 1, users, 0 }, verdict, { 0 }, 0, 0                                           \
    }
/* Faults, of which `counts` in all. */
#define FAULTS(all, lasting, counts, verdict)                                                      \
    {                                                                                              \
        LOOK, { all, lasting, 0, counts }, verdict, { 0 }, 0, 0                                    \
    }
#define WRITTEN                                                                                    \
    {                                                                                              \
        SERVER, { 0 }, 0, { .end = TURN_SAID, .wrote = true }, 0, 0                                \
    }
#define AS_BEFORE                                                                                  \
    {                                                                                              \
        SERVER, { 0 }, 0, { .end = TURN_SAID }, 0, 0                                               \
    }
#define CLOSED                                                                                     \
    {                                                                                              \
        SERVER, { 0 }, 0, { .end = TURN_SAID, .wrote = true, .closed = true }, 0, 0                \
    }
#define GONE                                                                                       \
    {                                                                                              \
        SERVER, { 0 }, 0, { .end = TURN_SAID, .wrote = true, .gone = true }, 0, 0                  \
    }
#define REFUSED(after_ms)                                                                          \
    {                                                                                              \
        SERVER, { 0 }, 0, { .end = TURN_FAILED, .retry_after_ms = (after_ms) }, 0, 0               \
    }
#define NEWS_IN(ms)                                                                                \
    {                                                                                              \
        NEWS, { 0 }, 0, { 0 }, ms, 0                                                               \
    }
#define NEXT_IN(from, to)                                                                          \
    {                                                                                              \
        NEXT, { 0 }, 0, { 0 }, from, to                                                            \
    }
#define AT_REST NEXT_IN(PACE_LOOK_MS * 9 / 10, PACE_LOOK_MS * 11 / 10)
#define QUIET SEES(1, 1, TURN_QUIET)

static const struct row {
    const char *name;
    struct step steps[STEPS_MAX];
} rows[] = {
    { "the first look comes within ten seconds", { NEXT_IN(0, PACE_START_MS - 1) } },
    { "and news do not hasten it, or all nodes would look at once",
      { NEWS_IN(0), SEES(1, 1, TURN_SAID), WRITTEN, AT_REST } },
    { "what is as it was is not said again",
      { SEES(1, 1, TURN_SAID), WRITTEN, QUIET, AT_REST, QUIET, AT_REST } },
    { "every sixth look asks the server",
      { SEES(1, 1, TURN_SAID), AS_BEFORE, QUIET, QUIET, QUIET, QUIET, QUIET, SEES(1, 1, TURN_SAID),
        AS_BEFORE, QUIET } },
    { "a change is said at once",
      { SEES(1, 1, TURN_SAID), WRITTEN, NEWS_IN(PACE_GAP_MS), SEES(2, 2, TURN_SAID), WRITTEN } },
    { "news bring a look a second later",
      { SEES(1, 1, TURN_SAID), WRITTEN, NEWS_IN(60000), NEXT_IN(SOON, SOON), QUIET, AT_REST } },
    { "more news do not put it off",
      { SEES(1, 1, TURN_SAID), WRITTEN, NEWS_IN(60000), NEWS_IN(500),
        NEXT_IN(SOON - 500, SOON - 500) } },
    { "however many news there are, looks have a gap",
      { SEES(1, 1, TURN_SAID), WRITTEN, NEWS_IN(0), NEXT_IN(PACE_GAP_MS, PACE_GAP_MS), QUIET,
        NEWS_IN(0), NEXT_IN(PACE_GAP_MS, PACE_GAP_MS) } },
    { "other holders wait for their minute",
      { SEES(1, 1, TURN_SAID), WRITTEN, NEWS_IN(20000), SEES(2, 1, TURN_LATER),
        NEXT_IN(39000, 39000), SEES(2, 1, TURN_SAID), WRITTEN, AT_REST } },
    { "holders that are back as they were are not said",
      { SEES(1, 1, TURN_SAID), WRITTEN, NEWS_IN(20000), SEES(2, 1, TURN_LATER), QUIET, AT_REST } },
    { "a new fault is said at once",
      { FAULTS(1, 1, 1, TURN_SAID), WRITTEN, NEWS_IN(0), FAULTS(2, 2, 2, TURN_SAID), WRITTEN } },
    { "a higher count waits for its minute",
      { FAULTS(1, 1, 1, TURN_SAID), WRITTEN, NEWS_IN(1000), FAULTS(2, 1, 2, TURN_LATER),
        NEXT_IN(55000, 55000), FAULTS(3, 1, 3, TURN_SAID), WRITTEN, AT_REST } },
    { "and is said at once after a longer time",
      { FAULTS(1, 1, 1, TURN_SAID), WRITTEN, NEWS_IN(59000), FAULTS(2, 1, 2, TURN_SAID) } },
    { "other holders do not wait longer for that",
      { FAULTS(1, 1, 1, TURN_SAID), WRITTEN, NEWS_IN(1000), SEES(2, 1, TURN_LATER),
        NEXT_IN(55000, 55000) } },
    { "while GPUs are waited for a count waits as long",
      { FAULTS(1, 1, 1, TURN_SAID), CLOSED, NEWS_IN(1000), FAULTS(2, 1, 2, TURN_LATER),
        NEXT_IN(5000, 5000) } },
    { "one that leaves is said at once",
      { USED(1, 2, TURN_SAID), WRITTEN, NEWS_IN(9000), USED(2, 1, TURN_SAID), WRITTEN, AT_REST } },
    { "the last one too",
      { USED(1, 1, TURN_SAID), WRITTEN, NEWS_IN(9000), USED(2, 0, TURN_SAID), WRITTEN, AT_REST } },
    { "one that comes, or comes in place of another, waits",
      { USED(1, 1, TURN_SAID), WRITTEN, NEWS_IN(9000), USED(2, 2, TURN_LATER), NEWS_IN(9000),
        USED(3, 1, TURN_LATER), NEXT_IN(40000, 40000), USED(3, 1, TURN_SAID) } },
    { "one that leaves before it was said is not news",
      { USED(1, 1, TURN_SAID), WRITTEN, NEWS_IN(9000), USED(2, 2, TURN_LATER),
        USED(1, 1, TURN_QUIET), AT_REST } },
    { "while GPUs are waited for it looks often, and says who has them at once",
      { SEES(1, 1, TURN_SAID), CLOSED, NEXT_IN(PACE_CLOSED_MS, PACE_CLOSED_MS),
        SEES(2, 1, TURN_SAID), CLOSED, SEES(2, 1, TURN_QUIET),
        NEXT_IN(PACE_CLOSED_MS, PACE_CLOSED_MS) } },
    { "and asks each minute whether that is so still",
      { SEES(1, 1, TURN_SAID), CLOSED, QUIET, QUIET, QUIET, QUIET, QUIET, SEES(1, 1, TURN_SAID),
        AS_BEFORE, AT_REST } },
    { "also then not more often than it looks",
      { SEES(1, 1, TURN_SAID), CLOSED, NEWS_IN(1000), SEES(2, 1, TURN_LATER), NEXT_IN(5000, 5000),
        SEES(2, 1, TURN_SAID), WRITTEN, AT_REST } },
    { "anything else does not wait with them",
      { SEES(1, 1, TURN_SAID), WRITTEN, NEWS_IN(20000), SEES(2, 1, TURN_LATER), NEWS_IN(9000),
        SEES(3, 2, TURN_SAID) } },
    { "while GPUs seem to be gone it looks again, and asks each time",
      { SEES(1, 1, TURN_SAID), GONE, NEXT_IN(PACE_AGAIN_MS, PACE_AGAIN_MS), SEES(1, 1, TURN_SAID),
        GONE, SEES(1, 1, TURN_SAID), WRITTEN, QUIET, AT_REST } },
    { "news do not make the count go faster",
      { SEES(1, 1, TURN_SAID), GONE, NEWS_IN(10000),
        NEXT_IN(PACE_AGAIN_MS - 10000, PACE_AGAIN_MS - 10000) } },
    { "a refusal is waited for longer each time",
      { SEES(1, 1, TURN_SAID), REFUSED(-1), NEXT_IN(1000, 1500), SEES(1, 1, TURN_SAID), REFUSED(-1),
        NEXT_IN(2000, 3000), SEES(1, 1, TURN_SAID), REFUSED(-1), NEXT_IN(4000, 6000) } },
    { "as long as the server wants",
      { SEES(1, 1, TURN_SAID), REFUSED(30000), NEXT_IN(30000, 45000) } },
    { "but not for ever",
      { SEES(1, 1, TURN_SAID), REFUSED(INT64_MAX),
        NEXT_IN(PACE_RETRY_MAX_MS, PACE_RETRY_MAX_MS * 3 / 2) } },
    { "news do not hasten a refused one",
      { SEES(1, 1, TURN_SAID), REFUSED(30000), NEWS_IN(1000), NEXT_IN(29000, 44000) } },
    { "after it, the way is short again",
      { SEES(1, 1, TURN_SAID), REFUSED(-1), SEES(1, 1, TURN_SAID), REFUSED(-1),
        SEES(1, 1, TURN_SAID), WRITTEN, QUIET, SEES(2, 2, TURN_SAID), REFUSED(-1),
        NEXT_IN(1000, 1500) } },
    { "a change that was refused is said at the next look",
      { SEES(1, 1, TURN_SAID), WRITTEN, SEES(2, 2, TURN_SAID), REFUSED(-1), SEES(2, 2, TURN_SAID),
        WRITTEN, SEES(2, 2, TURN_QUIET) } },
};

static void take_look(struct pace *p, const struct step *s, int64_t *now_ms)
{
    *now_ms = p->next_ms;
    enum turn_end verdict = pace_verdict(p, &s->seen, *now_ms);
    assert_int_equal(verdict, s->verdict);
    if (verdict != TURN_SAID)
        pace_take(p,
                  &(struct scan_outcome){ .end = verdict, .hash = s->seen, .retry_after_ms = -1 },
                  *now_ms);
}

static void check(void **state)
{
    const struct row *row = *state;
    struct pace p;
    int64_t now_ms = NOW_MS;
    pace_init(&p, "a", now_ms);
    for (const struct step *s = row->steps; s < row->steps + STEPS_MAX && s->kind != END; s++) {
        if (s->kind == LOOK)
            take_look(&p, s, &now_ms);
        if (s->kind == SERVER) {
            struct scan_outcome o = s->outcome;
            o.hash = s[-1].seen;
            pace_take(&p, &o, now_ms);
        }
        if (s->kind == NEWS)
            pace_news(&p, now_ms += s->ms);
        if (s->kind == NEXT)
            assert_in_range(p.next_ms - now_ms, s->ms, s->max_ms);
    }
}

/* A hundred failures in a row neither pass the longest pause nor come to none. */
static void check_many_failures(void **state)
{
    (void) state;
    struct pace p;
    int64_t now_ms = NOW_MS;
    pace_init(&p, "a", now_ms);
    for (int i = 0; i < 100; i++) {
        pace_take(&p, &(struct scan_outcome){ .end = TURN_FAILED, .retry_after_ms = -1 }, now_ms);
        assert_in_range(p.next_ms - now_ms, PACE_RETRY_MS, PACE_RETRY_MAX_MS * 3 / 2);
        now_ms = p.next_ms;
    }
    assert_true(p.next_ms - NOW_MS > 90 * (int64_t) PACE_RETRY_MAX_MS);
}

/* A day in which nothing happens: a look every five minutes, and a question every half hour, after
 * which nothing is written. */
static void check_day(void **state)
{
    (void) state;
    static const int64_t day_ms = 24 * 60 * 60 * (int64_t) 1000;
    const struct inventory_hash same = { 1, 1, 1, 0 };
    unsigned looks = 0, questions = 0;
    struct pace p;
    pace_init(&p, "a", NOW_MS);
    pace_take(&p,
              &(struct scan_outcome){
                  .end = TURN_SAID, .hash = same, .wrote = true, .retry_after_ms = -1 },
              NOW_MS);
    for (; p.next_ms < NOW_MS + day_ms; looks++) {
        enum turn_end verdict = pace_verdict(&p, &same, p.next_ms);
        questions += verdict == TURN_SAID;
        pace_take(&p, &(struct scan_outcome){ .end = verdict, .hash = same, .retry_after_ms = -1 },
                  p.next_ms);
    }
    assert_in_range(looks, 270, 306);
    assert_in_range(questions, 44, 52);
}

/* An hour in which ten come together each minute, and leave one by one, each with news of it: a few
 * are said at once. */
static void check_leavers(void **state)
{
    (void) state;
    enum { MINUTES = 60, COME = 10, STEP_MS = PACE_HOLDERS_MS / (COME + 2) };
    struct pace p;
    unsigned writes = 0, writes_first = 0;
    uint64_t users = 0, all = 1;
    int64_t now_ms = NOW_MS;
    pace_init(&p, "a", now_ms);
    for (int step = 0; step < MINUTES * (COME + 2); step++) {
        users = users ? users - 1 : COME;
        all++;
        now_ms += STEP_MS;
        const struct inventory_hash seen = { all, 1, users, 0 };
        enum turn_end verdict = pace_verdict(&p, &seen, now_ms);
        bool said = verdict == TURN_SAID;
        writes += said;
        pace_take(&p,
                  &(struct scan_outcome){
                      .end = verdict, .hash = seen, .wrote = said, .retry_after_ms = -1 },
                  now_ms);
        writes_first = step < COME ? writes : writes_first;
    }
    assert_int_equal(writes_first, 1 + PACE_LEAVERS);
    assert_in_range(writes, MINUTES - 1, MINUTES + 1 + PACE_LEAVERS);
}

/* An hour in which a fault comes many times a second: the agent looks at the log, and has news of
 * it each time. No more writes than one in ten seconds, and none is later than fifteen. */
static void check_storm(void **state)
{
    (void) state;
    enum { HOUR_MS = 60 * 60 * 1000 };
    struct pace p;
    int64_t log_ms = NOW_MS + PACE_WATCH_MS, wrote_ms = NOW_MS;
    unsigned writes = 0;
    pace_init(&p, "a", NOW_MS);
    pace_take(&p,
              &(struct scan_outcome){
                  .end = TURN_SAID, .hash = { 1, 1, 0, 1 }, .wrote = true, .retry_after_ms = -1 },
              NOW_MS);
    for (int64_t now_ms = NOW_MS; now_ms < NOW_MS + HOUR_MS;) {
        now_ms = log_ms < p.next_ms ? log_ms : p.next_ms;
        if (now_ms == log_ms) {
            log_ms += PACE_WATCH_MS;
            pace_news(&p, now_ms);
        }
        if (now_ms < p.next_ms)
            continue;
        const struct inventory_hash seen = { (uint64_t) now_ms, 1, 0, (uint64_t) now_ms };
        enum turn_end verdict = pace_verdict(&p, &seen, now_ms);
        bool said = verdict == TURN_SAID;
        assert_in_range(now_ms - wrote_ms, said ? PACE_HOLDERS_MS : 0,
                        PACE_HOLDERS_MS + PACE_GAP_MS);
        wrote_ms = said ? now_ms : wrote_ms;
        writes += said;
        pace_take(&p,
                  &(struct scan_outcome){
                      .end = verdict, .hash = seen, .wrote = said, .retry_after_ms = -1 },
                  now_ms);
    }
    assert_in_range(writes, HOUR_MS / (PACE_HOLDERS_MS + PACE_GAP_MS), HOUR_MS / PACE_HOLDERS_MS);
}

/* Counts that grow use nothing of what holders may. */
static void check_counts_and_leavers(void **state)
{
    (void) state;
    struct pace p;
    int64_t now_ms = NOW_MS;
    struct inventory_hash seen = { 1, 1, 5, 1 };
    pace_init(&p, "a", now_ms);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(pace_verdict(&p, &seen, now_ms), TURN_SAID);
        pace_take(&p,
                  &(struct scan_outcome){
                      .end = TURN_SAID, .hash = seen, .wrote = true, .retry_after_ms = -1 },
                  now_ms);
        p.closed = true; /* they are written most often then */
        now_ms += PACE_CLOSED_MS;
        seen.all++;
        seen.counts++;
    }
    seen = (struct inventory_hash){ 100, 1, 4, p.hash.counts };
    assert_int_equal(pace_verdict(&p, &seen, p.wrote_ms + 1), TURN_SAID);
}

/* A thousand nodes that start together do not all look in the same second. */
static void check_spread(void **state)
{
    (void) state;
    unsigned seconds[PACE_START_MS / 1000] = { 0 };
    for (int i = 0; i < 1000; i++) {
        CLEANUP_FREE char *name = xasprintf("node-%d", i);
        struct pace p;
        pace_init(&p, name, 0);
        seconds[p.next_ms / 1000]++;
    }
    for (size_t i = 0; i < ARRAY_LEN(seconds); i++)
        assert_in_range(seconds[i], 60, 140);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "a hundred failures", check_many_failures, NULL);
    suite_add(&s, "a day at rest", check_day, NULL);
    suite_add(&s, "an hour of holders that leave", check_leavers, NULL);
    suite_add(&s, "an hour of faults", check_storm, NULL);
    suite_add(&s, "counts of faults and holders", check_counts_and_leavers, NULL);
    suite_add(&s, "a thousand nodes", check_spread, NULL);
    return suite_run(&s, "pace");
}
