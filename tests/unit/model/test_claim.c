#include "reconcilers/model/claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

static const struct claim whole = {
    .policy = "0b7c-1",
    .generation = 3,
    .kind = CLAIM_ROLLBACK,
    .phase = CLAIM_FAILED,
    .since_s = 1795168800,
    .claimed_s = 1795168000,
    .attempt = 2,
    .gpus = 8,
    .to = { { "abcdefghij", "0123456789" } },
    .from = { { "", "old" } },
    .reason = "ImagePullBackOff",
};

static const char whole_text[] =
    "{\"v\":1,\"policy\":\"0b7c-1\",\"generation\":3,\"kind\":\"Rollback\",\"phase\":\"Failed\","
    "\"since\":\"2026-11-20T10:00:00Z\","
    "\"claimed\":\"2026-11-20T09:46:40Z\",\"attempt\":2,\"gpus\":8,\"driver\":\"abcdefghij\","
    "\"stack\":\"0123456789\","
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

/* The sentence about a member. */
#define OF(member) "its member " member " is missing or has a value that Ostler does not write"

static const struct bad_row {
    const char *name, *member, *value, *why;
} bad_rows[] = {
    { "newer: a higher version", "v", "2",
      "it needs a newer Ostler (its version is 2, and this Ostler understands version 1)" },
    { "v: none", "v", NULL, "its member v is missing or is not a version" },
    { "v: a text", "v", "\"1\"", "its member v is missing or is not a version" },
    { "v: before the first", "v", "0", "its member v is missing or is not a version" },
    { "phase: none", "phase", NULL, OF("phase") },
    { "policy: empty", "policy", "\"\"", OF("policy") },
    { "policy: with a quote", "policy", "\"a'b\"", OF("policy") },
    { "policy: 64 letters", "policy",
      "\"0123456789012345678901234567890123456789012345678901234567890123\"", OF("policy") },
    { "generation: negative", "generation", "-1", OF("generation") },
    { "generation: a fraction", "generation", "1.5", OF("generation") },
    { "kind: another", "kind", "\"Downgrade\"", OF("kind") },
    { "phase: another", "phase", "\"failed\"", OF("phase") },
    { "phase: a number", "phase", "3", OF("phase") },
    { "since: no time", "since", "\"now\"", OF("since") },
    { "since: with a fraction", "since", "\"2026-11-20T10:00:00.5Z\"", OF("since") },
    { "claimed: before 1970", "claimed", "\"1969-11-20T10:00:00Z\"", OF("claimed") },
    { "attempt: none", "attempt", "0", OF("attempt") },
    { "attempt: too many", "attempt", "1000001", OF("attempt") },
    { "gpus: negative", "gpus", "-1", OF("gpus") },
    { "gpus: true", "gpus", "true", OF("gpus") },
    { "driver: too long", "driver", "\"abcdefghijk\"", OF("driver") },
    { "stack: with a slash", "stack", "\"a/b\"", OF("stack") },
    { "stack: null", "stack", "null", OF("stack") },
    { "lastStack: null", "lastStack", "null", OF("lastStack") },
    { "lastStack: too long", "lastStack", "\"abcdefghijk\"", OF("lastStack") },
    { "reason: two words", "reason", "\"Two words\"", OF("reason") },
    { "reason: none though it failed", "reason", "\"\"", "its reason does not fit its phase" },
    { "reason: one though it did not fail", "phase", "\"Draining\"",
      "its reason does not fit its phase" },
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
    char why[CLAIM_WHY_MAX] = "";
    struct claim c = whole;
    assert_false(claim_parse(text, &c, why));
    assert_string_equal(why, row->why);
    assert_same(&c, &whole);
}

static const struct text_row {
    const char *name, *text, *why;
} text_rows[] = {
    { "text: empty", "", "it is not a JSON object" },
    { "text: a word", "mine", "it is not a JSON object" },
    { "text: a list", "[1]", "it is not a JSON object" },
    { "text: an empty object", "{}", "its member v is missing or is not a version" },
    { "newer: unlike this one, and it names the release", "{\"v\":7,\"needs\":\"0.4.0\"}",
      "it needs at least Ostler 0.4.0 (its version is 7, and this Ostler understands version 1)" },
    { "newer: what it names is no release", "{\"v\":7,\"needs\":\"0.4; run this\"}",
      "it needs a newer Ostler (its version is 7, and this Ostler understands version 1)" },
    { "newer: the longest release", "{\"v\":7,\"needs\":\"1.23456789012345678901234567890\"}",
      "it needs at least Ostler 1.23456789012345678901234567890 (its version is 7, and this Ostler "
      "understands version 1)" },
    { "newer: the release is one digit too long",
      "{\"v\":7,\"needs\":\"1.234567890123456789012345678901\"}",
      "it needs a newer Ostler (its version is 7, and this Ostler understands version 1)" },
};

static void check_text_row(void **state)
{
    const struct text_row *row = *state;
    char why[CLAIM_WHY_MAX] = "";
    struct claim c;
    assert_false(claim_parse(row->text, &c, why));
    assert_string_equal(why, row->why);
}

