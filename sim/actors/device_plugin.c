/* Device plugins on a machine: Ostler's operand, foreign ones, and the host's own. The last
 * registration counts. */

#include "base/mem.h"
#include "base/str.h"
#include "sim/actors/kubelet.h"

enum { GIVES_UP_MS = 500, STOP_MS = 500 };

/* Registers the devices for an owner: a pod's uid, or "host"; NULL: they are gone. */
static void device_plugin_take(struct machine *m, const char *whose)
{
    xstrset(&m->plugin, whose);
    int found = gpus_found(m);
    m->devices = whose && driver_finds_gpus(m) ? found : 0;
    node_note_devices(m);
}

struct run device_plugin_run(struct box *b)
{
    struct machine *m = b->pod->machine;
    struct run r = {
        .ends_ms = -1, .step_ms = -1, .ready_ms = 0, .stop_ms = STOP_MS, .stop_code = 1
    };
    if (m->module) {
        r.step_ms = kubelet_draw(m->kubelet, m->a->world.latencies.plugin);
        return r;
    }
    r.ready_ms = -1;
    r.ends_ms = GIVES_UP_MS;
    r.code = 1;
    r.message = "error starting plugins: error creating plugin manager: unable to create plugin "
                "manager: nvml init failed: "
                "ERROR_LIBRARY_NOT_FOUND";
    return r;
}

void device_plugin_step(struct box *b)
{
    device_plugin_take(b->pod->machine, b->pod->uid);
}

void device_plugin_ended(struct box *b)
{
    if (str_eq(b->pod->machine->plugin, b->pod->uid))
        device_plugin_take(b->pod->machine, NULL);
}

void device_plugin_boot(struct machine *m)
{
    if (m->shape->host_plugin)
        device_plugin_take(m, "host");
}
