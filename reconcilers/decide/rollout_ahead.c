#include "reconcilers/decide/rollout_ahead.h"

/* Later nodes that have their images wait this long for a node that is still pulling. */
enum { PATIENCE_S = 60 };

enum images_state ahead_images(const struct work *w)
{
    enum images_state state = w->node->images.state;
    if (!work_needs_images(w))
        return IMAGES_READY;
    return state == IMAGES_UNKNOWN ? IMAGES_PULLING : state;
}

void ahead_make(const struct rollout_input *in, const struct budget *budget, struct ahead *ret)
{
    const struct budget_line *slots = &budget->slots;
    size_t free_slots = slots->max > slots->used ? slots->max - slots->used : 0;
    *ret = (struct ahead){
        .in = in, .promised = *budget, .kept = *budget, .pulls_max = slots->max + free_slots
    };
}

/* A node that cannot pull what others in its pool have pulled has its own problem and takes no
 * place. If no node has the images, all have the same problem. */
static bool counts(const struct work *w)
{
    return ahead_images(w) != IMAGES_MISSING || !w->progress->pulled;
}

/* Nodes with jobs are counted separately: they wait anyway, and would take the places of nodes that
 * could start. */
void ahead_count(const struct work *w, bool ready)
{
    if (work_needs_images(w) && w->node->images.state != IMAGES_UNKNOWN && counts(w))
        w->progress->ahead[ready]++;
}

void ahead_take(struct ahead *a, const struct work *w, bool ready)
{
    budget_take(&a->promised, w, ready);
    budget_take(&a->kept, w, ready);
}

/* A node that could start and still pulls keeps its place before nodes that would only be tainted
 * for their jobs, and before the last. For a moment it also keeps its place before the others, to
 * preserve their order. */
bool ahead_refuses(const struct ahead *a, const struct work *w, bool ready, bool first)
{
    return budget_refuses(first ? &a->kept : &a->promised, w, ready) != ROLLOUT_HOLD_NONE;
}

static bool has_place(const struct ahead *a, const struct work *w, bool ready)
{
    return w->node->images.state != IMAGES_UNKNOWN || w->progress->ahead[ready] < a->pulls_max;
}

enum rollout_hold ahead_hold(const struct ahead *a, const struct work *w, bool ready)
{
    if (!w->node->up)
        return ROLLOUT_HOLD_DOWN;
    if (ahead_images(w) == IMAGES_MISSING)
        return ROLLOUT_HOLD_IMAGES;
    enum rollout_hold hold = budget_refuses(&a->promised, w, ready);
    return hold == ROLLOUT_HOLD_NONE ? ROLLOUT_HOLD_IMAGES : hold;
}

/* What delays the nodes that are next. */
static bool is_next(enum rollout_hold hold)
{
    return hold == ROLLOUT_HOLD_IMAGES || hold == ROLLOUT_HOLD_CANARY ||
           hold == ROLLOUT_HOLD_SOAK || hold == ROLLOUT_HOLD_PARALLEL ||
           hold == ROLLOUT_HOLD_UNAVAILABLE || hold == ROLLOUT_HOLD_GPUS;
}

/* Nodes that may start now pull, plus as many as may be changed at a time, so that no node waits
 * for images in its turn. */
static bool pulls_now(const struct ahead *a, const struct work *w, bool ready,
                      enum rollout_hold hold)
{
    if (!work_needs_images(w) || !w->node->up || w->node->images.state != IMAGES_UNKNOWN ||
        !is_next(hold) || !has_place(a, w, ready))
        return false;
    w->progress->ahead[ready]++;
    return true;
}

/* Until when other nodes wait for it; INT64_MAX: not, or no longer. */
static int64_t kept_until(const struct ahead *a, const struct work *w, bool pulls)
{
    const struct images *images = &w->node->images;
    if (images->state == IMAGES_UNKNOWN)
        return pulls && !a->in->pull_refused ? time_after(a->in->now_s, PATIENCE_S) : INT64_MAX;
    int64_t until_s = time_after(images->since_s, PATIENCE_S);
    /* Further than any clock error. */
    bool far_ahead = images->since_s > time_after(a->in->now_s, PATIENCE_S);
    return until_s <= a->in->now_s || far_ahead ? INT64_MAX : until_s;
}

/* It starts as soon as its images are pulled. */
static int64_t promise(struct ahead *a, const struct work *w, bool pulls)
{
    if (budget_refuses(&a->promised, w, true) == ROLLOUT_HOLD_NONE)
        budget_take(&a->promised, w, true);
    int64_t until_s = kept_until(a, w, pulls);
    if (until_s == INT64_MAX || budget_refuses(&a->kept, w, true) != ROLLOUT_HOLD_NONE)
        return INT64_MAX;
    budget_take(&a->kept, w, true);
    w->progress->kept++;
    return until_s;
}

bool ahead_hold_back(struct ahead *a, const struct work *w, bool ready, enum rollout_hold hold,
                     int64_t *ret_until_s)
{
    bool pulls = pulls_now(a, w, ready, hold);
    bool waits = hold == ROLLOUT_HOLD_IMAGES && ready &&
                 (pulls || w->node->images.state == IMAGES_PULLING);
    *ret_until_s = waits ? promise(a, w, pulls) : INT64_MAX;
    return pulls;
}
