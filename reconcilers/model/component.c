#include "reconcilers/model/component.h"

#include "base/str.h"

static const struct {
    const char *name, *tier;
} components[COMPONENT_NONE + 1] = {
#define X(id, name, tier) [COMPONENT_##id] = { name, tier },
    COMPONENTS(X)
#undef X
        [COMPONENT_AGENT] = { "node-agent", "" },
        [COMPONENT_REMOVAL] = { "toolkit-removal", "removal" },
        [COMPONENT_NONE] = { "", "" },
};

const char *component_name(enum component c)
{
    return components[c].name;
}

const char *component_tier(enum component c)
{
    return components[c].tier;
}

enum component component_parse(const char *name)
{
    for (int i = 0; i < COMPONENT_NONE; i++)
        if (str_eq(components[i].name, name))
            return (enum component) i;
    return COMPONENT_NONE;
}
