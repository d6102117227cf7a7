#include "sim/actors/agenda.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/object.h"

struct item {
    struct sim_event event;
    struct agenda *agenda;
    char key[];
};

/* Delay of the first retry; it doubles each time up to the maximum. */
enum { RETRY_MIN_MS = 5, RETRY_MAX_MS = 1000 * 1000 };

struct failures {
    int64_t delay_ms; /* of the last retry */
    char key[];
};

void agenda_init(struct agenda *g, struct sim *sim, const char *purpose, struct spec_delay delay,
                 agenda_fn *fn, void *self)
{
    *g = (struct agenda){
        .sim = sim, .rng = rng_fork(&sim->rng, purpose), .delay = delay, .fn = fn, .self = self
    };
}

void agenda_clear(struct agenda *g)
{
    MAP_EACH (entry, &g->items)
        sim_cancel(g->sim, &((struct item *) entry->value)->event);
    map_clear_with(&g->items, free);
    map_clear_with(&g->failed, free);
}

static void agenda_look(void *arg)
{
    struct item *item = arg;
    /* Removed first, so that the sync may add the same key again. */
    map_remove(&item->agenda->items, item->key);
    item->agenda->fn(item->agenda->self, item->key);
    free(item);
}

int64_t agenda_draw(struct agenda *g, struct spec_delay delay)
{
    return delay.high_ms > delay.low_ms ? rng_between(&g->rng, delay.low_ms, delay.high_ms)
                                        : delay.low_ms;
}

void agenda_at(struct agenda *g, const char *key, int64_t at_ms)
{
    struct item *item = map_get(&g->items, key);
    if (item && item->event.item.at <= at_ms)
        return;
    if (!item) {
        item = MAP_MAKE(struct item, key, &g->items, key);
        item->event.fn = agenda_look;
        item->event.arg = item;
        item->agenda = g;
    }
    sim_at(g->sim, &item->event, at_ms);
}

void agenda_after(struct agenda *g, const char *key, int64_t delay_ms)
{
    agenda_at(g, key, g->sim->now_ms + delay_ms);
}

void agenda_note(struct agenda *g, const char *key)
{
    /* A pending key is not drawn again: one random draw for each sync. */
    const struct item *item = map_get(&g->items, key);
    if (!item || item->event.item.at > g->sim->now_ms + g->delay.high_ms)
        agenda_after(g, key, agenda_draw(g, g->delay));
}

void agenda_note_object(struct agenda *g, const json_t *object)
{
    CLEANUP_FREE char *key = xasprintf("%s/%s", object_namespace(object), object_name(object));
    agenda_note(g, key);
}

int64_t agenda_backoff(int64_t ms, int64_t min_ms, int64_t max_ms)
{
    int64_t next = ms ? ms * 2 : min_ms;
    return next < max_ms ? next : max_ms;
}

void agenda_retry(struct agenda *g, const char *key)
{
    struct failures *f = MAP_MAKE(struct failures, key, &g->failed, key);
    f->delay_ms = agenda_backoff(f->delay_ms, RETRY_MIN_MS, RETRY_MAX_MS);
    agenda_after(g, key, f->delay_ms);
}

void agenda_succeeded(struct agenda *g, const char *key)
{
    free(map_remove(&g->failed, key));
}

void agenda_drop(struct agenda *g, const char *key)
{
    struct item *item = map_remove(&g->items, key);
    if (!item)
        return;
    sim_cancel(g->sim, &item->event);
    free(item);
}
