/* Whether a pod fits a node, by node selector, node affinity, taints and tolerations; also label
 * selectors and the end of pods. Pure. */
#ifndef OSTLER_SIM_ACTORS_FIT_H
#define OSTLER_SIM_ACTORS_FIT_H

#include <jansson.h>
#include <stdbool.h>

/* Effects of taints, as bits. */
enum taint_effect { TAINT_NO_SCHEDULE = 1, TAINT_PREFER_NO_SCHEDULE = 2, TAINT_NO_EXECUTE = 4 };

/* Whether the node matches the nodeSelector and the required node affinity of a pod's spec. */
bool fit_affinity(const json_t *pod_spec, const json_t *node);
/* The node that the affinity selects by metadata.name, as in pods of DaemonSets; NULL: none. */
const char *fit_pinned_node(const json_t *pod_spec);
/* Whether a toleration matches a taint. */
bool fit_tolerates(const json_t *toleration, const json_t *taint);
/* The first taint with one of these effects that no toleration matches, or NULL. Borrowed. */
const json_t *fit_untolerated(const json_t *tolerations, const json_t *taints, unsigned effects);
/* The first taint with this key and effect (NULL: any effect), or NULL. Borrowed. */
const json_t *fit_taint(const json_t *node, const char *key, const char *effect);
/* Whether a pod's phase is final: Succeeded or Failed. */
bool pod_is_finished(const json_t *pod);
/* Whether an object's labels match a LabelSelector; an invalid selector matches nothing. */
bool fit_labels(const json_t *label_selector, const json_t *object);
/* Whether a text matches a pattern, in which * matches any text. NULL matches everything. */
bool fit_pattern(const char *pattern, const char *text);

#endif
