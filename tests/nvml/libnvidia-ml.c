/* A library that stands in for the driver's NVML. How it behaves is the last name of the path in
 * LD_LIBRARY_PATH: tests put a link to it into a folder of that name. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SUCCESS = 0,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    UNKNOWN = 999,
    CARDS = 2,
    DEVICES_OF_ONE = 7,
    FLOOD = 64
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **ret);
int nvmlSystemGetDriverVersion(char *ret, unsigned size);
int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *ret);
int nvmlDeviceGetUUID(void *device, char *ret, unsigned size);
int nvmlDeviceGetName(void *device, char *ret, unsigned size);
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3]);
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later);
int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *ret);
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **ret);

/* A card, or a MIG device of the first one. */
struct device {
    unsigned number;
    bool is_mig;
};

static struct device cards[FLOOD];
static struct device instances[DEVICES_OF_ONE];

static bool behaves(const char *how)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    const char *name = path ? strrchr(path, '/') : NULL;
    return name && strcmp(name + 1, how) == 0;
}

int nvmlInit_v2(void)
{
    if (behaves("crashes"))
        raise(SIGSEGV);
    if (behaves("refuses"))
        return UNKNOWN;
    while (behaves("hangs"))
        pause();
    /* A child that outlives it keeps the pipe open. */
    if (behaves("leaves-a-child") && fork() == 0)
        for (;;)
            pause();
    /* A child that a signal to the process group does not reach. */
    if (behaves("leaves-a-session") && fork() == 0) {
        setsid();
        for (;;)
            pause();
    }
    if (behaves("breaks-out") && chroot(".") == 0)
        return UNKNOWN;
    while (behaves("talks"))
        if (write(STDOUT_FILENO, "card GPU-0 1\n", 13) < 0)
            _exit(0);
    return SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = behaves("lies") ? ~0U : CARDS;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret)
{
    if (index >= FLOOD)
        return NOT_FOUND;
    cards[index].number = index;
    *ret = &cards[index];
    return SUCCESS;
}

/* By the names that the CUDA library beside it has for its cards. */
int nvmlDeviceGetHandleByUUID(const char *uuid, void **ret)
{
    return nvmlDeviceGetHandleByIndex_v2(
        strcmp(uuid, "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f") == 0, ret);
}

int nvmlSystemGetDriverVersion(char *ret, unsigned size)
{
    snprintf(ret, size, "570.211.01");
    return SUCCESS;
}

/* Counted since the driver was loaded. */
int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *ret)
{
    const struct device *d = device;
    *ret = 3 + (unsigned) type - d->number;
    return counter == 0 && d->number < CARDS ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetUUID(void *device, char *ret, unsigned size)
{
    const struct device *d = device;
    if (behaves("lies"))
        memset(ret, '\n', size); /* and no end */
    else
        snprintf(ret, size, d->is_mig ? "MIG-%u" : "GPU-%u", d->number);
    if (behaves("crashes-late") && d->number == 1)
        raise(SIGABRT);
    return SUCCESS;
}

int nvmlDeviceGetName(void *device, char *ret, unsigned size)
{
    const struct device *d = device;
    snprintf(ret, size, d->is_mig ? "NVIDIA A100-SXM4-40GB MIG 1g.5gb" : "NVIDIA A100-SXM4-40GB");
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3])
{
    (void) device;
    ret[0] = behaves("lies") ? ~0ULL : 40960ULL << 20;
    return SUCCESS;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later)
{
    const struct device *d = device;
    *now = *later = d->number == 0;
    return SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *ret)
{
    (void) device;
    *ret = DEVICES_OF_ONE;
    return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **ret)
{
    (void) device;
    if (index % 3 == 2)
        return NOT_FOUND;
    instances[index] = (struct device){ index, true };
    *ret = &instances[index];
    return SUCCESS;
}
