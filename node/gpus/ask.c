#include "node/gpus/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "node/gpus/order.h"
#include "node/inventory/nvml.h"

#define HELPER "ostler-nvml"

enum {
    PATH_LEN_MAX = 4096,
    REAP_MS = 2000,
    REAP_STEP_MS = 5,
    CPU_MAX_S = 30,
    STATUS_NO_ROOT = 125,
    STATUS_NO_START = 126
};

int asker_open(struct asker *a, struct err *e)
{
    char path[PATH_LEN_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof HELPER);
    if (n <= 0)
        return err_set(e, ERR_SYSTEM, "cannot find the path of this program: %s", strerror(errno));
    path[n] = '\0';
    snprintf(strrchr(path, '/') + 1, sizeof HELPER, "%s", HELPER);
    a->helper = open(path, O_RDONLY | O_CLOEXEC);
    if (a->helper < 0)
        return err_set(e, ERR_NOT_FOUND, "cannot open %s, which asks the driver: %s", path,
                       strerror(errno));
    return 0;
}

void asker_close(struct asker *a)
{
    file_close(&a->helper);
}

/* ---- in the helper process */

static bool is_own_root(int fd)
{
    struct stat own, other;
    return stat("/", &own) == 0 && fstat(fd, &other) == 0 && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}

static bool enter(int fd)
{
    return is_own_root(fd) || (fchdir(fd) == 0 && chroot(".") == 0);
}

/* Closes all descriptors except the pipe, and clears the environment and blocked signals. */
static void leave_behind(int out)
{
    const struct rlimit no_core = { 0, 0 }, cpu = { CPU_MAX_S, CPU_MAX_S };
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_CPU, &cpu);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
}

/* With a capability, the library could leave its root. NO_NEW_PRIVS prevents that it regains one by
 * starting a program. */
static bool give_up_rights(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_capset, &header, none) == 0;
}

static void become_helper(const struct asker *a, const struct question *q, int out)
{
    char name[] = HELPER, libraries[LIBRARY_FOLDER_MAX + 32], gpus[ORDER_MAX + 32];
    char *argv[] = { name, NULL }, *environment[] = { libraries, q->gpus ? gpus : NULL, NULL };
    snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s", q->driver->library_folder);
    snprintf(gpus, sizeof gpus, "OSTLER_GPUS=%s", str_or_empty(q->gpus));
    leave_behind(out);
    if (!enter(q->driver->root.fd) || !give_up_rights())
        _exit(STATUS_NO_ROOT);
    syscall(SYS_execveat, a->helper, "", argv, environment, AT_EMPTY_PATH);
    _exit(STATUS_NO_START);
}

/* ---- in this process */

/* Starts the helper in its own process group, so that its descendants end with it. Returns the pid
 * or -1; the caller closes *ret_from. */
static pid_t ask_start(const struct asker *a, const struct question *q, int *ret_from)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        become_helper(a, q, ends[1]);
    }
    if (pid > 0)
        setpgid(pid, pid);
    close(ends[1]);
    *ret_from = ends[0];
    return pid;
}

static bool is_whole(const struct buf *said)
{
    return nvml_is_whole(part_of_buf(said));
}

/* How the output ended. */
struct hearing {
    const char *why; /* why it is incomplete; NULL: it is complete */
    enum err_kind kind;
};

static const struct hearing heard = { NULL, ERR_NONE },
                            hung = { "it did not answer in time", ERR_TIMEOUT },
                            was_slow = { "its answer was not complete in time", ERR_TOO_LARGE },
                            ended_early = { "it ended before its answer was complete", ERR_SYSTEM },
                            was_long = { "its answer is too long", ERR_SYSTEM };

/* Reads until the output is complete, the helper ends, or its time is over. */
static struct hearing hear(int from, int64_t limit_ms, struct buf *ret)
{
    int64_t now_ms = clock_now_ms(), end_ms = now_ms + limit_ms * ASK_LIMITS,
            next_ms = now_ms + limit_ms;
    struct pollfd ready = { .fd = from, .events = POLLIN };
    while (!is_whole(ret)) {
        char chunk[4096];
        int64_t until_ms = next_ms < end_ms ? next_ms : end_ms;
        int count = (now_ms = clock_now_ms()) < until_ms
                        ? poll(&ready, 1, (int) (until_ms - now_ms))
                        : 0;
        if (count == 0)
            return next_ms < end_ms ? hung : was_slow;
        ssize_t n = count > 0 ? read(from, chunk, sizeof chunk) : -1;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return ended_early;
        if (!buf_add(ret, chunk, (size_t) n))
            return was_long;
        next_ms = clock_now_ms() + limit_ms;
    }
    return heard;
}

