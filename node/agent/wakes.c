#include "node/agent/wakes.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vendor.h"
#include "node/inventory/root.h"
#include "node/inventory/uevent.h"

enum {
    MESSAGE_MAX = 8192, /* bytes of a kernel message; the kernel sends at most 2 KiB */
    MESSAGES_MAX = 256, /* read at a time */
    KERNEL_GROUP = 1,   /* the kernel's own messages; group 2 has udev's */
};

/* Watched without their subdirectories: they have few entries, which seldom change. */
static const char *const folders[] = {
    "run",
    "run/containerd",
    "run/k3s/containerd",
    "run/k0s",
    "run/crio",
    "var/snap/microk8s/common/run",
    "etc/containerd",
    "etc/crio",
    "etc/docker",
    "etc/k0s",
    "var/lib/rancher/k3s/agent/etc/containerd",
    "var/lib/rancher/rke2/agent/etc/containerd",
    "var/lib/kubelet/device-plugins",
    "run/nvidia",
    "run/nvidia/ostler",
    "run/nvidia/validations",
    "usr/bin",
};

#define MODULE "/module/"
/* Modules that block a vendor's driver. */
static const char *const modules[] = { "nouveau", "vfio_pci" };

static int open_uevents(void)
{
    const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP };
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    if (fd >= 0 && bind(fd, (const struct sockaddr *) &address, sizeof address) < 0)
        file_close(&fd);
    return fd;
}

void wakes_open(struct wakes *w)
{
    w->uevents = open_uevents();
    w->files = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
}

void wakes_close(struct wakes *w)
{
    file_close(&w->uevents);
    file_close(&w->files);
}

void wakes_watch(struct wakes *w, const struct root *root)
{
    for (size_t i = 0; w->files >= 0 && i < ARRAY_LEN(folders); i++) {
        char path[32];
        CLEANUP_FD int fd = resolve(root->fd, folders[i], true);
        if (fd < 0)
            continue;
        /* Through the descriptor, because a link in the path might lead out of the root. Adding an
         * existing watch changes nothing. */
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        inotify_add_watch(w->files, path,
                          IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_ONLYDIR);
    }
}

/* Each message starts like "add@/module/nvidia". */
static bool is_of_module(struct part message)
{
    const char *at = memchr(message.at, '@', message.len);
    if (!at)
        return false;
    struct part name = part_from(message, at + 1);
    if (!part_skip(&name, MODULE))
        return false;
    bool is_one = false;
    EACH_VENDOR (v)
        is_one |= part_begins(name, v->module);
    for (size_t i = 0; i < ARRAY_LEN(modules); i++)
        is_one |= part_begins(name, modules[i]);
    return is_one;
}

bool wakes_is_news(struct part message)
{
    struct uevent u;
    return is_of_module(message) || (uevent_parse(message, &u) && vendor_of_pci(u.vendor));
}

static bool take_uevents(int fd)
{
    char message[MESSAGE_MAX];
    bool news = false;
    for (int i = 0; i < MESSAGES_MAX; i++) {
        ssize_t n = recv(fd, message, sizeof message, 0);
        if (n <= 0 && !(n < 0 && errno == ENOBUFS))
            break;
        /* below 0: messages were lost */
        news |= n < 0 || wakes_is_news((struct part){ message, (size_t) n });
    }
    return news;
}

bool wakes_take(struct wakes *w)
{
    char events[MESSAGE_MAX] __attribute__((aligned(__alignof__(struct inotify_event))));
    bool news = take_uevents(w->uevents);
    for (int i = 0; i < MESSAGES_MAX && read(w->files, events, sizeof events) > 0; i++)
        news = true;
    return news;
}
