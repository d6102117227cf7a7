/* The sum of all verdicts, kept up to date one node at a time, so that nothing is proportional to the cluster on one
 * node's event. */
#ifndef OSTLER_RECONCILERS_DECIDE_TALLY_H
#define OSTLER_RECONCILERS_DECIDE_TALLY_H

#include "base/map.h"
#include "reconcilers/decide/node_plan.h"

enum { TALLY_POOLS_MAX = 65 }; /* what the CRD allows, and `default` */

/* How nodes of one pool stand to one revision. */
struct revision_tally {
    char *key;               /* "driver/<hash>/<pool>" */
    const char *tier;        /* its name, as records have it; static */
    char hash[REVISION_HASH_MAX];
    size_t pool;
    size_t carrying;         /* nodes that bear its label */
    size_t carrying_lost;    /* of those, nodes that are down */
    size_t wanted;           /* nodes whose target it is */
    size_t wanted_lost;      /* of those, nodes that are down */
    size_t done;             /* nodes that carry it, want it, and have its operands up */
    size_t ran;              /* nodes that run it well, or did before their claim */
    size_t stayed;           /* of those, nodes whose target it is, and that are up */
    size_t claimed;          /* nodes whose claim is for it */
    size_t last;             /* claimed nodes that bore it last */
    size_t removing;         /* nodes that carry it only until its toolkit is out of their container runtime, and are up */
};

/* How a node stands to the revisions of one tier: those of its verdict; NULL: none. */
struct node_standing {
    struct revision_tally *carried, *target, *ran, *claimed, *last;
};

/* One reason, and the nodes that it keeps from being ready. */
struct cause {
    char *key;               /* "<component>/<reason>" */
    enum operand component;
    enum reason reason;
    const char *word;        /* the reason as it is shown; points into the key */
    size_t nodes;
    struct node_summary *first; /* of the list, in no order that means anything */
};

/* What a node contributes. Zero-initialised = nothing yet. Kept by whoever keeps the nodes. */
struct node_summary {
    const char *name;        /* borrowed from the keeper */
    bool counted;
    enum node_state state;
    bool gpu, looked_at, outdated;
    bool moving, back, restoring, turns, removal; /* as in the verdict */
    bool failed;             /* an upgrade failed there, and was not tried again yet */
    int64_t since_s;         /* as in the verdict */
    enum first_toolkit first; /* as in the verdict */
    uint16_t wanted, up, pool;
    struct node_standing of[TIERS];
    struct assignment wish;  /* as in the verdict */
    struct cause *cause;
    struct node_summary *prev, *next; /* nodes with the same cause */
    char *message, *pod;     /* to the cause; owned */
    char *trouble, *refused; /* as in the verdict; owned */
};

/* Zero-initialised = no nodes. */
struct tally {
    size_t states[NODE_STATE_COUNT];
    size_t total, gpu, looked_at;
    size_t moving;        /* nodes on their way from one revision to another, and up */
    struct {
        size_t nodes, ready, outdated;
        size_t states[NODE_STATE_COUNT];
    } pools[TALLY_POOLS_MAX];
    struct {
        size_t wanted, up;
    } operands[OPERANDS_MAX];
    struct map revisions; /* struct revision_tally by key */
    struct map causes;    /* struct cause by key */
};

/* What a verdict changed, as bits. */
enum tally_change {
    TALLY_SUMS = 1,    /* what the policy's status counts or names */
    TALLY_ROLLOUT = 2, /* what decisions of the rollout look at */
};

/* Whether what the node carries of the tier is on its way off, and no operand of it is there. */
bool summary_leaves(const struct node_summary *s, enum tier tier);
/* Whether every operand of its stack is up, on a node that is. */
bool summary_stack_works(const struct node_summary *s);
/* Puts a node's new verdict in place of its old one; returns what of that was new. */
unsigned tally_set(struct tally *t, struct node_summary *s, const struct node_verdict *v);
/* Which of two causes is told first: the one with more nodes. Equal facts give the same order, whatever came first. */
bool cause_comes_first(const struct cause *a, const struct cause *b);
/* The node that is named for a cause: the first by name. */
const struct node_summary *cause_example(const struct cause *c);
/* The first node by name that is on its way to another revision and has an operand that does not come up; NULL: none. */
const struct node_summary *tally_trouble(const struct tally *t);
/* The first node by name that drains and has a pod that a budget lets not go; NULL: none. */
const struct node_summary *tally_refused(const struct tally *t);
/* Takes a node out. */
void tally_remove(struct tally *t, struct node_summary *s);
/* Nodes that should have operands and are up, and how many of them have all. */
size_t tally_served(const struct tally *t);
/* Nodes that carry another revision than their target, over all pools. */
size_t tally_outdated(const struct tally *t);
/* Which nodes tally_nodes() counts, as bits. */
enum tally_nodes {
    TALLY_CARRYING = 1,    /* those that bear the revision's label */
    TALLY_CARRYING_UP = 2, /* the same without those that are down */
    TALLY_WANTED = 4,      /* those whose target it is */
    TALLY_CLAIMED = 8,     /* those whose claim is for it, and those that run it well, did before their claim, or bore it last */
    TALLY_REMOVING = 16,   /* those that are up, and whose container runtime is being freed of its toolkit */
};
/* Sum over the pools: how nodes stand to a revision of the tier of that name (NULL: whichever), or
 * to all of the tier where the hash is NULL. A node of two kinds counts twice. */
size_t tally_nodes(const struct tally *t, const char *tier, const char *hash, unsigned which);
/* Frees what it owns; summaries that were counted are their owners' matter. */
void tally_clear(struct tally *t);

#endif
