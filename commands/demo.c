#include "commands/demo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "commands/demo_child.h"
#include "commands/demo_options.h"
#include "commands/demo_texts.h"
#include "controller/options.h"
#include "serve/listen.h"

/* The image's ~/.kube/config is a link to the kubeconfig there, for `docker exec`: Makefile. */
#define FOLDER_IN_CONTAINER "/dev/shm/ostler-demo"

enum {
    PORT = 8081,
    PORTS = 20,          /* ports that are tried, beginning with PORT */
    TICK_MS = 20,        /* between looks while the parts begin */
    BEGIN_MS = 30000,    /* most time until the page answers */
    VIEW_MS = 2000,      /* from then until the live view, which has something to show then */
    SIGNAL_MS = 500,     /* between a part's end by a signal and the signal's arrival here */
    END_MS = 10000,      /* most time for the parts to end */
    LOG_MAX = 8 << 10,   /* the newest of Ostler's log, for when it fails */
    STORY_MAX = 4 << 10, /* of the story */
    ABOVE_MAX = 32 << 10 /* what is above the live view */
};

enum part { SIMULATOR, OSTLER, VIEW, PARTS };
static const char *const part_names[] = { "ostler-sim", "ostler", "kubectl-gpu" };

enum stage { CLUSTER_BEGINS, PAGE_BEGINS, VIEW_BEGINS, SHOWN };

struct demo {
    struct demo_options o;
    bool in_container;
    bool live; /* a live view on the terminal */
    char *folder, *kubeconfig, *ostler_kubeconfig, *above;
    char *listen; /* of the page */
    int port;
    pid_t pids[PARTS]; /* 0: does not run */
    enum stage stage;
    bool said;               /* a part has said why it failed */
    int64_t answers_ms;      /* since when the page answers */
    int signals, story, log; /* descriptors; -1: none */
    struct buf line, newest; /* of the story; of the log */
    struct demo_story told;
    struct buf block;
};

/* ---- files */

static char *path_in(const struct demo *d, const char *name)
{
    return xasprintf("%s/%s", d->folder, name);
}

static void use_folder(struct demo *d, char *path_steal)
{
    d->folder = path_steal;
    d->kubeconfig = path_in(d, "kubeconfig");
    d->ostler_kubeconfig = path_in(d, "ostler.kubeconfig");
    d->above = path_in(d, "above");
}

/* An image without any folder for files has one for shared memory. */
static int make_folder(struct demo *d, struct err *e)
{
    const char *const places[] = { getenv("TMPDIR"), "/tmp", "/dev/shm" };
    if (d->in_container && mkdir(FOLDER_IN_CONTAINER, 0700) == 0) {
        use_folder(d, xstrdup(FOLDER_IN_CONTAINER));
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (!places[i] || !*places[i])
            continue;
        CLEANUP_FREE char *path = xasprintf("%s/ostler-run.XXXXXX", places[i]);
        if (mkdtemp(path)) {
            use_folder(d, TAKE(path));
            return 0;
        }
    }
    return err_set(e, ERR_SYSTEM, "cannot create a folder in $TMPDIR, /tmp or /dev/shm: %s",
                   strerror(errno));
}

static void remove_folder(const struct demo *d)
{
    if (!d->folder)
        return;
    unlink(d->kubeconfig);
    unlink(d->ostler_kubeconfig);
    unlink(d->above);
    rmdir(d->folder);
}

/* ---- the page */

/* The port of an address that is free; -1 with an error. */
static int free_port(const char *address, struct err *e)
{
    CLEANUP_FD int fd = listen_on(address, "--fleet-listen", e);
    return fd < 0 ? -1 : listen_port(fd);
}

/* Chooses where the page listens: where the user says, else at the first free port. */
static int choose_page(struct demo *d, struct err *e)
{
    if (d->o.fleet_listen) {
        d->listen = xstrdup(d->o.fleet_listen);
        d->port = free_port(d->listen, e);
        return d->port < 0 ? -1 : 0;
    }
    const char *host = d->in_container ? "0.0.0.0" : "127.0.0.1";
    for (int i = 0; i < (d->in_container ? 1 : PORTS); i++) {
        err_clear(e);
        free(d->listen);
        d->listen = xasprintf("%s:%d", host, PORT + i);
        d->port = free_port(d->listen, e);
        if (d->port >= 0)
            return 0;
    }
    return -1;
}

/* Whether a program accepts connections at the port of the page. */
static bool page_answers(const struct demo *d)
{
    CLEANUP_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t) d->port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    return fd >= 0 && connect(fd, (const struct sockaddr *) &to, sizeof to) == 0;
}