/* Kills descendants that left the group; orphans become children of this process. False while there
 * are any. */
static bool end_orphans(void)
{
    FILE *children = fopen("/proc/thread-self/children", "re");
    bool any = false;
    for (int pid; children && fscanf(children, "%d", &pid) == 1; any = true)
        kill(pid, SIGKILL);
    if (children)
        fclose(children);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    return !any;
}

/* Kills the helper and its descendants. False if it hangs in the kernel; else *status is its wait
 * status. */
static bool ask_finish(pid_t pid, int *status)
{
    bool ended = false;
    kill(-pid, SIGKILL);
    for (int ms = 0; ms < REAP_MS; ms += REAP_STEP_MS) {
        ended = ended || waitpid(pid, status, WNOHANG) != 0;
        if (ended && end_orphans())
            return true;
        poll(NULL, 0, REAP_STEP_MS);
    }
    return ended;
}

/* Why the helper failed: by its wait status if that says more. */
static int explain(struct hearing h, int status, struct err *e)
{
    static const struct {
        int status;
        const char *text;
    } rows[] = {
        { 2, "the library of this driver lacks functions that all versions have" },
        { 3, "the library cannot reach the driver, or may not open its devices" },
        { 127, "the loader of the driver's root cannot load the library" },
        { STATUS_NO_ROOT, "it may not enter the driver's root: CAP_SYS_CHROOT is missing" },
        { STATUS_NO_START,
          "it cannot be started in the driver's root, which may have another C library" },
    };
    for (size_t i = 0; WIFEXITED(status) && i < ARRAY_LEN(rows); i++)
        if (rows[i].status == WEXITSTATUS(status))
            h.why = rows[i].text;
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        return err_set(e, ERR_SYSTEM, "NVML: it was ended by a signal: %s",
                       strsignal(WTERMSIG(status)));
    return err_set(e, h.kind, "NVML: %s", h.why);
}

static bool is_printable(const struct buf *said)
{
    for (size_t i = 0; i < said->len; i++)
        if (said->data[i] != '\n' && (said->data[i] < ' ' || said->data[i] > '~'))
            return false;
    return true;
}

/* Keeps whole lines only. */
static void cut_line(struct buf *said)
{
    while (said->len > 0 && said->data[said->len - 1] != '\n')
        said->data[--said->len] = '\0';
}

bool asker_is_stuck(struct asker *a)
{
    if (a->stuck && waitpid(a->stuck, NULL, WNOHANG) != 0)
        a->stuck = 0;
    return a->stuck != 0;
}

/* Starts a helper, hears it, and ends it. */
static int ask_once(struct asker *a, const struct question *q, struct buf *ret, struct err *e)
{
    CLEANUP_FD int from = -1;
    int status = 0;
    /* Orphans of the helper become children of this process, which ends them. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t pid = ask_start(a, q, &from);
    if (pid < 0)
        return err_set(e, ERR_SYSTEM, "cannot start a process to ask NVML: %s", strerror(errno));
    struct hearing h = hear(from, q->limit_ms, ret);
    /* The pipe stays open: a helper that still writes would die from SIGPIPE and hide its real
     * failure. */
    bool ended = ask_finish(pid, &status);
    if (!ended) {
        a->stuck = pid;
        return err_set(e, h.why ? h.kind : ERR_SYSTEM,
                       "NVML: the process hangs in the driver and cannot be killed");
    }
    return h.why ? explain(h, status, e) : 0;
}

int asker_ask(struct asker *a, const struct question *q, struct buf *ret, struct err *e)
{
    if (asker_is_stuck(a))
        return err_set(e, ERR_SYSTEM, "NVML: process %d hangs in the driver and cannot be killed",
                       (int) a->stuck);
    int rc = ask_once(a, q, ret, e);
    cut_line(ret);
    if (is_printable(ret))
        return rc;
    buf_reset(ret);
    return rc < 0 ? rc : err_set(e, ERR_SYSTEM, "NVML: its answer cannot be read");
}
