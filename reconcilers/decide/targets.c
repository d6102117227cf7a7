#include "reconcilers/decide/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "reconcilers/model/driver_images.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/plugin_settings.h"

struct entry {
    struct target target;
    char *key; /* pool and kind of host */
};

struct targets {
    const struct policy *policy;
    struct target_sources sources;
    json_t **specs; /* by pool */
    struct map entries;
};

struct targets *targets_new(const struct policy *policy, const struct target_sources *sources)
{
    struct targets *t = xcalloc(1, sizeof *t);
    t->policy = policy;
    t->sources = *sources;
    t->specs = xcalloc(policy->pools_len, sizeof *t->specs);
    for (size_t i = 0; i < policy->pools_len; i++)
        t->specs[i] = policy_pool_spec(policy, i);
    return t;
}

static void clear_target(struct target *target)
{
    if (target->good)
        clear_target(target->good);
    for (enum tier t = 0; t < TIERS; t++)
        json_decref(target->inputs[t]);
    free(target->problem);
    free(target->good);
}

void targets_free(struct targets *t)
{
    if (!t)
        return;
    MAP_EACH (e, &t->entries) {
        struct entry *entry = e->value;
        clear_target(&entry->target);
        free(entry->key);
        free(entry);
    }
    map_clear(&t->entries);
    for (size_t i = 0; i < t->policy->pools_len; i++)
        json_decref(t->specs[i]);
    free(t->specs);
    free(t);
}

const json_t *targets_spec(const struct targets *t, size_t pool)
{
    return t->specs[pool];
}

/* The ConfigMap and key that configure the device plugin on a node; without a name: none. */
static struct plugin_config config_of(const struct targets *t, size_t pool,
                                      const struct node_facts *facts)
{
    const json_t *config = json_at(t->specs[pool], "devicePlugin.config");
    const char *label = facts->label(facts->labels, LABEL_PLUGIN_CONFIG),
               *name = json_str(config, "name");
    const char *key = label ? label : json_str(config, "default");
    return name && key ? (struct plugin_config){ .name = name, .key = key }
                       : (struct plugin_config){ 0 };
}

/* Whether operands may not run there: their permissions would expose the cluster's keys. */
static bool is_left_out(const struct targets *t, const struct node_facts *facts)
{
    return !t->sources.control_plane && facts->label(facts->labels, KUBERNETES_CONTROL_PLANE);
}

/* Whether the node is of OpenShift, which refuses operand pods without their own
 * SecurityContextConstraints. */
static bool is_openshift(const struct node_facts *facts)
{
    return facts->label(facts->labels, OPENSHIFT_OS) ||
           str_has_prefix(str_or_empty(facts->os_image), "Red Hat Enterprise Linux CoreOS");
}

/* Everything that the target depends on besides the policy. */
static char *entry_key(const struct targets *t, size_t pool, const struct node_facts *facts,
                       const struct host *host, enum driver_source source,
                       const struct plugin_config *config)
{
    bool precompiled = json_bool(t->specs[pool], "driver.precompiled", false);
    /* If the problem's text names the host, hosts with different problems are of different
     * kinds. */
    const char *os = source == DRIVER_SOURCE_NONE ? str_or_empty(facts->os_image) : host->os;
    const char *runtime = host->runtime == RUNTIME_UNKNOWN ? str_or_empty(facts->runtime_version)
                                                           : host_runtimes[host->runtime].name;
    return xasprintf("%d|%d|%d|%d|%zu|%s|%s|%s|%d|%d|%d|%d|%d|%s|%s", is_left_out(t, facts),
                     is_openshift(facts), host->cos, host->google_driver, pool, os,
                     precompiled ? host->kernel : "", runtime, (int) host->distribution, host->cdi,
                     host->cdi_by_default, (int) host->toolkit, (int) source,
                     str_or_empty(config->name), str_or_empty(config->key));
}

/* Notes a problem; the first one stays. */
PRINTF(3, 4)
static void set_problem(struct target *target, enum reason reason, const char *fmt, ...)
{
    if (target->reason)
        return;
    target->reason = reason;
    target->problem = FORMATTED(fmt);
}

static json_t *held(const struct targets *t, size_t pool, const char *tier)
{
    return t->sources.held ? t->sources.held(t->sources.arg, t->policy->pools[pool].name, tier)
                           : NULL;
}

static struct revision_standing standing_of(const struct targets *t, const struct target *target,
                                            enum tier tier)
{
    struct revision_standing s = { 0 };
    if (t->sources.standing)
        t->sources.standing(t->sources.arg, t->policy->pools[target->pool].name,
                            target->runs.hash[tier], target->inputs[tier], &s);
    return s;
}

/* If a rollout of the driver was completed in the pool, its image exists, whatever the table
 * says. */
