/* The command line of ostler-node. */
#ifndef OSTLER_NODE_OPTIONS_H
#define OSTLER_NODE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/command_line.h"
#include "base/err.h"
#include "base/log.h"
#include "node/agent/ready_files.h"
#include "node/operand/reboot.h"
#include "node/operand/reset.h"

/* id, name, its arguments ("": none), help */
#define NODE_COMMANDS(X)                                                                           \
    X(LOOK, "look", "", "print the inventory of this machine")                                     \
    X(RUN, "run", "", "keep the inventory in the cluster's GpuNode up to date")                    \
    X(WAIT, "wait", "driver|toolkit",                                                              \
      "wait until the driver or toolkit is ready on the current boot")                             \
    X(CARDS, "cards", "",                                                                          \
      "print what the driver's library reports about its GPUs, or keep a file of it up to date")   \
    X(HOST_DRIVER, "host-driver", "", "fail if the host has its own driver")                       \
    X(UNLOAD, "unload", "", "unload modules that block a new driver")                              \
    X(COPY, "copy", "", "copy this program to where containers of other images find it")           \
    X(START_DRIVER, "start-driver", "PROGRAM [ARGUMENT…]",                                         \
      "remove the ready files of an earlier driver, then execute NVIDIA's program")                \
    X(PROBE_DRIVER, "probe-driver", "",                                                            \
      "write the driver's ready file if the driver is ready, else fail")                           \
    X(STOP_DRIVER, "stop-driver", "", "remove the ready file of this pod's driver")                \
    X(START_GDRCOPY, "start-gdrcopy", "PROGRAM [ARGUMENT…]",                                       \
      "wait until this pod's driver is ready, then execute NVIDIA's program")                      \
    X(PROBE_GDRCOPY, "probe-gdrcopy", "",                                                          \
      "create GDRCopy's device if its module is loaded, else fail")                                \
    X(INSTALL_COS_DRIVER, "install-cos-driver", "PROGRAM [ARGUMENT…]",                             \
      "execute Google's installer, unless a driver is loaded")                                     \
    X(INSTALL_TOOLKIT, "install-toolkit", "PROGRAM [ARGUMENT…]",                                   \
      "install the toolkit with NVIDIA's program")                                                 \
    X(READY_TOOLKIT, "sign-toolkit", "", "keep the toolkit's ready file until a signal")           \
    X(REMOVE_TOOLKIT, "remove-toolkit", "PROGRAM [ARGUMENT…]",                                     \
      "remove the toolkit from the runtime with NVIDIA's program")                                 \
    X(IDLE, "idle", "", "do nothing until a signal")                                               \
    X(WRITE_CONFIG, "write-config", "", "write a configuration to a file")                         \
    X(PROOF, "proof", "", "run a CUDA program, and print what it ran on")                          \
    X(RESET, "reset", "ADDRESS…", "reset GPUs whose driver is unloaded, by their PCI addresses")   \
    X(REBOOT, "reboot", "pod|sentinel",                                                            \
      "reboot this machine by a signal to systemd, or write the file that kured watches")          \
    X(HELP, "help", "", "print this help")                                                         \
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
    /* of look and run: "" for the kernel's log, or a file that stands in for it; NULL: none */
    const char *kernel_log;
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
    /* of reset */
    const char *gpus[RESET_GPUS_MAX]; /* PCI addresses, as given */
    size_t gpu_count;
    /* of reboot */
    enum reboot_way way;
    const char *boot; /* see struct reboot */
};

extern const char ostler_node_version[];

/* Parses the command line; an error says which argument is wrong and what to do. */
int node_options_parse(int argc, char **argv, struct node_options *ret, struct err *e);
void node_options_help(void);

#endif
