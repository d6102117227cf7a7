/* What `ostler-node wait` waits for: each row is what is on the machine, and what is still missing.
 * And the waiting itself. */
#include "node/agent/wait.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { SOON_MS = 1500, LONG_MS = 30 * 1000 };

#define BOOT_ID "7c1e0a52-4d2c-4f5b-8d9a-6a2fb0a7b1c2"
#define EARLIER "00000000-4d2c-4f5b-8d9a-6a2fb0a7b1c2"
#define BOOT "'proc/sys/kernel/random/boot_id':'" BOOT_ID "\\n','run/x':''"
#define MODULE BOOT ",'sys/module/nvidia/refcnt':'0\\n'"
#define DRIVER MODULE ",'run/nvidia/ostler/driver':'" BOOT_ID " d1 pod-1\\n'"
#define TOOLKIT(driver) ",'run/nvidia/ostler/toolkit':'" BOOT_ID " " driver " t1\\n'"
/* What is waited for. */
#define WISH(what, whose)                                                                          \
    {                                                                                              \
        .sign = READY_##what, .source = READY_OF_##whose                                           \
    }

static const struct row {
    const char *name;
    const char *files;
    struct ready_target wish;
    const char *missing; /* NULL: it is ready */
} rows[] = {
    { "driver: nothing", BOOT, WISH(DRIVER, CONTAINER), "the module nvidia is not loaded" },
    { "driver: the module alone", MODULE, WISH(DRIVER, CONTAINER),
      "the driver's container is not ready" },
    { "driver: a sign of an earlier start",
      MODULE ",'run/nvidia/ostler/driver':'" EARLIER " d1 pod-1\\n'", WISH(DRIVER, CONTAINER),
      "the driver's container is not ready on the current boot" },
    { "driver: a sign that is empty", MODULE ",'run/nvidia/ostler/driver':''",
      WISH(DRIVER, CONTAINER), "the driver's container is not ready" },
    { "driver: a sign and no module", BOOT ",'run/nvidia/ostler/driver':'" BOOT_ID " d1 pod-1\\n'",
      WISH(DRIVER, CONTAINER), "the module nvidia is not loaded" },
    { "driver: ready", DRIVER, WISH(DRIVER, CONTAINER), NULL },
    { "driver: the host's has no sign", MODULE, WISH(DRIVER, HOST), NULL },
    { "driver: either, and no container has been there", MODULE, WISH(DRIVER, EITHER), NULL },
    { "driver: either, and a container is not ready",
      MODULE ",'run/nvidia/nvidia-driver.pid':'7\\n'", WISH(DRIVER, EITHER),
      "the driver's container is not ready" },
    { "driver: either, and a container is ready", DRIVER ",'run/nvidia/nvidia-driver.pid':'7\\n'",
      WISH(DRIVER, EITHER), NULL },
    { "driver: either, and there is no module", BOOT, WISH(DRIVER, EITHER),
      "the module nvidia is not loaded" },
    { "driver: not known which start this is",
      "'sys/module/nvidia/refcnt':'0','run/nvidia/ostler/driver':'" BOOT_ID " d1 p'",
      WISH(DRIVER, CONTAINER), "the driver's container is not ready on the current boot" },
    { "toolkit: the driver first", BOOT TOOLKIT("d1"), WISH(TOOLKIT, CONTAINER),
      "the module nvidia is not loaded" },
    { "toolkit: nothing", DRIVER, WISH(TOOLKIT, CONTAINER), "the toolkit is not ready" },
    { "toolkit: a sign of an earlier start",
      DRIVER ",'run/nvidia/ostler/toolkit':'" EARLIER " d1 t1\\n'", WISH(TOOLKIT, CONTAINER),
      "the toolkit is not ready" },
    { "toolkit: for another driver", DRIVER TOOLKIT("d0"), WISH(TOOLKIT, CONTAINER),
      "the toolkit belongs to another driver" },
    { "toolkit: another revision",
      DRIVER TOOLKIT("d1"),
      { .sign = READY_TOOLKIT, .source = READY_OF_CONTAINER, .revision = "t2" },
      "the toolkit has another revision" },
    { "toolkit: this revision",
      DRIVER TOOLKIT("d1"),
      { .sign = READY_TOOLKIT, .source = READY_OF_CONTAINER, .revision = "t1" },
      NULL },
    { "toolkit: any revision", DRIVER TOOLKIT("d1"), WISH(TOOLKIT, CONTAINER), NULL },
    { "toolkit: for the host's driver", MODULE TOOLKIT("host"), WISH(TOOLKIT, HOST), NULL },
    { "toolkit: a container's driver where it is to be the host's", DRIVER TOOLKIT("d1"),
      WISH(TOOLKIT, HOST), "the toolkit belongs to another driver" },
    { "driver: this pod's",
      DRIVER,
      { .sign = READY_DRIVER, .source = READY_OF_CONTAINER, .pod = "pod-1" },
      NULL },
    { "driver: another pod's, which has gone",
      DRIVER,
      { .sign = READY_DRIVER, .source = READY_OF_CONTAINER, .pod = "pod-2" },
      "the driver belongs to another pod" },
    { "toolkit: GDRCopy's module is not loaded",
      DRIVER TOOLKIT("d1"),
      { .sign = READY_TOOLKIT, .source = READY_OF_CONTAINER, .module = READY_MODULE_GDRDRV },
      "the module gdrdrv is not loaded" },
    { "toolkit: GDRCopy's module is loaded",
      DRIVER TOOLKIT("d1") ",'sys/module/gdrdrv/refcnt':'0\\n'",
      { .sign = READY_TOOLKIT, .source = READY_OF_CONTAINER, .module = READY_MODULE_GDRDRV },
      NULL },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(row->files, &root);
    const char *missing = ready_file_missing(&root, &row->wish);
    if (row->missing)
        assert_string_equal(str_or_empty(missing), row->missing);
    else
        assert_null(missing);
}

