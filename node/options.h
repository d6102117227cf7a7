/* The command line of ostler-node. */
#ifndef OSTLER_NODE_OPTIONS_H
#define OSTLER_NODE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "node/agent/signs.h"

enum node_command {
    NODE_COMMAND_LOOK,
    NODE_COMMAND_RUN,
    NODE_COMMAND_WAIT,
    NODE_COMMAND_CARDS,
    NODE_COMMAND_HELP,
    NODE_COMMAND_VERSION,
};

/* How an inventory is printed. */
enum node_output { NODE_OUTPUT_TEXT, NODE_OUTPUT_JSON, NODE_OUTPUT_YAML };

struct node_options {
    enum node_command command;
    const char *root; /* where the host's root folder is mounted; borrowed from argv, as all texts here */
    enum node_output output;
    /* of run, and the log of cards */
    const char *node;       /* the name of this one; default: $NODE_NAME */
    const char *kubeconfig; /* NULL: the pod that it runs in, or as everywhere */
    enum log_level log_level;
    bool log_json;
    /* of wait */
    struct sign_wish wish;
    int64_t timeout_ms; /* 0: as long as it takes */
    /* of cards */
    const char *to; /* the file in which it is kept; NULL: it is printed */
};

/* The version of this build. */
extern const char ostler_node_version[];

/* Reads the command line; on error the message says which argument and what to do. */
int node_options_parse(int argc, char **argv, struct node_options *ret, struct err *e);
/* The whole help, on standard output. */
void node_options_help(void);

#endif
