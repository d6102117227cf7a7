/* Checks a whole policy for what its field table cannot express: what the administrator allows,
 * selectors that would loop, maintenance windows that never open. */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/schedule.h"
#include "reconcilers/model/zone.h"

/* ---- what the administrator allows, as comma-separated lists */

/* Whether an item of a list, of n bytes, allows what a policy asks for. */
typedef bool allows_fn(const char *item, size_t n, const char *wanted);

static bool is_allowed(const char *list, allows_fn *allows, const char *wanted)
{
    for (const char *p = str_or_empty(list); *p;) {
        p += strspn(p, ", ");
        size_t n = strcspn(p, ", ");
        if (n > 0 && allows(p, n, wanted))
            return true;
        p += n;
    }
    return false;
}

/* Whether the image equals or is under the prefix. */
static bool allows_image(const char *prefix, size_t n, const char *image)
{
    while (n > 0 && prefix[n - 1] == '/')
        n--;
    return n > 0 && strncmp(image, prefix, n) == 0 && (image[n] == '/' || image[n] == '\0');
}

/* Whether it is this variable, or this argument up to its "="; an item that ends in "*" allows that
 * prefix. */
static bool allows_setting(const char *item, size_t n, const char *setting)
{
    size_t name = setting[0] == '-' ? strcspn(setting, "=") : strlen(setting);
    if (item[n - 1] == '*')
        return strncmp(setting, item, n - 1) == 0;
    return n == name && strncmp(setting, item, n) == 0;
}

static bool allows_dir(const char *item, size_t n, const char *dir)
{
    return n == strlen(dir) && strncmp(dir, item, n) == 0;
}

/* The pools that a policy gives. */
static const json_t *pools_of(const json_t *spec)
{
    return json_object_get(spec, "pools");
}

/* ---- images */

bool policy_image_allowed(const char *image, const char *prefixes)
{
    return is_allowed(prefixes, allows_image, image);
}

/* The field to name for a wrong image: the one that was set; NULL: none. */
static const char *field_at_fault(const json_t *given)
{
    return json_str(given, "repository") ? "repository" : json_str(given, "image") ? "image" : NULL;
}

/* Whether a node could run it: it is not switched off, no host or Google driver, and no sample that
 * the policy does not name. */
static bool is_used(const json_t *spec, const struct operand_row *o)
{
    const json_t *part = json_at(spec, o->section);
    const char *source = json_str(part, "source");
    return json_bool(part, "enabled", true) &&
           !str_eq(source, policy_source_name(POLICY_SOURCE_HOST)) &&
           !str_eq(source, policy_source_name(POLICY_SOURCE_COS)) &&
           (o->id != OPERAND_VALIDATION || policy_names_sample(spec));
}

/* Checks the image of one operand. `given`, of the policy or a pool, may name it, or leave it to
 * the default. */
static void check_image(const json_t *spec, enum operand operand, const json_t *given,
                        const char *prefixes, const struct policy_place *at)
{
    struct policy_image image;
    policy_image_resolve(spec, operand, NULL, NULL, &image);
    const char *field = field_at_fault(given);
    if (!policy_image_allowed(image.image, prefixes))
        policy_problem_add(field ? POLICY_FIELD(at, field) : at,
                           "%s is not under an allowed prefix; allowed are %s; an administrator "
                           "adds others with --allowed-image-prefixes",
                           image.image, prefixes);
    policy_image_clear(&image);
}

/* Checks the images that `given`, the policy or a pool, names, and those of operands that only
 * `spec`, its effective spec, uses. `above`: the policy of a pool; NULL: none. */
static void check_images_in(const json_t *given, const json_t *spec, const json_t *above,
                            const char *prefixes, const struct policy_place *at)
{
    for (const struct operand_row *o = operand_rows; o->section; o++) {
        const json_t *part = json_at(given, o->section);
        bool checked = above && is_used(above, o);
        if (o->image.image && (field_at_fault(part) || (is_used(spec, o) && !checked)))
            check_image(spec, o->id, part, prefixes, POLICY_FIELD(at, o->section));
    }
}

