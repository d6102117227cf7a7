/* Tolerations and labels of users' pods, kept for questions that a policy raises. Both are one
 * interned text, because thousands of pods share it. It has a line "~key" for each tolerated
 * NoSchedule taint that can be Ostler's ("~": all), and a line "key=value" for each label. */
#ifndef OSTLER_RECONCILERS_MODEL_POD_TRAITS_H
#define OSTLER_RECONCILERS_MODEL_POD_TRAITS_H

#include <jansson.h>

#include "base/intern.h"
#include "kube/selector.h"

/* The text of a Pod; INTERN_NONE: empty. A label is kept if `asks` has a requirement on its key;
 * NULL: all are. The caller drops the reference. */
uint32_t pod_traits(struct intern *in, const struct selector *asks, const json_t *object);

#endif
