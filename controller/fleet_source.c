#include "controller/fleet_source.h"

#include <string.h>

#include "base/mem.h"
#include "reconcilers/cluster.h"
#include "reconcilers/fleet_view.h"

static struct fleet_source source_of(const struct fleet_engine *from)
{
    return (struct fleet_source){ engine_cluster(from->engine), from->version, from->holder };
}

static void source_snapshot(void *arg, const char *id, struct buf *out)
{
    const struct fleet_source s = source_of(arg);
    fleet_snapshot(&s, id, out);
}

static bool source_row(void *arg, const char *name, struct buf *out)
{
    const struct fleet_source s = source_of(arg);
    return fleet_row(&s, name, out);
}

static void source_policy(void *arg, struct buf *out)
{
    const struct fleet_source s = source_of(arg);
    fleet_policy(&s, out);
}

static bool source_node(void *arg, const char *name, struct buf *out)
{
    const struct fleet_source s = source_of(arg);
    return fleet_node(&s, name, out);
}

static int64_t source_as_of_us(void *arg)
{
    const struct fleet_engine *from = arg;
    return cluster_heard_us(engine_cluster(from->engine));
}

/* The pod of a replica: its identity without what makes it unique. */
static char *pod_of(const char *identity)
{
    const char *end = strrchr(identity, '_');
    return xstrndup(identity, end ? (size_t) (end - identity) : strlen(identity));
}

static char *source_why_nothing(void *arg, char **ret_leader)
{
    struct fleet_engine *from = arg;
    *ret_leader = NULL;
    if (engine_leads(from->engine))
        return cluster_synced(engine_cluster(from->engine))
                   ? NULL
                   : xstrdup("Ostler has not read the whole cluster yet");
    const char *leader = engine_leader(from->engine);
    char *why = engine_why_lease_fails(from->engine);
    if (leader)
        *ret_leader = pod_of(leader);
    return why ? why
               : xstrdup(leader ? "this replica does not lead: ask the one that does"
                                : "this replica does not lead, and knows no other that does");
}

static bool source_hears(void *arg)
{
    const struct fleet_engine *from = arg;
    CLEANUP_FREE char *why = engine_why_watches_fail(from->engine);
    return !why;
}

struct fleet_texts fleet_texts_of(struct fleet_engine *from)
{
    return (struct fleet_texts){ .snapshot = source_snapshot,
                                 .row = source_row,
                                 .policy = source_policy,
                                 .node = source_node,
                                 .as_of_us = source_as_of_us,
                                 .why_nothing = source_why_nothing,
                                 .hears = source_hears,
                                 .arg = from };
}
