/* Which device nodes the driver's modules need, that they are made, and the links by which systemd
 * knows them. */
#include "node/operand/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define HEAD "Character devices:\n  1 mem\n  5 /dev/tty\n"
#define TAIL "\nBlock devices:\n  8 sd\n"

/* ---- which */

static const struct module_row {
    const char *name, *text, *want;
} module_rows[] = {
    { "modules: none", HEAD TAIL, "" },
    { "modules: all, as 580 has them",
      HEAD "195 nvidia\n195 nvidia-modeset\n195 nvidiactl\n508 nvidia-uvm\n" TAIL,
      "nvidiactl 195:255, nvidia-modeset 195:254, nvidia-uvm 508:0, nvidia-uvm-tools 508:1, " },
    { "modules: without uvm", HEAD "195 nvidia\n195 nvidia-modeset\n" TAIL,
      "nvidiactl 195:255, nvidia-modeset 195:254, " },
    { "modules: old drivers have one name", HEAD "195 nvidia-frontend\n510 nvidia-uvm\n" TAIL,
      "nvidiactl 195:255, nvidia-modeset 195:254, nvidia-uvm 510:0, nvidia-uvm-tools 510:1, " },
    { "modules: names that only begin so",
      HEAD "511 nvidia-uvm-x\n512 nvidia-caps\n513 nvidiax\n" TAIL, "" },
    { "modules: a block device of that name", HEAD "\nBlock devices:\n  9 nvidia\n", "" },
    { "modules: GDRCopy's", HEAD "195 nvidia\n510 gdrdrv\n" TAIL,
      "nvidiactl 195:255, gdrdrv 510:0, " },
    { "modules: no last line end", "195 nvidia", "nvidiactl 195:255, " },
    { "modules: no numbers", "nvidia\n-1 nvidia\n99999999999 nvidia\n", "" },
    { "modules: nothing", "", "" },
};

static void check_modules(void **state)
{
    const struct module_row *row = *state;
    struct device devices[DEVICES_MAX];
    CLEANUP_BUF struct buf got = BUF_INIT(4096);
    size_t n = devices_of_modules(row->text, devices);
    for (size_t i = 0; i < n; i++)
        buf_printf(&got, "%s %u:%u, ", devices[i].name, devices[i].major, devices[i].minor);
    assert_string_equal(buf_text(&got), row->want);
}

/* ---- nodes and links */

/* Nodes can be made by root alone, and not in each container. */
static bool can_make_nodes(const char *path)
{
    CLEANUP_FREE char *node = xasprintf("%s/try", path);
    bool can = mknod(node, S_IFCHR | 0600, makedev(1, 3)) == 0;
    unlink(node);
    return can;
}

static dev_t device_at(const char *root, const char *name, mode_t *ret_mode)
{
    struct stat st = { 0 };
    CLEANUP_FREE char *path = xasprintf("%s/%s", root, name);
    lstat(path, &st);
    *ret_mode = st.st_mode;
    return st.st_rdev;
}

static void check_make(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    mode_t mode = 0;
    /* An earlier load of the module left a node of another number; nvidiactl is a regular file. */
    char *path = fake_root_open(
        "'proc/devices':'195 nvidia\\n508 nvidia-uvm\\n','dev/nvidiactl':'x'", &root);
    CLEANUP_FREE char *older = xasprintf("%s/dev/nvidia-uvm", path);
    bool can = can_make_nodes(path);
    if (can)
        assert_int_equal(mknod(older, S_IFCHR | 0600, makedev(507, 0)), 0);
    mode_t mask = umask(077);
    int rc = can ? devices_make(&root, "dev", mknodat, &e) : 0;
    umask(mask);
    dev_t uvm = device_at(path, "dev/nvidia-uvm", &mode),
          tools = device_at(path, "dev/nvidia-uvm-tools", &mode);
    dev_t control = device_at(path, "dev/nvidiactl", &mode);
    fake_root_free(path);
    if (!can)
        skip();
    assert_string_equal(err_msg(&e), "");
    assert_int_equal(rc, 0);
    assert_int_equal(uvm, makedev(508, 0));
    assert_int_equal(tools, makedev(508, 1));
    assert_int_equal(control, makedev(195, 255));
    assert_int_equal(mode, S_IFCHR | 0666);
}

