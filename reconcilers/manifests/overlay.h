/* Changing a copied manifest: parts merged into it, values put at places in it. Whatever finds no
 * place is an error, since a silent no-op would be a manifest that does something else than its
 * author thinks. */
#ifndef OSTLER_RECONCILERS_MANIFESTS_OVERLAY_H
#define OSTLER_RECONCILERS_MANIFESTS_OVERLAY_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* Every container and init container of the pod template. */
#define OVERLAY_ALL_CONTAINERS "*"
/* Those of Ostler's own image, which manifests call "ostler", and all others. */
#define OVERLAY_OWN_CONTAINERS "*own"
#define OVERLAY_OPERAND_CONTAINERS "*operand"
/* The one that takes the policy's variables and arguments (struct operand_row); render.c knows its name. */
#define OVERLAY_COMMAND_CONTAINER "*command"
/* Whether a container of a manifest is of Ostler's own image. */
bool overlay_is_own(const json_t *container);

/* Puts `value` under `key` of `parent`; the parent is there, the key need not be. */
typedef void overlay_put_fn(json_t *parent, const char *key, json_t *value);

/* One place of a manifest and where its value comes from. */
struct overlay {
    const char *manifest;  /* the file that it is for; NULL: those of all DaemonSets */
    const char *container; /* name of a container or init container, one of OVERLAY_…, or NULL: the
                              object itself */
    const char *path;      /* from there: "volumes[cdi].hostPath.path", "env[ROOT].value",
                              "endpoints[0].interval" */
    overlay_put_fn *put;
    const char *from; /* path in the values; absent or empty there: the manifest stays as it is */
};

/* Replaces what is there. */
overlay_put_fn overlay_put;
/* Adds the elements of a list to the list. */
overlay_put_fn overlay_append;
/* Adds a list of names as objects with that name, as imagePullSecrets are; those that are there are not added again. */
overlay_put_fn overlay_append_names;
/* Adds the keys of an object, or the elements of a list by their name; what has the same key or
 * name is replaced. */
overlay_put_fn overlay_merge;

/* Applies one overlay to a manifest. 0, or -1 when its place is not there. */
int overlay_apply(const struct overlay *overlay, json_t *manifest, const json_t *values,
                  struct err *e);
/* Merges a part into a manifest: objects key by key (null removes), lists of objects by name
 * ("$patch": delete removes), everything else is replaced. -1 when it changes a container, or
 * removes an element, that is not there. */
int overlay_merge_part(json_t *manifest, const json_t *part, struct err *e);

#endif
