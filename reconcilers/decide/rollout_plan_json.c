#include "reconcilers/decide/rollout_plan_json.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/rollout_message.h"

/* Longest sentence, and longest text about one node. */
enum { SENTENCE_ROOM = 4 << 10, BLOCKER_MAX = 512, YEAR_S = 365 * 86400 };

const struct rollout_plan_limits rollout_plan_for_status = {
    .waves = 5, .names = 5, .blockers = 5, .pods = 0
};
const struct rollout_plan_limits rollout_plan_in_full = {
    .waves = SIZE_MAX, .names = SIZE_MAX, .blockers = SIZE_MAX, .pods = SIZE_MAX, .moves = true
};

static json_t *time_json(const struct rollout_plan_input *in, int64_t at_s)
{
    char text[CLOCK_TEXT_MAX];
    clock_rfc3339((at_s + in->rollout->set_s) * 1000000, text);
    return json_string(text);
}

static const struct drain *drain_of(const struct rollout_plan_input *in,
                                    const struct rollout_node *n)
{
    return &in->drains[n - in->rollout->nodes];
}

/* ---- sums */

struct sums {
    size_t leave, wait, blocked; /* pods to evict, pods to wait for, and nodes with such pods */
    size_t imageless;            /* nodes that cannot pull the images of their target */
};

static struct sums sum_up(const struct rollout_plan_input *in)
{
    struct sums s = { 0 };
    for (size_t i = 0; i < in->rollout->node_count; i++) {
        s.leave += in->drains[i].of[DRAIN_LEAVES];
        s.wait += in->drains[i].stuck - in->drains[i].host_count;
        s.blocked += in->drains[i].stuck > 0;
        s.imageless += in->rollout->nodes[i].images.state == IMAGES_MISSING;
    }
    return s;
}

static size_t moves_of(const struct rollout_plan_input *in, size_t pool, enum tier tier)
{
    size_t n = 0;
    for (size_t i = 0; i < in->simulation->move_count; i++)
        n += in->simulation->moves[i].tier == tier && in->simulation->moves[i].node->pool == pool;
    return n;
}

/* ---- members */

static json_t *pools_json(const struct rollout_plan_input *in)
{
    json_t *pools = json_array();
    size_t names = 0;
    for (size_t i = 0; i < in->rollout->node_count; i++)
        names = in->rollout->nodes[i].pool >= names ? in->rollout->nodes[i].pool + 1 : names;
    for (size_t pool = 0; pool < names; pool++) {
        CLEANUP_JSON json_t *o = json_pack("{s:s}", "name", in->rollout->pool_names[pool]);
        size_t moves = 0;
        for (enum tier t = 0; t < TIERS; t++) {
            size_t n = moves_of(in, pool, t);
            json_object_set_new(o, tiers[t].name, json_integer(n));
            moves += n;
        }
        if (moves)
            json_array_append(pools, o);
    }
    return pools;
}

static json_t *wave_json(const struct rollout_plan_input *in, const struct planned_wave *w)
{
    json_t *names = json_array();
    for (size_t i = 0; i < w->count && i < in->limits->names; i++)
        json_array_append_new(names, json_string(in->simulation->moves[w->first + i].node->name));
    bool later = !w->timed && w->begins_s > in->rollout->now_s;
    return json_pack("{s:o, s:o, s:o*, s:o*, s:o*}", "nodes", json_integer(w->count), "names",
                     names, "canary", w->canary ? json_true() : NULL, "begins",
                     w->timed ? time_json(in, w->begins_s) : NULL, "notBefore",
                     later ? time_json(in, w->begins_s) : NULL);
}

static json_t *waves_json(const struct rollout_plan_input *in)
{
    json_t *waves = json_array();
    for (size_t i = 0; i < in->simulation->wave_count && i < in->limits->waves; i++)
        json_array_append_new(waves, wave_json(in, &in->simulation->waves[i]));
    return waves;
}

/* `closed`: the nodes that are out of service already. */
static json_t *stay_json(const struct rollout_plan_input *in, enum rollout_hold hold)
{
    CLEANUP_JSON json_t *closed = json_array();
    json_t *names = json_array();
    size_t nodes = 0;
    for (size_t i = 0; i < in->simulation->stay_count; i++) {
        const struct rollout_node *n = in->simulation->stays[i].node;
        if (in->simulation->stays[i].hold != hold)
            continue;
        if (nodes++ < in->limits->names)
            json_array_append_new(names, json_string(n->name));
        if (n->claim && claim_closes(n->claim))
            json_array_append_new(closed, json_string(n->name));
    }
    return json_pack("{s:s, s:o, s:o, s:O*}", "reason", reason_text(rollout_hold_reason(hold)),
                     "nodes", json_integer(nodes), "names", names, "closed",
                     in->limits->moves ? closed : NULL);
}