static int refuse(int folder, const char *name, mode_t mode, dev_t device)
{
    (void) folder, (void) name, (void) mode, (void) device;
    errno = EPERM;
    return -1;
}

static const struct fail_row {
    const char *name, *files, *error;
} fail_rows[] = {
    { "make: the kernel does not tell", "'dev/x':''",
      "cannot read proc/devices: No such file or directory" },
    { "make: no folder", "'proc/devices':'195 nvidia\\n'",
      "cannot open dev: No such file or directory" },
    { "make: refused", "'proc/devices':'195 nvidia\\n','dev/x':''",
      "cannot create dev/nvidiactl: Operation not permitted" },
};

static void check_fail(void **state)
{
    const struct fail_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(row->files, &root);
    int rc = devices_make(&root, "dev", refuse, &e);
    assert_int_equal(rc, -1);
    assert_string_equal(err_msg(&e), row->error);
}

static void check_links(void **state)
{
    (void) state;
    static const struct {
        const char *node;
        unsigned major, minor;
        const char *link, *target;
    } nodes[] = {
        { "dev/nvidia0", 195, 0, "195:0", "/run/nvidia/driver/dev/nvidia0" },
        { "dev/nvidia-uvm", 508, 0, "508:0", "/run/nvidia/driver/dev/nvidia-uvm" },
        { "dev/nvidia-caps-imex-channels/channel0", 236, 0, "236:0",
          "/run/nvidia/driver/dev/nvidia-caps-imex-channels/channel0" },
        { "dev/gdrdrv", 510, 0, "510:0", "/run/nvidia/driver/dev/gdrdrv" },
        { "dev/sda", 8, 0, "8:0", "" },
    };
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    char *path = fake_root_open(
        "'dev/nvidia-caps-imex-channels/x':'','dev/nvidia-text':'','links/195:0':{'link':'../old'},"
        "'links/.508:0.new':''",
        &root);
    bool can = can_make_nodes(path);
    for (size_t i = 0; i < ARRAY_LEN(nodes) && can; i++) {
        CLEANUP_FREE char *node = xasprintf("%s/%s", path, nodes[i].node);
        assert_int_equal(mknod(node, S_IFCHR | 0600, makedev(nodes[i].major, nodes[i].minor)), 0);
    }
    int rc = can ? devices_link(&root, "dev", "links", "/run/nvidia/driver/dev", &e) : 0;
    char got[ARRAY_LEN(nodes)][128] = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        CLEANUP_FREE char *link = xasprintf("links/%s", nodes[i].link);
        root_link(&root, link, got[i], sizeof got[i]);
    }
    fake_root_free(path);
    if (!can)
        skip();
    assert_string_equal(err_msg(&e), "");
    assert_int_equal(rc, 0);
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
        assert_string_equal(got[i], nodes[i].target);
}

static void check_no_folder_for_links(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open("'dev/x':''", &root);
    int rc = devices_link(&root, "dev", "links", "/dev", &e);
    assert_int_equal(rc, -1);
    assert_string_equal(err_msg(&e), "cannot open links: No such file or directory");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_modules, module_rows);
    suite_add(&s, "make: what is missing, and in the place of what is stale", check_make, NULL);
    SUITE_ROWS(&s, check_fail, fail_rows);
    suite_add(&s, "links: one for each node of NVIDIA's", check_links, NULL);
    suite_add(&s, "links: no folder for them", check_no_folder_for_links, NULL);
    return suite_run(&s, "device nodes");
}