void policy_check_images(const struct policy *policy, const char *prefixes,
                         const struct policy_place *at)
{
    check_images_in(policy->spec, policy->spec, NULL, prefixes, at);
    JSON_EACH_AT (i, pool, pools_of(policy->spec)) {
        CLEANUP_JSON json_t *spec = policy_pool_spec(policy, i);
        check_images_in(pool, spec, policy->spec, prefixes,
                        POLICY_ITEM(POLICY_FIELD(at, "pools"), i));
    }
}

/* ---- variables and arguments */

/* Operands are privileged, and the interpreters of their scripts obey the environment (BASH_ENV,
 * MAKEFLAGS, PERL5OPT, …). So a policy may set only what the administrator allows. */

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char) *text < ' ' || *text == 0x7f)
            return true;
    return false;
}

/* Checks one setting and its text: a variable's value, or the whole argument. */
static void check_setting(const char *setting, const char *text, const char *allowed,
                          const struct policy_place *at)
{
    if (!is_allowed(allowed, allows_setting, setting))
        policy_problem_add(at,
                           "%s is not allowed; an administrator allows it with --allowed-settings",
                           *setting ? setting : "an empty argument");
    else if (has_control(text))
        policy_problem_add(at, "%s must have no control characters", setting);
}

/* The variables in a Secret cannot be checked, so the Secret is allowed by name. */
static void check_secret(const json_t *operand, const char *allowed, const struct policy_place *at)
{
    const char *name = json_str(operand, "secretEnv");
    CLEANUP_FREE char *setting = xasprintf("secretEnv=%s", str_or_empty(name));
    if (name)
        check_setting(setting, name, allowed, POLICY_FIELD(at, "secretEnv"));
}

static void check_operand(const json_t *operand, const char *allowed, const struct policy_place *at)
{
    check_secret(operand, allowed, at);
    JSON_EACH_AT (i, item, json_object_get(operand, "env"))
        if (json_str(item, "name"))
            check_setting(json_str(item, "name"), json_str_or_empty(item, "value"), allowed,
                          POLICY_ITEM(POLICY_FIELD(at, "env"), i));
    JSON_EACH_AT (i, item, json_object_get(operand, "args"))
        if (json_is_string(item))
            check_setting(json_string_value(item), json_string_value(item), allowed,
                          POLICY_ITEM(POLICY_FIELD(at, "args"), i));
}

static void check_operands(const json_t *above, const char *allowed, const struct policy_place *at)
{
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (o->image.image)
            check_operand(json_at(above, o->section), allowed, POLICY_FIELD(at, o->section));
}

void policy_check_settings(const json_t *spec, const char *allowed, const struct policy_place *at)
{
    check_operands(spec, allowed, at);
    JSON_EACH_AT (i, pool, pools_of(spec))
        check_operands(pool, allowed, POLICY_ITEM(POLICY_FIELD(at, "pools"), i));
}

/* ---- the toolkit's directory */

/* The directory of a toolkit that is not switched off; NULL: there is none. */
static const char *used_dir(const json_t *spec)
{
    return json_bool(spec, "toolkit.enabled", true) ? json_str(spec, "toolkit.installDir") : NULL;
}

static void check_dir(const char *dir, const char *allowed, const struct policy_place *at)
{
    if (dir && !is_allowed(allowed, allows_dir, dir))
        policy_problem_add(POLICY_FIELD(at, "toolkit.installDir"),
                           "%s is not an allowed directory; allowed are %s; an administrator adds "
                           "others with --allowed-install-dirs",
                           dir, *allowed ? allowed : "none");
}

void policy_check_install_dirs(const struct policy *policy, const char *allowed,
                               const struct policy_place *at)
{
    const char *dir = used_dir(policy->spec);
    check_dir(dir, allowed, at);
    for (size_t i = 0; i < json_array_size(pools_of(policy->spec)); i++) {
        CLEANUP_JSON json_t *spec = policy_pool_spec(policy, i);
        /* A problem of the policy's own directory was already added. */
        if (!str_eq(used_dir(spec), dir))
            check_dir(used_dir(spec), allowed, POLICY_ITEM(POLICY_FIELD(at, "pools"), i));
    }
}

/* ---- repairs */

void policy_check_repairs(const json_t *spec, const struct policy_place *at)
{
    if (str_eq(json_str(spec, "health.mode"), "Repair"))
        policy_problem_add(POLICY_FIELD(at, "health.mode"),
                           "Repair needs the administrator's permission: set the chart's value "
                           "allowRepairs (--allow-repairs=true)");
}

