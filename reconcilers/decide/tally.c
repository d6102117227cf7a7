#include "reconcilers/decide/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static struct revision_tally *tally_revision_of(struct tally *t, enum tier tier, const char *hash,
                                                size_t pool)
{
    if (!*hash)
        return NULL;
    char key[64];
    snprintf(key, sizeof key, "%s/%s/%zu", tiers[tier].name, hash, pool);
    struct revision_tally *r = MAP_MAKE(struct revision_tally, key, &t->revisions, key);
    r->pool = pool;
    r->tier = tiers[tier].name;
    snprintf(r->hash, sizeof r->hash, "%s", hash);
    return r;
}

static void forget_revision(struct tally *t, struct revision_tally *r)
{
    if (!r || r->carrying || r->wanted || r->ran || r->claimed || r->last)
        return;
    free(map_remove(&t->revisions, r->key));
}

static struct cause *tally_cause_of(struct tally *t, const struct node_verdict *v)
{
    if (!v->reason)
        return NULL;
    CLEANUP_FREE char *key = xasprintf("%s/%s", operand_name(v->cause), verdict_word(v));
    struct cause *c = map_get(&t->causes, key);
    if (c)
        return c;
    c = xcalloc(1, sizeof *c);
    *c = (struct cause){
        .key = key, .component = v->cause, .reason = v->reason, .word = strchr(key, '/') + 1
    };
    key = NULL;
    map_put(&t->causes, c->key, c);
    return c;
}

static void link_cause(struct node_summary *s)
{
    if (!s->cause)
        return;
    s->prev = NULL;
    s->next = s->cause->first;
    if (s->next)
        s->next->prev = s;
    s->cause->first = s;
    s->cause->nodes++;
}

static void unlink_cause(struct tally *t, struct node_summary *s)
{
    struct cause *c = s->cause;
    if (!c)
        return;
    *(s->prev ? &s->prev->next : &c->first) = s->next;
    if (s->next)
        s->next->prev = s->prev;
    s->prev = s->next = NULL;
    s->cause = NULL;
    if (--c->nodes)
        return;
    map_remove(&t->causes, c->key);
    free(c->key);
    free(c);
}

bool summary_leaves(const struct node_summary *s, enum tier tier)
{
    return tier == TIER_STACK && s->removal;
}

static void count_carried(const struct node_summary *s, enum tier tier, size_t sign)
{
    struct revision_tally *r = s->of[tier].carried;
    bool lost = s->state == NODE_LOST;
    if (!r)
        return;
    r->carrying += sign;
    r->carrying_lost += lost ? sign : 0;
    r->removing += !lost && summary_leaves(s, tier) ? sign : 0;
}

static void count_target(const struct node_summary *s, enum tier tier, size_t sign)
{
    const struct node_standing *of = &s->of[tier];
    bool lost = s->state == NODE_LOST;
    bool up = !lost && !s->moving && !(s->wanted & operands_of_tier(tier) & ~(unsigned) s->up);
    if (!of->target)
        return;
    of->target->wanted += sign;
    of->target->wanted_lost += lost ? sign : 0;
    of->target->done += up && of->target == of->carried && !summary_leaves(s, tier) ? sign : 0;
    of->target->stayed += !lost && of->target == of->ran ? sign : 0;
}

/* Adds (sign 1) or subtracts (sign -1) what a node contributes to one tier. */
static void count_tier(const struct node_summary *s, enum tier tier, size_t sign)
{
    const struct node_standing *of = &s->of[tier];
    count_carried(s, tier, sign);
    count_target(s, tier, sign);
    if (of->ran) {
        of->ran->ran += sign;
        of->ran->well += of->ran == of->carried && !of->claimed ? sign : 0;
    }
    if (of->claimed)
        of->claimed->claimed += sign;
    if (of->last)
        of->last->last += sign;
}

