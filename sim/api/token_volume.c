/* The volume with a token of its ServiceAccount that the server adds to a new pod. */
#include "sim/api/prepare.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/api/draft.h"

#define MOUNT_PATH "/var/run/secrets/kubernetes.io/serviceaccount"
#define NAME_PREFIX "kube-api-access-"

enum {
    NAME_CHARS = 5,
    TOKEN_SECONDS = 3607,
    FILE_MODE = 0644,
};

/* "kube-api-access-x2bcd", of the letters that generated names have. Owned by the caller. */
static char *volume_name(const char *salt)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    uint64_t hash = str_hash(salt, strlen(salt));
    char text[NAME_CHARS + 1] = "";
    for (int i = 0; i < NAME_CHARS; i++, hash /= sizeof letters - 1)
        text[i] = letters[hash % (sizeof letters - 1)];
    return xasprintf(NAME_PREFIX "%s", text);
}

static json_t *volume_json(const char *name)
{
    return json_pack("{s:s, s:{s:[{s:{s:i, s:s}}, {s:{s:s, s:[{s:s, s:s}]}}, {s:{s:[{s:s, s:{s:s, "
                     "s:s}}]}}], s:i}}",
                     "name", name, "projected", "sources", "serviceAccountToken",
                     "expirationSeconds", TOKEN_SECONDS, "path", "token", "configMap", "name",
                     "kube-root-ca.crt", "items", "key", "ca.crt", "path", "ca.crt", "downwardAPI",
                     "items", "path", "namespace", "fieldRef", "apiVersion", "v1", "fieldPath",
                     "metadata.namespace", "defaultMode", FILE_MODE);
}

static json_t *copy_or_new(const json_t *list)
{
    return list ? json_copy((json_t *) list) : json_array();
}

/* Mounts the volume into a container, unless it has a mount at this path. */
static void mount(struct draft *container, size_t i, const void *name)
{
    (void) i;
    const json_t *mounts = draft_get(container, "volumeMounts");
    if (json_find(mounts, "mountPath", MOUNT_PATH))
        return;
    json_t *more = copy_or_new(mounts);
    json_array_append_new(
        more, json_pack("{s:s, s:b, s:s}", "name", name, "readOnly", 1, "mountPath", MOUNT_PATH));
    draft_set(container, "volumeMounts", more);
}

void token_volume_add(struct draft *spec, const char *salt)
{
    const json_t *wanted = draft_get(spec, "automountServiceAccountToken");
    if (json_is_false(wanted))
        return;
    CLEANUP_FREE char *name = volume_name(salt);
    bool in_first = draft_each(spec, "initContainers", mount, name),
         in_others = draft_each(spec, "containers", mount, name);
    if (!in_first && !in_others)
        return;
    json_t *volumes = copy_or_new(draft_get(spec, "volumes"));
    json_array_append_new(volumes, volume_json(name));
    draft_set(spec, "volumes", volumes);
}
