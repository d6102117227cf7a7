/* The store of one resource: small records, projected from objects, newest wins. Who fills it: an informer (lists and watch) and
 * the executor (answers to our own writes, as if the watch had brought them). What a record holds is the projector's business. */
#ifndef OSTLER_RUNTIME_TABLE_H
#define OSTLER_RUNTIME_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "kube/record.h"

struct table_ops {
    /* Makes a record of an object; NULL when the object is of no interest. Must fill head.key and head.uid. */
    struct record *(*project)(void *arg, const json_t *object);
    /* Whether nothing that anybody looks at differs. */
    bool (*same)(void *arg, const struct record *a, const struct record *b);
    /* A record came (before NULL), changed, or went (after NULL). `before` is freed afterwards. */
    void (*changed)(void *arg, struct record *before, struct record *after);
    /* Frees the record with its head's key. */
    void (*free)(void *arg, struct record *r);
    void *arg;
};

struct table {
    struct table_ops ops;
    struct map records;
    uint64_t rv;       /* newest version that the watch has brought, bookmarks included */
    uint32_t list;     /* number of the current list */
    bool synced;       /* one whole list has come */
    bool keeps;        /* the current list drops nothing */
};

/* An empty table; the operations are copied. */
void table_init(struct table *t, const struct table_ops *ops);
/* Frees all records; nobody is told of it. */
void table_clear(struct table *t);
/* The record of a key, as record_key() has it; NULL: there is none. Borrowed until it changes. */
struct record *table_get(const struct table *t, const char *key);
/* A list begins: what it does not bring will be dropped at its end. */
void table_list_begin(struct table *t);
/* The list has brought an object. One that is older than what an answer of ours brought meanwhile changes nothing. */
void table_list_item(struct table *t, const json_t *object);
/* Whether anything is known of an object: of this incarnation, not of one of the same key before it. */
bool table_knows(const struct table *t, const char *key, const char *uid);
/* The list has brought an object that cannot be read: what is known of it stays. Whether anything is, as table_knows(). */
bool table_list_keep(struct table *t, const char *key, const char *uid);
/* The list has brought an object that cannot be read at all: it may be any, so this list drops none. */
void table_list_keep_all(struct table *t);
/* The list is whole, as of version `rv`. */
void table_list_end(struct table *t, uint64_t rv);
/* The watch brought an object, or its deletion. */
void table_event(struct table *t, const json_t *object, bool deleted);
/* The watch brought a bookmark. */
void table_bookmark(struct table *t, uint64_t rv);
/* An answer to a request of ours brought the object. Whether that was news to whoever looks at it. */
bool table_written(struct table *t, const json_t *object);
/* A list that nothing else follows, as of version `list_rv`, brought the object: also one of which nothing was kept when the
 * watch passed it, and would be by now. Whether that was news, or the list is older than what the watch has brought, so that
 * nobody knows whether the object is still there. */
bool table_listed(struct table *t, const json_t *object, uint64_t list_rv);

#endif
