#include "node/agent/signs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"

enum { LINE_BYTES = 512 };

bool sign_read(const struct root *root, const char *path, struct sign_words *ret)
{
    char text[LINE_BYTES];
    size_t len;
    *ret = (struct sign_words){ 0 };
    if (root_peek(root, path, text, sizeof text - 1, &len) != 0)
        return false;
    text[len] = '\0';
    return sscanf(text, "%127s %127s %127s", ret->items[0], ret->items[1], ret->items[2]) > 0;
}

bool sign_read_boot(const struct root *root, struct sign_words *ret)
{
    return sign_read(root, "proc/sys/kernel/random/boot_id", ret);
}

static bool is_of_boot(const struct root *root, const struct sign_words *sign)
{
    struct sign_words boot;
    return sign_read_boot(root, &boot) && str_eq(boot.items[0], sign->items[0]);
}

static bool is_of_host(const struct root *root, enum sign_source source)
{
    mode_t type;
    return source == SIGN_OF_HOST || (source == SIGN_OF_EITHER && root_type(root, SIGN_LOCK, &type) != 0);
}

static bool is_loaded(const struct root *root, const char *refcnt)
{
    mode_t type;
    return root_type(root, refcnt, &type) == 0;
}

const char *sign_module_missing(const struct root *root, enum sign_module module)
{
    bool is_missing = module == SIGN_MODULE_GDRDRV && !is_loaded(root, "sys/module/gdrdrv/refcnt");
    return is_missing ? "the module gdrdrv is not loaded" : NULL;
}

/* Fills `driver` with the sign where the driver is a container's. */
static const char *driver_missing(const struct root *root, const struct sign_wish *wish, struct sign_words *driver)
{
    if (!is_loaded(root, "sys/module/nvidia/refcnt"))
        return "the module nvidia is not loaded";
    if (is_of_host(root, wish->source))
        return NULL;
    if (!sign_read(root, SIGN_OF_DRIVER, driver))
        return "the driver's container is not ready";
    if (!is_of_boot(root, driver))
        return "the driver's container is not ready on this start of the machine";
    return wish->pod && !str_eq(driver->items[2], wish->pod) ? "the driver is that of another pod" : NULL;
}

static const char *toolkit_missing(const struct root *root, const struct sign_wish *wish, const struct sign_words *driver)
{
    struct sign_words toolkit;
    if (!sign_read(root, SIGN_OF_TOOLKIT, &toolkit) || !is_of_boot(root, &toolkit))
        return "the toolkit is not ready";
    if (!str_eq(toolkit.items[1], driver->items[1]))
        return "the toolkit is that of another driver";
    if (wish->revision && !str_eq(toolkit.items[2], wish->revision))
        return "the toolkit is that of another revision";
    return NULL;
}

const char *sign_missing(const struct root *root, const struct sign_wish *wish)
{
    struct sign_words driver = { .items = { "", "host" } };
    const char *missing = driver_missing(root, wish, &driver);
    if (!missing && wish->sign == SIGN_TOOLKIT)
        missing = toolkit_missing(root, wish, &driver);
    return missing ? missing : sign_module_missing(root, wish->module);
}
