#include "node/inventory/modules.h"

#include <string.h>

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
    bool dot = false;
    for (size_t i = 0; i < p.len; i++) {
        if (p.at[i] != '.' && (p.at[i] < '0' || p.at[i] > '9'))
            return false;
        dot |= p.at[i] == '.';
    }
    return dot && p.at[0] != '.' && p.at[p.len - 1] != '.';
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
