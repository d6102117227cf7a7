#include "reconcilers/decide/rollout_view.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/decide/repair_rungs.h"
#include "reconcilers/decide/suspicion.h"

/* The node's own pass fails a reboot that lasts too long. It first needs to know that its caches
 * are not old, and may have to withdraw what asks for the reboot. */
enum { REBOOT_ENDS_S = 300 };

bool time_passed(int64_t since_s, int64_t span_s, int64_t now_s)
{
    return since_s <= now_s && (uint64_t) now_s - (uint64_t) since_s >= (uint64_t) span_s;
}

int64_t time_after(int64_t since_s, int64_t span_s)
{
    return since_s > INT64_MAX - span_s ? INT64_MAX : since_s + span_s;
}

void rollout_look_again(struct rollout_decision *ret, int64_t at_s)
{
    if (at_s != INT64_MAX && (!ret->again_s || at_s < ret->again_s))
        ret->again_s = at_s;
}

/* ---- one node */

/* Whether a node without a claim moves from one revision of a tier to another. A node that has
 * none, or will have none, needs no claim: there is nothing to interrupt, or it is not an
 * upgrade. */
static bool moves(const char *now, const char *target)
{
    return *now && *target && !str_eq(now, target);
}

static bool changes_source(const struct rollout_node *n)
{
    return !*n->now.hash[TIER_DRIVER] != !*n->target.hash[TIER_DRIVER];
}

static const struct rollout_revision *record_find(const struct rollout_input *in, const char *hash,
                                                  size_t pool)
{
    for (size_t i = 0; i < in->revision_count; i++)
        if (in->revisions[i].pool == pool && str_eq(in->revisions[i].hash, hash))
            return &in->revisions[i];
    return NULL;
}

static bool is_known_good(const struct rollout_input *in, const char *hash, size_t pool)
{
    const struct rollout_revision *r = record_find(in, hash, pool);
    return r && r->known_good;
}

/* The tier that a claim changes: the first that differs from what the node ran before; if none
 * does, the first that it has. A claim that started again halfway, with only the first tier
 * installed, does not show it; then it is the tier that is not known good. */
static enum tier tier_of_claim(const struct rollout_input *in, const struct rollout_node *n,
                               struct assignment_ref to)
{
    const struct assignment *from = &n->claim->from;
    enum tier first = 0;
    while (first < TIERS - 1 && !*to.hash[first])
        first++;
    for (enum tier t = first; t < TIERS; t++) {
        if (str_eq(from->hash[t], to.hash[t]))
            continue;
        bool told = t == first || *from->hash[t] || !*to.hash[t];
        bool by_first = !is_known_good(in, to.hash[first], n->pool) ||
                        is_known_good(in, to.hash[t], n->pool);
        return told || !by_first ? t : first;
    }
    return first;
}

/* The first tier that moves without a claim; TIERS: none. */
static enum tier first_move(const struct rollout_node *n)
{
    enum tier t = 0;
    while (t < TIERS && !moves(n->now.hash[t], n->target.hash[t]))
        t++;
    return t;
}

static enum tier tier_of_move(const struct rollout_input *in, const struct rollout_node *n)
{
    enum tier t = n->claim ? tier_of_claim(in, n, n->target) : first_move(n);
    return t < TIERS ? t : TIERS - 1;
}

/* GPUs that work until they are reset wait until the node is idle. A user who cordons or holds the
 * node works there. A node without a stack has nothing to repair yet, unless a repair that failed
 * has left it so. */
bool rollout_is_to_repair(const struct rollout_node *n)
{
    bool wanted = n->repair == REPAIR_IDLE ? n->idle && n->up : n->repair != REPAIR_NOTHING;
    bool failed = n->claim && claim_is_failed_repair(n->claim);
    return wanted && !n->cordoned && !n->held && !n->let_go && (*n->now.hash[TIER_STACK] || failed);
}

