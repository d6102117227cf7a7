/* Which stages a new node has passed on its way to being ready, and when: seen from pass to pass, by whoever keeps them. */
#ifndef OSTLER_RECONCILERS_DECIDE_STAGES_H
#define OSTLER_RECONCILERS_DECIDE_STAGES_H

#include "reconcilers/model/node_stages.h"
#include "reconcilers/decide/node_plan.h"

/* How a node is looked at. */
enum stages_look {
    STAGES_JOINS,  /* it was not there before, or had no GPU for Ostler: its time begins now */
    STAGES_FOUND,  /* it was there when Ostler began to look: what it has passed by now was passed at a time that nobody knows */
    STAGES_GOES_ON,
};

/* Takes what a pass came to; returns the stages that were reached just now, a bit each. */
unsigned stages_take(struct node_stages *s, const struct node_input *in, const struct node_verdict *v, enum stages_look look);
/* How long a stage took, in seconds, from the one before that is known; -1: that is not known. */
int64_t stages_lasted_s(const struct node_stages *s, enum node_stage stage);

#endif
