#include "runtime/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tests/unit/support/chance.h"
#include "tests/unit/support/suite.h"

/* One thing that happens at a time (ms): "add K", "at K MS", "take K" ("take -": nothing is due),
 * "done K", "fail K", "fail K RETRY_AFTER", "back K" (it is put back), "parked K MS", "overtaken
 * K", "due MS" (the queue's deadline), "depth N", "failures K N". */
struct turn {
    int64_t now;
    const char *line;
};

static const struct script {
    const char *name;
    struct turn turns[24];
} scripts[] = {
    { "nothing is in an empty queue", { { 0, "take -" }, { 0, "depth 0" }, { 0, "due never" } } },
    { "keys come in the order in which they were added",
      { { 0, "add a" },
        { 0, "add b" },
        { 0, "due now" },
        { 0, "depth 2" },
        { 0, "take a" },
        { 0, "take b" },
        { 0, "take -" } } },
    { "a key that is there already is there once",
      { { 0, "add a" },
        { 0, "add b" },
        { 0, "add a" },
        { 0, "depth 2" },
        { 0, "take a" },
        { 0, "take b" },
        { 0, "take -" } } },
    { "a key that is worked on is not given out again",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "add a" },
        { 0, "depth 0" },
        { 0, "take -" },
        { 0, "due never" } } },
    { "added while it is worked on, it is due again afterwards, once",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "add a" },
        { 0, "add a" },
        { 0, "done a" },
        { 0, "take a" },
        { 0, "done a" },
        { 0, "take -" } } },
    { "done without more, it is forgotten",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "done a" },
        { 0, "take -" },
        { 0, "due never" },
        { 0, "done a" } } },

    { "a delayed key is due at its time",
      { { 0, "at a 100" }, { 0, "due 100" }, { 99, "take -" }, { 100, "take a" } } },
    { "the earlier time wins, set later",
      { { 0, "at a 100" },
        { 0, "at a 50" },
        { 50, "take a" },
        { 50, "done a" },
        { 100, "take -" } } },
    { "the earlier time wins, set first",
      { { 0, "at a 50" },
        { 0, "at a 100" },
        { 50, "take a" },
        { 50, "done a" },
        { 100, "take -" } } },
    { "due now beats a delay",
      { { 0, "at a 100" },
        { 0, "add a" },
        { 0, "take a" },
        { 0, "done a" },
        { 100, "take -" },
        { 0, "due never" } } },
    { "due now already, a delay adds nothing",
      { { 0, "add a" }, { 0, "at a 100" }, { 0, "take a" }, { 0, "done a" }, { 100, "take -" } } },
    { "delayed while it is worked on, it comes back then",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "at a 100" },
        { 1, "done a" },
        { 99, "take -" },
        { 100, "take a" } } },
    { "a delay that ends while it is worked on waits for the end",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "at a 100" },
        { 150, "take -" },
        { 150, "due never" },
        { 200, "done a" },
        { 200, "take a" } } },
    { "delayed keys that are due come in the order of their times, after what is due",
      { { 0, "at c 30" },
        { 0, "at b 20" },
        { 0, "add a" },
        { 50, "take a" },
        { 50, "take b" },
        { 50, "take c" } } },
    { "a delay far in the past is due", { { 100, "at a -5" }, { 100, "take a" } } },

    { "a failure comes back after 5 ms, then twice that",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "fail a" },
        { 0, "due 5" },
        { 4, "take -" },
        { 5, "take a" },
        { 5, "fail a" },
        { 5, "due 15" },
        { 15, "take a" },
        { 15, "fail a" },
        { 15, "due 35" },
        { 15, "failures a 3" } } },
    { "a success ends a row of failures",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "fail a" },
        { 5, "take a" },
        { 5, "fail a" },
        { 15, "take a" },
        { 15, "done a" },
        { 15, "failures a 0" },
        { 20, "add a" },
        { 20, "take a" },
        { 20, "fail a" },
        { 20, "due 25" } } },
    { "each key has failures of its own",
      { { 0, "add a" },
        { 0, "add b" },
        { 0, "take a" },
        { 0, "take b" },
        { 0, "fail a" },
        { 0, "done b" },
        { 0, "failures a 1" },
        { 0, "failures b 0" } } },
    { "an add does not wait for the backoff",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "fail a" },
        { 1, "add a" },
        { 1, "take a" },
        { 1, "fail a" },
        { 1, "due 11" } } },
    { "added while it is worked on, it does not wait for the backoff either",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "add a" },
        { 0, "fail a" },
        { 0, "due now" },
        { 0, "take a" },
        { 0, "fail a" },
        { 0, "due 10" } } },
    { "delayed while it is worked on, a failure does not put that off",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "at a 3" },
        { 0, "fail a" },
        { 0, "due 3" },
        { 3, "take a" },
        { 3, "done a" },
        { 100, "take -" } } },

    { "Retry-After is waited for",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "fail a 7000" },
        { 0, "due 7000" },
        { 6999, "take -" },
        { 7000, "take a" } } },
    { "Retry-After does not shorten the backoff",
      { { 0, "add a" }, { 0, "take a" }, { 0, "fail a 1" }, { 0, "due 5" } } },
    { "a parked key that was added meanwhile is due at once, still parked",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "add a" },
        { 0, "fail a 7000" },
        { 0, "due now" },
        { 0, "parked a 7000" } } },
    { "a parked key that is added is due at once, still parked",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "fail a 7000" },
        { 5, "add a" },
        { 5, "due now" },
        { 5, "parked a 7000" } } },
    { "a parked key that is put back is due when the server wants it, with its failures",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "fail a 7000" },
        { 5, "add a" },
        { 5, "take a" },
        { 5, "back a" },
        { 5, "due 7000" },
        { 5, "failures a 1" },
        { 5, "parked a 7000" },
        { 7000, "take a" } } },
    { "added while it is looked at and put back, a parked key waits all the same",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "fail a 7000" },
        { 5, "add a" },
        { 5, "take a" },
        { 5, "add a" },
        { 5, "back a" },
        { 5, "due 7000" } } },
    { "however often it failed, a parked key that was put back comes back when the server wants it",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "fail a" },
        { 5, "take a" },
        { 5, "fail a" },
        { 15, "take a" },
        { 15, "fail a" },
        { 35, "take a" },
        { 35, "fail a" },
        { 75, "take a" },
        { 75, "fail a" },
        { 155, "take a" },
        { 155, "add a" },
        { 155, "fail a 100" },
        { 155, "take a" },
        { 155, "back a" },
        { 155, "due 255" } } },
    { "a key that succeeded is no longer parked",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "fail a 7000" },
        { 5, "add a" },
        { 5, "take a" },
        { 5, "done a" },
        { 5, "parked a 0" } } },
    { "overtaken, a key waits for what others wrote, which adds it",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "overtaken a" },
        { 0, "due 250" },
        { 3, "take -" },
        { 3, "add a" },
        { 3, "take a" },
        { 3, "done a" },
        { 250, "take -" } } },
    { "overtaken, a key that was added meanwhile is due at once",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "add a" },
        { 0, "overtaken a" },
        { 0, "due now" },
        { 0, "failures a 1" } } },
    { "overtaken and not added again, a key comes back",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "overtaken a" },
        { 249, "take -" },
        { 250, "take a" } } },
    { "overtaken again and again, a key comes back by its backoff",
      { { 0, "add a" },
        { 0, "take a" },
        { 0, "fail a" },
        { 5, "take a" },
        { 5, "fail a" },
        { 15, "take a" },
        { 15, "fail a" },
        { 35, "take a" },
        { 35, "fail a" },
        { 75, "take a" },
        { 75, "fail a" },
        { 155, "take a" },
        { 155, "fail a" },
        { 315, "take a" },
        { 315, "fail a" },
        { 635, "take a" },
        { 635, "overtaken a" },
        { 635, "due 1275" } } },
    { "what a server asked for one key is not asked of another",
      { { 0, "add a" }, { 0, "take a" }, { 0, "fail a 7000" }, { 0, "add b" }, { 0, "take b" } } },
};

