#include "tests/sweep/life.h"

#include "base/json.h"
#include "reconcilers/manifests/render.h"
#include "sim/actors/fit.h"
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

/* Whether one of these rows is of a driver that does not work, of this version. */
static bool fails_in(const struct spec_driver *drivers, size_t count, const char *version)
{
    for (size_t i = 0; i < count; i++)
        if (drivers[i].outcome != SPEC_DRIVER_WORKS && fit_pattern(drivers[i].version, version))
            return true;
    return false;
}

bool life_driver_fails(const struct life *life, const char *version)
{
    const struct scenario *s = life->scenario;
    bool fails = fails_in(s->world.drivers, s->world.driver_count, version);
    for (size_t i = 0; i < s->change_count && !fails; i++)
        fails = fails_in(s->changes[i].drivers, s->changes[i].driver_count, version);
    return fails;
}

bool life_is_broken(const struct life *life, const json_t *policy)
{
    bool broken = life_driver_fails(life, json_str_or_empty(policy, "spec.driver.version"));
    size_t i;
    json_t *pool;
    json_array_foreach (json_at(policy, "spec.pools"), i, pool)
        broken |= life_driver_fails(life, json_str_or_empty(pool, "driver.version"));
    return broken;
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
    for (size_t i = 0; i < life->scenario->change_count; i++)
        reach(life, life->scenario->changes[i].at_ms);
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
