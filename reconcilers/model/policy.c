#include "reconcilers/model/policy.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/policy_rules.h"
#include "reconcilers/model/policy_spec.h"

static const char *const source_names[] = {
    [POLICY_SOURCE_AUTO] = "Auto",
    [POLICY_SOURCE_CONTAINER] = "Container",
    [POLICY_SOURCE_COS] = "COS",
    [POLICY_SOURCE_HOST] = "Host",
};

const char *policy_source_name(enum policy_driver_source source)
{
    return source_names[source];
}

static enum policy_driver_source source_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(source_names); i++)
        if (str_eq(source_names[i], name))
            return (enum policy_driver_source) i;
    return POLICY_SOURCE_AUTO;
}

/* Checks a field with one valid value. */
static void check_fixed(const char *field, const char *value, const char *wanted,
                        struct policy_problems *problems)
{
    if (!str_eq(value, wanted))
        policy_problem_add(POLICY_ROOT(problems, field), "must be \"%s\"", wanted);
}

static void check_identity(const json_t *object, struct policy_problems *problems)
{
    /* Items of a list from the API server may lack the first two. */
    if (json_object_get(object, "apiVersion"))
        check_fixed("apiVersion", json_str(object, "apiVersion"), POLICY_API_VERSION, problems);
    if (json_object_get(object, "kind"))
        check_fixed("kind", json_str(object, "kind"), POLICY_KIND, problems);
    check_fixed("metadata.name", json_str(object, "metadata.name"), POLICY_NAME, problems);
}

/* A node's taints are identified by key: none of these may repeat an earlier one. */
static const char *const taint_keys[] = { "nodes.taint.key", "nodes.startupTaint.key",
                                          "rollout.taintKey" };

/* Adds a problem if `key` is the key of one of the taints [from, to). */
static void check_taint_key(const json_t *spec, const char *key, size_t from, size_t to,
                            const struct policy_place *at)
{
    for (size_t i = from; i < to; i++)
        if (key && str_eq(key, json_str(spec, taint_keys[i])))
            policy_problem_add(at, "must differ from %s", taint_keys[i]);
}

static void check_taint_keys(const json_t *spec, const struct policy_place *at)
{
    for (size_t i = 1; i < ARRAY_LEN(taint_keys); i++)
        check_taint_key(spec, json_str(spec, taint_keys[i]), 0, i, POLICY_FIELD(at, taint_keys[i]));
}

/* Rules of an operand's section that must hold again after merging the policy's section under the
 * pool's. */
static const struct merged_rules {
    const char *operand, *section;
    const struct policy_rule *rules;
    bool told; /* violations by the pool's own values were already reported */
} merged_rules[] = {
    { "driver", "driver", policy_rules_driver, true },
    { "devicePlugin", "devicePlugin.config", policy_rules_plugin_config, false },
};

static void check_pool_rules(const struct policy *p, const struct merged_rules *m,
                             const json_t *pool, const json_t *merged,
                             const struct policy_place *at)
{
    for (const struct policy_rule *r = m->rules; r->message; r++)
        if (policy_rule_holds(r, json_at(p->spec, m->section)) &&
            (!m->told || policy_rule_holds(r, json_at(pool, m->section))) &&
            !policy_rule_holds(r, json_at(merged, m->section)))
            policy_problem_add(POLICY_FIELD(at, m->operand), "%s (merged with spec.%s)", r->message,
                               m->operand);
}

/* A pool may give the policy's taint another key. */
static void check_pools(const struct policy *p, const struct policy_place *at)
{
    JSON_EACH_AT (i, pool, json_object_get(p->spec, "pools")) {
        const struct policy_place *item = POLICY_ITEM(POLICY_FIELD(at, "pools"), i);
        CLEANUP_JSON json_t *merged = policy_pool_spec(p, i);
        for (size_t r = 0; r < ARRAY_LEN(merged_rules); r++)
            check_pool_rules(p, &merged_rules[r], pool, merged, item);
        check_taint_key(p->spec, json_str(pool, "taint.key"), 1, ARRAY_LEN(taint_keys),
                        POLICY_FIELD(item, "taint.key"));
    }
}

static void report(int result, struct err *e, const struct policy_place *at)
{
    if (result < 0)
        policy_problem_add(at, "%s", err_msg(e));
}

static void decode_nodes(struct policy *p, const struct policy_place *at)
{
    CLEANUP_ERR struct err e = { 0 };
    report(selector_compile(json_at(p->spec, "nodes.selector"), &p->nodes, &e), &e,
           POLICY_FIELD(at, "nodes.selector"));
    p->node_labels = json_at(p->spec, "nodes.labels");
}

static int64_t seconds_at(const json_t *spec, const char *path)
{
    int64_t ms;
    const char *text = json_str(spec, path);
    return text && str_parse_duration(text, &ms) ? ms / 1000 : 0;
}

static void decode_validation(struct policy *p)
{
    p->validation = (struct policy_validation){
        .enabled = json_bool(p->spec, "validation.enabled", true),
        .timeout_s = seconds_at(p->spec, "validation.timeout"),
        .taint = { .enabled = json_bool(p->spec, "nodes.startupTaint.enabled", true),
                   .key = json_str(p->spec, "nodes.startupTaint.key"),
                   .value = "unproven",
                   .effect = "NoSchedule" },
        .taint_timeout_s = seconds_at(p->spec, "nodes.startupTaint.timeout"),
    };
}

static unsigned enabled_operands(const json_t *spec)
{
    unsigned bits = 0;
    for (const struct operand_row *o = operand_rows; o->section; o++)
        bits |= json_bool(json_at(spec, o->section), "enabled", true) ? 1u << o->id : 0;
    /* Only the agent reads what it writes. */
    return bits >> OPERAND_AGENT & 1 ? bits : bits & ~(1u << OPERAND_NODE_CARDS);
}