static int64_t number(const char *s)
{
    return str_eq(s, "never") ? INT64_MAX : str_eq(s, "now") ? INT64_MIN : strtoll(s, NULL, 10);
}

static void happen(struct queue *q, const struct turn *turn)
{
    char what[16] = "", key[16] = "", arg[16] = "";
    int words = sscanf(turn->line, "%15s %15s %15s", what, key, arg);
    if (str_eq(what, "add"))
        queue_add(q, key);
    else if (str_eq(what, "at"))
        queue_add_at(q, key, number(arg));
    else if (str_eq(what, "take"))
        assert_string_equal(str_eq(key, "-") ? "-" : key,
                            queue_deadline(q) <= turn->now ? queue_take(q, turn->now) ?: "-" : "-");
    else if (str_eq(what, "done"))
        queue_done(q, key, QUEUE_WELL, -1, turn->now);
    else if (str_eq(what, "fail"))
        queue_done(q, key, QUEUE_FAILED, words == 3 ? number(arg) : -1, turn->now);
    else if (str_eq(what, "back"))
        queue_put_back(q, key);
    else if (str_eq(what, "parked"))
        assert_int_equal(queue_parked_until(q, key), number(arg));
    else if (str_eq(what, "overtaken"))
        queue_done(q, key, QUEUE_OVERTAKEN, -1, turn->now);
    else if (str_eq(what, "due"))
        assert_int_equal(queue_deadline(q), number(key));
    else if (str_eq(what, "depth"))
        assert_int_equal(q->depth, number(key));
    else if (str_eq(what, "failures"))
        assert_int_equal(queue_failures(q, key), number(arg));
    else
        fail_msg("what is \"%s\"?", what);
}