static json_t *stays_json(const struct rollout_plan_input *in)
{
    json_t *stays = json_array();
    for (int hold = ROLLOUT_HOLD_NONE + 1; hold < ROLLOUT_HOLD_COUNT; hold++) {
        CLEANUP_JSON json_t *stay = stay_json(in, (enum rollout_hold) hold);
        if (json_int(stay, "nodes", 0))
            json_array_append(stays, stay);
    }
    return stays;
}

/* Each function reports one kind of blocking condition of a node; NULL: none known. The caller owns
 * the text. */

static char *people_in_the_way(const struct rollout_plan_input *in, const struct rollout_node *n)
{
    bool moves = !assignment_same(n->now, n->target) || n->gave_up;
    (void) in;
    if (!moves || (n->claim && claim_phase_has_slot(n->claim->phase)))
        return NULL;
    const char *text =
        n->cordoned ? "a user cordoned it"
        : n->held   ? "a user holds it with the label " LABEL_HOLD
        : n->gave_up
            ? "a user cancelled its upgrade to this target; the annotation " ANNOTATION_GAVE_UP
              " says so"
            : NULL;
    return xstrdup_or_null(text);
}

static char *images_in_the_way(const struct rollout_plan_input *in, const struct rollout_node *n)
{
    (void) in;
    if (n->images.state != IMAGES_MISSING)
        return NULL;
    const char *what = n->images.image ? n->images.image : "the images of its target";
    CLEANUP_FREE char *text = xasprintf("cannot get %s: %s", what, str_or_empty(n->images.words));
    return str_shortened(text, BLOCKER_MAX);
}

static char *pods_in_the_way(const struct rollout_plan_input *in, const struct rollout_node *n)
{
    const struct drain *d = drain_of(in, n);
    if (d->stuck)
        return str_shortened(d->message, BLOCKER_MAX);
    for (size_t i = 0; i < d->of[DRAIN_LEAVES] && in->blocking; i++) {
        const char *budget = blocking_budget_of(in->blocking, in->strings, d->leaving[i]);
        if (budget)
            return xasprintf(
                "the PodDisruptionBudget %s does not allow the eviction of %s at the moment",
                budget, d->leaving[i]->head.key);
    }
    return NULL;
}

static char *trouble_in_the_way(const struct rollout_plan_input *in, const struct rollout_node *n)
{
    const char *text = in->troubles ? in->troubles[n - in->rollout->nodes] : NULL;
    return text ? str_shortened(text, BLOCKER_MAX) : NULL;
}

static const struct in_the_way {
    char *(*text)(const struct rollout_plan_input *in, const struct rollout_node *n);
    bool told_in_full; /* only in the full plan, because the status has its own text for it */
} sorts[] = { { people_in_the_way, true },
              { images_in_the_way, false },
              { trouble_in_the_way, true },
              { pods_in_the_way, false } };

static json_t *blockers_json(const struct rollout_plan_input *in)
{
    json_t *blockers = json_array();
    for (size_t i = 0; i < in->rollout->node_count; i++)
        for (size_t k = 0; k < ARRAY_LEN(sorts) && json_array_size(blockers) < in->limits->blockers;
             k++) {
            const struct rollout_node *n = &in->rollout->nodes[i];
            CLEANUP_FREE char *text = sorts[k].told_in_full && !in->limits->moves
                                          ? NULL
                                          : sorts[k].text(in, n);
            if (text)
                json_array_append_new(
                    blockers, json_pack("{s:s, s:o}", "node", n->name, "message", json_text(text)));
        }
    return blockers;
}

static json_t *pods_json(const struct rollout_plan_input *in, const struct rollout_node *n)
{
    const struct drain *d = drain_of(in, n);
    json_t *pods = json_array();
    for (size_t i = 0; i < d->of[DRAIN_LEAVES] && i < in->limits->pods; i++)
        json_array_append_new(pods, json_string(d->leaving[i]->head.key));
    return pods;
}

/* In starting order; a node under way is in no wave. */
static json_t *moves_json(const struct rollout_plan_input *in)
{
    json_t *moves = json_array();
    for (size_t i = 0; i < in->simulation->move_count; i++) {
        const struct planned_move *m = &in->simulation->moves[i];
        size_t wave = i < in->simulation->under_way ? 0 : m->wave + 1;
        json_array_append_new(
            moves, json_pack("{s:s, s:s, s:o, s:s, s:o}", "node", m->node->name, "pool",
                             in->rollout->pool_names[m->node->pool], "wave", json_integer(wave),
                             "tier", tiers[m->tier].name, "pods", pods_json(in, m->node)));
    }
    return moves;
}

