#include "tests/unit/support/testbed_store.h"

#include "base/mem.h"
#include "kube/object.h"
#include "sim/api/state.h"
#include "sim/api/typed.h"

/* As the server understands it, with its defaults; what it cannot read stays as it is. New
 * reference. */
static json_t *understood(const struct kind *k, json_t *object_steal)
{
    struct typed_problems problems = { 0 };
    json_t *read = type_of_kind(k) ? typed_read(type_of_kind(k), NULL, object_steal, &problems)
                                   : NULL;
    typed_problems_clear(&problems);
    json_t *copy = json_deep_copy(read ? read : object_steal);
    json_decref(read);
    json_decref(object_steal);
    return copy;
}

void testbed_commit(struct api *api, const struct kind *k, const json_t *before,
                    json_t *after_steal)
{
    const json_t *object = after_steal ? after_steal : before;
    CLEANUP_FREE char *ns = xstrdup(object_namespace(object)), *name = xstrdup(object_name(object));
    const struct store_write write = { .kind = k,
                                       .ns = ns,
                                       .name = name,
                                       .user = "other",
                                       .subresource = "",
                                       .verb = !after_steal ? API_DELETE
                                               : before     ? API_UPDATE
                                                            : API_CREATE };
    api_publish(api, &write, after_steal ? understood(k, after_steal) : NULL);
}

json_t *testbed_committed(const struct api *api, uint64_t rv)
{
    const struct api_commit *c = store_commit_at(&api->store, rv);
    return c->after ? json_incref(c->after) : api_last_state(c->before, rv);
}
