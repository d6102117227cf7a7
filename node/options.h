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
    const char *root; /* where the host's root folder is mounted; borrowed from argv, as all texts here */
    enum output output; /* of look */
    /* of run, and the log of cards */
    const char *node;       /* the name of this one; default: $NODE_NAME */
    const char *kubeconfig; /* NULL: the pod that it runs in, or as everywhere */
    enum log_level log_level;
    bool log_json;
    /* of wait, and of operands */
    struct ready_target wish; /* of sign-toolkit its source, of operands their own revision */
    int64_t timeout_ms;    /* 0: as long as it takes */
    const char *pod;       /* the uid of the pod that it runs in; default: $POD_UID */
    const char *text;      /* of write-config: what to write */
    char *const *program;  /* what is to be started, with its arguments and a NULL */
    /* the file or folder into which something is put; of cards NULL: it is printed */
    const char *to;
};

/* The version of this build. */
extern const char ostler_node_version[];

/* Reads the command line; on error the message says which argument and what to do. */
int node_options_parse(int argc, char **argv, struct node_options *ret, struct err *e);
/* The whole help, on standard output. */
void node_options_help(void);

#endif
