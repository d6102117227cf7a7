/* Whose a process is, by its cgroups: a container of a pod, another container, a unit of systemd. Both versions of cgroups, both
 * drivers of kubelets, and the names that containerd, CRI-O and docker give. */
#ifndef OSTLER_NODE_INVENTORY_CGROUP_H
#define OSTLER_NODE_INVENTORY_CGROUP_H

#include "node/inventory/text.h"

/* The uid of an object, or the hash of a static pod's file; an id of a container: hexadecimal digits. Longest name of a unit. */
enum { POD_UID_LEN = 36, POD_HASH_LEN = 32, CONTAINER_ID_LEN = 64, UNIT_MAX = 127 };

/* Empty texts: none. */
struct cgroup_owner {
    char pod_uid[POD_UID_LEN + 1];        /* with "-", however its cgroup writes it */
    char container[CONTAINER_ID_LEN + 1];
    char unit[UNIT_MAX + 1];              /* "nvidia-persistenced.service"; of what is in no container */
};

/* Reads what proc/PID/cgroup has. */
void cgroup_parse(struct part text, struct cgroup_owner *ret);

#endif