/* ---- the waiting */

static void check_timeout(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(BOOT, &root);
    assert_int_equal(wait_for(&root, &(struct ready_target) WISH(DRIVER, CONTAINER), 50, &e), -1);
    assert_string_equal(err_msg(&e), "timed out: the module nvidia is not loaded");
}

/* Waits in a process of its own, with what `act` does meanwhile to the root or to that process; its
 * exit code. */
static int wait_beside(const char *files, void (*act)(const char *path, pid_t waiting),
                       int64_t *ret_took_ms)
{
    const struct clock clock = clock_system();
    CLEANUP_ROOT struct root root = { .fd = -1 };
    char *path = fake_root_open(files, &root);
    int status;
    pid_t waiting = fork();
    assert_true(waiting >= 0);
    if (waiting == 0)
        _exit(wait_for(&root, &(struct ready_target) WISH(DRIVER, CONTAINER), LONG_MS, NULL) == 0
                  ? 0
                  : 1);
    usleep(200 * 1000);
    int64_t began_ms = clock_mono_ms(&clock);
    act(path, waiting);
    assert_int_equal(waitpid(waiting, &status, 0), waiting);
    *ret_took_ms = clock_mono_ms(&clock) - began_ms;
    fake_root_free(path);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* As the startup probe does it. */
static void write_sign(const char *path, pid_t waiting)
{
    (void) waiting;
    CLEANUP_FREE char *folder = xasprintf("%s/run/nvidia/ostler", path),
                      *tmp = xasprintf("%s/driver.new", folder),
                      *sign = xasprintf("%s/driver", folder);
    FILE *f = fopen(tmp, "we");
    assert_non_null(f);
    fputs(BOOT_ID " d1 pod-1\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rename(tmp, sign), 0);
}

static void ask_to_stop(const char *path, pid_t waiting)
{
    (void) path;
    kill(waiting, SIGTERM);
}

/* A sign is seen when it comes, before the next slow look. */
static void check_sign_comes(void **state)
{
    (void) state;
    int64_t took_ms;
    assert_int_equal(
        wait_beside(MODULE ",'run/nvidia/ostler':{'folder':true}", write_sign, &took_ms), 0);
    assert_true(took_ms < SOON_MS);
}

static void check_stop(void **state)
{
    (void) state;
    int64_t took_ms;
    assert_int_equal(wait_beside(BOOT, ask_to_stop, &took_ms), 1);
    assert_true(took_ms < SOON_MS);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "what never comes is given up", check_timeout, NULL);
    suite_add(&s, "a sign that comes is seen at once", check_sign_comes, NULL);
    suite_add(&s, "a signal ends it", check_stop, NULL);
    return suite_run(&s, "signs");
}
