/* A repair that a user asks for with the annotation ostler.dev/repair, and that Ostler ignores: a
 * request must not vanish without a word. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_REQUEST_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_REQUEST_H

#include "reconcilers/decide/node_types.h"

/* Why Ostler ignores the request. Call it when the verdict is settled. */
enum repair_refusal repair_request_refusal(const struct node_pass *p);
/* The same as a sentence without its end: what was asked, and who can change that. */
const char *repair_request_text(enum repair_refusal refusal);

#endif
