#include "tests/sweep/workers.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS_MAX = 16, TEXT_MAX = 32 << 20 };

/* What a worker does. */
enum stage {
    RESTS,
    LIVES, /* a case */
    TELLS, /* more of a case that it has lived, which may take long */
};

/* What a worker sends when it begins with something, with what came of what it did before; the text follows. */
struct message {
    enum stage stage;
    size_t place; /* in job.cases */
    size_t findings, text_len;
    struct counts counts;
};

struct worker {
    pid_t pid;
    int fd;
    size_t place; /* the case that it is at */
    enum stage stage;
};

static bool write_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n) {
        ssize_t done = write(fd, at, n);
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t) done;
    }
    return true;
}

static bool read_all(int fd, void *bytes, size_t n)
{
    char *at = bytes;
    while (n) {
        ssize_t done = read(fd, at, n);
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t) done;
    }
    return true;
}

/* Says what the worker does from now on, and empties the text, which was of what it did before. */
static bool begin_stage(int fd, enum stage stage, struct message *m, struct buf *text)
{
    m->stage = stage;
    m->text_len = text->len;
    bool heard = write_all(fd, m, sizeof *m) && write_all(fd, buf_text(text), text->len);
    buf_reset(text);
    return heard;
}

/* In the worker: one case. What takes for ever is ended by the alarm. */
static bool live_case(const struct workers_job *job, size_t place, int fd)
{
    struct message m = { .place = place };
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    alarm(job->limit_s);
    if (!begin_stage(fd, LIVES, &m, &text))
        return false;
    m.findings = job->sweep->run(job->env, job->cases[place], &m.counts, &text);
    if (m.findings && job->tell) {
        alarm(job->env->shorten_s + job->limit_s);
        if (!begin_stage(fd, TELLS, &m, &text))
            return false;
        job->tell(job->env, job->cases[place], &text);
    }
    return begin_stage(fd, RESTS, &m, &text);
}

/* In the worker: its cases from `place` on. */
static void work(const struct workers_job *job, size_t place, int fd)
{
    while (place < job->count && live_case(job, place, fd))
        place += job->processes;
}

static void begin(const struct workers_job *job, struct worker *w, size_t place)
{
    int ends[2];
    fflush(NULL);
    if (pipe(ends) < 0 || (w->pid = fork()) < 0) {
        perror("sweep");
        exit(2);
    }
    if (w->pid == 0) {
        close(ends[0]);
        work(job, place, ends[1]);
        fflush(stdout); /* --verbose */
        _exit(0);
    }
    close(ends[1]);
    *w = (struct worker){ .pid = w->pid, .fd = ends[0], .place = place };
}

/* The worker is gone: at its end, or in the middle of a case, which is a finding. */
static void bury(const struct workers_job *job, struct worker *w)
{
    int status = 0;
    close(w->fd);
    waitpid(w->pid, &status, 0);
    w->fd = -1;
    if (w->stage == RESTS)
        return;
    int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    CLEANUP_FREE char *text = xasprintf("%s %s (signal %d)\n", w->stage == TELLS ? "making it short" : "the program",
                                        signal_number == SIGALRM ? "did not come to an end" : "crashed", signal_number);
    if (w->stage == TELLS)
        job->more(job->arg, text);
    else
        job->done(job->arg, job->cases[w->place], &(struct counts){ 0 }, 1, text);
    if (w->place + job->processes < job->count)
        begin(job, w, w->place + job->processes);
}

static void take(const struct workers_job *job, struct worker *w)
{
    struct message m;
    CLEANUP_FREE char *text = NULL;
    if (!read_all(w->fd, &m, sizeof m) || !read_all(w->fd, text = xcalloc(m.text_len + 1, 1), m.text_len)) {
        bury(job, w);
        return;
    }
    if (w->stage == LIVES)
        job->done(job->arg, job->cases[m.place], &m.counts, m.findings, text);
    else if (w->stage == TELLS)
        job->more(job->arg, text);
    w->place = m.place;
    w->stage = m.stage;
}

void workers_run(const struct workers_job *job)
{
    struct worker workers[WORKERS_MAX];
    size_t n = job->processes;
    for (size_t i = 0; i < n; i++)
        begin(job, &workers[i], i);
    for (;;) {
        struct pollfd fds[WORKERS_MAX];
        size_t open = 0;
        for (size_t i = 0; i < n; i++) {
            fds[i] = (struct pollfd){ .fd = workers[i].fd, .events = POLLIN };
            open += workers[i].fd >= 0;
        }
        if (!open)
            return;
        poll(fds, n, -1);
        for (size_t i = 0; i < n; i++)
            if (fds[i].revents)
                take(job, &workers[i]);
    }
}
