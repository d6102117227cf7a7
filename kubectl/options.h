/* The plugin's command line: one table of commands and one of options, which also generate help
 * and completions. */
#ifndef OSTLER_KUBECTL_OPTIONS_H
#define OSTLER_KUBECTL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* id, name, its arguments ("": none), help */
#define GPU_COMMANDS(X)                                                                            \
    X(STATUS, "status", "", "overview: policy, nodes, rollout, stuck nodes and what to do first")  \
    X(NODES, "nodes", "[NODE…]", "GPU nodes and their states")                                     \
    X(EXPLAIN, "explain", "NODE", "history of a node, what it waits for, what happens next")       \
    X(PLAN, "plan", "",                                                                            \
      "what a policy would do, wave by wave; -f FILE: a policy that is not applied yet")           \
    X(EVENTS, "events", "[NODE…]", "events of policy, nodes and operands; the newest last")        \
    X(PAUSE, "pause", "", "start no further upgrades")                                             \
    X(RESUME, "resume", "", "continue upgrades")                                                   \
    X(APPROVE, "approve", "[HASH]", "approve the plan that waits for approval")                    \
    X(HOLD, "hold", "NODE…", "exclude nodes from upgrades")                                        \
    X(RELEASE, "release", "NODE…", "include held nodes in upgrades again")                         \
    X(REPAIR, "repair", "NODE", "ask for a repair of a node's GPUs now; --cancel takes it back")   \
    X(IGNORE, "ignore", "NODE", "do nothing about a fault of a node's GPUs; --undo takes it back") \
    X(PAGE, "page", "", "open the live page of the fleet in a browser, until Ctrl-C")              \
    X(BUNDLE, "bundle", "", "write a support bundle without secrets")                              \
    X(COMPLETION, "completion", "SHELL",                                                           \
      "print a completion script: kubectl for `kubectl gpu`; bash, zsh, fish for `kubectl-gpu`")   \
    X(HELP, "help", "[COMMAND]", "print this help, or that of a command")                          \
    X(VERSION, "version", "", "print the version")                                                 \
    X(COMPLETE, "__complete", "[WORD…]", "")

enum gpu_command {
#define X(id, ...) GPU_##id,
    GPU_COMMANDS(X)
#undef X
        GPU_COMMAND_COUNT
};

/* The output format. */
enum gpu_output { SHOW_TEXT, SHOW_WIDE, SHOW_JSON, SHOW_YAML, SHOW_COUNT };

/* All strings are borrowed from argv, or static. */
struct gpu_options {
    enum gpu_command command;
    enum gpu_command explained; /* help: the command; GPU_COMMAND_COUNT: all of them */
    const char *kubeconfig;     /* NULL: $KUBECONFIG, the pod, ~/.kube/config */
    const char *context;        /* NULL: the current context */
    const char *namespace;      /* Ostler's own; NULL: discovered, else OSTLER_NAMESPACE */
    const char *operand_namespace;
    const char *image_prefixes; /* plan: as in `ostler plan`; NULL: the defaults */
    const char *settings;
    const char *install_dirs;
    bool control_plane;
    bool repairs;
    const char *file;  /* plan: a policy; bundle: the output */
    const char *state; /* nodes: only this state; NULL: all */
    int64_t request_timeout_ms;
    int64_t since_ms; /* events: how far back; 0: all */
    enum gpu_output output;
    bool watch;
    bool dry_run;
    bool yes;          /* repair: do it */
    bool undo;         /* repair, ignore: take it back */
    const char *fault; /* ignore: the fault's reason, or "all"; NULL: not given */
    bool simulate;
    bool no_colour;
    bool no_browser;    /* page: only print the address */
    int64_t port;       /* page: on this machine; 0: a free one */
    char *const *names; /* the command's arguments */
    size_t name_count;
};

/* Parses the command line; the error names the argument and says what to do. It sorts argv:
 * options, then names. */
int gpu_options_parse(int argc, char **argv, struct gpu_options *ret, struct err *e);
/* Prints the help of a command (GPU_COMMAND_COUNT: the whole help). */
void gpu_options_help(FILE *out, enum gpu_command command);
/* Prints commands, or options of a command (GPU_COMMAND_COUNT: not known yet), that begin with
 * `word`, one per line. */
void gpu_options_complete_command(const char *word);
void gpu_options_complete_option(enum gpu_command command, const char *word);
/* The command with a name, or GPU_COMMAND_COUNT. */
enum gpu_command gpu_command_of(const char *name);
/* Whether an option takes the next word as its value, and whether that is a file. */
bool gpu_option_takes_value(const char *name);
bool gpu_option_takes_file(const char *name);
/* "wide". Static text. */
const char *gpu_output_name(enum gpu_output output);
/* Why a command does not support an output; NULL: it does. Static text. */
const char *gpu_output_refused(enum gpu_command command, enum gpu_output output, bool watch);

#endif
