#include "tests/sweep/workers.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS_MAX = 16, TEXT_MAX = 32 << 20 };

/* What a worker sends when a case begins (findings and text empty) and when it is over; the text follows. */
struct message {
    size_t place; /* in job.cases */
    size_t findings, text_len;
    bool over;
    struct counts counts;
};

struct worker {
    pid_t pid;
    int fd;
    size_t place; /* the case that it is at */
    bool busy;
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

/* In the worker: its cases from `place` on. A case that takes for ever is ended by the alarm. */
static void work(const struct workers_job *job, size_t place, int fd)
{
    for (; place < job->count; place += job->processes) {
        struct message m = { .place = place };
        struct buf text = BUF_INIT(TEXT_MAX);
        alarm(job->limit_s);
        if (!write_all(fd, &m, sizeof m))
            break;
        m.over = true;
        m.findings = job->sweep->run(job->env, job->cases[place], &m.counts, &text);
        m.text_len = text.len;
        if (!write_all(fd, &m, sizeof m) || !write_all(fd, buf_text(&text), text.len))
            break;
        buf_clear(&text);
    }
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
    *w = (struct worker){ .pid = w->pid, .fd = ends[0], .place = place, .busy = false };
}

/* The worker is gone: at its end, or in the middle of a case, which is a finding. */
static void bury(const struct workers_job *job, struct worker *w)
{
    int status = 0;
    close(w->fd);
    waitpid(w->pid, &status, 0);
    w->fd = -1;
    if (!w->busy)
        return;
    char text[128];
    int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    snprintf(text, sizeof text, "the program %s (signal %d)\n", signal_number == SIGALRM ? "did not come to an end" : "crashed",
             signal_number);
    job->done(job->arg, job->cases[w->place], &(struct counts){ 0 }, 1, text);
    if (w->place + job->processes < job->count)
        begin(job, w, w->place + job->processes);
}

static void take(const struct workers_job *job, struct worker *w)
{
    struct message m;
    if (!read_all(w->fd, &m, sizeof m)) {
        bury(job, w);
        return;
    }
    w->place = m.place;
    w->busy = !m.over;
    if (!m.over)
        return;
    CLEANUP_FREE char *text = xcalloc(m.text_len + 1, 1);
    if (!read_all(w->fd, text, m.text_len)) {
        w->busy = true;
        bury(job, w);
        return;
    }
    job->done(job->arg, job->cases[m.place], &m.counts, m.findings, text);
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
