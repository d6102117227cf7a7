/* ostler-nvml: prints what the driver's library NVML reports of its GPUs beyond procfs. Output, for
 * each GPU:
 *
 *     asks ADDRESS                 the next lines are about the GPU with this PCI address
 *     card UUID MEMORY             in MiB
 *     mig UUID PROFILE MIG-UUID    of each MIG device of that GPU
 *     health ADDRESS KEY=VALUE …   node/inventory/nvml.h has the keys
 *
 * and at last "end". If it hangs, the last line shows which GPU does. The variable OSTLER_GPUS has
 * the addresses of GPUs, in the order in which it asks about them; without it, it asks about all in
 * the library's order.
 *
 * ostler-node starts it in the root directory of a driver, with that root's loader and C library,
 * whichever these are. So it has no start files, and uses only parts of the C library that have not
 * changed in ten years. Facts that the library's version lacks are left out. A fault in the library
 * ends only this process. It creates no set of events, which would keep the driver in use. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "node/nvml/begin.h"
#include "node/nvml/health.h"
#include "node/nvml/library.h"

#define GPUS "OSTLER_GPUS"

enum {
    NAME_MAX_LEN = 128,
    ADDRESS_MAX_LEN = 32,
    CARDS_MAX = 64,
    MIG_DEVICES_MAX = 64,
    LINE_MAX_LEN = 512
};

/* "1g.10gb" of "NVIDIA H100 80GB HBM3 MIG 1g.10gb". */
static const char *profile_of(const char *name)
{
    const char *at = strstr(name, "MIG ");
    return at ? at + strlen("MIG ") : NULL;
}

static void ask_mig_device(const char *gpu, void *device)
{
    char uuid[NAME_MAX_LEN] = "", name[NAME_MAX_LEN] = "", line[LINE_MAX_LEN];
    /* The last byte stays zero as a terminator. */
    if (nvmlDeviceGetUUID(device, uuid, sizeof uuid - 1) != NVML_SUCCESS ||
        nvmlDeviceGetName(device, name, sizeof name - 1) != NVML_SUCCESS)
        return;
    const char *profile = profile_of(name);
    if (!profile)
        return;
    snprintf(line, sizeof line, "mig %s %s %s\n", gpu, profile, uuid);
    begin_write(STDOUT_FILENO, line);
}

static void ask_mig(const char *gpu, void *device)
{
    unsigned now = 0, later = 0, count = 0;
    if (!nvmlDeviceGetMigMode || !nvmlDeviceGetMaxMigDeviceCount ||
        !nvmlDeviceGetMigDeviceHandleByIndex || !nvmlDeviceGetName)
        return;
    if (nvmlDeviceGetMigMode(device, &now, &later) != NVML_SUCCESS || now != MIG_ENABLED ||
        nvmlDeviceGetMaxMigDeviceCount(device, &count) != NVML_SUCCESS)
        return;
    for (unsigned i = 0; i < count && i < MIG_DEVICES_MAX; i++) {
        void *instance = NULL;
        /* Indexes of MIG devices may have gaps. */
        if (nvmlDeviceGetMigDeviceHandleByIndex(device, i, &instance) == NVML_SUCCESS)
            ask_mig_device(gpu, instance);
    }
}

static void ask_card(void *device)
{
    char uuid[NAME_MAX_LEN] = "", line[LINE_MAX_LEN];
    struct nvml_memory memory = { 0, 0, 0 };
    if (nvmlDeviceGetUUID(device, uuid, sizeof uuid - 1) != NVML_SUCCESS ||
        nvmlDeviceGetMemoryInfo(device, &memory) != NVML_SUCCESS)
        return;
    snprintf(line, sizeof line, "card %s %llu\n", uuid, memory.total >> 20);
    begin_write(STDOUT_FILENO, line);
    ask_mig(uuid, device);
}

static void announce(const char *address)
{
    char line[LINE_MAX_LEN];
    snprintf(line, sizeof line, "asks %s\n", address);
    begin_write(STDOUT_FILENO, line);
}

static void ask_health(const char *address, int result, void *device)
{
    char line[HEALTH_LINE_MAX];
    if (health_describe(address, result, device, line))
        begin_write(STDOUT_FILENO, line);
}

static void ask_by_address(const char *address)
{
    void *device = NULL;
    announce(address);
    /* The library initializes the GPU now, which hangs first if any call does. */
    int result = nvmlDeviceGetHandleByPciBusId_v2(address, &device);
    if (result == NVML_SUCCESS)
        ask_card(device);
    ask_health(address, result, device);
}

static void ask_by_index(unsigned index)
{
    char address[ADDRESS_MAX_LEN];
    struct nvml_pci pci = { .domain = 0 };
    void *device = NULL;
    /* Skips a GPU that has fallen off the bus: it has no address here. */
    if (nvmlDeviceGetHandleByIndex_v2(index, &device) != NVML_SUCCESS)
        return;
    bool has_address = nvmlDeviceGetPciInfo_v3 &&
                       nvmlDeviceGetPciInfo_v3(device, &pci) == NVML_SUCCESS;
    /* The form of sysfs. */
    snprintf(address, sizeof address, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
    if (has_address)
        announce(address);
    ask_card(device);
    if (has_address)
        ask_health(address, NVML_SUCCESS, device);
}

/* False: there is no list of addresses. */
static bool ask_listed(void)
{
    const char *at = getenv(GPUS);
    if (!at || !nvmlDeviceGetHandleByPciBusId_v2)
        return false;
    for (unsigned i = 0; i < CARDS_MAX && *at; i++) {
        char address[ADDRESS_MAX_LEN];
        size_t len = strcspn(at, " ");
        if (len > 0 && len < sizeof address) {
            snprintf(address, sizeof address, "%.*s", (int) len, at);
            ask_by_address(address);
        }
        at += len + (at[len] == ' ');
    }
    return true;
}

void begin(void)
{
    unsigned count = 0;
    /* It is started by a descriptor, which gives it no name. The agent looks for this one. */
    prctl(PR_SET_NAME, "ostler-nvml");
    if (!nvmlInit_v2 || !nvmlShutdown || !nvmlDeviceGetCount_v2 || !nvmlDeviceGetHandleByIndex_v2 ||
        !nvmlDeviceGetUUID || !nvmlDeviceGetMemoryInfo)
        _exit(2);
    if (nvmlInit_v2() != NVML_SUCCESS || nvmlDeviceGetCount_v2(&count) != NVML_SUCCESS)
        _exit(3);
    if (!ask_listed())
        for (unsigned i = 0; i < count && i < CARDS_MAX; i++)
            ask_by_index(i);
    begin_write(STDOUT_FILENO, "end\n");
    nvmlShutdown();
    _exit(0);
}
