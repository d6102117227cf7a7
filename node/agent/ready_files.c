#include "node/agent/ready_files.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { LINE_BYTES = 512 };

bool ready_file_read(const struct root *root, const char *path, struct ready_words *ret)
{
    char text[LINE_BYTES];
    size_t len;
    *ret = (struct ready_words){ 0 };
    if (root_peek(root, path, text, sizeof text - 1, &len) != 0)
        return false;
    text[len] = '\0';
    return sscanf(text, "%127s %127s %127s", ret->items[0], ret->items[1], ret->items[2]) > 0;
}

bool boot_id_read(const struct root *root, struct ready_words *ret)
{
    return ready_file_read(root, "proc/sys/kernel/random/boot_id", ret);
}

static bool is_of_boot(const struct root *root, const struct ready_words *sign)
{
    struct ready_words boot;
    return boot_id_read(root, &boot) && str_eq(boot.items[0], sign->items[0]);
}

static bool is_of_host(const struct root *root, enum ready_source source)
{
    return source == READY_OF_HOST ||
           (source == READY_OF_EITHER && !root_has(root, DRIVER_LOCK_FILE));
}

const char *ready_module_missing(const struct root *root, enum ready_module module)
{
    static const struct {
        const char *refcnt, *missing;
    } rows[] = {
        [READY_MODULE_NVIDIA] = { READY_MODULE_FILE, "the module nvidia is not loaded" },
        [READY_MODULE_GDRDRV] = { "sys/module/gdrdrv/refcnt", "the module gdrdrv is not loaded" },
    };
    return root_has(root, rows[module].refcnt) ? NULL : rows[module].missing;
}

/* Fills `driver` with the ready file if a container provides the driver. */
static const char *driver_missing(const struct root *root, const struct ready_target *wish,
                                  struct ready_words *driver)
{
    const char *missing = ready_module_missing(root, READY_MODULE_NVIDIA);
    if (missing || is_of_host(root, wish->source))
        return missing;
    if (!ready_file_read(root, READY_FILE_OF_DRIVER, driver))
        return "the driver's container is not ready";
    if (!is_of_boot(root, driver))
        return "the driver's container is not ready on the current boot";
    return wish->pod && !str_eq(driver->items[2], wish->pod) ? "the driver belongs to another pod"
                                                             : NULL;
}

static const char *toolkit_missing(const struct root *root, const struct ready_target *wish,
                                   const struct ready_words *driver)
{
    struct ready_words toolkit;
    if (!ready_file_read(root, READY_FILE_OF_TOOLKIT, &toolkit) || !is_of_boot(root, &toolkit))
        return "the toolkit is not ready";
    if (!str_eq(toolkit.items[1], driver->items[1]))
        return "the toolkit belongs to another driver";
    if (wish->revision && !str_eq(toolkit.items[2], wish->revision))
        return "the toolkit has another revision";
    return NULL;
}

const char *ready_file_missing(const struct root *root, const struct ready_target *wish)
{
    struct ready_words driver = { .items = { "", "host" } };
    const char *missing = driver_missing(root, wish, &driver);
    if (!missing && wish->sign == READY_TOOLKIT)
        missing = toolkit_missing(root, wish, &driver);
    return missing ? missing : ready_module_missing(root, wish->module);
}
