/* What the agent may do once it has let go of root's rights: each case is a process of its own,
 * since it never gets them back. */
#include "node/agent/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/support/suite.h"

#define BIT(capability) (1ULL << (capability))
#define IN_POD (BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SETGID) | BIT(CAP_SETUID))

enum { NAME_MAX_LEN = 64 };

/* Of root, which others may read: what most of proc and sys is; and one that only root may read. */
static char public_file[NAME_MAX_LEN], secret_file[NAME_MAX_LEN];

static unsigned long long own_capabilities(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
    assert_int_equal(syscall(SYS_capget, &header, rights), 0);
    return rights[0].effective | (unsigned long long) rights[1].effective << 32;
}

static void set_capabilities(unsigned long long bits)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    const unsigned low = (unsigned) bits, high = (unsigned) (bits >> 32);
    struct __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3] = {
        { .effective = low, .permitted = low }, { .effective = high, .permitted = high }
    };
    if (syscall(SYS_capset, &header, rights) < 0)
        _exit(99);
}

static bool can_open(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static const char *memory_of(pid_t pid, char ret[NAME_MAX_LEN])
{
    snprintf(ret, NAME_MAX_LEN, "/proc/%d/mem", (int) pid);
    return ret;
}

/* The open files of the process of the tests, which is root's. */
static bool can_see_files_of(pid_t pid)
{
    char path[NAME_MAX_LEN], target[NAME_MAX_LEN];
    snprintf(path, sizeof path, "/proc/%d/fd/0", (int) pid);
    return readlink(path, target, sizeof target) > 0;
}

static const struct row {
    const char *name;
    unsigned long long capabilities; /* of the container */
    bool lessens;
    bool is_root, writes, reads, sees; /* afterwards */
    bool wants_log, has_log;           /* whether it is to read the kernel log, and may */
} rows[] = {
    { "as in its pod: it looks, and writes nowhere", IN_POD, true, .reads = true, .sees = true },
    { "with more than it needs", ~0ULL, true, .reads = true, .sees = true },
    { "in its pod with the right to read the kernel log, which it is to read",
      IN_POD | BIT(CAP_SYSLOG), true, .reads = true, .sees = true, .wants_log = true,
      .has_log = true },
    { "with that right, which it does not need", IN_POD | BIT(CAP_SYSLOG), true, .reads = true,
      .sees = true },
    { "without that right, which it needs", IN_POD, true, .reads = true, .sees = true,
      .wants_log = true },
    { "without the right to see files of processes",
      BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SETGID) | BIT(CAP_SETUID), true, .reads = true },
    { "without the right to become another", BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH), false,
      .is_root = true, .writes = true, .reads = true, .sees = true },
};

/* In the process of a case; what is wrong, as a number. */
static int check_rights(const struct row *row, pid_t parent)
{
    CLEANUP_ERR struct err e = { 0 };
    char memory[NAME_MAX_LEN];
    set_capabilities(row->capabilities & own_capabilities());
    bool lessened = rights_lessen(row->wants_log, &e) == 0;
    if (lessened != row->lessens)
        return 1;
    bool is_root = geteuid() == 0 || getuid() == 0 || getegid() == 0 || getgroups(0, NULL) != 0;
    if (is_root != row->is_root)
        return 2;
    if (can_open(public_file, O_WRONLY) != row->writes ||
        can_open(memory_of(parent, memory), O_WRONLY) != row->writes)
        return 3;
    if (can_open(secret_file, O_RDONLY) != row->reads)
        return 4;
    if (can_see_files_of(parent) != row->sees)
        return 5;
    if (rights_have_syslog() != row->has_log)
        return 7;
    /* Nothing else is kept. */
    if (row->lessens && own_capabilities() & ~(BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) |
                                               (row->has_log ? BIT(CAP_SYSLOG) : 0)))
        return 8;
    /* For good. */
    return row->lessens && setuid(0) == 0 ? 6 : 0;
}

static void check(void **state)
{
    int status;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        _exit(check_rights(*state, parent));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void other_user_stays(void **state)
{
    (void) state;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        CLEANUP_ERR struct err e = { 0 };
        if (geteuid() == 0 && setuid(1234) < 0)
            _exit(1);
        uid_t before = geteuid();
        _exit(rights_lessen(false, &e) == 0 && geteuid() == before ? 0 : 2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void make_file(char *name, mode_t mode)
{
    snprintf(name, NAME_MAX_LEN, "/tmp/test-rights-XXXXXX");
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

int main(void)
{
    struct suite s = { 0 };
    /* Only who has them can lose them. */
    if (geteuid() == 0 && (own_capabilities() & IN_POD) == IN_POD) {
        make_file(public_file, 0644);
        make_file(secret_file, 0600);
        SUITE_ROWS(&s, check, rows);
    }
    suite_add(&s, "who is not root stays who it is", other_user_stays, NULL);
    int failed = suite_run(&s, "rights");
    unlink(public_file);
    unlink(secret_file);
    return failed;
}
