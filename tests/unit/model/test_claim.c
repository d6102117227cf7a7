#include "reconcilers/model/claim.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

static const struct claim whole = {
    .policy = "0b7c-1", .generation = 3, .kind = CLAIM_ROLLBACK, .phase = CLAIM_FAILED, .since_s = 1795168800,
        .claimed_s = 1795168000,
    .attempt = 2, .gpus = 8, .driver = "abcdefghij", .stack = "0123456789", .from_driver = "", .from_stack = "old",
    .reason = "ImagePullBackOff",
};

static const char whole_text[] =
    "{\"v\":1,\"policy\":\"0b7c-1\",\"generation\":3,\"kind\":\"Rollback\",\"phase\":\"Failed\","
    "\"since\":\"2026-11-20T10:00:00Z\","
    "\"claimed\":\"2026-11-20T09:46:40Z\",\"attempt\":2,\"gpus\":8,\"driver\":\"abcdefghij\",\"stack\":\"0123456789\","
    "\"fromDriver\":\"\",\"fromStack\":\"old\",\"reason\":\"ImagePullBackOff\"}";

static void check_text(void **state)
{
    (void) state;
    CLEANUP_FREE char *text = claim_text(&whole);
    assert_string_equal(text, whole_text);
}

/* A claim's text says all of it. */
static void assert_same(const struct claim *a, const struct claim *b)
{
    CLEANUP_FREE char *one = claim_text(a), *other = claim_text(b);
    assert_string_equal(one, other);
}

static void check_all_phases(void **state)
{
    (void) state;
    for (int p = 0; p < CLAIM_PHASE_COUNT; p++) {
        struct claim c = whole, back;
        c.phase = (enum claim_phase) p;
        c.kind = CLAIM_UPGRADE;
        if (c.phase != CLAIM_FAILED)
            *c.reason = '\0';
        CLEANUP_FREE char *text = claim_text(&c);
        assert_true(claim_parse(text, &back, NULL));
        assert_same(&c, &back);
    }
}

/* ---- what is no claim: one member of the text above changed (NULL: taken out), or another text */

static const struct bad_row {
    const char *name, *member, *value, *why;
} bad_rows[] = {
    { "newer: a higher version", "v", "2", "a newer version of Ostler wrote it" },
    { "v: none", "v", NULL, "it lacks a member, or has one too many" },
    { "v: a text", "v", "\"1\"", "it lacks a member, or has one too many" },
    { "v: before the first", "v", "0", "it lacks a member, or has one too many" },
    { "a member that nobody knows", "more", "1", "it lacks a member, or has one too many" },
    { "policy: empty", "policy", "\"\"", "a member of it has a value that Ostler does not write" },
    { "policy: with a quote", "policy", "\"a'b\"", "a member of it has a value that Ostler does not write" },
    { "policy: 64 letters", "policy", "\"0123456789012345678901234567890123456789012345678901234567890123\"",
      "a member of it has a value that Ostler does not write" },
    { "generation: negative", "generation", "-1", "a member of it has a value that Ostler does not write" },
    { "generation: a fraction", "generation", "1.5", "a member of it has a value that Ostler does not write" },
    { "kind: another", "kind", "\"Downgrade\"", "a member of it has a value that Ostler does not write" },
    { "phase: another", "phase", "\"failed\"", "a member of it has a value that Ostler does not write" },
    { "phase: a number", "phase", "3", "a member of it has a value that Ostler does not write" },
    { "since: no time", "since", "\"now\"", "a member of it has a value that Ostler does not write" },
    { "since: with a fraction", "since", "\"2026-11-20T10:00:00.5Z\"", "a member of it has a value that Ostler does not write" },
    { "claimed: before 1970", "claimed", "\"1969-11-20T10:00:00Z\"", "a member of it has a value that Ostler does not write" },
    { "attempt: none", "attempt", "0", "a member of it has a value that Ostler does not write" },
    { "attempt: too many", "attempt", "1000001", "a member of it has a value that Ostler does not write" },
    { "gpus: negative", "gpus", "-1", "a member of it has a value that Ostler does not write" },
    { "gpus: true", "gpus", "true", "a member of it has a value that Ostler does not write" },
    { "driver: too long", "driver", "\"abcdefghijk\"", "a member of it has a value that Ostler does not write" },
    { "stack: with a slash", "stack", "\"a/b\"", "a member of it has a value that Ostler does not write" },
    { "stack: null", "stack", "null", "a member of it has a value that Ostler does not write" },
    { "reason: two words", "reason", "\"Two words\"", "a member of it has a value that Ostler does not write" },
    { "reason: none though it failed", "reason", "\"\"", "its reason does not fit its phase" },
    { "reason: one though it did not fail", "phase", "\"Draining\"", "its reason does not fit its phase" },
};

