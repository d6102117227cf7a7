#include "reconcilers/decide/nvml_fact.h"

#include <stddef.h>

#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/gpu_heard.h"

enum { HEARD_EITHER = HEARD_ANSWERS | HEARD_SILENT };

static const struct nvml_fact facts[] = {
    { REASON_GPU_LOST, HEARD_EITHER, HEARD_ANSWERS, false },
    { REASON_GPU_HANGS, HEARD_EITHER, HEARD_ANSWERS, false },
    { REASON_ROW_REMAP_FAILED, HEARD_REMAP, HEARD_REMAP, true },
    { REASON_ROW_REMAP_PENDING, HEARD_PENDING, HEARD_PENDING, false },
    { REASON_SRAM_ERRORS, HEARD_SRAM, HEARD_SRAM, true },
    { REASON_DOUBLE_BIT_ERRORS, HEARD_ECC, HEARD_ECC, false },
    { REASON_FABRIC_UNHEALTHY, HEARD_FABRIC, HEARD_FABRIC, false },
    { REASON_RECOVERY_RESET, HEARD_RECOVERY, HEARD_RECOVERY, false },
    { REASON_RECOVERY_REBOOT, HEARD_RECOVERY, HEARD_RECOVERY, false },
    { REASON_RECOVERY_DRAIN_PEERS, HEARD_RECOVERY, HEARD_RECOVERY, false },
    { REASON_RECOVERY_DRAIN_AND_RESET, HEARD_RECOVERY, HEARD_RECOVERY, false },
    { REASON_RECOVERY_RECOVER_DOMAIN, HEARD_RECOVERY, HEARD_RECOVERY, false },
};

const struct nvml_fact *nvml_fact_of(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        if (str_eq(word, reason_text(facts[i].reason)))
            return &facts[i];
    return NULL;
}