static enum work_state state_without_claim(const struct rollout_node *n)
{
    if (rollout_is_to_repair(n))
        return WORK_PENDING;
    /* Its target may by now be a known good revision that it runs, which the policy does not
     * want. */
    if (n->gave_up)
        return WORK_SKIPPED;
    if (changes_source(n) || first_move(n) == TIERS)
        return WORK_DONE;
    return n->cordoned || n->held ? WORK_SKIPPED : WORK_PENDING;
}

static enum work_state rollout_view_state_of(const struct rollout_node *n)
{
    if (!n->claim)
        return state_without_claim(n);
    if (n->claim->phase == CLAIM_WAITING)
        return WORK_WAITING;
    if (claim_phase_has_slot(n->claim->phase))
        return WORK_ACTIVE;
    /* A drain that timed out changed nothing. If the target is again what the node runs, there is
     * nothing to retry. */
    return claim_closes(n->claim) || state_without_claim(n) != WORK_DONE ? WORK_FAILED : WORK_DONE;
}

static void look_again_at(struct rollout_view *v, int64_t at_s)
{
    if (at_s < v->next_lost_s)
        v->next_lost_s = at_s;
}

/* Whether Ostler has taken the node down, and it may still come back. The time ends here, too: the
 * own pass of a node that a user took from Ostler meanwhile does not end it. */
static bool is_rebooting(struct rollout_view *v, const struct rollout_node *n)
{
    const struct claim *c = n->claim;
    if (!c || c->phase != CLAIM_REBOOTING || n->up || clock_is_ahead(c->since_s, v->in->now_s))
        return false;
    int64_t end_s = time_after(c->since_s, repair_reboot_s(c->sentinel) + REBOOT_ENDS_S);
    if (end_s <= v->in->now_s)
        return false;
    look_again_at(v, end_s);
    return true;
}

bool work_keeps_place(const struct work *w)
{
    return w->state == WORK_ACTIVE && !w->node->leaving && (w->node->up || w->reboots);
}

/* ---- revisions */

static struct progress *progress_find(const struct rollout_view *v, const char *hash, size_t pool)
{
    struct progress *p = v->progress;
    while (p && (p->record.pool != pool || !str_eq(p->record.hash, hash)))
        p = p->next;
    return p;
}

/* A threshold above the pool's size would never be reached, so the pool's size is the maximum. */
static size_t threshold_of(const struct rollout_input *in, size_t pool)
{
    size_t size = 0;
    for (size_t i = 0; i < in->node_count; i++)
        size += in->nodes[i].pool == pool && !in->nodes[i].let_go;
    size_t threshold = rollout_count_of(&in->spec->failure_threshold, size);
    return threshold < size ? threshold : size;
}

/* A time in the future came from a wrong clock, so the real time is not known. Soaking starts now.
 * Forgiveness is dropped, because it would forgive every failure until then. */
static void correct_times(struct rollout_revision *r, int64_t now_s)
{
    if (clock_is_ahead(r->canary_s, now_s))
        r->canary_s = 0;
    if (clock_is_ahead(r->wave_s, now_s))
        r->wave_s = now_s;
    if (clock_is_ahead(r->forgiven_s, now_s))
        r->forgiven_s = 0;
}

static struct progress *progress_of(struct rollout_view *v, struct arena *a, const char *hash,
                                    size_t pool)
{
    struct progress *p = progress_find(v, hash, pool), **end = &v->progress;
    if (p || !*hash)
        return p;
    while (*end)
        end = &(*end)->next;
    p = *end = arena_alloc(a, sizeof *p);
    p->written = record_find(v->in, hash, pool);
    p->record = p->written ? *p->written : (struct rollout_revision){ .hash = hash, .pool = pool };
    correct_times(&p->record, v->in->now_s);
    p->threshold = threshold_of(v->in, pool);
    return p;
}

/* ---- counts */

/* Whether a failure counts against the claim's revision. It does not if a rollback failed, if a
 * drain timed out, or if the node offered no GPU before either: that fault is older. */
