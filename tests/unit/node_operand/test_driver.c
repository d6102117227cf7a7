/* The driver's container: its beginning, its startup probe, and its hook before the end; and the
 * container that loads GDRCopy's module. */
#include "node/operand/driver.h"

#include <fcntl.h>
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
#include "node/operand/mounts.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define SIGN "run/nvidia/ostler/driver"
#define FOR_NVIDIA "run/nvidia/validations/.driver-ctr-ready"
#define STATUS "run/nvidia/validations/.driver-daemons-status"
#define BOOT "'proc/sys/kernel/random/boot_id':'boot1\\n','run/nvidia/x':''"
#define MODULE BOOT ",'sys/module/nvidia/refcnt':'0\\n'"
#define MOUNTED                                                                                    \
    MODULE ",'proc/self/mounts':'tmpfs /run tmpfs rw 0 0\\n/dev/vda1 /run/nvidia/driver ext4 rw "  \
           "0 0\\n'"
/* In the place of a mount of the container's own root. */
#define UP                                                                                         \
    MOUNTED ",'run/nvidia/driver':{'link':'/'},'proc/devices':'195 "                               \
            "nvidia\\n','dev/x':'','host-dev-char/x':''"
/* Beside that a process with this name and state, of the pod that is named. */
#define BESIDE(is, pod)                                                                            \
    UP ",'proc/77/stat':'77 " is " 1 77 77 0','proc/77/cgroup':'0::/" pod                          \
       "/b\\n','proc/self/cgroup':'0::/pod1/a\\n'"
#define SMI_WORKS "exit 0"
#define SMI_FAILS "echo 'No devices were found'; exit 6"

/* Programs of the driver's container are in the folder `bin` of its root. */
static void make_program(const char *path, const char *name, const char *does)
{
    CLEANUP_FREE char *file = xasprintf("bin/%s", name),
                      *all = xasprintf("%s/bin:/usr/bin:/bin", path);
    fake_root_program(path, file, does);
    setenv("PATH", all, 1);
}

/* ---- probe-driver */

