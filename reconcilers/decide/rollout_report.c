#include "reconcilers/decide/rollout_report.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

void rollout_report_clear(struct rollout_report *r)
{
    arena_free(&r->arena);
    *r = (struct rollout_report){ 0 };
}

enum reason rollout_report_reason(const struct rollout_report *r)
{
    return r->hold == ROLLOUT_HOLD_NONE ? REASON_PROGRESSING : rollout_hold_reason(r->hold);
}

static const char *rollout_report_copy(struct rollout_report *r, const char *s)
{
    return s ? arena_strdup(&r->arena, s) : NULL;
}

static void rollout_report_note(struct rollout_report *r, const struct rollout_note *n,
                                const char *const *pool_names)
{
    struct report_note *note = &r->notes[r->note_count++];
    *note = (struct report_note){ .pool = arena_strdup(&r->arena, pool_names[n->pool]),
                                  .canary_s = n->canary_s,
                                  .wave_s = n->wave_s };
    snprintf(note->hash, sizeof note->hash, "%s", n->hash);
    if (n->failed)
        note->failed = arena_printf(&r->arena, "%s %s", n->failed->name, n->failed_with);
}

static bool same_notes(const struct rollout_report *a, const struct rollout_report *b)
{
    bool same = a->note_count == b->note_count;
    for (size_t i = 0; same && i < a->note_count; i++) {
        const struct report_note *x = &a->notes[i], *y = &b->notes[i];
        same = str_eq(x->pool, y->pool) && x->canary_s == y->canary_s && x->wave_s == y->wave_s &&
               str_eq(x->hash, y->hash) && str_eq(x->failed, y->failed);
    }
    return same;
}

static bool rollout_report_same(const struct rollout_report *a, const struct rollout_report *b)
{
    return a->known == b->known && a->hold == b->hold && a->until_s == b->until_s &&
           str_eq(a->message, b->message) && str_eq(a->failure, b->failure) &&
           str_eq(a->failure_retry, b->failure_retry) && a->pending == b->pending &&
           a->active == b->active && a->waiting == b->waiting && a->failed == b->failed &&
           a->skipped == b->skipped && a->done == b->done && str_eq(a->plan_hash, b->plan_hash) &&
           same_notes(a, b);
}

bool rollout_report_take(struct rollout_report *r, const struct rollout_decision *d,
                         const char *const *pool_names)
{
    struct rollout_report now = { .known = true,
                                  .hold = d->hold,
                                  .until_s = d->until_s,
                                  .pending = d->pending,
                                  .active = d->active,
                                  .waiting = d->waiting,
                                  .failed = d->failed,
                                  .skipped = d->skipped,
                                  .done = d->done,
                                  .slots = d->slots,
                                  .out = d->out,
                                  .out_gpus = d->out_gpus };
    now.message = rollout_report_copy(&now, d->message);
    now.failure = rollout_report_copy(&now, d->failure.message);
    now.failure_node = rollout_report_copy(&now, d->failure.node);
    now.failure_retry = rollout_report_copy(&now, d->failure.retry);
    memcpy(now.plan_hash, d->plan_hash, sizeof now.plan_hash);
    now.notes = arena_alloc(&now.arena, d->note_count * sizeof *now.notes);
    for (size_t i = 0; i < d->note_count; i++)
        rollout_report_note(&now, &d->notes[i], pool_names);
    bool changed = !rollout_report_same(r, &now);
    rollout_report_clear(r);
    *r = now;
    return changed;
}
