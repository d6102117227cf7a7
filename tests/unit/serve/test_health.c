#include "serve/health.h"

#include "base/buf.h"
#include "tests/unit/support/suite.h"

/* `arg` is the sentence, or NULL. */
static char *says(void *arg)
{
    return arg ? xstrdup(arg) : NULL;
}

static const struct health_check good[] = { { "loop", says, NULL }, { "lease", says, NULL } };
static const struct health_check bad[] = {
    { "loop", says, NULL },
    { "api", says, "the server refuses us: 403; apply the chart's rules" },
    { "api-token", says, NULL },
};

static const struct health none = { "healthz", NULL, 0 };
static const struct health well = { "healthz", good, ARRAY_LEN(good) };
static const struct health ill = { "readyz", bad, ARRAY_LEN(bad) };

#define API_FAILED "[-]api failed: the server refuses us: 403; apply the chart's rules\n"

static const struct row {
    const char *name;
    const struct health *health;
    const char *check;
    const char *query;
    int status;
    const char *text;
} rows[] = {
    { "no checks: well", &none, "", "", 200, "ok" },
    { "no checks, verbose", &none, "", "verbose", 200, "healthz check passed\n" },
    { "all well", &well, "", "", 200, "ok" },
    { "all well, verbose", &well, "", "verbose", 200,
      "[+]loop ok\n[+]lease ok\nhealthz check passed\n" },
    { "verbose with a value", &well, "", "verbose=1", 200,
      "[+]loop ok\n[+]lease ok\nhealthz check passed\n" },
    { "other parameters count for nothing", &well, "", "&&verbosely=1&x&=&timeout=3s", 200, "ok" },
    { "one fails: its sentence is shown", &ill, "", "", 500,
      "[+]loop ok\n" API_FAILED "[+]api-token ok\nreadyz check failed\n" },
    { "the failing one is excluded", &ill, "", "exclude=api", 200, "ok" },
    { "the failing one is excluded, verbose", &ill, "", "verbose&exclude=api", 200,
      "[+]loop ok\n[+]api excluded: ok\n[+]api-token ok\nreadyz check passed\n" },
    { "several are excluded", &ill, "", "exclude=loop&exclude=api&verbose", 200,
      "[+]loop excluded: ok\n[+]api excluded: ok\n[+]api-token ok\nreadyz check passed\n" },
    { "another one is excluded", &ill, "", "exclude=api-token", 500,
      "[+]loop ok\n" API_FAILED "[+]api-token excluded: ok\nreadyz check failed\n" },
    { "a prefix of a name excludes nothing", &ill, "", "exclude=ap&exclude=", 500,
      "[+]loop ok\n" API_FAILED "[+]api-token ok\n"
      "warn: there is no check \"ap\" to exclude\nwarn: there is no check \"\" to exclude\nreadyz "
      "check failed\n" },
    { "a misspelt exclude is shown when verbose", &well, "", "exclude=leas&verbose", 200,
      "[+]loop ok\n[+]lease ok\nwarn: there is no check \"leas\" to exclude\nhealthz check "
      "passed\n" },
    { "one check that is well", &ill, "loop", "", 200, "ok" },
    { "one check that is well, verbose", &ill, "loop", "verbose", 200, "[+]loop ok\n" },
    { "one check that fails", &ill, "api", "", 500, API_FAILED },
    { "no such check", &ill, "nope", "", 404, "readyz has no check \"nope\"\n" },
    { "no such check: a path below", &ill, "loop/x", "", 404, "readyz has no check \"loop/x\"\n" },
};

static void check_row(void **state)
{
    const struct row *row = *state;
    CLEANUP_BUF struct buf out = BUF_INIT(4096);
    int status = health_answer(row->health, row->check, row->query, &out);
    assert_string_equal(buf_text(&out), row->text);
    assert_int_equal(status, row->status);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    return suite_run(&s, "health");
}
