/* Checks the variables and arguments that a policy sets for operands, and the toolkit's
 * directory. */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/policy_problems.h"

/* Operands are privileged, and the interpreters of their scripts obey the environment (BASH_ENV,
 * MAKEFLAGS, PERL5OPT, …). So a policy may set only what the administrator allows. */

/* Whether a variable, or an argument up to its "=", is in a comma-separated list; an entry that
 * ends in "*" allows that prefix. */
static bool policy_setting_allowed(const char *setting, const char *allowed)
{
    size_t name = setting[0] == '-' ? strcspn(setting, "=") : strlen(setting);
    for (const char *p = str_or_empty(allowed); *p;) {
        p += strspn(p, ", ");
        size_t n = strcspn(p, ", ");
        bool prefix = n > 0 && p[n - 1] == '*';
        if (prefix ? strncmp(setting, p, n - 1) == 0
                   : n > 0 && n == name && strncmp(setting, p, n) == 0)
            return true;
        p += n;
    }
    return false;
}

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char) *text < ' ' || *text == 0x7f)
            return true;
    return false;
}

/* Checks one setting and its text: a variable's value, or the whole argument. */
static void check_setting(const char *setting, const char *text, const char *allowed,
                          const struct policy_place *at, struct policy_problems *problems)
{
    if (!policy_setting_allowed(setting, allowed))
        policy_problem_add(problems, at,
                           "%s is not allowed; an administrator allows it with --allowed-settings",
                           *setting ? setting : "an empty argument");
    else if (has_control(text))
        policy_problem_add(problems, at, "%s must have no control characters", setting);
}

/* The variables in a Secret cannot be checked, so the Secret is allowed by name. */
static void check_secret(const json_t *operand, const struct policy_place *at, const char *allowed,
                         struct policy_problems *problems)
{
    const struct policy_place here = { .up = at, .kind = PLACE_FIELD, .name = "secretEnv" };
    const char *name = json_str(operand, "secretEnv");
    CLEANUP_FREE char *setting = xasprintf("secretEnv=%s", str_or_empty(name));
    if (name)
        check_setting(setting, name, allowed, &here, problems);
}

static void check_operand(const json_t *operand, const struct policy_place *at, const char *allowed,
                          struct policy_problems *problems)
{
    const struct policy_place env = { .up = at, .kind = PLACE_FIELD, .name = "env" };
    const struct policy_place args = { .up = at, .kind = PLACE_FIELD, .name = "args" };
    size_t i;
    json_t *item;
    check_secret(operand, at, allowed, problems);
    json_array_foreach (json_object_get(operand, "env"), i, item) {
        const struct policy_place here = { .up = &env, .kind = PLACE_ITEM, .index = i };
        const char *name = json_str(item, "name");
        if (name)
            check_setting(name, json_str_or_empty(item, "value"), allowed, &here, problems);
    }
    json_array_foreach (json_object_get(operand, "args"), i, item) {
        const struct policy_place here = { .up = &args, .kind = PLACE_ITEM, .index = i };
        if (json_is_string(item))
            check_setting(json_string_value(item), json_string_value(item), allowed, &here,
                          problems);
    }
}

static void check_operands(const json_t *above, const struct policy_place *up, const char *allowed,
                           struct policy_problems *problems)
{
    for (const struct operand_row *o = operand_rows; o->section; o++) {
        const struct policy_place at = { .up = up, .kind = PLACE_FIELD, .name = o->section };
        if (o->image.image)
            check_operand(json_at(above, o->section), &at, allowed, problems);
    }
}

void policy_check_settings(const json_t *spec, const char *allowed,
                           struct policy_problems *problems)
{
    const struct policy_place root = { .kind = PLACE_FIELD, .name = "spec" };
    const struct policy_place pools = { .up = &root, .kind = PLACE_FIELD, .name = "pools" };
    check_operands(spec, &root, allowed, problems);
    size_t i;
    json_t *pool;
    json_array_foreach (json_object_get(spec, "pools"), i, pool) {
        const struct policy_place item = { .up = &pools, .kind = PLACE_ITEM, .index = i };
        check_operands(pool, &item, allowed, problems);
    }
}

/* Whether a comma-separated list has this item. */
static bool has_item(const char *list, const char *item)
{
    for (const char *p = list; *p;) {
        p += strspn(p, ", ");
        size_t n = strcspn(p, ", ");
        if (n > 0 && n == strlen(item) && strncmp(item, p, n) == 0)
            return true;
        p += n;
    }
    return false;
}

/* The directory of a toolkit that is not switched off; NULL: there is none. */
static const char *used_dir(const json_t *spec)
{
    return json_bool(spec, "toolkit.enabled", true) ? json_str(spec, "toolkit.installDir") : NULL;
}

static void check_dir(const char *dir, const struct policy_place *up, const char *allowed,
                      struct policy_problems *problems)
{
    const struct policy_place toolkit = { .up = up, .kind = PLACE_FIELD, .name = "toolkit" };
    const struct policy_place at = { .up = &toolkit, .kind = PLACE_FIELD, .name = "installDir" };
    if (dir && !has_item(allowed, dir))
        policy_problem_add(
            problems, &at,
            "%s is not an allowed directory; allowed are %s; an administrator adds others with "
            "--allowed-install-dirs",
            dir, *allowed ? allowed : "none");
}

void policy_check_install_dirs(const struct policy *policy, const char *allowed,
                               struct policy_problems *problems)
{
    const struct policy_place root = { .kind = PLACE_FIELD, .name = "spec" };
    const struct policy_place pools = { .up = &root, .kind = PLACE_FIELD, .name = "pools" };
    const char *dir = used_dir(policy->spec);
    check_dir(dir, &root, allowed, problems);
    for (size_t i = 0; i < json_array_size(json_object_get(policy->spec, "pools")); i++) {
        const struct policy_place item = { .up = &pools, .kind = PLACE_ITEM, .index = i };
        CLEANUP_JSON json_t *spec = policy_pool_spec(policy, i);
        /* A problem of the policy's own directory was already added. */
        if (!str_eq(used_dir(spec), dir))
            check_dir(used_dir(spec), &item, allowed, problems);
    }
}
