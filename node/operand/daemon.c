#include "node/operand/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "node/operand/program.h"

/* How often it is looked at; what is remembered of its words, of which the last ones count. */
enum { LOOK_MS = 100, CHUNK = 4096, SAID_MAX = 4 * CHUNK, KEPT = 256 };

/* One that runs. */
struct running {
    const char *name;
    pid_t pid;
    int words;  /* where they come; -1: no more do */
    int status; /* when it has ended */
};

/* Takes what it has said, and says it again. */
static void hear(struct running *r, struct buf *said)
{
    char chunk[CHUNK];
    ssize_t n = read(r->words, chunk, sizeof chunk);
    if (said->len + CHUNK > said->max)
        buf_consume(said, said->len - KEPT);
    if (n > 0)
        fwrite(chunk, 1, (size_t) n, stderr);
    if (n <= 0 || !buf_add(said, chunk, (size_t) n))
        r->words = -1; /* poll() passes over it from now on */
}

/* Until it has ended: true; or until it has said the words (NULL: whatever it says), or has had its time. */
static bool attend(struct running *r, const char *words, int64_t limit_ms, bool *ret_said)
{
    const struct clock clock = clock_system();
    CLEANUP_BUF struct buf said = BUF_INIT(SAID_MAX);
    int64_t end_ms = clock_mono_ms(&clock) + limit_ms;
    for (;;) {
        struct pollfd news = { .fd = r->words, .events = POLLIN };
        if (poll(&news, 1, LOOK_MS) > 0)
            hear(r, &said);
        *ret_said = words && strstr(buf_text(&said), words);
        if (waitpid(r->pid, &r->status, WNOHANG) == r->pid)
            return true;
        if (*ret_said || clock_mono_ms(&clock) >= end_ms)
            return false;
    }
}

static int end_by_force(struct running *r, const char *what, int64_t limit_ms, struct err *e)
{
    kill(r->pid, SIGKILL);
    waitpid(r->pid, &r->status, 0);
    return err_set(e, ERR_TIMEOUT, "%s has not %s after %d seconds", r->name, what, (int) (limit_ms / 1000));
}

static int attend_all(struct running *r, const struct daemon *d, struct err *e)
{
    bool ready, said;
    bool ended = attend(r, d->ready, d->ready_ms, &ready);
    if (!ended && !ready)
        return end_by_force(r, "begun", d->ready_ms, e);
    if (ended || attend(r, NULL, d->settle_ms, &said))
        return program_judge(r->name, r->status, e) < 0 ? -1 : err_set(e, ERR_SYSTEM, "%s has ended by itself", r->name);
    kill(r->pid, SIGTERM);
    return attend(r, NULL, d->end_ms, &said) ? program_judge(r->name, r->status, e) : end_by_force(r, "ended", d->end_ms, e);
}

int daemon_pass(char *const argv[], const struct daemon *d, struct err *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(e, ERR_SYSTEM, "cannot start %s: %s", argv[0], strerror(errno));
    struct running r = { .name = argv[0], .words = ends[0] };
    r.pid = program_start(argv, ends[1], e);
    close(ends[1]);
    int rc = r.pid < 0 ? -1 : attend_all(&r, d, e);
    close(ends[0]);
    return rc;
}
