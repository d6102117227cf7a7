/* `ostler-node unload`: what leaves a machine before a driver container starts, and what keeps it
 * from that. */
#include "node/operand/unload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/str.h"
#include "node/operand/unload_plan.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { SAID_MAX = 512 };

/* What the kernel is asked for, in its order; it refuses the module with this name. */
static char asked[SAID_MAX];
static const char *refused;

static int unload(const char *name)
{
    size_t len = strlen(asked);
    snprintf(asked + len, sizeof asked - len, "%s%s", len ? " " : "", name);
    return str_eq(name, refused) ? EBUSY : str_eq(name, "gdrdrv") ? ENOENT : 0;
}

#define MODULES(lines) "'proc/modules':'" lines "'"
#define LINE(name, references, users) name " 1000 " references " " users " Live 0x0 (OE)\\n"
#define DRIVER                                                                                     \
    LINE("nvidia_uvm", "0", "-")                                                                   \
    LINE("nvidia_modeset", "0", "-") LINE("nvidia", "2", "nvidia_uvm,nvidia_modeset,")
#define DRIVER_HELD LINE("nvidia_uvm", "0", "-") LINE("nvidia", "2", "nvidia_uvm,nv_peer_mem,")
#define BOUND "'sys/bus/pci/drivers/vfio-pci/"
#define GPU_ALONE(address, override)                                                               \
    "," BOUND address "/vendor':'0x10de\\n'," BOUND address "/class':'0x030200\\n'," BOUND address \
    "/driver_override':'" override "\\n'," BOUND address                                           \
    "/iommu_group':{'link':'../../../kernel/iommu_groups/42'}"
#define GPU(address, override) GPU_ALONE(address, override) "," BOUND "unbind':''"
#define OPEN(file) ",'proc/5100/fd/9':{'link':'" file "'}"

