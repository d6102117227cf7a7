#include "node/operand/gdrcopy.h"

#include "node/agent/wait.h"
#include "node/operand/driver_files.h"
#include "node/operand/program.h"

#define DEVICES "run/nvidia/driver/dev"
/* Mount of the host's /dev/char in the manifest. */
#define LINKS "host-dev-char"

int gdrcopy_start(const struct root *root, const char *pod, char *const program[], struct err *e)
{
    const struct ready_target driver = { .sign = READY_DRIVER,
                                         .source = READY_OF_CONTAINER,
                                         .pod = pod };
    if (wait_for(root, &driver, 0, e) < 0 || driver_files_put(root, e) < 0)
        return -1;
    return program_become(program, e);
}

int gdrcopy_probe(const struct root *root, device_make_fn *make, struct err *e)
{
    const char *missing = ready_module_missing(root, READY_MODULE_GDRDRV);
    if (missing)
        return err_set(e, ERR_NOT_FOUND, "%s", missing);
    return devices_make(root, DEVICES, make, e) == 0
               ? devices_link(root, DEVICES, LINKS, "/" DEVICES, e)
               : -1;
}
