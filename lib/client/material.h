/* What proves who we are and who the server is: certificates, keys, tokens. They stay in memory, and those that live in a file
 * are read again, since they are rotated under us. Their bytes are never logged. */
#ifndef OSTLER_CLIENT_MATERIAL_H
#define OSTLER_CLIENT_MATERIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum material_kind {
    MATERIAL_CA,          /* PEM: who may sign the server's certificate */
    MATERIAL_CERTIFICATE, /* PEM: the client's own */
    MATERIAL_KEY,         /* PEM: its private key */
    MATERIAL_TOKEN,       /* a bearer token */
    MATERIAL_COUNT
};

/* Zero-initialised = there is none. */
struct material {
    char *bytes; /* text without white space around it; NULL: none */
    size_t len;
    char *path; /* NULL: not from a file, never changes */
};

/* For messages: "token". Static text. */
const char *material_name(enum material_kind kind);
/* Takes text as it stands. */
int material_set(struct material *m, enum material_kind kind, const char *text, size_t len, struct err *e);
/* Takes base64, as the …-data fields of a kubeconfig hold it. */
int material_set_base64(struct material *m, enum material_kind kind, const char *base64, struct err *e);
/* Takes the content of a file and remembers the path. On failure a value that is there already is kept, and the path too, so that
 * a later material_reread() may succeed. */
int material_set_file(struct material *m, enum material_kind kind, const char *path, struct err *e);
/* Reads the file again, by its path, since volumes are swapped by links. Returns 1 when the bytes changed, 0 when not, -1 when
 * there was nothing good in the file: then the last good bytes stay. */
int material_reread(struct material *m, enum material_kind kind, struct err *e);
/* Wipes the bytes. */
void material_clear(struct material *m);

#endif
