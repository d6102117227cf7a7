#include "reconcilers/decide/health_left.h"

#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/reason.h"

static bool is_off_bus(const char *word)
{
    return str_eq(word, reason_text(REASON_GPU_LOST)) || str_eq(word, "Xid79");
}

static bool is_recovery(const char *word)
{
    static const enum reason recoveries[] = {
        REASON_RECOVERY_RESET,          REASON_RECOVERY_REBOOT,
        REASON_RECOVERY_DRAIN_PEERS,    REASON_RECOVERY_DRAIN_AND_RESET,
        REASON_RECOVERY_RECOVER_DOMAIN,
    };
    bool found = false;
    for (size_t i = 0; i < ARRAY_LEN(recoveries); i++)
        found |= str_eq(word, reason_text(recoveries[i]));
    return found;
}

bool health_left_same_event(const char *word, const char *other)
{
    return is_off_bus(word) && is_off_bus(other);
}

/* Whether the driver's recovery action is about the fault that was left alone. */
static bool has_recovery(const char *word)
{
    return is_off_bus(word) || str_has_prefix(word, reason_text(REASON_XID));
}

bool health_left_covers(const struct health_left *left, const struct health_seen *seen)
{
    const struct fault_name *name = left->name;
    if (!name || !str_eq(name->address, seen->address))
        return false;
    if (str_eq(name->reason, seen->word) || health_left_same_event(name->reason, seen->word))
        return true;
    if (!*name->address || seen->level > left->level)
        return false;
    if (is_recovery(seen->word))
        return has_recovery(name->reason);
    return seen->first_s && seen->first_s <= name->left_s;
}