/* ---- the parts */

static int start(struct demo *d, enum part part, const struct demo_child *c, struct err *e)
{
    pid_t pid = demo_child_start(c, e);
    d->pids[part] = pid > 0 ? pid : 0;
    return pid > 0 ? 0 : -1;
}

/* Makes a pipe; its end to read never blocks. */
static int make_pipe(int ret[2], struct err *e)
{
    if (pipe2(ret, O_CLOEXEC) < 0)
        return err_set(e, ERR_SYSTEM, "cannot create a pipe: %s", strerror(errno));
    return fcntl(ret[0], F_SETFL, O_NONBLOCK) < 0
               ? err_set(e, ERR_SYSTEM, "cannot use a pipe: %s", strerror(errno))
               : 0;
}

static int start_simulator(struct demo *d, struct err *e)
{
    int told[2], given[2] = { -1, -1 };
    if (make_pipe(told, e) < 0)
        return -1;
    d->story = told[0];
    CLEANUP_FD int out = told[1], in = -1, full = -1;
    if (!d->o.scenario) {
        /* The pipe holds all of it, so that nothing waits for a reader. */
        if (make_pipe(given, e) < 0)
            return -1;
        in = given[0];
        full = given[1];
        fcntl(in, F_SETFL, 0);
        if (write(full, demo_scenario, demo_scenario_len) != (ssize_t) demo_scenario_len)
            return err_set(e, ERR_SYSTEM, "cannot write the scenario: %s", strerror(errno));
    }
    const char *const words[] = { part_names[SIMULATOR],
                                  "--tell",
                                  "--scenario",
                                  d->o.scenario ? d->o.scenario : "-",
                                  "--speed",
                                  d->o.speed,
                                  "--kubeconfig",
                                  d->kubeconfig,
                                  "--ostler-kubeconfig",
                                  d->ostler_kubeconfig,
                                  NULL };
    return start(d, SIMULATOR,
                 &(struct demo_child){ .words = words, .in = in, .out = out, .err = -1 }, e);
}

static int start_ostler(struct demo *d, struct err *e)
{
    const char *const words[] = { part_names[OSTLER],
                                  "run",
                                  "--kubeconfig",
                                  d->ostler_kubeconfig,
                                  "--listen",
                                  "",
                                  "--fleet-listen",
                                  d->listen,
                                  "--log-format",
                                  "text",
                                  "--agent-image",
                                  "registry.example/ostler:0.1.0",
                                  NULL };
    if (d->o.log)
        return start(
            d, OSTLER,
            &(struct demo_child){ .words = words, .in = -1, .out = -1, .err = STDOUT_FILENO }, e);
    int logged[2];
    if (make_pipe(logged, e) < 0)
        return -1;
    d->log = logged[0];
    CLEANUP_FD int err = logged[1];
    return start(d, OSTLER,
                 &(struct demo_child){ .words = words, .in = -1, .out = err, .err = err }, e);
}

/* The plugin reads what is above its view from a file, in each picture anew. */
static int start_view(struct demo *d, struct err *e)
{
    const char *const words[] = { part_names[VIEW], "status",      "--watch",
                                  "--kubeconfig",   d->kubeconfig, NULL };
    setenv("OSTLER_WATCH_ABOVE", d->above, 1);
    return start(d, VIEW, &(struct demo_child){ .words = words, .in = -1, .out = -1, .err = -1 },
                 e);
}

/* ---- what is shown */

/* The folder of the programs as the user would write it, with its "/"; "" if PATH has it. Owned by
 * the caller. */