static const struct row {
    const char *name;
    const char *files;
    const char *refused;
    const char *asked;
    const char *unbound; /* what the driver vfio-pci was asked to let go of */
    const char *error;
} rows[] = {
    { "nothing is loaded", MODULES(""), NULL, "", "", NULL },
    { "idle modules go, users first", MODULES(DRIVER), NULL, "nvidia_modeset nvidia_uvm nvidia", "",
      NULL },
    { "modules of the wanted revision stay",
      MODULES(DRIVER) ",'run/nvidia/nvidia-driver.state':'rev1\\n'", NULL, "", "", NULL },
    { "those stay, whoever uses them",
      MODULES(LINE("nvidia", "9", "-")) ",'run/nvidia/nvidia-driver.state':'rev1'", NULL, "", "",
      NULL },
    { "modules of another revision go",
      MODULES(DRIVER) ",'run/nvidia/nvidia-driver.state':'rev0\\n'", NULL,
      "nvidia_modeset nvidia_uvm nvidia", "", NULL },
    { "what is left of a revision that is loaded no more",
      MODULES(LINE("nouveau", "0", "-")) ",'run/nvidia/nvidia-driver.state':'rev1\\n'", NULL,
      "nouveau", "", NULL },
    { "a job on the GPU stops it before anything goes",
      MODULES(LINE("nvidia_fs", "0", "-") LINE("nvidia_uvm", "4", "-")
                  LINE("nvidia", "9", "nvidia_uvm,")),
      NULL, "", "", "DriverInUse: processes on this node use nvidia_uvm nvidia" },
    { "holders that the container does not know",
      MODULES(LINE("gdrdrv", "0", "-") LINE("nvidia_fs", "0", "-")
                  LINE("nvidia", "2", "nvidia_fs,gdrdrv,")),
      NULL, "nvidia_fs gdrdrv nvidia", "", NULL },
    { "what gives network cards the GPUs' memory goes before the driver",
      MODULES(LINE("nvidia_peermem", "0", "-") LINE("gdrdrv", "0", "-")
                  LINE("ib_core", "1", "nvidia_peermem,") LINE("nvidia_uvm", "0", "-")
                      LINE("nvidia", "3", "nvidia_uvm,nvidia_peermem,gdrdrv,")),
      NULL, "nvidia_uvm nvidia_peermem gdrdrv nvidia", "", NULL },
    { "network cards that use it stop that before anything goes",
      MODULES(LINE("nvidia_peermem", "1", "-") LINE("nvidia", "1", "nvidia_peermem,")), NULL, "",
      "", "DriverInUse: processes on this node use nvidia_peermem" },
    { "an unknown module stays, and is named", MODULES(DRIVER_HELD LINE("nv_peer_mem", "0", "-")),
      NULL, "", "", "DriverInUse: the module nv_peer_mem uses nvidia" },
    { "and so is one of those that go with the driver",
      MODULES(LINE("wekafsio", "3", "-") LINE("nvidia_fs", "1", "wekafsio,")
                  LINE("nvidia", "1", "nvidia_fs,")),
      NULL, "", "", "DriverInUse: the module wekafsio uses nvidia_fs" },
    { "a word of the kernel's among users is none",
      MODULES(LINE("nvidia", "1", "nvidia_uvm,[permanent],") LINE("nvidia_uvm", "0", "-")), NULL,
      "nvidia_uvm nvidia", "", NULL },
    { "a module that a process begins to use just then", MODULES(DRIVER), "nvidia_uvm",
      "nvidia_modeset nvidia_uvm", "",
      "DriverInUse: nvidia_uvm cannot be unloaded: Device or resource busy" },
    { "nouveau", MODULES(LINE("nouveau", "0", "-")), NULL, "nouveau", "", NULL },
    { "nouveau has the screen", MODULES(LINE("nouveau", "1", "-")), "nouveau", "nouveau", "",
      "NouveauLoaded: nouveau holds the GPU (Device or resource busy); keep it from loading "
      "(modprobe.blacklist=nouveau) and "
      "reboot" },
    { "nova, users first, and nouveau",
      MODULES(LINE("nouveau", "0", "-") LINE("nova_core", "1", "nova_drm,")
                  LINE("nova_drm", "0", "-")),
      NULL, "nova_drm nova_core nouveau", "", NULL },
    { "nova has the screen",
      MODULES(LINE("nova_core", "1", "nova_drm,") LINE("nova_drm", "1", "-")), "nova_drm",
      "nova_drm", "",
      "NouveauLoaded: nova_drm holds the GPU (Device or resource busy); keep it from loading "
      "(modprobe.blacklist=nova_drm) and "
      "reboot" },
    { "a GPU that was bound to vfio-pci by hand comes back",
      MODULES("") GPU("0000:3b:00.0", "vfio-pci") OPEN("/dev/vfio/7"), NULL, "", "0000:3b:00.0",
      NULL },
    { "one that a virtual machine has stays",
      MODULES("") GPU("0000:3b:00.0", "vfio-pci") OPEN("/dev/vfio/42"), NULL, "", "", NULL },
    { "also where there is no IOMMU",
      MODULES("") GPU("0000:3b:00.0", "vfio-pci") OPEN("/dev/vfio/noiommu-42"), NULL, "", "",
      NULL },
    { "also where it has the device alone",
      MODULES("") GPU("0000:3b:00.0", "vfio-pci") "," BOUND
                                                  "0000:3b:00.0/vfio-dev/vfio3/dev':'510:3'" OPEN(
                                                      "/dev/vfio/devices/vfio3"),
      NULL, "", "", NULL },
    { "one stays where it cannot be seen who has it",
      MODULES("")
          GPU("0000:3b:00.0", "vfio-pci") ",'proc/5100/fd':{'folder':true,'unreadable':true}",
      NULL, "", "", NULL },
    { "one that cannot be unbound is left as it was",
      MODULES("") GPU_ALONE("0000:3b:00.0", "vfio-pci") "," BOUND "unbind':{'folder':true}", NULL,
      "", "", NULL },
    { "one bound by the kernel's command line stays", MODULES("") GPU("0000:3b:00.0", "(null)"),
      NULL, "", "", NULL },
    { "what is no card of NVIDIA stays",
      MODULES("") "," BOUND "0000:5e:00.0/vendor':'0x15b3\\n'," BOUND
                  "0000:5e:00.0/class':'0x020000\\n'," BOUND
                  "0000:5e:00.0/driver_override':'vfio-pci\\n'," BOUND "unbind':''",
      NULL, "", "", NULL },
    { "a kernel without a list of modules", "'sys/module/kernel/x':''", NULL, "", "", NULL },
    { "what such a kernel has in sysfs",
      "'sys/module/nvidia/refcnt':'1\\n','sys/module/nvidia/holders/nvidia_uvm':'','sys/module/"
      "nvidia_uvm/refcnt':'0\\n',"
      "'sys/module/nouveau/refcnt':'0\\n','sys/module/nova_core/refcnt':'0\\n'",
      NULL, "nvidia_uvm nvidia nova_core nouveau", "", NULL },
    { "an unknown module there uses the driver",
      "'sys/module/nvidia/refcnt':'1\\n','sys/module/nvidia/holders/nv_peer_mem':''", NULL, "", "",
      "DriverInUse: the module nv_peer_mem uses nvidia" },
    { "a process there uses the driver",
      "'sys/module/nvidia/refcnt':'2\\n','sys/module/nvidia/holders/nvidia_uvm':'','sys/module/"
      "nvidia_uvm/refcnt':'0\\n'",
      NULL, "", "", "DriverInUse: processes on this node use nvidia" },
    { "a list of modules without end", "'proc/modules':{'size':1000000}", NULL, "", "",
      "cannot list the loaded modules: proc/modules: File too large" },
    { "no list of modules", "'proc/x':''", NULL, "", "",
      "cannot list the loaded modules: proc/modules: No such file or directory" },
    { "a state without end is none",
      MODULES(DRIVER) ",'run/nvidia/nvidia-driver.state':{'size':1000000}", NULL,
      "nvidia_modeset nvidia_uvm nvidia", "", NULL },
};

