/* gRPC over a Unix socket. The server is a list of bytes: the frames of HTTP/2 that one would send,
 * whatever it is asked. */
#include "node/cri/grpc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { ANSWER_MAX = 16, LIMIT_MS = 5000 };

#define BYTES(text) text, sizeof text - 1

/* Frames (RFC 9113): 3 bytes of length, type, flags, 4 bytes of stream. Headers (RFC 7541): 0x88 is
 * ":status: 200", and 0x00 has a name and a value behind their lengths. */
#define SETTINGS "\0\0\0\4\0\0\0\0\0"
#define HEADERS "\0\0\1\1\4\0\0\0\1\x88"
#define DATA(len) "\0\0" len "\0\0\0\0\0\1"
#define TRAILERS(len) "\0\0" len "\1\5\0\0\0\1"
#define STATUS(number) "\0\x0bgrpc-status\1" number
#define GOOD TRAILERS("\x0f") STATUS("0")

static const struct row {
    const char *name;
    const char *answer; /* NULL: no server listens */
    size_t len;
    const char *message; /* NULL: an error */
    enum err_kind kind;
    const char *error; /* a part of it */
    size_t max;        /* of the answer; 0: enough */
} rows[] = {
    { "a message", BYTES(SETTINGS HEADERS DATA("\7") "\0\0\0\0\2ok" GOOD), "ok", ERR_NONE, "", 0 },
    { "an empty message", BYTES(SETTINGS HEADERS DATA("\5") "\0\0\0\0\0" GOOD), "", ERR_NONE, "",
      0 },
    { "a message in two parts",
      BYTES(SETTINGS HEADERS DATA("\6") "\0\0\0\0\2o" DATA("\1") "k" GOOD), "ok", ERR_NONE, "", 0 },
    { "the server knows no such method",
      BYTES(SETTINGS HEADERS TRAILERS("\x10") "\0\x0bgrpc-status\2"
                                              "12"),
      NULL, ERR_NOT_FOUND, "/a.B/C: no reason was given (gRPC status 12)", 0 },
    { "the server refuses, and says why",
      BYTES(SETTINGS HEADERS TRAILERS("\x25") STATUS("2") "\0\x0cgrpc-message\7no%0Ait"), NULL,
      ERR_SERVER, "/a.B/C: no\nit (gRPC status 2)", 0 },
    { "a message without an end", BYTES(SETTINGS HEADERS DATA("\6") "\0\0\0\0\2o" GOOD), NULL,
      ERR_INVALID, "/a.B/C: the answer is not a gRPC message", 0 },
    { "a message that is compressed", BYTES(SETTINGS HEADERS DATA("\7") "\1\0\0\0\2ok" GOOD), NULL,
      ERR_INVALID, "/a.B/C: the answer is not a gRPC message", 0 },
    { "no message", BYTES(SETTINGS HEADERS GOOD), NULL, ERR_INVALID,
      "/a.B/C: the answer is not a gRPC message", 0 },
    { "more than is taken", BYTES(SETTINGS HEADERS DATA("\7") "\0\0\0\0\2ok" GOOD), NULL,
      ERR_TOO_LARGE, "is longer than 6 bytes", 6 },
    { "another protocol", BYTES("HTTP/1.1 400 Bad Request\r\n\r\n"), NULL, ERR_NOT_FOUND,
      "does not speak gRPC", 0 },
    { "a server that ends", BYTES(SETTINGS), NULL, ERR_NOT_FOUND, "does not speak gRPC", 0 },
    { "no server", NULL, 0, NULL, ERR_UNREACHABLE, "no server answers on ", 0 },
};

/* Answers one client, once it has said something. */
static void serve(int listener, const struct row *row)
{
    char heard[4096];
    int fd = accept(listener, NULL, NULL);
    if (fd < 0 || read(fd, heard, sizeof heard) <= 0 ||
        write(fd, row->answer, row->len) != (ssize_t) row->len)
        _exit(1);
    if (row->len < sizeof SETTINGS HEADERS)
        shutdown(fd, SHUT_WR);
    while (read(fd, heard, sizeof heard) > 0)
        continue;
    _exit(0);
}

static pid_t begin_server(const char *path, const struct row *row)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *) &address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener, row);
    }
    close(listener);
    return pid;
}

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_BUF struct buf request = BUF_INIT(16),
                           answer = BUF_INIT(row->max ? row->max : ANSWER_MAX);
    char folder[] = "/tmp/ostler-grpc-XXXXXX";
    assert_non_null(mkdtemp(folder));
    CLEANUP_FREE char *path = xasprintf("%s/runtime.sock", folder);
    pid_t pid = row->answer ? begin_server(path, row) : 0;
    int rc = grpc_call(path, "/a.B/C", &request, LIMIT_MS, &answer, &e);
    if (pid) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    unlink(path);
    rmdir(folder);
    assert_non_null(strstr(err_msg(&e), row->error));
    assert_int_equal(e.kind, row->kind);
    assert_int_equal(rc, row->message ? 0 : -1);
    if (row->message)
        assert_string_equal(buf_text(&answer), row->message);
}

/* A server that takes calls and never answers. */
static void what_does_not_answer_is_not_waited_for_for_ever(void **state)
{
    (void) state;
    static const struct row silent = { .answer = "", .len = 0 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_BUF struct buf request = BUF_INIT(16), answer = BUF_INIT(ANSWER_MAX);
    char folder[] = "/tmp/ostler-grpc-XXXXXX";
    assert_non_null(mkdtemp(folder));
    CLEANUP_FREE char *path = xasprintf("%s/runtime.sock", folder);
    pid_t pid = begin_server(path, &silent);
    kill(pid, SIGSTOP);
    assert_int_equal(grpc_call(path, "/a.B/C", &request, 100, &answer, &e), -1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    unlink(path);
    rmdir(folder);
    assert_int_equal(e.kind, ERR_TIMEOUT);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "what does not answer is not waited for for ever",
              what_does_not_answer_is_not_waited_for_for_ever, NULL);
    return suite_run(&s, "gRPC");
}
