#include "reconcilers/model/claim_phases.h"

#include "base/mem.h"
#include "base/str.h"

static const struct {
    const char *name;
    bool has_slot;
    enum claim_progress progress;
} phases[CLAIM_PHASE_COUNT] = {
#define PHASE(id, name, has_slot, progress) [CLAIM_##id] = { name, has_slot, CLAIM_##progress },
#define STEP(...)
    CLAIM_TABLE(PHASE, STEP)
#undef PHASE
#undef STEP
};

static const struct {
    enum claim_phase from, to;
} steps[] = {
#define PHASE(...)
#define STEP(from, to, ...) { CLAIM_##from, CLAIM_##to },
    CLAIM_TABLE(PHASE, STEP)
#undef PHASE
#undef STEP
};

const char *claim_phase_name(enum claim_phase p)
{
    return phases[p].name;
}

enum claim_phase claim_phase_parse(const char *name)
{
    enum claim_phase p = 0;
    while (p < CLAIM_PHASE_COUNT && !str_eq(phases[p].name, name))
        p++;
    return p;
}

bool claim_phase_has_slot(enum claim_phase p)
{
    return phases[p].has_slot;
}

enum claim_progress claim_phase_progress(enum claim_phase p)
{
    return phases[p].progress;
}

bool claim_step_exists(enum claim_phase from, enum claim_phase to)
{
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (steps[i].from == from && steps[i].to == to)
            return true;
    return from == to;
}
