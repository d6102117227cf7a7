#include "node/inventory/module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* MODULES_MAX: 300 modules of a desktop take 20 KiB. */
enum { MODULES_MAX = 512 * 1024, VERSION_TEXT_MAX = 4096, ROUNDS_MAX = 4, PATH_LEN = 96 };

#define SECURE_BOOT "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

static bool is_dependent(const struct module_facts *m, struct part name)
{
    for (size_t i = 0; i < m->dependent_count; i++)
        if (part_is(name, m->dependents[i]))
            return true;
    return false;
}

static bool has_taint(const struct module_line *line, char taint)
{
    return line->taints.len && memchr(line->taints.at, taint, line->taints.len);
}

static int module_by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Adds the modules that use one of the driver's modules. */
static void take_users(struct arena *a, const struct module_line *line, struct module_facts *m)
{
    struct part users = line->users, name;
    while (module_next_user(&users, &name) && m->dependent_count < MODULE_DEPENDENTS_MAX)
        if (!is_dependent(m, name))
            m->dependents[m->dependent_count++] = part_shown(a, name, MODULE_NAME_MAX);
}

/* Finds nvidia_uvm and nvidia_modeset, then nvidia_drm, which depends on that. Takes several
 * rounds, because dependent modules may be listed in any order. */
static void find_dependents(struct arena *a, struct part text, const char *module,
                            struct module_facts *m)
{
    size_t before;
    int round = 0;
    do {
        struct part rest = text;
        struct module_line line;
        before = m->dependent_count;
        while (modules_next(&rest, &line))
            if (part_is(line.name, module) || is_dependent(m, line.name))
                take_users(a, &line, m);
    } while (m->dependent_count > before && ++round < ROUNDS_MAX);
    qsort(m->dependents, m->dependent_count, sizeof *m->dependents, module_by_name);
}

static void module_take_line(const struct module_line *line, const char *module,
                             struct module_facts *m)
{
    bool is_driver = part_is(line->name, module);
    m->nouveau |= part_is(line->name, "nouveau");
    if (is_driver) {
        m->loaded = !line->loading;
        m->references = line->references;
        m->in_tree = !has_taint(line, 'O');
        m->is_unsigned = has_taint(line, 'E');
    }
    if (is_driver || is_dependent(m, line->name))
        m->in_use |= line->references > module_user_count(line);
}

/* Reads the loaded version, and whether the driver is open or proprietary. */
static void look_at_version(const struct view *v, const char *module, struct module_facts *m)
{
    char path[PATH_LEN];
    CLEANUP_BUF struct buf text = BUF_INIT(VERSION_TEXT_MAX);
    struct driver_version said;
    snprintf(path, sizeof path, "proc/driver/%s/version", module);
    if (view_read(v, path, &text) == SEEN &&
        driver_version_parse((struct part){ buf_text(&text), text.len }, &said)) {
        m->flavour = said.flavour;
        m->version = part_shown(v->arena, said.version, MODULE_VERSION_MAX);
    }
    snprintf(path, sizeof path, "sys/module/%s/version", module);
    if (!m->version)
        view_text(v, path, MODULE_VERSION_MAX, &m->version);
}

void module_look(const struct view *v, const struct vendor *vendor, struct module_facts *ret)
{
    CLEANUP_BUF struct buf text = BUF_INIT(MODULES_MAX);
    *ret = (struct module_facts){ .references = -1 };
    enum sight sight = view_read(v, "proc/modules", &text);
    if (sight == ABSENT)
        view_say(v, "proc/modules", "it is not there");
    ret->known = sight == SEEN;
    struct part all = { buf_text(&text), text.len }, rest = all;
    struct module_line line;
    if (!ret->known)
        return;
    find_dependents(v->arena, all, vendor->module, ret);
    while (modules_next(&rest, &line))
        module_take_line(&line, vendor->module, ret);
    if (ret->loaded)
        look_at_version(v, vendor->module, ret);
}

static bool has_entries(const struct view *v, const char *path)
{
    CLEANUP_FOLDER struct folder f = { 0 };
    int why = 0;
    return view_folder(v, path, 1, &f) == SEEN && folder_next(&f, &why);
}

enum secure_boot secure_boot_look(const struct view *v)
{
    char value[5]; /* four bytes of attributes, then the value */
    size_t len = 0;
    int why = root_peek(v->root, SECURE_BOOT, value, sizeof value, &len);
    if (why == 0 && len == sizeof value)
        return value[4] == 1 ? SECURE_BOOT_ON : SECURE_BOOT_OFF;
    if (why == 0)
        why = EINVAL;
    if (view_note(v, SECURE_BOOT, why) == UNREADABLE)
        return SECURE_BOOT_UNKNOWN;
    /* A machine that did not boot through EFI has no such variable, nor has some firmware. But if
     * no variable is visible, their file system is not mounted. */
    if (view_is(v, "sys/firmware/efi", S_IFDIR) == ABSENT)
        return view_is(v, "sys/firmware", S_IFDIR) == SEEN ? SECURE_BOOT_OFF : SECURE_BOOT_UNKNOWN;
    return has_entries(v, "sys/firmware/efi/efivars") ? SECURE_BOOT_OFF : SECURE_BOOT_UNKNOWN;
}
