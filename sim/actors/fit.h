/* Whether a pod may be on a node: node selector, node affinity, taints and tolerations; and labels under selectors. Pure. */
#ifndef OSTLER_SIM_ACTORS_FIT_H
#define OSTLER_SIM_ACTORS_FIT_H

#include <jansson.h>
#include <stdbool.h>

/* Effects of taints, a set of bits. */
enum taint_effect { TAINT_NO_SCHEDULE = 1, TAINT_PREFER_NO_SCHEDULE = 2, TAINT_NO_EXECUTE = 4 };

/* Whether the node meets the nodeSelector and the required node affinity of a pod's spec. */
bool fit_affinity(const json_t *pod_spec, const json_t *node);
/* The one node that the spec's affinity names by metadata.name, as a DaemonSet's pods do; NULL when it names none. */
const char *fit_pinned_node(const json_t *pod_spec);
/* Whether one toleration is for a taint. */
bool fit_tolerates(const json_t *toleration, const json_t *taint);
/* The first taint with one of these effects that no toleration is for, or NULL. Borrowed. */
const json_t *fit_untolerated(const json_t *tolerations, const json_t *taints, unsigned effects);
/* The first taint with this key, and with this effect unless it is NULL. Borrowed. */
const json_t *fit_taint(const json_t *node, const char *key, const char *effect);
/* Whether labels meet a LabelSelector; one that is none matches nothing. */
bool fit_labels(const json_t *label_selector, const json_t *object);
/* Whether a text fits a pattern in which * stands for anything. NULL fits everything. */
bool fit_pattern(const char *pattern, const char *text);

#endif
