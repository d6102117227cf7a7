/* The process that asks NVML, beside a library that answers, crashes, hangs, lies and talks:
 * tests/nvml. */
#include "node/gpus/ask.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "node/gpus/gpus.h"
#include "node/inventory/nvml.h"
#include "tests/unit/node_gpus/own_root.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { LIMIT_MS = 2000, HANG_MS = 300, LATE_MS = 1500, MOST = 4096 };

static const char answer[] = "asks 0000:10:00.0\ncard GPU-0 40960\n"
                             "mig GPU-0 1g.5gb MIG-0\nmig GPU-0 1g.5gb MIG-1\nmig GPU-0 1g.5gb "
                             "MIG-3\nmig GPU-0 1g.5gb MIG-4\n"
                             "mig GPU-0 1g.5gb MIG-6\n"
                             "health 0000:10:00.0 doubleBitErrors=4\n"
                             "asks 0000:11:00.0\ncard GPU-1 40960\n"
                             "health 0000:11:00.0 doubleBitErrors=3\nend\n";

/* The same in the file for the agent. */
static const char kept[] = "card GPU-0 40960\n"
                           "mig GPU-0 1g.5gb MIG-0\nmig GPU-0 1g.5gb MIG-1\n"
                           "mig GPU-0 1g.5gb MIG-3\nmig GPU-0 1g.5gb MIG-4\n"
                           "mig GPU-0 1g.5gb MIG-6\ncard GPU-1 40960\n"
                           "health 0000:10:00.0 doubleBitErrors=4\n"
                           "health 0000:11:00.0 doubleBitErrors=3\nend\n";

static const struct row {
    const char *how; /* the library behaves; "absent": there is none */
    int64_t limit_ms;
    const char *error; /* NULL: none */
} rows[] = {
    { "answers", LIMIT_MS, NULL },
    { "leaves-a-child", LIMIT_MS, NULL },
    { "leaves-a-session", LIMIT_MS, NULL },
    { "breaks-out", LIMIT_MS, NULL },
    { "looks-at-its-name", LIMIT_MS, NULL },
    { "crashes", LIMIT_MS, "NVML: it was ended by a signal: Segmentation fault" },
    { "crashes-late", LIMIT_MS, "NVML: it was ended by a signal: Aborted" },
    { "refuses", LIMIT_MS,
      "NVML: the library cannot reach the driver, or may not open its devices" },
    { "hangs", HANG_MS, "NVML: it did not answer in time" },
    { "talks", LIMIT_MS, "NVML: its answer is too long" },
    { "absent", LIMIT_MS, "NVML: the loader of the driver's root cannot load the library" },
};

/* ---- a folder with the library, whose name says how it behaves */

