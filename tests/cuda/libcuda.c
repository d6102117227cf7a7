/* A library that stands in for the driver's CUDA library. It runs the one program that it is asked
 * to, on this processor. How it behaves is the last name of the path in LD_LIBRARY_PATH: tests put
 * a link to it into a folder of that name. A name that ends in a number is the error that cuInit
 * returns. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OK = 0,
    INVALID = 1,
    MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_PTX = 218,
    ECC = 214,
    LAUNCH = 719,
    CARDS = 2,
    MAJOR = 75
};

typedef unsigned long long address;

int cuInit(unsigned flags);
int cuDriverGetVersion(int *ret);
int cuDeviceGetCount(int *ret);
int cuDeviceGet(int *ret, int index);
int cuDeviceGetName(char *ret, int size, int device);
int cuDeviceGetUuid(unsigned char ret[16], int device);
int cuDeviceGetUuid_v2(unsigned char ret[16], int device);
int cuDeviceGetAttribute(int *ret, int attribute, int device);
int cuDeviceTotalMem_v2(size_t *ret, int device);
int cuDevicePrimaryCtxRetain(void **ret, int device);
int cuDevicePrimaryCtxRelease(int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **ret, const void *image);
int cuModuleGetFunction(void **ret, void *module, const char *name);
int cuMemAlloc_v2(address *ret, size_t size);
int cuMemFree_v2(address at);
int cuMemcpyHtoD_v2(address to, const void *from, size_t size);
int cuMemcpyDtoH_v2(void *to, address from, size_t size);
int cuMemcpyDtoD_v2(address to, address from, size_t size);
int cuMemsetD8_v2(address at, unsigned char value, size_t size);
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **parameters, void **extra);

/* The devices of a machine, where a test has one (e2e/operands/driver/cuda.c): opens them as a
 * driver's library does, and returns its error. Without it there are two GPUs and no devices. */
int stand_in_open(int *ret_count) __attribute__((weak));

static int cards = CARDS;
static int current; /* the card whose context is; a card's context is its number, from 1 */
static unsigned allocated;

static const char *how(void)
{
    const char *path = getenv("LD_LIBRARY_PATH"), *name = path ? strrchr(path, '/') : NULL;
    return name ? name + 1 : "";
}

static bool behaves(const char *name)
{
    return strcmp(how(), name) == 0;
}

int cuInit(unsigned flags)
{
    const char *number = strrchr(how(), '-');
    while (behaves("hangs"))
        pause();
    if (flags != 0)
        return INVALID;
    if (number && atoi(number + 1) > 0)
        return atoi(number + 1);
    return stand_in_open ? stand_in_open(&cards) : OK;
}

int cuDriverGetVersion(int *ret)
{
    *ret = 12080;
    return OK;
}

int cuDeviceGetCount(int *ret)
{
    *ret = behaves("empty") ? 0 : behaves("slice") ? 1 : behaves("floods") ? 1 << 30 : cards;
    return OK;
}

int cuDeviceGet(int *ret, int index)
{
    *ret = index;
    return index < CARDS ? OK : NO_DEVICE;
}

int cuDeviceGetName(char *ret, int size, int device)
{
    if (behaves("lies"))
        memset(ret, '\n', (size_t) size);
    else
        snprintf(ret, (size_t) size,
                 behaves("slice") ? "NVIDIA A100-SXM4-40GB MIG 1g.5gb" : "NVIDIA A100-SXM4-40GB");
    return device < CARDS ? OK : INVALID;
}

int cuDeviceGetUuid_v2(unsigned char ret[16], int device)
{
    for (int i = 0; i < 16; i++)
        ret[i] = (unsigned char) (i + 16 * device);
    return OK;
}

int cuDeviceGetUuid(unsigned char ret[16], int device)
{
    return cuDeviceGetUuid_v2(ret, device);
}

int cuDeviceGetAttribute(int *ret, int attribute, int device)
{
    *ret = attribute == MAJOR ? 8 : 0;
    return device < CARDS ? OK : INVALID;
}

int cuDeviceTotalMem_v2(size_t *ret, int device)
{
    *ret = 40000ULL << 20;
    return device < CARDS ? OK : INVALID;
}

int cuDevicePrimaryCtxRetain(void **ret, int device)
{
    *ret = (void *) (uintptr_t) (device + 1);
    return OK;
}

/* Nothing may be left on the GPU. */
int cuDevicePrimaryCtxRelease(int device)
{
    if (allocated != 0 || current != device + 1)
        abort();
    return OK;
}

int cuCtxSetCurrent(void *context)
{
    current = (int) (uintptr_t) context;
    return OK;
}

int cuCtxSynchronize(void)
{
    return behaves("crashes-on-the-second") && current == 2 ? LAUNCH : OK;
}

int cuModuleLoadData(void **ret, const void *image)
{
    *ret = &current;
    return behaves("no-compiler") ? 221 : strstr(image, ".target sm_50\n") ? OK : INVALID_PTX;
}

int cuModuleGetFunction(void **ret, void *module, const char *name)
{
    *ret = module;
    return strcmp(name, "add") == 0 ? OK : INVALID;
}

int cuMemAlloc_v2(address *ret, size_t size)
{
    if (behaves("full") || (size > 16 << 20 && behaves("nearly-full")))
        return MEMORY;
    void *memory = malloc(size);
    memset(memory, 0xa5, size);
    *ret = (address) (uintptr_t) memory;
    allocated++;
    return OK;
}

int cuMemFree_v2(address at)
{
    free((void *) (uintptr_t) at);
    allocated--;
    return OK;
}

int cuMemcpyHtoD_v2(address to, const void *from, size_t size)
{
    memcpy((void *) (uintptr_t) to, from, size);
    return behaves("ecc") ? ECC : OK;
}

int cuMemcpyDtoH_v2(void *to, address from, size_t size)
{
    memcpy(to, (const void *) (uintptr_t) from, size);
    return OK;
}

/* That it is much is seen by the program that measures it, so nothing is copied here. */
int cuMemcpyDtoD_v2(address to, address from, size_t size)
{
    usleep(100);
    return to == from || size == 0 ? INVALID : OK;
}

int cuMemsetD8_v2(address at, unsigned char value, size_t size)
{
    memset((void *) (uintptr_t) at, value, size);
    return OK;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **parameters, void **extra)
{
    const unsigned *a = *(const unsigned **) parameters[0], *b = *(const unsigned **) parameters[1];
    unsigned *sum = *(unsigned **) parameters[2], count = *(const unsigned *) parameters[3];
    if (function != &current || grid_y * grid_z * block_y * block_z != 1 || shared || stream ||
        extra)
        return INVALID;
    /* A GPU that does nothing leaves what was there. */
    for (unsigned i = 0; i < count && i < grid_x * block_x && !behaves("does-nothing"); i++)
        sum[i] = a[i] + b[i];
    if (behaves("wrong-once"))
        sum[count - 1] ^= 1U << 31;
    return OK;
}
