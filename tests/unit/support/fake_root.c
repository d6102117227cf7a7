#include "tests/unit/support/fake_root.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/yaml.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/tree.h"

enum { NOBODY = 65534, LIKE_MAX = 4 };

/* Fails the test with the place and the system's reason. */
static void must(bool done, const char *path)
{
    if (!done)
        fail_msg("%s: %s", path, strerror(errno));
}

/* ---- files */

static void make_folders(const char *path)
{
    CLEANUP_FREE char *copy = xstrdup(path);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        must(mkdir(copy, 0755) == 0 || errno == EEXIST, copy);
        *slash = '/';
    }
}

static void write_bytes(const char *path, const char *bytes, size_t len)
{
    FILE *f = fopen(path, "we");
    must(f && fwrite(bytes, 1, len, f) == len && fclose(f) == 0, path);
}

static void write_hex(const char *path, const char *hex)
{
    char bytes[256];
    size_t len = strlen(hex) / 2;
    assert_true(len <= sizeof bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char) strtol((char[]){ hex[2 * i], hex[2 * i + 1], '\0' }, NULL, 16);
    write_bytes(path, bytes, len);
}

static void write_entries(const char *path, int64_t count)
{
    must(mkdir(path, 0755) == 0, path);
    for (int64_t i = 0; i < count; i++) {
        CLEANUP_FREE char *entry = xasprintf("%s/%d", path, (int) i);
        write_bytes(entry, "", 0);
    }
}

static void make_special(const char *path, const json_t *how)
{
    if (json_str(how, "link"))
        must(symlink(json_str(how, "link"), path) == 0, path);
    else if (json_bool(how, "socket", false))
        must(mknod(path, S_IFSOCK | 0644, 0) == 0, path);
    else if (json_bool(how, "fifo", false))
        must(mkfifo(path, 0644) == 0, path);
    else if (json_bool(how, "folder", false))
        must(mkdir(path, 0755) == 0 || errno == EEXIST, path);
    else if (json_str(how, "bytes"))
        write_hex(path, json_str(how, "bytes"));
    else if (json_at(how, "entries"))
        write_entries(path, json_int(how, "entries", 0));
    else if (json_at(how, "size") || json_bool(how, "unreadable", false))
        write_bytes(path, "", 0);
    else
        fail_msg("%s: it is not said what it is", path);
    if (json_at(how, "size"))
        must(truncate(path, json_int(how, "size", 0)) == 0, path);
    if (json_bool(how, "unreadable", false))
        must(chmod(path, 0) == 0, path);
    if (json_bool(how, "names", false))
        must(chmod(path, 0444) == 0, path);
}

static void make_file(const char *root, const char *path, const json_t *what)
{
    CLEANUP_FREE char *full = xasprintf("%s/%s", root, path);
    make_folders(full);
    if (json_is_string(what))
        write_bytes(full, json_string_value(what), json_string_length(what));
    else
        make_special(full, what);
}

PRINTF(3, 4) static void make_text(const char *root, const char *text, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    CLEANUP_FREE char *path = xvasprintf(fmt, ap);
    va_end(ap);
    CLEANUP_JSON json_t *what = json_string(text);
    make_file(root, path, what);
}

PRINTF(3, 4) static void make_link(const char *root, const char *target, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    CLEANUP_FREE char *path = xvasprintf(fmt, ap);
    va_end(ap);
    CLEANUP_JSON json_t *what = json_pack("{s:s}", "link", target);
    make_file(root, path, what);
}

PRINTF(2, 3) static void make_folder(const char *root, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    CLEANUP_FREE char *path = xvasprintf(fmt, ap);
    va_end(ap);
    CLEANUP_JSON json_t *what = json_pack("{s:b}", "folder", 1);
    make_file(root, path, what);
}

/* ---- devices, as the kernel lays them out */

/* The folder of the device itself: below its bus. */
static char *device_folder(const char *address)
{
    return xasprintf("sys/devices/pci%.*s/%s", (int) strcspn(address, ".") - 3, address, address);
}

