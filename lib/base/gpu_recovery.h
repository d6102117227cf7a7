/* What a driver says must happen to a GPU: NV2080_CTRL_GPU_RECOVERY_ACTION of NVIDIA's driver plus
 * one, in field 230 of NVML and in Xid 154 of the kernel log. GpuNodes have the names. */
#ifndef OSTLER_BASE_GPU_RECOVERY_H
#define OSTLER_BASE_GPU_RECOVERY_H

/* The Xid with which the driver logs that the action of a GPU has changed. */
enum { XID_RECOVERY_CHANGED = 154 };

enum gpu_recovery {
    RECOVERY_UNKNOWN, /* the driver does not report it */
    RECOVERY_NONE,
    RECOVERY_RESET,
    RECOVERY_REBOOT,
    RECOVERY_DRAIN_PEERS,
    RECOVERY_DRAIN_AND_RESET,
    RECOVERY_RECOVER_DOMAIN,
    RECOVERIES
};

/* "DrainAndReset", …; UNKNOWN for NULL and other words. */
enum gpu_recovery gpu_recovery_parse(const char *name);
/* Static text; NULL for UNKNOWN. */
const char *gpu_recovery_name(enum gpu_recovery recovery);

#endif