static void open_to_all(const char *root, const char *name)
{
    CLEANUP_FREE char *path = xasprintf("%s/sys/bus/pci/drivers/vfio-pci/%s", root, name);
    assert_int_equal(chmod(path, 0666), 0);
}

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(row->files, &root);
    CLEANUP_ERR struct err e = { 0 };
    asked[0] = '\0';
    refused = row->refused;
    /* Only root writes in sysfs. What must stay unreadable is read as another user, who may write
     * there too. */
    bool as_other = strstr(row->files, "unreadable") != NULL;
    if (as_other) {
        open_to_all(path, "unbind");
        open_to_all(path, "0000:3b:00.0/driver_override");
        fake_root_look_begins();
    }
    int rc = unload_run(&root, "rev1", unload, &e);
    if (as_other)
        fake_root_look_ends();
    CLEANUP_FREE char *unbound = fake_root_text(&root, "sys/bus/pci/drivers/vfio-pci/unbind");
    CLEANUP_FREE char *override = fake_root_text(
        &root, "sys/bus/pci/drivers/vfio-pci/0000:3b:00.0/driver_override");
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    assert_string_equal(asked, row->asked);
    assert_string_equal(unbound, row->unbound);
    if (*row->unbound)
        assert_int_equal(override[0], '\n');
    else if (strstr(row->files, "0000:3b:00.0/driver_override':'vfio-pci"))
        assert_true(str_has_prefix(override, "vfio-pci"));
}

/* NVIDIA's file that says whose modules are loaded. */
static const struct state_row {
    const char *name;
    const char *files;
    bool stays;
} state_rows[] = {
    { "state: with its modules", MODULES(DRIVER) ",'run/nvidia/nvidia-driver.state':'rev1'", true },
    { "state: modules that are in use are still its own",
      MODULES(LINE("nvidia", "9", "-")) ",'run/nvidia/nvidia-driver.state':'rev0'", true },
    { "state: not without its modules", MODULES(DRIVER) ",'run/nvidia/nvidia-driver.state':'rev0'",
      false },
    { "state: not that of this revision, with nothing loaded",
      MODULES("") ",'run/nvidia/nvidia-driver.state':'rev1'", false },
};

static void check_state(void **state)
{
    const struct state_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(row->files, &root);
    asked[0] = '\0';
    unload_run(&root, "rev1", unload, NULL);
    CLEANUP_FREE char *left = fake_root_text(&root, "run/nvidia/nvidia-driver.state");
    assert_int_equal(*left != '\0', row->stays);
}

/* A machine may have more cards than are kept. */
static void check_many(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *files = json_pack("{s:s}", "proc/modules", "");
    for (int i = 0; i < 2 * UNLOAD_DEVICES_MAX; i++) {
        static const char *const values[][2] = { { "vendor", "0x10de" },
                                                 { "class", "0x030200" },
                                                 { "driver_override", "vfio-pci" } };
        for (size_t k = 0; k < ARRAY_LEN(values); k++) {
            CLEANUP_FREE char *name = xasprintf("sys/bus/pci/drivers/vfio-pci/0000:%02x:00.0/%s", i,
                                                values[k][0]);
            json_object_set_new(files, name, json_string(values[k][1]));
        }
    }
    CLEANUP_JSON json_t *machine = json_pack("{s:O}", "files", files);
    CLEANUP_FAKE_ROOT char *path = fake_root_new(machine);
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_VIEW struct view v = { .root = &root };
    struct unload_plan plan;
    assert_int_equal(root_open(&root, path, NULL), 0);
    assert_int_equal(unload_plan_make(&v, "rev1", &plan, NULL), 0);
    assert_int_equal(plan.device_count, UNLOAD_DEVICES_MAX);
    /* Without an IOMMU group its user is unknown. */
    assert_true(plan.devices[0].in_use);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    SUITE_ROWS(&s, check_state, state_rows);
    suite_add(&s, "more cards than are kept", check_many, NULL);
    return suite_run(&s, "unload");
}
