/* confine FILTER CALLS PROGRAM ARGUMENT…: runs a program, which may make only those system calls
 * that a filter hands to its listener. Of each that it makes, the byte of its number becomes 1 in
 * the file CALLS. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALLS = 512 };

/* Lets each call go on, and notes it, until no confined process is left. */
static void note(int listener, unsigned char *calls)
{
    struct pollfd ready = { .fd = listener, .events = POLLIN };
    while (poll(&ready, 1, -1) > 0 && ready.revents & POLLIN) {
        struct seccomp_notif asked = { 0 };
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
            continue; /* who asked is gone */
        if (asked.data.nr >= 0 && asked.data.nr < CALLS)
            calls[asked.data.nr] = 1;
        struct seccomp_notif_resp answer = { .id = asked.id,
                                             .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    _exit(0);
}

/* Starts who listens: a process with the same open files, which is no child of the program's. */
static void listen_beside(atomic_int *listener, unsigned char *calls)
{
    if (syscall(SYS_clone, CLONE_FILES | CLONE_PARENT, 0, 0, 0, 0) != 0)
        return;
    while (atomic_load(listener) == 0)
        sched_yield();
    if (atomic_load(listener) > 0)
        note(atomic_load(listener), calls);
    _exit(1);
}

static void *shared(int fd)
{
    return mmap(NULL, CALLS, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd,
                0);
}

int main(int argc, char **argv)
{
    static struct sock_filter filter[BPF_MAXINSNS];
    int fd = argc < 4 ? -1 : open(argv[1], O_RDONLY | O_CLOEXEC),
        calls = argc < 4 ? -1 : open(argv[2], O_RDWR | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, filter, sizeof filter);
    struct sock_fprog program = { .len = (unsigned short) (size / (ssize_t) sizeof filter[0]),
                                  .filter = filter };
    atomic_int *listener = shared(-1);
    unsigned char *made = calls < 0 ? MAP_FAILED : shared(calls);
    if (size <= 0 || listener == MAP_FAILED || made == MAP_FAILED ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
        perror("confine");
        return 126;
    }
    listen_beside(listener, made);
    long got = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                       &program);
    atomic_store(listener, (int) got);
    if (got < 0)
        return 126;
    execv(argv[3], argv + 3);
    return 127;
}
