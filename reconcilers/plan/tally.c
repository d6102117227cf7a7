#include "reconcilers/plan/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static struct revision_tally *revision_of(struct tally *t, const char *tier, const char *hash, size_t pool)
{
    if (!*hash)
        return NULL;
    char key[64];
    snprintf(key, sizeof key, "%s/%s/%zu", tier, hash, pool);
    struct revision_tally *r = map_get(&t->revisions, key);
    if (r)
        return r;
    r = xcalloc(1, sizeof *r);
    r->key = xstrdup(key);
    r->pool = pool;
    snprintf(r->tier, sizeof r->tier, "%s", tier);
    snprintf(r->hash, sizeof r->hash, "%s", hash);
    map_put(&t->revisions, r->key, r);
    return r;
}

static void forget_revision(struct tally *t, struct revision_tally *r)
{
    if (!r || r->carrying || r->wanted || r->ran || r->claimed || r->last)
        return;
    map_remove(&t->revisions, r->key);
    free(r->key);
    free(r);
}

static struct cause *cause_of(struct tally *t, const struct node_verdict *v)
{
    if (!v->reason)
        return NULL;
    CLEANUP_FREE char *key = xasprintf("%s/%s", component_name(v->cause), verdict_word(v));
    struct cause *c = map_get(&t->causes, key);
    if (c)
        return c;
    c = xcalloc(1, sizeof *c);
    c->key = TAKE(key);
    c->component = v->cause;
    c->reason = v->reason;
    c->word = strchr(c->key, '/') + 1;
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

/* How a node stands to the revisions of one tier. */
struct tier_of_node {
    struct revision_tally *carried, *target, *ran, *claimed, *last;
    bool leaves;   /* what is carried is on its way off, and no operand of it is there */
    unsigned mask; /* of the tier's operands */
};

/* Adds (sign 1) or takes away (sign -1) what a node contributes to one tier. */
static void count_tier(const struct node_summary *s, const struct tier_of_node *of, size_t sign)
{
    bool lost = s->state == NODE_LOST;
    if (of->carried) {
        of->carried->carrying += sign;
        of->carried->carrying_lost += lost ? sign : 0;
    }
    if (of->target) {
        bool up = !lost && !s->moving && !(s->wanted & of->mask & ~(unsigned) s->up);
        of->target->wanted += sign;
        of->target->wanted_lost += lost ? sign : 0;
        of->target->done += up && of->target == of->carried && !of->leaves ? sign : 0;
        of->target->stayed += !lost && of->target == of->ran ? sign : 0;
    }
    if (of->ran)
        of->ran->ran += sign;
    if (of->claimed)
        of->claimed->claimed += sign;
    if (of->last)
        of->last->last += sign;
}

static void count_removal(const struct node_summary *s, size_t sign)
{
    if (s->stack && s->removal && s->state != NODE_LOST)
        s->stack->removing += sign;
}

enum {
    DRIVER_MASK = 1 << COMPONENT_DRIVER,
    STACK_MASK = 1 << COMPONENT_TOOLKIT | 1 << COMPONENT_DEVICE_PLUGIN,
};

/* `sign` is 1, or SIZE_MAX to take away: unsigned arithmetic wraps. */
static void count(struct tally *t, const struct node_summary *s, size_t sign)
{
    bool served = node_state_served(s->state);
    t->total += sign;
    t->states[s->state] += sign;
    t->gpu += s->gpu ? sign : 0;
    t->looked_at += s->looked_at ? sign : 0;
    t->moving += s->moving && served ? sign : 0;
    if (served || s->state == NODE_LOST)
        t->pools[s->pool].nodes += sign;
    t->pools[s->pool].states[s->state] += sign;
    t->pools[s->pool].ready += s->state == NODE_READY ? sign : 0;
    t->pools[s->pool].outdated += s->outdated ? sign : 0;
    for (int c = 0; c < COMPONENT_COUNT; c++) {
        t->operands[c].wanted += s->wanted >> c & 1 ? sign : 0;
        t->operands[c].up += s->up >> c & 1 ? sign : 0;
    }
    const struct tier_of_node driver = { s->driver, s->target_driver, s->ran_driver, s->claim_driver, NULL, false, DRIVER_MASK };
    const struct tier_of_node stack = { s->stack,      s->target_stack, s->ran_stack, s->claim_stack,
                                        s->last_stack, s->removal,      STACK_MASK };
    count_tier(s, &driver, sign);
    count_tier(s, &stack, sign);
    count_removal(s, sign);
}

static void take_out(struct tally *t, struct node_summary *s)
{
    if (!s->counted)
        return;
    count(t, s, SIZE_MAX);
    struct revision_tally *held[] = { s->driver,     s->stack,     s->target_driver, s->target_stack,
                                      s->ran_driver, s->ran_stack, s->claim_driver,  s->claim_stack, s->last_stack };
    s->driver = s->stack = s->target_driver = s->target_stack = NULL;
    s->ran_driver = s->ran_stack = s->claim_driver = s->claim_stack = s->last_stack = NULL;
    for (size_t i = 0; i < ARRAY_LEN(held); i++) {
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= held[k] == held[i];
        if (!seen)
            forget_revision(t, held[i]);
    }
    unlink_cause(t, s);
    s->counted = false;
}

static bool is_outdated(const char *carried, const char *target)
{
    return *carried && *target && !str_eq(carried, target);
}

static bool is_verdict_outdated(const struct node_verdict *v)
{
    return is_outdated(v->driver, v->target_driver) || (!v->removal && is_outdated(v->stack, v->target_stack));
}

/* Whether the verdict says what the node is counted as already. */
static bool same_revision(const struct revision_tally *r, const char *hash, size_t pool)
{
    return r ? r->pool == pool && str_eq(r->hash, hash) : !*hash;
}

static bool same_targets(const struct node_summary *s, const struct node_verdict *v)
{
    return same_revision(s->target_driver, v->target_driver, v->pool) && same_revision(s->target_stack, v->target_stack, v->pool);
}

static bool same_revisions(const struct node_summary *s, const struct node_verdict *v)
{
    return same_targets(s, v) && same_revision(s->driver, v->driver, v->pool) && same_revision(s->stack, v->stack, v->pool) &&
           same_revision(s->ran_driver, v->ran_driver, v->pool) && same_revision(s->ran_stack, v->ran_stack, v->pool) &&
           same_revision(s->claim_driver, v->claim_driver, v->pool) && same_revision(s->claim_stack, v->claim_stack, v->pool) &&
           same_revision(s->last_stack, v->last_stack, v->pool) &&
           str_eq(s->wish_driver, v->wish_driver) && str_eq(s->wish_stack, v->wish_stack);
}

static bool same_cause(const struct node_summary *s, const struct node_verdict *v)
{
    return str_eq(s->cause ? s->cause->word : "", verdict_word(v)) &&
           (!s->cause || s->cause->component == v->cause) && str_eq(s->message, v->message) &&
           str_eq(s->pod, v->pod) && str_eq(s->trouble, v->trouble) &&
           str_eq(s->refused, v->refused);
}

/* How far the node is on its way from one revision to another, or to its first one. */
static bool same_way(const struct node_summary *s, const struct node_verdict *v)
{
    return s->moving == v->moving && s->back == v->back && s->turns == v->turns &&
           s->removal == v->removal && s->first == v->first && s->restoring == v->restoring &&
           s->failed == (v->failed_with != REASON_NONE);
}

static bool same(const struct node_summary *s, const struct node_verdict *v)
{
    return s->counted && s->state == v->state && s->gpu == v->gpu && s->looked_at == v->looked_at && s->pool == v->pool &&
           s->wanted == v->wanted && s->up == v->up && same_way(s, v) && same_revisions(s, v) && same_cause(s, v);
}

static void free_texts(struct node_summary *s)
{
    free(TAKE(s->message));
    free(TAKE(s->pod));
    free(TAKE(s->trouble));
    free(TAKE(s->refused));
}

static bool stack_works(enum node_state state, unsigned wanted, unsigned up)
{
    return state != NODE_LOST && !(wanted & ~up & STACK_MASK);
}

bool summary_stack_works(const struct node_summary *s)
{
    return stack_works(s->state, s->wanted, s->up);
}

/* Whether decisions of the rollout would find the node as it was; what its object says they read there. */
static bool same_for_rollout(const struct node_summary *s, const struct node_verdict *v)
{
    return s->counted && s->state == v->state && s->back == v->back && s->pool == v->pool && s->turns == v->turns &&
           s->first == v->first && summary_stack_works(s) == stack_works(v->state, v->wanted, v->up) &&
           same_targets(s, v) && s->outdated == is_verdict_outdated(v) &&
           str_eq(s->wish_driver, v->wish_driver) && str_eq(s->wish_stack, v->wish_stack);
}

static char *copy(const char *s)
{
    return s ? xstrdup(s) : NULL;
}

unsigned tally_set(struct tally *t, struct node_summary *s, const struct node_verdict *v)
{
    if (same(s, v))
        return 0;
    unsigned changed = same_for_rollout(s, v) ? TALLY_SUMS : TALLY_SUMS | TALLY_ROLLOUT;
    take_out(t, s);
    s->counted = true;
    s->state = v->state;
    s->gpu = v->gpu;
    s->looked_at = v->looked_at;
    s->moving = v->moving;
    s->back = v->back;
    s->turns = v->turns;
    s->first = v->first;
    s->removal = v->removal;
    s->restoring = v->restoring;
    s->failed = v->failed_with != REASON_NONE;
    s->since_s = v->since_s;
    s->pool = (uint16_t) v->pool;
    s->wanted = (uint8_t) v->wanted;
    s->up = (uint8_t) v->up;
    s->driver = revision_of(t, "driver", v->driver, v->pool);
    s->stack = revision_of(t, "stack", v->stack, v->pool);
    s->target_driver = revision_of(t, "driver", v->target_driver, v->pool);
    s->target_stack = revision_of(t, "stack", v->target_stack, v->pool);
    s->ran_driver = revision_of(t, "driver", v->ran_driver, v->pool);
    s->ran_stack = revision_of(t, "stack", v->ran_stack, v->pool);
    s->claim_driver = revision_of(t, "driver", v->claim_driver, v->pool);
    s->claim_stack = revision_of(t, "stack", v->claim_stack, v->pool);
    s->last_stack = revision_of(t, "stack", v->last_stack, v->pool);
    s->outdated = is_verdict_outdated(v);
    memcpy(s->wish_driver, v->wish_driver, sizeof s->wish_driver);
    memcpy(s->wish_stack, v->wish_stack, sizeof s->wish_stack);
    free_texts(s);
    s->message = copy(v->message);
    s->pod = copy(v->pod);
    s->trouble = copy(v->trouble);
    s->refused = copy(v->refused);
    s->cause = cause_of(t, v);
    link_cause(s);
    count(t, s, 1);
    return changed;
}

bool cause_comes_first(const struct cause *a, const struct cause *b)
{
    return a->nodes != b->nodes ? a->nodes > b->nodes : strcmp(a->key, b->key) < 0;
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
    take_out(t, s);
    free_texts(s);
}

static bool has_trouble(const struct node_summary *s)
{
    return s->trouble != NULL;
}

static bool was_refused(const struct node_summary *s)
{
    return s->refused != NULL;
}

/* Each of those has a cause. */
static const struct node_summary *first_with(const struct tally *t, bool (*has)(const struct node_summary *s))
{
    const struct node_summary *first = NULL;
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&t->causes, &cursor)))
        for (const struct node_summary *s = ((const struct cause *) e->value)->first; s; s = s->next)
            if (has(s) && (!first || strverscmp(s->name, first->name) < 0))
                first = s;
    return first;
}

const struct node_summary *tally_trouble(const struct tally *t)
{
    return first_with(t, has_trouble);
}

const struct node_summary *tally_refused(const struct tally *t)
{
    return first_with(t, was_refused);
}

size_t tally_served(const struct tally *t)
{
    size_t n = 0;
    for (int i = 0; i < NODE_STATE_COUNT; i++)
        n += node_state_served((enum node_state) i) ? t->states[i] : 0;
    return n;
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
    size_t n = 0, cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&t->revisions, &cursor))) {
        const struct revision_tally *r = e->value;
        if (!str_eq(r->tier, tier) || (hash && !str_eq(r->hash, hash)))
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
