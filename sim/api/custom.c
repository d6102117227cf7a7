#include "sim/api/custom.h"

#include "base/json.h"
#include "base/str.h"
#include "sim/api/state.h"

const json_t *custom_definition(const struct api *api, const struct kind *k)
{
    CLEANUP_FREE char *name = xasprintf("%s.%s", k->plural, k->group);
    const struct entry *r = store_get(&api->store, kind_named("customresourcedefinitions"), NULL,
                                      name);
    return r ? r->object : NULL;
}

bool custom_is_served(const struct api *api, const struct kind *k)
{
    return !(k->flags & KIND_CUSTOM) || custom_definition(api, k);
}

const json_t *custom_version(const struct api *api, const struct kind *k)
{
    return json_find(json_at(custom_definition(api, k), "spec.versions"), "name", k->version);
}
