#include "sim/api/references.h"

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/custom.h"
#include "sim/api/state.h"

static int refuse_terminating(const struct kind *k, const char *ns, const char *name,
                              struct refusal *r)
{
    CLEANUP_FREE char *why = xasprintf(
        "unable to create new content in namespace %s because it is being terminated", ns);
    refuse_forbidden(r, k, name, why);
    refuse_cause(r, "NamespaceTerminating", "metadata.namespace",
                 "namespace %s is being terminated", ns);
    return -1;
}

/* Whether an object of this kind may be made in this namespace. */
static int container_admits(const struct api *api, const struct kind *k, const char *ns,
                            const char *name, struct refusal *r)
{
    if (k->flags & KIND_CUSTOM) {
        const json_t *definition = custom_definition(api, k);
        if (!definition)
            return refuse_generic(r, 404, "the server could not find the requested resource");
        if (object_is_deleting(definition))
            return refuse_forbidden(
                r, k, name, "create not allowed while custom resource definition is terminating");
    }
    if (!k->namespaced)
        return 0;
    const struct entry *container = store_get(&api->store, kind_named("namespaces"), NULL, ns);
    if (!container)
        return refuse_not_found(r, kind_named("namespaces"), ns);
    return object_is_deleting(container->object) ? refuse_terminating(k, ns, name, r) : 0;
}

int references_admit(const struct api *api, const struct kind *k, const char *ns, const char *name,
                     const json_t *object, struct refusal *r)
{
    if (container_admits(api, k, ns, name, r) < 0)
        return -1;
    const char *class = str_eq(k->plural, "pods") ? json_str(object, "spec.runtimeClassName")
                                                  : NULL;
    if (!class || store_get(&api->store, kind_named("runtimeclasses"), NULL, class))
        return 0;
    CLEANUP_FREE char *why = xasprintf("pod rejected: RuntimeClass \"%s\" not found", class);
    return refuse_forbidden(r, k, name, why);
}
