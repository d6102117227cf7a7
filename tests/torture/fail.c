/* Preloaded into a program, makes one of its calls fail that may fail, or all from one on: allocations, or system calls and what the C library
 * makes of them. What is asked for stands in the environment:
 *
 *     FAIL_CLASS=memory|system   which calls count
 *     FAIL_AT=k                  the k-th of them fails (1: the first; 0: none)
 *     FAIL_FOREVER=1             and all after it
 *     FAIL_REPORT=FILE           at the end: how many there were, and what failed first
 *
 * Only calls of the program's own life count: those before main() and those that write messages do not. */
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum class { MEMORY, SYSTEM };

static struct {
    bool ready;
    bool busy; /* in here: what is called now is not counted */
    enum class class;
    uint64_t at, count;
    bool forever;
    const char *first; /* what failed first */
} state;

static void report(void)
{
    const char *path = getenv("FAIL_REPORT");
    state.busy = true;
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%llu %s\n", (unsigned long long) state.count, state.first ? state.first : "nothing");
    fclose(f);
}

/* Whether this call fails. The report is written when something fails and not only at the end, which may be sudden. */
static bool fails(enum class class, const char *name)
{
    if (!state.ready || state.busy || class != state.class)
        return false;
    state.count++;
    if (state.at == 0 || state.count < state.at || (state.count > state.at && !state.forever))
        return false;
    if (!state.first) {
        state.first = name;
        state.busy = true;
        report();
        state.busy = false;
    }
    return true;
}

#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (!real)                                                                                     \
    real = (__typeof__(&name)) dlsym(RTLD_NEXT, #name)

/* name, result type, parameters, arguments, value of a failure, errno */
#define CALLS(X)                                                                                   \
    X(SYSTEM, read, ssize_t, (int fd, void *b, size_t n), (fd, b, n), -1, EIO)                     \
    X(SYSTEM, recv, ssize_t, (int fd, void *b, size_t n, int g), (fd, b, n, g), -1, ECONNRESET)    \
    X(SYSTEM, send, ssize_t, (int fd, const void *b, size_t n, int g), (fd, b, n, g), -1, EPIPE)   \
    X(SYSTEM, socket, int, (int d, int t, int p), (d, t, p), -1, EMFILE)                           \
    X(SYSTEM, connect, int, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), -1,       \
      ECONNREFUSED)                                                                                \
    X(SYSTEM, bind, int, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), -1,          \
      EADDRINUSE)                                                                                  \
    X(SYSTEM, listen, int, (int fd, int n), (fd, n), -1, EADDRINUSE)                               \
    X(SYSTEM, epoll_create1, int, (int g), (g), -1, EMFILE)                                        \
    X(SYSTEM, epoll_ctl, int, (int e, int o, int fd, struct epoll_event *v), (e, o, fd, v), -1,    \
      ENOMEM)                                                                                      \
    X(SYSTEM, timerfd_create, int, (clockid_t c, int g), (c, g), -1, EMFILE)                       \
    X(SYSTEM, timerfd_settime, int,                                                                \
      (int fd, int g, const struct itimerspec *n, struct itimerspec *o), (fd, g, n, o), -1, EINVAL) \
    X(SYSTEM, signalfd, int, (int fd, const sigset_t *s, int g), (fd, s, g), -1, EMFILE)           \
    X(SYSTEM, fopen, FILE *, (const char *p, const char *m), (p, m), NULL, EACCES)                 \
    X(MEMORY, strdup, char *, (const char *s), (s), NULL, ENOMEM)

#define X(class, name, type, parameters, arguments, failure, code)                                 \
    type name parameters                                                                           \
    {                                                                                              \
        REAL(name);                                                                                \
        if (!fails(class, #name))                                                                  \
            return real arguments;                                                                 \
        errno = code;                                                                              \
        return failure;                                                                            \
    }
CALLS(X)
#undef X

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    REAL(getaddrinfo);
    return fails(SYSTEM, "getaddrinfo") ? EAI_AGAIN : real(node, service, hints, ret);
}

/* ---- memory: dlsym() itself allocates, so the library's own names are used */

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
    if (!fails(MEMORY, "malloc"))
        return __libc_malloc(n);
    errno = ENOMEM;
    return NULL;
}

void *calloc(size_t n, size_t size)
{
    if (!fails(MEMORY, "calloc"))
        return __libc_calloc(n, size);
    errno = ENOMEM;
    return NULL;
}

void *realloc(void *p, size_t n)
{
    if (!fails(MEMORY, "realloc"))
        return __libc_realloc(p, n);
    errno = ENOMEM;
    return NULL;
}

/* ---- from when on */

static int (*program)(int argc, char **argv, char **envp);

static int begin(int argc, char **argv, char **envp)
{
    const char *class = getenv("FAIL_CLASS"), *at = getenv("FAIL_AT");
    state.class = class && strcmp(class, "memory") == 0 ? MEMORY : SYSTEM;
    state.at = at ? strtoull(at, NULL, 10) : 0;
    state.forever = getenv("FAIL_FOREVER") != NULL;
    atexit(report);
    state.ready = true;
    return program(argc, argv, envp);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    REAL(__libc_start_main);
    program = main;
    return real(begin, argc, argv, init, fini, rtld_fini, stack_end);
}
