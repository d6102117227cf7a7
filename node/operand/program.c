#include "node/operand/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "node/inventory/text.h"

/* STATUS_NO_START: as in shells, the program cannot be started. STEP_MS: polling interval where the
 * kernel sends no notification. */
enum { STATUS_NO_START = 127, STEP_MS = 20, REAP_MS = 1000, CHUNK = 4096, WORDS_MAX = 2048 };

static void become(char *const argv[])
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], argv);
}

int program_become(char *const argv[], struct err *e)
{
    become(argv);
    return err_set(e, ERR_SYSTEM, "cannot start %s: %s", argv[0], strerror(errno));
}

/* Starts the program, in another root if one is given, and with a limit in its own process group.
 * `out`, `log`: pipes for its output; -1: inherited. */
static pid_t program_start(const char *root, char *const argv[], bool is_limited, int out, int log)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (is_limited)
            setpgid(0, 0);
        if (out >= 0)
            dup2(out, STDOUT_FILENO);
        if (log >= 0)
            dup2(log, STDERR_FILENO);
        if (!root || (chroot(root) == 0 && chdir("/") == 0))
            become(argv);
        _exit(STATUS_NO_START);
    }
    if (pid > 0 && is_limited)
        setpgid(pid, pid);
    return pid;
}

/* Reads output; drops what exceeds the buffer. False at the end. */
static bool take_words(int from, struct buf *said)
{
    char chunk[CHUNK];
    ssize_t n = read(from, chunk, sizeof chunk);
    size_t left = said->max - said->len, len = n > 0 ? (size_t) n : 0;
    if (!buf_add(said, chunk, len < left ? len : left))
        said->len = said->max;
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Reads until the output ends, or the time: then false. A child of the ended program may keep the
 * pipe open. */
static bool hear(int from, int64_t end_ms, struct buf *said)
{
    struct pollfd words = { .fd = from, .events = POLLIN };
    for (;;) {
        int64_t left_ms = end_ms - clock_now_ms();
        if (left_ms <= 0)
            return false;
        if (poll(&words, 1, left_ms < REAP_MS ? (int) left_ms : REAP_MS) > 0 &&
            !take_words(from, said))
            return true;
    }
}

/* Whether the process has ended before `end_ms`. */
static bool reap(pid_t pid, int64_t end_ms, int *ret_status)
{
    for (;;) {
        pid_t done = waitpid(pid, ret_status, end_ms == INT64_MAX ? 0 : WNOHANG);
        if (done == pid || (done < 0 && errno != EINTR))
            return true;
        if (clock_now_ms() >= end_ms)
            return false;
        poll(NULL, 0, STEP_MS);
    }
}

/* Converts a status of waitpid() to an error; 0: success. */
static int program_judge(const char *name, int status, struct err *e)
{
    if (WIFSIGNALED(status))
        return err_set(e, ERR_SYSTEM, "%s was ended by signal %d", name, WTERMSIG(status));
    if (WEXITSTATUS(status) == STATUS_NO_START)
        return err_set(e, ERR_NOT_FOUND, "%s cannot be started", name);
    return WEXITSTATUS(status) == 0
               ? 0
               : err_set(e, ERR_SYSTEM, "%s ended with %d", name, WEXITSTATUS(status));
}

static int attend(const char *name, pid_t pid, int from, int64_t limit_ms, struct buf *said,
                  struct err *e)
{
    int64_t now_ms = clock_now_ms(), end_ms = limit_ms ? now_ms + limit_ms : INT64_MAX;
    int status = 0;
    bool ended = (from < 0 || hear(from, end_ms, said)) && reap(pid, end_ms, &status);
    if (ended)
        return program_judge(name, status, e);
    /* SIGKILL does not end a process that hangs in the kernel. */
    kill(-pid, SIGKILL);
    reap(pid, clock_now_ms() + REAP_MS, &status);
    return err_set(e, ERR_TIMEOUT, "%s has not ended after %d seconds", name,
                   (int) (limit_ms / 1000));
}

int program_run_in(const char *root, char *const argv[], int64_t limit_ms, bool heard,
                   struct buf *said, struct err *e)
{
    int ends[2] = { -1, -1 };
    if (said && pipe2(ends, O_CLOEXEC) < 0)
        return err_set(e, ERR_SYSTEM, "cannot start %s: %s", argv[0], strerror(errno));
    CLEANUP_FD int from = ends[0];
    pid_t pid = program_start(root, argv, limit_ms > 0, ends[1], heard ? ends[1] : -1);
    file_close(&ends[1]);
    return pid < 0 ? err_set(e, ERR_SYSTEM, "cannot start %s: %s", argv[0], strerror(errno))
                   : attend(argv[0], pid, from, limit_ms, said, e);
}

int program_run(char *const argv[], int64_t limit_ms, struct buf *said, struct err *e)
{
    return program_run_in(NULL, argv, limit_ms, false, said, e);
}

int program_run_quietly(const char *name, int64_t limit_ms, struct err *e)
{
    CLEANUP_BUF struct buf said = BUF_INIT(WORDS_MAX);
    CLEANUP_FREE char *program = xstrdup(name);
    char *const argv[] = { program, NULL };
    if (program_run(argv, limit_ms, &said, e) == 0)
        return 0;
    struct part words = part_trimmed(part_of_buf(&said));
    return words.len ? err_wrap(e, "%.*s", (int) words.len, words.at) : -1;
}
