/* `ostler-node reboot`: reboots the machine, or asks another program of the cluster to do so. */
#ifndef OSTLER_NODE_OPERAND_REBOOT_H
#define OSTLER_NODE_OPERAND_REBOOT_H

#include <sys/types.h>

#include "base/err.h"
#include "node/inventory/root.h"

/* The sentinel that kured watches unless it is configured otherwise (its --reboot-sentinel), as
 * Debian's and Ubuntu's packages write it. */
#define REBOOT_SENTINEL "var/run/reboot-required"

/* Length of a boot's hash, without a NUL. */
enum { REBOOT_BOOT_LEN = 16 };

enum reboot_way {
    REBOOT_BY_INIT,     /* a signal to process 1: the container has the host's processes */
    REBOOT_BY_SENTINEL, /* the sentinel: another program drains the node and reboots it */
    REBOOT_WITHDRAWN,   /* not at all: a sentinel of ours goes */
};

/* kill(2). */
typedef int reboot_kill_fn(pid_t pid, int number);

struct reboot {
    enum reboot_way way;
    /* The boot to end: str_hash_id() of its id, as 16 hexadecimal digits. A kubelet that has lost
     * its containers with the reboot may start this one again, and that must not reboot twice. */
    const char *boot;
    reboot_kill_fn *kill;
    const char *words; /* gets the result, like TERMINATION_LOG_FILE */
};

/* Does nothing, with success, if the machine has booted since. The error says what is wrong:
 * process 1 is not systemd, or a file cannot be read or written. */
int reboot_run(const struct root *root, const struct reboot *r, struct err *e);

#endif
