#include "commands/demo_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* This program, also when its file was replaced meanwhile. */
#define SELF "/proc/self/exe"

static void use_as(int fd, int as)
{
    if (fd >= 0)
        dup2(fd, as);
}

static void run(const struct demo_child *c, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1); /* it ended before the line above */
    int nothing = c->in < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    use_as(nothing >= 0 ? nothing : c->in, STDIN_FILENO);
    use_as(c->out, STDOUT_FILENO);
    use_as(c->err, STDERR_FILENO);
    execv(SELF, (char *const *) c->words);
    _exit(127);
}

pid_t demo_child_start(const struct demo_child *c, struct err *e)
{
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        run(c, parent);
    return pid < 0 ? err_set(e, ERR_SYSTEM, "cannot start %s: %s", c->words[0], strerror(errno))
                   : pid;
}
