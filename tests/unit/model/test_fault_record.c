#include "reconcilers/model/fault_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

#define AT_S 1795168800 /* 2026-11-20T10:00:00Z */

static const struct fault_record whole = {
    .state = FAULT_CLOSED,
    .reason = "Xid79",
    .address = "0000:65:00.0",
    .boot = 0x0123456789abcdef,
    .since_s = AT_S,
    .tainted = true,
    .relapses = 2,
    .left = { "RecoveryReset", "0000:66:00.0", 1, AT_S - 7200, HEALTH_CLOSE },
    .tries = { { REPAIR_RESET, AT_S - 60 }, { REPAIR_REBOOT, AT_S } },
    .tries_len = 2,
};

static const char whole_text[] =
    "{\"v\":1,\"state\":\"Closed\",\"reason\":\"Xid79\",\"gpu\":\"0000:65:00.0\","
    "\"boot\":\"0123456789abcdef\",\"since\":\"2026-11-20T10:00:00Z\",\"tainted\":true,"
    "\"relapses\":2,\"left\":{\"reason\":\"RecoveryReset\",\"gpu\":\"0000:66:00.0\","
    "\"boot\":\"0000000000000001\",\"level\":\"Close\",\"since\":\"2026-11-20T08:00:00Z\"},"
    "\"tries\":[{\"kind\":\"Reset\",\"at\":\"2026-11-20T09:59:00Z\"},"
    "{\"kind\":\"Reboot\",\"at\":\"2026-11-20T10:00:00Z\"}]}";

static void assert_same(const struct fault_record *a, const struct fault_record *b)
{
    CLEANUP_FREE char *one = fault_record_text(a), *other = fault_record_text(b);
    assert_string_equal(str_or_empty(one), str_or_empty(other));
}

static void check_text(void **state)
{
    (void) state;
    struct fault_record back;
    CLEANUP_FREE char *text = fault_record_text(&whole);
    assert_string_equal(text, whole_text);
    assert_true(fault_record_parse(text, &back));
    assert_same(&back, &whole);
    assert_int_equal(back.boot, whole.boot);
    assert_int_equal(back.since_s, AT_S);
    assert_int_equal(back.left.left_s, AT_S - 7200);
    assert_int_equal(back.tries[1].at_s, AT_S);
}

static void check_states(void **state)
{
    (void) state;
#define X(id, name) name,
    static const char *const names[] = { FAULT_STATES(X) };
#undef X
    for (int i = 0; i < FAULT_STATES_LEN; i++) {
        struct fault_record r = whole, back;
        r.state = (enum fault_state) i;
        CLEANUP_FREE char *text = fault_record_text(&r);
        assert_non_null(strstr(text, names[i]));
        assert_true(fault_record_parse(text, &back));
        assert_int_equal(back.state, r.state);
        assert_int_equal(*back.reason != '\0', r.state != FAULT_OVER);
    }
}

static void check_nothing(void **state)
{
    (void) state;
    struct fault_record nothing = { 0 },
                        repaired = { .tries = { { REPAIR_RESET, AT_S } }, .tries_len = 1 };
    assert_null(fault_record_text(&nothing));
    CLEANUP_FREE char *text = fault_record_text(&repaired);
    assert_string_equal(text, "{\"v\":1,\"state\":\"Over\",\"tries\":[{\"kind\":\"Reset\",\"at\":"
                              "\"2026-11-20T10:00:00Z\"}]}");
}

/* The longest record that Ostler writes is one that it reads. */
static void check_longest(void **state)
{
    (void) state;
    struct fault_record r = whole, back;
    memset(r.reason, 'X', sizeof r.reason - 1);
    memset(r.address, 'f', sizeof r.address - 1);
    for (int i = 0; i < 20; i++)
        fault_record_try(&r, REPAIR_REBOOT, AT_S + i);
    CLEANUP_FREE char *text = fault_record_text(&r);
    assert_true(strlen(text) < FAULT_TEXT_MAX);
    assert_true(fault_record_parse(text, &back));
    assert_same(&back, &r);
}

/* ---- what is no record: one member of the text above changed (NULL: taken out) */

static const struct bad_row {
    const char *name, *member, *value;
} bad_rows[] = {
    { "bad v: newer", "v", "2" },
    { "bad v: none", "v", NULL },
    { "bad v: a text", "v", "\"1\"" },
    { "bad state: none", "state", NULL },
    { "bad state: another", "state", "\"closed\"" },
    { "bad state: a number", "state", "1" },
    { "bad reason: none", "reason", NULL },
    { "bad reason: empty", "reason", "\"\"" },
    { "bad reason: two words", "reason", "\"Xid 79\"" },
    { "bad reason: markup", "reason", "\"<b>\"" },
    { "bad reason: a line break", "reason", "\"Xid79\\n\"" },
    { "bad reason: a NUL", "reason", "\"Xid\\u0000\"" },
    { "bad reason: other letters", "reason", "\"Xid\\u00e9\"" },
    { "bad reason: too long", "reason",
      "\"XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX\"" },
    { "bad reason: null", "reason", "null" },
    { "bad gpu: too long", "gpu", "\"00000000000000000\"" },
    { "bad gpu: no address", "gpu", "\"the left one\"" },
    { "bad gpu: a number", "gpu", "7" },
    { "bad level: another", "level", "\"close\"" },
    { "bad level: a number", "level", "1" },
    { "bad boot: none", "boot", NULL },
    { "bad boot: too short", "boot", "\"0123456789abcde\"" },
    { "bad boot: with a sign", "boot", "\"-123456789abcdef\"" },
    { "bad since: none", "since", NULL },
    { "bad since: no time", "since", "\"now\"" },
    { "bad since: with a fraction", "since", "\"2026-11-20T10:00:00.5Z\"" },
    { "bad since: before 1970", "since", "\"1969-11-20T10:00:00Z\"" },
    { "bad tries: another kind", "tries",
      "[{\"kind\":\"Prayer\",\"at\":\"2026-11-20T10:00:00Z\"}]" },
    { "bad tries: no time", "tries", "[{\"kind\":\"Reset\"}]" },
    { "bad tries: texts", "tries", "[\"Reset\"]" },
    { "bad tries: too many", "tries", "[0,0,0,0,0,0,0,0,0]" },
};

