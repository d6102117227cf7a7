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

const char *sign_missing(const struct root *root, const struct sign_wish *wish)
{
    struct sign_words driver = { .items = { "", "host" } }, toolkit;
    mode_t type;
    if (root_type(root, "sys/module/nvidia/refcnt", &type) != 0)
        return "the module nvidia is not loaded";
    bool of_host = is_of_host(root, wish->source);
    if (!of_host && !sign_read(root, SIGN_OF_DRIVER, &driver))
        return "the driver's container is not ready";
    if (!of_host && !is_of_boot(root, &driver))
        return "the driver's container is not ready on this start of the machine";
    if (wish->sign == SIGN_DRIVER)
        return NULL;
    if (!sign_read(root, SIGN_OF_TOOLKIT, &toolkit) || !is_of_boot(root, &toolkit))
        return "the toolkit is not ready";
    if (!str_eq(toolkit.items[1], driver.items[1]))
        return "the toolkit is that of another driver";
    if (wish->revision && !str_eq(toolkit.items[2], wish->revision))
        return "the toolkit is that of another revision";
    return NULL;
}
