/* Preloaded into a program, makes one of its calls fail that may fail, or all from one on:
 * allocations, or system calls and what the C library makes of them. What is asked for stands in
 * the environment:
 *
 *     FAIL_CALLS=memory|system|NAME   which calls count: allocations, all others, or those of one
 *     name (epoll_ctl)
 *     FAIL_AT=k                       the k-th of them fails (1: the first; 0: none)
 *     FAIL_FOREVER=1                  and all after it
 *     FAIL_REPORT=FILE                what failed first ("nothing"), then a line for each name:
 *     calls until then, or until the
 * end; memory or system
 *
 * Only calls of the program's own life count: those before main() and those that write messages do
 * not. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
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

/* name, result type, parameters, arguments, value of a failure, errno */
#define CALLS(X)                                                                                   \
    X(read, ssize_t, (int fd, void *b, size_t n), (fd, b, n), -1, EIO)                             \
    X(recv, ssize_t, (int fd, void *b, size_t n, int g), (fd, b, n, g), -1, ECONNRESET)            \
    X(send, ssize_t, (int fd, const void *b, size_t n, int g), (fd, b, n, g), -1, EPIPE)           \
    X(socket, int, (int d, int t, int p), (d, t, p), -1, EMFILE)                                   \
    X(connect, int, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), -1, ECONNREFUSED) \
    X(bind, int, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), -1, EADDRINUSE)      \
    X(listen, int, (int fd, int n), (fd, n), -1, EADDRINUSE)                                       \
    X(setsockopt, int, (int fd, int l, int o, const void *v, socklen_t n), (fd, l, o, v, n), -1,   \
      ENOBUFS)                                                                                     \
    X(getsockopt, int, (int fd, int l, int o, void *v, socklen_t *n), (fd, l, o, v, n), -1,        \
      ENOBUFS)                                                                                     \
    X(getsockname, int, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n), -1, ENOBUFS)       \
    X(dup, int, (int fd), (fd), -1, EMFILE)                                                        \
    X(poll, int, (struct pollfd * f, nfds_t n, int ms), (f, n, ms), -1, ENOMEM)                    \
    X(epoll_create1, int, (int g), (g), -1, EMFILE)                                                \
    X(epoll_ctl, int, (int e, int o, int fd, struct epoll_event *v), (e, o, fd, v), -1, ENOMEM)    \
    X(epoll_wait, int, (int e, struct epoll_event *v, int n, int ms), (e, v, n, ms), -1, EINTR)    \
    X(timerfd_create, int, (clockid_t c, int g), (c, g), -1, EMFILE)                               \
    X(timerfd_settime, int, (int fd, int g, const struct itimerspec *n, struct itimerspec *o),     \
      (fd, g, n, o), -1, EINVAL)                                                                   \
    X(signalfd, int, (int fd, const sigset_t *s, int g), (fd, s, g), -1, EMFILE)                   \
    X(fopen, FILE *, (const char *p, const char *m), (p, m), NULL, EACCES)

/* Those that are written out below. */
#define OTHER_CALLS(X) X(open) X(getaddrinfo) X(malloc) X(calloc) X(realloc)

enum call {
#define X(name, ...) CALL_##name,
    CALLS(X) OTHER_CALLS(X)
#undef X
        CALL_COUNT
};

static const char *const names[CALL_COUNT] = {
#define X(name, ...) [CALL_##name] = #name,
    CALLS(X) OTHER_CALLS(X)
#undef X
};

static struct {
    bool ready;
    bool busy;               /* in here: what is called now is not counted */
    bool counts[CALL_COUNT]; /* those that are asked for */
    uint64_t calls[CALL_COUNT];
    uint64_t at, count;
    bool forever;
    const char *first; /* what failed first */
} state;

static bool is_memory(enum call call)
{
    return call == CALL_malloc || call == CALL_calloc || call == CALL_realloc;
}

static void report(void)
{
    const char *path = getenv("FAIL_REPORT");
    state.busy = true;
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%s\n", state.first ? state.first : "nothing");
    for (size_t i = 0; i < CALL_COUNT; i++)
        fprintf(f, "%s %llu %s\n", names[i], (unsigned long long) state.calls[i],
                is_memory((enum call) i) ? "memory" : "system");
    fclose(f);
}

/* Whether this call fails. The report is written when something fails and not only at the end,
 * which may be sudden. */
static bool fails(enum call call)
{
    if (!state.ready || state.busy)
        return false;
    state.calls[call]++;
    if (!state.counts[call])
        return false;
    state.count++;
    if (state.at == 0 || state.count < state.at || (state.count > state.at && !state.forever))
        return false;
    if (!state.first) {
        state.first = names[call];
        report();
        state.busy = false;
    }
    return true;
}

#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (!real)                                                                                     \
    real = (__typeof__(&name)) dlsym(RTLD_NEXT, #name)

#define X(name, type, parameters, arguments, failure, code)                                        \
    type name parameters                                                                           \
    {                                                                                              \
        REAL(name);                                                                                \
        if (!fails(CALL_##name))                                                                   \
            return real arguments;                                                                 \
        errno = code;                                                                              \
        return failure;                                                                            \
    }
CALLS(X)
#undef X

int open(const char *path, int flags, ...)
{
    REAL(open);
    va_list ap;
    va_start(ap, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0;
    va_end(ap);
    if (!fails(CALL_open))
        return real(path, flags, mode);
    errno = EMFILE;
    return -1;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret)
{
    REAL(getaddrinfo);
    return fails(CALL_getaddrinfo) ? EAI_AGAIN : real(node, service, hints, ret);
}

/* ---- memory: dlsym() itself allocates, so the library's own names are used */

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
    if (!fails(CALL_malloc))
        return __libc_malloc(n);
    errno = ENOMEM;
    return NULL;
}

void *calloc(size_t n, size_t size)
{
    if (!fails(CALL_calloc))
        return __libc_calloc(n, size);
    errno = ENOMEM;
    return NULL;
}

void *realloc(void *p, size_t n)
{
    if (!fails(CALL_realloc))
        return __libc_realloc(p, n);
    errno = ENOMEM;
    return NULL;
}

/* ---- from when on */

static int (*program)(int argc, char **argv, char **envp);

static int begin(int argc, char **argv, char **envp)
{
    const char *calls = getenv("FAIL_CALLS"), *at = getenv("FAIL_AT");
    for (size_t i = 0; calls && i < CALL_COUNT; i++)
        state.counts[i] = strcmp(calls, names[i]) == 0 ||
                          strcmp(calls, is_memory((enum call) i) ? "memory" : "system") == 0;
    state.at = at ? strtoull(at, NULL, 10) : 0;
    state.forever = getenv("FAIL_FOREVER") != NULL;
    atexit(report);
    state.ready = true;
    return program(argc, argv, envp);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    REAL(__libc_start_main);
    program = main;
    return real(begin, argc, argv, init, fini, rtld_fini, stack_end);
}
