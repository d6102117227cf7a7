/* Changes a copied manifest: merges parts into it and sets values at paths. A missing place is an
 * error, because silently ignoring it would produce a manifest that its author does not expect. */
#ifndef OSTLER_RECONCILERS_MANIFESTS_OVERLAY_H
#define OSTLER_RECONCILERS_MANIFESTS_OVERLAY_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* The path of a DaemonSet's pods. */
#define POD_SPEC "spec.template.spec"
/* Every container and init container of the pod template. */
#define OVERLAY_ALL_CONTAINERS "*"
/* Containers of Ostler's own image, which manifests call "ostler", and all others. */
#define OVERLAY_OWN_CONTAINERS "*own"
#define OVERLAY_OPERAND_CONTAINERS "*operand"
/* The container that gets the policy's variables and arguments (struct operand_row); render.c knows
 * its name. */
#define OVERLAY_COMMAND_CONTAINER "*command"
/* Whether a container of a manifest has Ostler's own image. */
bool overlay_is_own(const json_t *container);

/* Sets `value` under `key` of `parent`. The parent exists; the key need not. */
typedef void overlay_put_fn(json_t *parent, const char *key, json_t *value);

/* One place in a manifest and the source of its value. */
struct overlay {
    const char *manifest; /* file that it applies to; NULL: the files of all DaemonSets */
    /* Name of a container or init container, one of OVERLAY_…, or NULL: the object itself. */
    const char *container;
    /* Below that: "volumes[cdi].hostPath.path", "env[ROOT].value", "endpoints[0].interval". */
    const char *path;
    overlay_put_fn *put;
    const char *from; /* path in the values; if absent or empty, the manifest does not change */
};

/* Replaces the value. */
overlay_put_fn overlay_put;
/* Appends the elements of a list. */
overlay_put_fn overlay_append;
/* Appends names as objects with that name, as in imagePullSecrets, without duplicates. */
overlay_put_fn overlay_append_names;
/* Merges the keys of an object, or the elements of a list by name. Equal keys or names are
 * replaced. */
overlay_put_fn overlay_merge;

/* Applies one overlay to a manifest. Returns 0, or -1 if its place does not exist. */
int overlay_apply(const struct overlay *overlay, json_t *manifest, const json_t *values,
                  struct err *e);
/* Merges a part into a manifest: objects by key (null removes), lists of objects by name ("$patch":
 * delete removes), everything else is replaced. Returns -1 if it changes a container or removes an
 * element that does not exist. */
int overlay_merge_part(json_t *manifest, const json_t *part, struct err *e);

#endif
