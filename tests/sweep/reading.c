#include "tests/sweep/reading.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Names as docs/node-marks.md has them. */
#define CLAIM_ANNOTATION "ostler.dev/claim"
#define UPGRADE_TAINT "ostler.dev/upgrade"

/* ---- claims */

/* A text of a claim that fits; false: it is none. */
static bool take_text(const json_t *claim, const char *name, char ret[static READING_TEXT_MAX])
{
    const json_t *value = json_object_get(claim, name);
    if (!json_is_string(value) || json_string_length(value) >= READING_TEXT_MAX)
        return false;
    memcpy(ret, json_string_value(value), json_string_length(value) + 1);
    return true;
}

static bool take_number(const json_t *claim, const char *name, int64_t *ret)
{
    const json_t *value = json_object_get(claim, name);
    *ret = json_integer_value(value);
    return json_is_integer(value);
}

static const char *claim_text_of(const json_t *node)
{
    const json_t *annotations = json_object_get(json_object_get(node, "metadata"), "annotations");
    return json_string_value(json_object_get(annotations, CLAIM_ANNOTATION));
}

bool reading_claim(const json_t *node, struct reading_claim *ret)
{
    struct reading_claim c = { 0 };
    const char *text = claim_text_of(node);
    json_t *said = text ? json_loads(text, 0, NULL) : NULL;
    bool good = take_text(said, "policy", c.policy) && take_text(said, "phase", c.phase) &&
                take_text(said, "kind", c.kind) && take_text(said, "driver", c.driver) &&
                take_text(said, "stack", c.stack) && take_text(said, "fromDriver", c.from_driver) &&
                take_text(said, "fromStack", c.from_stack) && take_text(said, "reason", c.reason) &&
                take_number(said, "generation", &c.generation) &&
                take_number(said, "attempt", &c.attempt) && take_number(said, "gpus", &c.gpus);
    json_decref(said);
    if (good)
        *ret = c;
    return good;
}

bool reading_has_place(const struct reading_claim *c)
{
    static const char *const phases[] = { "Draining",  "Unloading",  "Resetting",
                                          "Rebooting", "Installing", "Validating" };
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (strcmp(c->phase, phases[i]) == 0)
            return true;
    return false;
}

bool reading_is_changing(const struct reading_claim *c)
{
    return reading_has_place(c) && strcmp(c->phase, "Draining") != 0;
}

bool reading_closes(const struct reading_claim *c)
{
    return strcmp(c->phase, "Failed") != 0 || strcmp(c->reason, "DrainTimeout") != 0;
}

/* By its value where the policy gives it another key (rollout.taintKey). */
static bool is_of_upgrade(const json_t *taint)
{
    const char *key = json_string_value(json_object_get(taint, "key"));
    const char *value = json_string_value(json_object_get(taint, "value"));
    bool has_value = value && (strcmp(value, "Upgrade") == 0 || strcmp(value, "Rollback") == 0 ||
                               strcmp(value, "Repair") == 0);
    return has_value || (key && strcmp(key, UPGRADE_TAINT) == 0);
}

bool reading_is_closed(const json_t *node)
{
    size_t i;
    json_t *taint;
    json_array_foreach (json_object_get(json_object_get(node, "spec"), "taints"), i, taint)
        if (is_of_upgrade(taint))
            return true;
    return false;
}

/* ---- policies */

static const json_t *rollout_of(const json_t *policy)
{
    return json_object_get(json_object_get(policy, "spec"), "rollout");
}

/* What spec.rollout says where it does not say it. */
static const struct {
    const char *field, *text;
} defaults[] = {
    { "maxParallel", "1" },
    { "maxUnavailable", "25%" },
    { "failureThreshold", "1" },
};

static size_t scaled(const char *text, size_t total)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    return *end == '%' ? (size_t) ((n * total + 99) / 100) : (size_t) n;
}