static void check_length(void **state)
{
    (void) state;
    char text[CLAIM_TEXT_MAX + sizeof whole_text];
    char why[CLAIM_WHY_MAX] = "";
    struct claim c;
    memset(text, ' ', CLAIM_TEXT_MAX);
    memcpy(text + CLAIM_TEXT_MAX, whole_text, sizeof whole_text);
    assert_false(claim_parse(text, &c, why));
    assert_string_equal(why, "it is too long");
    /* as long as may be */
    assert_true(claim_parse(text + sizeof whole_text, &c, why));
    assert_string_equal(why, "it is too long"); /* a claim that is read says nothing */
}

/* ---- members that this version does not know */

/* The text of `whole` with another member of which the text is `size` bytes long, as claim_text()
 * writes it. */
static char *with_more(size_t size)
{
    CLEANUP_FREE char *filled = xcalloc(size, 1);
    memset(filled, 'x', size - sizeof "{\"more\":\"\"}" + 1);
    return xasprintf("%.*s,\"more\":\"%s\"}", (int) strlen(whole_text) - 1, whole_text, filled);
}

static void check_more_is_kept(void **state)
{
    (void) state;
    static const char more[] = "\"first\":{\"a\":[1,null]},\"second\":\"b\"}";
    CLEANUP_FREE char *text = xasprintf("%.*s,%s", (int) strlen(whole_text) - 1, whole_text, more);
    struct claim c;
    assert_true(claim_parse(text, &c, NULL));
    c.attempt = 3;
    CLEANUP_FREE char *again = claim_text(&c);
    strstr(text, "\"attempt\":2")[strlen("\"attempt\":")] = '3';
    assert_string_equal(again, text);
}

static void check_more_is_bounded(void **state)
{
    (void) state;
    CLEANUP_FREE char *most = with_more(CLAIM_MORE_MAX - 1), *too_much = with_more(CLAIM_MORE_MAX);
    char why[CLAIM_WHY_MAX] = "";
    struct claim c;
    assert_true(claim_parse(most, &c, why));
    CLEANUP_FREE char *again = claim_text(&c);
    assert_string_equal(again, most);
    assert_false(claim_parse(too_much, &c, why));
    assert_string_equal(why,
                        "its members that this Ostler does not know are longer than 511 bytes");
}

/* ---- the stack that was on the node last: it has configured the container runtime, and what takes
 * that off has to know it */

static const struct last_row {
    /* `begins_from` NULL: the claim goes on */
    const char *name, *from, *last, *leaves, *begins_from;
    const char *then_from, *then_last;
    const char *answer;
} last_rows[] = {
    { "last stack: what the node ran before", "s1", "", "s1", NULL, "s1", "", "s1" },
    { "last stack: what a try has put there", "s1", "", "s2", NULL, "s1", "s2", "s2" },
    { "last stack: nothing more leaves", "s1", "s2", "", NULL, "s1", "s2", "s2" },
    { "last stack: what the node ran before is back, and leaves again", "s1", "s2", "s1", NULL,
      "s1", "", "s1" },
    { "last stack: it begins anew with the stack off", "s1", "", "", "", "", "s1", "s1" },
    { "last stack: it begins anew twice with the stack off", "", "s1", "", "", "", "s1", "s1" },
    { "last stack: it begins anew after a try, with the stack off", "s1", "s2", "", "", "", "s2",
      "s2" },
    { "last stack: it begins anew with a stack on", "s1", "s0", "", "s2", "s2", "", "s2" },
    { "last stack: there was none", "", "", "", "", "", "", "" },
};

static void check_last_stack(void **state)
{
    const struct last_row *row = *state;
    struct claim c = whole, read;
    snprintf(c.from.hash[TIER_STACK], sizeof c.from.hash[TIER_STACK], "%s", row->from);
    snprintf(c.last_stack, sizeof c.last_stack, "%s", row->last);
    claim_stack_leaves(&c, row->leaves);
    if (row->begins_from)
        claim_begin_from(&c, (struct assignment_ref){ { "d1", row->begins_from } });
    assert_string_equal(c.from.hash[TIER_STACK], row->then_from);
    assert_string_equal(c.last_stack, row->then_last);
    CLEANUP_FREE char *text = claim_text(&c);
    assert_true(claim_parse(text, &read, NULL));
    assert_string_equal(claim_last_stack(&read), row->answer);
    assert_string_equal(read.more, "");
}

/* ---- what follows from one */

static void check_questions(void **state)
{
    (void) state;
    struct claim c = whole;
    assert_true(claim_closes(&c) && claim_keeps_node(&c));
    c.phase = CLAIM_WAITING;
    assert_false(claim_keeps_node(&c));
    c.phase = CLAIM_FAILED;
    memcpy(c.reason, "DrainTimeout", sizeof "DrainTimeout");
    assert_false(claim_closes(&c) || claim_keeps_node(&c));
    assert_true(claim_drains(&c));
    memcpy(c.from.hash[TIER_DRIVER], c.to.hash[TIER_DRIVER], sizeof c.to.hash[TIER_DRIVER]);
    assert_false(claim_drains(&c));
    assert_true(claim_phase_has_slot(CLAIM_DRAINING));
    assert_false(claim_phase_has_slot(CLAIM_WAITING));
    assert_string_equal(claim_kinds[CLAIM_UPGRADE].name, "Upgrade");
    assert_string_equal(claim_phase_name(CLAIM_VALIDATING), "Validating");
}