static void make_uevent(const char *root, const char *folder, const json_t *d)
{
    char *driver = json_str(d, "driver") ? xasprintf("DRIVER=%s\n", json_str(d, "driver"))
                                         : xstrdup("");
    CLEANUP_FREE char *id = xstrdup(json_str(d, "id"));
    for (char *c = id; *c; c++)
        *c = *c >= 'a' && *c <= 'f' ? (char) (*c - 'a' + 'A') : *c;
    const char *class = json_str(d, "class");
    CLEANUP_FREE char *text = xasprintf(
        "%sPCI_CLASS=%s\nPCI_ID=%s\nPCI_SUBSYS_ID=10DE:16C1\nPCI_SLOT_NAME=%s\nMODALIAS=pci:v0d0\n",
        driver, class + strspn(class, "0"), id, json_str(d, "address"));
    free(driver);
    make_text(root, text, "%s/uevent", folder);
}

static void make_config(const char *root, const char *folder, const json_t *d)
{
    CLEANUP_FREE char *path = xasprintf("%s/config", folder);
    const char *id = json_str(d, "id");
    /* Vendor and device, each with the low byte first. */
    CLEANUP_FREE char *hex = xasprintf("%.2s%.2s%.2s%.2s06041000", id + 2, id, id + 7, id + 5);
    CLEANUP_JSON json_t *what = json_pack("{s:s}", "bytes",
                                          json_bool(d, "silent", false) ? "ffffffffffffffff" : hex);
    make_file(root, path, what);
}

static void make_device(const char *root, const json_t *d)
{
    const char *address = json_str(d, "address"), *driver = json_str(d, "driver");
    CLEANUP_FREE char *folder = device_folder(address),
                      *target = xasprintf("../../../%s", folder + strlen("sys/"));
    make_uevent(root, folder, d);
    make_config(root, folder, d);
    CLEANUP_FREE char *numa = xasprintf("%d\n", (int) json_int(d, "numa", -1));
    make_text(root, numa, "%s/numa_node", folder);
    make_text(root, json_bool(d, "suspended", false) ? "suspended\n" : "active\n",
              "%s/power/runtime_status", folder);
    make_link(root, target, "sys/bus/pci/devices/%s", address);
    if (driver) {
        CLEANUP_FREE char *place = xasprintf("../../../bus/pci/drivers/%s", driver);
        make_folder(root, "sys/bus/pci/drivers/%s", driver);
        make_link(root, place, "%s/driver", folder);
    }
    if (json_str(d, "of")) {
        CLEANUP_FREE char *card = device_folder(json_str(d, "of")),
                          *place = xasprintf("../../../%s", card + strlen("sys/"));
        make_link(root, place, "%s/physfn", folder);
    }
}

/* What the driver says of a card. */
static void make_card(const char *root, const char *address, const json_t *card)
{
    int minor = (int) json_int(card, "minor", 0);
    CLEANUP_FREE char *text = xasprintf("Model: \t\t %s\nIRQ:   \t\t 155\nGPU UUID: \t %s\nVideo "
                                        "BIOS: \t ??.??.??.??.??\nBus Type: \t PCIe\n"
                                        "DMA Size: \t 47 bits\nDMA Mask: \t 0x7fffffffffff\nBus "
                                        "Location: \t %s\nDevice Minor: \t %d\n"
                                        "GPU Excluded:\t No\n",
                                        json_str(card, "product"), json_str(card, "uuid"), address,
                                        minor);
    make_text(root, text, "proc/driver/nvidia/gpus/%s/information", address);
    static const char access[] = "DeviceFileMinor: 3\nDeviceFileMode: 292\nDeviceFileModify: 1\n";
    for (int i = 0; i < (int) json_int(card, "instances", 0); i++) {
        make_text(root, access, "proc/driver/nvidia/capabilities/gpu%d/mig/gi%d/access", minor, i);
        make_text(root, access, "proc/driver/nvidia/capabilities/gpu%d/mig/gi%d/ci0/access", minor,
                  i);
    }
}

/* An open file of a process that holds a GPU. The text of the link ends like the device's. The link
 * leads to /dev/null, since a test must not make such devices, or to what the machine has there. */
