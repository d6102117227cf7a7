/* Credentials: certificates, keys and tokens of both sides. They stay in memory; those in files
 * are read again because other programs rotate them. Never log their bytes. */
#ifndef OSTLER_CLIENT_MATERIAL_H
#define OSTLER_CLIENT_MATERIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum material_kind {
    MATERIAL_CA,          /* PEM: authorities for the server's certificate */
    MATERIAL_CERTIFICATE, /* PEM: the client's certificate */
    MATERIAL_KEY,         /* PEM: its private key */
    MATERIAL_TOKEN,       /* a bearer token */
    MATERIAL_COUNT
};

/* Zero-initialised = none. */
struct material {
    char *bytes; /* text without surrounding white space; NULL: none */
    size_t len;
    char *path; /* NULL: not from a file, never changes */
};

/* The name in messages: "token". Static text. */
const char *material_name(enum material_kind kind);
/* Takes text as it is. */
int material_set(struct material *m, enum material_kind kind, const char *text, size_t len,
                 struct err *e);
/* Takes base64, the form of a kubeconfig's …-data fields. */
int material_set_base64(struct material *m, enum material_kind kind, const char *base64,
                        struct err *e);
/* Reads a file and remembers its path. A failure keeps an existing value, and the path, so that
 * a later material_reread() may succeed. */
int material_set_file(struct material *m, enum material_kind kind, const char *path, struct err *e);
/* Opens the path again, since a volume's update replaces links. Returns 1 if the bytes changed,
 * 0 if not, -1 if the file is unusable; then the last good bytes stay. */
int material_reread(struct material *m, enum material_kind kind, struct err *e);
/* Wipes the bytes. */
void material_clear(struct material *m);

#endif
