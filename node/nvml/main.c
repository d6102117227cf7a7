/* ostler-nvml: prints what the driver's library NVML reports of its GPUs beyond procfs. Output:
 *
 *     card UUID MEMORY             of all GPUs; in MiB
 *     mig UUID PROFILE MIG-UUID    of each MIG device of that GPU
 *     end
 *
 * ostler-node starts it in the root directory of a driver, with that root's loader and C library,
 * whichever these are. So it has no start files, and uses only parts of the C library that have not
 * changed in ten years. Facts that the library's version lacks are left out. A fault in the library
 * ends only this process. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "node/nvml/begin.h"

enum {
    NVML_SUCCESS = 0,
    MIG_ENABLED = 1,
    NAME_MAX_LEN = 128,
    CARDS_MAX = 64,
    MIG_DEVICES_MAX = 64,
    LINE_MAX_LEN = 512
};

/* The library's struct, in bytes. */
struct nvml_memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

#define OF_THE_DRIVER __attribute__((weak))
extern int nvmlInit_v2(void) OF_THE_DRIVER;
extern int nvmlShutdown(void) OF_THE_DRIVER;
extern int nvmlDeviceGetCount_v2(unsigned *count) OF_THE_DRIVER;
extern int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret) OF_THE_DRIVER;
extern int nvmlDeviceGetUUID(void *device, char *ret, unsigned size) OF_THE_DRIVER;
extern int nvmlDeviceGetName(void *device, char *ret, unsigned size) OF_THE_DRIVER;
extern int nvmlDeviceGetMemoryInfo(void *device, struct nvml_memory *ret) OF_THE_DRIVER;
extern int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later) OF_THE_DRIVER;
extern int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *ret) OF_THE_DRIVER;
extern int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index,
                                               void **ret) OF_THE_DRIVER;

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

static void ask_gpu(void *device)
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

void begin(void)
{
    unsigned count = 0;
    if (!nvmlInit_v2 || !nvmlShutdown || !nvmlDeviceGetCount_v2 || !nvmlDeviceGetHandleByIndex_v2 ||
        !nvmlDeviceGetUUID || !nvmlDeviceGetMemoryInfo)
        _exit(2);
    if (nvmlInit_v2() != NVML_SUCCESS || nvmlDeviceGetCount_v2(&count) != NVML_SUCCESS)
        _exit(3);
    for (unsigned i = 0; i < count && i < CARDS_MAX; i++) {
        void *device = NULL;
        /* Skips a GPU that has fallen off the bus. */
        if (nvmlDeviceGetHandleByIndex_v2(i, &device) == NVML_SUCCESS)
            ask_gpu(device);
    }
    begin_write(STDOUT_FILENO, "end\n");
    nvmlShutdown();
    _exit(0);
}
