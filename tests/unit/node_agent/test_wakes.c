/* Which messages of the kernel, and which changes of folders, are a reason to look. */
#include "node/agent/wakes.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "node/inventory/nvml.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { PATIENCE_MS = 5000, TEXT_MAX = 512 };

/* With | for the NUL between the parts of a message. */
static const struct row {
    const char *name;
    const char *message;
    bool news;
} rows[] = {
    { "a GPU comes",
      "add@/devices/pci0000:00/"
      "0000:65:00.0|ACTION=add|SUBSYSTEM=pci|PCI_CLASS=30200|PCI_ID=10DE:2330|",
      true },
    { "a GPU goes",
      "remove@/devices/pci0000:00/"
      "0000:65:00.0|ACTION=remove|SUBSYSTEM=pci|PCI_CLASS=30200|PCI_ID=10DE:2330|",
      true },
    { "a driver is bound",
      "bind@/devices/pci0000:00/0000:65:00.0|DRIVER=nvidia|PCI_CLASS=30200|PCI_ID=10DE:2330|",
      true },
    { "a switch comes", "add@/devices/x|PCI_CLASS=68000|PCI_ID=10DE:22A3|", true },
    { "another vendor's card", "add@/devices/x|PCI_CLASS=20000|PCI_ID=8086:1521|", false },
    { "the module is loaded", "add@/module/nvidia|ACTION=add|SUBSYSTEM=module|", true },
    { "one on top of it", "add@/module/nvidia_uvm|ACTION=add|SUBSYSTEM=module|", true },
    { "nouveau", "add@/module/nouveau|ACTION=add|", true },
    { "vfio", "remove@/module/vfio_pci|ACTION=remove|", true },
    { "another module", "add@/module/overlay|ACTION=add|SUBSYSTEM=module|", false },
    { "a module's name elsewhere", "add@/devices/virtual/block/module/nvidia|ACTION=add|", false },
    { "a network interface", "add@/devices/virtual/net/veth0|ACTION=add|SUBSYSTEM=net|", false },
    { "no words at all", "libudev", false },
    { "only the sign", "@", false },
    { "nothing", "", false },
};

static void check(void **state)
{
    const struct row *row = *state;
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%s", row->message);
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        if (text[i] == '|')
            text[i] = '\0';
    assert_int_equal(wakes_is_news((struct part){ text, len }), row->news);
}

static bool has_news(struct wakes *w, int ms)
{
    struct pollfd ready = { .fd = w->files, .events = POLLIN };
    return poll(&ready, 1, ms) == 1 && wakes_take(w);
}

static void touch(const char *folder, const char *name)
{
    CLEANUP_FREE char *path = xasprintf("%s/%s", folder, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
}

/* Folders are watched as they come, twice is once, and absolute links end in the root. */
static void check_folders(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *machine = tree(
        "{'files':{'run/x':'','outside/x':'','etc/docker':{'link':'/outside'}}}");
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_new(machine);
    CLEANUP_FREE char *run = xasprintf("%s/run", path), *nvidia = xasprintf("%s/run/nvidia", path),
                      *outside = xasprintf("%s/outside", path);
    struct wakes w;
    assert_int_equal(root_open(&root, path, NULL), 0);
    wakes_open(&w);
    wakes_watch(&w, &root);
    wakes_watch(&w, &root);
    assert_false(has_news(&w, 0));
    assert_int_equal(mkdir(nvidia, 0755), 0);
    assert_true(has_news(&w, PATIENCE_MS));
    assert_false(has_news(&w, 0));
    touch(nvidia, "nvidia-driver.pid");
    assert_false(has_news(&w, 0));
    wakes_watch(&w, &root);
    touch(nvidia, "another");
    assert_true(has_news(&w, PATIENCE_MS));
    touch(outside, "y");
    assert_true(has_news(&w, PATIENCE_MS));
    wakes_close(&w);
}

/* The file of `ostler-node cards` wakes the agent when it is replaced, and not when only its time
 * is set, once a minute. */
static void check_cards(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_with("'" NVML_FILE "':'old'");
    CLEANUP_FREE char *file = xasprintf("%s/" NVML_FILE, path);
    struct wakes w;
    assert_int_equal(root_open(&root, path, NULL), 0);
    wakes_open(&w);
    wakes_watch(&w, &root);
    assert_int_equal(utimensat(AT_FDCWD, file, NULL, 0), 0);
    assert_false(has_news(&w, 0));
    assert_int_equal(file_write(file, 0644, "new", 3, NULL), 0);
    assert_true(has_news(&w, PATIENCE_MS));
    assert_false(has_news(&w, 0));
    wakes_close(&w);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "folders", check_folders, NULL);
    suite_add(&s, "the file of NVML", check_cards, NULL);
    return suite_run(&s, "wakes");
}
