/* What NVML adds to the GPU check: the driver's version, the memory as nvidia-smi counts it, and
 * ECC counters. A fact that NVML does not report is left out. */
#ifndef OSTLER_NODE_CUDA_FACTS_H
#define OSTLER_NODE_CUDA_FACTS_H

/* Memory errors of a GPU since its driver was loaded, in events. */
struct ecc {
    unsigned long long corrected, uncorrected;
};

/* Loads the library once; without it, the functions below return 0. */
void facts_open(void);
/* "580.178.04", at most `size` bytes including the terminator. The functions return 0 if not
 * known. */
int facts_driver(char *ret, unsigned size);
/* The total memory of a GPU or MIG device in MiB. */
int facts_memory(const char *uuid, unsigned long long *ret_mib);
int facts_ecc(const char *uuid, struct ecc *ret);

#endif