static bool is_fault(const struct rollout_node *n, const struct progress *p)
{
    const struct claim *c = n->claim;
    return claim_kinds[c->kind].counts && claim_closes(c) && c->gpus > 0 &&
           (!p->record.forgiven_s || c->since_s > p->record.forgiven_s);
}

/* What the policy asks for on a node, even if its target is another revision. */
static const char *rollout_wish(const struct rollout_node *n, enum tier tier)
{
    return n->policy_target.hash[tier] ? n->policy_target.hash[tier] : n->target.hash[tier];
}

static void fail_first(struct progress *p, const struct rollout_node *n, const char *with)
{
    p->first_failed = n;
    p->failed_with = with;
}

/* A claim is an annotation that other clients may write. So it cannot count against a revision that
 * no node is meant to get, such as the one that the pool rolls back to. */
static void count_failure(struct rollout_view *v, const struct rollout_node *n)
{
    const struct claim *c = n->claim;
    enum tier tier = tier_of_claim(v->in, n, assignment_ref(&c->to));
    const char *hash = c->to.hash[tier];
    struct progress *p = progress_find(v, hash, n->pool);
    if (!p || !str_eq(hash, rollout_wish(n, tier)) || !is_fault(n, p))
        return;
    p->failures++;
    const struct rollout_node *first = p->first_failed;
    if (!first || c->since_s < first->claim->since_s ||
        (c->since_s == first->claim->since_s && strverscmp(n->name, first->name) < 0))
        fail_first(p, n, c->reason);
}

/* Counts a node without a claim for the revision that it runs. An unhealthy one gets no new jobs,
 * so it proves as little as one that is down. */
static void count_running(struct rollout_view *v, const struct rollout_node *n, const char *hash)
{
    struct progress *p = progress_find(v, hash, n->pool);
    bool down = !n->up || n->unhealthy;
    if (p && down)
        p->down++;
    if (!p || down || n->leaving)
        return;
    p->running++;
    p->able++;
    p->settled += n->settled;
}

/* A node that goes down under way counts as lost when its step's time is over: hardware is not the
 * revision's fault. Until then it counts for its target, so that a driver that kills its node does
 * not reach the next node at once. */
static bool is_lost(struct rollout_view *v, const struct work *w)
{
    int64_t lost_s = time_after(w->node->claim->since_s, v->in->spec->install_timeout_s);
    if (w->node->up || w->reboots)
        return false;
    if (lost_s <= v->in->now_s)
        return true;
    look_again_at(v, lost_s);
    return false;
}

/* An attempt that timed out before any change continues with the images that its claim was made
 * for. */
bool work_needs_images(const struct work *w)
{
    const struct claim *c = w->node->claim;
    return w->progress && !w->repairs && (!c || (!claim_closes(c) && w->stale));
}

static void count_work(struct rollout_view *v, const struct work *w)
{
    const struct rollout_node *n = w->node;
    v->of[w->state]++;
    if (w->state == WORK_FAILED && !n->leaving)
        count_failure(v, n);
    for (enum tier t = 0; t < TIERS && !n->claim; t++)
        count_running(v, n, n->now.hash[t]);
    if (!w->progress)
        return;
    bool in_flight = w->state == WORK_ACTIVE || w->state == WORK_WAITING;
    w->progress->pulled |= w->node->images.state == IMAGES_READY;
    w->progress->able += n->up && (w->state == WORK_PENDING || in_flight);
    w->progress->begun += w->state == WORK_ACTIVE && !is_lost(v, w);
    w->progress->waiting += w->state == WORK_WAITING && n->up;
}

/* ---- time */

bool progress_canary_over(const struct progress *p, const struct rollout_input *in)
{
    const struct rollout_revision *r = &p->record;
    return in->spec->canary_nodes <= 0 || r->known_good ||
           (r->canary_s > 0 && time_passed(r->canary_s, in->spec->canary_soak_s, in->now_s));
}