json_t *rollout_pace_json(const struct rollout_pace pace[static TIERS])
{
    json_t *out = json_object();
    for (int tier = 0; tier < TIERS; tier++)
        if (pace[tier].nodes)
            json_object_set_new(out, tiers[tier].name,
                                json_pack("{s:I, s:o}", "secondsPerNode",
                                          (json_int_t) pace[tier].node_s, "nodes",
                                          json_integer(pace[tier].nodes)));
    return out;
}

void rollout_pace_parse(const json_t *json, struct rollout_pace ret[static TIERS])
{
    for (int tier = 0; tier < TIERS; tier++) {
        const json_t *of = json_object_get(json, tiers[tier].name);
        int64_t node_s = json_int(of, "secondsPerNode", 0), nodes = json_int(of, "nodes", 0);
        bool sane = node_s > 0 && node_s < YEAR_S && nodes > 0 && nodes < UINT32_MAX;
        ret[tier] = sane ? (struct rollout_pace){ .node_s = node_s, .nodes = (size_t) nodes }
                         : (struct rollout_pace){ 0 };
    }
}

/* ---- the sentence */

/* Whether two nodes go to the same revision, as canaries count. */
static bool go_together(const struct planned_move *a, const struct planned_move *b)
{
    return a->tier == b->tier && a->node->pool == b->node->pool &&
           str_eq(a->node->target.hash[a->tier], b->node->target.hash[b->tier]);
}

/* Whether nodes wait for a canary of this plan that has not started. */
static bool has_to_soak(const struct rollout_simulation *f)
{
    for (size_t i = 0; i < f->wave_count; i++) {
        const struct planned_wave *w = &f->waves[i];
        for (size_t k = w->first + w->count; w->canary && k < f->move_count; k++)
            if (go_together(&f->moves[w->first], &f->moves[k]))
                return true;
    }
    return false;
}

static void describe_no_pace(struct buf *out, const struct rollout_plan_input *in)
{
    int64_t soak_s = in->rollout->spec->canary_soak_s;
    if (soak_s <= 0 || !has_to_soak(in->simulation)) {
        buf_str(out, "; how long it takes is known when the first node is done");
        return;
    }
    char span[ROLLOUT_SPAN_MAX];
    rollout_span_text(soak_s, span);
    buf_printf(out,
               "; it takes at least %s of soak, and as long as the nodes take, which is known when "
               "the first one is done",
               span);
}

static void describe_time(struct buf *out, const struct rollout_plan_input *in)
{
    const struct rollout_simulation *f = in->simulation;
    if (!f->move_count)
        return;
    if (!f->timed && f->beyond) {
        buf_str(out, "; the plan is too long to compute when it ends");
    } else if (!f->timed) {
        describe_no_pace(out, in);
    } else if (f->ends_s <= in->rollout->now_s) {
        buf_str(out, "; at the pace seen so far it is overdue");
    } else {
        char span[ROLLOUT_SPAN_MAX];
        rollout_span_text(f->ends_s - in->rollout->now_s, span);
        buf_printf(out, "; at the pace seen so far it takes %s", span);
    }
}

static void describe_pods(struct buf *out, const struct sums *s)
{
    if (s->leave)
        buf_printf(out, "; %zu GPU pod%s to be evicted", s->leave, s->leave == 1 ? " is" : "s are");
    if (s->wait)
        buf_printf(out, "; %zu GPU pod%s on %zu node%s waited for", s->wait,
                   s->wait == 1 ? "" : "s", s->blocked,
                   s->blocked == 1 ? (s->wait == 1 ? " is" : " are") : "s are");
}

/* What happens to nodes that do not go, for one and for several. */
static const struct stay_words {
    const char *one, *several;
} stay_words[ROLLOUT_HOLD_COUNT] = {
    [ROLLOUT_HOLD_BACKOFF] = { "is retried later", "are retried later" },
    [ROLLOUT_HOLD_JOBS] = { "is tainted until its pods have ended",
                            "are tainted until their pods have ended" },
    [ROLLOUT_HOLD_DOWN] = { "is down", "are down" },
    [ROLLOUT_HOLD_SKIPPED] = { "is skipped", "are skipped" },
};
static const struct stay_words stay_as_it_is = { "stays as it is", "stay as they are" };

