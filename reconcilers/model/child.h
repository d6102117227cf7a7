/* What we keep of a child: an object that Ostler makes (DaemonSet, ControllerRevision, Service, RuntimeClass,
 * ServiceMonitor), or a ConfigMap of a person's that it reads. */
#ifndef OSTLER_RECONCILERS_MODEL_CHILD_H
#define OSTLER_RECONCILERS_MODEL_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kube/record.h"
#include "kube/resource.h"

struct child {
    struct record head;        /* key = "namespace/name" or "name" */
    enum resource_id resource;
    int64_t generation;        /* 0 where the kind has none */
    char *intent;              /* annotation: the hash of what we applied; NULL: never applied by us */
    char *policy_uid;          /* label; NULL: not ours */
    char *revision;            /* label: the hash it belongs to; NULL: none */
    bool deleting;
    json_t *kept_managers;     /* somebody else has set something under spec: managedFields without them; NULL: nobody has */
    /* ControllerRevision, ConfigMap: the data; a follower's DaemonSet: the image that it was made from */
    json_t *inputs;
    /* A follower's DaemonSet: its image when last all its pods were of one kind and any was up; or NULL. */
    json_t *known_good;
    json_t *annotations;       /* ControllerRevision: its annotations; NULL otherwise */
    int32_t desired, updated;  /* DaemonSet status: nodes that want it, pods on the newest template */
    int32_t silent;            /* DaemonSet of the agents: nodes on which none is up; -1: not counted yet */
    int64_t made_s;            /* the same: when it was made, seconds of the epoch; 0: not known */
    bool counted;              /* DaemonSet: those are of the newest template, not of the one before */
};

/* The record of an object of that resource. Owned by the caller. */
struct child *child_project(enum resource_id resource, const json_t *object);
/* Whether nothing that anybody looks at differs. */
bool child_same(const struct child *a, const struct child *b);
/* Frees the record with its key. */
void child_free(struct child *c);
/* Whether Ostler made it. */
bool child_is_ours(const struct child *c);
/* The time that an annotation of a ControllerRevision gives, as Ostler writes it (RFC 3339 in UTC, whole seconds: text compares
 * as time); NULL when it is absent or somebody else's text. Borrowed. */
const char *child_time(const struct child *record, const char *annotation);
/* The name without the namespace; borrowed. */
const char *child_name(const struct child *c);

#endif
