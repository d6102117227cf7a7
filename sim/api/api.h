/* An API server in memory: Kubernetes' semantics without a network. api_serve() takes HTTP requests
 * as bytes; the functions below it are the same verbs for actors of the same process. One clock,
 * one counter of resourceVersions, nothing random: the same calls give the same answers. `make
 * conformance` holds it against the real one. */
#ifndef OSTLER_SIM_API_API_H
#define OSTLER_SIM_API_API_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "sim/api/kind.h"
#include "sim/api/refusal.h"

struct api;

/* An HTTP request. All is borrowed for the call; NULL where a header is absent. */
struct api_call {
    const char *method;
    const char *target; /* path and query, percent-encoded */
    const char *content_type;
    const char *accept;
    const char *user_agent;
    const char *user; /* the owner of the token or certificate; NULL: no user (401) */
    const char *body;
    size_t body_len;
};

/* An HTTP answer; api_answer_clear() when done. */
struct api_answer {
    int status;
    const char *content_type; /* static text */
    char *body;               /* NULL with a watch */
    size_t len;
    int retry_after_s; /* 0: no such header */
    /* paths of fields that a write brought and its kind does not have, for warnings; NULL: none */
    json_t *unknown;
    struct api_watch *watch; /* a stream follows: take it and end it with api_watch_free() */
};

/* The origin of a write, for listeners. */
enum api_verb {
    API_CREATE,
    API_UPDATE,
    API_PATCH,
    API_APPLY,
    API_DELETE,
    API_EVICT,
    API_VERB_COUNT
};

/* One commit; watches read the history of commits. Objects are shared and never change. */
struct api_commit {
    uint64_t rv;
    const struct kind *kind;
    json_t *before;   /* NULL: the object is new */
    json_t *after;    /* NULL: the object is removed; `before` is its last state */
    const char *user; /* who did it; interned for the life of the api */
    enum api_verb verb;
    const char *subresource; /* "", "status", …; static text */
};

/* Called after each commit, in order; may read, and may write only later. */
typedef void api_commit_fn(void *arg, const struct api_commit *c);

/* A server with the namespaces that every cluster has. The clock is copied; what it points to must
 * outlive the api. */
struct api *api_new(const struct clock *clock);
/* Frees it with all objects and their history. NULL has no effect. */
void api_free(struct api *api);
/* Adds a listener; those that were there before are called before it. */
void api_on_commit(struct api *api, api_commit_fn *fn, void *arg);
/* The newest resourceVersion. */
uint64_t api_rv(const struct api *api);

/* Sets the minor version of Kubernetes 1 at /version; nothing else changes. Static text. */
void api_set_minor(struct api *api, const char *minor);

/* From now on equal parts of objects are one tree, for a large cluster: writes take longer. */
void api_share_parts(struct api *api);

/* Uses schemas of custom kinds (sim/api/custom_rules.h) that servers share. Borrowed. */
struct custom_schemas;
void api_share_schemas(struct api *api, struct custom_schemas *schemas);

/* Serves one request. */
void api_serve(struct api *api, const struct api_call *call, struct api_answer *ret);
/* Frees body and watch; nothing is in it afterwards. */
void api_answer_clear(struct api_answer *a);

/* ---- who may do what: nothing is forbidden until rules are given (sim/api/access.h) */
struct access;
/* Borrowed; NULL: everybody may do everything. */
void api_set_access(struct api *api, const struct access *access);

/* ---- the same verbs for actors. `user` is also the field manager. Refusals are what HTTP would
 * say. */

/* The object, or NULL. Borrowed until the next write; incref to keep it. `ns` NULL or "": a
 * cluster-scoped object. Events of both groups are core/v1 here and in commits, as they are stored.
 */
json_t *api_get(const struct api *api, const struct kind *k, const char *ns, const char *name);
/* All objects of a kind in order of namespace and name: for (size_t i = 0; i < api_count(…); i++)
 * api_at(…, i). Borrowed; the places move with every write that creates or removes one. */
