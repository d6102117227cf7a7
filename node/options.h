/* The command line of ostler-node. */
#ifndef OSTLER_NODE_OPTIONS_H
#define OSTLER_NODE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/command_line.h"
#include "base/err.h"
#include "base/log.h"
#include "node/agent/ready_files.h"

enum node_command {
    NODE_COMMAND_LOOK,
    NODE_COMMAND_RUN,
    NODE_COMMAND_WAIT,
    NODE_COMMAND_CARDS,
    NODE_COMMAND_HOST_DRIVER,
    NODE_COMMAND_UNLOAD,
    NODE_COMMAND_COPY,
    NODE_COMMAND_START_DRIVER,
    NODE_COMMAND_PROBE_DRIVER,
    NODE_COMMAND_STOP_DRIVER,
    NODE_COMMAND_START_GDRCOPY,
    NODE_COMMAND_PROBE_GDRCOPY,
    NODE_COMMAND_INSTALL_COS_DRIVER,
    NODE_COMMAND_INSTALL_TOOLKIT,
    NODE_COMMAND_READY_TOOLKIT,
    NODE_COMMAND_REMOVE_TOOLKIT,
    NODE_COMMAND_IDLE,
    NODE_COMMAND_WRITE_CONFIG,
    NODE_COMMAND_PROOF,
    NODE_COMMAND_HELP,
    NODE_COMMAND_VERSION,
};

struct node_options {
    enum node_command command;
    /* mount point of the host's root directory; borrowed from argv, like all texts here */
    const char *root;
    enum output output; /* of look */
    /* of run, and for the log of cards */
    const char *node;       /* name of this node; default: $NODE_NAME */
    const char *kubeconfig; /* NULL: the pod's service account, or the usual places */
    enum log_level log_level;
    bool log_json;
    /* of wait, and of operands */
    /* of sign-toolkit: the driver's source; of operands: their revision */
    struct ready_target wish;
    int64_t timeout_ms;   /* 0: no limit */
    const char *pod;      /* uid of this pod; default: $POD_UID */
    const char *text;     /* of write-config: the contents */
    char *const *program; /* the program to start, with its arguments and a NULL */
    /* the destination file or directory; of cards NULL: standard output */
    const char *to;
};

extern const char ostler_node_version[];

/* Parses the command line; an error says which argument is wrong and what to do. */
int node_options_parse(int argc, char **argv, struct node_options *ret, struct err *e);
void node_options_help(void);

#endif
