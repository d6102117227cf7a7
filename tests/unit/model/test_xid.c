/* The level of each Xid of NVIDIA's catalogue, with each recovery action, driver and override, by
 * tests/cases/health/levels.txt; and the texts of the rows. */
#include "reconcilers/model/xid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/xid_mild.h"
#include "reconcilers/model/policy_fields.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define CASES "tests/cases/health/levels.txt"
/* Beyond the last number of the catalogue; the recovery actions, without "not known". */
enum { XIDS = 400, ACTIONS = RECOVERIES - 1, CATALOGUE = 172 };

/* A line of the file. */
struct expected {
    bool known;     /* the file has a row for it */
    unsigned since; /* 0: never; 1: always */
    enum health_level log, action[ACTIONS];
};

struct fixture {
    struct expected rows[XIDS][2]; /* by number and whether it is fatal */
    struct expected others;
};

static const unsigned branches[] = { 0, 390, 535, 550, 560, 565, 570, 575, 580, 590, 999 };

static enum health_level letter(const char *word)
{
    static const char letters[] = ".EICRH";
    const char *at = strchr(letters, word[0]);
    if (strlen(word) != 1 || !at)
        fail_msg(CASES ": \"%s\" is no level", word);
    return (enum health_level)(at - letters);
}

/* Sets the rows of one line: its numbers, "fatal" or "other" if it has one, then the cells. */
static void take_line(struct fixture *f, char *line)
{
    char *rest = line, *words[ACTIONS + 4], *word;
    size_t n = 0;
    while ((word = strtok_r(rest, " \n", &rest))) {
        assert_true(n < ARRAY_LEN(words));
        words[n++] = word;
    }
    bool fatal = str_eq(words[1], "fatal"), other = str_eq(words[1], "other");
    char **cells = words + 1 + (fatal || other);
    assert_int_equal(words + n - cells, ACTIONS + 2);
    struct expected e = { .known = true, .log = letter(cells[1]) };
    if (str_eq(cells[0], "always"))
        e.since = 1;
    else if (!str_eq(cells[0], "-"))
        assert_int_equal(sscanf(cells[0], "%u", &e.since), 1);
    for (int i = 0; i < ACTIONS; i++)
        e.action[i] = letter(cells[2 + i]);
    unsigned first, last;
    int found = sscanf(words[0], "%u-%u", &first, &last);
    if (found < 1) {
        assert_string_equal(words[0], "*");
        f->others = e;
    }
    for (unsigned xid = first; found >= 1 && xid <= (found == 2 ? last : first); xid++)
        for (int kind = 0; kind < 2; kind++) {
            if ((fatal && !kind) || (other && kind))
                continue;
            assert_true(xid < XIDS && !f->rows[xid][kind].known);
            f->rows[xid][kind] = e;
        }
}

static int read_cases(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    char line[256];
    FILE *file = fopen(CASES, "r");
    if (!file)
        fail_msg(CASES ": %s", strerror(errno));
    while (fgets(line, sizeof line, file))
        if (line[0] != '#')
            take_line(f, line);
    fclose(file);
    *state = f;
    return 0;
}

static int free_cases(void **state)
{
    free(*state);
    return 0;
}

static const struct expected *expected_of(const struct fixture *f, unsigned xid, bool fatal)
{
    return xid < XIDS && f->rows[xid][fatal].known ? &f->rows[xid][fatal] : &f->others;
}

static void check_level(const struct fixture *f, const struct xid_case *c)
{
    const struct expected *e = expected_of(f, c->xid, c->fatal);
    bool decides = c->recovery != RECOVERY_UNKNOWN && e->since &&
                   (e->since == 1 || c->branch >= e->since);
    enum health_level want = decides ? e->action[c->recovery - 1] : e->log, got = xid_level(c);
    if (got != want)
        fail_msg("Xid %u%s, driver %u, recovery %s: %s, not %s", c->xid, c->fatal ? " fatal" : "",
                 c->branch, str_or_empty(gpu_recovery_name(c->recovery)), health_level_name(got),
                 health_level_name(want));
    for (int said = 0; said < HEALTH_LEVELS; said++) {
        enum health_level level = (enum health_level) said;
        struct xid_case with = *c;
        with.said = &level;
        assert_int_equal(xid_level(&with), level);
    }
}

