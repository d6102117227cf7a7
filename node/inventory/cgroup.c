#include "node/inventory/cgroup.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* The owners in the path of one hierarchy; parts of it. */
struct owner {
    struct part pod, container, unit;
};

/* Prefixes of container ids. CRI-O's "crio-conmon-" is absent: that is the monitor process, which
 * belongs only to the pod. */
static const char *const runtimes[] = { "cri-containerd-", "crio-", "docker-", "libpod-",
                                        "containerd-" };

static bool cut_end(struct part *name, const char *suffix)
{
    size_t n = strlen(suffix);
    if (name->len < n || memcmp(name->at + name->len - n, suffix, n) != 0)
        return false;
    name->len -= n;
    return true;
}

/* 8-4-4-4-12 digits; systemd's driver writes "_" instead of "-", which separates slice levels. */
static bool is_uid(struct part p)
{
    static const size_t lengths[] = { 8, 4, 4, 4, 12 };
    if (p.len != POD_UID_LEN)
        return false;
    for (size_t i = 0, at = 0; i < ARRAY_LEN(lengths); at += lengths[i] + 1, i++) {
        if (!part_is_hex((struct part){ p.at + at, lengths[i] }, lengths[i]))
            return false;
        if (i + 1 < ARRAY_LEN(lengths) && p.at[at + lengths[i]] != '-' &&
            p.at[at + lengths[i]] != '_')
            return false;
    }
    return true;
}

/* "pod<uid>", or "…kubepods-burstable-pod<uid>.slice". */
static bool take_pod(struct part name, struct owner *o)
{
    if (cut_end(&name, ".slice")) {
        size_t at = name.len;
        while (at > 0 && name.at[at - 1] != '-')
            at--;
        /* Some write the uid with "-" even in slices; then it starts further left. */
        struct part tail = { name.at + at, name.len - at };
        if (!part_begins(tail, "pod") && name.len > POD_UID_LEN + 3)
            tail = (struct part){ name.at + name.len - POD_UID_LEN - 3, POD_UID_LEN + 3 };
        name = tail;
    }
    if (!part_skip(&name, "pod") || !(is_uid(name) || part_is_hex(name, POD_HASH_LEN)))
        return false;
    o->pod = name;
    return true;
}

/* "<id>", "cri-containerd-<id>.scope", "crio-<id>". */
static bool take_container(struct part name, struct owner *o)
{
    cut_end(&name, ".scope");
    for (size_t i = 0; i < ARRAY_LEN(runtimes); i++)
        if (part_skip(&name, runtimes[i]))
            break;
    if (!part_is_hex(name, CONTAINER_ID_LEN))
        return false;
    o->container = name;
    return true;
}

static void take_name(struct part name, struct owner *o)
{
    struct part unit = name;
    /* The outermost pod and container are the ones that the kubelet knows: a process of a pod may
     * create nested cgroups of any name. Names before the first pod describe where the kubelet
     * itself runs. */
    if (!o->pod.len && take_pod(name, o))
        o->container = (struct part){ 0 };
    else if (!o->container.len)
        take_container(name, o);
    if (cut_end(&unit, ".service"))
        o->unit = name;
}

/* Finds the owners in a path. Runtimes with the wrong cgroup driver write
 * "…slice:cri-containerd:<id>" as one name. */
static struct owner cgroup_owner_of(struct part path)
{
    struct owner o = { 0 };
    struct part name, piece;
    while (part_next(&path, '/', &name))
        while (part_next(&name, ':', &piece))
            take_name(piece, &o);
    return o;
}

static int worth(const struct owner *o)
{
    return (o->pod.len ? 4 : 0) + (o->container.len ? 2 : 0) + (o->unit.len ? 1 : 0);
}

static void cgroup_copy(char *to, size_t size, struct part p)
{
    snprintf(to, size, "%.*s", (int) (p.len < size ? p.len : size - 1), p.len ? p.at : "");
}

void cgroup_parse(struct part text, struct cgroup_owner *ret)
{
    struct owner best = { 0 };
    struct part line, part;
    while (part_next(&text, '\n', &line)) {
        /* hierarchy:controllers:path */
        if (!part_next(&line, ':', &part) || !part_next(&line, ':', &part))
            continue;
        struct owner o = cgroup_owner_of(line);
        if (worth(&o) > worth(&best))
            best = o;
    }
    *ret = (struct cgroup_owner){ 0 };
    cgroup_copy(ret->pod_uid, sizeof ret->pod_uid, best.pod);
    for (char *c = ret->pod_uid; *c; c++)
        if (*c == '_')
            *c = '-';
    cgroup_copy(ret->container, sizeof ret->container, best.container);
    if (!best.pod.len && !best.container.len)
        cgroup_copy(ret->unit, sizeof ret->unit, best.unit);
}
