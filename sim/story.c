#include "sim/story.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

enum { AGAIN_US = 2000000 };

/* The Events of Ostler's that are told. Of many nodes that get the same one at a time, the first is
 * told. */
static const struct told_row {
    const char *reason, *kind;
} rows[] = {
    { "CanaryReady", "GpuClusterPolicy" },
    { "RevisionFailed", "GpuClusterPolicy" },
    { "RolledBack", "Node" },
    { "RolledBack", "GpuClusterPolicy" },
    { "RolloutCompleted", "GpuClusterPolicy" },
    { "ClaimedWaiting", "Node" },
    { "GpuClosed", "Node" },
    { "GpuWithheld", "Node" },
    { "GpuOpened", "Node" },
};

struct story {
    struct story_options o;
    int64_t told_us[ARRAY_LEN(rows)]; /* when each reason was told; 0: never */
};

static void tell(const struct story *s, const char *text)
{
    char time[CLOCK_TEXT_MAX];
    clock_rfc3339(clock_wall_us(s->o.clock), time);
    CLEANUP_FREE char *line = xasprintf("%.8s  %s", time + strlen("2026-11-20T"), text);
    s->o.tell(s->o.arg, line);
}

void sim_story_action(struct story *s, const char *text)
{
    tell(s, text);
}

static void take_event(struct story *s, size_t row, const json_t *event)
{
    int64_t now_us = clock_wall_us(s->o.clock);
    if (now_us - s->told_us[row] < AGAIN_US)
        return;
    s->told_us[row] = now_us;
    bool node = str_eq(rows[row].kind, "Node");
    CLEANUP_FREE char *text = xasprintf("Ostler: %s%s%s",
                                        node ? json_str_or_empty(event, "involvedObject.name") : "",
                                        node ? ": " : "", json_str_or_empty(event, "message"));
    tell(s, text);
}

static void on_commit(void *arg, const struct api_commit *c)
{
    /* Events of the cluster's components have a source component. */
    if (!c->after || !str_eq(c->kind->plural, "events") || json_str(c->after, "source.component"))
        return;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(json_str(c->after, "reason"), rows[i].reason) &&
            str_eq(json_str(c->after, "involvedObject.kind"), rows[i].kind))
            take_event(arg, i, c->after);
}

struct story *sim_story_new(const struct story_options *o)
{
    struct story *s = xcalloc(1, sizeof *s);
    s->o = *o;
    api_on_commit(o->api, on_commit, s);
    return s;
}

void sim_story_free(struct story *s)
{
    free(s);
}
