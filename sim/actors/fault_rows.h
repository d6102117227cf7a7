/* The kinds of GPU faults in a simulated world, and what ends them, one row each. */
#ifndef OSTLER_SIM_ACTORS_FAULT_ROWS_H
#define OSTLER_SIM_ACTORS_FAULT_ROWS_H

/* id, name in a scenario, weight in the usual mix of random faults. sim/actors/gpu.c says what each
 * does. Of those with weight 0 none comes at random. */
#define SPEC_FAULTS(X)                                                                             \
    X(PLAIN, "Plain", 0)             /* nothing but what the scenario says */                      \
    X(PROGRAM, "Program", 30)        /* Xid 13: an error of the program */                         \
    X(PAGE_FAULT, "PageFault", 30)   /* Xid 31: usually of the program */                          \
    X(DOUBLE_BIT, "DoubleBit", 6)    /* Xid 48: an uncorrectable error of the memory */            \
    X(REMAP, "RemapPending", 12)     /* Xid 63: the next reset replaces a row */                   \
    X(NO_REMAP, "RemapFailed", 2)    /* Xid 64: no spare row is left */                            \
    X(NVLINK, "NvLink", 7)           /* Xid 74 */                                                  \
    X(OFF_THE_BUS, "OffTheBus", 14)  /* Xid 79: lost */                                            \
    X(CONTAINED, "Contained", 10)    /* Xid 94: only one program is hit */                         \
    X(UNCONTAINED, "Uncontained", 6) /* Xid 95 */                                                  \
    X(GSP, "Gsp", 8)                 /* Xid 119: the GPU's processor does not answer */            \
    X(NVLINK5, "NvLink5", 4)         /* Xid 149, fatal */                                          \
    X(SRAM, "Sram", 2)               /* too many errors of the on-chip memory */                   \
    X(HANG, "Hang", 2)               /* NVML does not answer */                                    \
    X(NVSWITCH, "NvSwitch", 1)       /* SXid 20034: of an NVSwitch */

enum spec_fault_kind {
#define X(id, ...) SPEC_FAULT_##id,
    SPEC_FAULTS(X)
#undef X
        SPEC_FAULT_KINDS
};

/* What ends a fault: id, name in a scenario. The later ones end what the earlier ones end, too. */
#define SPEC_CURES(X)                                                                              \
    X(USUAL, "Usual") /* as its kind has it */                                                     \
    X(RESET, "Reset")                                                                              \
    X(REBOOT, "Reboot")                                                                            \
    X(REPLACEMENT, "Replacement") /* another GPU: the fault is sticky */

enum spec_cure {
#define X(id, name) SPEC_CURE_##id,
    SPEC_CURES(X)
#undef X
};

/* What the driver says must happen to a GPU: id, name in the inventory, rank: of several the one
 * with the highest rank counts. */
#define SPEC_RECOVERIES(X)                                                                         \
    X(NONE, "None", 0)                                                                             \
    X(RESET, "Reset", 3)                                                                           \
    X(REBOOT, "Reboot", 5)                                                                         \
    X(DRAIN_PEERS, "DrainPeers", 1)                                                                \
    X(DRAIN_AND_RESET, "DrainAndReset", 2)                                                         \
    X(RECOVER_DOMAIN, "RecoverDomain", 4)

enum spec_recovery {
#define X(id, ...) SPEC_RECOVERY_##id,
    SPEC_RECOVERIES(X)
#undef X
};

/* State of a GPU's NVLink fabric, the best first: id, name in the inventory. */
#define SPEC_FABRICS(X)                                                                            \
    X(HEALTHY, "Healthy")                                                                          \
    X(LIMITED, "Limited")                                                                          \
    X(UNHEALTHY, "Unhealthy")

enum spec_fabric {
#define X(id, name) SPEC_FABRIC_##id,
    SPEC_FABRICS(X)
#undef X
};

#endif