/* `sign` is 1, or SIZE_MAX to subtract: unsigned arithmetic wraps. */
static void tally_count(struct tally *t, const struct node_summary *s, size_t sign)
{
    bool served = node_state_served(s->state);
    t->total += sign;
    t->states[s->state] += sign;
    t->gpu += s->gpu ? sign : 0;
    t->looked_at += s->looked_at ? sign : 0;
    t->moving += s->moving && served ? sign : 0;
    if (node_state_taken(s->state))
        t->pools[s->pool].nodes += sign;
    t->pools[s->pool].states[s->state] += sign;
    t->pools[s->pool].outdated += s->outdated ? sign : 0;
    for (int c = 0; c < OPERANDS_MAX; c++) {
        t->operands[c].wanted += s->wanted >> c & 1 ? sign : 0;
        t->operands[c].up += s->up >> c & 1 ? sign : 0;
    }
    for (enum tier tier = 0; tier < TIERS; tier++)
        count_tier(s, tier, sign);
}

static void forget_standing(struct tally *t, struct node_standing *of)
{
    struct revision_tally *held[] = { of->carried, of->target, of->ran, of->claimed, of->last };
    *of = (struct node_standing){ 0 };
    for (size_t i = 0; i < ARRAY_LEN(held); i++) {
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= held[k] == held[i];
        if (!seen)
            forget_revision(t, held[i]);
    }
}

static void tally_take_out(struct tally *t, struct node_summary *s)
{
    if (!s->counted)
        return;
    tally_count(t, s, SIZE_MAX);
    for (enum tier tier = 0; tier < TIERS; tier++)
        forget_standing(t, &s->of[tier]);
    unlink_cause(t, s);
    s->counted = false;
}

static bool is_verdict_outdated(const struct node_verdict *v)
{
    bool outdated = false;
    for (enum tier t = 0; t < TIERS; t++)
        outdated |= *v->carried.hash[t] && *v->target.hash[t] &&
                    !str_eq(v->carried.hash[t], v->target.hash[t]) &&
                    !(t == TIER_STACK && v->removal);
    return outdated;
}

/* Whether the node is already counted as the verdict says. */
static bool same_revision(const struct revision_tally *r, const char *hash, size_t pool)
{
    return r ? r->pool == pool && str_eq(r->hash, hash) : !*hash;
}

static bool same_policy_target(const struct node_summary *s, const struct node_verdict *v)
{
    return assignment_same(assignment_ref(&s->policy_target), assignment_ref(&v->policy_target));
}

static bool same_targets(const struct node_summary *s, const struct node_verdict *v)
{
    for (enum tier t = 0; t < TIERS; t++)
        if (!same_revision(s->of[t].target, v->target.hash[t], v->pool))
            return false;
    return true;
}

static bool same_standing(const struct node_standing *of, const struct node_verdict *v, enum tier t)
{
    return same_revision(of->carried, v->carried.hash[t], v->pool) &&
           same_revision(of->target, v->target.hash[t], v->pool) &&
           same_revision(of->ran, v->ran.hash[t], v->pool) &&
           same_revision(of->claimed, v->claimed.hash[t], v->pool) &&
           same_revision(of->last, v->last.hash[t], v->pool);
}

static bool same_revisions(const struct node_summary *s, const struct node_verdict *v)
{
    for (enum tier t = 0; t < TIERS; t++)
        if (!same_standing(&s->of[t], v, t))
            return false;
    return same_policy_target(s, v);
}

static bool same_cause(const struct node_summary *s, const struct node_verdict *v)
{
    return str_eq(s->cause ? s->cause->word : "", verdict_word(v)) &&
           (!s->cause || s->cause->component == v->cause) && str_eq(s->message, v->message) &&
           str_eq(s->pod, v->pod) && str_eq(s->trouble, v->trouble) &&
           str_eq(s->refused, v->refused) && str_eq(s->next_text, v->next_text) &&
           s->next_s == v->next_s;
}

