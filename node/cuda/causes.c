#include "node/cuda/causes.h"

#include <fcntl.h>
#include <unistd.h>

#include "node/cuda/driver.h"

#define UVM "/dev/nvidia-uvm"

/* Causes by error number of the library. */
static const struct {
    int error;
    enum cause cause;
} errors[] = {
    { CUDA_OUT_OF_MEMORY, CAUSE_MEMORY },
    { CUDA_DEVICE_UNAVAILABLE, CAUSE_TAKEN },
    { CUDA_NO_DEVICE, CAUSE_NO_GPU },
    { CUDA_NO_BINARY_FOR_GPU, CAUSE_COMPILER },
    { CUDA_ECC_UNCORRECTABLE, CAUSE_ECC },
    { CUDA_INVALID_PTX, CAUSE_COMPILER },
    { CUDA_JIT_COMPILER_NOT_FOUND, CAUSE_COMPILER },
    { CUDA_UNSUPPORTED_PTX_VERSION, CAUSE_COMPILER },
    { CUDA_ILLEGAL_ADDRESS, CAUSE_PROGRAM },
    { CUDA_LAUNCH_TIMEOUT, CAUSE_PROGRAM },
    { CUDA_LAUNCH_FAILED, CAUSE_PROGRAM },
    { CUDA_SYSTEM_NOT_READY, CAUSE_FABRIC },
    { CUDA_SYSTEM_DRIVER_MISMATCH, CAUSE_MISMATCH },
    { CUDA_COMPAT_NOT_SUPPORTED, CAUSE_COMPAT },
};

static const struct {
    enum cause cause;
    const char *text;
} texts[] = {
    { CAUSE_FUNCTIONS, "libcuda.so.1 lacks functions that every supported driver has" },
    { CAUSE_NO_GPU, "the driver shows no GPU: the container was given none, or MIG is enabled and "
                    "has no instance" },
    { CAUSE_FABRIC, "the GPUs wait for the NVSwitch fabric: nvidia-fabricmanager does not run, or "
                    "is not ready yet" },
    { CAUSE_MISMATCH, "libcuda.so.1 is of another version than the loaded kernel module: restart "
                      "the pod, or reboot the node if "
                      "a driver was replaced" },
    { CAUSE_COMPAT, "a CUDA compatibility library is in use that this GPU does not support" },
    { CAUSE_UVM, UVM " cannot be opened: the kernel module nvidia-uvm is not loaded, or the "
                     "container was not given the device" },
    { CAUSE_WRONG, "the GPU computed a wrong result: do not use it" },
    { CAUSE_MEMORY, "the GPU has no memory left for a program of 16 MiB" },
    { CAUSE_ECC, "the GPU's memory has an ECC error that cannot be corrected: reset the GPU or "
                 "reboot the node" },
    { CAUSE_COMPILER, "the driver cannot compile PTX for this GPU: libnvidia-ptxjitcompiler.so.1 "
                      "is missing or does not fit" },
    { CAUSE_TAKEN, "the GPU is in exclusive mode and in use, or its compute mode is Prohibited" },
    { CAUSE_PROGRAM,
      "the program failed on the GPU: look for Xid messages in the node's kernel log" },
    { CAUSE_TIME, "the driver did not answer within the time limit: look for Xid messages in the "
                  "node's kernel log" },
};

static int has_uvm(void)
{
    int fd = open(UVM, O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

enum cause cause_of(int cuda_error)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == cuda_error)
            return errors[i].cause;
    /* The library has no error number for a missing device file. */
    if ((cuda_error == CUDA_UNKNOWN || cuda_error == CUDA_OPERATING_SYSTEM) && !has_uvm())
        return CAUSE_UVM;
    return CAUSE_OTHER;
}

const char *cause_text(enum cause cause)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].cause == cause)
            return texts[i].text;
    return "cuda.h explains the number";
}
