/* GPUs that fall off the bus between scans: which are watched, and when one counts as lost. */
#include "node/inventory/bus_watch.h"

#include <string.h>

#include "base/str.h"
#include "node/inventory/inventory.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"

#define GPU "sys/bus/pci/devices/0000:19:00.0/"

static const struct row {
    const char *name, *gpu_before, *gpu_after;
    bool lost;
} rows[] = {
    { "a GPU that answers is not lost", "'" GPU "config':{'bytes':'de102233'}",
      "'" GPU "config':{'bytes':'de102233'}", false },
    { "a GPU that is silent now is lost", "'" GPU "config':{'bytes':'de102233'}",
      "'" GPU "config':{'bytes':'ffffffff'}", true },
    { "a GPU that was silent at the scan is known to be", "'" GPU "config':{'bytes':'ffffffff'}",
      "'" GPU "config':{'bytes':'ffffffff'}", false },
    { "a GPU that sleeps now is not read", "'" GPU "config':{'bytes':'de102233'}",
      "'" GPU "config':{'bytes':'ffffffff'},'" GPU "power/runtime_status':'suspended\\n'", false },
    { "a GPU that slept at the scan is not watched",
      "'" GPU "config':{'bytes':'de102233'},'" GPU "power/runtime_status':'suspended\\n'",
      "'" GPU "config':{'bytes':'ffffffff'}", false },
    { "a GPU whose bytes cannot be read is not lost", "'" GPU "config':{'bytes':'de102233'}",
      "'" GPU "config':{'folder':true}", false },
    { "a GPU that is not listed is for the kernel's event", "'" GPU "config':{'bytes':'de102233'}",
      "'sys/bus/x':''", false },
};

static void check_row(void **state)
{
    const struct row *row = *state;
    CLEANUP_FREE char *uevent = xasprintf(
        "'" GPU "uevent':'DRIVER=nvidia\\nPCI_CLASS=30200\\nPCI_ID=10DE:2330\\n',%s",
        row->gpu_before);
    CLEANUP_FAKE_ROOT char *before = NULL, *after = NULL;
    CLEANUP_ROOT struct root root_before = { .fd = -1 }, root_after = { .fd = -1 };
    CLEANUP_INVENTORY struct inventory seen = { 0 };
    struct bus_watch watch = { 0 };
    before = fake_root_open(uevent, &root_before);
    after = fake_root_open(row->gpu_after, &root_after);
    inventory_look(&root_before, &seen);
    assert_int_equal(seen.bus.gpus.len, 1);
    bus_watch_take(&watch, &seen.bus.gpus);
    assert_int_equal(bus_watch_lost(&watch, &root_after), row->lost);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    return suite_run(&s, "bus_watch");
}
