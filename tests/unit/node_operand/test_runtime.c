/* When the container runtime is back after its configuration was changed. */
#include "node/operand/runtime.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

/* A runtime: processes one after the other, each of which listens for so long, with a pause between
 * them. The last one stays. */
struct life {
    int lives; /* 0: none ever listens */
    int each_ms, pause_ms;
};

static void listen_at(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    if (fd < 0 || bind(fd, (const struct sockaddr *) &address, sizeof address) < 0 ||
        listen(fd, 8) < 0)
        _exit(1);
}

static void live(const char *path, const struct life *life)
{
    for (int i = 1; i <= life->lives; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            signal(SIGHUP, SIG_DFL); /* who runs the tests may ignore it */
            listen_at(path);
            while (i == life->lives)
                pause();
            usleep((useconds_t) life->each_ms * 1000);
            _exit(0);
        }
        waitpid(pid, NULL, 0);
        usleep((useconds_t) life->pause_ms * 1000);
    }
    _exit(0);
}

static const struct row {
    const char *name;
    struct life life;
    struct runtime_times times;
    const char *error; /* part of it */
    int64_t least_ms;
} rows[] = {
    { "it stays the process that it was", { 1, 0, 0 }, { 5000, 600, 100, 0 }, NULL, 600 },
    { "another comes after a pause", { 2, 300, 300 }, { 5000, 3000, 200, 0 }, NULL, 700 },
    { "it does not come back", { .lives = 0 }, { 300, 100, 100, 0 }, "does not answer since", 300 },
    { "it keeps restarting",
      { 1000, 100, 0 },
      { 1500, 1000, 1000, 0 },
      "keeps restarting since",
      1500 },
};

static void check(void **state)
{
    const struct row *row = *state;
    char folder[] = "/tmp/ostler-runtime-XXXXXX";
    CLEANUP_ERR struct err e = { 0 };
    struct clock clock = clock_system();
    assert_non_null(mkdtemp(folder));
    CLEANUP_FREE char *path = xasprintf("%s/runtime.sock", folder);
    pid_t pid = fork();
    if (pid == 0)
        live(path, &row->life);
    for (int i = 0; i < 500 && row->life.lives && !runtime_process(path); i++)
        usleep(10 * 1000);
    pid_t before = runtime_process(path);
    int64_t began_ms = clock_mono_ms(&clock);
    int rc = runtime_await(path, before, &row->times, &e);
    int64_t took_ms = clock_mono_ms(&clock) - began_ms;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    unlink(path);
    rmdir(folder);
    assert_true(strstr(err_msg(&e), str_or_empty(row->error)) != NULL);
    assert_int_equal(rc, row->error ? -1 : 0);
    assert_true(took_ms >= row->least_ms - 100);
}

/* The signal ends it, and another comes: that one is waited for, and not signalled. */
static void check_restart(void **state)
{
    (void) state;
    static const struct life life = { 2, 60 * 1000, 300 };
    static const struct runtime_times times = { 5000, 3000, 200, 0 };
    char folder[] = "/tmp/ostler-runtime-XXXXXX";
    CLEANUP_ERR struct err e = { 0 };
    assert_non_null(mkdtemp(folder));
    CLEANUP_FREE char *path = xasprintf("%s/runtime.sock", folder);
    pid_t pid = fork();
    if (pid == 0)
        live(path, &life);
    pid_t before = 0;
    for (int i = 0; i < 500 && !before; i++, usleep(10 * 1000))
        before = runtime_process(path);
    int rc = runtime_restart(path, &times, &e);
    pid_t after = runtime_process(path);
    kill(pid, SIGKILL); /* and with it who listens */
    waitpid(pid, NULL, 0);
    unlink(path);
    rmdir(folder);
    assert_string_equal(err_msg(&e), "");
    assert_int_equal(rc, 0);
    assert_true(before && after && after != before);
}

static void check_no_path(void **state)
{
    (void) state;
    char long_path[300];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    assert_int_equal(runtime_process("/nowhere/at.sock"), 0);
    assert_int_equal(runtime_process(long_path), 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "restart: it is signalled, and another comes", check_restart, NULL);
    suite_add(&s, "no such socket", check_no_path, NULL);
    return suite_run(&s, "the container runtime");
}