/* A repair drains whatever it brings; one that brings back what the node ran is for any target. */
static void check_repairs(void **state)
{
    (void) state;
    const struct assignment_ref other = { { "another", "s1" } }, own = { { "d1", "s1" } };
    struct claim c = { .kind = CLAIM_REPAIR, .to = { { "d1", "s1" } }, .from = { { "d1", "s1" } } };
    assert_true(claim_drains(&c));
    assert_true(claim_is_for(&c, own) && claim_is_for(&c, other));
    memcpy(c.from.hash[TIER_DRIVER], "d0", sizeof "d0");
    assert_true(claim_is_for(&c, own) && !claim_is_for(&c, other));
    c.kind = CLAIM_UPGRADE;
    memcpy(c.from.hash[TIER_DRIVER], "d1", sizeof "d1");
    assert_false(claim_drains(&c) || claim_is_for(&c, other));
    assert_false(claim_kinds[CLAIM_REPAIR].counts || claim_kinds[CLAIM_REPAIR].restores);
}

/* The boot that a reboot is to end, and whether a user asked, are members only where they say
 * something. */
static void check_repair_text(void **state)
{
    (void) state;
    struct claim c = whole, back;
    c.kind = CLAIM_REPAIR;
    c.boot = 0x08a60307b54d7e7c;
    c.asked = c.sentinel = true;
    snprintf(c.called_off, sizeof c.called_off, "Held");
    CLEANUP_FREE char *text = claim_text(&c);
    assert_non_null(strstr(text, "\"boot\":\"08a60307b54d7e7c\",\"asked\":true,"
                                 "\"sentinel\":true,\"calledOff\":\"Held\""));
    assert_true(claim_parse(text, &back, NULL));
    assert_true(back.boot == c.boot && back.asked && back.sentinel && !*back.more);
    assert_string_equal(back.called_off, "Held");
    char *boot = strstr(text, "08a6");
    boot[0] = 'X';
    assert_false(claim_parse(text, &back, NULL));
}

/* Every step, by the first letters of the phases in their order; "-" is no claim. */
static const struct steps_row {
    enum claim_phase from;
    const char *to;
} steps_rows[] = {
    { CLAIM_NONE, "WDU" },         { CLAIM_WAITING, "DU-" },    { CLAIM_DRAINING, "WUF-" },
    { CLAIM_UNLOADING, "DrbIF-" }, { CLAIM_RESETTING, "bIF-" }, { CLAIM_REBOOTING, "IF-" },
    { CLAIM_INSTALLING, "UVF-" },  { CLAIM_VALIDATING, "UF-" }, { CLAIM_FAILED, "WDU-" },
};

static void check_steps(void **state)
{
    static const char letters[] = "WDUrbIVF-";
    (void) state;
    assert_int_equal(strlen(letters), CLAIM_PHASE_COUNT + 1);
    assert_int_equal(sizeof steps_rows / sizeof *steps_rows, CLAIM_PHASE_COUNT + 1);
    for (size_t i = 0; i <= CLAIM_PHASE_COUNT; i++)
        for (int to = 0; to <= CLAIM_PHASE_COUNT; to++) {
            bool wanted = strchr(steps_rows[i].to, letters[to]) != NULL;
            enum claim_phase from = steps_rows[i].from;
            if ((int) from != to && claim_step_exists(from, (enum claim_phase) to) != wanted)
                fail_msg("the step from %c to %c is %s", letters[from], letters[to],
                         wanted ? "missing" : "there");
        }
    for (int p = 0; p < CLAIM_PHASE_COUNT; p++) {
        bool changes = strchr("UrbIV", letters[p]), slot = changes || letters[p] == 'D';
        assert_int_equal(claim_phase_progress((enum claim_phase) p) == CLAIM_CHANGING, changes);
        assert_int_equal(claim_phase_has_slot((enum claim_phase) p), slot);
    }
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a claim as text", check_text, NULL);
    suite_add(&s, "the text of each phase is read as it was written", check_all_phases, NULL);
    SUITE_ROWS(&s, check_bad, bad_rows);
    SUITE_ROWS(&s, check_text_row, text_rows);
    suite_add(&s, "text: too long", check_length, NULL);
    suite_add(&s, "members that this version does not know are written again", check_more_is_kept,
              NULL);
    suite_add(&s, "members that this version does not know: too long", check_more_is_bounded, NULL);
    SUITE_ROWS(&s, check_last_stack, last_rows);
    suite_add(&s, "what a claim says of its node", check_questions, NULL);
    suite_add(&s, "what a repair says of its node", check_repairs, NULL);
    suite_add(&s, "a repair as text", check_repair_text, NULL);
    suite_add(&s, "the steps between phases are these and no others", check_steps, NULL);
    return suite_run(&s, "claim");
}
