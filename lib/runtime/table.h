/* The store of one resource: small records, projected from objects; the newest version wins. An
 * informer fills it (lists and watch), and so does the executor (responses to our own writes).
 * The projector decides what a record holds. */
#ifndef OSTLER_RUNTIME_TABLE_H
#define OSTLER_RUNTIME_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "kube/frame.h"
#include "kube/record.h"

struct table_ops {
    /* Makes a record of an object; NULL if the object is irrelevant. Must fill head.key and
     * head.uid. */
    struct record *(*project)(void *arg, const json_t *object);
    /* Whether two records have no relevant difference. */
    bool (*same)(void *arg, const struct record *a, const struct record *b);
    /* A record was added (before NULL), changed or removed (after NULL). `before` is freed
     * afterwards. */
    void (*changed)(void *arg, struct record *before, struct record *after);
    /* Frees the record and its key. */
    void (*free)(void *arg, struct record *r);
    void *arg;
};

/* What a text tells about an object. */
struct table_reading {
    struct record *record;   /* with its version; NULL: it has none */
    char key[FRAME_KEY_MAX]; /* as record_key() */
};

struct table {
    struct table_ops ops;
    /* Where a record keeps the hash of its object's text (frame.h), zeros in a new record. NULL: it
     * keeps none, and each event is parsed. Only for records that follow from the object's text and
     * the record before. */
    struct frame_hash *(*hash_of)(struct record *r);
    /* With hash_of: the record of an object of which only the labels differ from that of a held
     * one. It gets the argument of `ops`, and so does the next. */
    struct record *(*relabelled)(void *arg, const struct record *held, const json_t *labels);
    /* Whether an object, or a watch event of it, may have a record, told from its text; NULL: each
     * is parsed. */
    bool (*matters)(void *arg, const char *text, size_t len);
    /* What the whole text of a list's object tells about its record; false: the object must be
     * parsed. NULL: each is. */
    bool (*read)(void *arg, const char *text, size_t len, struct table_reading *ret);
    struct map records;
    uint64_t rv;   /* newest version from the watch, including bookmarks */
    uint32_t list; /* number of the current list */
    bool synced;   /* one list is complete */
    bool keeps;    /* the current list removes no records */
};

/* Makes an empty table; copies the operations. */
void table_init(struct table *t, const struct table_ops *ops);
/* Frees all records without calling `changed`. */
void table_clear(struct table *t);
/* The record of a key (see record_key()), or NULL. Borrowed until it changes. */
struct record *table_get(const struct table *t, const char *key);
/* Starts a list: its end removes the records that it does not contain. */
void table_list_begin(struct table *t);
/* The list contains an object. A version older than a response to our own write since the start
 * has no effect. */
void table_list_item(struct table *t, const json_t *object);
/* Whether the table has a record of this incarnation of an object, not of an earlier one with
 * the same key. */
bool table_knows(const struct table *t, const char *key, const char *uid);
/* The list contains an unreadable object: its record stays. Returns table_knows(). */
bool table_list_keep(struct table *t, const char *key, const char *uid);
/* The list contains an object with unreadable identity: it may be any object, so this list
 * removes no records. */
void table_list_keep_all(struct table *t);
/* Whether a list's object has no record and gets none: there is nothing to do. */
bool table_list_passes(const struct table *t, const char *text, size_t len);
/* The same as table_list_item() for the whole text of an object; false: it must be parsed. */
bool table_list_text(struct table *t, const char *text, size_t len);
/* The list is complete, at version `rv`. */
void table_list_end(struct table *t, uint64_t rv);
/* A watch event: an object or its deletion. */
void table_event(struct table *t, const json_t *object, bool deleted);
/* A watch event of an object that has no record and gets none. Returns whether it is; it is then
 * taken, and its version is in `ret_rv`. */
bool table_event_passes(struct table *t, const char *text, size_t len,
                        char ret_rv[static FRAME_RV_MAX]);
/* A watch event whose text differs only in its version from one that the record follows from.
 * Returns whether it is; it is then taken. */
bool table_event_repeats(struct table *t, const struct frame *f);
/* A watch event whose text differs only in its version and its labels from one that the record
 * follows from. Returns whether it is, and the labels can be read; it is then taken. */
bool table_event_relabels(struct table *t, const struct frame *f);
/* The record follows from this text, if it is of its version. */
void table_event_hash(struct table *t, const struct frame *f);
/* A bookmark of the watch. */
void table_bookmark(struct table *t, uint64_t rv);
/* The object in a response to our own request. Returns whether it was news to a reader of the
 * store. */
bool table_written(struct table *t, const json_t *object);
/* An object from a one-off list of version `list_rv`; it also adds an object that the projector
 * ignored when the watch passed it. Returns whether it was news, or whether the list is older
 * than the watch, so that the object may no longer exist. */
bool table_listed(struct table *t, const json_t *object, uint64_t list_rv);

#endif
