#include "reconcilers/decide/suspicion.h"

#include <string.h>

#include "base/str.h"
#include "reconcilers/decide/rollout_view.h"

/* How the text ends. */
#define TOLD " (within its soak; no node with a known good driver has a new fault)"

/* Nodes that the text names besides the first. */
enum { NAMED_MAX = 3 };

/* Fewer say nothing of the driver: one node alone may have a broken GPU. */
enum { SUSPICION_NODES = 2 };

/* When the soak of a revision is over; INT64_MAX: not known yet. */
static int64_t soak_end_s(const struct rollout_input *in, const struct rollout_revision *r)
{
    bool canary = in->spec->canary_nodes > 0, waves = in->spec->soak_s > 0;
    if ((canary && r->canary_s <= 0) || (waves && r->wave_s == ROLLOUT_WAVE_RUNNING))
        return INT64_MAX;
    int64_t canary_s = canary ? time_after(r->canary_s, in->spec->canary_soak_s) : 0,
            wave_s = waves && r->wave_s ? time_after(r->wave_s, in->spec->soak_s) : 0;
    return canary_s > wave_s ? canary_s : wave_s;
}

/* A fault that the log or NVML reports: the PCI bus and a failed proof show a broken node. */
static bool has_soft_fault(const struct rollout_node *n)
{
    return n->fault.level >= HEALTH_CLOSE && !n->fault.hard && n->fault.word;
}

/* Whether the node has a fault that came with the revision. */
static bool is_suspect(const struct rollout_node *n, const struct rollout_revision *r,
                       int64_t until_s)
{
    bool runs = n->pool == r->pool && str_eq(n->now.hash[TIER_DRIVER], r->hash) && !n->claim &&
                !n->leaving;
    return runs && has_soft_fault(n) && n->fault.since_s >= n->driver_s &&
           n->fault.since_s > r->forgiven_s && n->fault.since_s <= until_s;
}

static bool is_known_good(const struct rollout_input *in, const struct rollout_node *n)
{
    for (size_t i = 0; i < in->revision_count; i++)
        if (in->revisions[i].known_good && in->revisions[i].pool == n->pool &&
            str_eq(in->revisions[i].hash, n->now.hash[TIER_DRIVER]))
            return true;
    return false;
}

/* Whether a node with a known good driver has a fault since then: it has another cause. */
static bool others_have(const struct rollout_input *in, int64_t since_s)
{
    for (size_t i = 0; i < in->node_count; i++)
        if (has_soft_fault(&in->nodes[i]) && in->nodes[i].fault.since_s >= since_s &&
            is_known_good(in, &in->nodes[i]))
            return true;
    return false;
}

static const char *suspicion_text(const struct suspicion *s,
                                  const struct rollout_node *const *others, struct arena *a)
{
    size_t rest = s->nodes - 1, named = rest < NAMED_MAX ? rest : NAMED_MAX;
    const char *text = arena_printf(a, "%s, as on %s", s->first->fault.word, others[0]->name);
    for (size_t i = 1; i < named; i++)
        text = arena_printf(a, "%s, %s", text, others[i]->name);
    if (rest > named)
        text = arena_printf(a, "%s and %zu more", text, rest - named);
    return arena_printf(a, "%s" TOLD, text);
}

bool suspicion_of(const struct rollout_input *in, const struct rollout_revision *r, struct arena *a,
                  struct suspicion *ret)
{
    const struct rollout_node *others[NAMED_MAX] = { 0 };
    int64_t until_s = soak_end_s(in, r), from_s = INT64_MAX;
    *ret = (struct suspicion){ 0 };
    for (size_t i = 0; i < in->node_count && !r->known_good; i++) {
        const struct rollout_node *n = &in->nodes[i];
        if (!is_suspect(n, r, until_s))
            continue;
        int64_t since_s = n->driver_s ? n->driver_s : n->fault.since_s;
        from_s = since_s < from_s ? since_s : from_s;
        if (!ret->first)
            ret->first = n;
        else if (ret->nodes <= NAMED_MAX)
            others[ret->nodes - 1] = n;
        ret->nodes++;
    }
    if (ret->nodes < SUSPICION_NODES || others_have(in, from_s))
        return false;
    ret->text = suspicion_text(ret, others, a);
    return true;
}

bool suspicion_is_told(const char *failure)
{
    size_t len = strlen(str_or_empty(failure)), end = strlen(TOLD);
    return len > end && str_eq(failure + len - end, TOLD);
}
