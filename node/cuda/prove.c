#include "node/cuda/prove.h"

#include <stdlib.h>
#include <time.h>

#include "node/cuda/driver.h"

/* NUMBERS: 4 MiB per vector. COPY_BYTES measure memory bandwidth: 256 MiB exceed every GPU cache
 * (H200: 50 MB, B200: 126 MB), and 20 copies take 3 ms there and 70 ms on a small GPU. */
enum { NUMBERS = 1 << 20, BLOCK = 256, COPY_BYTES = 256 << 20, COPIES = 20 };

#define VECTOR_BYTES (NUMBERS * sizeof(unsigned))

/* PTX 6.0 for compute capability 5.0: all drivers since 384 compile it for all GPUs since
 * Maxwell. */
static const char program[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 sum, .param .u32 count)\n"
    "{\n"
    "    .reg .pred %beyond;\n"
    "    .reg .b32 %r<8>;\n"
    "    .reg .b64 %d<8>;\n"
    "    ld.param.u64 %d0, [a];\n"
    "    ld.param.u64 %d1, [b];\n"
    "    ld.param.u64 %d2, [sum];\n"
    "    ld.param.u32 %r0, [count];\n"
    "    mov.u32 %r1, %ctaid.x;\n"
    "    mov.u32 %r2, %ntid.x;\n"
    "    mov.u32 %r3, %tid.x;\n"
    "    mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "    setp.ge.u32 %beyond, %r4, %r0;\n"
    "    @%beyond bra done;\n"
    "    cvta.to.global.u64 %d0, %d0;\n"
    "    cvta.to.global.u64 %d1, %d1;\n"
    "    cvta.to.global.u64 %d2, %d2;\n"
    "    mul.wide.u32 %d3, %r4, 4;\n"
    "    add.u64 %d0, %d0, %d3;\n"
    "    add.u64 %d1, %d1, %d3;\n"
    "    add.u64 %d2, %d2, %d3;\n"
    "    ld.global.u32 %r5, [%d0];\n"
    "    ld.global.u32 %r6, [%d1];\n"
    "    add.u32 %r7, %r5, %r6;\n"
    "    st.global.u32 [%d2], %r7;\n"
    "done:\n"
    "    ret;\n"
    "}\n";

struct vectors {
    unsigned *a, *b, *sum;           /* in this process */
    cuda_address on_a, on_b, on_sum; /* on the GPU */
};

/* Skips calls after the first failure, which is the one to report. */
#define TRY(failure, function, ...)                                                                \
    do {                                                                                           \
        if (!(failure)->error) {                                                                   \
            (failure)->error = function(__VA_ARGS__);                                              \
            if ((failure)->error)                                                                  \
                (failure)->call = #function;                                                       \
        }                                                                                          \
    } while (0)

int prove_can(void)
{
    const void *const needed[] = {
        cuInit,
        cuDriverGetVersion,
        cuDeviceGetCount,
        cuDeviceGet,
        cuDeviceGetName,
        cuDeviceGetAttribute,
        cuDeviceTotalMem_v2,
        cuDevicePrimaryCtxRetain,
        cuDevicePrimaryCtxRelease,
        cuCtxSetCurrent,
        cuCtxSynchronize,
        cuModuleLoadData,
        cuModuleGetFunction,
        cuMemAlloc_v2,
        cuMemFree_v2,
        cuMemcpyHtoD_v2,
        cuMemcpyDtoH_v2,
        cuMemcpyDtoD_v2,
        cuMemsetD8_v2,
        cuLaunchKernel,
    };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!needed[i])
            return 0;
    return cuDeviceGetUuid_v2 || cuDeviceGetUuid;
}

/* Fills the vectors so that all sums differ and half of them overflow 32 bits. */
static void prove_fill(struct vectors *v)
{
    for (unsigned i = 0; i < NUMBERS; i++) {
        v->a[i] = i * 2654435761U;
        v->b[i] = ~i;
        v->sum[i] = 0;
    }
}