static void check(void **state)
{
    const struct script *script = *state;
    struct queue q = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(script->turns) && script->turns[i].line; i++)
        happen(&q, &script->turns[i]);
    queue_clear(&q);
}

static void backoff_grows_to_1000_s(void **state)
{
    (void) state;
    struct queue q = { 0 };
    int64_t now = 0, want = 5;
    queue_add(&q, "a");
    for (int i = 1; i <= 100; i++) {
        assert_string_equal(queue_take(&q, now), "a");
        queue_done(&q, "a", QUEUE_FAILED, -1, now);
        assert_int_equal(queue_deadline(&q) - now, want);
        assert_int_equal(queue_failures(&q, "a"), i);
        now = queue_deadline(&q);
        want = want * 2 < 1000000 ? want * 2 : 1000000;
    }
    assert_int_equal(want, 1000000);
    assert_int_equal(q.retries, 100);
    queue_clear(&q);
}

static void key_is_copied(void **state)
{
    (void) state;
    struct queue q = { 0 };
    char key[] = "a";
    queue_add(&q, key);
    key[0] = 'b';
    assert_string_equal(queue_take(&q, 0), "a");
    queue_clear(&q);
}

static void forgotten_keys_take_no_memory(void **state)
{
    (void) state;
    struct queue q = { 0 };
    for (int i = 0; i < 1000; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        queue_add(&q, key);
        queue_take(&q, 0);
        queue_done(&q, key, QUEUE_WELL, -1, 0);
    }
    assert_int_equal(q.items.len, 0);
    queue_clear(&q);
}

/* ---- Any history, against a list of keys that says the same in the plainest words. */

enum { KEYS = 12, STEPS = 3000, SEEDS = 40 };

struct model_key {
    char name[8];
    bool queued, working, dirty;
    int64_t since; /* since when it is due: its place in the order */
    int64_t at;    /* when it comes back; INT64_MAX: not by time */
    int failures;
    int64_t parked; /* until when; 0: it is not */
};

struct model {
    struct model_key keys[KEYS];
    int64_t clock; /* counts what becomes due */
    int64_t now;
};

static void model_add(struct model *m, struct model_key *k)
{
    k->dirty |= k->working;
    if (k->working)
        return;
    k->at = INT64_MAX;
    if (!k->queued)
        k->queued = true, k->since = m->clock++;
}

static void model_add_at(struct model_key *k, int64_t at)
{
    if (!k->queued && at < k->at)
        k->at = at;
}

static struct model_key *model_take(struct model *m)
{
    for (;;) { /* what the clock has brought, the earliest first; times differ by construction */
        struct model_key *first = NULL;
        for (size_t i = 0; i < KEYS; i++)
            if (m->keys[i].at <= m->now && (!first || m->keys[i].at < first->at))
                first = &m->keys[i];
        if (!first)
            break;
        first->at = INT64_MAX;
        model_add(m, first);
    }
    struct model_key *next = NULL;
    for (size_t i = 0; i < KEYS; i++)
        if (m->keys[i].queued && (!next || m->keys[i].since < next->since))
            next = &m->keys[i];
    if (next)
        next->queued = false, next->working = true;
    return next;
}

