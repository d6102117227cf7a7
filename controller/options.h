/* The command line of `ostler`: one table of options, which also generates the help. */
#ifndef OSTLER_OPTIONS_H
#define OSTLER_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>

#include "base/command_line.h"
#include "base/err.h"
#include "base/log.h"
#include "controller/engine/engine.h"

enum command {
    COMMAND_RUN,
    COMMAND_RENDER,
    COMMAND_VALIDATE,
    COMMAND_PLAN,
    COMMAND_CLEANUP,
    COMMAND_INSTALL_CRDS,
    COMMAND_DEMO,
    COMMAND_HELP,
    COMMAND_VERSION
};

/* All strings are borrowed from argv, or static. */
struct options {
    const char *called; /* the prefix of messages on stderr */
    enum command command;
    const char *kubeconfig; /* NULL: $KUBECONFIG, the pod, ~/.kube/config */
    const char *context;    /* of the kubeconfig; NULL: the current one */
    const char *namespace;  /* of the Lease; NULL: the pod's own, else ostler-system */
    const char *operand_namespace;
    const char *listen;       /* "": no server */
    const char *fleet_listen; /* "": no fleet page */
    const char *fleet_hosts;
    struct policy_limits limits; /* for the policy */
    const char *agent_image;     /* NULL: no node agents */
    const char *node_name;       /* NULL or "": unknown */
    const char *file;            /* -f */
    const char *node_file;       /* --node */
    int64_t absent_policy_grace_ms;
    int64_t request_timeout_ms; /* plan: most for one request; 0: each has its own */
    enum output output;         /* plan */
    bool simulate;
    int64_t driver_takes_ms;      /* with simulate: how long a driver installs; -1: not given */
    int64_t pull_takes_ms;        /* with simulate: how long an image pull takes */
    int64_t jobs_end_after_ms;    /* with simulate: how long each job still runs; 0: for ever */
    int64_t simulated_ms;         /* with simulate: most simulated time */
    struct cleanup_wishes wishes; /* cleanup; install-crds uses its timeout_ms */
    const char *from;             /* install-crds: a directory */
    bool leader_elect;
    bool log_json;
    enum log_level log_level;
};

/* The version of this build. */
extern const char ostler_version[];

/* Parses the command line; the error names the argument and says what to do. */
int options_parse(int argc, char **argv, struct options *ret, struct err *e);
/* Prints the whole help. */
void options_help(FILE *out);

#endif
