#include "node/operand/host_devices.h"

#include <string.h>
#include <sys/types.h>

#include "base/buf.h"
#include "node/inventory/text.h"
#include "node/operand/mig_devices.h"
#include "node/operand/program.h"

#define UVM "nvidia-uvm"
#define LINKS "dev/char"

enum { LOAD_MS = 60 * 1000, WORDS_MAX = 1024 };

/* Whether the module has a device number. If that cannot be read, devices_make() reports it. */
static bool has_uvm(const struct root *host)
{
    CLEANUP_ERR struct err e = { 0 };
    unsigned major;
    return devices_major(host, UVM, &major, &e) > 0;
}

static int load_uvm(const struct root *host, char *const loader[], struct err *e)
{
    CLEANUP_BUF struct buf said = BUF_INIT(WORDS_MAX);
    CLEANUP_ERR struct err why = { 0 };
    int rc = program_run(loader, LOAD_MS, &said, &why);
    if (rc == 0 && has_uvm(host))
        return 0;
    struct part words = part_trimmed(part_of_buf(&said));
    return err_set(e, ERR_NOT_FOUND,
                   "the host has not loaded the module " UVM
                   ", without which no CUDA program runs, and `modprobe " UVM
                   "` did not load it (%s%s%.*s): make the host load it at boot, for example with "
                   "a file in /etc/modules-load.d",
                   rc < 0 ? err_msg(&why) : "it reported success", words.len ? ": " : "",
                   (int) words.len, words.at);
}

int host_devices_show(const struct root *host, const struct host_devices *h, struct err *e)
{
    if ((!has_uvm(host) && load_uvm(host, h->loader, e) < 0) ||
        devices_make(host, "dev", h->make, e) < 0)
        return -1;
    const char *links = root_has(host, LINKS) ? LINKS : NULL;
    if (mig_devices_show(host, &(struct mig_places){ "dev", links, "/dev" }, h->make, e) < 0)
        return -1;
    return links ? devices_link(host, "dev", links, "/dev", e) : 0;
}
