#include "base/gpu_recovery.h"

#include "base/mem.h"
#include "base/str.h"

static const char *const names[RECOVERIES] = {
    [RECOVERY_NONE] = "None",
    [RECOVERY_RESET] = "Reset",
    [RECOVERY_REBOOT] = "Reboot",
    [RECOVERY_DRAIN_PEERS] = "DrainPeers",
    [RECOVERY_DRAIN_AND_RESET] = "DrainAndReset",
    [RECOVERY_RECOVER_DOMAIN] = "RecoverDomain",
};

enum gpu_recovery gpu_recovery_parse(const char *name)
{
    for (int r = RECOVERY_NONE; r < RECOVERIES; r++)
        if (str_eq(names[r], name))
            return (enum gpu_recovery) r;
    return RECOVERY_UNKNOWN;
}

const char *gpu_recovery_name(enum gpu_recovery recovery)
{
    return recovery < RECOVERIES ? names[recovery] : NULL;
}