static char *programs_folder(void)
{
    char file[PATH_MAX], here[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", file, sizeof file - 1);
    if (n <= 0)
        return xstrdup("");
    file[n] = '\0';
    file[strrchr(file, '/') - file + 1] = '\0';
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    bool below = length > 1 && strncmp(file, here, length) == 0 && file[length] == '/';
    return xstrdup(str_eq(file, "/usr/bin/") ? "" : below ? file + length + 1 : file);
}

static bool in_path(const char *program)
{
    CLEANUP_FREE char *path = xstrdup(str_or_empty(getenv("PATH")));
    char *rest = path;
    for (const char *folder; (folder = strsep(&rest, ":"));) {
        CLEANUP_FREE char *file = xasprintf("%s/%s", folder, program);
        struct stat st;
        if (stat(file, &st) == 0 && S_ISREG(st.st_mode) && access(file, X_OK) == 0)
            return true;
    }
    return false;
}

static void write_block(struct demo *d)
{
    CLEANUP_FREE char *folder = programs_folder();
    struct utsname machine;
    bool known = uname(&machine) == 0;
    demo_texts_block(&(struct demo_texts){ .version = ostler_version,
                                           .speed = d->o.speed,
                                           .port = d->port,
                                           .kubeconfig = d->kubeconfig,
                                           .container = d->in_container
                                                            ? known ? machine.nodename : "NAME"
                                                            : NULL,
                                           .folder = folder,
                                           .built_in = !d->o.scenario,
                                           .lacks_kubectl = !in_path("kubectl"),
                                           .machine = known ? machine.machine : "" },
                     &d->block);
}

/* Writes what is above the live view. */
static void write_above(const struct demo *d)
{
    struct winsize size = { 0 };
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    CLEANUP_BUF struct buf text = BUF_INIT(ABOVE_MAX);
    buf_str(&text, buf_text(&d->block));
    demo_story_print(&d->told, size.ws_col ? size.ws_col : 80, &text);
    CLEANUP_ERR struct err e = { 0 };
    (void) file_write(d->above, 0600, text.data, text.len, &e); /* the view goes on without */
}

static void show_block(struct demo *d)
{
    write_block(d);
    d->answers_ms = clock_now_ms();
    d->stage = d->live ? VIEW_BEGINS : SHOWN;
    printf("%s%s", d->live ? "\033[H\033[2J" : "", buf_text(&d->block));
    fflush(stdout);
}

static int show_view(struct demo *d, struct err *e)
{
    d->stage = SHOWN;
    write_above(d);
    return start_view(d, e);
}

/* ---- what comes from the parts */

static void take_line(struct demo *d, const char *line, size_t len)
{
    if (!d->live) {
        printf("%.*s\n", (int) len, line);
        fflush(stdout);
        return;
    }
    demo_story_add(&d->told, line, len);
    if (d->stage == SHOWN)
        write_above(d);
}

/* Reads what a pipe has; closes it at its end. False: nothing more now. */
static bool read_some(int *fd, char *bytes, size_t size, size_t *ret_n)
{
    ssize_t n = *fd < 0 ? -1 : read(*fd, bytes, size);
    if (n == 0)
        file_close(fd);
    *ret_n = n > 0 ? (size_t) n : 0;
    return n > 0;
}

static void read_story(struct demo *d)
{
    char bytes[4096];
    for (size_t n; read_some(&d->story, bytes, sizeof bytes, &n);) {
        for (size_t i = 0; i < n; i++) {
            if (bytes[i] == '\n') {
                take_line(d, buf_text(&d->line), d->line.len);
                buf_reset(&d->line);
            } else {
                (void) !buf_add(&d->line, bytes + i, 1); /* a longer line is cut */
            }
        }
    }
}

static void read_log(struct demo *d)
{
    char bytes[4096];
    for (size_t n; read_some(&d->log, bytes, sizeof bytes, &n);) {
        if (d->newest.len + n > LOG_MAX)
            buf_consume(&d->newest, d->newest.len + n - LOG_MAX);
        (void) !buf_add(&d->newest, bytes, n);
    }
}

/* ---- its life */

/* Goes on to the next stage when the parts are ready for it. */
static int demo_step(struct demo *d, struct err *e)
{
    struct stat st;
    switch (d->stage) {
    case CLUSTER_BEGINS:
        if (stat(d->kubeconfig, &st) < 0 || st.st_size == 0)
            return 0;
        d->stage = PAGE_BEGINS;
        return start_ostler(d, e);
    case PAGE_BEGINS:
        if (page_answers(d))
            show_block(d);
        return 0;
    case VIEW_BEGINS:
        return clock_now_ms() - d->answers_ms >= VIEW_MS ? show_view(d, e) : 0;
    case SHOWN:
        return 0;
    }
    return 0;
}

/* Collects parts that have ended; an error names one that should not have. */
static int collect(struct demo *d, struct err *e)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (enum part p = 0; p < PARTS; p++)
            if (d->pids[p] == pid) {
                d->pids[p] = 0;
                err_set(e, ERR_SYSTEM, "%s ended by itself", part_names[p]);
                /* A simulator that cannot begin has said why. */
                d->said |= p == SIMULATOR && d->stage == CLUSTER_BEGINS && WIFEXITED(status) &&
                           WEXITSTATUS(status) != 0;
            }
    return e->kind == ERR_NONE ? 0 : -1;
}

