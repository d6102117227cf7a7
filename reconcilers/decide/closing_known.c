#include "reconcilers/decide/closing_known.h"

#include <stdio.h>

#include "base/str.h"
#include "reconcilers/decide/health_sentence.h"

static bool is_of_name(const struct fault_name *name, const struct health_status *fault)
{
    return str_eq(name->reason, fault->reason) && str_eq(name->address, fault->address);
}

/* What NVML said and does not repeat, unless a user left it alone or another fault is asked for. */
static const struct health_status *kept_of(const struct health_input *h)
{
    const struct health_status *kept = health_kept(h);
    if (!kept)
        return NULL;
    const struct health_seen seen = { kept->reason, kept->address, kept->level, 0 };
    bool out = health_left_covers(&h->except[0], &seen) ||
               health_left_covers(&h->except[1], &seen) || (h->only && !is_of_name(h->only, kept));
    return out ? NULL : kept;
}

static void know(const struct health_input *h, struct arena *a, struct closing_known *ret)
{
    const struct health_status *kept = kept_of(h);
    struct health_verdict v = health_judge(h);
    *ret = (struct closing_known){ .word = "", .address = "", .hard = v.hard };
    ret->kept = kept && kept->level >= v.level;
    if (ret->kept) {
        ret->level = kept->level;
        ret->word = kept->reason;
        ret->address = kept->address;
    } else if (v.level) {
        ret->log_alone = v.log != NULL;
        ret->level = v.level;
        ret->word = health_word(&v, a);
        ret->address = str_or_empty(v.address);
    }
}

bool closing_is_of_boot(const struct closing_input *in, const struct closing_known *known,
                        uint64_t boot)
{
    return known->kept || !in->boot || boot == in->boot;
}

/* What a fault asks for now, be it the worst or not. */
static enum health_level level_of(const struct health_input *health, const struct fault_name *name)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct health_input h = *health;
    struct closing_known known;
    h.only = name;
    know(&h, &a, &known);
    return known.level;
}

/* One that a user has left alone, if that counts now; else zeros. */
static struct health_left left_of(const struct closing_input *in, const struct closing_known *all,
                                  const struct fault_name *name)
{
    if (!*name->reason || !closing_is_of_boot(in, all, name->boot))
        return (struct health_left){ 0 };
    return (struct health_left){ .name = name,
                                 .level = name->level ? name->level : level_of(in->health, name) };
}

void closing_know(const struct closing_input *in, struct arena *a, struct closing_known *ret)
{
    struct closing_known all;
    *ret = (struct closing_known){ .word = "", .address = "" };
    if (!in->health)
        return;
    struct health_input h = *in->health;
    know(&h, a, ret);
    all = *ret;
    const struct fault_name own = fault_record_name(&in->record);
    if (in->record.state == FAULT_IGNORED)
        h.except[0] = left_of(in, &all, &own);
    h.except[1] = left_of(in, &all, &in->record.left);
    if (h.except[0].name || h.except[1].name)
        know(&h, a, ret);
    if (ret->level < HEALTH_CLOSE && all.level >= HEALTH_CLOSE) {
        *ret = all;
        ret->left = true;
    }
}

bool closing_is_of_gpu(const struct closing_input *in, const struct closing_known *known)
{
    return str_eq(in->record.address, known->address) &&
           closing_is_of_boot(in, known, in->record.boot);
}

bool closing_is_due(const struct closing_input *in, const struct closing_known *known)
{
    bool braked = in->record.state == FAULT_BRAKED;
    return known->level >= HEALTH_CLOSE && !known->left &&
           (!braked || known->hard || !closing_is_of_gpu(in, known));
}

enum health_level closing_own_level(const struct closing_input *in)
{
    const struct fault_name own = fault_record_name(&in->record);
    return in->health ? level_of(in->health, &own) : HEALTH_NONE;
}
