#include "node/operand/reboot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "node/inventory/text.h"
#include "node/inventory/view.h"
#include "node/operand/place.h"

#define BOOT_ID "proc/sys/kernel/random/boot_id"
#define INIT_NAME "proc/1/comm"
#define SENTINEL_TEXT "Ostler: a GPU of this node works again only after a reboot\n"

enum { BOOT_ID_MAX = 64, INIT_PID = 1, NAME_MAX_LEN = 15 };

static int is_over(struct view *v, const char *boot, bool *ret, struct err *e)
{
    const char *id;
    char hash[REBOOT_BOOT_LEN + 1];
    if (view_text(v, BOOT_ID, BOOT_ID_MAX, &id) != SEEN || !id)
        return err_set(e, ERR_SYSTEM, "cannot read the boot's id: /" BOOT_ID);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long) str_hash_id(id));
    *ret = !str_eq(hash, boot);
    return 0;
}

/* SIGRTMIN+5 makes systemd start reboot.target, and has no such meaning for other programs
 * (systemd(1), "Signals"). Google's partition_gpu reboots nodes of GKE in this way. Of this, a
 * process of root's needs no capability: kill(2) compares users. */
static int signal_init(struct view *v, const struct reboot *r, struct err *e)
{
    const char *name;
    if (view_text(v, INIT_NAME, NAME_MAX_LEN, &name) != SEEN || !name)
        return err_set(e, ERR_SYSTEM, "cannot read the name of process 1: /" INIT_NAME);
    if (!str_eq(name, "systemd"))
        return err_set(e, ERR_CONFLICT,
                       "process 1 is %s, not systemd: Ostler cannot reboot this machine", name);
    if (r->kill(INIT_PID, SIGRTMIN + 5) < 0)
        return err_set(e, ERR_SYSTEM, "cannot signal systemd: %s", strerror(errno));
    return 0;
}

/* The sentinel of another program stays as it is: it may say more. */
static int put_sentinel(const struct root *root, struct err *e)
{
    return root_has(root, REBOOT_SENTINEL) ? 0 : place_put(root, REBOOT_SENTINEL, SENTINEL_TEXT, e);
}

int reboot_run(const struct root *root, const struct reboot *r, struct err *e)
{
    CLEANUP_VIEW struct view v = { .root = root };
    const char *done = "systemd was asked to reboot this machine";
    bool over = false;
    if (is_over(&v, r->boot, &over, e) < 0)
        return -1;
    if (over)
        done = "this machine has booted since: nothing to do";
    else if (r->way == REBOOT_BY_SENTINEL)
        done = "/" REBOOT_SENTINEL " asks for a reboot of this machine";
    if (!over && (r->way == REBOOT_BY_SENTINEL ? put_sentinel(root, e) : signal_init(&v, r, e)) < 0)
        return -1;
    fprintf(stderr, "%s\n", done);
    place_last_words(r->words, done);
    return 0;
}