/* Every number × recovery action × driver × fatal × override. */
static void check_levels(void **state)
{
    for (unsigned xid = 0; xid < XIDS; xid++)
        for (size_t b = 0; b < ARRAY_LEN(branches); b++)
            for (int recovery = 0; recovery < RECOVERIES; recovery++)
                for (int fatal = 0; fatal < 2; fatal++)
                    check_level(*state,
                                &(struct xid_case){ .xid = xid,
                                                    .branch = branches[b],
                                                    .recovery = (enum gpu_recovery) recovery,
                                                    .fatal = fatal });
}

/* The file and the table have the same numbers: those of the catalogue. */
static void check_numbers(void **state)
{
    const struct fixture *f = *state;
    assert_true(f->others.known);
    for (unsigned xid = 0; xid < XIDS; xid++) {
        const struct xid_row *row = xid_find(xid);
        bool listed = xid >= 1 && xid <= CATALOGUE;
        assert_int_equal(row != NULL, listed);
        assert_int_equal(f->rows[xid][0].known, listed);
        assert_int_equal(f->rows[xid][1].known, listed);
        if (row)
            assert_int_equal(row->xid, xid);
    }
    assert_null(xid_find(20034));
}

/* What NVIDIA's actions would be as levels: a row that has another says why. */
static const struct {
    const char *advice;
    enum health_level level;
} meant[] = {
    { "ignore it", HEALTH_NONE },
    { "restart the application", HEALTH_NONE },
    { "restart the application; reset the GPU when convenient", HEALTH_RESET_WHEN_IDLE },
    { "see the other fault; if there is none, restart Fabric Manager", HEALTH_NONE },
    { "contact NVIDIA's support", HEALTH_EVENT },
    { "update the software", HEALTH_EVENT },
    { "check the unified memory (UVM) of the application", HEALTH_EVENT },
    { "none given", HEALTH_EVENT },
    { "do what its line says", HEALTH_EVENT },
    { "reset the GPU", HEALTH_CLOSE },
    { "reset the GPU; with 63 or 64: drain it first", HEALTH_CLOSE },
    { "reset the GPU or contact NVIDIA's support", HEALTH_CLOSE },
    { "follow its NVLink workflow: reset the GPU, or contact the support", HEALTH_CLOSE },
    { "if it is fatal, reset the GPU; else ignore it", HEALTH_CLOSE },
    { "restart the machine", HEALTH_REBOOT },
    { "restart the virtual machine", HEALTH_REBOOT },
    { "check cables and seating", HEALTH_HUMAN },
};

static void check_texts(void **state)
{
    (void) state;
    for (unsigned xid = 1; xid <= CATALOGUE; xid++) {
        const struct xid_row *row = xid_find(xid);
        size_t i = 0;
        while (i < ARRAY_LEN(meant) && !str_eq(meant[i].advice, row->advice))
            i++;
        if (i == ARRAY_LEN(meant))
            fail_msg("Xid %u: \"%s\" is new: what is it as a level?", xid, row->advice);
        bool nvlink = xid >= 144 && xid <= 149 && row->level == HEALTH_CLOSE;
        if ((row->level != meant[i].level || nvlink) != (row->why != NULL))
            fail_msg("Xid %u: %s, and NVIDIA says \"%s\": why?", xid,
                     health_level_name((enum health_level) row->level), row->advice);
        assert_true(strlen(row->name) > 8 && strlen(row->name) < 64);
    }
}

static const struct recovery_row {
    const char *name;
    enum gpu_recovery recovery;
    enum health_level level;
} recovery_rows[] = {
    { "None", RECOVERY_NONE, HEALTH_NONE },
    { "Reset", RECOVERY_RESET, HEALTH_CLOSE },
    { "Reboot", RECOVERY_REBOOT, HEALTH_REBOOT },
    { "DrainPeers", RECOVERY_DRAIN_PEERS, HEALTH_CLOSE },
    { "DrainAndReset", RECOVERY_DRAIN_AND_RESET, HEALTH_RESET_WHEN_IDLE },
    { "RecoverDomain", RECOVERY_RECOVER_DOMAIN, HEALTH_HUMAN },
};

