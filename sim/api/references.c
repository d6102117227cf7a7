#include "sim/api/references.h"

#include "base/json.h"
#include "base/str.h"
#include "sim/api/state.h"

int references_admit(const struct api *api, const struct kind *k, const char *name,
                     const json_t *object, struct refusal *r)
{
    const char *class = str_eq(k->plural, "pods") ? json_str(object, "spec.runtimeClassName")
                                                  : NULL;
    if (!class || store_get(&api->store, kind_named("runtimeclasses"), NULL, class))
        return 0;
    CLEANUP_FREE char *why = xasprintf("pod rejected: RuntimeClass \"%s\" not found", class);
    return refuse_forbidden(r, k, name, why);
}
