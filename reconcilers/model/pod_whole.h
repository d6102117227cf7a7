/* What the whole text of a Pod tells about its record, before a view or a parser: after a restart
 * in a large cluster nearly all pods are operands' pods that are up, and pods without a record. In
 * doubt it tells nothing. */
#ifndef OSTLER_RECONCILERS_MODEL_POD_WHOLE_H
#define OSTLER_RECONCILERS_MODEL_POD_WHOLE_H

#include "kube/frame.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/pod_text.h"

struct pod_whole {
    /* The record of an operand's pod that is up, as pod_project() makes it, with its version. NULL:
     * there is no record of the pod; neither function of pod_text_matters() makes one. */
    struct pod *pod;
    char key[FRAME_KEY_MAX]; /* of the pod */
};

/* Reads the text of one object; false: the pod must be parsed. */
bool pod_whole_read(struct intern *in, const struct pod_text_asks *asks, const char *text,
                    size_t len, struct pod_whole *ret);

#endif