/* ---- selectors by labels that Ostler writes itself */

/* Such a selector would loop: Ostler labels a node because the selector matches, then the selector
 * no longer matches, Ostler removes the label, and so on for ever. Ostler labels only nodes that
 * lack the label, so only conditions that hold without it and fail with it are checked. */

/* Whether a map has the label; value NULL: any value. */
static bool has_label(const json_t *labels, const char *key, const char *value)
{
    const char *given = json_key(labels, key);
    return given && (!value || str_eq(given, value));
}

static bool pools_give(const json_t *spec, const char *key, const char *value)
{
    JSON_EACH (pool, pools_of(spec))
        if (has_label(json_object_get(pool, "nodeLabels"), key, value))
            return true;
    return false;
}

/* The assignment labels, whose values cannot be predicted. */
static bool is_assignment(const char *key)
{
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (o->off_label && str_eq(key, o->off_label))
            return true;
    for (enum tier t = 0; t < TIERS; t++)
        if (str_eq(key, tiers[t].label))
            return true;
    return str_eq(key, LABEL_REMOVAL);
}

static bool is_given(const json_t *spec, const char *key, const char *value)
{
    bool present = vendor_of_present(key) && (!value || str_eq(value, "true"));
    return present || is_assignment(key) || has_label(json_at(spec, "nodes.labels"), key, value) ||
           pools_give(spec, key, value);
}

/* Whether an expression holds until Ostler has labelled the node. */
static bool holds_until_given(const json_t *spec, const json_t *expression)
{
    const char *key = json_key(expression, "key"), *operator= json_key(expression, "operator");
    if (key && str_eq(operator, "DoesNotExist"))
        return is_given(spec, key, NULL);
    if (key && str_eq(operator, "NotIn"))
        JSON_EACH (value, json_object_get(expression, "values"))
            if (json_is_string(value) && is_given(spec, key, json_string_value(value)))
                return true;
    return false;
}

/* A pool's labels change with the pool, so no pool may select by them. */
static void check_pool_selector(const json_t *spec, const json_t *pool,
                                const struct policy_place *at)
{
    JSON_EACH_MEMBER (key, value, json_object_get(pool, "nodeSelector"))
        if (is_assignment(key) || pools_give(spec, key, NULL))
            policy_problem_add(
                at, "asks for the label \"%s\", which Ostler gives to nodes by their pool", key);
}

void policy_check_selectors(const json_t *spec, const struct policy_place *at)
{
    const struct policy_place *nodes = POLICY_FIELD(at, "nodes.selector.matchExpressions");
    JSON_EACH_AT (i, expression, json_at(spec, "nodes.selector.matchExpressions"))
        if (holds_until_given(spec, expression))
            policy_problem_add(POLICY_ITEM(nodes, i),
                               "asks for nodes without the label \"%s\", which Ostler gives to the "
                               "nodes that are found",
                               json_key(expression, "key"));
    JSON_EACH_AT (i, pool, pools_of(spec))
        check_pool_selector(
            spec, pool, POLICY_FIELD(POLICY_ITEM(POLICY_FIELD(at, "pools"), i), "nodeSelector"));
}

/* ---- maintenance windows that never open, which no format can detect */

static void check_window(const json_t *window, const struct policy_place *at)
{
    const char *text = json_str(window, "schedule"), *zone = json_str(window, "timeZone");
    struct schedule schedule;
    if (text && schedule_parse(text, &schedule) && !schedule_fires(&schedule))
        policy_problem_add(POLICY_FIELD(at, "schedule"),
                           "must name a day that exists, not \"%s\"; the window never opens", text);
    if (zone && !zone_find(zone))
        policy_problem_add(POLICY_FIELD(at, "timeZone"),
                           "must be a time zone that Ostler knows, such as \"Asia/Tokyo\", not "
                           "\"%s\"; the window never opens",
                           zone);
}

void policy_check_windows(const json_t *spec, const struct policy_place *at)
{
    JSON_EACH_AT (i, window, json_at(spec, "rollout.windows"))
        check_window(window, POLICY_ITEM(POLICY_FIELD(at, "rollout.windows"), i));
}
