/* Requests as data: pure functions build them, a transport sends them. */
#ifndef OSTLER_KUBE_REQUEST_H
#define OSTLER_KUBE_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kube/resource.h"

/* The field manager of our writes. It must never change: fields that another name applied would
 * stay for ever. */
#define FIELD_MANAGER "ostler"

enum request_class {
    REQUEST_READ,  /* GET of an object or a page of a list */
    REQUEST_WATCH, /* a stream on its own connection */
    REQUEST_WRITE, /* a change: held back by the lease fence */
    REQUEST_LEASE, /* the lease itself: short timeout, own connection, never fenced */
};

/* One HTTP request. All strings are owned. */
struct request {
    enum request_class class;
    const char *method;        /* static text: "GET", "POST", "PUT", "PATCH", "DELETE" */
    char *path;                /* with the query, percent-encoded */
    const char *content_type;  /* static text, NULL if there is no body */
    char *body;                /* NULL if there is none */
    int64_t timeout_ms;        /* for the whole response */
    enum resource_id resource; /* RESOURCE_COUNT: none */
    bool evicts; /* an eviction: its response is no pod, and its failures have their own meanings */
    /* A list that refreshes known objects: the rest of its plan needs it to bring no news. */
    bool looks;
    bool dry_run; /* the API server stores nothing */
};

/* The scope of a list or watch. */
struct list_options {
    const char *ns;             /* NULL: all namespaces, or a cluster-scoped resource */
    const char *field_selector; /* NULL: none */
    const char *label_selector; /* NULL: none */
};

/* One page of a quorum-consistent list (resourceVersion unset); `token` is the continue token or
 * NULL. */
struct request request_list(enum resource_id id, const struct list_options *o, const char *token);
/* The whole quorum-consistent list in one response: for plans that must not miss a recent
 * change. */
struct request request_look(enum resource_id id, const struct list_options *o);
/* A watch from a resourceVersion, with bookmarks. The server ends it after timeout_s, the client
 * a little later. */
struct request request_watch(enum resource_id id, const struct list_options *o, const char *rv,
                             int timeout_s);
/* One object, current. */
struct request request_get(enum resource_id id, const char *ns, const char *name);
/* Server-side apply with force; `object` is the whole intent. Borrowed. */
struct request request_apply(enum resource_id id, const char *ns, const char *name,
                             const json_t *object);
/* The same with another manager than FIELD_MANAGER; its name needs no escaping. */
struct request request_apply_as(const char *manager, enum resource_id id, const char *ns,
                                const char *name, const json_t *object);
/* request_apply() on /status. */
struct request request_apply_status(enum resource_id id, const char *ns, const char *name,
                                    const json_t *object);
/* JSON merge patch. Put uid and resourceVersion into its metadata if a lost update would matter
 * (409 then). */
struct request request_merge_patch(enum resource_id id, const char *ns, const char *name,
                                   const json_t *patch);
/* The same for /status, with another manager than FIELD_MANAGER; its name needs no escaping. */
struct request request_merge_status_as(const char *manager, enum resource_id id, const char *ns,
                                       const char *name, const json_t *patch);
/* Strategic merge patch of /status: lists merge by their items' keys, so that other writers'
 * items stay. With a uid as above. */
struct request request_merge_status(enum resource_id id, const char *ns, const char *name,
                                    const json_t *patch);
/* JSON patch: an array of operations. */
struct request request_json_patch(enum resource_id id, const char *ns, const char *name,
                                  const json_t *operations);
/* Creates an object: 409 if its name exists. Borrowed. */
struct request request_create(enum resource_id id, const char *ns, const json_t *object);
/* Replaces a whole object; if it has a resourceVersion, only that version, otherwise 409.
 * Borrowed. */
struct request request_update(enum resource_id id, const char *ns, const char *name,
                              const json_t *object);
/* Deletes in the background. `uid` (NULL: any) and `rv` (0: any version) are preconditions: the
 * API server rejects a decision that rests on a stale object (409). */
struct request request_delete(enum resource_id id, const char *ns, const char *name,
                              const char *uid, uint64_t rv);
/* Whether the request is a deletion. */
bool request_deletes(const struct request *r);
/* Evicts a pod with this uid, within its PodDisruptionBudgets. `dry_run`: only tests whether it
 * would succeed. */
struct request request_evict(const char *ns, const char *name, const char *uid, bool dry_run);
/* The last lines of a container's log, as text. `previous`: of the previous run. */
struct request request_log(const char *ns, const char *pod, const char *container, bool previous);
/* The API server's version. */
struct request request_version(void);
/* The client's permissions in a namespace and in the cluster; a read, it changes nothing. */
struct request request_rules_review(const char *ns);
/* Frees the strings. */
void request_clear(struct request *r);

#endif
