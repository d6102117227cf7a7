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
/* By this text Ostler knows its own. */
#define SENTINEL_TEXT "ostler.dev/repair: a GPU of this node works again only after a reboot\n"

enum { BOOT_ID_MAX = 64, INIT_PID = 1, NAME_MAX_LEN = 15, SENTINEL_MAX = 128 };

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

/* A sentinel of ours has our text and nothing else. */
static int withdraw(struct view *v, const char **ret_done, struct err *e)
{
    CLEANUP_BUF struct buf text = BUF_INIT(SENTINEL_MAX);
    enum sight sight = view_read(v, REBOOT_SENTINEL, &text);
    if (sight == UNREADABLE)
        return err_set(e, ERR_SYSTEM, "cannot read /" REBOOT_SENTINEL);
    bool ours = sight == SEEN && str_eq(buf_text(&text), SENTINEL_TEXT);
    *ret_done = ours            ? "/" REBOOT_SENTINEL " is removed"
                : sight == SEEN ? "/" REBOOT_SENTINEL " is not Ostler's, and stays"
                                : "there is no /" REBOOT_SENTINEL;
    return ours ? place_remove(v->root, REBOOT_SENTINEL, e) : 0;
}

/* What it does in the boot that it is for. */
static int act(struct view *v, const struct reboot *r, const char **ret_done, struct err *e)
{
    switch (r->way) {
    case REBOOT_BY_SENTINEL:
        *ret_done = "/" REBOOT_SENTINEL " asks for a reboot of this machine";
        return put_sentinel(v->root, e);
    case REBOOT_WITHDRAWN:
        return withdraw(v, ret_done, e);
    case REBOOT_BY_INIT:
        break;
    }
    *ret_done = "systemd was asked to reboot this machine";
    return signal_init(v, r, e);
}

int reboot_run(const struct root *root, const struct reboot *r, struct err *e)
{
    CLEANUP_VIEW struct view v = { .root = root };
    const char *done = "this machine has booted since: nothing to do";
    bool over = false;
    if (is_over(&v, r->boot, &over, e) < 0 || (!over && act(&v, r, &done, e) < 0))
        return -1;
    fprintf(stderr, "%s\n", done);
    place_last_words(r->words, done);
    return 0;
}
