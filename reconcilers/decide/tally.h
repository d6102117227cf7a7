/* The sums over all node verdicts, updated one node at a time, so that an event of one node costs
 * no work for the whole cluster. */
#ifndef OSTLER_RECONCILERS_DECIDE_TALLY_H
#define OSTLER_RECONCILERS_DECIDE_TALLY_H

#include "base/map.h"
#include "reconcilers/decide/node_types.h"

enum { TALLY_POOLS_MAX = 65 }; /* the CRD's limit, plus `default` */

/* Counts nodes of one pool by their relation to one revision. */
struct revision_tally {
    const char *tier; /* name, as in records; static */
    char hash[REVISION_HASH_MAX];
    size_t pool;
    size_t carrying;      /* nodes with its label */
    size_t carrying_lost; /* of those, nodes that are down */
    size_t wanted;        /* nodes whose target it is */
    size_t wanted_lost;   /* of those, nodes that are down */
    size_t done;          /* nodes that carry it, want it, and have its operands up */
    size_t ran;           /* nodes that run it well, or did before their claim */
    size_t well;          /* of those, nodes that run it now and have no claim */
    size_t stayed;        /* of those, nodes whose target it is and that are up */
    size_t claimed;       /* nodes whose claim is for it */
    size_t last;          /* claimed nodes whose last stack it was */
    /* Nodes, not down, that carry it only until its toolkit is removed from their container
     * runtime. */
    size_t removing;
    char key[]; /* "driver/<hash>/<pool>" */
};

/* A node's relation to the revisions of one tier, from its verdict; NULL: none. */
struct node_standing {
    struct revision_tally *carried, *target, *ran, *claimed, *last;
};

/* One reason, and the nodes that it keeps from being ready. */
struct cause {
    char *key; /* "<component>/<reason>" */
    enum operand component;
    enum reason reason;
    const char *word; /* the reason's text; points into the key */
    size_t nodes;
    struct node_summary *first; /* of a list without order */
};

/* What a node contributes. Zero-initialised: nothing yet. Stored with the node by the caller. There
 * are thousands: members of one size are together, so that no bytes between them are lost. */
struct node_summary {
    const char *name; /* borrowed from the caller */
    struct node_standing of[TIERS];
    struct cause *cause;
    struct node_summary *prev, *next;    /* nodes with the same cause */
    char *message, *pod;                 /* for the cause; owned */
    char *trouble, *refused, *next_text; /* as in the verdict; owned */
    int64_t next_s;                      /* as in the verdict */
    struct health_fault fault;           /* the same; its word is `fault_word` */
    char *fault_word;                    /* owned */
    int64_t repair_since_s;              /* as in the verdict */
    int64_t since_s;                     /* the same */
    struct repair_end repaired;          /* the same */
    struct assignment policy_target;     /* the same */
    uint16_t wanted, up, pool;
    enum node_state state : 8;
    enum repair_need repair : 8;       /* as in the verdict */
    enum repair_kind repair_first : 8; /* the same */
    enum repair_refusal refusal : 8;   /* the same */
    enum first_toolkit first : 8;      /* the same */
    bool counted : 1;
    bool gpu : 1, looked_at : 1, outdated : 1;
    bool moving : 1, falling_back : 1, restoring : 1, retarget_pending : 1; /* as in the verdict */
    bool removal : 1, unhealthy : 1;                                        /* the same */
    bool failed : 1; /* an upgrade failed there and was not retried yet */
};

/* Zero-initialised: no nodes. */
struct tally {
    size_t states[NODE_STATE_COUNT];
    size_t total, gpu, looked_at;
    size_t moving; /* nodes that are up and change from one revision to another */
    struct {
        size_t nodes, outdated;
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
    TALLY_SUMS = 1,    /* something that the policy's status counts or names */
    TALLY_ROLLOUT = 2, /* an input of rollout decisions */
};

/* Whether the node's revision of the tier is being removed and none of its operands is there. */
bool summary_leaves(const struct node_summary *s, enum tier tier);
/* Whether every operand of its stack is up, on a node that is up. */
bool summary_stack_works(const struct node_summary *s);
/* Replaces a node's verdict. Returns what changed. */
unsigned tally_set(struct tally *t, struct node_summary *s, const struct node_verdict *v);
/* Whether `a` is reported before `b`: it has more nodes. The order is the same for the same
 * facts. */
bool cause_comes_first(const struct cause *a, const struct cause *b);
/* The first of the causes that count; NULL: none. */
const struct cause *tally_first_cause(const struct tally *t, bool (*counts)(const struct cause *c));
/* The node that represents a cause: the first by name. */
const struct node_summary *cause_example(const struct cause *c);
/* The first node by name that is being upgraded and has an operand that does not come up; NULL:
 * none. */
const struct node_summary *tally_trouble(const struct tally *t);
/* The first node by name that drains and has a pod whose eviction a PodDisruptionBudget refuses;
 * NULL: none. */
const struct node_summary *tally_refused(const struct tally *t);
/* Removes a node. */
void tally_remove(struct tally *t, struct node_summary *s);
/* Nodes that should have operands and are up, and how many of them have all. */
size_t tally_served(const struct tally *t);
/* The same, with those that are down. */
size_t tally_managed(const struct tally *t);
/* Nodes that carry another revision than their target, over all pools. */
size_t tally_outdated(const struct tally *t);
/* Which nodes tally_nodes() counts, as bits. */
enum tally_nodes {
    TALLY_CARRYING = 1,    /* nodes with the revision's label */
    TALLY_CARRYING_UP = 2, /* the same, without nodes that are down */
    TALLY_WANTED = 4,      /* nodes whose target it is */
    /* Nodes whose claim is for it, that run it well or did before their claim, or whose last stack
     * it was. */
    TALLY_CLAIMED = 8,
    TALLY_REMOVING = 16, /* nodes, not down, whose container runtime loses its toolkit */
};
/* Sum over the pools: nodes by their relation to a revision of the named tier (NULL: any tier), or
 * to all of the tier if `hash` is NULL. A node of two kinds counts twice. */
size_t tally_nodes(const struct tally *t, const char *tier, const char *hash, unsigned which);
/* Frees what it owns, but not the summaries. */
void tally_clear(struct tally *t);

#endif
