/* What a fault of a node's GPUs makes of one pass over the node: closing.h decides, with what the
 * pass knows; the verdict and the write follow. */
#ifndef OSTLER_RECONCILERS_DECIDE_NODE_CLOSING_H
#define OSTLER_RECONCILERS_DECIDE_NODE_CLOSING_H

#include "reconcilers/decide/closing.h"
#include "reconcilers/decide/marks.h"
#include "reconcilers/decide/proof.h"

struct node_closing {
    struct closing_input in;
    struct closing out;
    bool unreadable; /* the node's annotation is no record: it goes */
};

/* Decides before the validation of the pass, whose result may open the node. Sets members of the
 * verdict, among them how many GPUs the device plugin withholds. Requests a requeue for when the
 * same facts come to mean something else. */
void node_closing_begin(const struct node_pass *p, struct node_closing *ret);
/* Whether the node would ask for a repair if it had no claim. Otherwise its repair has no use: were
 * it released for less, it would be claimed again. */
bool node_closing_would_repair(const struct node_pass *p, const struct node_closing *n);
/* Decides again, with what the validation showed; NULL: this pass could not look at it. */
void node_closing_look(const struct node_pass *p, const struct proof_look *look,
                       struct node_closing *n);
/* The same for a node whose claim goes in this pass. */
void node_closing_free(const struct node_pass *p, const struct proof_look *look,
                       struct node_closing *n);
/* Decides again, for a node that its claim takes out of service in this pass. */
void node_closing_leave(const struct node_pass *p, struct node_closing *n);
/* The verdict of an unclaimed node that is up: UNHEALTHY if it is closed. */
void node_closing_judge(const struct node_pass *p, const struct proof_look *look,
                        const struct node_closing *n);
/* The record and the taint, for the write. */
void node_closing_mark(const struct node_pass *p, const struct node_closing *n,
                       struct marks *wanted);

#endif