static void look_for_image(const struct targets *t, struct target *target)
{
    CLEANUP_ARENA struct arena a = { 0 };
    const char *why = driver_images_problem(&a, target->inputs[TIER_DRIVER]);
    target->no_image = why && !standing_of(t, target, TIER_DRIVER).completed;
    if (target->no_image)
        set_problem(target, REASON_NO_DRIVER_IMAGE, "%s", why);
}

static void fill_driver(struct targets *t, struct target *target, const struct host *host,
                        const struct node_facts *facts)
{
    CLEANUP_ARENA struct arena a = { 0 };
    const json_t *spec = t->specs[target->pool];
    if (target->source == DRIVER_SOURCE_NONE) {
        set_problem(target, REASON_UNKNOWN_OPERATING_SYSTEM, "%s",
                    driver_source_problem(&a, t->policy->pools[target->pool].source, host, facts));
        return;
    }
    if (target->source == DRIVER_SOURCE_COS &&
        str_has_prefix(json_str_or_empty(spec, "driver.version"), "sha256:")) {
        set_problem(target, REASON_DIGEST_ON_COS,
                    "driver.version is a digest, which the installer of Container-Optimized OS "
                    "does not take; give these nodes a pool whose driver.version is the driver's "
                    "own, such as 580.178.04");
        return;
    }
    CLEANUP_JSON json_t *known = held(t, target->pool, "driver");
    target->inputs[TIER_DRIVER] = driver_inputs(spec, target->source, host, known);
    if (!target->inputs[TIER_DRIVER])
        return;
    revision_hash(target->inputs[TIER_DRIVER], target->runs.hash[TIER_DRIVER]);
    look_for_image(t, target);
}

/* With a configuration that shares by MPS, the device plugin exits at once if no MPS control daemon
 * runs. */
static void take_stack(struct targets *t, struct target *target, const struct host *host,
                       const struct plugin_config *config)
{
    CLEANUP_JSON json_t *known = held(t, target->pool, "stack");
    CLEANUP_JSON json_t *inputs = stack_inputs(t->specs[target->pool], target->source, host, config,
                                               known);
    CLEANUP_JSON json_t *settings = plugin_settings_of(inputs);
    if (config && plugin_shares_by(settings, SHARING_MPS)) {
        set_problem(target, REASON_MPS_NOT_SUPPORTED,
                    "the key %s of the ConfigMap %s shares GPUs by MPS (sharing.mps), and Ostler "
                    "does not run the control daemon of MPS, without which the device plugin does "
                    "not start; use sharing.timeSlicing, or another key",
                    config->key, config->name);
        return;
    }
    bool brings_toolkit = json_bool(inputs, "toolkit.enabled", false);
    target->inputs[TIER_STACK] = TAKE(inputs);
    revision_hash(target->inputs[TIER_STACK], target->runs.hash[TIER_STACK]);
    target->toolkit_in_turn = t->sources.standing && brings_toolkit &&
                              !standing_of(t, target, TIER_STACK).completed;
}

static void fill_stack(struct targets *t, struct target *target, const struct host *host,
                       const struct node_facts *facts, struct plugin_config *config)
{
    CLEANUP_ARENA struct arena a = { 0 };
    const json_t *spec = t->specs[target->pool];
    const char *why = toolkit_is_ostlers(spec, host) ? host_runtime_problem(&a, host, facts) : NULL;
    const char *toolkit_why = toolkit_wish_of(spec) == TOOLKIT_AUTO ? host_toolkit_problem(host)
                                                                    : NULL;
    if (config->name && t->sources.config_text)
        config->text = t->sources.config_text(t->sources.arg, config->name, config->key);
    if (why)
        set_problem(target, REASON_RUNTIME_UNKNOWN, "%s", why);
    else if (toolkit_why)
        set_problem(target, REASON_HOST_TOOLKIT_MISSING, "%s", toolkit_why);
    else if (config->name && !config->text)
        set_problem(target, REASON_PLUGIN_CONFIG_MISSING,
                    "the ConfigMap %s in the operand namespace has no key %s, which configures the "
                    "device plugin here; create it, or change spec.devicePlugin.config",
                    config->name, config->key);
    else
        take_stack(t, target, host, config->name ? config : NULL);
}

enum { NO_CANARY = -1, LONG_AGO = 1 };

/* The new parts of a target are tested when all of them are. */
static void add_canary(struct target *target, int64_t since_s)
{
    if (!since_s || target->canary_s == NO_CANARY)
        target->canary_s = NO_CANARY;
    else if (since_s > target->canary_s)
        target->canary_s = since_s;
}

