/* The functions of the CUDA driver library that ostler-cuda uses; names and numbers are those of
 * NVIDIA's cuda.h 13.0. Any function may be missing, because the driver brings the library. */
#ifndef OSTLER_NODE_CUDA_DRIVER_H
#define OSTLER_NODE_CUDA_DRIVER_H

#include <stddef.h>

/* The function is NULL if the version of the library lacks it. */
#define OF_THE_DRIVER __attribute__((weak))

/* Results of the library, and the device attributes that ostler-cuda reads. */
enum {
    CUDA_OK = 0,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_DEVICE_UNAVAILABLE = 46,
    CUDA_NO_DEVICE = 100,
    CUDA_NO_BINARY_FOR_GPU = 209,
    CUDA_ECC_UNCORRECTABLE = 214,
    CUDA_INVALID_PTX = 218,
    CUDA_JIT_COMPILER_NOT_FOUND = 221,
    CUDA_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_OPERATING_SYSTEM = 304,
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_LAUNCH_TIMEOUT = 702,
    CUDA_LAUNCH_FAILED = 719,
    CUDA_SYSTEM_NOT_READY = 802,
    CUDA_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_COMPAT_NOT_SUPPORTED = 804,
    CUDA_UNKNOWN = 999,
    CUDA_COMPUTE_MAJOR = 75,
    CUDA_COMPUTE_MINOR = 76,
};

/* An address on the GPU. */
typedef unsigned long long cuda_address;
struct cuda_uuid {
    unsigned char bytes[16];
};

extern int cuInit(unsigned flags) OF_THE_DRIVER;
extern int cuDriverGetVersion(int *ret) OF_THE_DRIVER;
extern int cuDeviceGetCount(int *ret) OF_THE_DRIVER;
extern int cuDeviceGet(int *ret, int index) OF_THE_DRIVER;
extern int cuDeviceGetName(char *ret, int size, int device) OF_THE_DRIVER;
extern int cuDeviceGetUuid(struct cuda_uuid *ret, int device) OF_THE_DRIVER;
extern int cuDeviceGetUuid_v2(struct cuda_uuid *ret, int device) OF_THE_DRIVER;
extern int cuDeviceGetAttribute(int *ret, int attribute, int device) OF_THE_DRIVER;
extern int cuDeviceTotalMem_v2(size_t *ret, int device) OF_THE_DRIVER;
extern int cuDevicePrimaryCtxRetain(void **ret, int device) OF_THE_DRIVER;
extern int cuDevicePrimaryCtxRelease(int device) OF_THE_DRIVER;
extern int cuCtxSetCurrent(void *context) OF_THE_DRIVER;
extern int cuCtxSynchronize(void) OF_THE_DRIVER;
extern int cuModuleLoadData(void **ret, const void *image) OF_THE_DRIVER;
extern int cuModuleGetFunction(void **ret, void *module, const char *name) OF_THE_DRIVER;
extern int cuMemAlloc_v2(cuda_address *ret, size_t size) OF_THE_DRIVER;
extern int cuMemFree_v2(cuda_address address) OF_THE_DRIVER;
extern int cuMemcpyHtoD_v2(cuda_address to, const void *from, size_t size) OF_THE_DRIVER;
extern int cuMemcpyDtoH_v2(void *to, cuda_address from, size_t size) OF_THE_DRIVER;
extern int cuMemcpyDtoD_v2(cuda_address to, cuda_address from, size_t size) OF_THE_DRIVER;
extern int cuMemsetD8_v2(cuda_address at, unsigned char value, size_t size) OF_THE_DRIVER;
extern int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                          void *stream, void **parameters, void **extra) OF_THE_DRIVER;

/* From the loader; before glibc 2.34 they are in a separate library. */
extern void *dlopen(const char *name, int flags) OF_THE_DRIVER;
extern void *dlsym(void *library, const char *name) OF_THE_DRIVER;

#endif