static void check_bad(void **state)
{
    const struct bad_row *row = *state;
    CLEANUP_JSON json_t *said = json_parse(whole_text, strlen(whole_text), NULL);
    if (row->value)
        json_object_set_new(said, row->member, json_loads(row->value, JSON_DECODE_ANY, NULL));
    else
        json_object_del(said, row->member);
    CLEANUP_FREE char *text = json_compact(said);
    const char *why = NULL;
    struct claim c = whole;
    assert_false(claim_parse(text, &c, &why));
    assert_string_equal(why, row->why);
    assert_same(&c, &whole);
}

static const struct text_row {
    const char *name, *text, *why;
} text_rows[] = {
    { "text: empty", "", "it is not JSON" },
    { "text: a word", "mine", "it is not JSON" },
    { "text: a list", "[1]", "it is no JSON object" },
    { "text: an empty object", "{}", "it lacks a member, or has one too many" },
    { "text: newer, and unlike this one", "{\"v\":7}", "a newer version of Ostler wrote it" },
};

static void check_text_row(void **state)
{
    const struct text_row *row = *state;
    const char *why = NULL;
    struct claim c;
    assert_false(claim_parse(row->text, &c, &why));
    assert_string_equal(why, row->why);
}

static void check_length(void **state)
{
    (void) state;
    char text[CLAIM_TEXT_MAX + sizeof whole_text];
    const char *why = NULL;
    struct claim c;
    memset(text, ' ', CLAIM_TEXT_MAX);
    memcpy(text + CLAIM_TEXT_MAX, whole_text, sizeof whole_text);
    assert_false(claim_parse(text, &c, &why));
    assert_string_equal(why, "it is too long");
    /* as long as may be */
    assert_true(claim_parse(text + sizeof whole_text, &c, &why));
    assert_null(why);
}

/* ---- what follows from one */

static void check_questions(void **state)
{
    (void) state;
    struct claim c = whole;
    assert_true(claim_closes(&c));
    memcpy(c.reason, CLAIM_DRAIN_TIMEOUT, sizeof CLAIM_DRAIN_TIMEOUT);
    assert_false(claim_closes(&c));
    assert_true(claim_moves_driver(&c));
    memcpy(c.from_driver, c.driver, sizeof c.driver);
    assert_false(claim_moves_driver(&c));
    assert_true(claim_phase_has_slot(CLAIM_DRAINING));
    assert_false(claim_phase_has_slot(CLAIM_WAITING));
    assert_string_equal(claim_kind_name(CLAIM_UPGRADE), "Upgrade");
    assert_string_equal(claim_phase_name(CLAIM_VALIDATING), "Validating");
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a claim as text", check_text, NULL);
    suite_add(&s, "the text of each phase is read as it was written", check_all_phases, NULL);
    SUITE_ROWS(&s, check_bad, bad_rows);
    SUITE_ROWS(&s, check_text_row, text_rows);
    suite_add(&s, "text: too long", check_length, NULL);
    suite_add(&s, "what a claim says of its node", check_questions, NULL);
    return suite_run(&s, "claim");
}
