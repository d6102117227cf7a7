/* The proof of one GPU: a program in PTX adds two vectors on it, and every sum is looked at. */
#ifndef OSTLER_NODE_CUDA_PROVE_H
#define OSTLER_NODE_CUDA_PROVE_H

/* Why a GPU is not proven. */
struct failure {
    const char *call; /* of the library; NULL: none of them failed */
    int error;        /* and its result */
};

/* Whether all functions are there. */
int prove_can(void);
/* Runs the program on a device, by the number of the library. 0: every sum is right; -1: a call failed, as *ret says; 1: a sum
 * is wrong. With 0, *ret_mib_s is how much of its memory it reads and writes in a second, in MiB; 0: there was too little memory
 * to find out. */
int prove(int device, unsigned long long *ret_mib_s, struct failure *ret);

#endif