/* lib/base has them for all who have no other column of the table. */
static void check_mild(void **state)
{
    (void) state;
    for (unsigned xid = 0; xid < XIDS; xid++) {
        const struct xid_row *row = xid_find(xid);
        if (xid_is_mild(xid) != (row && row->level == HEALTH_NONE))
            fail_msg("Xid %u: mild is %d", xid, xid_is_mild(xid));
    }
    assert_false(xid_is_mild(-1));
    assert_false(xid_is_mild(INT64_MAX));
}

static void check_recovery(void **state)
{
    const struct recovery_row *row = *state;
    assert_int_equal(recovery_level(row->recovery), row->level);
    assert_string_equal(gpu_recovery_name(row->recovery), row->name);
    assert_int_equal(gpu_recovery_parse(row->name), row->recovery);
}

static void check_words(void **state)
{
    static const char *const levels[] = { "None",  "Event",  "ResetWhenIdle",
                                          "Close", "Reboot", "Human" };
    (void) state;
    enum health_level level = HEALTH_CLOSE;
    for (int i = 0; i < HEALTH_LEVELS; i++) {
        assert_string_equal(health_level_name((enum health_level) i), levels[i]);
        assert_true(health_level_parse(levels[i], &level));
        assert_int_equal(level, i);
    }
    assert_false(health_level_parse("close", &level));
    assert_false(health_level_parse("", &level));
    assert_false(health_level_parse(NULL, &level));
    assert_int_equal(level, HEALTH_HUMAN);
    assert_int_equal(recovery_level(RECOVERY_UNKNOWN), HEALTH_NONE);
    assert_null(gpu_recovery_name(RECOVERY_UNKNOWN));
    assert_int_equal(gpu_recovery_parse(NULL), RECOVERY_UNKNOWN);
    assert_int_equal(gpu_recovery_parse("reset"), RECOVERY_UNKNOWN);
}

static const struct policy_field *field_of(const struct policy_field *fields, const char *name)
{
    while (fields->name && !str_eq(fields->name, name))
        fields++;
    assert_non_null(fields->name);
    return fields;
}

/* Keys of health.xids, and whether they are numbers. */
static const struct key_row {
    const char *name;
    bool number;
} keys[] = {
    { "1", true },    { "109", true },  { "20034", true },   { "99999", true },  { "", false },
    { "0", false },   { "048", false }, { "100000", false }, { "+9", false },    { "-9", false },
    { " 79", false }, { "79 ", false }, { "7e1", false },    { "Xid79", false }, { "7.9", false },
};

static void check_key(void **state)
{
    const struct key_row *row = *state;
    CLEANUP_JSON json_t *map = json_pack("{s:s, s:s}", "79", "None", row->name, "Event");
    assert_int_equal(policy_rule_holds(policy_rules_xids, map), row->number);
}

/* What a policy may say are the levels. */
static void check_policy(void **state)
{
    (void) state;
    const struct policy_field *health = field_of(policy_fields, "health");
    const char *const *values = field_of(health->children, "xids")->values;
    for (int i = 0; i < HEALTH_LEVELS; i++)
        assert_string_equal(values[i], health_level_name((enum health_level) i));
    assert_null(values[HEALTH_LEVELS]);
    CLEANUP_JSON json_t *xids = tree("{'109':'Event','79':'None','48':'x'}");
    enum health_level level = HEALTH_HUMAN;
    assert_true(xid_said(xids, 109, &level));
    assert_int_equal(level, HEALTH_EVENT);
    assert_true(xid_said(xids, 79, &level));
    assert_int_equal(level, HEALTH_NONE);
    assert_false(xid_said(xids, 10, &level));
    assert_false(xid_said(xids, 48, &level));
    assert_false(xid_said(NULL, 79, &level));
    assert_int_equal(level, HEALTH_NONE);
}

int main(void)
{
    static const struct suite_check checks[] = {
        { "the level of every Xid with every action, driver and override", check_levels },
        { "the file and the table have the numbers of the catalogue", check_numbers },
    };
    struct suite s = { 0 };
    SUITE_CHECKS(&s, checks, read_cases, free_cases);
    SUITE_ROWS(&s, check_recovery, recovery_rows);
    SUITE_ROWS(&s, check_key, keys);
    suite_add(&s, "rows that differ from NVIDIA say why", check_texts, NULL);
    suite_add(&s, "numbers that ask for nothing", check_mild, NULL);
    suite_add(&s, "names of levels and actions", check_words, NULL);
    suite_add(&s, "what a policy says of a number", check_policy, NULL);
    return suite_run(&s, "xid");
}
