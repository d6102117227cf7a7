/* Finds the owner of a process from its cgroups: a container of a pod, another container, or a
 * systemd unit. Handles both versions of cgroups, both cgroup drivers of kubelets, and the names of
 * containerd, CRI-O and docker. */
#ifndef OSTLER_NODE_INVENTORY_CGROUP_H
#define OSTLER_NODE_INVENTORY_CGROUP_H

#include "node/inventory/text.h"

/* Lengths: of an object's uid, of the hash of a static pod's file, of a container id (both in
 * hexadecimal digits); the longest name of a unit. */
enum { POD_UID_LEN = 36, POD_HASH_LEN = 32, CONTAINER_ID_LEN = 64, UNIT_MAX = 127 };

/* An empty text means none. */
struct cgroup_owner {
    char pod_uid[POD_UID_LEN + 1]; /* always with "-", whatever the cgroup's name has */
    char container[CONTAINER_ID_LEN + 1];
    /* "nvidia-persistenced.service"; only for processes outside containers */
    char unit[UNIT_MAX + 1];
};

/* Parses the contents of proc/PID/cgroup. */
void cgroup_parse(struct part text, struct cgroup_owner *ret);

#endif
