#include "reconcilers/model/claim_steps.h"

#include "base/mem.h"

static const struct {
    enum claim_phase from, to;
} steps[] = {
#define X(from, to, ...) { CLAIM_##from, CLAIM_##to },
    CLAIM_STEPS(X)
#undef X
};

bool claim_step_exists(enum claim_phase from, enum claim_phase to)
{
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (steps[i].from == from && steps[i].to == to)
            return true;
    return from == to;
}
