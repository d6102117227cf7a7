/* The store: one table of objects for each kind, in the order of etcd's keys, and the history of
 * commits. Every commit takes the next version of one counter, so history has no gaps. Objects are
 * shared and never change. */
#ifndef OSTLER_SIM_API_STORE_H
#define OSTLER_SIM_API_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "sim/api/api.h"

/* A key: "namespace/name", or "name" for cluster-scoped objects. No object has a longer one. */
enum { STORE_KEY_MAX = 512, STORE_UID_MAX = 37 };

struct entry {
    json_t *object;
    char key[];
};

struct kind_store {
    struct entry **entries; /* in order of their keys */
    size_t len, cap;
};

/* A kind at an older version. */
struct store_view {
    struct kind_store *table; /* NULL: none */
    const struct kind *kind;
    uint64_t rv;
};

struct store {
    struct kind_store *tables; /* by kind_index() */
    uint64_t rv;               /* of the newest commit */
    uint64_t first;            /* version of the oldest kept commit; rv + 1 if there is none */
    size_t objects;            /* of all kinds but Events */
    /* a ring once it has enough: the commit of a version is at version % cap */
    struct api_commit *commits;
    size_t cap;
    struct store_view seen;  /* the last that store_at() made */
    struct map users;        /* every user that has written, by name: interned */
    bool shares;             /* equal parts of objects are one tree (share.h) */
    struct map parts;        /* such parts */
    struct map incarnations; /* how often an object with a key was created: struct incarnation */
};

/* A store without objects. */
void store_init(struct store *s);
/* Frees all objects and their history. */
void store_clear(struct store *s);

/* Writes the key of an object; false if it is too long. `ns` may be NULL. */
bool store_key(const char *ns, const char *name, char ret[static STORE_KEY_MAX]);
/* The place of the first record at or after a key. */
size_t kind_store_find(const struct kind_store *t, const char *key);
/* The record of an object, or NULL. Borrowed until the next commit. */
const struct entry *store_get(const struct store *s, const struct kind *k, const char *ns,
                              const char *name);
/* The table of a kind. Borrowed. */
const struct kind_store *store_of_kind(const struct store *s, const struct kind *k);

/* A uid for a new object; the n-th object of a name has the same uid in every run, but for Events,
 * whose uid comes from the version. */
void store_new_uid(struct store *s, const struct kind *k, const char *key,
                   char ret[static STORE_UID_MAX]);
/* A free name for metadata.generateName. Owned by the caller. */
char *store_generate_name(struct store *s, const struct kind *k, const char *ns, const char *base);

/* What a commit is made of. */
struct store_write {
    const struct kind *kind;
    const char *ns;
    const char *name;
    const char *user;
    const char *subresource; /* static text */
    enum api_verb verb;
};

/* Commits a write and sets the resourceVersion of `after` (NULL: removes the object), which must
 * not be shared, nor its metadata. Borrowed until history forgets it. */
const struct api_commit *store_commit(struct store *s, const struct store_write *w,
                                      json_t *after_steal);

/* The commit of a version; NULL if it is forgotten or in the future. */
const struct api_commit *store_commit_at(const struct store *s, uint64_t rv);
/* Whether history has everything after a version, so that a watch or an exact list can start there.
 */
bool store_knows_since(const struct store *s, uint64_t rv);
/* Forgets the commits up to a version. */
void store_compact(struct store *s, uint64_t rv);
/* Whether objects of a kind were written after a version, of which the history is kept. */
bool store_changed_since(const struct store *s, const struct kind *k, uint64_t rv);
/* The objects of a kind at an older version; history must reach back to it (store_knows_since()).
 * The pages of a list share it. Borrowed until the next call, or until history forgets it. */
const struct kind_store *store_at(struct store *s, const struct kind *k, uint64_t rv);

#endif
