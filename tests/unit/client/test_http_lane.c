/* The client when the kernel does not watch a socket: epoll_ctl() is this program's own, which
 * fails when a test says so. */
#include "client/http_lane.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/support/client.h"

static int failing_op; /* the next call for this operation fails; 0: none does */

int epoll_ctl(int epoll_fd, int op, int fd, struct epoll_event *event)
{
    if (op != failing_op)
        return (int) syscall(SYS_epoll_ctl, epoll_fd, op, fd, event);
    failing_op = 0;
    errno = ENOSPC;
    return -1;
}

static const struct unwatched_case {
    const char *name;
    int op;
    bool tls;
    enum request_class class;
    enum err_kind kind; /* ERR_NONE: an answer comes all the same */
} unwatched_cases[] = {
    { "a read on a new socket fails", EPOLL_CTL_ADD, false, REQUEST_READ, ERR_UNREACHABLE },
    { "a write on a new socket fails", EPOLL_CTL_ADD, true, REQUEST_WRITE, ERR_UNREACHABLE },
    { "a watch on a new socket fails", EPOLL_CTL_ADD, true, REQUEST_WATCH, ERR_UNREACHABLE },
    { "a request fails whose socket is to be watched for something else", EPOLL_CTL_MOD, true,
      REQUEST_LEASE, ERR_UNREACHABLE },
    { "a socket that stays watched while it is idle does no harm", EPOLL_CTL_DEL, true,
      REQUEST_READ, ERR_NONE },
};

/* It ends at once and with a reason, the others of its lane go on, and the lane takes new ones. */
static void check_unwatched(void **state)
{
    const struct unwatched_case *u = *state;
    struct client c;
    if (u->tls)
        client_open_tls(&c);
    else
        client_open_plain(&c);
    struct answer beside = { 0 }, struck = { 0 }, next = { 0 };
    client_ask(&c, &beside, u->class, "/slow?0.5");
    client_run_for(&c, 100);
    int64_t begin = client_now_ms();
    failing_op = u->op;
    client_ask(&c, &struck, u->class, "/echo");
    client_run_until(&c, &struck.done);
    assert_int_equal(failing_op, 0);
    assert_true(client_now_ms() - begin < 2000);
    if (u->kind == ERR_NONE)
        answer_expect_ok(&struck);
    else
        answer_expect_error(&struck, u->kind,
                            "its socket cannot be watched: No space left on device");
    client_ask(&c, &next, u->class, "/echo");
    client_run_until(&c, &next.done);
    answer_expect_ok(&next);
    client_run_until(&c, &beside.done);
    answer_expect_ok(&beside);
    assert_int_equal(struck.done + next.done + beside.done, 3);
    answer_clear(&beside);
    answer_clear(&struck);
    answer_clear(&next);
    client_close(&c);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_unwatched, unwatched_cases);
    return client_tests_run(&s, "test_http_lane");
}
