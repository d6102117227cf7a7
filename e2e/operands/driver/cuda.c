/* The driver's CUDA library, as far as NVIDIA's programs look at it: its name has the version of the driver. */
int cuInit(unsigned flags);

int cuInit(unsigned flags)
{
    (void) flags;
    return 100; /* CUDA_ERROR_NO_DEVICE */
}
