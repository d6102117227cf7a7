#include "reconcilers/model/gpu_heard.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/gpu_recovery.h"
#include "base/json.h"
#include "base/str.h"

enum { FACTS_MASK = (1 << HEARD_FACTS) - 1 };

static uint32_t mark_of(const char *address)
{
    return (uint32_t) str_hash_id(address) & ~(uint32_t) FACTS_MASK;
}

static unsigned facts_of(const json_t *row)
{
    enum gpu_recovery recovery = gpu_recovery_parse(json_str(row, "recovery"));
    bool silent = json_bool(row, "lost", false) || json_bool(row, "hangs", false);
    return (silent ? HEARD_SILENT : HEARD_ANSWERS) |
           (recovery == RECOVERY_UNKNOWN ? 0u : HEARD_RECOVERY) |
           (recovery == RECOVERY_NONE ? HEARD_NEEDS_NOTHING : 0u) |
           (json_str(row, "fabric") ? HEARD_FABRIC : 0u) |
           (json_is_boolean(json_object_get(row, "remapFailed")) ? HEARD_REMAP : 0u) |
           (json_is_boolean(json_object_get(row, "remapPending")) ? HEARD_PENDING : 0u) |
           (json_is_integer(json_object_get(row, "doubleBitErrors")) ? HEARD_ECC : 0u) |
           (json_is_boolean(json_object_get(row, "sramExceeded")) ? HEARD_SRAM : 0u);
}

void gpu_heard_read(const json_t *health, struct gpu_heard *ret)
{
    size_t n = 0;
    *ret = (struct gpu_heard){ 0 };
    if (json_array_size(health) > HEARD_GPUS_MAX)
        return;
    JSON_EACH (row, health)
        if (json_str(row, "address"))
            ret->gpus[n++] = mark_of(json_str(row, "address")) | facts_of(row);
}

unsigned gpu_heard_of(const struct gpu_heard *h, const char *address)
{
    uint32_t mark = mark_of(address);
    for (size_t i = 0; *address && i < HEARD_GPUS_MAX; i++)
        if (h->gpus[i] && (h->gpus[i] & ~(uint32_t) FACTS_MASK) == mark)
            return h->gpus[i] & FACTS_MASK;
    return 0;
}

unsigned gpu_heard_count(const struct gpu_heard *h)
{
    unsigned n = 0;
    for (size_t i = 0; i < HEARD_GPUS_MAX; i++)
        n += h->gpus[i] != 0;
    return n;
}
