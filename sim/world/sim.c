#include "sim/world/sim.h"

#include "base/mem.h"

static int64_t mono_ms(void *self)
{
    const struct sim *s = self;
    return s->now_ms;
}

static int64_t wall_us(void *self)
{
    const struct sim *s = self;
    return sim_wall_us(s, s->now_ms);
}

int64_t sim_wall_us(const struct sim *s, int64_t at_ms)
{
    return s->epoch_us + (int64_t) ((double) at_ms * 1000 / s->pace);
}

int64_t sim_ms_of_wall(const struct sim *s, int64_t wall_us)
{
    return (int64_t) ((double) (wall_us - s->epoch_us) / 1000 * s->pace);
}

void sim_init(struct sim *s, uint64_t seed)
{
    *s = (struct sim){ .epoch_us = SIM_EPOCH_US,
                       .pace = 1,
                       .clock = { mono_ms, wall_us, s },
                       .rng = rng_of(seed),
                       .trace = UINT64_C(0xcbf29ce484222325) };
}

static struct sim_event *first(const struct sim *s)
{
    struct heap_item *item = heap_first(&s->events);
    return item ? container_of(item, struct sim_event, item) : NULL;
}

void sim_clear(struct sim *s)
{
    heap_clear(&s->events);
}

void sim_at(struct sim *s, struct sim_event *e, int64_t at_ms)
{
    heap_set(&s->events, &e->item, at_ms > s->now_ms ? at_ms : s->now_ms);
}

void sim_after(struct sim *s, struct sim_event *e, int64_t delay_ms)
{
    sim_at(s, e, s->now_ms + delay_ms);
}

void sim_cancel(struct sim *s, struct sim_event *e)
{
    heap_remove(&s->events, &e->item);
}

int64_t sim_next(const struct sim *s)
{
    const struct sim_event *e = first(s);
    return e ? e->item.at : INT64_MAX;
}

bool sim_step(struct sim *s, int64_t until_ms)
{
    struct sim_event *e = first(s);
    if (!e || e->item.at > until_ms) {
        if (until_ms > s->now_ms)
            s->now_ms = until_ms;
        return false;
    }
    if (e->item.at > s->now_ms)
        s->now_ms = e->item.at;
    heap_remove(&s->events, &e->item);
    s->happened++;
    e->fn(e->arg);
    return true;
}

void sim_run_until(struct sim *s, int64_t until_ms)
{
    while (sim_step(s, until_ms))
        ;
}

void sim_trace(struct sim *s, const void *bytes, uint64_t n)
{
    const unsigned char *b = bytes;
    for (uint64_t i = 0; i < n; i++)
        s->trace = (s->trace ^ b[i]) * UINT64_C(0x100000001b3);
}