static int is_right(const struct vectors *v)
{
    for (unsigned i = 0; i < NUMBERS; i++)
        if (v->sum[i] != v->a[i] + v->b[i])
            return 0;
    return 1;
}

static void add_on_gpu(struct vectors *v, struct failure *f)
{
    unsigned count = NUMBERS;
    void *module = NULL, *function = NULL,
         *parameters[] = { &v->on_a, &v->on_b, &v->on_sum, &count };
    TRY(f, cuModuleLoadData, &module, program);
    TRY(f, cuModuleGetFunction, &function, module, "add");
    TRY(f, cuMemAlloc_v2, &v->on_a, VECTOR_BYTES);
    TRY(f, cuMemAlloc_v2, &v->on_b, VECTOR_BYTES);
    TRY(f, cuMemAlloc_v2, &v->on_sum, VECTOR_BYTES);
    TRY(f, cuMemcpyHtoD_v2, v->on_a, v->a, VECTOR_BYTES);
    TRY(f, cuMemcpyHtoD_v2, v->on_b, v->b, VECTOR_BYTES);
    /* Data of an earlier program must not pass as a result. */
    TRY(f, cuMemsetD8_v2, v->on_sum, 0, VECTOR_BYTES);
    TRY(f, cuLaunchKernel, function, NUMBERS / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, parameters, NULL);
    TRY(f, cuCtxSynchronize);
    TRY(f, cuMemcpyDtoH_v2, v->sum, v->on_sum, VECTOR_BYTES);
}

static void free_on_gpu(const cuda_address *addresses, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (addresses[i])
            cuMemFree_v2(addresses[i]);
}

static unsigned long long now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (unsigned long long) t.tv_sec * 1000000 + (unsigned long long) t.tv_nsec / 1000;
}

/* Each copy reads and writes its bytes. The first copy, which is not measured, allocates the
 * pages. */
static unsigned long long measure(void)
{
    cuda_address ends[2] = { 0, 0 };
    struct failure f = { NULL, 0 };
    TRY(&f, cuMemAlloc_v2, &ends[0], COPY_BYTES);
    TRY(&f, cuMemAlloc_v2, &ends[1], COPY_BYTES);
    TRY(&f, cuMemcpyDtoD_v2, ends[1], ends[0], COPY_BYTES);
    TRY(&f, cuCtxSynchronize);
    unsigned long long began_us = now_us();
    for (int i = 0; i < COPIES; i++)
        TRY(&f, cuMemcpyDtoD_v2, ends[1], ends[0], COPY_BYTES);
    TRY(&f, cuCtxSynchronize);
    unsigned long long took_us = now_us() - began_us;
    free_on_gpu(ends, 2);
    return f.error || took_us == 0 ? 0 : 2ULL * COPIES * (COPY_BYTES >> 20) * 1000000 / took_us;
}

static int prove_add(struct vectors *v, unsigned long long *ret_mib_s, struct failure *ret)
{
    prove_fill(v);
    add_on_gpu(v, ret);
    free_on_gpu((const cuda_address[]){ v->on_a, v->on_b, v->on_sum }, 3);
    if (ret->error)
        return -1;
    if (!is_right(v))
        return 1;
    *ret_mib_s = measure();
    return 0;
}

int prove(int device, unsigned long long *ret_mib_s, struct failure *ret)
{
    static unsigned a[NUMBERS], b[NUMBERS], sum[NUMBERS];
    struct vectors v = { .a = a, .b = b, .sum = sum };
    void *context = NULL;
    *ret = (struct failure){ NULL, 0 };
    *ret_mib_s = 0;
    TRY(ret, cuDevicePrimaryCtxRetain, &context, device);
    if (ret->error)
        return -1;
    TRY(ret, cuCtxSetCurrent, context);
    int rc = ret->error ? -1 : prove_add(&v, ret_mib_s, ret);
    cuDevicePrimaryCtxRelease(device);
    return rc;
}
