/* The same row more in the table of vendors: what the node agent makes of a machine with GPUs of
 * that vendor. */
#include "base/vendor.h"

#include <string.h>

#include "base/json.h"
#include "node/agent/wakes.h"
#include "node/inventory/inventory.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const struct vendor *amd(void)
{
    const struct vendor *v = vendor_of_pci(0x1002);
    assert_non_null(v);
    return v;
}

#define MACHINE                                                                                    \
    "{'pci': [{'address': '0000:01:00.0', 'id': '1002:74a1', 'class': '120000', 'driver': "        \
    "'amdgpu'},"                                                                                   \
    " {'address': '0000:02:00.0', 'id': '1002:1631', 'class': '060000'}],"                         \
    " 'processes': [{'pid': 77, 'name': 'python3', 'cgroup': '0::/', 'opens': ['/dev/kfd']}],"     \
    " 'files': {'proc/modules': 'amdgpu 100 3 - Live 0x0\\n', 'sys/module/amdgpu/version': "       \
    "'6.10.5\\n', 'dev/kfd': {'link': '/dev/null'}}}"

static void check_machine(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *machine = tree(MACHINE);
    char *path = fake_root_new(machine);
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_INVENTORY struct inventory i = { 0 };
    assert_int_equal(root_open(&root, path, NULL), 0);
    inventory_look(&root, &i);
    assert_int_equal(i.bus.gpus.len, 1);
    assert_int_equal(i.bus.switches.len, 0);
    assert_true(i.module.loaded);
    CLEANUP_JSON json_t *said = inventory_json(&i);
    assert_tree(
        json_object_get(said, "gpus"),
        "[{'address': '0000:01:00.0', 'vendor': '1002', 'device': '74a1', 'bus': 'Answers', "
        "'driver': 'amdgpu'}]");
    assert_string_equal(json_str(said, "module.version"), "6.10.5");
    assert_int_equal(i.holders.len, 1);
    assert_int_equal(i.holders.items[0].pid, 77);
    fake_root_free(path);
}

static const struct device_row {
    const char *name, *path;
    bool amd, nvidia;
} device_rows[] = {
    { "device: the one that all of its GPUs share", "/dev/kfd", true, false },
    { "device: that of one GPU", "/dev/dri/renderD128", true, false },
    { "device: in the root of a driver", "/run/x/dev/dri/renderD129 (deleted)", true, false },
    { "device: a display's", "/dev/dri/card0", false, false },
    { "device: NVIDIA's", "/dev/nvidia0", false, true },
};

static void check_device(void **state)
{
    const struct device_row *row = *state;
    uint64_t minors = 0;
    assert_int_equal(holders_is_device(amd(), row->path, &minors), row->amd);
    assert_int_equal(holders_is_device(&vendors[VENDOR_NVIDIA], row->path, &minors), row->nvidia);
}

static void check_majors(void **state)
{
    (void) state;
    static const char devices[] = "Character devices:\n195 nvidia\n226 drm\n235 kfd\n";
    struct driver_majors m;
    driver_majors_parse((struct part){ devices, strlen(devices) }, amd(), &m);
    assert_int_equal(m.len, 2);
    assert_true(driver_majors_has(&m, 226) && driver_majors_has(&m, 235));
}

static void check_news(void **state)
{
    (void) state;
    static const char module[] = "add@/module/amdgpu",
                      card[] = "add@/devices/x\0PCI_CLASS=120000\0PCI_ID=1002:74A1\0";
    assert_true(wakes_is_news((struct part){ module, sizeof module - 1 }));
    assert_true(wakes_is_news((struct part){ card, sizeof card - 1 }));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_device, device_rows);
    suite_add(&s, "a machine, as the agent says it", check_machine, NULL);
    suite_add(&s, "the numbers of its driver's devices", check_majors, NULL);
    suite_add(&s, "its module and its cards wake the agent", check_news, NULL);
    return suite_run(&s, "second vendor on a node");
}
