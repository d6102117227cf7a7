/* Any list of modules: every line that is taken has a name, and all that is taken lies within the
 * text. The same as a list of devices: no number of the driver's is there twice. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/inventory/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct part p, const char *text, size_t size)
{
    if (p.len && (p.at < text || p.at + p.len > text + size))
        abort();
}

static void check_majors(const char *text, size_t size)
{
    struct driver_majors m, before = { .len = 0 };
    driver_majors_parse((struct part){ text, size }, &vendors[VENDOR_NVIDIA], &m);
    if (m.len > DRIVER_MAJORS_MAX)
        abort();
    for (; before.len < m.len; before.len++) {
        if (m.items[before.len] < 0 || driver_majors_has(&before, m.items[before.len]))
            abort();
        before.items[before.len] = m.items[before.len];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1); /* of its own, so that a byte too far is seen */
    memcpy(text, data, size);
    struct part rest = { text, size }, users, name;
    struct module_line m;
    while (modules_next(&rest, &m)) {
        int64_t count = 0;
        if (m.name.len == 0 || m.references < -1)
            abort();
        check(m.name, text, size);
        check(m.users, text, size);
        check(m.taints, text, size);
        for (users = m.users; module_next_user(&users, &name); count++)
            check(name, m.users.at, m.users.len);
        if (count != module_user_count(&m))
            abort();
    }
    check_majors(text, size);
    free(text);
    return 0;
}