/* One tier of what the pool rolls back to; false: nothing of it was ever completed there. */
static bool take_standing(const struct targets *t, struct target *target, enum tier tier,
                          struct target *good)
{
    if (!target->inputs[tier])
        return true;
    struct revision_standing s = standing_of(t, target, tier);
    target->failed |= s.failed;
    if (!s.good)
        return false;
    if (!str_eq(s.good, target->runs.hash[tier]))
        add_canary(target, s.completed ? LONG_AGO : s.canary_s);
    snprintf(good->runs.hash[tier], REVISION_HASH_MAX, "%s", s.good);
    good->inputs[tier] = json_incref((json_t *) s.good_inputs);
    return true;
}

/* What the pool rolls back to, if that is different. */
static void fill_good(struct targets *t, struct target *target)
{
    if (!t->sources.standing || (target->reason && !target->no_image))
        return;
    struct target *good = xcalloc(1, sizeof *good);
    good->source = target->source;
    good->pool = target->pool;
    bool all = true;
    for (enum tier tier = 0; tier < TIERS; tier++)
        all &= take_standing(t, target, tier, good);
    if (target->canary_s == NO_CANARY)
        target->canary_s = 0;
    if (all && !assignment_same(assignment_ref(&good->runs), assignment_ref(&target->runs))) {
        target->good = good;
        return;
    }
    target->known_good = all;
    clear_target(good);
    free(good);
}

static void fill(struct targets *t, struct target *target, const struct host *host,
                 const struct node_facts *facts, struct plugin_config *config)
{
    if (is_left_out(t, facts))
        set_problem(
            target, REASON_CONTROL_PLANE,
            "it belongs to the control plane, where Ostler runs nothing by default; to serve its "
            "GPUs start Ostler with --control-plane-nodes (the chart's controlPlaneNodes)");
    else if (is_openshift(facts))
        set_problem(target, REASON_OPEN_SHIFT,
                    "it is a node of OpenShift, which Ostler does not support yet: the "
                    "SecurityContextConstraints that admit its pods and the driver toolkit that "
                    "its driver is compiled with are missing; use NVIDIA's GPU Operator there");
    else
        fill_driver(t, target, host, facts);
    if (!target->reason || target->no_image)
        fill_stack(t, target, host, facts, config);
    fill_good(t, target);
}

const struct target *targets_for(struct targets *t, size_t pool, const struct node_facts *facts,
                                 bool host_driver)
{
    struct host host = host_of(facts);
    enum driver_source source = driver_source_for(t->policy->pools[pool].source, &host,
                                                  host_driver);
    struct plugin_config config = config_of(t, pool, facts);
    char *key = entry_key(t, pool, facts, &host, source, &config);
    struct entry *entry = map_get(&t->entries, key);
    if (entry) {
        free(key);
        return &entry->target;
    }
    entry = xcalloc(1, sizeof *entry);
    *entry = (struct entry){ .target = { .pool = pool, .source = source }, .key = key };
    fill(t, &entry->target, &host, facts, &config);
    map_put(&t->entries, entry->key, entry);
    return &entry->target;
}

const struct target *targets_next(const struct targets *t, size_t *cursor)
{
    const struct map_entry *e = map_next(&t->entries, cursor);
    return e ? &((const struct entry *) e->value)->target : NULL;
}

const json_t *targets_inputs(const struct targets *t, const char *tier_name, const char *hash,
                             size_t *ret_pool)
{
    const struct target *target;
    enum tier tier = tier_parse(tier_name);
    for (size_t at = 0; tier < TIERS && (target = targets_next(t, &at));)
        if (target->inputs[tier] && str_eq(target->runs.hash[tier], hash)) {
            *ret_pool = target->pool;
            return target->inputs[tier];
        }
    return NULL;
}

static bool has_pool(const struct policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->pools_len; i++)
        if (str_eq(policy->pools[i].name, name))
            return true;
    return false;
}

const char *targets_no_image(const struct targets *t, size_t pool, const char *driver)
{
    const struct target *target;
    for (size_t at = 0; (target = targets_next(t, &at));)
        if (target->no_image && target->pool == pool &&
            str_eq(target->runs.hash[TIER_DRIVER], driver))
            return target->problem;
    return NULL;
}

bool targets_displace(const struct targets *t, const json_t *inputs, const char *hash,
                      const char *pool)
{
    const struct target *target;
    enum tier tier = tier_parse(json_str(inputs, "tier"));
    bool other = !has_pool(t->policy, pool);
    for (size_t at = 0; tier < TIERS && (target = targets_next(t, &at));) {
        if (!target->inputs[tier] || !str_eq(t->policy->pools[target->pool].name, pool))
            continue;
        if (str_eq(target->runs.hash[tier], hash))
            return false;
        other |= revision_same_machine(target->inputs[tier], inputs);
    }
    return other;
}
