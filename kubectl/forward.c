#include "kubectl/forward.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "kubectl/page.h"

enum { TEXT_MAX = 64 << 10, WORDS_MAX = 16, ANSWER_SECS = 3 };

extern char **environ;

/* ---- the program */

/* Resets the signal mask, as this program reads its signals from a descriptor. */
static int forward_spawn(struct forward *f, char *const *argv, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int rc = posix_spawnp(&f->pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static int forward_run(struct forward *f, char *const *argv, struct err *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_set(e, ERR_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    fcntl(ends[1], F_SETFL, 0); /* the program's end stays blocking */
    int rc = forward_spawn(f, argv, ends[1]);
    close(ends[1]);
    f->output = ends[0];
    f->text = (struct buf) BUF_INIT(TEXT_MAX);
    if (rc == 0)
        return 0;
    f->pid = 0;
    close(ends[0]);
    return err_set(e, ERR_SYSTEM, "cannot run kubectl, which makes the connection to the page: %s",
                   strerror(rc));
}

int forward_start(struct forward *f, const struct gpu_options *o, const char *ns, const char *pod,
                  int local_port, struct err *e)
{
    const char *words[WORDS_MAX] = { "kubectl" };
    size_t n = 1;
    CLEANUP_FREE char *target = xasprintf("pod/%s", pod), *ports = NULL;
    ports = local_port ? xasprintf("%d:%d", local_port, PAGE_PORT) : xasprintf(":%d", PAGE_PORT);
    if (o->kubeconfig) {
        words[n++] = "--kubeconfig";
        words[n++] = o->kubeconfig;
    }
    if (o->context) {
        words[n++] = "--context";
        words[n++] = o->context;
    }
    const char *const rest[] = { "--namespace", ns,     "port-forward", "--address",
                                 "127.0.0.1",   target, ports };
    for (size_t i = 0; i < ARRAY_LEN(rest); i++)
        words[n++] = rest[i];
    *f = (struct forward){ 0 };
    return forward_run(f, (char *const *) words, e);
}

/* ---- what it prints */

/* Takes "Forwarding from 127.0.0.1:40123 -> 8081", and drops what it says of each connection. */
static void read_lines(struct forward *f)
{
    static const char listens[] = "Forwarding from 127.0.0.1:", handles[] = "Handling connection";
    for (char *line = f->text.data, *end; line && (end = strchr(line, '\n'));) {
        size_t at = (size_t) (line - f->text.data), n = (size_t) (end + 1 - line);
        bool listening = str_has_prefix(line, listens), drop = str_has_prefix(line, handles);
        if (listening)
            f->port = atoi(line + sizeof listens - 1);
        if (listening || drop || *line == '\n') {
            memmove(line, end + 1, f->text.len - at - n + 1);
            f->text.len -= n;
        } else {
            line = end + 1;
        }
    }
}

bool forward_look(struct forward *f)
{
    char part[4096];
    ssize_t n;
    while ((n = read(f->output, part, sizeof part)) > 0) {
        if (!buf_add(&f->text, part, (size_t) n))
            buf_reset(&f->text); /* what it complains of now counts more */
        read_lines(f);
    }
    return waitpid(f->pid, NULL, WNOHANG) == 0 || ((f->pid = 0), false);
}

const char *forward_complaint(const struct forward *f)
{
    const char *text = buf_text(&f->text), *at = text;
    /* The last line with something in it. */
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (*line != '\n')
            at = line;
    return at;
}

/* ---- the page */

static int page_dial(int port)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t) port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const struct timeval limit = { .tv_sec = ANSWER_SECS };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (const struct sockaddr *) &to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

bool forward_answers(const struct forward *f)
{
    static const char ok[] = "HTTP/1.1 200 ";
    char answer[sizeof ok] = "";
    int fd = page_dial(f->port);
    if (fd < 0)
        return false;
    CLEANUP_FREE char *request = xasprintf("HEAD / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
                                           f->port);
    bool sent = send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t) strlen(request);
    ssize_t n = sent ? recv(fd, answer, sizeof ok - 1, MSG_WAITALL) : -1;
    close(fd);
    return n == (ssize_t) sizeof ok - 1 && str_eq(answer, ok);
}

void forward_end(struct forward *f)
{
    if (f->pid) {
        kill(f->pid, SIGTERM);
        waitpid(f->pid, NULL, 0);
    }
    if (f->text.max)
        close(f->output);
    buf_clear(&f->text);
    *f = (struct forward){ 0 };
}
