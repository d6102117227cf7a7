/* The head of every record that the store keeps of an object. */
#ifndef OSTLER_KUBE_RECORD_H
#define OSTLER_KUBE_RECORD_H

#include <jansson.h>
#include <stdint.h>

enum { RECORD_UID_MAX = 40 };

/* The projector fills key and uid; the table the rest. */
struct record {
    char *key;     /* "name" or "namespace/name"; owned */
    uint64_t rv;   /* resourceVersion; 0: not comparable */
    uint32_t seen; /* number of the list that had it last */
    /* Number of the list that was the last one, under way or whole, when a write of ours brought it; 0: none did. */
    uint32_t written;
    char uid[RECORD_UID_MAX];
};

/* The key of an object's record, "namespace/name" or "name"; owned by the caller. Every projector takes it from here: a record
 * under another key is never found again. */
char *record_key(const json_t *object);
/* The name in a record's key. Borrowed. */
const char *record_name(const char *key);
/* The namespace in a key that has one; `ret_name` is then the name, and as long there. Owned by the caller. */
char *record_namespace(const char *key, const char **ret_name);

#endif
