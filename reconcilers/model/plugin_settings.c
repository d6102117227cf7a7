#include "reconcilers/model/plugin_settings.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"

enum { REPLICAS_MAX = 1024 };

/* The ways of sharing GPUs: the configuration's path, and the name. */
static const struct {
    const char *section, *name;
} sharings[] = {
    [SHARING_NONE] = { NULL, "none" },
    [SHARING_TIME_SLICING] = { "sharing.timeSlicing", "time-slicing" },
    [SHARING_MPS] = { "sharing.mps", "mps" },
};

json_t *plugin_settings_of(const json_t *stack_inputs)
{
    const char *text = json_str(stack_inputs, "devicePlugin.config.text");
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = text ? yaml_parse(text, strlen(text), NULL, &e) : NULL;
    json_t *settings = json_array_get(documents, 0);
    return json_is_object(settings) ? json_incref(settings) : NULL;
}

const char *plugin_mig_strategy(const json_t *stack_inputs, const json_t *settings)
{
    static const char *const strategies[] = { "single", "mixed" };
    const char *said = json_str_or_empty(stack_inputs, "devicePlugin.migStrategy");
    const char *of_settings = json_str_or_empty(settings, "flags.migStrategy");
    for (size_t i = 0; i < ARRAY_LEN(strategies); i++)
        if (str_eq(said, strategies[i]) ||
            (str_eq(said, "none") && str_eq(of_settings, strategies[i])))
            return strategies[i];
    return "none";
}

struct plugin_share plugin_share_of(const json_t *settings, const char *resource)
{
    for (size_t i = SHARING_TIME_SLICING; i < ARRAY_LEN(sharings); i++) {
        const json_t *section = json_at(settings, sharings[i].section);
        const json_t *row = json_find(json_object_get(section, "resources"), "name", resource);
        int64_t replicas = json_int(row, "replicas", 0);
        if (replicas > 1 && replicas <= REPLICAS_MAX)
            return (struct plugin_share){ (enum plugin_sharing) i, (unsigned) replicas,
                                          json_bool(section, "renameByDefault", false) };
    }
    return (struct plugin_share){ SHARING_NONE, 1, false };
}

bool plugin_shares_by(const json_t *settings, enum plugin_sharing how)
{
    JSON_EACH (row, json_object_get(json_at(settings, sharings[how].section), "resources"))
        if (json_int(row, "replicas", 0) > 1)
            return true;
    return false;
}

const char *plugin_sharing_name(enum plugin_sharing how)
{
    return sharings[how].name;
}
