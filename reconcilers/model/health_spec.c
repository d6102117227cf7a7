#include "reconcilers/model/health_spec.h"

#include "base/json.h"
#include "base/str.h"

static enum health_mode mode_of(const char *name)
{
    if (str_eq(name, "Repair"))
        return HEALTH_MODE_REPAIR;
    return str_eq(name, "Observe") ? HEALTH_MODE_OBSERVE : HEALTH_MODE_CLOSE;
}

static enum health_reboot reboot_of(const char *name)
{
    if (str_eq(name, "Pod"))
        return HEALTH_REBOOT_POD;
    return str_eq(name, "Sentinel") ? HEALTH_REBOOT_SENTINEL : HEALTH_REBOOT_NONE;
}

void health_spec_decode(const json_t *spec, bool repairs, struct health_spec *ret)
{
    const json_t *health = json_object_get(spec, "health");
    bool drains = str_eq(json_str(health, "afterJobs"), "Drain");
    *ret = (struct health_spec){
        .mode = mode_of(json_str(health, "mode")),
        .wait_for_jobs_s = drains ? spec_span_at(health, "drainAfter") : -1,
        .reboot = reboot_of(json_str(health, "reboot")),
        .brake = { .window_s = spec_span_at(health, "brake.window"),
                   .max_nodes = spec_count_at(health, "brake.maxNodes"),
                   .floor = json_int(health, "brake.floor", 0),
                   .cooldown_s = spec_span_at(health, "brake.cooldown") },
        .resets = json_int(health, "attempts.reset", 0),
        .reboots = json_int(health, "attempts.reboot", 0),
        .attempts_per_s = spec_span_at(health, "attempts.per"),
        .repairs = repairs,
    };
}
