/* A change of the container runtime's configuration that can be taken back: NVIDIA's program writes it, what comes of it is
 * judged before the runtime reads it, and where the runtime does not come back with it the old one is put back. */
#ifndef OSTLER_NODE_OPERAND_RUNTIME_CHANGE_H
#define OSTLER_NODE_OPERAND_RUNTIME_CHANGE_H

#include "base/err.h"
#include "node/operand/runtime.h"
#include "node/operand/runtime_proof.h"

/* A program of the machine that says what the runtime's configuration comes to: `containerd config dump`. */
struct runtime_dump {
    const char *root;  /* the folder that is its root; NULL: this one */
    char *const *argv; /* NULL: none is known, and nothing is judged before */
    const char *config; /* the file that the runtime was told to read; NULL: none, it reads its own */
};

struct runtime_change {
    char *const *program;     /* NVIDIA's; it reads the variables RUNTIME_… of this process */
    const char *wrapper;      /* the runtime's program that it has to leave; NULL: that is not looked for */
    const char *const *files; /* that it may change, NULL-terminated */
    const char *copies;       /* the file for their copies, until the change is proven */
    const char *refused;      /* the file that remembers, for `pod`, a change that was taken back after a restart */
    const char *pod;          /* whose container this is; NULL: nothing is remembered */
    const char *socket;       /* of the runtime that is restarted through it, after `program` has written and without it;
                                 NULL: it needs no restart, or `program` does that */
    const char *host;         /* where the machine's root folder is in this container; NULL: not here */
    const char *scratch;      /* a folder of this container's own disk: what is written below it goes with that */
    struct runtime_dump dump;
    struct runtime_times times;
    struct runtime_proof *proof; /* that containers start as before; NULL: not looked at */
};

/* How the message of a change that was taken back begins; it is the reason that Ostler reports. */
#define RUNTIME_CONFIG_FAILED "RuntimeConfigFailed"

/* Makes the change. Copies that an earlier process left are put back first: it did not live to see what came of its change.
 * Where the dump can be had, what loses a setting is put back before a restart: with RUNTIME_CONFIG_SOURCE=file the source
 * "command" is tried next, unless RUNTIME_CONFIG_SOURCES says which sources an administrator wants; the file is the one that
 * the runtime was started with, which must take in the drop-in (Flatcar: /usr/share/containerd/config.toml). Where it does not
 * come back, or containers do not start again, it goes back as well. A change that was taken back after the runtime restarted is
 * not tried again by the same pod: it would restart the runtime each time. An error whose message begins with
 * RUNTIME_CONFIG_FAILED: the configuration is the old one, or the message says that it could not be put back. Changes
 * variables of this process. */
int runtime_change(const struct runtime_change *c, struct err *e);
/* Has a runtime without a socket read its configuration, as NVIDIA's program restarts it (CRI-O: by systemd of the host). What
 * that writes itself goes to `scratch`, where nobody reads it. Changes variables of this process. */
int runtime_restart_by(char *const program[], const char *scratch, struct err *e);
/* Finds containerd's dump by the process that answers on a socket: its own program, in the root that it has, with the
 * configuration of its command line. `proc`: where the kernel shows processes, "/proc". NULL: it is no containerd, or cannot be
 * seen. Owned: free both with runtime_dump_free(). */
void runtime_dump_find(const char *proc, pid_t pid, struct runtime_dump *ret);
void runtime_dump_free(struct runtime_dump *dump);

#endif