static int64_t model_done(struct model *m, struct model_key *k, bool failed, int64_t retry_after)
{
    bool again = k->dirty;
    k->working = k->dirty = false;
    k->failures = failed ? k->failures + 1 : 0;
    k->parked = failed && retry_after > 0 ? m->now + retry_after : 0;
    int64_t wait = 5;
    for (int i = 1; i < k->failures && wait < 1000000; i++)
        wait *= 2;
    wait = wait > 1000000 ? 1000000 : wait;
    wait = retry_after > wait ? retry_after : wait;
    if (again)
        model_add(m, k);
    else if (failed)
        model_add_at(k, m->now + wait);
    return wait;
}

/* Times that no two keys share, so that the order is one: the key's number decides. */
static int64_t time_for(struct model *m, size_t i, uint32_t spread)
{
    return (m->now + (int64_t) spread) / KEYS * KEYS + (int64_t) i;
}

static void step(struct model *m, struct queue *q, struct chance *chance)
{
    size_t i = chance_below(chance, KEYS);
    struct model_key *k = &m->keys[i];
    switch (chance_below(chance, 5)) {
    case 0:
        queue_add(q, k->name);
        model_add(m, k);
        break;
    case 1: {
        int64_t at = time_for(m, i, chance_below(chance, 500));
        queue_add_at(q, k->name, at);
        model_add_at(k, at);
        break;
    }
    case 2:
    case 3: {
        const struct model_key *want = model_take(m);
        const char *got = queue_take(q, m->now);
        assert_string_equal(got ? got : "-", want ? want->name : "-");
        break;
    }
    case 4:
        if (k->working && k->parked && chance_below(chance, 2)) {
            queue_put_back(q, k->name);
            k->working = k->dirty = false;
            model_add_at(k, k->parked);
        } else if (k->working) {
            bool failed = chance_below(chance, 2);
            /* A time of this key's own, later than any backoff; none only where the key is due at
             * once anyway. */
            bool at_once = !failed || (k->dirty && chance_below(chance, 2));
            int64_t retry_after = at_once ? -1 : time_for(m, i, 2000000) - m->now;
            queue_done(q, k->name, failed ? QUEUE_FAILED : QUEUE_WELL, retry_after, m->now);
            model_done(m, k, failed, retry_after);
        }
        break;
    }
}

static void compare(const struct model *m, const struct queue *q)
{
    size_t queued = 0;
    int64_t deadline = INT64_MAX;
    for (size_t i = 0; i < KEYS; i++) {
        const struct model_key *k = &m->keys[i];
        queued += k->queued;
        deadline = k->at < deadline ? k->at : deadline;
        assert_int_equal(queue_failures(q, k->name), k->failures);
        assert_int_equal(queue_parked_until(q, k->name), k->parked);
    }
    assert_int_equal(q->depth, queued);
    assert_int_equal(queue_deadline(q), queued ? INT64_MIN : deadline);
}

static void any_history_is_that_of_a_plain_list(void **state)
{
    (void) state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct chance chance = chance_of(seed);
        struct queue q = { 0 };
        struct model m = { .now = 1000 };
        for (size_t i = 0; i < KEYS; i++) {
            m.keys[i].at = INT64_MAX;
            snprintf(m.keys[i].name, sizeof m.keys[i].name, "k%zu", i);
        }
        for (int n = 0; n < STEPS; n++) {
            m.now += chance_below(&chance, 3) ? 0 : chance_below(&chance, n % 500 ? 100 : 3000000);
            step(&m, &q, &chance);
            compare(&m, &q);
        }
        queue_clear(&q);
    }
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, scripts);
    suite_add(&s, "the backoff grows from 5 ms to 1000 s and stays there", backoff_grows_to_1000_s,
              NULL);
    suite_add(&s, "a key is copied", key_is_copied, NULL);
    suite_add(&s, "forgotten keys take no memory", forgotten_keys_take_no_memory, NULL);
    suite_add(&s, "any history is that of a plain list", any_history_is_that_of_a_plain_list, NULL);
    return suite_run(&s, "queue");
}
