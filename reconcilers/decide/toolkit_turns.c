#include "reconcilers/decide/toolkit_turns.h"

#include <stdlib.h>

#include "base/str.h"
#include "reconcilers/decide/rollout_view.h"

/* The nodes of a pool that have or wait for the same stack. */
struct group {
    struct group *next;
    size_t pool;
    const char *stack;
    size_t works, tries, failed, waiting;
    const char *first_failed;
    bool stopped; /* failed nodes take all places */
};

struct turns {
    const struct toolkit_turns_input *in;
    struct toolkit_turns *ret;
    struct group *groups;
    struct group **of; /* of each node; NULL: none */
    size_t *order;     /* nodes that wait for a turn, in order */
    size_t order_len;
};

static struct group *group_of(struct turns *t, struct arena *a, const struct toolkit_node *n)
{
    for (struct group *g = t->groups; g; g = g->next)
        if (g->pool == n->pool && str_eq(g->stack, n->stack))
            return g;
    struct group *g = arena_alloc(a, sizeof *g);
    *g = (struct group){ .next = t->groups, .pool = n->pool, .stack = n->stack };
    t->groups = g;
    return g;
}

static void look_again(struct turns *t, int64_t at_s)
{
    if (!t->ret->again_s || at_s < t->ret->again_s)
        t->ret->again_s = at_s;
}

/* Whether a node that is down no longer delays others. */
static bool is_given_up(struct turns *t, const struct toolkit_node *n)
{
    if (!n->lost_s)
        return false;
    int64_t until_s = time_after(n->lost_s, t->in->install_s);
    if (until_s > t->in->now_s)
        look_again(t, until_s);
    return until_s <= t->in->now_s;
}

static void count_node(struct turns *t, struct group *g, size_t i)
{
    const struct toolkit_node *n = &t->in->nodes[i];
    bool has_turn = n->has_turn && n->turn_s <= t->in->now_s &&
                    t->in->now_s - n->turn_s < TOOLKIT_TURN_S;
    if (n->state == TOOLKIT_WORKS) {
        g->works++;
    } else if (n->state == TOOLKIT_TRIES) {
        g->tries++;
    } else if (n->state == TOOLKIT_FAILED && !is_given_up(t, n)) {
        g->failed++;
        g->first_failed = g->first_failed ? g->first_failed : n->name;
    } else if (n->state == TOOLKIT_WAITS && has_turn) {
        g->tries++;
        t->ret->granted[i] = true;
        look_again(t, n->turn_s + TOOLKIT_TURN_S);
    } else if (n->state == TOOLKIT_WAITS) {
        g->waiting++;
        t->order[t->order_len++] = i;
    }
}

/* A node that did not use its turn goes after nodes that had none. */
static int toolkit_turns_compare(const void *x, const void *y, void *arg)
{
    size_t i = *(const size_t *) x, k = *(const size_t *) y;
    const struct toolkit_node *a = (const struct toolkit_node *) arg + i,
                              *b = (const struct toolkit_node *) arg + k;
    if (a->turn_s != b->turn_s)
        return a->turn_s < b->turn_s ? -1 : 1;
    if (a->last != b->last)
        return a->last ? 1 : -1;
    return i < k ? -1 : 1;
}

/* How many more nodes may start. A failed node keeps its place: if the first ones fail, no node
 * follows. */
static size_t free_places(const struct turns *t, const struct group *g)
{
    size_t canary = t->in->canary_nodes;
    size_t places = g->works < canary ? canary - g->works : g->works + 1,
           taken = g->tries + g->failed;
    return places > taken ? places - taken : 0;
}

void toolkit_turns(const struct toolkit_turns_input *in, struct arena *a, struct toolkit_turns *ret)
{
    struct turns t = { .in = in, .ret = ret };
    *ret = (struct toolkit_turns){ .granted = arena_alloc(a, in->node_count * sizeof *ret->granted),
                                   .stopped_by = arena_alloc(a, in->node_count *
                                                                    sizeof *ret->stopped_by) };
    t.of = arena_alloc(a, in->node_count * sizeof(struct group *));
    t.order = arena_alloc(a, in->node_count * sizeof *t.order);
    for (size_t i = 0; i < in->node_count; i++) {
        t.of[i] = in->nodes[i].state == TOOLKIT_OUT ? NULL : group_of(&t, a, &in->nodes[i]);
        if (t.of[i])
            count_node(&t, t.of[i], i);
    }
    qsort_r(t.order, t.order_len, sizeof *t.order, toolkit_turns_compare, (void *) in->nodes);
    for (struct group *g = t.groups; g; g = g->next)
        g->stopped = g->failed > 0 && g->tries == 0 && free_places(&t, g) == 0;
    for (size_t k = 0; k < t.order_len; k++) {
        struct group *g = t.of[t.order[k]];
        if (free_places(&t, g) == 0) {
            ret->stopped_by[t.order[k]] = g->stopped ? g->first_failed : NULL;
            continue;
        }
        ret->granted[t.order[k]] = true;
        g->tries++;
        look_again(&t, in->now_s + TOOLKIT_TURN_S);
    }
}
