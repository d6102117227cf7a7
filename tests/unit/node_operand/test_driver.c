/* The driver's container: its beginning, its startup probe, and its hook before the end. */
#include "node/operand/driver.h"

#include <fcntl.h>
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

static char *text_of(const struct root *root, const char *path)
{
    struct buf text = BUF_INIT(4096);
    root_read(root, path, &text);
    return buf_take(&text);
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
      "another container's root is mounted in the place of the driver's" },
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
      SMI_WORKS, "", "cannot know which start of the machine this is" },
    { "probe: nvidia-smi hangs since an earlier try", BESIDE("(nvidia-smi) D", "pod1"), SMI_WORKS,
      "", "nvidia-smi hangs in the kernel (process 77): no other is started" },
    { "probe: another program hangs", BESIDE("(nvidia-smi-x) D", "pod1"), SMI_WORKS,
      "boot1 rev1 pod1\n", NULL },
    { "probe: somebody else's hangs", BESIDE("(nvidia-smi) D", "pod2"), SMI_WORKS,
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
    { "probe: nvidia-smi says more than anybody reads", UP, "yes | head -c 1000000",
      "boot1 rev1 pod1\n", NULL },
    { "probe: in the place of an older sign", UP ",'" SIGN "':'boot0 rev0 pod0\\n'", SMI_WORKS,
      "boot1 rev1 pod1\n", NULL },
    { "probe: over what somebody left", UP ",'" SIGN ".new':{'fifo':true}", SMI_WORKS,
      "boot1 rev1 pod1\n", NULL },
    { "probe: over a link", UP ",'" SIGN "':{'link':'/etc/passwd'},'etc/passwd':'root'", SMI_WORKS,
      "boot1 rev1 pod1\n", NULL },
};

static void check_probe(void **state)
{
    const struct probe_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    char *path = fake_root_open(row->files, &root);
    if (row->smi)
        make_program(path, "nvidia-smi", row->smi);
    else
        setenv("PATH", path, 1);
    const struct driver_probe probe = { "rev1", "pod1", 0, no_device };
    int rc = driver_probe(&root, &probe, &e);
    CLEANUP_FREE char *sign = text_of(&root, SIGN), *users = text_of(&root, "etc/passwd");
    mode_t type;
    bool for_nvidia = root_type(&root, FOR_NVIDIA, &type) == 0;
    fake_root_free(path);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    assert_string_equal(sign, row->sign);
    assert_int_equal(for_nvidia, !row->error);
    assert_true(!*users || str_eq(users, "root"));
}

/* Whether somebody has written the file by now. */
static bool is_there(const char *path, const char *name)
{
    CLEANUP_FREE char *file = xasprintf("%s/%s", path, name);
    return access(file, F_OK) == 0;
}

/* A try goes on until the driver is there: nobody waits for the next one. */
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
    bool signed_ = is_there(path, SIGN);
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
        char *path = fake_root_open(UP, &root);
        make_program(path, "nvidia-smi", smi[i]);
        int64_t began_ms = clock_mono_ms(&clock);
        int rc = driver_probe(&root, &(struct driver_probe){ "rev1", "pod1", 1500, no_device }, &e);
        int64_t took_ms = clock_mono_ms(&clock) - began_ms;
        fake_root_free(path);
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
    char *path = fake_root_open(files, &root);
    mode_t type;
    assert_int_equal(driver_stop(&root, "pod1", NULL), 0);
    bool stays = root_type(&root, SIGN, &type) == 0,
         for_nvidia = root_type(&root, FOR_NVIDIA, &type) == 0;
    fake_root_free(path);
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
    char *path = fake_root_open(buf_text(&files), &root);
    make_program(path, "nvidia-driver", "[ \"$*\" = init ] && exit 7");
    mode_t type;
    assert_int_equal(begin(&root, "nvidia-driver"), 7);
    for (size_t i = 0; i < ARRAY_LEN(leftovers); i++)
        assert_int_not_equal(root_type(&root, leftovers[i], &type), 0);
    assert_int_equal(begin(&root, "no-such-program"), 99);
    fake_root_free(path);
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
    assert_string_equal(err_msg(&e), "cannot take " SIGN " away: Is a directory");
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
    assert_int_equal(mounts_has((struct part){ row->text, strlen(row->text) }, "/b"), row->has);
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
    SUITE_ROWS(&s, check_mounts, mounts_rows);
    return suite_run(&s, "driver's container");
}
