/* The check of one GPU: a PTX program adds two vectors on it, and every sum is compared. */
#ifndef OSTLER_NODE_CUDA_PROVE_H
#define OSTLER_NODE_CUDA_PROVE_H

/* Why the check failed. */
struct failure {
    const char *call; /* function of the library; NULL: no call failed */
    int error;        /* the result of that call */
};

/* Whether the library has all functions that the check needs. */
int prove_can(void);
/* Checks a device by its number in the library. 0: every sum is right; -1: a call failed, see *ret;
 * 1: a sum is wrong. With 0, *ret_mib_s is the memory bandwidth, reads plus writes, in MiB per
 * second; 0: too little memory to measure. */
int prove(int device, unsigned long long *ret_mib_s, struct failure *ret);

#endif
