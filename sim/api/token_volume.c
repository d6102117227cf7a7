#include "sim/api/token_volume.h"

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

/* Mounts the volume into all containers of a list that have nothing at its place; false when there
 * were none. */
static bool mount(struct draft *spec, const char *key, const char *name)
{
    json_t *containers = draft_get(spec, key);
    bool any = false;
    if (!containers)
        return false;
    struct draft list = draft_of(containers);
    for (size_t i = 0; i < json_array_size(containers); i++) {
        json_t *container = json_array_get(containers, i),
               *mounts = json_object_get(container, "volumeMounts");
        if (json_find(mounts, "mountPath", MOUNT_PATH))
            continue;
        json_t *with = json_copy(container), *more = copy_or_new(mounts);
        json_array_append_new(more, json_pack("{s:s, s:b, s:s}", "name", name, "readOnly", 1,
                                              "mountPath", MOUNT_PATH));
        json_object_set_new(with, "volumeMounts", more);
        draft_set_item(&list, i, with);
        any = true;
    }
    draft_put(spec, key, &list);
    return any;
}

void token_volume_add(struct draft *spec, const char *salt)
{
    const json_t *wanted = draft_get(spec, "automountServiceAccountToken");
    if (json_is_false(wanted))
        return;
    CLEANUP_FREE char *name = volume_name(salt);
    bool in_first = mount(spec, "initContainers", name),
         in_others = mount(spec, "containers", name);
    if (!in_first && !in_others)
        return;
    json_t *volumes = copy_or_new(draft_get(spec, "volumes"));
    json_array_append_new(volumes, volume_json(name));
    draft_set(spec, "volumes", volumes);
}
