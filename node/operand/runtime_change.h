/* Changes the container runtime's configuration and can roll the change back. NVIDIA's program
 * writes it, Ostler checks the result before the runtime reads it, and restores the old one if the
 * runtime does not come back. */
#ifndef OSTLER_NODE_OPERAND_RUNTIME_CHANGE_H
#define OSTLER_NODE_OPERAND_RUNTIME_CHANGE_H

#include "base/arena.h"
#include "base/err.h"
#include "node/operand/runtime.h"
#include "node/operand/runtime_proof.h"

/* How to print the runtime's effective configuration: `containerd config dump`. */
struct runtime_dump {
    const char *root;  /* its root directory; NULL: this one */
    char *const *argv; /* NULL: not known, and nothing is checked in advance */
    /* the file in the runtime's command line; NULL: none, so it reads its default */
    const char *config;
    struct arena arena; /* may own all of these */
};

struct runtime_change {
    char *const *program;     /* NVIDIA's program; it reads the environment variables RUNTIME_… */
    const char *wrapper;      /* the runtime program that it must install; NULL: not checked */
    const char *const *files; /* files that it may change, NULL-terminated */
    const char *copies;       /* file for copies of those, until the change is validated */
    /* file that remembers, for `pod`, a change that was rolled back after a restart */
    const char *refused;
    const char *pod; /* this container's pod; NULL: nothing is remembered */
    /* Ostler restarts the runtime through it after `program`; NULL: the runtime needs no restart,
     * or `program` restarts it */
    const char *socket;
    const char *host; /* where the machine's root directory is mounted; NULL: not mounted */
    /* a directory on this container's own disk, which is lost with the container */
    const char *scratch;
    struct runtime_dump dump;
    struct runtime_times times;
    struct runtime_proof *proof; /* checks that containers start as before; NULL: not checked */
};

/* First word of the message of a rolled-back change, and the reason that Ostler reports. */
#define RUNTIME_CONFIG_FAILED "RuntimeConfigFailed"

/* Makes the change. First restores copies that an earlier process left, because it died before its
 * change was validated.
 *
 * If a dump is available, a change that loses a setting is reverted before a restart. With
 * RUNTIME_CONFIG_SOURCE=file it then tries the source "command", unless an admin sets the sources
 * in RUNTIME_CONFIG_SOURCES. The file is the one that the runtime was started with, which must
 * import the drop-in (Flatcar: /usr/share/containerd/config.toml). If the runtime does not come
 * back, or containers do not start, the change is rolled back.
 *
 * The same pod does not retry a change that was rolled back after a restart, because each try would
 * restart the runtime. If the error starts with RUNTIME_CONFIG_FAILED, the old configuration is
 * back, or the message says that it could not be restored. Changes environment variables of this
 * process. */
int runtime_change(const struct runtime_change *c, struct err *e);
/* Makes a runtime without a socket reload: NVIDIA's program restarts it (CRI-O: through the host's
 * systemd). The files that the program writes go to `scratch`, where no runtime reads them. Changes
 * environment variables of this process. */
int runtime_restart_by(char *const program[], const char *scratch, struct err *e);
/* Finds how to dump the configuration of the containerd process `pid`: its own program, in its
 * root, with the configuration of its command line. `proc`: "/proc". `argv` is NULL if it is not
 * containerd or cannot be inspected. Free the result with runtime_dump_free(). */
void runtime_dump_find(const char *proc, pid_t pid, struct runtime_dump *ret);
void runtime_dump_free(struct runtime_dump *dump);

#endif
