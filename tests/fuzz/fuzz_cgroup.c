/* Any cgroups of a process: a uid is a uid, an id is an id, and a unit belongs to what is in no
 * container. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/inventory/cgroup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, const char *allowed, size_t len, size_t other_len)
{
    if (!*text)
        return;
    size_t n = strlen(text);
    if (strspn(text, allowed) != n || (n != len && n != other_len))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cgroup_owner owner;
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    cgroup_parse((struct part){ text, size }, &owner);
    free(text);
    check(owner.pod_uid, "0123456789abcdef-", POD_UID_LEN, POD_HASH_LEN);
    check(owner.container, "0123456789abcdef", CONTAINER_ID_LEN, CONTAINER_ID_LEN);
    if (owner.unit[0] && (owner.pod_uid[0] || owner.container[0]))
        abort();
    if (strlen(owner.unit) > UNIT_MAX)
        abort();
    return 0;
}
