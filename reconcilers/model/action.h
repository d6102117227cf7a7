/* Adds plan actions whose reasons come from the reason table. */
#ifndef OSTLER_RECONCILERS_MODEL_ACTION_H
#define OSTLER_RECONCILERS_MODEL_ACTION_H

#include "kube/actions.h"
#include "reconcilers/model/reason.h"

/* Like actions_add(): appends an action and takes the request. The message is formatted. */
void action_add(struct actions *p, struct request request_steal, enum verb verb, const char *target,
                enum reason reason, const char *fmt, ...) PRINTF(6, 7);
/* The reason of an action that action_add() appended. */
enum reason action_reason(const struct action *a);

#endif
