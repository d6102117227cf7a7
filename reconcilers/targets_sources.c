#include "reconcilers/targets_sources.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"

/* The newest record of a tier that bears an annotation (of a pool). Times are RFC 3339 in UTC, so text compares as time. */
static const struct child *newest(const struct cluster *c, const char *tier, const char *annotation)
{
    const struct child *best = NULL;
    const char *best_time = "";
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&c->tables[RESOURCE_REVISION].records, &cursor))) {
        const struct child *record = e->value;
        const char *time = json_key(record->annotations, annotation);
        if (!child_is_ours(record) || !time || !str_eq(json_str(record->inputs, "tier"), tier))
            continue;
        if (strcmp(time, best_time) > 0) {
            best = record;
            best_time = time;
        }
    }
    return best;
}

/* The revision whose rollout last completed in the pool. What was only ever meant to run there may be bad. */
static const json_t *held(void *arg, const char *pool, const char *tier)
{
    CLEANUP_FREE char *completed = xasprintf(ANNOTATION_COMPLETED "%s", pool);
    const struct child *record = newest(arg, tier, completed);
    return record ? record->inputs : NULL;
}

static const char *config_text(void *arg, const char *name, const char *key)
{
    const struct cluster *c = arg;
    CLEANUP_FREE char *full = xasprintf("%s/%s", c->o.operand_namespace, name);
    const struct child *map = (const struct child *) table_get(&c->tables[RESOURCE_CONFIGMAP], full);
    return map ? json_key(map->inputs, key) : NULL;
}

struct target_sources targets_sources(struct cluster *c)
{
    return (struct target_sources){ .held = held, .config_text = config_text, .arg = c };
}

struct targets *cluster_targets(struct cluster *c)
{
    if (!c->targets && c->policy_valid) {
        struct target_sources sources = targets_sources(c);
        c->targets = targets_new(&c->policy, &sources);
    }
    return c->targets;
}
