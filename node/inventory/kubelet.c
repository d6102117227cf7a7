#include "node/inventory/kubelet.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"

enum { CONFIG_MAX = 256 * 1024, SOCKETS_MAX = 4 * 1024 * 1024 };

/* The host's Unix sockets with the paths of their processes; and the kubelet's socket that reports
 * the assignment of devices to containers. */
#define SOCKETS "proc/1/net/unix"
#define FOLDER "/pod-resources"
#define SOCKET FOLDER "/kubelet.sock"

/* Directories of kubelets (--root-dir). Those of distributions come first: some distributions link
 * the usual one to theirs. */
#define KUBEADMS "/var/lib/kubelet"
static const char *const roots[] = { "/var/lib/k0s/kubelet",
                                     "/var/snap/microk8s/common/var/lib/kubelet", KUBEADMS, NULL };

/* Files that may contain the endpoint, and the text before it. */
static const char *const configs[] = { "config.yaml", "kubeadm-flags.env" };
static const char *const marks[] = { "containerRuntimeEndpoint:", "--container-runtime-endpoint=",
                                     "--container-runtime-endpoint " };

struct part kubelet_endpoint(struct part text)
{
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        const char *at = part_find(text, marks[i]);
        struct part value = at ? part_bare(part_from(text, at + strlen(marks[i])), " \t\"'")
                               : (struct part){ 0 };
        if (value.len)
            return value;
    }
    return (struct part){ 0 };
}

/* The directory of the kubelet that owns the socket on a line; NULL: another socket, or one that is
 * gone. */
static const char *listens_in(struct view *v, struct part line)
{
    const char *path = memchr(line.at, '/', line.len), *end = line.at + line.len;
    size_t len = path ? (size_t) (end - path) : 0, tail = strlen(SOCKET);
    if (len <= tail || memcmp(end - tail, SOCKET, tail) != 0)
        return NULL;
    const char *root = part_shown(&v->arena, (struct part){ path, len - tail }, ENDPOINT_MAX);
    return root && view_is(v, arena_printf(&v->arena, "%s" SOCKET, root) + 1, S_IFSOCK) == SEEN
               ? root
               : NULL;
}

/* The first directory with a listening socket, whatever --root-dir is. If a usual directory leads
 * there, by a link or a mount, returns the usual one: its socket responds. */
static const char *listening_root(struct view *v)
{
    CLEANUP_BUF struct buf text = BUF_INIT(SOCKETS_MAX);
    const char *root = NULL;
    struct part line;
    if (view_read(v, SOCKETS, &text) != SEEN)
        return NULL;
    for (struct part rest = part_of_buf(&text); !root && part_next(&rest, '\n', &line);)
        root = listens_in(v, line);
    for (size_t i = 0; root && roots[i]; i++)
        if (root_same(v->root, arena_printf(&v->arena, "%s" FOLDER, roots[i]) + 1,
                      arena_printf(&v->arena, "%s" FOLDER, root) + 1))
            return roots[i];
    return root;
}

/* The kubelet's directory: that of a listening kubelet. If sockets cannot be seen: the first usual
 * one whose pod-resources socket exists, else the first that has the directory for it. The device
 * plugin directory is no evidence: it is always /var/lib/kubelet/device-plugins (Kubernetes 1.36,
 * pkg/kubelet/cm/devicemanager/manager.go). */
static const char *find_root(struct view *v)
{
    const char *listening = listening_root(v), *prepared = NULL;
    for (size_t i = 0; !listening && roots[i]; i++) {
        if (view_is(v, arena_printf(&v->arena, "%s" FOLDER, roots[i] + 1), S_IFDIR) != SEEN)
            continue;
        if (!prepared)
            prepared = roots[i];
        if (view_is(v, arena_printf(&v->arena, "%s" SOCKET, roots[i] + 1), S_IFSOCK) == SEEN)
            return roots[i];
    }
    return listening ? listening : prepared;
}

static const char *endpoint_in(struct view *v, const char *folder)
{
    const char *endpoint = NULL;
    for (size_t i = 0; !endpoint && i < ARRAY_LEN(configs); i++) {
        CLEANUP_BUF struct buf text = BUF_INIT(CONFIG_MAX);
        const char *path = arena_printf(&v->arena, "%s/%s", folder + 1, configs[i]);
        if (view_read(v, path, &text) == SEEN)
            endpoint = part_shown(&v->arena, kubelet_endpoint(part_of_buf(&text)), ENDPOINT_MAX);
    }
    return endpoint;
}

void kubelet_look(struct view *v, struct kubelet *ret)
{
    *ret = (struct kubelet){ .root = find_root(v) };
    if (ret->root)
        ret->endpoint = endpoint_in(v, ret->root);
    /* kubeadm always writes its files here, whatever --root-dir is. */
    if (ret->root && !ret->endpoint && !str_is_any_of(ret->root, roots))
        ret->endpoint = endpoint_in(v, KUBEADMS);
}
