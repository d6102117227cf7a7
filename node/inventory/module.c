#include "node/inventory/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"

/* MODULES_MAX: 300 modules of a desktop take 20 KiB. */
enum { MODULES_MAX = 512 * 1024, VERSION_TEXT_MAX = 4096, ROUNDS_MAX = 4 };

#define SECURE_BOOT "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

/* ---- parsers */

bool modules_next(struct part *text, struct module_line *ret)
{
    struct part line, size, references, state, address, taints;
    while (part_next(text, '\n', &line)) {
        *ret = (struct module_line){ .references = -1 };
        if (!part_word(&line, &ret->name) || !part_word(&line, &size) ||
            !part_word(&line, &references) || !part_word(&line, &ret->users) ||
            !part_word(&line, &state) || !part_word(&line, &address))
            continue;
        part_number(references, INT32_MAX, &ret->references);
        ret->loading = !part_is(state, "Live");
        if (part_word(&line, &taints) && taints.len > 2 && taints.at[0] == '(' &&
            taints.at[taints.len - 1] == ')')
            ret->taints = (struct part){ taints.at + 1, taints.len - 2 };
        return true;
    }
    return false;
}

/* Each user ends with a comma; "[permanent]" is not a module. */
bool module_next_user(struct part *users, struct part *name)
{
    while (part_next(users, ',', name))
        if (name->len && !part_is(*name, "-") && !part_begins(*name, "["))
            return true;
    return false;
}

int64_t module_user_count(const struct module_line *m)
{
    struct part users = m->users, name;
    int64_t count = 0;
    while (module_next_user(&users, &name))
        count++;
    return count;
}

/* "580.178.04": digits and dots, with at least one dot. */
static bool is_version(struct part p)
{
    for (size_t i = 0; i < p.len; i++)
        if (p.at[i] != '.' && (p.at[i] < '0' || p.at[i] > '9'))
            return false;
    return part_find(p, ".") && p.at[0] != '.' && p.at[p.len - 1] != '.';
}

bool driver_version_parse(struct part text, struct driver_version *ret)
{
    struct part line, word;
    *ret = (struct driver_version){ 0 };
    while (part_next(&text, '\n', &line)) {
        if (!part_begins(line, "NVRM version:"))
            continue;
        if (!part_find(line, "Kernel Module"))
            return false;
        /* Either "NVIDIA UNIX Open Kernel Module for x86_64  580.178.04 …" or "NVIDIA UNIX x86_64
         * Kernel Module  535.183.01 …". */
        ret->flavour = part_find(line, "Open Kernel Module") ? FLAVOUR_OPEN : FLAVOUR_PROPRIETARY;
        while (part_word(&line, &word))
            if (is_version(word)) {
                ret->version = word;
                return true;
            }
        return true;
    }
    return false;
}

bool driver_majors_has(const struct driver_majors *m, int major)
{
    for (size_t i = 0; i < m->len; i++)
        if (m->items[i] == major)
            return true;
    return false;
}

static bool is_of_vendor(const struct vendor *v, struct part name)
{
    for (size_t i = 0; v->majors[i]; i++)
        if (part_begins(name, v->majors[i]))
            return true;
    return false;
}

/* Lines like "195 nvidia"; block devices follow, with their own numbers. */
void driver_majors_parse(struct part text, const struct vendor *vendor, struct driver_majors *ret)
{
    struct part line, number, name;
    int64_t major;
    *ret = (struct driver_majors){ .len = 0 };
    while (part_next(&text, '\n', &line) && !part_begins(line, "Block"))
        if (part_word(&line, &number) && part_number(number, INT32_MAX, &major) &&
            part_word(&line, &name) && is_of_vendor(vendor, name) &&
            !driver_majors_has(ret, (int) major) && ret->len < DRIVER_MAJORS_MAX)
            ret->items[ret->len++] = (int) major;
}

/* ---- the machine */

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
    qsort(m->dependents, m->dependent_count, sizeof *m->dependents, str_compare);
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
static void look_at_version(struct view *v, const char *module, struct module_facts *m)
{
    CLEANUP_BUF struct buf text = BUF_INIT(VERSION_TEXT_MAX);
    struct driver_version said;
    if (view_read(v, arena_printf(&v->arena, "proc/driver/%s/version", module), &text) == SEEN &&
        driver_version_parse(part_of_buf(&text), &said)) {
        m->flavour = said.flavour;
        m->version = part_shown(&v->arena, said.version, MODULE_VERSION_MAX);
    }
    if (!m->version)
        view_text(v, arena_printf(&v->arena, "sys/module/%s/version", module), MODULE_VERSION_MAX,
                  &m->version);
}

void module_look(struct view *v, const struct vendor *vendor, struct module_facts *ret)
{
    CLEANUP_BUF struct buf text = BUF_INIT(MODULES_MAX);
    *ret = (struct module_facts){ .references = -1 };
    enum sight sight = view_read(v, "proc/modules", &text);
    if (sight == ABSENT)
        view_report(v, "proc/modules", "it is not there");
    ret->known = sight == SEEN;
    struct part all = part_of_buf(&text), rest = all;
    struct module_line line;
    if (!ret->known)
        return;
    find_dependents(&v->arena, all, vendor->module, ret);
    while (modules_next(&rest, &line))
        module_take_line(&line, vendor->module, ret);
    if (ret->loaded)
        look_at_version(v, vendor->module, ret);
}

static bool has_entries(struct view *v, const char *path)
{
    CLEANUP_FOLDER struct folder f = { 0 };
    return view_folder(v, path, 1, &f) == SEEN && folder_next(&f);
}

enum secure_boot secure_boot_look(struct view *v)
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
