/* What the API server keeps: one table of objects for each kind, in the order of etcd's keys, and
 * the history of commits that made them. One counter of versions: every commit takes the next one,
 * so history has no gaps. Objects are shared and never change. */
#ifndef OSTLER_SIM_API_STORE_H
#define OSTLER_SIM_API_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "sim/api/api.h"

/* A key: "namespace/name", or "name" for what is in no namespace. Longer ones name nothing. */
enum { STORE_KEY_MAX = 512, STORE_UID_MAX = 37 };

struct entry {
    json_t *object;
    uint64_t rv;
    char key[];
};

struct kind_store {
    struct entry **entries; /* in order of their keys */
    size_t len, cap;
};

struct store {
    struct kind_store *tables; /* by kind_index() */
    uint64_t rv;               /* of the newest commit */
    uint64_t first; /* version of the oldest commit that is kept; rv + 1 when there is none */
    /* a ring from API_HISTORY on: the commit of a version is at version % cap */
    struct api_commit *commits;
    size_t cap;
    struct map users;        /* every user that has written, by name: interned */
    struct map incarnations; /* how often a key of a kind came to be: struct incarnation */
};

/* A store without objects. */
void store_init(struct store *s);
/* Frees all objects and their history. */
void store_clear(struct store *s);

/* Writes the key of an object; false when it is too long for any. `ns` may be NULL. */
bool store_key(const char *ns, const char *name, char ret[static STORE_KEY_MAX]);
/* The place of the first record at or after a key. */
size_t kind_store_find(const struct kind_store *t, const char *key);
/* NULL when there is none. Borrowed until the next commit. */
const struct entry *store_get(const struct store *s, const struct kind *k, const char *ns,
                              const char *name);
/* The table of a kind. Borrowed. */
const struct kind_store *store_of_kind(const struct store *s, const struct kind *k);

/* A uid for a new object; the n-th incarnation of a name has the same one in every life. */
void store_new_uid(struct store *s, const struct kind *k, const char *key,
                   char ret[static STORE_UID_MAX]);
/* A name for metadata.generateName that nothing has yet. Owned by the caller. */
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

/* Commits a write: `after` (NULL: the object goes) gets its resourceVersion and must not be shared,
 * nor its metadata. Borrowed until history forgets it. */
const struct api_commit *store_commit(struct store *s, const struct store_write *w,
                                      json_t *after_steal);

/* The commit of a version; NULL when it is forgotten or has not been. */
const struct api_commit *store_commit_at(const struct store *s, uint64_t rv);
/* Whether everything after a version is known, so that a watch or an exact list can start there. */
bool store_knows_since(const struct store *s, uint64_t rv);
/* Forgets the commits up to a version. */
void store_compact(struct store *s, uint64_t rv);
/* The objects of a kind at an older version that store_knows_since(), as records with borrowed
 * objects. store_snapshot_free() when done. */
struct kind_store *store_snapshot(const struct store *s, const struct kind *k, uint64_t rv);
/* Frees the table, not its objects. */
void store_snapshot_free(struct kind_store *t);

#endif
