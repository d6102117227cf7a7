#include "node/look/kubelet.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

enum { CONFIG_MAX = 256 * 1024 };

/* Where kubelets keep what they know (--root-dir). The distributions' own before the usual one, which some make a link to
 * theirs. */
static const char *const roots[] = { "/var/lib/k0s/kubelet", "/var/snap/microk8s/common/var/lib/kubelet", "/var/lib/kubelet" };

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

/* Its folder: the first in which a kubelet answers who has which device, else the first that has a folder for that. Where device
 * plugins register does not tell: that folder is always /var/lib/kubelet/device-plugins, whatever the kubelet's own is
 * (Kubernetes 1.36, pkg/kubelet/cm/devicemanager/manager.go). */
static const char *find_root(const struct view *v)
{
    const char *prepared = NULL;
    for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/pod-resources", roots[i] + 1);
        if (view_is(v, path, S_IFDIR) != SEEN)
            continue;
        if (!prepared)
            prepared = roots[i];
        snprintf(path, sizeof path, "%s/pod-resources/kubelet.sock", roots[i] + 1);
        if (view_is(v, path, S_IFSOCK) == SEEN)
            return roots[i];
    }
    return prepared;
}

void kubelet_look(const struct view *v, struct kubelet *ret)
{
    *ret = (struct kubelet){ .root = find_root(v) };
    for (size_t i = 0; ret->root && !ret->endpoint && i < ARRAY_LEN(configs); i++) {
        char path[128];
        CLEANUP_BUF struct buf text = BUF_INIT(CONFIG_MAX);
        snprintf(path, sizeof path, "%s/%s", ret->root + 1, configs[i]);
        if (view_read(v, path, &text) == SEEN)
            ret->endpoint = part_shown(v->arena, kubelet_endpoint((struct part){ buf_text(&text), text.len }), ENDPOINT_MAX);
    }
}
