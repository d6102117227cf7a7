#include "tests/sweep/life.h"

#include "reconcilers/manifests/render.h"
#include "sim/api/access.h"
#include "sim/api/builtin.h"
#include "sim/api/custom_rules.h"

static void reach(struct life *life, int64_t at_ms)
{
    size_t phase = (size_t) (at_ms / LIFE_PHASE_MS);
    if (phase >= life->phases)
        life->phases = phase + 1;
}

struct access *life_access(struct err *e)
{
    struct access *a = access_new();
    access_add_admin(a, ADMIN);
    if (access_add_chart(a, OSTLER_NAMESPACE, OPERAND_NAMESPACE, e) == 0)
        return a;
    access_free(a);
    return NULL;
}

static bool is_broken(const struct spec_driver *drivers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (drivers[i].outcome != SPEC_DRIVER_WORKS)
            return true;
    return false;
}

int life_load(struct life *life, const char *file, struct err *e)
{
    *life = (struct life){ .scenario = scenario_read(file, e) };
    if (!life->scenario)
        return -1;
    life->manifests = manifests_new(e);
    if (!life->manifests)
        return -1;
    life->access = life_access(e);
    if (!life->access)
        return -1;
    life->crds = builtin_crds();
    life->schemas = custom_schemas_new();
    for (size_t i = 0; i < life->scenario->world.action_count; i++)
        reach(life, life->scenario->world.actions[i].at_ms);
    life->broken = is_broken(life->scenario->world.drivers, life->scenario->world.driver_count);
    for (size_t i = 0; i < life->scenario->change_count; i++) {
        const struct scenario_change *c = &life->scenario->changes[i];
        reach(life, c->at_ms);
        life->broken |= is_broken(c->drivers, c->driver_count);
    }
    return 0;
}

int life_load_by_clock(struct life *life, const char *file, struct err *e)
{
    if (life_load(life, file, e) < 0)
        return -1;
    life->by_clock = true;
    life->phases = 1;
    return 0;
}

void life_clear(struct life *life)
{
    scenario_free(life->scenario);
    manifests_free(life->manifests);
    json_decref(life->crds);
    custom_schemas_free(life->schemas);
    access_free(life->access);
}
