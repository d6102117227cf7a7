#include "tests/unit/support/quiet.h"

#include "base/json.h"
#include "tests/unit/support/tree.h"

static int64_t mono_ms(void *self)
{
    (void) self;
    return QUIET_MONO_MS;
}

static int64_t wall_us(void *self)
{
    (void) self;
    return QUIET_WALL_US;
}

const struct clock quiet_clock = { .mono_ms = mono_ms, .wall_us = wall_us };

static void ignore_node(void *arg, const char *name)
{
    (void) arg, (void) name;
}

static void ignore_policy(void *arg, bool soon)
{
    (void) arg, (void) soon;
}

const struct cluster_listener quiet_listener = { .node = ignore_node, .policy = ignore_policy };

void quiet_event(struct cluster *c, enum resource_id resource, const char *text, bool deleted)
{
    CLEANUP_JSON json_t *object = tree(text);
    table_event(&c->tables[resource], object, deleted);
}