/* A canary is well if as many nodes are as it has, or as there are. Its time stops while one is not
 * well, and the time so far is kept. So a user who controls a node cannot restart it for ever. It
 * restarts if another node replaces one that failed or is down, because the first node's time says
 * nothing about that one. */
static void update_canary(struct progress *p, const struct rollout_input *in)
{
    int64_t *canary_s = &p->record.canary_s;
    size_t wanted = (size_t) in->spec->canary_nodes;
    size_t needed = p->able < wanted ? p->able : wanted;
    if (progress_canary_over(p, in))
        return;
    if (needed > 0 && p->settled >= needed)
        *canary_s = *canary_s > 0 ? *canary_s : in->now_s + *canary_s;
    else if (p->record.failed || (p->begun > 0 && (p->down > 0 || p->failures > 0)))
        *canary_s = 0;
    else if (*canary_s > 0)
        *canary_s -= in->now_s;
}

int64_t progress_canary_left_s(const struct progress *p, const struct rollout_input *in)
{
    int64_t passed_s = p->record.canary_s < 0 ? -p->record.canary_s : 0;
    return passed_s < in->spec->canary_soak_s ? in->spec->canary_soak_s - passed_s : 0;
}

/* A wave is the nodes that start together. The next wave starts when none of it is under way and
 * the soak time has passed since. A running wave is recorded at once, so that its end is not
 * missed. */
static void update_wave(struct progress *p, const struct rollout_input *in)
{
    if (in->spec->soak_s <= 0 || !progress_canary_over(p, in))
        return;
    if (p->begun)
        p->record.wave_s = ROLLOUT_WAVE_RUNNING;
    else if (p->record.wave_s == ROLLOUT_WAVE_RUNNING)
        p->record.wave_s = in->now_s;
    p->wave_closed = p->begun || (p->record.wave_s &&
                                  !time_passed(p->record.wave_s, in->spec->soak_s, in->now_s));
}

/* Faults of GPUs that a new driver seems to cause are its failure, too. */
static void count_suspects(const struct rollout_view *v, struct arena *a, struct progress *p)
{
    struct suspicion s;
    if (p->record.failed || !suspicion_of(v->in, &p->record, a, &s))
        return;
    p->failures += s.nodes;
    if (!p->first_failed)
        fail_first(p, s.first, s.text);
}

static void update_failed(struct progress *p)
{
    if (p->record.failed || p->failures < p->threshold)
        return;
    p->record.failed = true;
    p->newly_failed = p->first_failed;
}

/* ---- all of it */

/* A failed upgrade of a node whose GPUs have a fault is not retried, but repaired. */
static bool is_repair(const struct rollout_node *n)
{
    bool failed = n->claim && n->claim->phase == CLAIM_FAILED;
    return (n->claim && claim_kinds[n->claim->kind].repairs) ||
           ((!n->claim || failed) && rollout_is_to_repair(n));
}

/* Whether a repair may bring another revision, too. */
static bool brings_revision(const struct rollout_node *n)
{
    if (n->claim)
        return !assignment_same(assignment_ref(&n->claim->from), assignment_ref(&n->claim->to));
    return first_move(n) < TIERS && !changes_source(n);
}

static void work_make(struct rollout_view *v, struct arena *a, const struct rollout_node *n,
                      struct work *w)
{
    w->node = n;
    w->state = rollout_view_state_of(n);
    w->reboots = is_rebooting(v, n);
    if (w->state == WORK_DONE || n->let_go)
        return;
    w->tier = tier_of_move(v->in, n);
    w->stale = n->claim && !claim_is_for(n->claim, n->target);
    w->repairs = is_repair(n);
    w->progress = w->repairs && !brings_revision(n)
                      ? &v->repairs
                      : progress_of(v, a, n->target.hash[w->tier], n->pool);
    if (w->repairs)
        return;
    bool back = w->progress && w->progress->record.known_good && !w->progress->record.failed;
    w->restores = back && w->state == WORK_FAILED && w->stale && claim_closes(n->claim);
    w->retreats = back && w->state == WORK_PENDING && n->up && !n->settled;
}

