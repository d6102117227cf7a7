/* Requests as data: built by pure functions, sent by whoever has a transport. */
#ifndef OSTLER_KUBE_REQUEST_H
#define OSTLER_KUBE_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kube/resource.h"

/* Who our writes are by; never changes, since fields that another name once applied would stay for ever. */
#define FIELD_MANAGER "ostler"

enum request_class {
    REQUEST_READ,  /* GET of an object or a page of a list */
    REQUEST_WATCH, /* a stream; its own connection */
    REQUEST_WRITE, /* changes something: held back by the lease fence */
    REQUEST_LEASE, /* the lease itself: short timeout, connection of its own, never fenced */
};

/* One HTTP request. All strings are owned. */
struct request {
    enum request_class class;
    const char *method;       /* static text: "GET", "POST", "PUT", "PATCH", "DELETE" */
    char *path;               /* with the query, percent-encoded */
    const char *content_type; /* static text, NULL without a body */
    char *body;               /* NULL without one */
    int64_t timeout_ms;       /* for the whole answer */
    enum resource_id resource; /* RESOURCE_COUNT: of none */
    bool evicts;              /* asks for a pod to leave: what is answered is no pod, and refusals have meanings of their own */
    /* A list that what is known is brought up to date from: the rest of its plan needs that to be no news. */
    bool looks;
    bool dry_run;             /* nothing is stored, whatever the answer says */
};

/* What a list or watch is about. */
struct list_options {
    const char *ns;             /* NULL: all namespaces, or a cluster-scoped resource */
    const char *field_selector; /* NULL: none */
    const char *label_selector; /* NULL: none */
};

/* One page of a quorum-consistent list (resourceVersion unset); `token` is the continue token or NULL. */
struct request request_list(enum resource_id id, const struct list_options *o, const char *token);
/* The whole list in one answer, quorum-consistent: for plans that rest on there being nothing that was not heard of yet. */
struct request request_look(enum resource_id id, const struct list_options *o);
/* A watch from a resourceVersion on, with bookmarks; the server ends it after timeout_s, the client a little later. */
struct request request_watch(enum resource_id id, const struct list_options *o, const char *rv, int timeout_s);
/* One object, as it is now. */
struct request request_get(enum resource_id id, const char *ns, const char *name);
/* Server-side apply with force: `object` is the whole intent. Borrowed. */
struct request request_apply(enum resource_id id, const char *ns, const char *name, const json_t *object);
/* The same by another manager than FIELD_MANAGER, whose name needs no escaping. */
struct request request_apply_as(const char *manager, enum resource_id id, const char *ns, const char *name, const json_t *object);
/* request_apply() on /status. */
struct request request_apply_status(enum resource_id id, const char *ns, const char *name, const json_t *object);
/* JSON merge patch; put uid and resourceVersion into its metadata where a lost update would matter (409 then). */
struct request request_merge_patch(enum resource_id id, const char *ns, const char *name, const json_t *patch);
/* The same of /status, by another manager than FIELD_MANAGER, whose name needs no escaping. */
struct request request_merge_status_as(const char *manager, enum resource_id id, const char *ns, const char *name,
                                       const json_t *patch);
/* Strategic merge patch of /status: lists are merged by their items' keys, so that those of others stay. With a uid as above. */
struct request request_merge_status(enum resource_id id, const char *ns, const char *name, const json_t *patch);
/* JSON patch: an array of operations. */
struct request request_json_patch(enum resource_id id, const char *ns, const char *name, const json_t *operations);
/* Makes an object: 409 where its name is taken. Borrowed. */
struct request request_create(enum resource_id id, const char *ns, const json_t *object);
/* Replaces an object whole; with a resourceVersion in it only that version, else 409. Borrowed. */
struct request request_update(enum resource_id id, const char *ns, const char *name, const json_t *object);
/* Delete in the background, only this incarnation, and only as it was when it was read: `uid` (NULL: whichever there is) and `rv`
 * (0: any version) are preconditions, so that what was decided on an old view is refused (409). */
struct request request_delete(enum resource_id id, const char *ns, const char *name, const char *uid, uint64_t rv);
/* Whether it is a deletion. */
bool request_deletes(const struct request *r);
/* Asks for a pod to leave, as its PodDisruptionBudgets allow: only this incarnation. `dry_run`: only whether it might. */
struct request request_evict(const char *ns, const char *name, const char *uid, bool dry_run);
/* The end of what a container of a pod has said: a few lines, as text. `previous`: of the run before this one. */
struct request request_log(const char *ns, const char *pod, const char *container, bool previous);
/* What the API server is, in its own words. */
struct request request_version(void);
/* What rights the asker has in a namespace and for the cluster; it changes nothing, and is a read. */
struct request request_rules_review(const char *ns);
/* Frees the strings. */
void request_clear(struct request *r);

#endif