static char *folder_new(const char *how, const char *script, int age_s)
{
    char *base = xasprintf("%s/ostler-nvml-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(base));
    char *folder = xasprintf("%s/%s", base, how);
    assert_int_equal(mkdir(folder, 0755), 0);
    CLEANUP_FREE char *place = xasprintf("%s/libnvidia-ml.so.1", folder),
                      *library = absolute(str_eq(how, "old") ? OLD_LIBRARY : LIBRARY);
    if (!str_eq(how, "absent"))
        assert_int_equal(symlink(library, place), 0);
    script_put(folder, script, age_s);
    free(base);
    return folder;
}

static void folder_free(char *folder)
{
    CLEANUP_FREE char *place = xasprintf("%s/libnvidia-ml.so.1", folder),
                      *script = xasprintf("%s/script", folder);
    unlink(place);
    unlink(script);
    assert_int_equal(rmdir(folder), 0);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(rmdir(folder), 0);
    free(folder);
}

static void begin(const char *folder, struct asker *a, struct driver_root *d)
{
    *a = (struct asker){ .helper = open(HELPER, O_RDONLY | O_CLOEXEC) };
    *d = (struct driver_root){ .root.fd = open("/", O_PATH | O_CLOEXEC) };
    assert_true(a->helper >= 0 && d->root.fd >= 0);
    assert_true(snprintf(d->library_folder, sizeof d->library_folder, "%s", folder) <
                LIBRARY_FOLDER_MAX);
}

/* What is asked of which library. */
struct asking {
    const char *how;
    const char *script;
    int age_s; /* of the script */
    const char *gpus;
    int64_t limit_ms;
};

static int ask(const struct asking *asking, struct buf *said, struct err *e)
{
    struct asker a;
    CLEANUP_DRIVER_ROOT struct driver_root d;
    char *folder = folder_new(asking->how, asking->script, asking->age_s);
    begin(folder, &a, &d);
    int rc = asker_ask(&a, &(struct question){ &d, asking->gpus, asking->limit_ms }, said, e);
    assert_int_equal(a.stuck, 0);
    asker_close(&a);
    folder_free(folder);
    return rc;
}

static void check(void **state)
{
    const struct row *row = *state;
    const struct clock clock = clock_system();
    CLEANUP_BUF struct buf said = BUF_INIT(MOST);
    CLEANUP_ERR struct err e = { 0 };
    int64_t began_ms = clock_mono_ms(&clock);
    int rc = ask(&(struct asking){ row->how, "", 0, NULL, row->limit_ms }, &said, &e);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    if (!row->error)
        assert_string_equal(buf_text(&said), answer);
    assert_true(clock_mono_ms(&clock) - began_ms < LATE_MS);
    /* Nothing is left of it: what lost its parent would be this process's by now. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* What it says can be read, and nothing of it is taken. */
static void check_lies(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf said = BUF_INIT(NVML_TEXT_MAX);
    CLEANUP_VIEW struct view v = { 0 };
    struct nvml_line line;
    assert_int_equal(ask(&(struct asking){ "lies", "", 0, NULL, LIMIT_MS }, &said, NULL), 0);
    struct part text = part_of_buf(&said);
    assert_true(nvml_is_whole(text));
    while (nvml_next(&text, &line)) {
        struct card_health h = { 0 };
        assert_true(line.kind == NVML_ASKS || line.kind == NVML_HEALTH);
        card_health_read(&v.arena, line.facts, &h);
        assert_null(h.values[CARD_SERIAL]);
    }
}

/* ---- the health of GPUs, as the script has it */

#define BOTH "0000:10:00.0 0000:11:00.0"
#define SECOND "0000:11:00.0"

static const struct {
    const char *name;
    struct asking asking;
    const char *health; /* the lines about health */
} healths[] = {
    { "nothing is wrong",
      { "answers", "1 SERIAL=1650220012345;FIELD_230=0;REMAP_PENDING=0;ECC=0;SRAM=0;FABRIC=1", 0,
        SECOND, LIMIT_MS },
      "health 0000:11:00.0 serial=1650220012345 remapPending=false remapFailed=false "
      "doubleBitErrors=0 sramExceeded=false fabric=Healthy recovery=None\n" },
    { "all is wrong",
      { "answers", "1 FIELD_230=1;REMAP_PENDING=1;REMAP_FAILED=1;ECC=7;SRAM=1;FABRIC=2", 0, SECOND,
        LIMIT_MS },
      "health 0000:11:00.0 remapPending=true remapFailed=true doubleBitErrors=7 sramExceeded=true "
      "fabric=Unhealthy recovery=Reset\n" },
    { "a divided GPU tells nothing of its rows",
      { "answers", "0 REMAP_PENDING=1", 0, "0000:10:00.0", LIMIT_MS },
      "health 0000:10:00.0 doubleBitErrors=4\n" },
    { "SRAM is for root, and the fabric is not ready",
      { "answers", "1 SRAM=-1;FABRIC=1;FABRIC_STATE=2", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3\n" },
    { "a fabric of less bandwidth",
      { "answers", "1 FABRIC=3", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3 fabric=Limited\n" },
    { "a fabric whose health is not known",
      { "answers", "1 FABRIC=0", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3\n" },
    { "a fabric whose probe failed",
      { "answers", "1 FABRIC=1;FABRIC_STATUS=999", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3 fabric=Unhealthy\n" },
    { "a fabric whose probe failed, and has no summary",
      { "answers", "1 FABRIC=0;FABRIC_STATUS=999", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3 fabric=Unhealthy\n" },
    { "a fabric whose probe has not ended",
      { "answers", "1 FABRIC=1;FABRIC_STATE=2;FABRIC_STATUS=999", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3\n" },
    { "a fabric in a state that no version has",
      { "answers", "1 FABRIC=4", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3\n" },
    { "reboot",
      { "answers", "1 FIELD_230=2", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3 recovery=Reboot\n" },
    { "drain peers",
      { "answers", "1 FIELD_230=3", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3 recovery=DrainPeers\n" },
    { "drain and reset",
      { "answers", "1 FIELD_230=4", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3 recovery=DrainAndReset\n" },
    { "recover the domain, as a wide number",
      { "answers", "1 FIELD_230=5;TYPE_230=3", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3 recovery=RecoverDomain\n" },
    { "an action that no version has",
      { "answers", "1 FIELD_230=6", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3\n" },
    { "an action that is no whole number",
      { "answers", "1 FIELD_230=1;TYPE_230=0", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3\n" },
    { "a wide number beyond all actions",
      { "answers", "1 FIELD_230=4294967297;TYPE_230=3", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3\n" },
    { "calls ask for a reset, and the field is not known",
      { "answers", "1 RESET_REQUIRED", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 recovery=Reset\n" },
    { "the field knows better than the calls",
      { "answers", "1 RESET_REQUIRED;FIELD_230=2", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 recovery=Reboot\n" },
    { "calls ask for a reset, and the field for nothing",
      { "answers", "1 RESET_REQUIRED;FIELD_230=0", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 recovery=Reset\n" },
    { "a lost GPU is named by its address",
      { "answers", "0 GPU_IS_LOST", 0, BOTH, LIMIT_MS },
      "health 0000:10:00.0 lost=true\nhealth 0000:11:00.0 doubleBitErrors=3\n" },
    { "without addresses, a lost GPU has no name",
      { "answers", "0 GPU_IS_LOST", 0, NULL, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3\n" },
    { "the handle fails for another reason",
      { "answers", "1 HANDLE_UNKNOWN", 0, BOTH, LIMIT_MS },
      "health 0000:10:00.0 doubleBitErrors=4\n" },
    { "not known to the library",
      { "answers", "", 0, "0000:77:00.0 " SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3\n" },
    { "before its time",
      { "answers", "1 FIELD_230=0;FIELD_230=1@60", 50, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3 recovery=None\n" },
    { "after its time",
      { "answers", "1 FIELD_230=0;FIELD_230=1@60", 70, SECOND, LIMIT_MS },
      "health 0000:11:00.0 doubleBitErrors=3 recovery=Reset\n" },
    { "an old library",
      { "old", "1 FIELD_230=1;SRAM=1;FABRIC=1;SERIAL=12", 0, SECOND, LIMIT_MS },
      "health 0000:11:00.0 serial=12 doubleBitErrors=3 recovery=Reset\n" },
};

static void check_health(void **state)
{
    const size_t i = (size_t) (uintptr_t) *state;
    CLEANUP_BUF struct buf said = BUF_INIT(MOST), health = BUF_INIT(MOST);
    CLEANUP_ERR struct err e = { 0 };
    struct nvml_line line;
    assert_int_equal(ask(&healths[i].asking, &said, &e), 0);
    struct part text = part_of_buf(&said);
    while (nvml_next(&text, &line))
        if (line.kind == NVML_HEALTH)
            buf_printf(&health, "%.*s\n", (int) line.text.len, line.text.at);
    assert_string_equal(buf_text(&health), healths[i].health);
}

/* What the library said until then is kept, and the last GPU that was asked about is named. */
static void check_hang(void **state)
{
    (void) state;
    const struct asking asking = { "answers", "0 HANG", 0, SECOND " 0000:10:00.0", HANG_MS };
    CLEANUP_BUF struct buf said = BUF_INIT(MOST);
    CLEANUP_ERR struct err e = { 0 };
    assert_int_equal(ask(&asking, &said, &e), -1);
    assert_int_equal(e.kind, ERR_TIMEOUT);
    assert_string_equal(buf_text(&said), "asks 0000:11:00.0\ncard GPU-1 40960\n"
                                         "health 0000:11:00.0 doubleBitErrors=3\n"
                                         "asks 0000:10:00.0\n");
}

/* One that answers word by word does not hang, but may not take for ever. */
static void check_slow(void **state)
{
    (void) state;
    const struct clock clock = clock_system();
    CLEANUP_BUF struct buf said = BUF_INIT(MOST);
    CLEANUP_ERR struct err e = { 0 };
    int64_t began_ms = clock_mono_ms(&clock);
    assert_int_equal(ask(&(struct asking){ "drips", "", 0, NULL, HANG_MS }, &said, &e), -1);
    int64_t took_ms = clock_mono_ms(&clock) - began_ms;
    assert_int_equal(e.kind, ERR_TOO_LARGE);
    assert_string_equal(err_msg(&e), "NVML: its answer was not complete in time");
    assert_true(took_ms >= HANG_MS * ASK_LIMITS && took_ms < HANG_MS * ASK_LIMITS + LATE_MS);
}

/* While one cannot be ended, no other is begun. */
static void check_stuck(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf said = BUF_INIT(MOST);
    CLEANUP_ERR struct err e = { 0 };
    struct asker a;
    CLEANUP_DRIVER_ROOT struct driver_root d;
    char *folder = folder_new("answers", "", 0);
    begin(folder, &a, &d);
    a.stuck = fork();
    assert_true(a.stuck >= 0);
    if (a.stuck == 0)
        for (;;)
            pause();
    const struct question q = { &d, NULL, LIMIT_MS };
    assert_int_equal(asker_ask(&a, &q, &said, &e), -1);
    assert_true(asker_is_stuck(&a));
    assert_non_null(strstr(err_msg(&e), "hangs in the driver and cannot be killed"));
    assert_int_equal(kill(a.stuck, SIGKILL), 0);
    while (asker_ask(&a, &q, &said, NULL) < 0)
        usleep(10 * 1000);
    assert_string_equal(buf_text(&said), answer);
    asker_close(&a);
    folder_free(folder);
}

/* ---- in a root of its own */

static void check_own_root(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf said = BUF_INIT(MOST);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_DRIVER_ROOT struct driver_root d = { .root.fd = -1 };
    CLEANUP_ROOT struct root host = { .fd = -1 };
    if (geteuid() != 0)
        return; /* another root is for those who may */
    char *base = own_root_new();
    struct asker a = { .helper = open(HELPER, O_RDONLY | O_CLOEXEC) };
    assert_int_equal(root_open(&host, base, NULL), 0);
    assert_int_equal(driver_root_find(&host, &d, &e), 0);
    assert_string_equal(d.library_folder, "/usr/lib64");
    assert_int_equal(asker_ask(&a, &(struct question){ &d, NULL, LIMIT_MS }, &said, &e), 0);
    assert_string_equal(buf_text(&said), answer);
    asker_close(&a);
    fake_root_free(base);
}

/* ---- ostler-node cards */

/* What a file has, once it is there. Owned by the caller. */
static char *text_of(const char *path)
{
    char text[MOST];
    FILE *f = NULL;
    for (int ms = 0; ms < LIMIT_MS && !(f = fopen(path, "re")); ms += 10)
        usleep(10 * 1000);
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    return xstrdup(text);
}

static void check_kept(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root host = { .fd = -1 };
    int status;
    if (geteuid() != 0)
        return; /* another root is for those who may */
    char *base = own_root_new();
    CLEANUP_FREE char *file = xasprintf("%s/run/cards", base), *new = xasprintf("%s.new", file);
    assert_int_equal(mkfifo(new, 0644), 0); /* whoever opens it waits for a reader */
    assert_int_equal(root_open(&host, base, NULL), 0);
    pid_t keeper = fork();
    assert_true(keeper >= 0);
    if (keeper == 0) {
        log_setup(LOG_SILENT, false);
        _exit(gpus_keep(&host, file, NULL) == 0 ? 0 : 1);
    }
    CLEANUP_FREE char *got = text_of(file);
    assert_int_equal(kill(keeper, SIGTERM), 0);
    assert_int_equal(waitpid(keeper, &status, 0), keeper);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(str_has_prefix(got, BOOT " "));
    assert_string_equal(strchr(got, '\n') + 1, kept);
    fake_root_free(base);
}

static void check_no_driver(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_ROOT struct root host = { .fd = -1 };
    CLEANUP_JSON json_t *machine = tree("{'files':{'usr/lib64/libnvidia-ml.so.1':''}}");
    char *base = fake_root_new(machine);
    assert_int_equal(root_open(&host, base, NULL), 0);
    assert_int_equal(gpus_print(&host, &e), -1);
    assert_string_equal(err_msg(&e), "no driver with devices and libnvidia-ml.so.1 was found");
    fake_root_free(base);
}

int main(void)
{
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        suite_add(&s, rows[i].how, check, (void *) &rows[i]);
    suite_add(&s, "lies", check_lies, NULL);
    for (size_t i = 0; i < ARRAY_LEN(healths); i++)
        suite_add(&s, healths[i].name, check_health, (void *) (uintptr_t) i);
    suite_add(&s, "a GPU that hangs it", check_hang, NULL);
    suite_add(&s, "one that is slow", check_slow, NULL);
    suite_add(&s, "one that hangs in the kernel", check_stuck, NULL);
    suite_add(&s, "in the root of a driver", check_own_root, NULL);
    put_helper_beside();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    suite_add(&s, "kept in a file", check_kept, NULL);
    suite_add(&s, "no driver", check_no_driver, NULL);
    return suite_run(&s, "ask");
}
