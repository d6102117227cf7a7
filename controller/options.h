/* The command line: one table of options, which also prints the help. */
#ifndef OSTLER_OPTIONS_H
#define OSTLER_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>

#include "base/command_line.h"
#include "base/err.h"
#include "base/log.h"
#include "controller/engine/engine.h"

enum command { COMMAND_RUN, COMMAND_RENDER, COMMAND_VALIDATE, COMMAND_PLAN, COMMAND_CLEANUP, COMMAND_INSTALL_CRDS,
               COMMAND_HELP, COMMAND_VERSION };

/* All strings are borrowed from argv, or static. */
struct options {
    const char *called;            /* what its sentences on stderr begin with */
    enum command command;
    const char *kubeconfig;        /* NULL: $KUBECONFIG, the pod, ~/.kube/config */
    const char *context;           /* of the kubeconfig; NULL: its current one */
    const char *namespace;         /* where the Lease is; NULL: the pod's own, else ostler-system */
    const char *operand_namespace;
    const char *listen;            /* "" : no server */
    struct policy_limits limits;   /* of the policy */
    const char *agent_image;       /* NULL: the node agent runs nowhere */
    const char *node_name;         /* NULL or "": not known */
    const char *file;              /* -f */
    const char *node_file;         /* --node */
    int64_t absent_policy_grace_ms;
    int64_t request_timeout_ms;    /* plan: the most that one request may take; 0: each its own time */
    enum output output;            /* plan */
    bool simulate;
    int64_t driver_takes_ms;                /* with simulate: how long a driver installs; -1: not said */
    int64_t pull_takes_ms;                  /* the same: how long an image is pulled */
    int64_t jobs_end_after_ms;              /* the same: how long each job still runs; 0: it does not end */
    int64_t simulated_ms;                   /* the same: the most that is simulated */
    struct cleanup_wishes wishes;           /* cleanup; its timeout_ms install-crds, too */
    const char *from;                       /* install-crds: a folder */
    bool leader_elect;
    bool log_json;
    enum log_level log_level;
};

/* The version of this build. */
extern const char ostler_version[];

/* Reads the command line; on error the message says which argument and what to do. */
int options_parse(int argc, char **argv, struct options *ret, struct err *e);
/* The whole help. */
void options_help(FILE *out);

#endif
