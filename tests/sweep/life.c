#include "tests/sweep/life.h"

#include "reconcilers/manifests/render.h"
#include "sim/api/builtin.h"

static void reach(struct life *life, int64_t at_ms)
{
    size_t phase = (size_t) (at_ms / LIFE_PHASE_MS);
    if (phase >= life->phases)
        life->phases = phase + 1;
}

int life_load(struct life *life, const char *file, struct err *e)
{
    *life = (struct life){ .scenario = scenario_read(file, e) };
    if (!life->scenario)
        return -1;
    life->manifests = manifests_new(e);
    if (!life->manifests)
        return -1;
    life->crds = builtin_crds();
    for (size_t i = 0; i < life->scenario->world.action_count; i++)
        reach(life, life->scenario->world.actions[i].at_ms);
    for (size_t i = 0; i < life->scenario->change_count; i++)
        reach(life, life->scenario->changes[i].at_ms);
    return 0;
}

void life_clear(struct life *life)
{
    scenario_free(life->scenario);
    manifests_free(life->manifests);
    json_decref(life->crds);
}
