/* Whether the images of an upgrade are on a node, checked before the node is claimed. So a wrong
 * tag or an unreachable registry does not cost a node its old driver, and no node is out of service
 * while it pulls.
 *
 * A one-off pod (task `pull`) makes the kubelet pull them. It has a container for each image, with
 * the operands' pull policies and pull secrets. What its containers run does not matter: an image
 * is present when the kubelet reports its imageID, how the container ended, or that it could not
 * create the container. The pod stays until the node's upgrade starts, even if jobs run for weeks,
 * because the kubelet does not clean up images of an existing pod.
 *
 * Ostler does not use node.status.images: it lists at most 50 images, is minutes old, and says
 * nothing about images that it does not list. */
#ifndef OSTLER_RECONCILERS_DECIDE_IMAGES_H
#define OSTLER_RECONCILERS_DECIDE_IMAGES_H

#include "kube/actions.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/decide/task_pod.h"

struct node_pass;

enum images_state {
    IMAGES_READY,   /* all images are there */
    IMAGES_UNKNOWN, /* not requested yet */
    IMAGES_PULLING, /* being pulled, or a pull pod for other images still exists */
    IMAGES_MISSING, /* the node cannot pull them; its kubelet keeps trying */
};

/* All borrowed. */
struct images {
    enum images_state state;
    int64_t since_s; /* with PULLING: when the pull pod was created, epoch seconds */
    /* With MISSING: the first image that cannot be pulled; NULL: it is not about one image. */
    const char *image;
    const char *words; /* with MISSING: the error of the registry or the kubelet */
};

/* A purpose (task_pod.h) plus how the images are pulled: after a user adds a pull secret, an old
 * pull pod without it is useless. */
enum { IMAGES_PURPOSE_MAX = TASK_PURPOSE_MAX + 9 };
/* The purpose of a node's pull pod: the hashes of its target, and a hash of the pull policies and
 * secrets for those images in `spec`, the pool's effective spec. */
void images_purpose(struct assignment_ref target, const json_t *spec,
                    char out[static IMAGES_PURPOSE_MAX]);

/* What the pods of a node, a list through next_on_node, show about the images of a purpose. */
struct images images_look(const struct pod *pods, const struct intern *strings,
                          const char *policy_uid, const char *purpose);

/* The images that a node must pull. All borrowed. */
struct images_wanted {
    const char *node;
    const char *purpose;
    const char *policy_uid;
    const char *operand_namespace;
    struct render_context of[TIERS]; /* of new revisions; without inputs: no change */
    struct render_image proof;       /* of the validation pod that follows; without image: none */
    const json_t *proof_secrets;     /* list of names; NULL: none */
};

/* Whether the revisions bring any image. If not, nothing is pulled or waited for. */
bool images_any(const struct images_wanted *want);
/* Plans the request that creates the pull pod. Error: an operand cannot be rendered; then it plans
 * nothing. */
int images_pull(const struct manifests *m, const struct images_wanted *want,
                struct actions *actions, struct err *e);
/* Plans the deletion of a node's pull pod if it is not needed, or was ended early; a new pod is
 * created later. */
void images_clean(const struct node_pass *p);

#endif