/* No test makes a device. */
static int no_device(int folder, const char *name, mode_t mode, dev_t device)
{
    (void) mode, (void) device;
    int fd = openat(folder, name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    return fd < 0 ? -1 : close(fd);
}

static const struct probe_row {
    const char *name;
    const char *files;
    const char *smi; /* NULL: there is none */
    const char *sign;
    const char *error;
} probe_rows[] = {
    { "probe: no module yet", BOOT, SMI_WORKS, "", "the module nvidia is not loaded" },
    { "probe: the daemons are not ready", UP ",'" STATUS "':'NotReady\\n'", SMI_WORKS, "",
      "the driver's daemons are not ready" },
    { "probe: nothing is said of the daemons", UP ",'" STATUS "':''", SMI_WORKS, "",
      "the driver's daemons are not ready" },
    { "probe: what is no file", UP ",'" STATUS "':{'fifo':true}", SMI_WORKS, "",
      "the driver's daemons are not ready" },
    { "probe: the root is not mounted",
      MODULE ",'proc/self/mounts':'x /run/nvidia/driver2 ext4 rw 0 0\\n'", SMI_WORKS, "",
      "the driver's root is not mounted" },
    { "probe: the root of a container that was killed",
      MOUNTED ",'run/nvidia/driver/usr/bin/nvidia-smi':''", SMI_WORKS, "",
      "another container's root is mounted in place of the driver's" },
    { "probe: mounts cannot be read", MODULE, SMI_WORKS, "",
      "cannot read proc/self/mounts: No such file or directory" },
    { "probe: the GPU does not answer", UP, SMI_FAILS, "",
      "No devices were found: nvidia-smi ended with 6" },
    { "probe: nvidia-smi dies", UP, "kill -9 $$", "", "nvidia-smi was ended by signal 9" },
    { "probe: no nvidia-smi", UP, NULL, "", "nvidia-smi cannot be started" },
    { "probe: not known which start this is",
      "'run/nvidia/x':'','sys/module/nvidia/refcnt':'0','proc/self/mounts':"
      "'x /run/nvidia/driver "
      "y\\n','run/nvidia/driver':{'link':'/'},'proc/devices':'','dev/x':'','host-dev-char/x':''",
      SMI_WORKS, "", "cannot read the boot ID of the machine" },
    { "probe: nvidia-smi hangs since an earlier try", BESIDE("(nvidia-smi) D", "pod1"), SMI_WORKS,
      "", "nvidia-smi hangs in the kernel (process 77): no other is started" },
    { "probe: another program hangs", BESIDE("(nvidia-smi-x) D", "pod1"), SMI_WORKS,
      "boot1 rev1 pod1\n", NULL },
    { "probe: nvidia-smi of another pod hangs", BESIDE("(nvidia-smi) D", "pod2"), SMI_WORKS,
      "boot1 rev1 pod1\n", NULL },
    { "probe: an earlier try is still at work", BESIDE("(nvidia-smi) S", "pod1"), SMI_WORKS,
      "boot1 rev1 pod1\n", NULL },
    { "probe: a process that has ended meanwhile", UP ",'proc/77/x':''", SMI_WORKS,
      "boot1 rev1 pod1\n", NULL },
    { "probe: ready", UP ",'" STATUS "':'Ready\\n'", SMI_WORKS, "boot1 rev1 pod1\n", NULL },
    { "probe: no device can be made",
      MOUNTED ",'run/nvidia/driver':{'link':'/'},'proc/devices':'195 nvidia\\n'", SMI_WORKS, "",
      "cannot open dev: No such file or directory" },
    { "probe: ready, precompiled", UP, SMI_WORKS, "boot1 rev1 pod1\n", NULL },
    { "probe: nvidia-smi prints more than the limit", UP, "yes | head -c 1000000",
      "boot1 rev1 pod1\n", NULL },
    { "probe: in the place of an older sign", UP ",'" SIGN "':'boot0 rev0 pod0\\n'", SMI_WORKS,
      "boot1 rev1 pod1\n", NULL },
    { "probe: over a leftover FIFO", UP ",'" SIGN ".new':{'fifo':true}", SMI_WORKS,
      "boot1 rev1 pod1\n", NULL },
    { "probe: over a link", UP ",'" SIGN "':{'link':'/etc/passwd'},'etc/passwd':'root'", SMI_WORKS,
      "boot1 rev1 pod1\n", NULL },
};

static void check_probe(void **state)
{
    const struct probe_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(row->files, &root);
    if (row->smi)
        make_program(path, "nvidia-smi", row->smi);
    else
        setenv("PATH", path, 1);
    const struct driver_probe probe = { "rev1", "pod1", 0, no_device };
    int rc = driver_probe(&root, &probe, &e);
    CLEANUP_FREE char *sign = fake_root_text(&root, SIGN),
                      *users = fake_root_text(&root, "etc/passwd");
    bool for_nvidia = root_has(&root, FOR_NVIDIA);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    assert_string_equal(sign, row->sign);
    assert_int_equal(for_nvidia, !row->error);
    assert_true(!*users || str_eq(users, "root"));
}

/* One try lasts until the driver is ready: the pod does not wait for the next try. */
static void check_probe_waits(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    char *path = fake_root_open(UP ",'" STATUS "':'NotReady'", &root);
    make_program(path, "nvidia-smi", SMI_WORKS);
    CLEANUP_FREE char *ready = xasprintf("sleep 0.3; echo Ready > %s/" STATUS, path);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", ready, NULL);
        _exit(99);
    }
    struct clock clock = clock_system();
    int64_t began_ms = clock_mono_ms(&clock);
    int rc = driver_probe(&root, &(struct driver_probe){ "rev1", "pod1", 30 * 1000, no_device },
                          &e);
    int64_t took_ms = clock_mono_ms(&clock) - began_ms;
    bool signed_ = root_has(&root, SIGN);
    waitpid(pid, NULL, 0);
    fake_root_free(path);
    assert_string_equal(err_msg(&e), "");
    assert_int_equal(rc, 0);
    assert_true(signed_);
    assert_in_range(took_ms, 300, 10 * 1000);
}

