/* confine FILTER PROGRAM ARGUMENT…: runs a program, which may make only those system calls that a filter lets through. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static struct sock_filter filter[BPF_MAXINSNS];
    int fd = argc < 3 ? -1 : open(argv[1], O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, filter, sizeof filter);
    struct sock_fprog program = { .len = (unsigned short)(size / (ssize_t)sizeof filter[0]), .filter = filter };
    if (size <= 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        perror("confine");
        return 126;
    }
    execv(argv[2], argv + 2);
    return 127;
}