/* Whether the node's progress between revisions, or to its first, is the same. */
static bool same_way(const struct node_summary *s, const struct node_verdict *v)
{
    return s->moving == v->moving && s->falling_back == v->falling_back &&
           s->retarget_pending == v->retarget_pending && s->removal == v->removal &&
           s->first == v->first && s->restoring == v->restoring &&
           s->failed == (v->failed_with != REASON_NONE) &&
           s->repaired.result == v->repaired.result && s->repaired.kind == v->repaired.kind;
}

/* Whether the faults of its GPUs ask for the same. */
static bool same_health(const struct node_summary *s, const struct node_verdict *v)
{
    return s->unhealthy == v->unhealthy && s->repair == v->repair &&
           s->repair_first == v->repair_first && s->refusal == v->refusal &&
           s->repair_since_s == v->repair_since_s && s->fault.level == v->fault.level &&
           s->fault.hard == v->fault.hard && s->fault.since_s == v->fault.since_s &&
           str_eq(s->fault_word, v->fault.word);
}

static bool tally_same(const struct node_summary *s, const struct node_verdict *v)
{
    return s->counted && s->state == v->state && s->gpu == v->gpu && s->looked_at == v->looked_at &&
           s->pool == v->pool && s->wanted == v->wanted && s->up == v->up && same_way(s, v) &&
           same_revisions(s, v) && same_cause(s, v) && same_health(s, v);
}

static void free_texts(struct node_summary *s)
{
    free(TAKE(s->message));
    free(TAKE(s->pod));
    free(TAKE(s->trouble));
    free(TAKE(s->refused));
    free(TAKE(s->next_text));
    free(TAKE(s->fault_word));
}

static bool stack_works(enum node_state state, unsigned wanted, unsigned up)
{
    return state != NODE_LOST && !(wanted & ~up & operands_of_tier(TIER_STACK));
}

bool summary_stack_works(const struct node_summary *s)
{
    return stack_works(s->state, s->wanted, s->up);
}

/* Whether rollout decisions would find the node unchanged; what its object has, they read there. */
static bool same_for_rollout(const struct node_summary *s, const struct node_verdict *v)
{
    return s->counted && s->state == v->state && s->falling_back == v->falling_back &&
           s->pool == v->pool && s->retarget_pending == v->retarget_pending &&
           s->first == v->first &&
           summary_stack_works(s) == stack_works(v->state, v->wanted, v->up) &&
           same_targets(s, v) && s->outdated == is_verdict_outdated(v) &&
           same_policy_target(s, v) && same_health(s, v);
}

static struct node_standing standing_of(struct tally *t, const struct node_verdict *v,
                                        enum tier tier)
{
    return (struct node_standing){
        .carried = tally_revision_of(t, tier, v->carried.hash[tier], v->pool),
        .target = tally_revision_of(t, tier, v->target.hash[tier], v->pool),
        .ran = tally_revision_of(t, tier, v->ran.hash[tier], v->pool),
        .claimed = tally_revision_of(t, tier, v->claimed.hash[tier], v->pool),
        .last = tally_revision_of(t, tier, v->last.hash[tier], v->pool),
    };
}