/* Where nvidia-smi takes for ever, and where it fails at once: each try is as long as it is to be.
 */
static void check_probe_takes_its_time(void **state)
{
    static const char *const smi[] = { "exec sleep 60", SMI_FAILS };
    (void) state;
    for (size_t i = 0; i < ARRAY_LEN(smi); i++) {
        CLEANUP_ROOT struct root root = { .fd = -1 };
        CLEANUP_ERR struct err e = { 0 };
        struct clock clock = clock_system();
        CLEANUP_FAKE_ROOT char *path = fake_root_open(UP, &root);
        make_program(path, "nvidia-smi", smi[i]);
        int64_t began_ms = clock_mono_ms(&clock);
        int rc = driver_probe(&root, &(struct driver_probe){ "rev1", "pod1", 1500, no_device }, &e);
        int64_t took_ms = clock_mono_ms(&clock) - began_ms;
        assert_int_equal(rc, -1);
        assert_in_range(took_ms, 1500, 10 * 1000);
    }
}

/* ---- stop-driver */

static const struct stop_row {
    const char *name;
    const char *files;
    bool stays, for_nvidia;
} stop_rows[] = {
    { "stop: takes its own signs away", "'" SIGN "':'boot1 rev1 pod1\\n'", false, false },
    { "stop: leaves those of a later pod", "'" SIGN "':'boot1 rev1 pod2\\n'", true, true },
    { "stop: leaves what is half written", "'" SIGN "':'boot1 rev1'", true, true },
    { "stop: without a sign", "'run/x':''", false, true },
};

static void check_stop(void **state)
{
    const struct stop_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FREE char *files = xasprintf("%s,'" FOR_NVIDIA "':''", row->files);
    CLEANUP_FAKE_ROOT char *path = fake_root_open(files, &root);
    assert_int_equal(driver_stop(&root, "pod1", NULL), 0);
    bool stays = root_has(&root, SIGN), for_nvidia = root_has(&root, FOR_NVIDIA);
    assert_int_equal(stays, row->stays);
    assert_int_equal(for_nvidia, row->for_nvidia);
}

/* ---- start-driver */

