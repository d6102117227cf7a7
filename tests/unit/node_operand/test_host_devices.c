/* The devices of a host's own driver: its module for CUDA is loaded where it is not, and its nodes
 * are made. */
#include "node/operand/host_devices.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define LOADED "195 nvidia\\n508 nvidia-uvm\\n"
#define NOT_LOADED "'proc/devices':'195 nvidia\\n','dev/x':''"
#define ERROR(why)                                                                                 \
    "the host has not loaded the module nvidia-uvm, without which no CUDA program runs, and "      \
    "`modprobe nvidia-uvm` did not "                                                               \
    "load it (" why                                                                                \
    "): make the host load it at boot, for example with a file in /etc/modules-load.d"
/* modprobe on a machine that has the module. */
#define LOADS "echo 508 nvidia-uvm >>"

static struct buf made;

/* mknodat(), which root alone may call: it makes files. */
static int make(int folder, const char *name, mode_t mode, dev_t device)
{
    int fd = openat(folder, name, O_CREAT | O_WRONLY | O_CLOEXEC, mode & 0777);
    close(fd);
    buf_printf(&made, "%s %u:%u, ", name, major(device), minor(device));
    return fd < 0 ? -1 : 0;
}

#define MADE "nvidiactl 195:255, nvidia-uvm 508:0, nvidia-uvm-tools 508:1, "

static const struct row {
    const char *name, *files;
    const char *line; /* what is run instead of modprobe; the path of /proc/devices follows */
    const char *made, *error;
} rows[] = {
    { "nvidia-uvm is loaded: nothing is loaded", "'proc/devices':'" LOADED "','dev/x':''",
      "exit 1 #", MADE, "" },
    { "nvidia-uvm is not loaded: it is loaded before nodes are made", NOT_LOADED, LOADS, MADE, "" },
    { "nvidia-uvm cannot be loaded: the host's words are told", NOT_LOADED,
      "echo 'modprobe: FATAL: Module nvidia-uvm not found.'; exit 1 #", "",
      ERROR("sh ended with 1: modprobe: FATAL: Module nvidia-uvm not found.") },
    { "modprobe says that all is well, and has loaded nothing", NOT_LOADED, "true #", "",
      ERROR("it reported success") },
    { "a GPU that was divided by MIG before: those devices are made, too",
      "'proc/devices':'" LOADED
      "238 nvidia-caps\\n','dev/x':'','proc/driver/nvidia-caps/mig-minors':'gpu0/gi1/access 12\\n',"
      "'proc/driver/nvidia/capabilities/gpu0/mig/gi1/access':'DeviceFileMode: 292\\n'",
      "exit 1 #", MADE "nvidia-cap12 238:12, ", "" },
    { "there is no modprobe", NOT_LOADED, "exit 127 #", "", ERROR("sh cannot be started") },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_ROOT struct root host = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    char *path = fake_root_open(row->files, &host), name[] = "sh", option[] = "-c";
    CLEANUP_FREE char *line = xasprintf("%s %s/proc/devices", row->line, path);
    char *const loader[] = { name, option, line, NULL };
    made = (struct buf) BUF_INIT(4096);
    int rc = host_devices_show(&host, &(struct host_devices){ loader, make }, &e);
    fake_root_free(path);
    CLEANUP_FREE char *got = buf_take(&made);
    assert_string_equal(err_msg(&e), row->error);
    assert_string_equal(got, row->made);
    assert_int_equal(rc, *row->error ? -1 : 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "devices of the host's driver");
}