/* Whether a signal has come that ends it; waits so long for one. */
static bool is_to_end(const struct demo *d, int wait_ms)
{
    struct pollfd fd = { .fd = d->signals, .events = POLLIN };
    bool ends = false;
    struct signalfd_siginfo got;
    (void) poll(&fd, 1, wait_ms);
    while (read(d->signals, &got, sizeof got) == (ssize_t) sizeof got)
        ends = ends || got.ssi_signo != SIGCHLD;
    return ends;
}

/* Waits for something to happen. 1: a signal ends it; -1: an error. */
static int demo_turn(struct demo *d, struct err *e)
{
    struct pollfd fds[] = { { .fd = d->signals, .events = POLLIN },
                            { .fd = d->story, .events = POLLIN },
                            { .fd = d->log, .events = POLLIN } };
    (void) poll(fds, ARRAY_LEN(fds), d->stage == SHOWN ? -1 : TICK_MS);
    if (is_to_end(d, 0))
        return 1;
    read_story(d);
    read_log(d);
    if (collect(d, e) == 0)
        return demo_step(d, e);
    /* A terminal that closes, or Ctrl-C, may end a part before this process hears of it. */
    return is_to_end(d, SIGNAL_MS) ? 1 : -1;
}

static int demo_run(struct demo *d, struct err *e)
{
    int64_t began_ms = clock_now_ms();
    int rc = 0;
    while (rc == 0) {
        rc = demo_turn(d, e);
        if (rc == 0 && d->stage <= PAGE_BEGINS && clock_now_ms() - began_ms > BEGIN_MS)
            rc = err_set(e, ERR_SYSTEM, "the page at port %d does not answer", d->port);
    }
    return rc < 0 ? -1 : 0;
}

/* Ends all parts, at last by force. */
static void end(struct demo *d)
{
    int64_t began_ms = clock_now_ms();
    int number = SIGTERM;
    for (bool left = true; left;) {
        left = false;
        CLEANUP_ERR struct err e = { 0 };
        (void) collect(d, &e);
        for (enum part p = 0; p < PARTS; p++) {
            if (d->pids[p] && number)
                kill(d->pids[p], number);
            left = left || d->pids[p];
        }
        read_story(d);
        read_log(d);
        number = clock_now_ms() - began_ms > END_MS ? SIGKILL : 0;
        if (left)
            (void) poll(NULL, 0, TICK_MS);
    }
}

/* Takes the signals that end it, and those of its parts. One that nohup ignores stays ignored. */
static int take_signals(struct demo *d, struct err *e)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        struct sigaction now;
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&set, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    d->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return d->signals < 0 ? err_set(e, ERR_SYSTEM, "cannot receive signals: %s", strerror(errno))
                          : 0;
}

static int begin(struct demo *d, struct err *e)
{
    /* As systemd and podman tell a program that it is in a container; Ostler's image does, too. */
    d->in_container = getenv("container") || getpid() == 1;
    d->live = !d->o.log && isatty(STDOUT_FILENO) && !str_eq(getenv("TERM"), "dumb");
    return take_signals(d, e) < 0 || choose_page(d, e) < 0 || make_folder(d, e) < 0
               ? -1
               : start_simulator(d, e);
}

static void demo_clear(struct demo *d)
{
    remove_folder(d);
    free(d->folder);
    free(d->kubeconfig);
    free(d->ostler_kubeconfig);
    free(d->above);
    free(d->listen);
    file_close(&d->signals);
    file_close(&d->story);
    file_close(&d->log);
    buf_clear(&d->line);
    buf_clear(&d->newest);
    buf_clear(&d->block);
    demo_story_clear(&d->told);
}

int demo_main(int argc, char **argv)
{
    struct demo d = { .signals = -1,
                      .story = -1,
                      .log = -1,
                      .line = BUF_INIT(STORY_MAX),
                      .newest = BUF_INIT(LOG_MAX),
                      .block = BUF_INIT(ABOVE_MAX) };
    CLEANUP_ERR struct err e = { 0 };
    if (demo_options_parse(argc, argv, &d.o, &e) < 0) {
        fprintf(stderr, "ostler demo: %s\n", err_msg(&e));
        return 2;
    }
    if (d.o.help) {
        demo_options_help();
        return 0;
    }
    bool failed = begin(&d, &e) < 0 || demo_run(&d, &e) < 0;
    end(&d);
    if (failed && !d.said)
        fprintf(stderr, "%sostler demo: %s\n", buf_text(&d.newest), err_msg(&e));
    demo_clear(&d);
    return failed ? 1 : 0;
}