/* Becomes the program in a process of its own; its exit code. */
static int begin(const struct root *root, const char *name)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        char program[32], argument[] = "init";
        snprintf(program, sizeof program, "%s", name);
        char *const argv[] = { program, argument, NULL };
        driver_start(root, argv, NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

static const char *const leftovers[] = {
    SIGN,
    FOR_NVIDIA,
    STATUS,
    "run/nvidia-fabricmanager/nv-fabricmanager.pid",
    "run/nvidia-fabricmanager/nvlsm.pid",
    "run/nvidia-topologyd/nvidia-topologyd.pid",
};

static void check_start(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_BUF struct buf files = BUF_INIT(4096);
    for (size_t i = 0; i < ARRAY_LEN(leftovers); i++)
        buf_printf(&files, "%s'%s':'1\\n'", i ? "," : "", leftovers[i]);
    CLEANUP_FAKE_ROOT char *path = fake_root_open(buf_text(&files), &root);
    make_program(path, "nvidia-driver", "[ \"$*\" = init ] && exit 7");
    assert_int_equal(begin(&root, "nvidia-driver"), 7);
    for (size_t i = 0; i < ARRAY_LEN(leftovers); i++)
        assert_false(root_has(&root, leftovers[i]));
    assert_int_equal(begin(&root, "no-such-program"), 99);
}

/* Where an old sign cannot be taken away nothing is started: others would believe it. */
static void check_start_with_an_old_sign(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    char *path = fake_root_open("'" SIGN "/x':''", &root), program[] = "/bin/true";
    char *const argv[] = { program, NULL };
    assert_int_equal(driver_start(&root, argv, &e), -1);
    fake_root_free(path);
    assert_string_equal(err_msg(&e), "cannot remove " SIGN ": Is a directory");
}

/* ---- start-gdrcopy */

enum { BECAME = 7, STOPPED = 99, A_WHILE_US = 300 * 1000 };

#define LOADED                                                                                     \
    "'proc/sys/kernel/random/boot_id':'boot1\\n','sys/module/nvidia/refcnt':'0\\n','run/x':''"
#define SIGN_OF(pod) LOADED ",'run/nvidia/ostler/driver':'boot1 rev1 " pod "\\n'"
#define NODES                                                                                      \
    ",'proc/devices':'195 nvidia\\n510 "                                                           \
    "gdrdrv\\n','run/nvidia/driver/dev/x':'','host-dev-char/x':''"

static const struct gdrcopy_start_row {
    const char *name, *files;
    int want;
} gdrcopy_start_rows[] = {
    { "start-gdrcopy: the driver of this pod is ready", SIGN_OF("pod1"), BECAME },
    { "start-gdrcopy: the sign is that of a pod that has gone", SIGN_OF("pod0"), STOPPED },
    { "start-gdrcopy: the driver is not ready", LOADED, STOPPED },
    { "start-gdrcopy: a ConfigMap that is not there",
      SIGN_OF("pod1") ",'ostler-config/repositories':{'folder':true}", STOPPED },
};

static void check_gdrcopy_start(void **state)
{
    const struct gdrcopy_start_row *row = *state;
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

static const struct gdrcopy_probe_row {
    const char *name, *files, *error; /* NULL: none */
} gdrcopy_probe_rows[] = {
    { "probe-gdrcopy: the module is not loaded", LOADED NODES, "the module gdrdrv is not loaded" },
    { "probe-gdrcopy: loaded", LOADED NODES ",'sys/module/gdrdrv/refcnt':'0\\n'", NULL },
    { "probe-gdrcopy: the driver's root is not mounted",
      LOADED ",'proc/devices':'510 gdrdrv\\n','sys/module/gdrdrv/refcnt':'0\\n'",
      "cannot open run/nvidia/driver/dev: No such file or directory" },
};

static void check_gdrcopy_probe(void **state)
{
    const struct gdrcopy_probe_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(row->files, &root);
    int rc = gdrcopy_probe(&root, no_device, &e);
    bool made = root_has(&root, "run/nvidia/driver/dev/gdrdrv");
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    assert_int_equal(made, !row->error);
}

/* ---- mounts */

static const struct mounts_row {
    const char *name;
    const char *text;
    bool has;
} mounts_rows[] = {
    { "mounts: none", "", false },
    { "mounts: there", "a /b c rw 0 0\n", true },
    { "mounts: without an end of line", "a /b", true },
    { "mounts: not the device", "/b /a c\n", false },
    { "mounts: not a part", "a /b/c d\na /bc d\n", false },
    { "mounts: a line of one word", "a\n/b\n", false },
};

static void check_mounts(void **state)
{
    const struct mounts_row *row = *state;
    assert_int_equal(mounts_has(part_of(row->text), "/b"), row->has);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_probe, probe_rows);
    suite_add(&s, "probe: looks until it is ready", check_probe_waits, NULL);
    suite_add(&s, "probe: never ends before its time", check_probe_takes_its_time, NULL);
    SUITE_ROWS(&s, check_stop, stop_rows);
    suite_add(&s, "start: without what an earlier container said of itself", check_start, NULL);
    suite_add(&s, "start: not beside an old sign", check_start_with_an_old_sign, NULL);
    SUITE_ROWS(&s, check_gdrcopy_start, gdrcopy_start_rows);
    SUITE_ROWS(&s, check_gdrcopy_probe, gdrcopy_probe_rows);
    SUITE_ROWS(&s, check_mounts, mounts_rows);
    return suite_run(&s, "driver's container");
}
