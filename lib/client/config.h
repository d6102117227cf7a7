/* The API server's address and the client's credentials. Credentials in files are read again as
 * they are rotated. */
#ifndef OSTLER_CLIENT_CONFIG_H
#define OSTLER_CLIENT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "client/endpoint.h"
#include "client/material.h"

struct plugin;

/* All strings are owned. */
struct config {
    struct endpoint server;
    char *description;     /* for users: the context and its file, the server */
    char *namespace;       /* the pod's or the context's; else "default" */
    char *user_agent;      /* NULL: "ostler" */
    char *tls_server_name; /* the name in the server's certificate; NULL: the host */
    char *proxy_url;       /* NULL: none. It may contain a password: never show it */
    bool insecure;         /* does not verify the server's certificate */
    bool compression;      /* accepts compressed lists */
    struct material materials[MATERIAL_COUNT];
    struct plugin *plugin; /* supplies the materials; NULL: none */
    int64_t ran_at_ms;     /* last start of the plugin */
    int64_t renew_at_ms;   /* next start; INT64_MAX: only if the server rejects its credential */
    int64_t reread_at_ms;  /* next read of the files */
    /* counts changes of certificate or key: older connections are not reused */
    unsigned tls_generation;
};

/* Runs `plugin` to its end and takes its credential. */
int config_run_plugin(struct config *c, struct err *e);
/* Reads credential files again if the last read is long ago, and runs the plugin before its
 * credential expires. Keeps and logs what it cannot renew. Does not wait. */
void config_refresh(struct config *c, int64_t now_ms);
/* The server rejected our credentials, or we rejected the server's certificate. The next refresh
 * reads the files at once, and runs the plugin after its pause. */
void config_doubt(struct config *c);
/* The bearer token, NULL: none. Never sent unencrypted. */
const char *config_token(const struct config *c);
/* Frees all members and stops the plugin. A zeroed struct is valid. */
void config_clear(struct config *c);

#endif
