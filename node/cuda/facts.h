/* What NVML adds to the proof of a GPU: the driver's version, the memory as nvidia-smi counts it, and ECC counters. Without NVML,
 * or where it does not say, the fact is left out. */
#ifndef OSTLER_NODE_CUDA_FACTS_H
#define OSTLER_NODE_CUDA_FACTS_H

/* Errors of a GPU's memory since its driver was loaded, as numbers of events. */
struct ecc {
    unsigned long long corrected, uncorrected;
};

/* Loads the library, once; without it all of the following have no answer. */
void facts_open(void);
/* "580.178.04", of at most `size` bytes with its end. 0: not known, like below. */
int facts_driver(char *ret, unsigned size);
/* All of the GPU's memory, in MiB; of a MIG device that device's. */
int facts_memory(const char *uuid, unsigned long long *ret_mib);
int facts_ecc(const char *uuid, struct ecc *ret);

#endif
