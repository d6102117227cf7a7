/* Writes a kubeconfig for one user of the simulated cluster. */
#ifndef OSTLER_SIM_KUBECONFIG_H
#define OSTLER_SIM_KUBECONFIG_H

#include "base/err.h"

struct kubeconfig {
    const char *server;      /* "https://127.0.0.1:40123" */
    const char *certificate; /* PEM, of the CA */
    const char *user;        /* name within the file */
    const char *token;
};

/* Writes the file atomically, readable only by its owner (0600). */
int kubeconfig_write(const char *path, const struct kubeconfig *k, struct err *e);

#endif