/* Whether others install driver, toolkit and device plugin on all its nodes, whatever is found
 * there. */
static bool is_only_watched(const struct policy_pool *pool)
{
    return pool->source == POLICY_SOURCE_HOST &&
           (!policy_pool_runs(pool, OPERAND_TOOLKIT) ||
            str_eq(json_str(pool->spec, "toolkit.source"), "Host")) &&
           !policy_pool_runs(pool, OPERAND_DEVICE_PLUGIN);
}

/* Decodes one pool; `given` is NULL for the pool of all other nodes. */
static void decode_pool(struct policy *p, size_t i, const json_t *given,
                        const struct policy_place *at)
{
    CLEANUP_ERR struct err e = { 0 };
    json_t *spec = policy_pool_spec(p, i);
    struct policy_pool *pool = &p->pools[i];
    *pool = (struct policy_pool){
        .name = given ? json_str(given, "name") : POLICY_POOL_DEFAULT,
        .spec = spec,
        .source = source_named(json_str(spec, "driver.source")),
        .taint = { .enabled = json_bool(spec, "nodes.taint.enabled", true),
                   .key = json_str(spec, "nodes.taint.key"),
                   .value = json_str(spec, "nodes.taint.value"),
                   .effect = json_str(spec, "nodes.taint.effect"),
                   .foreign = json_bool(spec, "nodes.taint.foreign", false) },
        .operands = enabled_operands(spec),
        .node_labels = json_object_get(given, "nodeLabels"),
    };
    pool->only_watched = is_only_watched(pool);
    report(selector_compile_labels(json_object_get(given, "nodeSelector"), &pool->selector, &e), &e,
           POLICY_FIELD(POLICY_ITEM(POLICY_FIELD(at, "pools"), i), "nodeSelector"));
}

static void decode_pools(struct policy *p, const struct policy_place *at)
{
    const json_t *pools = json_object_get(p->spec, "pools");
    p->pools_len = json_array_size(pools) + 1;
    p->pools = xcalloc(p->pools_len, sizeof *p->pools);
    for (size_t i = 0; i < p->pools_len; i++)
        decode_pool(p, i, json_array_get(pools, i), at);
}

/* Clears the members that only a valid policy has. */
static void clear_spec(struct policy *p)
{
    for (size_t i = 0; i < p->pools_len; i++) {
        selector_clear(&p->pools[i].selector);
        json_decref(p->pools[i].spec);
    }
    free(p->pools);
    selector_clear(&p->nodes);
    json_decref(p->spec);
    *p = (struct policy){ .uid = p->uid };
}

int policy_decode(const json_t *object, const struct policy_limits *limits, struct policy *ret,
                  struct policy_problems *problems)
{
    const json_t *given = json_object_get(object, "spec");
    const struct policy_place *at = POLICY_ROOT(problems, "spec");
    size_t before = policy_problems_count(problems);

    *ret = (struct policy){ 0 };
    ret->uid = xstrdup(json_str_or_empty(object, "metadata.uid"));
    check_identity(object, problems);
    ret->spec = policy_spec_read(given, problems);
    check_taint_keys(ret->spec, at);
    check_pools(ret, at);
    policy_check_selectors(ret->spec, at);
    if (limits->images)
        policy_check_images(ret, limits->images, at);
    policy_check_settings(ret->spec, limits->settings, at);
    if (limits->install_dirs)
        policy_check_install_dirs(ret, limits->install_dirs, at);
    if (!limits->repairs)
        policy_check_repairs(ret->spec, at);
    policy_check_windows(ret->spec, at);
    if (policy_problems_count(problems) == before) {
        decode_nodes(ret, at);
        decode_validation(ret);
        decode_pools(ret, at);
    }
    if (policy_problems_count(problems) == before)
        return 0;
    clear_spec(ret);
    return -1;
}

void policy_clear(struct policy *policy)
{
    clear_spec(policy);
    free(policy->uid);
    *policy = (struct policy){ 0 };
}

size_t policy_pool_of(const struct policy *policy, selector_lookup_fn *lookup, const void *labels)
{
    size_t i = 0;
    while (i + 1 < policy->pools_len &&
           !selector_matches(&policy->pools[i].selector, lookup, labels))
        i++;
    return i;
}

/* Puts a pool's value over the policy's. */
static void put_override(json_t *changes, const char *path, json_t *override)
{
    if (override)
        json_set_at(changes, path, json_incref(override));
}

json_t *policy_pool_spec(const struct policy *policy, size_t pool)
{
    if (policy->pools && policy->pools[pool].spec)
        return json_incref(policy->pools[pool].spec);
    json_t *spec = json_deep_copy(policy->spec);
    const json_t *overrides = json_array_get(json_object_get(spec, "pools"), pool);
    CLEANUP_JSON json_t *changes = json_object();

    for (const struct operand_row *o = operand_rows; o->section; o++)
        put_override(changes, o->section, json_object_get(overrides, o->section));
    put_override(changes, "nodes.taint", json_object_get(overrides, "taint"));
    put_override(changes, "nodes.labels", json_object_get(overrides, "nodeLabels"));
    json_merge(spec, changes);
    json_object_del(spec, "pools");
    return spec;
}

bool policy_pool_runs(const struct policy_pool *pool, enum operand operand)
{
    return pool->operands >> operand & 1;
}

bool policy_runs(const struct policy *policy, enum operand operand)
{
    for (size_t i = 0; i < policy->pools_len; i++)
        if (policy_pool_runs(&policy->pools[i], operand))
            return true;
    return false;
}
