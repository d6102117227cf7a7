#include "node/agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/signals.h"
#include "node/agent/wakes.h"
#include "runtime/loop.h"

/* A scan that takes longer hangs, and is killed. */
enum { TURN_MAX_S = 90 };

/* Shared with the scan process. */
struct shared {
    struct scan_outcome outcome;
    struct scan_memory memory;
};

struct agent {
    const struct scan_options *o;
    struct clock clock;
    struct loop *loop;
    struct timer due, watch_due;
    struct wakes wakes;
    struct pace pace;
    struct shared *shared;
    struct scan_memory memory;
    pid_t turn; /* the scan process; 0: none */
    bool news;  /* a hint arrived during the scan */
    int signals;
    bool stopped;
};

static void agent_arm(struct agent *a)
{
    loop_timer_set(a->loop, &a->due, a->pace.next_ms);
}

/* The machine may have changed: the next scan comes sooner, or after the one that is running. */
static void take_hint(struct agent *a)
{
    a->news = true;
    if (a->turn)
        return;
    pace_news(&a->pace, loop_now(a->loop));
    agent_arm(a);
}

/* Runs in the scan process. */
static void run_turn(struct agent *a)
{
    sigset_t none;
    /* It ends with the agent, or at its time limit. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(TURN_MAX_S);
    /* Watches before the scan, so that a change during it wakes the next one. The agent reads the
     * hints. The watches are set in this process because opening the directories may hang, like a
     * scan. */
    wakes_watch(&a->wakes, a->o->root);
    scan_run(a->o, &a->pace, loop_now(a->loop), &a->shared->memory, &a->shared->outcome);
    _exit(0);
}

/* Whether the kernel log has news. Reading it needs no process of its own: it neither hangs nor
 * leaves memory behind. Only after the first report, which tells what was counted before. */
static bool has_log_news(struct agent *a)
{
    struct faults *faults = &a->memory.faults;
    return faults->joined && faults_read(faults, a->o->kernel_log, log_time_now());
}

/* Two looks that are cheap, between scans. The bus answers at once or with ones: a read of a few
 * bytes does not hang as a driver may. */
static void agent_on_watch_due(void *arg)
{
    struct agent *a = arg;
    loop_timer_set(a->loop, &a->watch_due, loop_now(a->loop) + PACE_WATCH_MS);
    bool lost = bus_watch_lost(&a->memory.bus, a->o->root);
    if (has_log_news(a) || lost)
        take_hint(a);
}

/* After the first scan that could report, the agent itself reads the log. */
static void take_memory(struct agent *a)
{
    const struct scan_memory *after = &a->shared->memory;
    a->memory.bus = after->bus;
    if (!a->memory.faults.joined && after->faults.joined)
        a->memory.faults = after->faults;
}

static void agent_on_due(void *arg)
{
    struct agent *a = arg;
    has_log_news(a);
    *a->shared = (struct shared){ .outcome = { .end = TURN_FAILED, .retry_after_ms = -1 },
                                  .memory = a->memory };
    a->news = false;
    a->turn = fork();
    if (a->turn == 0)
        run_turn(a);
    if (a->turn > 0)
        return;
    log_error("cannot start the process of a scan", "err", strerror(errno));
    a->turn = 0;
    pace_take(&a->pace, &a->shared->outcome, loop_now(a->loop));
    agent_arm(a);
}

static void on_turn_ended(struct agent *a, int status)
{
    struct scan_outcome failed = { .end = TURN_FAILED, .retry_after_ms = -1 };
    bool whole = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!whole)
        log_error("the process of a scan ended early", "signal",
                  WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "none");
    a->turn = 0;
    pace_take(&a->pace, whole ? &a->shared->outcome : &failed, loop_now(a->loop));
    if (whole)
        take_memory(a);
    if (a->news)
        pace_news(&a->pace, loop_now(a->loop));
    agent_arm(a);
}

static void agent_on_signal(void *arg)
{
    struct agent *a = arg;
    struct signalfd_siginfo info;
    int status;
    while (read(a->signals, &info, sizeof info) == (ssize_t) sizeof info)
        a->stopped |= info.ssi_signo != SIGCHLD;
    if (a->turn && waitpid(a->turn, &status, WNOHANG) == a->turn)
        on_turn_ended(a, status);
}

static void on_hint(void *arg)
{
    struct agent *a = arg;
    if (wakes_take(&a->wakes))
        take_hint(a);
}

static int take_signals(struct agent *a, struct err *e)
{
    signal(SIGPIPE, SIG_IGN);
    a->signals = signals_open(SIGCHLD, e);
    if (a->signals < 0)
        return -1;
    loop_add_fd(a->loop, a->signals, agent_on_signal, a);
    return 0;
}

static void take_wakes(struct agent *a)
{
    wakes_open(&a->wakes);
    if (a->wakes.uevents >= 0)
        loop_add_fd(a->loop, a->wakes.uevents, on_hint, a);
    if (a->wakes.files >= 0)
        loop_add_fd(a->loop, a->wakes.files, on_hint, a);
}

static void agent_tear_down(struct agent *a)
{
    if (a->turn)
        kill(a->turn, SIGKILL);
    wakes_close(&a->wakes);
    close(a->signals);
    loop_free(a->loop);
    munmap(a->shared, sizeof *a->shared);
}

int node_agent_run(const struct scan_options *o, struct err *e)
{
    struct agent a = { .o = o, .clock = clock_system(), .signals = -1 };
    a.shared = mmap(NULL, sizeof *a.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                    0);
    if (a.shared == MAP_FAILED)
        return err_set(e, ERR_SYSTEM, "cannot allocate shared memory: %s", strerror(errno));
    a.loop = loop_new(&a.clock);
    a.due = (struct timer){ .fn = agent_on_due, .arg = &a };
    a.watch_due = (struct timer){ .fn = agent_on_watch_due, .arg = &a };
    take_wakes(&a);
    if (take_signals(&a, e) < 0) {
        agent_tear_down(&a);
        return -1;
    }
    pace_init(&a.pace, o->node, clock_mono_ms(&a.clock));
    agent_arm(&a);
    loop_timer_set(a.loop, &a.watch_due, loop_now(a.loop) + PACE_WATCH_MS);
    loop_turn(a.loop);
    while (!a.stopped)
        loop_wait(a.loop);
    agent_tear_down(&a);
    return 0;
}
