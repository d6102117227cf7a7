#include "node/cuda/facts.h"

#include <dlfcn.h>
#include <stddef.h>

#include "node/cuda/driver.h"

/* The oldest symbol versions, so that C libraries before 2.34 work, where libdl has them. */
#ifndef OSTLER_WITH_MAIN
#if defined(__x86_64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.17");
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif
#endif

enum { NVML_SUCCESS = 0, CORRECTED = 0, UNCORRECTED = 1, VOLATILE = 0 };

static struct {
    int (*init)(void);
    int (*driver)(char *ret, unsigned size);
    int (*by_uuid)(const char *uuid, void **ret);
    int (*memory)(void *device, unsigned long long ret[3]);
    int (*ecc)(void *device, int type, int counter, unsigned long long *ret);
} nvml;

static const struct {
    const char *name;
    void *function;
} functions[] = {
    { "nvmlInit_v2", &nvml.init },
    { "nvmlSystemGetDriverVersion", &nvml.driver },
    { "nvmlDeviceGetHandleByUUID", &nvml.by_uuid },
    { "nvmlDeviceGetMemoryInfo", &nvml.memory },
    { "nvmlDeviceGetTotalEccErrors", &nvml.ecc },
};

void facts_open(void)
{
    void *library = dlopen && dlsym ? dlopen("libnvidia-ml.so.1", RTLD_NOW) : NULL;
    for (size_t i = 0; library && i < sizeof functions / sizeof functions[0]; i++)
        *(void **) functions[i].function = dlsym(library, functions[i].name);
    if (!nvml.init || nvml.init() != NVML_SUCCESS)
        nvml.driver = NULL, nvml.by_uuid = NULL;
}

int facts_driver(char *ret, unsigned size)
{
    return nvml.driver && nvml.driver(ret, size - 1) == NVML_SUCCESS;
}

static void *facts_find(const char *uuid)
{
    void *device = NULL;
    return nvml.by_uuid && nvml.by_uuid(uuid, &device) == NVML_SUCCESS ? device : NULL;
}

int facts_memory(const char *uuid, unsigned long long *ret_mib)
{
    unsigned long long memory[3] = { 0 };
    void *device = facts_find(uuid);
    if (!device || !nvml.memory || nvml.memory(device, memory) != NVML_SUCCESS)
        return 0;
    *ret_mib = memory[0] >> 20;
    return 1;
}

int facts_ecc(const char *uuid, struct ecc *ret)
{
    void *device = facts_find(uuid);
    return device && nvml.ecc &&
           nvml.ecc(device, CORRECTED, VOLATILE, &ret->corrected) == NVML_SUCCESS &&
           nvml.ecc(device, UNCORRECTED, VOLATILE, &ret->uncorrected) == NVML_SUCCESS;
}