unsigned tally_set(struct tally *t, struct node_summary *s, const struct node_verdict *v)
{
    if (tally_same(s, v))
        return 0;
    unsigned changed = same_for_rollout(s, v) ? TALLY_SUMS : TALLY_SUMS | TALLY_ROLLOUT;
    tally_take_out(t, s);
    s->counted = true;
    s->state = v->state;
    s->gpu = v->gpu;
    s->looked_at = v->looked_at;
    s->moving = v->moving;
    s->falling_back = v->falling_back;
    s->retarget_pending = v->retarget_pending;
    s->first = v->first;
    s->removal = v->removal;
    s->restoring = v->restoring;
    s->failed = v->failed_with != REASON_NONE;
    s->unhealthy = v->unhealthy;
    s->repair = v->repair;
    s->repair_first = v->repair_first;
    s->refusal = v->refusal;
    s->repaired = v->repaired;
    s->repair_since_s = v->repair_since_s;
    s->since_s = v->since_s;
    s->pool = (uint16_t) v->pool;
    s->wanted = (uint16_t) v->wanted;
    s->up = (uint16_t) v->up;
    for (enum tier tier = 0; tier < TIERS; tier++)
        s->of[tier] = standing_of(t, v, tier);
    s->outdated = is_verdict_outdated(v);
    s->policy_target = v->policy_target;
    free_texts(s);
    s->message = xstrdup_or_null(v->message);
    s->pod = xstrdup_or_null(v->pod);
    s->trouble = xstrdup_or_null(v->trouble);
    s->refused = xstrdup_or_null(v->refused);
    s->next_text = xstrdup_or_null(v->next_text);
    s->fault_word = xstrdup_or_null(v->fault.word);
    s->fault = v->fault;
    s->fault.word = s->fault_word;
    s->next_s = v->next_s;
    s->cause = tally_cause_of(t, v);
    link_cause(s);
    tally_count(t, s, 1);
    return changed;
}

bool cause_comes_first(const struct cause *a, const struct cause *b)
{
    return a->nodes != b->nodes ? a->nodes > b->nodes : strcmp(a->key, b->key) < 0;
}

const struct cause *tally_first_cause(const struct tally *t, bool (*counts)(const struct cause *c))
{
    const struct cause *first = NULL;
    MAP_EACH (e, &t->causes)
        if (counts(e->value) && (!first || cause_comes_first(e->value, first)))
            first = e->value;
    return first;
}

const struct node_summary *cause_example(const struct cause *c)
{
    const struct node_summary *example = c->first;
    for (const struct node_summary *s = c->first; s; s = s->next)
        if (strverscmp(s->name, example->name) < 0)
            example = s;
    return example;
}

void tally_remove(struct tally *t, struct node_summary *s)
{
    tally_take_out(t, s);
    free_texts(s);
}

/* The first node by name with trouble, or with a refused eviction. Each such node has a cause. */
static const struct node_summary *first_with(const struct tally *t, bool trouble)
{
    const struct node_summary *first = NULL;
    MAP_EACH (e, &t->causes)
        for (const struct node_summary *s = ((const struct cause *) e->value)->first; s;
             s = s->next)
            if ((trouble ? s->trouble : s->refused) &&
                (!first || strverscmp(s->name, first->name) < 0))
                first = s;
    return first;
}

const struct node_summary *tally_trouble(const struct tally *t)
{
    return first_with(t, true);
}

const struct node_summary *tally_refused(const struct tally *t)
{
    return first_with(t, false);
}

size_t tally_served(const struct tally *t)
{
    size_t n = 0;
    for (int i = 0; i < NODE_STATE_COUNT; i++)
        n += node_state_served((enum node_state) i) ? t->states[i] : 0;
    return n;
}

size_t tally_managed(const struct tally *t)
{
    return tally_served(t) + t->states[NODE_LOST];
}

size_t tally_outdated(const struct tally *t)
{
    size_t n = 0;
    for (size_t i = 0; i < TALLY_POOLS_MAX; i++)
        n += t->pools[i].outdated;
    return n;
}

size_t tally_nodes(const struct tally *t, const char *tier, const char *hash, unsigned which)
{
    size_t n = 0;
    MAP_EACH (e, &t->revisions) {
        const struct revision_tally *r = e->value;
        if ((tier && !str_eq(r->tier, tier)) || (hash && !str_eq(r->hash, hash)))
            continue;
        n += which & TALLY_CARRYING ? r->carrying : 0;
        n += which & TALLY_CARRYING_UP ? r->carrying - r->carrying_lost : 0;
        n += which & TALLY_WANTED ? r->wanted : 0;
        n += which & TALLY_CLAIMED ? r->claimed + r->ran + r->last : 0;
        n += which & TALLY_REMOVING ? r->removing : 0;
    }
    return n;
}

void tally_clear(struct tally *t)
{
    map_clear(&t->revisions);
    map_clear(&t->causes);
}