void rollout_view_make(const struct rollout_input *in, struct arena *a, struct rollout_view *ret)
{
    *ret = (struct rollout_view){ .in = in, .next_lost_s = INT64_MAX };
    ret->repairs.record = (struct rollout_revision){ .hash = "", .known_good = true };
    ret->works = arena_alloc(a, in->node_count * sizeof *ret->works);
    for (size_t i = 0; i < in->node_count; i++)
        work_make(ret, a, &in->nodes[i], &ret->works[i]);
    /* The last wave ends with the rollout, when no node needs the revision. */
    for (size_t i = 0; i < in->revision_count; i++)
        if (in->revisions[i].wave_s == ROLLOUT_WAVE_RUNNING)
            progress_of(ret, a, in->revisions[i].hash, in->revisions[i].pool);
    for (size_t i = 0; i < in->node_count; i++)
        count_work(ret, &ret->works[i]);
    for (struct progress *p = ret->progress; p; p = p->next) {
        p->pulled |= p->running > 0;
        count_suspects(ret, a, p);
        update_failed(p);
        update_canary(p, in);
        update_wave(p, in);
    }
}

static bool has_news(const struct progress *p)
{
    const struct rollout_revision none = { 0 }, *was = p->written ? p->written : &none;
    return p->newly_failed || p->record.canary_s != was->canary_s ||
           p->record.wave_s != was->wave_s;
}

void rollout_view_note(const struct rollout_view *v, struct arena *a, struct rollout_decision *ret)
{
    size_t count = 0;
    for (const struct progress *p = v->progress; p; p = p->next)
        count += has_news(p);
    ret->notes = arena_alloc(a, count * sizeof *ret->notes);
    for (const struct progress *p = v->progress; p; p = p->next)
        if (has_news(p))
            ret->notes[ret->note_count++] = (struct rollout_note){ .hash = p->record.hash,
                                                                   .pool = p->record.pool,
                                                                   .canary_s = p->record.canary_s,
                                                                   .wave_s = p->record.wave_s,
                                                                   .failed = p->newly_failed,
                                                                   .failed_with = p->failed_with };
}

const struct rollout_revision *rollout_first_failed(const struct rollout_input *in)
{
    const struct rollout_revision *first = NULL;
    for (size_t i = 0; i < in->revision_count; i++)
        if (in->revisions[i].failed && (!first || strcmp(in->revisions[i].hash, first->hash) < 0))
            first = &in->revisions[i];
    return first;
}

/* ---- the hash of the plan */

static bool wants_the_same(const struct rollout_node *a, const struct rollout_node *b)
{
    for (enum tier t = 0; t < TIERS; t++)
        if (!str_eq(rollout_wish(a, t), rollout_wish(b, t)))
            return false;
    return a->pool == b->pool;
}

static void rollout_hash_add(json_t *wanted, const char *pool, const char *tier, const char *hash)
{
    CLEANUP_FREE char *key = xasprintf("%s/%s/%s", pool, tier, hash);
    if (*hash)
        json_object_set_new(wanted, key, json_true());
}

void rollout_plan_hash(const struct rollout_input *in, char ret[static REVISION_HASH_MAX])
{
    CLEANUP_JSON json_t *wanted = json_object();
    for (size_t i = 0; i < in->node_count; i++) {
        const struct rollout_node *n = &in->nodes[i];
        if (n->let_go || (i > 0 && wants_the_same(n, n - 1)))
            continue;
        for (enum tier t = 0; t < TIERS; t++)
            rollout_hash_add(wanted, in->pool_names[n->pool], tiers[t].name, rollout_wish(n, t));
    }
    revision_hash(wanted, ret);
}
