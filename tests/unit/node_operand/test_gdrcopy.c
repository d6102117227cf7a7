/* The container of the driver's pod that loads GDRCopy's module: its beginning, and its startup
 * probe. */
#include "node/operand/gdrcopy.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { BECAME = 7, STOPPED = 99, A_WHILE_US = 300 * 1000 };

#define BOOT                                                                                       \
    "'proc/sys/kernel/random/boot_id':'boot1\\n','sys/module/nvidia/refcnt':'0\\n','run/x':''"
#define SIGN_OF(pod) BOOT ",'run/nvidia/ostler/driver':'boot1 rev1 " pod "\\n'"
#define NODES                                                                                      \
    ",'proc/devices':'195 nvidia\\n510 "                                                           \
    "gdrdrv\\n','run/nvidia/driver/dev/x':'','host-dev-char/x':''"

/* ---- start-gdrcopy */

static const struct start_row {
    const char *name, *files;
    int want;
} start_rows[] = {
    { "start: the driver of this pod is ready", SIGN_OF("pod1"), BECAME },
    { "start: the sign is that of a pod that has gone", SIGN_OF("pod0"), STOPPED },
    { "start: the driver is not ready", BOOT, STOPPED },
    { "start: a ConfigMap that is not there",
      SIGN_OF("pod1") ",'ostler-config/repositories':{'folder':true}", STOPPED },
};

static void check_start(void **state)
{
    const struct start_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    char *path = fake_root_open(row->files, &root);
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        char shell[] = "/bin/sh", c[] = "-c", program[] = "exit 7";
        char *const argv[] = { shell, c, program, NULL };
        gdrcopy_start(&root, "pod1", argv, NULL);
        _exit(STOPPED);
    }
    usleep(A_WHILE_US);
    kill(pid, SIGTERM);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    fake_root_free(path);
    assert_int_equal(WEXITSTATUS(status), row->want);
}

/* ---- probe-gdrcopy */

/* No test makes a device. */
static int no_device(int folder, const char *name, mode_t mode, dev_t device)
{
    (void) mode, (void) device;
    int fd = openat(folder, name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    return fd < 0 ? -1 : close(fd);
}

static const struct probe_row {
    const char *name, *files, *error; /* NULL: none */
} probe_rows[] = {
    { "probe: the module is not loaded", BOOT NODES, "the module gdrdrv is not loaded" },
    { "probe: loaded", BOOT NODES ",'sys/module/gdrdrv/refcnt':'0\\n'", NULL },
    { "probe: the driver's root is not mounted",
      BOOT ",'proc/devices':'510 gdrdrv\\n','sys/module/gdrdrv/refcnt':'0\\n'",
      "cannot open run/nvidia/driver/dev: No such file or directory" },
};

static void check_probe(void **state)
{
    const struct probe_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    mode_t type;
    char *path = fake_root_open(row->files, &root);
    int rc = gdrcopy_probe(&root, no_device, &e);
    bool made = root_type(&root, "run/nvidia/driver/dev/gdrdrv", &type) == 0;
    fake_root_free(path);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    assert_int_equal(made, !row->error);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_start, start_rows);
    SUITE_ROWS(&s, check_probe, probe_rows);
    return suite_run(&s, "GDRCopy's container");
}
