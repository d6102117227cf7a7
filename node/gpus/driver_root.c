#include "node/gpus/driver_root.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "node/inventory/host_driver.h"
#include "node/inventory/root.h"

/* A driver container comes before the host: if both exist, the container has loaded the module. */
static const char *const folders[] = { "run/nvidia/driver", "." };

static bool driver_root_look_at(const struct root *root, struct driver_root *ret)
{
    CLEANUP_VIEW struct view v = { .root = root };
    const char *library;
    host_driver_find_library(&v, &library);
    if (!library || !root_has(root, "dev/nvidiactl"))
        return false;
    size_t len = (size_t) (strrchr(library, '/') - library);
    return snprintf(ret->library_folder, sizeof ret->library_folder, "%.*s", (int) len, library) <
           LIBRARY_FOLDER_MAX;
}

int driver_root_find(const struct root *host, struct driver_root *ret, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        struct root root = { .fd = resolve(host->fd, folders[i], true) };
        if (root.fd >= 0 && driver_root_look_at(&root, ret)) {
            ret->root = root;
            return 0;
        }
        root_close(&root);
    }
    return err_set(e, ERR_NOT_FOUND, "no driver with devices and libnvidia-ml.so.1 was found");
}

void driver_root_close(struct driver_root *d)
{
    root_close(&d->root);
}
