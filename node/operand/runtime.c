#include "node/operand/runtime.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/file.h"
#include "node/cri/grpc.h"

enum { LOOK_MS = 200 };

pid_t runtime_process(const char *socket_path)
{
    struct ucred peer = { .pid = 0 };
    socklen_t size = sizeof peer;
    CLEANUP_FD int fd = grpc_connect(socket_path);
    return fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

int runtime_await(const char *socket_path, pid_t before, const struct runtime_times *times,
                  struct err *e)
{
    int64_t began_ms = clock_now_ms(), since_ms = began_ms;
    pid_t last = 0;
    bool came = false; /* another process has answered */
    for (;;) {
        pid_t now = runtime_process(socket_path);
        int64_t now_ms = clock_now_ms();
        if (now != last)
            since_ms = now_ms;
        last = now;
        came |= now && now != before;
        if (now && now_ms - since_ms >= (now == before ? times->stays : times->steady))
            return 0;
        if (now_ms - began_ms >= times->limit)
            return err_set(e, ERR_TIMEOUT,
                           "the container runtime on %s %s since its configuration was changed",
                           socket_path, came ? "keeps restarting" : "does not answer");
        poll(NULL, 0, LOOK_MS);
    }
}

void runtime_rest(const struct runtime_times *times)
{
    poll(NULL, 0, (int) times->steady);
}

int runtime_restart(const char *socket_path, const struct runtime_times *times, struct err *e)
{
    pid_t now = runtime_process(socket_path);
    if (!now && runtime_await(socket_path, 0, times, e) < 0)
        return -1;
    now = now ? now : runtime_process(socket_path);
    /* ESRCH: it has ended meanwhile, and is about to come back. */
    if (now && kill(now, SIGHUP) < 0 && errno != ESRCH)
        return err_set(e, ERR_SYSTEM, "cannot signal the container runtime on %s: %s", socket_path,
                       strerror(errno));
    return runtime_await(socket_path, now, times, e);
}
