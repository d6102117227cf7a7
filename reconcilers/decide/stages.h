/* Which stages a new node has passed on its way to ready, and when, updated pass by pass. */
#ifndef OSTLER_RECONCILERS_DECIDE_STAGES_H
#define OSTLER_RECONCILERS_DECIDE_STAGES_H

#include "reconcilers/model/node_stages.h"
#include "reconcilers/decide/node_types.h"

/* How Ostler came to see the node. */
enum stages_look {
    STAGES_JOINS, /* it has just joined, or had no GPU for Ostler before: its time starts now */
    STAGES_FOUND, /* it existed before Ostler started: when it passed its stages is not known */
    STAGES_GOES_ON,
};

/* Applies the result of a pass. Returns the stages that were just reached, as bits. */
unsigned stages_take(struct node_stages *s, const struct node_input *in,
                     const struct node_verdict *v, enum stages_look look);
/* Duration of a stage, in seconds, from the previous known one; -1: not known. */
int64_t stages_lasted_s(const struct node_stages *s, enum node_stage stage);

#endif
