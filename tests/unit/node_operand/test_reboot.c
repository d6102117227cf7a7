/* `ostler-node reboot`: which machine it reboots, how, and that it does so once. */
#include "node/operand/reboot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"

enum { WORDS_MAX = 512 };

#define ID "5f0a2d1c-0b7e-4f0e-9a52-1f0d6c3b2a10"
#define BOOT "'proc/sys/kernel/random/boot_id':'" ID "\\n'"
#define OTHER "'proc/sys/kernel/random/boot_id':'00000000-0b7e-4f0e-9a52-1f0d6c3b2a10\\n'"
#define INIT(name) ",'proc/1/comm':'" name "\\n'"
#define RUN ",'var/run/x':''"
#define SENTINEL "var/run/reboot-required"

/* The signal that was sent, and to which process; what kill() returns. */
static struct sent {
    pid_t pid;
    int number;
} sent;
static int refused;

static int take(pid_t pid, int number)
{
    sent = (struct sent){ pid, number };
    errno = refused;
    return refused ? -1 : 0;
}

static const struct row {
    const char *name;
    const char *files;
    enum reboot_way way;
    int refused;  /* errno of kill() */
    bool is_sent; /* the signal, to process 1 */
    const char *sentinel;
    const char *error; /* NULL: none */
    const char *words;
} rows[] = {
    { "systemd", BOOT INIT("systemd"), REBOOT_BY_INIT, 0, true, "", NULL,
      "systemd was asked to reboot this machine" },
    { "another init", BOOT INIT("runit"), REBOOT_BY_INIT, 0, false, "",
      "process 1 is runit, not systemd: Ostler cannot reboot this machine", "" },
    { "its own processes, not the host's", BOOT INIT("ostler-node"), REBOOT_BY_INIT, 0, false, "",
      "process 1 is ostler-node, not systemd: Ostler cannot reboot this machine", "" },
    { "a name that only begins like it", BOOT INIT("systemd-shim"), REBOOT_BY_INIT, 0, false, "",
      "process 1 is systemd-shim, not systemd: Ostler cannot reboot this machine", "" },
    { "no name", BOOT, REBOOT_BY_INIT, 0, false, "",
      "cannot read the name of process 1: /proc/1/comm", "" },
    { "an empty name", BOOT ",'proc/1/comm':''", REBOOT_BY_INIT, 0, false, "",
      "cannot read the name of process 1: /proc/1/comm", "" },
    { "a signal that is not allowed", BOOT INIT("systemd"), REBOOT_BY_INIT, EPERM, true, "",
      "cannot signal systemd: Operation not permitted", "" },
    { "a machine that has booted since is not rebooted again", OTHER INIT("systemd"),
      REBOOT_BY_INIT, 0, false, "", NULL, "this machine has booted since: nothing to do" },
    { "a boot without an id", "'proc/1/comm':'systemd'", REBOOT_BY_INIT, 0, false, "",
      "cannot read the boot's id: /proc/sys/kernel/random/boot_id", "" },
    { "kured", BOOT RUN, REBOOT_BY_SENTINEL, 0, false,
      "ostler.dev/repair: a GPU of this node works again only after a reboot\n", NULL,
      "/var/run/reboot-required asks for a reboot of this machine" },
    { "kured, for a package too", BOOT ",'" SENTINEL "':'*** System restart required ***\\n'",
      REBOOT_BY_SENTINEL, 0, false, "*** System restart required ***\n", NULL,
      "/var/run/reboot-required asks for a reboot of this machine" },
    { "no sentinel after the boot", OTHER RUN, REBOOT_BY_SENTINEL, 0, false, "", NULL,
      "this machine has booted since: nothing to do" },
    { "a sentinel of Ostler's is withdrawn",
      BOOT ",'" SENTINEL
           "':'ostler.dev/repair: a GPU of this node works again only after a reboot\\n'",
      REBOOT_WITHDRAWN, 0, false, "", NULL, "/var/run/reboot-required is removed" },
    { "one of a package stays", BOOT ",'" SENTINEL "':'*** System restart required ***\\n'",
      REBOOT_WITHDRAWN, 0, false, "*** System restart required ***\n", NULL,
      "/var/run/reboot-required is not Ostler's, and stays" },
    { "one that says more than Ostler's stays",
      BOOT ",'" SENTINEL
           "':'ostler.dev/repair: a GPU of this node works again only after a reboot\\nlibc6\\n'",
      REBOOT_WITHDRAWN, 0, false,
      "ostler.dev/repair: a GPU of this node works again only after a reboot\nlibc6\n", NULL,
      "/var/run/reboot-required is not Ostler's, and stays" },
    { "an empty one stays", BOOT ",'" SENTINEL "':''", REBOOT_WITHDRAWN, 0, false, "", NULL,
      "/var/run/reboot-required is not Ostler's, and stays" },
    { "none is there", BOOT RUN, REBOOT_WITHDRAWN, 0, false, "", NULL,
      "there is no /var/run/reboot-required" },
    { "one that cannot be read", BOOT ",'" SENTINEL "':{'folder':true}", REBOOT_WITHDRAWN, 0, false,
      "", "cannot read /var/run/reboot-required", "" },
    { "after the boot there is none to withdraw", OTHER RUN, REBOOT_WITHDRAWN, 0, false, "", NULL,
      "this machine has booted since: nothing to do" },
    { "nowhere to put it", BOOT ",'var/run':{'link':'/nowhere'}", REBOOT_BY_SENTINEL, 0, false, "",
      "cannot write var/run/reboot-required: No such file or directory", "" },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(row->files, &root);
    CLEANUP_ERR struct err e = { 0 };
    char boot[REBOOT_BOOT_LEN + 1], said[WORDS_MAX] = "";
    snprintf(boot, sizeof boot, "%016llx", (unsigned long long) str_hash_id(ID));
    sent = (struct sent){ 0 };
    refused = row->refused;
    CLEANUP_FREE char *words = xasprintf("%s/termination-log", path);
    FILE *f = fopen(words, "w+e");
    assert_non_null(f);
    int rc = reboot_run(&root, &(struct reboot){ row->way, boot, take, words }, &e);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    assert_int_equal(sent.pid, row->is_sent ? 1 : 0);
    assert_int_equal(sent.number, row->is_sent ? SIGRTMIN + 5 : 0);
    CLEANUP_FREE char *sentinel = fake_root_text(&root, SENTINEL);
    assert_string_equal(sentinel, row->sentinel);
    assert_true(fgets(said, sizeof said, f) || !*row->words);
    assert_string_equal(said, row->words);
    fclose(f);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "reboot");
}