size_t api_count(const struct api *api, const struct kind *k);
/* The place of the first object of a namespace, which its others follow; if it has none, that of
 * the next namespace. */
size_t api_from(const struct api *api, const struct kind *k, const char *ns);
/* The i-th of them. */
json_t *api_at(const struct api *api, const struct kind *k, size_t i);
/* Writes; 0, or -1 and a refusal (may be NULL). Objects and patches are borrowed; apiVersion and
 * kind may be left out. */
int api_create(struct api *api, const char *user, const struct kind *k, const json_t *object,
               struct refusal *r);
/* With metadata.resourceVersion in it, only from that version. `subresource` is "" or "status". */
int api_update(struct api *api, const char *user, const struct kind *k, const char *subresource,
               const json_t *object, struct refusal *r);
/* A JSON merge patch; otherwise as api_update(). */
int api_merge(struct api *api, const char *user, const struct kind *k, const char *ns,
              const char *name, const char *subresource, const json_t *patch, struct refusal *r);
/* Server-side apply, with force or not. */
int api_apply(struct api *api, const char *user, const struct kind *k, const json_t *object,
              bool force, struct refusal *r);
/* `grace_s` -1: the kind's own. `uid` NULL: any incarnation. Background propagation. */
int api_delete(struct api *api, const char *user, const struct kind *k, const char *ns,
               const char *name, const char *uid, int grace_s, struct refusal *r);
/* As the eviction subresource does it: 429 where a PodDisruptionBudget is in the way. */
int api_evict(struct api *api, const char *user, const char *ns, const char *name,
              struct refusal *r);

/* Stores an object as it is, with its uid and times, like the restore of a backup: sets only its
 * version and checks nothing. Its name must be free. */
void api_restore(struct api *api, const struct kind *k, const json_t *object);

/* ---- history */

/* Forgets history up to a version: watches and exact lists from before it are answered 410. */
void api_compact(struct api *api, uint64_t rv);
/* Compacts like a control plane, but in smaller steps: it keeps the last `keep_ms`, and at most a
 * quarter more if it is called often. A control plane keeps up to twice as much, which would be
 * most of the memory of a small cluster. */
void api_forget_older(struct api *api, int64_t now_ms, int64_t keep_ms);
/* The number of commits that are kept for watches; older ones are forgotten by themselves. With
 * more than half as many objects it is twice their number, so that a list of all of them takes less
 * time than history lasts. A commit takes some 4 KB where equal parts are one tree. A real API
 * server keeps up to 102,400 events of each kind
 * (apiserver/pkg/storage/cacher/watch_cache.go, defaultUpperBoundCapacity). */
enum { API_HISTORY = 20000 };

/* ---- watches: pulled, so that whoever carries them decides when */
struct api_watch;
/* What api_watch_next() found. */
enum api_watch_news {
    API_WATCH_NOTHING, /* nothing new */
    API_WATCH_FRAME,   /* one event, as a line of JSON */
    /* history is compacted: a line with an ERROR event, 410; the stream ends after it */
    API_WATCH_GONE,
};
/* The next event of the watch; `ret` is borrowed until the next call for any watch of this api. */
enum api_watch_news api_watch_next(struct api_watch *w, const char **ret, size_t *ret_len);
/* A bookmark with the version that the watch has reached, as a line of JSON; borrowed as above.
 * NULL if the client did not ask for bookmarks. */
const char *api_watch_bookmark(struct api_watch *w, size_t *ret_len);
/* timeoutSeconds of the request in ms, or the server's own (30 to 60 minutes: the lower bound,
 * since nothing is random here). */
int64_t api_watch_timeout_ms(const struct api_watch *w);
/* Whether the watch would see this commit. */
bool api_watch_wants(const struct api_watch *w, const struct api_commit *c);
/* The kind that it watches. */
const struct kind *api_watch_kind(const struct api_watch *w);
/* The version up to which the watch has sent everything. */
uint64_t api_watch_rv(const struct api_watch *w);
/* Ends the watch. NULL has no effect. */
void api_watch_free(struct api_watch *w);

#endif
