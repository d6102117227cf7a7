#include "runtime/outage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tests/unit/support/suite.h"

/* Who takes part, in this order; what each has at the moment. */
enum { PARTS = 3 };

static const struct script {
    const char *name;
    struct {
        int who;
        enum err_kind now;
        const char *want; /* the lines that are written: levels and kinds */
    } turns[8];
} scripts[] = {
    { "an outage is one line, and one when all of it is over",
      { { 0, ERR_UNREACHABLE, "warn Unreachable " },
        { 1, ERR_UNREACHABLE, "" },
        { 2, ERR_UNREACHABLE, "" },
        { 1, ERR_NONE, "" },
        { 0, ERR_NONE, "" },
        { 2, ERR_NONE, "info " } } },
    { "the same trouble again says nothing",
      { { 0, ERR_TIMEOUT, "warn Timeout " },
        { 0, ERR_TIMEOUT, "" },
        { 0, ERR_NONE, "info " },
        { 0, ERR_NONE, "" } } },
    { "another kind is another line, but one kind is told once",
      { { 0, ERR_UNREACHABLE, "warn Unreachable " },
        { 0, ERR_SERVER, "warn ServerError " },
        { 1, ERR_UNREACHABLE, "" },
        { 1, ERR_SERVER, "" },
        { 0, ERR_NONE, "" },
        { 1, ERR_NONE, "info " } } },
    { "a new outage is told anew",
      { { 0, ERR_UNREACHABLE, "warn Unreachable " },
        { 0, ERR_NONE, "info " },
        { 0, ERR_UNREACHABLE, "warn Unreachable " },
        { 0, ERR_NONE, "info " } } },
    { "a missing permission concerns no other part",
      { { 0, ERR_FORBIDDEN, "" }, { 0, ERR_NONE, "" } } },
    { "trouble of one's own after an outage ends it",
      { { 0, ERR_UNREACHABLE, "warn Unreachable " },
        { 0, ERR_NOT_FOUND, "info " },
        { 0, ERR_NONE, "" } } },
};

/* What a turn writes: "LEVEL KIND " for each line. */
static void note(struct outage *o, enum err_kind before, enum err_kind now, char *ret, size_t max)
{
    char *text = NULL;
    size_t len = 0;
    FILE *aside = stderr;
    stderr = open_memstream(&text, &len);
    outage_note(o, before, now, "the sentence");
    fclose(stderr);
    stderr = aside;
    *ret = '\0';
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t n = strlen(ret);
        const char *kind = strstr(line, "kind=");
        snprintf(ret + n, max - n, "%s %.*s%s", strstr(line, " warn ") ? "warn" : "info",
                 kind ? (int) strcspn(kind + 5, " ") : 0, kind ? kind + 5 : "", kind ? " " : "");
    }
    free(text);
}

static void check(void **state)
{
    const struct script *script = *state;
    struct outage o = { 0 };
    enum err_kind has[PARTS] = { ERR_NONE };
    log_setup(LOG_INFO, false);
    for (size_t i = 0; i < ARRAY_LEN(script->turns) && script->turns[i].want; i++) {
        char got[256];
        int who = script->turns[i].who;
        note(&o, has[who], script->turns[i].now, got, sizeof got);
        has[who] = script->turns[i].now;
        if (strcmp(got, script->turns[i].want) != 0)
            fail_msg("turn %zu: \"%s\", not \"%s\"", i + 1, got, script->turns[i].want);
    }
    assert_int_equal(o.failing, 0);
}

static void nothing_to_share(void **state)
{
    (void) state;
    outage_note(NULL, ERR_NONE, ERR_UNREACHABLE, "the sentence");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, scripts);
    suite_add(&s, "without anything to share nothing happens", nothing_to_share, NULL);
    return suite_run(&s, "outage");
}
