#include "tests/sweep/workers.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_MAX = 32 << 20 };

/* What a worker does. */
enum stage {
    RESTS,
    LIVES, /* a case */
    TELLS, /* more of a case that it has lived, which may take long */
};

/* What a worker sends when it begins with something, with what came of what it did before; the text
 * follows. */
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

/* Ends this process when it has used so much processor time. Real time would also pass while other
 * programs use the processors. */
static void limit_processor(unsigned seconds)
{
    struct itimerval limit = { .it_value = { .tv_sec = seconds } };
    setitimer(ITIMER_PROF, &limit, NULL);
}

/* In the worker: one case. */
static bool live_case(const struct workers_job *job, size_t place, int fd)
{
    struct message m = { .place = place };
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    limit_processor(job->limit_s);
    if (!begin_stage(fd, LIVES, &m, &text))
        return false;
    m.findings = job->sweep->run(job->env, job->cases[place], &m.counts, &text);
    if (m.findings && job->tell) {
        limit_processor(job->env->shorten_s + job->limit_s);
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

/* ---- an early end */

static const int end_signals[] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t ended_by;

static void on_end_signal(int signal_number)
{
    ended_by = signal_number;
}

void workers_heed_signals(void)
{
    for (size_t i = 0; i < ARRAY_LEN(end_signals); i++) {
        struct sigaction now,
            then = { .sa_handler = on_end_signal, .sa_flags = (int) SA_RESETHAND };
        sigaction(end_signals[i], NULL, &now);
        if (now.sa_handler != SIG_IGN)
            sigaction(end_signals[i], &then, NULL);
    }
}

/* In the worker: a terminal sends them to all processes at once, and the one that began them ends
 * the workers. */
static void leave_signals(const sigset_t *mask)
{
    for (size_t i = 0; i < ARRAY_LEN(end_signals); i++)
        signal(end_signals[i], SIG_IGN);
    sigprocmask(SIG_SETMASK, mask, NULL);
}

/* Blocks them, so that none comes between the look at `ended_by` and ppoll(), which lets them in.
 * The mask before is left in `ret_before`. */
static void block_end_signals(sigset_t *ret_before)
{
    sigset_t ends;
    sigemptyset(&ends);
    for (size_t i = 0; i < ARRAY_LEN(end_signals); i++)
        sigaddset(&ends, end_signals[i]);
    sigprocmask(SIG_BLOCK, &ends, ret_before);
}

int workers_ended_by(void)
{
    return ended_by;
}

static void begin(const struct workers_job *job, struct worker *w, size_t place,
                  const sigset_t *mask)
{
    int ends[2];
    fflush(NULL);
    if (pipe(ends) < 0 || (w->pid = fork()) < 0) {
        perror("sweep");
        exit(2);
    }
    if (w->pid == 0) {
        leave_signals(mask);
        close(ends[0]);
        work(job, place, ends[1]);
        fflush(stdout); /* --verbose */
        _exit(0);
    }
    close(ends[1]);
    *w = (struct worker){ .pid = w->pid, .fd = ends[0], .place = place };
}

/* The worker is gone: at its end, or in the middle of a case, which is a finding. `mask`: of
 * signals, for the one after it. */
static void bury(const struct workers_job *job, struct worker *w, const sigset_t *mask)
{
    int status = 0;
    close(w->fd);
    waitpid(w->pid, &status, 0);
    w->fd = -1;
    if (w->stage == RESTS)
        return;
    int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    CLEANUP_FREE char *text = xasprintf(
        "%s %s (signal %d)\n", w->stage == TELLS ? "making it short" : "the program",
        signal_number == SIGPROF ? "did not come to an end" : "crashed", signal_number);
    if (w->stage == TELLS)
        job->more(job->arg, text);
    else
        job->done(job->arg, job->cases[w->place], &(struct counts){ 0 }, 1, text);
    if (w->place + job->processes < job->count)
        begin(job, w, w->place + job->processes, mask);
}

static void take(const struct workers_job *job, struct worker *w, const sigset_t *mask)
{
    struct message m;
    CLEANUP_FREE char *text = NULL;
    if (!read_all(w->fd, &m, sizeof m) ||
        !read_all(w->fd, text = xcalloc(m.text_len + 1, 1), m.text_len)) {
        bury(job, w, mask);
        return;
    }
    if (w->stage == LIVES)
        job->done(job->arg, job->cases[m.place], &m.counts, m.findings, text);
    else if (w->stage == TELLS)
        job->more(job->arg, text);
    w->place = m.place;
    w->stage = m.stage;
}

/* Ends the workers in the middle of their cases. */
static void end_workers(struct worker *workers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (workers[i].fd < 0)
            continue;
        kill(workers[i].pid, SIGKILL);
        waitpid(workers[i].pid, NULL, 0);
        close(workers[i].fd);
    }
}

/* Waits for news of the workers and takes it; false: all have ended, or a signal ends the sweep. */
static bool attend(const struct workers_job *job, struct worker *workers, const sigset_t *mask)
{
    struct pollfd fds[WORKERS_MAX];
    size_t open = 0, n = job->processes;
    for (size_t i = 0; i < n; i++) {
        fds[i] = (struct pollfd){ .fd = workers[i].fd, .events = POLLIN };
        open += workers[i].fd >= 0;
    }
    if (!open || ended_by)
        return false;
    if (ppoll(fds, n, NULL, mask) < 0)
        return true;
    for (size_t i = 0; i < n; i++)
        if (fds[i].revents)
            take(job, &workers[i], mask);
    return true;
}

void workers_run(const struct workers_job *job)
{
    struct worker workers[WORKERS_MAX];
    sigset_t mask;
    block_end_signals(&mask);
    for (size_t i = 0; i < job->processes; i++)
        begin(job, &workers[i], i, &mask);
    while (attend(job, workers, &mask))
        ;
    end_workers(workers, job->processes);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}
