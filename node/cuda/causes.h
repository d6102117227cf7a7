/* The exit statuses of ostler-cuda, one for each cause of a failure; docs/agent.md has a table for
 * users. */
#ifndef OSTLER_NODE_CUDA_CAUSES_H
#define OSTLER_NODE_CUDA_CAUSES_H

enum cause {
    CAUSE_NONE = 0,      /* the program ran on every GPU with the right result */
    CAUSE_NOT_SAID = 1,  /* its output could not be written */
    CAUSE_FUNCTIONS = 2, /* the library lacks functions that all versions have */
    CAUSE_OTHER = 3,     /* an error without a row below */
    CAUSE_NO_GPU = 10,
    CAUSE_FABRIC = 11,   /* CUDA error 802 */
    CAUSE_MISMATCH = 12, /* CUDA error 803 */
    CAUSE_COMPAT = 13,   /* CUDA error 804 */
    CAUSE_UVM = 14,      /* /dev/nvidia-uvm cannot be opened */
    CAUSE_WRONG = 15,    /* the result of the addition is wrong */
    CAUSE_MEMORY = 16,   /* CUDA error 2 */
    CAUSE_ECC = 17,      /* CUDA error 214 */
    CAUSE_COMPILER = 18, /* CUDA errors 209, 218, 221, 222 */
    CAUSE_TAKEN = 19,    /* CUDA error 46 */
    CAUSE_PROGRAM = 20,  /* CUDA errors 700, 702, 719 */
    CAUSE_TIME = 21,     /* not finished within the time limit */
};

/* The cause of a nonzero error of the library. */
enum cause cause_of(int cuda_error);
/* A part of a sentence: what the cause means and what to check. */
const char *cause_text(enum cause cause);

#endif
