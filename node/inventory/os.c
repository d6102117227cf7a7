#include "node/inventory/os.h"

#include <stddef.h>

#include "base/mem.h"

enum { RELEASE_MAX = 64 * 1024 };

/* The first existing file counts, according to os-release(5). */
static const char *const places[] = { "etc/os-release", "usr/lib/os-release" };

static const struct key {
    const char *name;
    size_t offset;
    size_t max;
} keys[] = {
    { "ID", offsetof(struct os_release, id), OS_WORD_MAX },
    { "VERSION_ID", offsetof(struct os_release, version), OS_WORD_MAX },
    { "VARIANT_ID", offsetof(struct os_release, variant), OS_WORD_MAX },
    { "PRETTY_NAME", offsetof(struct os_release, name), OS_NAME_MAX },
};

/* A value without quotes and escaping backslashes, as a shell reads it. NULL if nothing is left. */
static const char *unquoted(struct arena *a, struct part value, size_t max)
{
    char text[OS_NAME_MAX];
    size_t len = 0;
    char quote = value.len && (value.at[0] == '"' || value.at[0] == '\'') ? value.at[0] : '\0';
    for (size_t i = quote != '\0'; i < value.len && value.at[i] != quote && len < sizeof text;
         i++) {
        if (value.at[i] == '\\' && quote != '\'' && i + 1 < value.len)
            i++;
        text[len++] = value.at[i];
    }
    return part_shown(a, (struct part){ text, len }, max);
}

void os_release_parse(struct arena *a, struct part text, struct os_release *ret)
{
    struct part line, name, value;
    *ret = (struct os_release){ 0 };
    while (part_next(&text, '\n', &line)) {
        if (!part_assignment(line, &name, &value) || name.at[0] == '#')
            continue;
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
            if (part_is(name, keys[i].name))
                *(const char **) (void *) ((char *) ret + keys[i].offset) = unquoted(a, value,
                                                                                     keys[i].max);
    }
}

void os_look_release(struct view *v, struct os_release *ret)
{
    *ret = (struct os_release){ 0 };
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        CLEANUP_BUF struct buf text = BUF_INIT(RELEASE_MAX);
        if (view_read(v, places[i], &text) != SEEN)
            continue;
        os_release_parse(&v->arena, part_of_buf(&text), ret);
        return;
    }
}

const char *os_look_kernel(struct view *v)
{
    const char *kernel;
    view_text(v, "proc/sys/kernel/osrelease", KERNEL_MAX, &kernel);
    return kernel;
}

void os_look(struct view *v, struct os_facts *ret)
{
    *ret = (struct os_facts){ 0 };
    os_look_release(v, &ret->release);
    view_text(v, "sys/class/dmi/id/product_name", MACHINE_MAX, &ret->machine);
    ret->kernel = os_look_kernel(v);
    view_text(v, "proc/sys/kernel/random/boot_id", BOOT_ID_MAX, &ret->boot_id);
    if (!ret->kernel && !ret->boot_id)
        view_report(v, "proc/sys/kernel", "procfs is not there");
}
