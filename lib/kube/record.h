/* The common head of each record in the store. */
#ifndef OSTLER_KUBE_RECORD_H
#define OSTLER_KUBE_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RECORD_UID_MAX = 40, /* a uid as text, with the NUL; longer ones are cut */
    RECORD_UID_BYTES = 16,
};

/* The projector fills key and uid; the table fills the rest. */
struct record {
    char *key;     /* "name" or "namespace/name"; in the same block, after the record */
    uint64_t rv;   /* resourceVersion; 0: not comparable */
    uint32_t seen; /* number of the last list that contained it */
    /* Number of the last list (complete or not) when our own write brought the record; 0: no
     * write did. */
    uint32_t written;
    /* Read it through record_uid(). API servers give UUIDs, of which this has the 16 bytes. It is a
     * text otherwise, if one of this length fits; a longer one is in the same block, after the key.
     */
    uint8_t uid[RECORD_UID_BYTES];
};

/* The key of an object's record, "namespace/name" or "name"; owned by the caller. Every
 * projector must use it: otherwise the record is never found. */
char *record_key(const json_t *object);
/* A zeroed record of so many bytes, which begins with a struct record, with the key and the uid of
 * an object. */
void *record_new(size_t size, const json_t *object);
/* The same for an object with this key and uid. */
void *record_named(size_t size, const char *key, const char *uid);
/* A copy of a record of record_new(), of the same size. */
void *record_copy(const void *record, size_t size);
/* The uid as text: in `text`, or borrowed from the record. "": it has none. */
const char *record_uid(const struct record *r, char text[static RECORD_UID_MAX]);
/* The same, valid until the end of the enclosing block. */
#define RECORD_UID(r) record_uid((r), (char[RECORD_UID_MAX]){ 0 })
/* Whether two records of a key are of the same incarnation of the object. */
bool record_same_uid(const struct record *a, const struct record *b);
/* Frees a record of record_new() with its key. */
void record_free(void *record);
/* The name in a key. Borrowed. */
const char *record_name(const char *key);
/* The namespace in a key that has one; `ret_name` is then the name, borrowed from the key. Owned
 * by the caller. */
char *record_namespace(const char *key, const char **ret_name);

#endif
