/* Which labels of nodes were asked for. A node's pass that never asked for a label has the same
 * result with another value of it, so a node of which only such labels change needs no new pass. */
#ifndef OSTLER_RECONCILERS_MODEL_LABEL_READS_H
#define OSTLER_RECONCILERS_MODEL_LABEL_READS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"

/* More keys than policies, DaemonSets and marks name; beyond that every label counts as read. */
enum { LABEL_READS_MAX = 1024 };

/* Zero-initialised: none was. */
struct label_reads {
    struct map keys;
};

/* A label is asked for. Without `r` nothing happens. */
void label_reads_note(struct label_reads *r, const char *key);
/* Whether a label was ever asked for; its key has so many bytes. */
bool label_reads_have(const struct label_reads *r, const char *key, size_t len);
/* Frees the keys. */
void label_reads_clear(struct label_reads *r);

#endif
