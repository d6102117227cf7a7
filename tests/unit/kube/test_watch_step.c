#include "kube/watch_step.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

/* What the machine wants next, in words: "list", "list token", "stream from rv", "wait ms", with
 * "complete; " before it when the list is whole. */
static void next_text(const struct watch_state *s, const struct watch_next *next, struct buf *out)
{
    if (next->list_complete)
        buf_str(out, "complete; ");
    switch (next->what) {
    case WATCH_DO_NOTHING:
        buf_str(out, "nothing");
        break;
    case WATCH_DO_LIST:
        buf_printf(out, "list%s%s", s->token ? " " : "", s->token ? s->token : "");
        break;
    case WATCH_DO_STREAM:
        buf_printf(out, "stream from %s", s->rv);
        break;
    case WATCH_DO_WAIT:
        buf_printf(out, "wait %lld", (long long) next->delay_ms);
        break;
    }
}

/* One thing that happens, at a time in milliseconds, and what must come of it. The random number is
 * 0: no jitter. */
struct turn {
    const char *want; /* NULL ends the script */
    struct watch_input in;
};

/* clang-format off */
#define EVENT_AT(at, ev, want, after, ...) \
    { want, { .event = WATCH_##ev, .now_ms = at, .retry_after_ms = after, __VA_ARGS__ } }
#define STARTED(at, want) EVENT_AT(at, STARTED, want, -1)
#define PAGE(at, v, t, want) EVENT_AT(at, PAGE, want, -1, .rv = v, .token = t)
#define SEEN(at, v) EVENT_AT(at, SEEN, "nothing", -1, .rv = v)
#define CLOSED(at, want) EVENT_AT(at, CLOSED, want, -1)
#define FAILED(at, kind, want) EVENT_AT(at, FAILED, want, -1, .error = ERR_##kind)
#define THROTTLED(at, after, want) EVENT_AT(at, FAILED, want, after, .error = ERR_THROTTLED)
#define AGAIN(at) EVENT_AT(at, AGAIN, "list", -1)
#define DELAY_OVER(at, want) EVENT_AT(at, DELAY_OVER, want, -1)
/* clang-format on */
/* The usual beginning: listed at version 10, streaming since 1 s. */
#define LISTED STARTED(0, "list"), PAGE(1000, "10", NULL, "complete; stream from 10")

static const struct script {
    const char *name;
    struct turn turns[20];
} scripts[] = {
    { "a list, then a watch from the list's version", { LISTED } },
    { "events and bookmarks move the version on",
      { LISTED, SEEN(2000, "11"), SEEN(60000, "57"), CLOSED(400000, "stream from 57") } },
    { "a quiet watch that ends is opened again where it was",
      { LISTED, CLOSED(400000, "stream from 10"), CLOSED(800000, "stream from 10") } },
    { "an event without a version keeps the last one",
      { LISTED, SEEN(2000, "11"), SEEN(3000, NULL), SEEN(3000, ""),
        CLOSED(9000, "stream from 11") } },
    { "a paged list goes on with each page's token",
      { STARTED(0, "list"), PAGE(100, "10", "t1", "list t1"), PAGE(200, "10", "t2", "list t2"),
        PAGE(300, "10", NULL, "complete; stream from 10") } },
    { "an empty token ends a list",
      { STARTED(0, "list"), PAGE(100, "10", "t1", "list t1"),
        PAGE(200, "10", "", "complete; stream from 10") } },

    { "again, in a stream",
      { LISTED, AGAIN(2000), PAGE(2100, "12", NULL, "complete; stream from 12") } },
    { "again, between two pages: from the first",
      { STARTED(0, "list"), PAGE(100, "10", "t1", "list t1"), AGAIN(150),
        PAGE(200, "11", NULL, "complete; stream from 11") } },
    { "again, while it waits",
      { LISTED, FAILED(2000, SERVER, "wait 800"), AGAIN(2100),
        PAGE(2200, "12", NULL, "complete; stream from 12") } },
    { "gone in a stream: list at once",
      { LISTED, SEEN(2000, "11"), FAILED(300000, GONE, "list"),
        PAGE(301000, "90", NULL, "complete; stream from 90") } },
    { "gone when a stream is opened again: list at once",
      { LISTED, CLOSED(400000, "stream from 10"), FAILED(400010, GONE, "list") } },
    { "gone again right after the list: with care",
      { LISTED, FAILED(1010, GONE, "list"), PAGE(1100, "11", NULL, "complete; stream from 11"),
        FAILED(1110, GONE, "wait 800"), DELAY_OVER(1910, "list"),
        PAGE(2000, "12", NULL, "complete; stream from 12"), FAILED(2010, GONE, "wait 1600"),
        DELAY_OVER(3610, "list") } },
    { "gone after each first event: with care",
      { LISTED, SEEN(1005, "11"), FAILED(1010, GONE, "list"),
        PAGE(1100, "12", NULL, "complete; stream from 12"), SEEN(1105, "13"),
        FAILED(1110, GONE, "wait 800"), DELAY_OVER(1910, "list"),
        PAGE(2000, "14", NULL, "complete; stream from 14"), SEEN(2005, "15"),
        FAILED(2010, GONE, "wait 800") } },
    { "gone after a long time: at once again",
      { LISTED, FAILED(1010, GONE, "list"), PAGE(1100, "11", NULL, "complete; stream from 11"),
        FAILED(300000, GONE, "list") } },
    { "gone at the first page: with care",
      { STARTED(0, "list"), FAILED(100, GONE, "wait 800"), DELAY_OVER(900, "list") } },
    { "gone at a later page: from the first page, with care",
      { STARTED(0, "list"), PAGE(100, "10", "t1", "list t1"), PAGE(200, "10", "t2", "list t2"),
        FAILED(300, GONE, "wait 800"), DELAY_OVER(1100, "list"),
        PAGE(1200, "20", NULL, "complete; stream from 20") } },
    { "a list that fails between pages begins anew",
      { STARTED(0, "list"), PAGE(100, "10", "t1", "list t1"), FAILED(200, SERVER, "wait 800"),
        DELAY_OVER(1000, "list"), PAGE(1100, "12", NULL, "complete; stream from 12") } },
    { "a relist that fails does not go back to the old version",
      { LISTED, FAILED(5000, GONE, "list"), FAILED(5100, SERVER, "wait 800"),
        DELAY_OVER(5900, "list"), PAGE(6000, "20", NULL, "complete; stream from 20") } },

    { "a stream that fails goes on where it was",
      { LISTED, SEEN(2000, "11"), FAILED(3000, SERVER, "wait 800"),
        DELAY_OVER(3800, "stream from 11") } },
    { "a timeout goes on where it was",
      { LISTED, SEEN(2000, "11"), FAILED(305000, TIMEOUT, "wait 800"),
        DELAY_OVER(305800, "stream from 11") } },
    { "a timeout without a word may be the version's fault: list anew",
      { LISTED, SEEN(2000, "11"), FAILED(152000, TIMEOUT, "wait 800"),
        DELAY_OVER(152800, "stream from 11"), FAILED(302800, TIMEOUT, "wait 800"),
        DELAY_OVER(303600, "list"), PAGE(303700, "7", NULL, "complete; stream from 7") } },
    { "a version that the server does not take: list anew, with care",
      { LISTED, CLOSED(400000, "stream from 10"), FAILED(400010, INVALID, "wait 800"),
        DELAY_OVER(400810, "list"), PAGE(400900, "20", NULL, "complete; stream from 20") } },
    { "a list without a version is a failure",
      { STARTED(0, "list"), PAGE(100, NULL, NULL, "wait 800"), DELAY_OVER(900, "list"),
        PAGE(1000, "10", NULL, "complete; stream from 10") } },
    { "a missing right is asked for ever more seldom",
      { STARTED(0, "list"), FAILED(0, FORBIDDEN, "wait 800"), DELAY_OVER(800, "list"),
        FAILED(800, FORBIDDEN, "wait 1600"), DELAY_OVER(2400, "list"),
        FAILED(2400, FORBIDDEN, "wait 3200"), DELAY_OVER(5600, "list"),
        FAILED(5600, FORBIDDEN, "wait 6400"), DELAY_OVER(12000, "list"),
        FAILED(12000, FORBIDDEN, "wait 12800"), DELAY_OVER(24800, "list"),
        FAILED(24800, FORBIDDEN, "wait 25600"), DELAY_OVER(50400, "list"),
        FAILED(50400, FORBIDDEN, "wait 30000"), DELAY_OVER(80400, "list"),
        FAILED(80400, FORBIDDEN, "wait 30000") } },
    { "an unreachable server is asked at least every 2 s",
      { LISTED, FAILED(2000, UNREACHABLE, "wait 800"), DELAY_OVER(2800, "stream from 10"),
        FAILED(2800, UNREACHABLE, "wait 1600"), DELAY_OVER(4400, "stream from 10"),
        FAILED(4400, UNREACHABLE, "wait 2000"), DELAY_OVER(6400, "stream from 10"),
        FAILED(6400, UNREACHABLE, "wait 2000") } },
    { "another kind of failure begins with a short wait",
      { LISTED, FAILED(2000, SERVER, "wait 800"), DELAY_OVER(2800, "stream from 10"),
        FAILED(2800, SERVER, "wait 1600"), DELAY_OVER(4400, "stream from 10"),
        FAILED(4400, UNAUTHORIZED, "wait 800") } },
    { "what a stream brings ends a row of failures",
      { LISTED, FAILED(2000, SERVER, "wait 800"), DELAY_OVER(2800, "stream from 10"),
        SEEN(2900, "11"), FAILED(3000, SERVER, "wait 800") } },
    { "failures are forgotten after 2 minutes",
      { LISTED, FAILED(2000, SERVER, "wait 800"), DELAY_OVER(2800, "stream from 10"),
        FAILED(2900, SERVER, "wait 1600"), DELAY_OVER(4500, "stream from 10"),
        FAILED(122901, SERVER, "wait 800") } },
    { "failures within 2 minutes are not forgotten",
      { LISTED, FAILED(2000, SERVER, "wait 800"), DELAY_OVER(2800, "stream from 10"),
        FAILED(2900, SERVER, "wait 1600"), DELAY_OVER(4500, "stream from 10"),
        FAILED(122900, SERVER, "wait 3200") } },

    { "Retry-After is waited for",
      { LISTED, THROTTLED(2000, 7000, "wait 7000"), DELAY_OVER(9000, "stream from 10") } },
    { "Retry-After does not shorten a wait",
      { LISTED, THROTTLED(2000, 0, "wait 800"), DELAY_OVER(2800, "stream from 10"),
        THROTTLED(2800, 1000, "wait 1600") } },
    { "throttled without Retry-After",
      { STARTED(0, "list"), THROTTLED(100, -1, "wait 800"), DELAY_OVER(900, "list") } },

    { "a stream that ends at once without a word is a failure",
      { LISTED, CLOSED(1999, "wait 800"), DELAY_OVER(2799, "stream from 10"),
        CLOSED(2800, "wait 1600"), DELAY_OVER(4400, "stream from 10") } },
    { "a stream that lasted a second is none", { LISTED, CLOSED(2000, "stream from 10") } },
    { "a short stream that brought something is none",
      { LISTED, SEEN(1001, "11"), CLOSED(1002, "stream from 11") } },
    { "a short stream after one that brought something",
      { LISTED, SEEN(2000, "11"), CLOSED(3000, "stream from 11"), CLOSED(3001, "wait 800") } },
};

static void check_script(void **state)
{
    const struct script *script = *state;
    CLEANUP(watch_state_clear) struct watch_state s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(script->turns) && script->turns[i].want; i++) {
        const struct turn *turn = &script->turns[i];
        struct watch_next next = watch_step(&s, &turn->in);
        CLEANUP_BUF struct buf got = BUF_INIT(1000);
        next_text(&s, &next, &got);
        if (!str_eq(buf_text(&got), turn->want))
            fail_msg("turn %zu: \"%s\", not \"%s\"", i + 1, buf_text(&got), turn->want);
    }
}

static struct watch_next step(struct watch_state *s, enum watch_event event, const char *rv,
                              enum err_kind error, int64_t now_ms, uint32_t random)
{
    return watch_step(s, &(struct watch_input){ .event = event,
                                                .rv = rv,
                                                .error = error,
                                                .retry_after_ms = -1,
                                                .now_ms = now_ms,
                                                .random = random });
}

static void only_a_whole_list_counts_as_synced(void **state)
{
    (void) state;
    CLEANUP(watch_state_clear) struct watch_state s = { 0 };
    step(&s, WATCH_STARTED, NULL, ERR_NONE, 0, 0);
    watch_step(&s, &(struct watch_input){ .event = WATCH_PAGE, .rv = "10", .token = "t1" });
    assert_false(s.synced);
    step(&s, WATCH_PAGE, "10", ERR_NONE, 0, 0);
    assert_true(s.synced);
    step(&s, WATCH_FAILED, NULL, ERR_GONE, 5000, 0);
    assert_true(s.synced);
}

static void waits_are_jittered_to_less_than_twice(void **state)
{
    (void) state;
    int64_t least = INT64_MAX, most = 0;
    for (uint32_t random = 0; random < 2000; random++) {
        CLEANUP(watch_state_clear) struct watch_state s = { 0 };
        int64_t delay = step(&s, WATCH_FAILED, NULL, ERR_SERVER, 0, random * 2654435761u).delay_ms;
        least = delay < least ? delay : least;
        most = delay > most ? delay : most;
    }
    assert_in_range(least, 800, 810);
    assert_in_range(most, 1590, 1599);
}

static void watches_last_five_to_ten_minutes(void **state)
{
    (void) state;
    int least = INT32_MAX, most = 0;
    for (uint32_t random = 0; random < 2000; random++) {
        CLEANUP(watch_state_clear) struct watch_state s = { 0 };
        int timeout_s = step(&s, WATCH_PAGE, "10", ERR_NONE, 0, random * 2654435761u).timeout_s;
        least = timeout_s < least ? timeout_s : least;
        most = timeout_s > most ? timeout_s : most;
    }
    assert_int_equal(least, 300);
    assert_int_equal(most, 599);
}

static void version_without_end_is_not_kept(void **state)
{
    (void) state;
    char rv[1000];
    memset(rv, '9', sizeof rv - 1);
    rv[sizeof rv - 1] = '\0';
    CLEANUP(watch_state_clear) struct watch_state s = { 0 };
    step(&s, WATCH_STARTED, NULL, ERR_NONE, 0, 0);
    step(&s, WATCH_PAGE, "10", ERR_NONE, 0, 0);
    step(&s, WATCH_SEEN, rv, ERR_NONE, 5, 0);
    /* A version that does not fit is not kept in part: a part is another version. */
    assert_string_equal(s.rv, "10");
}

static void year_of_nothing_costs_one_list(void **state)
{
    (void) state;
    CLEANUP(watch_state_clear) struct watch_state s = { 0 };
    const int64_t year_ms = 365LL * 24 * 3600 * 1000;
    step(&s, WATCH_STARTED, NULL, ERR_NONE, 0, 0);
    struct watch_next next = step(&s, WATCH_PAGE, "1", ERR_NONE, 0, 0);
    int64_t now_ms = 0;
    for (uint64_t rv = 2; now_ms < year_ms; rv++) {
        char text[32];
        snprintf(text, sizeof text, "%llu", (unsigned long long) rv);
        step(&s, WATCH_SEEN, text, ERR_NONE, now_ms + 60000, 0); /* a bookmark */
        now_ms += next.timeout_s * 1000LL;
        next = step(&s, WATCH_CLOSED, NULL, ERR_NONE, now_ms, (uint32_t) rv * 2654435761u);
        assert_int_equal(next.what, WATCH_DO_STREAM);
        assert_string_equal(s.rv, text);
    }
}

static void year_without_a_server_keeps_its_pace(void **state)
{
    (void) state;
    CLEANUP(watch_state_clear) struct watch_state s = { 0 };
    const int64_t year_ms = 365LL * 24 * 3600 * 1000;
    int64_t now_ms = 0;
    step(&s, WATCH_STARTED, NULL, ERR_NONE, 0, 0);
    while (now_ms < year_ms) {
        struct watch_next next = step(&s, WATCH_FAILED, NULL, ERR_SERVER, now_ms,
                                      (uint32_t) now_ms);
        assert_int_equal(next.what, WATCH_DO_WAIT);
        assert_in_range(next.delay_ms, 800, 59999);
        now_ms += next.delay_ms;
        assert_int_equal(step(&s, WATCH_DELAY_OVER, NULL, ERR_NONE, now_ms, 0).what, WATCH_DO_LIST);
    }
}

/* ---- Any order of things that can happen: a server made of chance, and what must hold whatever it
 * does. */

static uint64_t chance_state;

/* xorshift64: the same row of numbers from the same seed, everywhere. */
static uint32_t chance(uint32_t below)
{
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return (uint32_t) (chance_state >> 32) % below;
}

static const enum err_kind failures[] = { ERR_GONE,      ERR_GONE,         ERR_INVALID,
                                          ERR_FORBIDDEN, ERR_UNAUTHORIZED, ERR_NOT_FOUND,
                                          ERR_SERVER,    ERR_UNREACHABLE,  ERR_TIMEOUT,
                                          ERR_TOO_LARGE, ERR_THROTTLED };

/* What the driver would have under way, and what the server has told so far. */
struct world {
    struct watch_state s;
    struct watch_next next; /* what the machine asked for */
    int64_t now_ms;
    int rv;
    char last_rv[RV_TEXT_MAX];
    char text[2][RV_TEXT_MAX]; /* version and token of the input */
};

static void fail_somehow(struct world *w, struct watch_input *in)
{
    in->event = WATCH_FAILED;
    in->error = failures[chance(ARRAY_LEN(failures))];
    in->retry_after_ms = in->error == ERR_THROTTLED && chance(2) ? (int64_t) chance(20) * 1000 : -1;
    w->now_ms += chance(2000);
}

/* Something that can happen to what is under way. */
static struct watch_input something(struct world *w)
{
    struct watch_input in = { .retry_after_ms = -1, .random = chance(UINT32_MAX) };
    snprintf(w->text[0], RV_TEXT_MAX, "%d", w->rv += 1 + (int) chance(3));
    snprintf(w->text[1], RV_TEXT_MAX, "t%d", w->rv);
    switch (w->next.what) {
    case WATCH_DO_WAIT:
        in.event = WATCH_DELAY_OVER;
        w->now_ms += w->next.delay_ms;
        break;
    case WATCH_DO_LIST:
        if (chance(4) == 0) {
            fail_somehow(w, &in);
            break;
        }
        in.event = WATCH_PAGE;
        in.rv = w->text[0];
        in.token = chance(2) ? w->text[1] : NULL;
        break;
    case WATCH_DO_STREAM:
    case WATCH_DO_NOTHING: /* the stream goes on */
        in.event = chance(3) ? WATCH_SEEN : WATCH_CLOSED;
        in.rv = in.event == WATCH_SEEN ? w->text[0] : NULL;
        w->now_ms += chance(2) ? chance(3) : chance(400000);
        if (chance(4) == 0)
            fail_somehow(w, &in);
        break;
    }
    in.now_ms = w->now_ms;
    return in;
}

/* What the version to go on from must be after this. */
static void follow(struct world *w, const struct watch_input *in)
{
    bool whole = in->event == WATCH_PAGE && !in->token;
    if (in->event == WATCH_SEEN || whole)
        snprintf(w->last_rv, sizeof w->last_rv, "%s", in->rv);
    bool silent = w->next.what == WATCH_DO_STREAM && in->error == ERR_TIMEOUT;
    if (in->event == WATCH_FAILED && (in->error == ERR_GONE || w->next.what == WATCH_DO_LIST ||
                                      in->error == ERR_INVALID || silent))
        w->last_rv[0] = '\0';
}

static void check_turn(const struct world *w, const struct watch_input *in,
                       const struct watch_next *next)
{
    assert_int_equal(next->list_complete, in->event == WATCH_PAGE && !in->token);
    assert_int_equal(next->what == WATCH_DO_NOTHING, in->event == WATCH_SEEN);
    switch (next->what) {
    case WATCH_DO_NOTHING:
        assert_int_equal(w->s.phase, WATCH_STREAMING);
        break;
    case WATCH_DO_WAIT:
        assert_in_range(next->delay_ms, 800, 60000);
        assert_int_not_equal(in->event, WATCH_DELAY_OVER);
        assert_int_equal(w->s.phase, WATCH_WAITING);
        break;
    /* the next page only after a page; the first only without a version to go on from */
    case WATCH_DO_LIST:
        assert_int_equal(w->s.token != NULL, in->event == WATCH_PAGE);
        if (!w->s.token)
            assert_string_equal(w->last_rv, "");
        assert_int_equal(w->s.phase, WATCH_LISTING);
        break;
    case WATCH_DO_STREAM: /* exactly from what was seen last */
        assert_true(w->s.synced);
        assert_string_not_equal(w->s.rv, "");
        assert_string_equal(w->s.rv, w->last_rv);
        assert_in_range(next->timeout_s, 300, 599);
        assert_int_equal(w->s.phase, WATCH_STREAMING);
        break;
    }
}

static void any_history_keeps_the_rules(void **state)
{
    (void) state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        chance_state = seed * 0x9E3779B97F4A7C15ULL;
        struct world w = { .rv = 1 };
        int64_t first_list_ms = INT64_MIN / 2, lists_in_minute = 0;
        w.next = step(&w.s, WATCH_STARTED, NULL, ERR_NONE, 0, 0);
        for (int i = 0; i < 1000; i++) {
            struct watch_input in = something(&w);
            follow(&w, &in);
            w.next = watch_step(&w.s, &in);
            check_turn(&w, &in, &w.next);
            if (w.next.what == WATCH_DO_LIST && !w.s.token) {
                if (w.now_ms - first_list_ms > 60000) {
                    first_list_ms = w.now_ms;
                    lists_in_minute = 0;
                }
                /* Whatever the server says, it is never asked for everything more often than once
                 * in 0.8 s on the average. */
                assert_true(++lists_in_minute <= 2 + 60000 / 800);
            }
        }
        watch_state_clear(&w.s);
    }
}

