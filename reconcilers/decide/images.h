/* Whether the images that an upgrade brings are on a node, which is asked before the node is claimed: a tag that does not exist,
 * or a registry that cannot be reached, costs no node its old driver, and no node is out of service while it pulls.
 *
 * A one-off pod (task `pull`) with a container for each image, the operands' pull policies and their pull secrets has the
 * kubelet pull them. What its containers run does not matter: an image is there when the kubelet says which one it took
 * (imageID), how the container ended, or that it could not be made. The pod stays until the node's own way begins: images of a
 * pod that is there are not cleaned up, also when jobs are waited for for weeks.
 *
 * node.status.images is not asked: it names 50 images at most, is minutes old, and says nothing of an image that is not in it. */
#ifndef OSTLER_RECONCILERS_DECIDE_IMAGES_H
#define OSTLER_RECONCILERS_DECIDE_IMAGES_H

#include "kube/actions.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/decide/task_pod.h"

struct node_input;
struct node_verdict;

enum images_state {
    IMAGES_READY,   /* all are there */
    IMAGES_UNKNOWN, /* nobody asked */
    IMAGES_PULLING, /* the node was asked, or a pod that asked for others is still going */
    IMAGES_MISSING, /* the node cannot get them; its kubelet goes on trying */
};

/* All borrowed. */
struct images {
    enum images_state state;
    int64_t since_s;   /* with PULLING: when it was asked, seconds of the epoch */
    const char *image; /* with MISSING: the first that the node cannot get; NULL: it is not about one image */
    const char *words; /* with MISSING: why not, in the words of the registry or the kubelet */
};

/* A purpose (task_pod.h) and how the images are pulled: where a person adds a pull secret, a pod that goes on without it helps
 * nobody. */
enum { IMAGES_PURPOSE_MAX = TASK_PURPOSE_MAX + 9 };
/* The purpose of a node's pull pod: the hashes of what it is to run, and a hash of the pull
 * policies and secrets that `spec`, the pool's effective one, has for their images. */
void images_purpose(struct assignment_ref target, const json_t *spec,
                    char out[static IMAGES_PURPOSE_MAX]);

/* What the pods of a node, a list through next_on_node, say of the images of a purpose. */
struct images images_look(const struct pod *pods, const struct intern *strings, const char *policy_uid, const char *purpose);

/* What a node is to pull. All borrowed. */
struct images_wanted {
    const char *node;
    const char *purpose;
    const char *policy_uid;
    const char *operand_namespace;
    struct render_context of[TIERS];     /* of what comes; without inputs: the tier stays as it is */
    struct render_image proof;           /* of the pod that proves the node then; without an image: none does */
    const json_t *proof_secrets;         /* list of names; NULL: none */
};

/* Whether the revisions bring any image; where they do not, nothing is pulled and nobody waits for it. */
bool images_any(const struct images_wanted *want);
/* Plans the request that makes the pod which pulls them. An error: one of their operands cannot be made; nothing is
 * planned then. */
int images_pull(const struct manifests *m, const struct images_wanted *want, struct actions *actions, struct err *e);
/* Plans the deletion of a node's pod that pulls, where nobody waits for it, or where it was ended before it was through: then
 * another one is made later. */
void images_clean(const struct node_input *in, const struct node_verdict *v, struct actions *actions);

#endif
