#include "kube/resource.h"

#include "base/buf.h"
#include "kube/url.h"

static const struct resource resources[RESOURCE_COUNT] = {
#define X(id, ...) [RESOURCE_##id] = { __VA_ARGS__ },
    RESOURCES(X)
#undef X
};

static const char *const api_versions[RESOURCE_COUNT] = {
/* The core group gives "/v1": resource_api_version() skips the slash. */
#define X(id, group, version, ...) [RESOURCE_##id] = group "/" version,
    RESOURCES(X)
#undef X
};

const struct resource *resource_get(enum resource_id id)
{
    return &resources[id];
}

const char *resource_name(enum resource_id id)
{
    return id == RESOURCE_TASK      ? "tasks"
           : id == RESOURCE_FOREIGN ? "foreign-daemonsets"
                                    : resources[id].plural;
}

const char *resource_api_version(enum resource_id id)
{
    const char *text = api_versions[id];
    return *text == '/' ? text + 1 : text;
}

char *resource_path(enum resource_id id, const char *ns, const char *name, const char *subresource)
{
    const struct resource *r = &resources[id];
    struct buf b = BUF_INIT(URL_ROOM);
    buf_printf(&b, *r->group ? "/apis/%s/%s" : "/api%s/%s", r->group, r->version);
    if (r->namespaced && ns) {
        buf_str(&b, "/namespaces/");
        url_escape(&b, ns);
    }
    buf_printf(&b, "/%s", r->plural);
    if (name) {
        buf_str(&b, "/");
        url_escape(&b, name);
    }
    if (subresource)
        buf_printf(&b, "/%s", subresource);
    return buf_take(&b);
}