static void make_open_file(const char *root, const json_t *files, const char *path, int pid,
                           size_t number)
{
    bool is_given = json_object_get(files, path + 1),
         is_driver = is_given || strstr(path, "/dev/nvidia");
    CLEANUP_FREE char *below = xasprintf("../../..%s", path),
                      *place = xasprintf("%s%s", root, path);
    make_link(root, is_driver ? below : path, "proc/%d/fd/%zu", pid, number);
    if (is_driver && !is_given && access(place, F_OK) != 0)
        make_link(root, "/dev/null", "%s", path + 1);
}

static void make_process(const char *root, const json_t *p, const json_t *files)
{
    int pid = (int) json_int(p, "pid", 0);
    size_t n;
    json_t *file;
    CLEANUP_FREE char *name = xasprintf("%s\n", json_str(p, "name"));
    make_text(root, name, "proc/%d/comm", pid);
    make_text(root, json_str_or_empty(p, "cgroup"), "proc/%d/cgroup", pid);
    make_link(root, "/dev/null", "proc/%d/fd/0", pid);
    json_array_foreach (json_at(p, "opens"), n, file)
        make_open_file(root, files, json_string_value(file), pid, n + 1);
}

/* ---- machines */

static json_t *machine_of(const char *name, int depth)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FREE char *path = xasprintf(FAKE_ROOTS "/%s/machine.yaml", name);
    CLEANUP_JSON json_t *documents = yaml_parse_file(path, NULL, &e);
    if (!documents || depth == LIKE_MAX)
        fail_msg("%s", documents ? "machines are like each other in a circle" : err_msg(&e));
    json_t *own = json_array_get(documents, 0);
    if (!json_str(own, "like"))
        return json_incref(own);
    json_t *whole = machine_of(json_str(own, "like"), depth + 1);
    CLEANUP_JSON json_t *copy = json_deep_copy(whole);
    json_decref(whole);
    json_merge(copy, own);
    return json_incref(copy);
}

char *fake_root_new(const json_t *machine)
{
    char *root = xasprintf("%s/ostler-root-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    must(mkdtemp(root) && chmod(root, 0755) == 0, root);
    size_t n;
    json_t *item;
    const char *path;
    json_array_foreach (json_at(machine, "pci"), n, item) {
        if (!json_bool(item, "gone", false))
            make_device(root, item);
        if (json_at(item, "card"))
            make_card(root, json_str(item, "address"), json_at(item, "card"));
    }
    json_array_foreach (json_at(machine, "processes"), n, item)
        make_process(root, item, json_at(machine, "files"));
    json_object_foreach (json_at(machine, "files"), path, item)
        if (!json_is_null(item))
            make_file(root, path, item);
    return root;
}

char *fake_root_of(const char *name)
{
    CLEANUP_JSON json_t *machine = machine_of(name, 0);
    return fake_root_new(machine);
}

char *fake_root_with(const char *files)
{
    CLEANUP_FREE char *text = xasprintf("{'files':{%s}}", files);
    CLEANUP_JSON json_t *machine = tree(text);
    return fake_root_new(machine);
}

static int take_away(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void) st;
    (void) at;
    return type == FTW_DP ? rmdir(path) : unlink(path);
}

/* A folder without read permission could not be emptied. */
static int open_up(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void) st;
    (void) at;
    return type == FTW_D || type == FTW_DNR ? chmod(path, 0755) : 0;
}

void fake_root_free(char *path)
{
    must(nftw(path, open_up, 16, FTW_PHYS) == 0, path);
    must(nftw(path, take_away, 16, FTW_PHYS | FTW_DEPTH) == 0, path);
    free(path);
}

void fake_root_look_begins(void)
{
    if (getuid() != 0)
        return;
    must(seteuid(NOBODY) == 0, "seteuid");
    /* Without this a process that has changed its user may not look at itself in procfs. */
    must(prctl(PR_SET_DUMPABLE, 1) == 0, "prctl");
}

void fake_root_look_ends(void)
{
    if (getuid() == 0)
        must(seteuid(0) == 0, "seteuid");
}

void fake_root_program(const char *root, const char *path, const char *does)
{
    CLEANUP_FREE char *file = xasprintf("%s/%s", root, path);
    char *slash = strrchr(file, '/');
    *slash = '\0';
    mkdir(file, 0755);
    *slash = '/';
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", does);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(file, 0755), 0);
}
