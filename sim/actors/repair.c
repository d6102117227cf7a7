/* The one-off pods that reset GPUs and reboot a machine: what they do to it, and what they say. */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/actors/kubelet.h"

enum {
    REFUSES_MS = 500, /* to find out that it cannot be done */
    RESET_MS = 3000,
    ASKS_MS = 1000, /* from the start of the program until the machine goes down */
    STOP_MS = 100,
    KILLED_CODE = 143,
};

static struct run ends(int64_t after_ms, int code, const char *message)
{
    return (struct run){ .ends_ms = after_ms,
                         .step_ms = -1,
                         .ready_ms = -1,
                         .stop_ms = STOP_MS,
                         .code = code,
                         .stop_code = KILLED_CODE,
                         .message = message };
}

/* Keeps a text for as long as containers may borrow it. */
static const char *repair_says(struct machine *m, char *text_steal)
{
    free(m->repair_words);
    m->repair_words = text_steal;
    return text_steal;
}

/* Argument of its program; NULL: there is none at this place. */
static const char *argument(const struct box *b, size_t place)
{
    return json_string_value(json_array_get(json_object_get(b->spec, "args"), place));
}

/* ---- reset */

/* Why these GPUs cannot be reset; NULL: they can. Owned by the caller. */
static char *why_no_reset(const struct box *b)
{
    const struct machine *m = b->pod->machine;
    const char *address;
    if (m->module)
        return xstrdup("the module nvidia is loaded: no GPU can be reset");
    if (!argument(b, 1))
        return xstrdup("no address is given");
    for (size_t i = 1; (address = argument(b, i)) != NULL; i++) {
        int gpu = gpus_at(m, address);
        if (gpu < 0)
            return xasprintf("%s: there is no such GPU", address);
        if (gpus_is_silent(m, gpu))
            return xasprintf("%s: the GPU does not respond", address);
    }
    return NULL;
}

struct run reset_pod_run(struct box *b)
{
    struct machine *m = b->pod->machine;
    char *why = why_no_reset(b);
    m->resets++;
    if (why)
        return ends(REFUSES_MS, 1, repair_says(m, why));
    struct run r = ends(RESET_MS + 1, 0, "the GPUs are reset");
    r.step_ms = RESET_MS;
    return r;
}

void reset_step(struct box *b)
{
    struct machine *m = b->pod->machine;
    const char *address;
    for (size_t i = 1; (address = argument(b, i)) != NULL; i++)
        gpus_reset(m, gpus_at(m, address));
}

/* ---- reboot */

static bool asks_kured(const struct box *b)
{
    return str_eq(argument(b, 1), "sentinel");
}

static bool withdraws(const struct box *b)
{
    return str_eq(argument(b, 1), "withdraw");
}

/* A program that reboots its machine runs until that is down. */
struct run reboot_pod_run(struct box *b)
{
    struct run r = ends(asks_kured(b) ? ASKS_MS + 1 : -1, 0, "/var/run/reboot-required is written");
    if (withdraws(b)) {
        r = ends(ASKS_MS + 1, 0, "/var/run/reboot-required is removed");
        r.step_ms = ASKS_MS;
        return r;
    }
    if (!asks_kured(b) && !str_eq(argument(b, 1), "pod"))
        return ends(REFUSES_MS, 1, "reboot: pod, sentinel or withdraw");
    b->pod->machine->reboots_asked++;
    r.step_ms = ASKS_MS;
    return r;
}

void reboot_step(struct box *b)
{
    struct machine *m = b->pod->machine;
    if (withdraws(b)) {
        m->reboot_required = false;
        return;
    }
    if (!asks_kured(b)) {
        machine_reboot(m);
        return;
    }
    m->reboot_required = true;
    kured_note(m->a, m->name);
}
