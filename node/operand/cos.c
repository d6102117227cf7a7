#include "node/operand/cos.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "node/agent/ready_files.h"
#include "node/inventory/module.h"
#include "node/operand/program.h"

/* The installer's option for a version; "default" and "latest" are not version numbers. */
#define VERSION "--version="

/* The requested version number; NULL: any. */
static const char *wanted_version(char *const program[])
{
    const char *wanted = NULL;
    for (size_t i = 0; program[i]; i++)
        if (str_has_prefix(program[i], VERSION))
            wanted = program[i] + strlen(VERSION);
    return wanted && isdigit((unsigned char) *wanted) ? wanted : NULL;
}

int cos_needs_installer(const struct root *root, const char *to, char *const program[],
                        bool *ret_needed, struct err *e)
{
    CLEANUP_VIEW struct view v = { .root = root };
    CLEANUP_FREE char *smi = xasprintf("%s/bin/nvidia-smi", *to == '/' ? to + 1 : to);
    const char *wanted = wanted_version(program);
    struct module_facts module;
    module_look(&v, &vendors[VENDOR_NVIDIA], &module);
    *ret_needed = true;
    if (!module.loaded && view_is(&v, READY_MODULE_FILE, S_IFREG) != SEEN)
        return 0;
    if (wanted && module.version && !str_eq(module.version, wanted))
        return err_set(e, ERR_EXISTS,
                       "driver %s is loaded, and %s is wanted: Google's installer cannot unload "
                       "it, reboot the node",
                       module.version, wanted);
    *ret_needed = view_is(&v, smi, S_IFREG) != SEEN;
    return 0;
}

int cos_install(const struct root *root, const char *to, char *const program[], struct err *e)
{
    bool needed;
    if (cos_needs_installer(root, to, program, &needed, e) < 0)
        return -1;
    if (needed)
        return program_become(program, e);
    puts("a driver is already loaded and stays");
    return 0;
}
