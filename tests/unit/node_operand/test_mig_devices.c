/* Which devices of MIG are made and linked, by what the driver says in procfs. */
#include "node/operand/mig_devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/str.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"

/* ---- mig-minors */

static const struct line_row {
    const char *name, *text, *want;
} line_rows[] = {
    { "minors: as MIG's guide has them",
      "config 1\nmonitor 2\ngpu0/gi0/access 3\ngpu0/gi0/ci7/access 11\ngpu31/gi14/access 4314\n",
      "-1 config 1, -1 monitor 2, 0 gi0/access 3, 0 gi0/ci7/access 11, 31 gi14/access 4314, " },
    { "minors: no last line end", "config 1", "-1 config 1, " },
    { "minors: lines of another kind are left out",
      "\nconfig\nconfig x\nconfig 1 2\nconfig -1\nconfig 1048576\ngpu0 5\ngpux/gi0 6\n"
      "gpu/gi0 6\ngpu0/ 6\nmonitor 2\n",
      "-1 monitor 2, " },
    { "minors: no path that leads elsewhere", "../x 1\ngpu0/../../x 2\na/b 3\nX 4\n/ 5\n", "" },
    { "minors: nothing", "", "" },
};

static void check_line(void **state)
{
    const struct line_row *row = *state;
    CLEANUP_BUF struct buf got = BUF_INIT(4096);
    struct part text = { row->text, strlen(row->text) };
    struct mig_minor m;
    while (mig_minors_next(&text, &m))
        buf_printf(&got, "%d %.*s %u, ", m.gpu, (int) m.path.len, m.path.at, m.minor);
    assert_string_equal(buf_text(&got), row->want);
}

/* ---- nodes and links */

#define CAPABILITIES "'proc/driver/nvidia/capabilities/"
#define MAJORS "'proc/devices':'195 nvidia\\n238 nvidia-caps\\n239 nvidia-caps-imex-channels\\n',"
/* The first card is divided, the second is not, and there is no third. */
#define MINORS                                                                                     \
    "'proc/driver/nvidia-caps/mig-minors':'config 1\\nmonitor 2\\ngpu0/gi0/access "                \
    "3\\ngpu0/gi1/access 12\\n"                                                                    \
    "gpu0/gi1/ci0/access 13\\ngpu1/gi0/access 138\\ngpu2/gi0/access 273\\n',"
#define ACCESS(mode, modify)                                                                       \
    "'DeviceFileMinor: 0\\nDeviceFileMode: " mode "\\nDeviceFileModify: " modify "\\n',"
#define CARDS CAPABILITIES "gpu1/mig':{'folder':true},"
#define INSTANCE                                                                                   \
    CAPABILITIES "mig/config':" ACCESS("256", "1") CAPABILITIES "mig/monitor':" ACCESS("292", "1") \
        CAPABILITIES "gpu0/mig/gi1/access':" ACCESS("292", "1") CAPABILITIES                       \
        "gpu0/mig/gi1/ci0/access':" ACCESS("292", "1")
#define NODES "cap1 238:1 400, cap2 238:2 444, cap12 238:12 444, cap13 238:13 444, "
#define LINKS "cap1 cap2 cap3 cap12 cap13 cap138 "
#define DEV "'dev/x':'','links':{'folder':true}"

static char made[1024];
static int refusal;

/* Notes what is made, and leaves a file of that name: a node can be made by root alone, and not in
 * each container. */
static int make(int folder, const char *name, mode_t mode, dev_t device)
{
    if (refusal) {
        errno = refusal;
        return -1;
    }
    size_t len = strlen(made);
    snprintf(made + len, sizeof made - len, "%s %u:%u %o, ", name + strlen("nvidia-"),
             major(device), minor(device), mode & 07777);
    int fd = openat(folder, name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    close(fd);
    return fd < 0 ? -1 : 0;
}

static const struct show_row {
    const char *name, *files, *links, *want_made, *want_linked, *want_error;
    int refusal;
} show_rows[] = {
    { "show: nodes of what there is, links for what there can be", MAJORS MINORS CARDS INSTANCE DEV,
      "links", NODES, LINKS, "", 0 },
    { "show: no links are wanted", MAJORS MINORS CARDS INSTANCE DEV, NULL, NODES, "", "", 0 },
    { "show: no card is divided", MAJORS MINORS CARDS CAPABILITIES "gpu0/mig':{'folder':true}," DEV,
      "links", "", LINKS, "", 0 },
    { "show: the driver forbids device nodes",
      MAJORS MINORS CARDS CAPABILITIES "gpu0/mig/gi0/access':" ACCESS("292", "0") DEV, "links", "",
      LINKS, "", 0 },
    { "show: a capability that says no mode", MAJORS MINORS CAPABILITIES "mig/config':''," DEV,
      "links", "", "cap1 cap2 ", "", 0 },
    { "show: a capability of another mode than there is",
      MAJORS MINORS CAPABILITIES "mig/config':" ACCESS("4096", "1") DEV, "links", "", "cap1 cap2 ",
      "", 0 },
    { "show: a driver without MIG", MAJORS DEV, "links", "", "", "", 0 },
    { "show: the module has no device number",
      "'proc/devices':'195 nvidia\\n'," MINORS INSTANCE DEV, "links", "", "", "", 0 },
    { "show: no folder for links", MAJORS MINORS "'dev/x':''", "links", "", "",
      "cannot open links: No such file or directory", 0 },
    { "show: no folder for nodes", MAJORS MINORS "'links':{'folder':true}", "links", "", "",
      "cannot create dev/nvidia-caps: No such file or directory", 0 },
    { "show: refused", MAJORS MINORS INSTANCE DEV, "links", "", "cap1 ",
      "cannot create nvidia-caps/nvidia-cap1: Operation not permitted", EPERM },
};

/* The names of the links that lead where they should. */
static void read_links(const struct root *root, struct buf *ret)
{
    for (unsigned i = 0; i < 300; i++) {
        char path[64], target[128], want[128];
        snprintf(path, sizeof path, "links/238:%u", i);
        snprintf(want, sizeof want, "/run/nvidia/driver/dev/nvidia-caps/nvidia-cap%u", i);
        if (root_link(root, path, target, sizeof target) == 0 && str_eq(target, want))
            buf_printf(ret, "cap%u ", i);
    }
}

static void check_show(void **state)
{
    const struct show_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_BUF struct buf linked = BUF_INIT(4096);
    const struct mig_places places = { "dev", row->links, "/run/nvidia/driver/dev" };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(row->files, &root);
    made[0] = '\0';
    refusal = row->refusal;
    int rc = mig_devices_show(&root, &places, make, &e);
    read_links(&root, &linked);
    assert_string_equal(err_msg(&e), row->want_error);
    assert_int_equal(rc, *row->want_error ? -1 : 0);
    assert_string_equal(made, row->want_made);
    assert_string_equal(buf_text(&linked), row->want_linked);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_line, line_rows);
    SUITE_ROWS(&s, check_show, show_rows);
    return suite_run(&s, "devices of MIG");
}
