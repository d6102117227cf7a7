/* How ostler-cuda ends, one exit status for each cause; docs/agent.md has the table for people. */
#ifndef OSTLER_NODE_CUDA_CAUSES_H
#define OSTLER_NODE_CUDA_CAUSES_H

enum cause {
    CAUSE_NONE = 0,           /* the program ran on every GPU, with the right result */
    CAUSE_NOT_SAID = 1,       /* its words could not be written */
    CAUSE_FUNCTIONS = 2,      /* the library lacks functions that all versions have */
    CAUSE_OTHER = 3,          /* an error that no row below names */
    CAUSE_NO_GPU = 10,
    CAUSE_FABRIC = 11,        /* 802 */
    CAUSE_MISMATCH = 12,      /* 803 */
    CAUSE_COMPAT = 13,        /* 804 */
    CAUSE_UVM = 14,           /* /dev/nvidia-uvm cannot be opened */
    CAUSE_WRONG = 15,         /* the result of the addition is wrong */
    CAUSE_MEMORY = 16,        /* 2 */
    CAUSE_ECC = 17,           /* 214 */
    CAUSE_COMPILER = 18,      /* 209, 218, 221, 222 */
    CAUSE_TAKEN = 19,         /* 46 */
    CAUSE_PROGRAM = 20,       /* 700, 702, 719 */
    CAUSE_TIME = 21,          /* no end within the time limit */
};

/* The cause of an error of the library, which is not 0. */
enum cause cause_of(int cuda_error);
/* What it means, and what to look at: a part of a sentence. */
const char *cause_text(enum cause cause);

#endif
