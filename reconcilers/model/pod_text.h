/* Whether a Pod can be one that is cached (pod.h), told from its text before it is parsed: most
 * pods of a cluster are not. In doubt it can be one. */
#ifndef OSTLER_RECONCILERS_MODEL_POD_TEXT_H
#define OSTLER_RECONCILERS_MODEL_POD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a GPU of a node is held open by the pod with str_hash_id() of its uid. */
typedef bool pod_text_holds_fn(const void *arg, const char *node, uint64_t uid);

/* What a text is read for; all borrowed. */
struct pod_text_asks {
    const char *operand_namespace; /* of Ostler's pods */
    pod_text_holds_fn *holds;
    const void *arg;
};

/* Whether pod_project() may make a record of the Pod, or pod_project_any() if it holds a GPU. The
 * text is what a view left of it, or a watch event of it. */
bool pod_text_matters(const struct pod_text_asks *asks, const char *text, size_t len);

/* Whether a part of the text may have containers with GPUs, or other operators' programs. */
bool pod_text_part_matters(const char *text, size_t len);

#endif