static void check_bad(void **state)
{
    const struct bad_row *row = *state;
    CLEANUP_JSON json_t *said = json_parse(whole_text, strlen(whole_text), NULL);
    if (row->value)
        json_object_set_new(said, row->member,
                            json_loads(row->value, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL));
    else
        json_object_del(said, row->member);
    CLEANUP_FREE char *text = json_compact(said);
    struct fault_record r = whole, none = { 0 };
    assert_false(fault_record_parse(text, &r));
    assert_memory_equal(&r, &none, sizeof r);
}

static const struct text_row {
    const char *name, *text;
} text_rows[] = {
    { "no record: none", NULL },      { "no record: empty", "" },
    { "no record: no JSON", "{" },    { "no record: a list", "[]" },
    { "no record: null", "null" },    { "no record: nothing in it", "{}" },
    { "no record: a text", "\"x\"" },
};

static void check_no_record(void **state)
{
    const struct text_row *row = *state;
    struct fault_record r = whole, none = { 0 };
    assert_false(fault_record_parse(row->text, &r));
    assert_memory_equal(&r, &none, sizeof r);
}

static void check_length(void **state)
{
    (void) state;
    struct fault_record r;
    CLEANUP_FREE char *fits = xasprintf("%s%*s", whole_text,
                                        (int) (FAULT_TEXT_MAX - sizeof whole_text), "");
    CLEANUP_FREE char *exceeds = xasprintf("%s ", fits);
    assert_int_equal(strlen(fits), FAULT_TEXT_MAX - 1);
    assert_true(fault_record_parse(fits, &r));
    assert_false(fault_record_parse(exceeds, &r));
}

/* What a record may lack. */
static void check_optional(void **state)
{
    (void) state;
    struct fault_record r;
    assert_true(fault_record_parse("{\"v\":1,\"state\":\"Ignored\",\"reason\":\"FabricUnhealthy\","
                                   "\"boot\":\"0000000000000000\",\"since\":"
                                   "\"2026-11-20T10:00:00Z\",\"ticket\":7}",
                                   &r));
    assert_int_equal(r.state, FAULT_IGNORED);
    assert_string_equal(r.address, "");
    assert_false(r.tainted);
    assert_int_equal(r.tries_len, 0);
}

/* ---- attempts */

static void check_tries(void **state)
{
    (void) state;
    struct fault_record r = { 0 };
    for (int i = 0; i < REPAIRS_MAX + 2; i++)
        fault_record_try(&r, i % 2 ? REPAIR_REBOOT : REPAIR_RESET, AT_S + i);
    assert_int_equal(r.tries_len, REPAIRS_MAX);
    assert_int_equal(r.tries[0].at_s, AT_S + 2);
    assert_int_equal(r.tries[REPAIRS_MAX - 1].at_s, AT_S + REPAIRS_MAX + 1);
}

/* Only the attempt of the phase that ends is taken back. */
static void check_untry(void **state)
{
    (void) state;
    struct fault_record r = { 0 };
    fault_record_untry(&r, REPAIR_RESET, 0);
    fault_record_try(&r, REPAIR_RESET, AT_S);
    fault_record_try(&r, REPAIR_REBOOT, AT_S + 10);
    fault_record_untry(&r, REPAIR_RESET, AT_S);
    fault_record_untry(&r, REPAIR_REBOOT, AT_S + 11);
    assert_int_equal(r.tries_len, 2);
    fault_record_untry(&r, REPAIR_REBOOT, AT_S + 10);
    assert_int_equal(r.tries_len, 1);
    assert_int_equal(r.tries[0].kind, REPAIR_RESET);
}

static void check_tries_count(void **state)
{
    (void) state;
    assert_int_equal(fault_record_tries(&whole, REPAIR_RESET, 3600, AT_S), 1);
    assert_int_equal(fault_record_tries(&whole, REPAIR_REBOOT, 3600, AT_S), 1);
    assert_int_equal(fault_record_tries(&whole, REPAIR_RESET, 60, AT_S), 0);
    assert_int_equal(fault_record_tries(&whole, REPAIR_RESET, 61, AT_S), 1);
    assert_int_equal(fault_record_tries(&whole, REPAIR_REBOOT, 60, AT_S - 3600), 1);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a record as text", check_text, NULL);
    suite_add(&s, "each state is read as it was written", check_states, NULL);
    suite_add(&s, "nothing to remember has no text; repairs have one", check_nothing, NULL);
    suite_add(&s, "the longest record is read", check_longest, NULL);
    SUITE_ROWS(&s, check_bad, bad_rows);
    SUITE_ROWS(&s, check_no_record, text_rows);
    suite_add(&s, "a text that is too long", check_length, NULL);
    suite_add(&s, "members that a record may lack, and one that is not known", check_optional,
              NULL);
    suite_add(&s, "the oldest attempt goes first", check_tries, NULL);
    suite_add(&s, "attempts count by kind and time", check_tries_count, NULL);
    suite_add(&s, "an attempt that never ran is taken back", check_untry, NULL);
    return suite_run(&s, "fault record");
}
