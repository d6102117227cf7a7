#include "node/inventory/os.h"

#include "base/mem.h"

enum { RELEASE_MAX = 64 * 1024 };

/* The first existing file counts, according to os-release(5). */
static const char *const places[] = { "etc/os-release", "usr/lib/os-release" };

void os_look_release(const struct view *v, struct os_release *ret)
{
    *ret = (struct os_release){ 0 };
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        CLEANUP_BUF struct buf text = BUF_INIT(RELEASE_MAX);
        if (view_read(v, places[i], &text) != SEEN)
            continue;
        os_release_parse(v->arena, (struct part){ buf_text(&text), text.len }, ret);
        return;
    }
}

const char *os_look_kernel(const struct view *v)
{
    const char *kernel;
    view_text(v, "proc/sys/kernel/osrelease", KERNEL_MAX, &kernel);
    return kernel;
}

void os_look(const struct view *v, struct os_facts *ret)
{
    *ret = (struct os_facts){ 0 };
    os_look_release(v, &ret->release);
    view_text(v, "sys/class/dmi/id/product_name", MACHINE_MAX, &ret->machine);
    ret->kernel = os_look_kernel(v);
    view_text(v, "proc/sys/kernel/random/boot_id", BOOT_ID_MAX, &ret->boot_id);
    if (!ret->kernel && !ret->boot_id)
        view_say(v, "proc/sys/kernel", "procfs is not there");
}