size_t reading_limit(const json_t *policy, const char *field, size_t total)
{
    const json_t *value = json_object_get(rollout_of(policy), field);
    if (json_is_integer(value))
        return (size_t) json_integer_value(value);
    if (json_is_string(value))
        return scaled(json_string_value(value), total);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (strcmp(defaults[i].field, field) == 0)
            return scaled(defaults[i].text, total);
    return SIZE_MAX;
}

int64_t reading_duration_ms(const char *text)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = { { "ms", 1 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 } };
    int64_t ms = 0;
    const char *at = text;
    while (isdigit((unsigned char) *at)) {
        char *end;
        int64_t n = strtoll(at, &end, 10);
        size_t i = 0;
        while (i < sizeof units / sizeof *units &&
               strncmp(end, units[i].unit, strlen(units[i].unit)) != 0)
            i++;
        if (i == sizeof units / sizeof *units)
            return -1;
        ms += n * units[i].ms;
        at = end + strlen(units[i].unit);
    }
    return *at || at == text ? -1 : ms;
}

static const json_t *brake_of(const json_t *policy)
{
    const json_t *health = json_object_get(json_object_get(policy, "spec"), "health");
    return json_object_get(health, "brake");
}

int64_t reading_brake_window_ms(const json_t *policy)
{
    const char *text = json_string_value(json_object_get(brake_of(policy), "window"));
    return reading_duration_ms(text ? text : "10m");
}

size_t reading_brake_nodes(const json_t *policy, size_t total)
{
    const json_t *most = json_object_get(brake_of(policy), "maxNodes"),
                 *floor = json_object_get(brake_of(policy), "floor");
    const char *text = json_string_value(most);
    size_t nodes = json_is_integer(most) ? (size_t) json_integer_value(most)
                                         : scaled(text ? text : "20%", total);
    size_t least = json_is_integer(floor) ? (size_t) json_integer_value(floor) : 2;
    return nodes > least ? nodes : least;
}

int64_t reading_canary_nodes(const json_t *policy)
{
    const json_t *value = json_object_get(json_object_get(rollout_of(policy), "canary"), "nodes");
    return json_is_integer(value) ? json_integer_value(value) : 1;
}

int64_t reading_canary_soak_s(const json_t *policy)
{
    const char *text = json_string_value(
        json_object_get(json_object_get(rollout_of(policy), "canary"), "soak"));
    return reading_duration_ms(text ? text : "15m") / 1000;
}

bool reading_is_paused(const json_t *policy)
{
    return json_is_true(json_object_get(rollout_of(policy), "paused"));
}

bool reading_asks_approval(const json_t *policy)
{
    const char *approval = json_string_value(json_object_get(rollout_of(policy), "approval"));
    return approval && strcmp(approval, "Manual") == 0;
}

const char *reading_topology_key(const json_t *policy)
{
    return json_string_value(json_object_get(rollout_of(policy), "topologyKey"));
}

static bool has_labels(const json_t *node, const json_t *wanted)
{
    const json_t *labels = json_object_get(json_object_get(node, "metadata"), "labels");
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) wanted, key, value)
        if (!json_equal(json_object_get(labels, key), value))
            return false;
    return true;
}

/* The row of its pool; NULL: it is in none that the policy names. */
static const json_t *pool_row(const json_t *policy, const json_t *node)
{
    size_t i;
    json_t *pool;
    json_array_foreach (json_object_get(json_object_get(policy, "spec"), "pools"), i, pool)
        if (has_labels(node, json_object_get(pool, "nodeSelector")))
            return pool;
    return NULL;
}

const char *reading_pool(const json_t *policy, const json_t *node)
{
    const json_t *pool = pool_row(policy, node);
    return pool ? json_string_value(json_object_get(pool, "name")) : "default";
}

const json_t *reading_taint(const json_t *policy, const json_t *node, const char *field)
{
    const json_t *spec = json_object_get(policy, "spec"),
                 *taint = json_object_get(json_object_get(spec, "nodes"), "taint");
    const json_t *of_pool = json_object_get(json_object_get(pool_row(policy, node), "taint"),
                                            field);
    return of_pool ? of_pool : json_object_get(taint, field);
}
