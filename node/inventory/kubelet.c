#include "node/inventory/kubelet.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"

/* A path is a folder and the name of a file in it. */
enum { CONFIG_MAX = 256 * 1024, SOCKETS_MAX = 4 * 1024 * 1024, PLACE_MAX = ENDPOINT_MAX + 64 };

/* The sockets of the host's network, with the paths that their processes gave them; and the kubelet's, who has which device. */
#define SOCKETS "proc/1/net/unix"
#define FOLDER "/pod-resources"
#define SOCKET FOLDER "/kubelet.sock"

/* Where kubelets keep what they know (--root-dir). The distributions' own before the usual one, which some make a link to
 * theirs. */
#define KUBEADMS "/var/lib/kubelet"
static const char *const roots[] = { "/var/lib/k0s/kubelet", "/var/snap/microk8s/common/var/lib/kubelet", KUBEADMS };

/* In which of its files, and behind what, the endpoint stands. */
static const char *const configs[] = { "config.yaml", "kubeadm-flags.env" };
static const char *const marks[] = { "containerRuntimeEndpoint:", "--container-runtime-endpoint=",
                                     "--container-runtime-endpoint " };

static struct part value_after(struct part text, const char *mark)
{
    const char *at = part_find(text, mark);
    if (!at)
        return (struct part){ 0 };
    at += strlen(mark);
    return part_bare((struct part){ at, text.len - (size_t) (at - text.at) }, " \t\"'");
}

struct part kubelet_endpoint(struct part text)
{
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        struct part value = value_after(text, marks[i]);
        if (value.len)
            return value;
    }
    return (struct part){ 0 };
}

/* The folder of the kubelet whose socket a line is about; NULL: it is about another one, or one that is not there. */
static const char *listens_in(const struct view *v, struct part line)
{
    const char *path = memchr(line.at, '/', line.len), *end = line.at + line.len;
    size_t len = path ? (size_t) (end - path) : 0, tail = strlen(SOCKET);
    if (len <= tail || memcmp(end - tail, SOCKET, tail) != 0)
        return NULL;
    const char *root = part_shown(v->arena, (struct part){ path, len - tail }, ENDPOINT_MAX);
    return root && view_is(v, arena_printf(v->arena, "%s" SOCKET, root) + 1, S_IFSOCK) == SEEN ? root : NULL;
}

/* The first of those that listen, whatever its --root-dir is. Where a usual folder leads there, by a link or a mount, it is that
 * one: whoever asks there gets an answer. */
static const char *listening_root(const struct view *v)
{
    CLEANUP_BUF struct buf text = BUF_INIT(SOCKETS_MAX);
    const char *root = NULL;
    struct part line;
    if (view_read(v, SOCKETS, &text) != SEEN)
        return NULL;
    for (struct part rest = { buf_text(&text), text.len }; !root && part_next(&rest, '\n', &line);)
        root = listens_in(v, line);
    for (size_t i = 0; root && i < ARRAY_LEN(roots); i++)
        if (root_same(v->root, arena_printf(v->arena, "%s" FOLDER, roots[i]) + 1, arena_printf(v->arena, "%s" FOLDER, root) + 1))
            return roots[i];
    return root;
}

/* Its folder: that of a kubelet that listens; where sockets cannot be seen the first usual one in which a kubelet answers who has
 * which device, else the first that has a folder for that. Where device plugins register does not tell: that folder is always
 * /var/lib/kubelet/device-plugins, whatever the kubelet's own is (Kubernetes 1.36, pkg/kubelet/cm/devicemanager/manager.go). */
static const char *find_root(const struct view *v)
{
    const char *listening = listening_root(v), *prepared = NULL;
    for (size_t i = 0; !listening && i < ARRAY_LEN(roots); i++) {
        char path[PLACE_MAX];
        snprintf(path, sizeof path, "%s" FOLDER, roots[i] + 1);
        if (view_is(v, path, S_IFDIR) != SEEN)
            continue;
        if (!prepared)
            prepared = roots[i];
        snprintf(path, sizeof path, "%s" SOCKET, roots[i] + 1);
        if (view_is(v, path, S_IFSOCK) == SEEN)
            return roots[i];
    }
    return listening ? listening : prepared;
}

static bool is_usual(const char *root)
{
    for (size_t i = 0; i < ARRAY_LEN(roots); i++)
        if (str_eq(root, roots[i]))
            return true;
    return false;
}

static const char *endpoint_in(const struct view *v, const char *folder)
{
    const char *endpoint = NULL;
    for (size_t i = 0; !endpoint && i < ARRAY_LEN(configs); i++) {
        char path[PLACE_MAX];
        CLEANUP_BUF struct buf text = BUF_INIT(CONFIG_MAX);
        snprintf(path, sizeof path, "%s/%s", folder + 1, configs[i]);
        if (view_read(v, path, &text) == SEEN)
            endpoint = part_shown(v->arena, kubelet_endpoint((struct part){ buf_text(&text), text.len }), ENDPOINT_MAX);
    }
    return endpoint;
}

void kubelet_look(const struct view *v, struct kubelet *ret)
{
    *ret = (struct kubelet){ .root = find_root(v) };
    if (ret->root)
        ret->endpoint = endpoint_in(v, ret->root);
    /* kubeadm writes them where it always does, whatever --root-dir is. */
    if (ret->root && !ret->endpoint && !is_usual(ret->root))
        ret->endpoint = endpoint_in(v, KUBEADMS);
}
