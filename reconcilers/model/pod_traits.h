/* What is kept of somebody's pod for questions that come with a policy: which taints it tolerates, and its labels. Both are one
 * interned text, since thousands of pods have the same: a line "~key" for each taint with the effect NoSchedule that it
 * tolerates, of those that can be Ostler's ("~": all), and a line "key=value" for each label. */
#ifndef OSTLER_RECONCILERS_MODEL_POD_TRAITS_H
#define OSTLER_RECONCILERS_MODEL_POD_TRAITS_H

#include "reconcilers/model/pod.h"

/* The text of a Pod; INTERN_NONE: it is empty. Labels are kept where `asks` has a requirement on their key; NULL: all are. The
 * caller drops it. */
uint32_t pod_traits(struct intern *in, const struct selector *asks, const json_t *object);
/* Whether it may be bound to a node in spite of a taint of that key with the effect NoSchedule, whatever the taint's value. */
bool pod_tolerates(const struct intern *in, const struct pod *p, const char *key);
/* Whether its labels match a selector; all that this asks about must have been kept. Operands of ours have no labels that are. */
bool pod_selected(const struct intern *in, const struct pod *p, const struct selector *selector);

#endif