static void describe_stay(struct buf *out, enum rollout_hold hold, size_t nodes)
{
    const struct stay_words *words = stay_words[hold].one ? &stay_words[hold] : &stay_as_it_is;
    buf_printf(out, "; %zu node%s %s (%s)", nodes, nodes == 1 ? "" : "s",
               nodes == 1 ? words->one : words->several, reason_text(rollout_hold_reason(hold)));
}

static void describe_stays(struct buf *out, const struct rollout_plan_input *in)
{
    for (int hold = ROLLOUT_HOLD_NONE + 1; hold < ROLLOUT_HOLD_COUNT; hold++) {
        size_t nodes = 0;
        for (size_t i = 0; i < in->simulation->stay_count; i++)
            nodes += in->simulation->stays[i].hold == (enum rollout_hold) hold;
        if (nodes)
            describe_stay(out, (enum rollout_hold) hold, nodes);
    }
}

/* Nodes that change later, when their delay ends; they are in no wave. */
static size_t count_later(const struct rollout_simulation *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->stay_count; i++) {
        enum rollout_hold hold = f->stays[i].hold;
        n += hold == ROLLOUT_HOLD_BACKOFF || hold == ROLLOUT_HOLD_JOBS || hold == ROLLOUT_HOLD_DOWN;
    }
    return n;
}

/* "20 nodes go in 12 waves"; if not all start, "25 nodes are to be changed: 19 go in 12 waves, 1 is
 * under way". */
static void describe_moves(struct buf *out, const struct rollout_simulation *f)
{
    size_t begin = f->move_count - f->under_way, all = f->move_count + f->beyond + count_later(f);
    bool counted = all > begin;
    if (counted)
        buf_printf(out, "%zu node%s to be changed: ", all, all == 1 ? " is" : "s are");
    if (begin || !f->under_way)
        buf_printf(out, "%zu%s %s in %zu wave%s", begin,
                   counted      ? ""
                   : begin == 1 ? " node"
                                : " nodes",
                   begin == 1 ? "goes" : "go", f->wave_count, f->wave_count == 1 ? "" : "s");
    if (f->under_way)
        buf_printf(out, "%s%zu %s under way", begin ? ", " : "", f->under_way,
                   f->under_way == 1 ? "is" : "are");
    if (f->beyond)
        buf_printf(out, ", and %zu more after them", f->beyond);
}

/* "20 nodes go in 12 waves; …". Owned by the caller. */
static char *sentence_of(const struct rollout_plan_input *in)
{
    struct buf out = BUF_INIT(SENTENCE_ROOM);
    struct sums s = sum_up(in);
    describe_moves(&out, in->simulation);
    describe_pods(&out, &s);
    if (s.imageless)
        buf_printf(&out, "; %zu node%s", s.imageless,
                   s.imageless == 1 ? " cannot get its images" : "s cannot get their images");
    describe_stays(&out, in);
    describe_time(&out, in);
    return buf_take(&out);
}

/* ---- the whole plan */

json_t *rollout_plan_json(const struct rollout_plan_input *in)
{
    const struct rollout_simulation *f = in->simulation;
    if (!*f->hash)
        return NULL;
    struct sums s = sum_up(in);
    CLEANUP_FREE char *sentence = sentence_of(in);
    bool full = in->limits->moves, ends = f->timed && f->ends_s > in->rollout->now_s;
    bool unapproved = full && in->rollout->spec->manual && !str_eq(in->rollout->approved, f->hash);
    bool held = full && (f->now == ROLLOUT_HOLD_PAUSED || f->now == ROLLOUT_HOLD_APPROVAL);
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:o, s:o*, s:o*, s:o*, s:o*, "
        "s:o*, s:o*, s:o*}",
        "hash", f->hash, "madeAt", time_json(in, in->rollout->now_s), "message",
        json_text(sentence), "nodes", json_integer(f->move_count), "underWay",
        json_integer(f->under_way), "waveCount", json_integer(f->wave_count), "pools",
        pools_json(in), "waves", waves_json(in), "stay", stays_json(in), "pods", "leave",
        json_integer(s.leave), "wait", json_integer(s.wait), "blockers", blockers_json(in),
        "approvalMissing", unapproved ? json_true() : NULL, "held",
        held ? json_string(reason_text(rollout_hold_reason(f->now))) : NULL, "pace",
        full ? rollout_pace_json(in->pace) : NULL, "moves", full ? moves_json(in) : NULL,
        "withoutImages", full ? json_integer(s.imageless) : NULL, "beyond",
        f->beyond ? json_integer(f->beyond) : NULL, "ends", ends ? time_json(in, f->ends_s) : NULL);
}
