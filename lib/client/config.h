/* Which API server, and how to prove who we are: from the pod's surroundings or from a kubeconfig, read once. Credentials that
 * live in files are read again as they are rotated. */
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
    char *description;     /* for people: which context of which file, which server */
    char *namespace;       /* the pod's own or the context's; "default" when nothing says */
    char *user_agent;      /* "ostler", until config_call() */
    char *tls_server_name; /* the name in the server's certificate; NULL: its host */
    char *proxy_url;       /* NULL: none. May hold a password: never show it */
    bool insecure;         /* the server's certificate is not checked */
    bool compression;      /* large lists may come compressed */
    struct material materials[MATERIAL_COUNT];
    struct plugin *plugin; /* gives the materials; NULL: none */
    int64_t ran_at_ms;     /* when it was last started */
    int64_t renew_at_ms;   /* when to run it again; INT64_MAX: only when the server refuses what it gave */
    int64_t read_at_ms;      /* when files were last read again, INT64_MIN: at the next chance */
    unsigned tls_generation; /* grows when a certificate or key changed: older connections are not to be used */
};

/* From `kubeconfig` (the option; NULL: not given), else the files of $KUBECONFIG, else the pod that we run in, else
 * ~/.kube/config; a kubeconfig's server is reached through the environment's proxy, a pod's never. `context` is another one of
 * the kubeconfig than its current one (NULL: that); whoever names one does not mean the pod that we run in. On error *ret is as
 * it was, or empty. */
int config_load(const char *kubeconfig, const char *context, struct config *ret, struct err *e);
/* What the program calls itself to the server. */
void config_call(struct config *c, const char *program, const char *version);
/* From a pod's service account in `dir`, with the environment that the kubelet sets. */
int config_load_in_cluster(const char *dir, struct config *ret, struct err *e);
/* Takes what `plugin` gives; it is run to its end. */
int config_run_plugin(struct config *c, struct err *e);
/* Reads files of credentials again when the last time is long ago, and runs the plugin again before its credential ends. What
 * cannot be renewed is kept as it was, and logged. Does not wait. */
void config_refresh(struct config *c, int64_t now_ms);
/* The server refused what we showed, or we refused it: the next refresh renews, however short the last time is ago. */
void config_doubt(struct config *c);
/* The bearer token, NULL: none. Never sent unencrypted. */
const char *config_token(const struct config *c);
/* Frees all that it owns, and ends its plugin. One that is all zero owns nothing. */
void config_clear(struct config *c);

#endif
