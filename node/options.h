/* The command line of ostler-node. */
#ifndef OSTLER_NODE_OPTIONS_H
#define OSTLER_NODE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/command_line.h"
#include "base/err.h"
#include "base/log.h"
#include "node/agent/ready_files.h"

/* id, name, its arguments ("": none), help */
#define NODE_COMMANDS(X)                                                                           \
    X(LOOK, "look", "", "print what this machine is, as a GPU node")                               \
    X(RUN, "run", "", "keep that up to date in the cluster, as the inventory of a GpuNode")        \
    X(WAIT, "wait", "driver|toolkit", "end when it is ready on this start of the machine")         \
    X(CARDS, "cards", "",                                                                          \
      "print what the driver's library reports of its GPUs, or keep it in a file")                 \
    X(HOST_DRIVER, "host-driver", "", "fail when the host has a driver of its own")                \
    X(UNLOAD, "unload", "", "take out what a driver cannot have beside it")                        \
    X(COPY, "copy", "", "put this program where containers of other images have it")               \
    X(START_DRIVER, "start-driver", "PROGRAM [ARGUMENT…]",                                         \
      "become NVIDIA's program, without the ready files of an earlier one")                        \
    X(PROBE_DRIVER, "probe-driver", "",                                                            \
      "write the driver's ready file when it is ready, else fail")                                 \
    X(STOP_DRIVER, "stop-driver", "", "remove the ready file of this pod's driver")                \
    X(START_GDRCOPY, "start-gdrcopy", "PROGRAM [ARGUMENT…]",                                       \
      "become NVIDIA's program when the driver of this pod is ready")                              \
    X(PROBE_GDRCOPY, "probe-gdrcopy", "",                                                          \
      "make the device of GDRCopy when its module is loaded, else fail")                           \
    X(INSTALL_COS_DRIVER, "install-cos-driver", "PROGRAM [ARGUMENT…]",                             \
      "become Google's installer, unless a driver is loaded")                                      \
    X(INSTALL_TOOLKIT, "install-toolkit", "PROGRAM [ARGUMENT…]",                                   \
      "have NVIDIA's program install the toolkit")                                                 \
    X(READY_TOOLKIT, "sign-toolkit", "", "keep the toolkit's ready file until told to stop")       \
    X(REMOVE_TOOLKIT, "remove-toolkit", "PROGRAM [ARGUMENT…]",                                     \
      "have it take the toolkit out of the runtime")                                               \
    X(IDLE, "idle", "", "do nothing until told to stop")                                           \
    X(WRITE_CONFIG, "write-config", "", "write a configuration into a file")                       \
    X(PROOF, "proof", "", "run a CUDA program, and say what it ran on")                            \
    X(HELP, "help", "", "print this")                                                              \
    X(VERSION, "version", "", "print the version")

enum node_command {
#define X(id, ...) NODE_COMMAND_##id,
    NODE_COMMANDS(X)
#undef X
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
