#include "sim/scenario/host.h"

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/yaml.h"

/* Keys of a shape, and their places in an inventory. */
static const struct told {
    const char *key, *path;
} told[] = {
    { "osImage", "os.name" },      { "osID", "os.id" },
    { "osVersion", "os.version" }, { "hostDriver", "hostDriver.version" },
    { "kernel", "kernel" },
};

static void host_fill(json_t *shape, const json_t *host)
{
    CLEANUP_JSON json_t *known = json_pack("{s:i}", "gpus",
                                           (int) json_array_size(json_object_get(host, "gpus")));
    for (size_t i = 0; i < ARRAY_LEN(told); i++)
        if (json_at(host, told[i].path))
            json_object_set(known, told[i].key, json_at(host, told[i].path));
    json_object_update_missing(shape, known);
}

static int read_host(const char *file, json_t *shape, const char *host, struct err *e)
{
    CLEANUP_FREE char *path = file_beside(file, host);
    CLEANUP_JSON json_t *documents = yaml_parse_file(path, NULL, e);
    if (!documents)
        return err_wrap(e, "%s: shapes: host", file);
    json_t *inventory = json_array_get(documents, 0);
    if (!json_is_object(inventory))
        return err_set(e, ERR_INVALID, "%s: shapes: host: %s is not a mapping", file, path);
    json_object_set(shape, "host", inventory);
    host_fill(shape, inventory);
    return 0;
}

int hosts_read(const char *file, json_t *root, struct err *e)
{
    JSON_EACH (shape, json_object_get(root, "shapes")) {
        const char *host = json_str(shape, "host");
        if (host && read_host(file, shape, host, e) < 0)
            return -1;
    }
    return 0;
}
