/* The cached fields of a child: an object that Ostler creates (DaemonSet, ControllerRevision,
 * Service, RuntimeClass, ServiceMonitor) or a user's ConfigMap that Ostler reads. */
#ifndef OSTLER_RECONCILERS_MODEL_CHILD_H
#define OSTLER_RECONCILERS_MODEL_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kube/record.h"
#include "kube/resource.h"

struct child {
    struct record head; /* key = "namespace/name" or "name" */
    enum resource_id resource;
    int64_t generation; /* 0 if the kind has none */
    char *intent;       /* annotation: hash of what Ostler applied; NULL: Ostler never applied it */
    char *policy_uid;   /* label; NULL: not Ostler's */
    char *revision;     /* label: hash of its revision; NULL: none */
    bool deleting;
    json_t *kept_managers; /* other managers' managedFields that set spec fields; NULL: none */
    /* ControllerRevision, ConfigMap: the data. DaemonSet of a follower: the image that it was built
     * from */
    json_t *inputs;
    /* DaemonSet of a follower: its image when all its pods were last on one template and at least
     * one was up; NULL: never */
    json_t *known_good;
    json_t *annotations;      /* of a ControllerRevision; else NULL */
    int32_t desired, updated; /* DaemonSet status: nodes that want it, pods on newest template */
    int32_t silent; /* agent DaemonSet: nodes without an agent that is up; -1: not counted yet */
    int64_t made_s; /* agent DaemonSet: when it was created, epoch seconds; 0: not known */
    bool counted;   /* DaemonSet: the two counts are for the newest template */
};

/* The cached record of an object. Owned by the caller. */
struct child *child_project(enum resource_id resource, const json_t *object);
/* Whether all cached fields that decisions use are equal. */
bool child_same(const struct child *a, const struct child *b);
/* Frees the record with its key. */
void child_free(struct child *c);
/* Whether Ostler created it. */
bool child_is_ours(const struct child *c);
/* The time in an annotation of a ControllerRevision, as Ostler writes it: RFC 3339 in UTC, whole
 * seconds, so text compares as time. NULL: absent or in another format. Borrowed. */
const char *child_time(const struct child *record, const char *annotation);
/* The failure in an annotation of a ControllerRevision, "<time> <node> <reason>", without its time;
 * NULL: none. Borrowed. */
const char *child_failure(const struct child *record, const char *annotation);
/* Whether its revision has failed in any pool. */
bool child_has_failed(const struct child *record);
/* The name without the namespace; borrowed. */
const char *child_name(const struct child *c);

#endif