/* From wherever a history has got to, a server that works again leads to a stream in a few turns.
 */
static void every_state_recovers(void **state)
{
    (void) state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        chance_state = seed * 0x9E3779B97F4A7C15ULL;
        struct world w = { .rv = 1 };
        w.next = step(&w.s, WATCH_STARTED, NULL, ERR_NONE, 0, 0);
        for (uint32_t i = chance(60); i > 0; i--) {
            struct watch_input in = something(&w);
            w.next = watch_step(&w.s, &in);
        }
        if (w.next.what == WATCH_DO_STREAM || w.next.what == WATCH_DO_NOTHING)
            w.next = step(&w.s, WATCH_FAILED, NULL, ERR_GONE, w.now_ms, 0);
        if (w.next.what == WATCH_DO_WAIT)
            w.next = step(&w.s, WATCH_DELAY_OVER, NULL, ERR_NONE, w.now_ms + w.next.delay_ms, 0);
        if (w.next.what == WATCH_DO_LIST)
            w.next = step(&w.s, WATCH_PAGE, "999999", ERR_NONE, w.now_ms, 0);
        assert_int_equal(w.next.what, WATCH_DO_STREAM);
        watch_state_clear(&w.s);
    }
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_script, scripts);
    suite_add(&s, "only a whole list counts as synced, and then for ever",
              only_a_whole_list_counts_as_synced, NULL);
    suite_add(&s, "waits are jittered to less than twice their length",
              waits_are_jittered_to_less_than_twice, NULL);
    suite_add(&s, "watches last five to ten minutes", watches_last_five_to_ten_minutes, NULL);
    suite_add(&s, "a version without end is not kept in part", version_without_end_is_not_kept,
              NULL);
    suite_add(&s, "a year of nothing costs one list", year_of_nothing_costs_one_list, NULL);
    suite_add(&s, "a year without a server keeps its pace", year_without_a_server_keeps_its_pace,
              NULL);
    suite_add(&s, "any history keeps the rules", any_history_keeps_the_rules, NULL);
    suite_add(&s, "every state recovers", every_state_recovers, NULL);
    return suite_run(&s, "watch_step");
}
