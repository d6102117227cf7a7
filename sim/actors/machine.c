/* Machines: power on and off, reboot, and loss of network. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/kubelet.h"

static const struct spec_delay usual_boot = { 60000, 120000 };

static void booted(void *arg);

struct machine *machine_new(struct kubelet *k, const char *name, const struct spec_shape *shape,
                            const json_t *labels)
{
    struct machine *m = xcalloc(1, sizeof *m);
    m->kubelet = k;
    m->a = k->a;
    m->name = xstrdup(name);
    m->number = k->machines_made++;
    m->shape = shape;
    m->labels = labels;
    m->gpus = shape->gpus;
    m->handler = shape->host_toolkit;
    m->boot_event.fn = booted;
    m->boot_event.arg = m;
    map_put(&k->machines, m->name, m);
    return m;
}

static void forget_memory(struct machine *m)
{
    char **const texts[] = { &m->module,
                             &m->digest,
                             &m->plugin,
                             &m->driver_sign.what,
                             &m->driver_sign.whose,
                             &m->toolkit_sign.what,
                             &m->toolkit_sign.whose };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        xstrset(texts[i], NULL);
    m->pid_file = m->reboot_required = false;
    m->devices = 0;
}

const char *machine_resource(const struct machine *m)
{
    return m->shape->resource ? m->shape->resource : RESOURCE_GPU;
}

bool machine_is_divided(const struct machine *m)
{
    return m->shape->more || strstr(machine_resource(m), "/mig-");
}

int64_t machine_gives(const struct machine *m, const char *resource, int64_t gpus)
{
    if (str_eq(resource, machine_resource(m)))
        return gpus;
    return gpus > 0 ? json_integer_value(json_object_get(m->shape->more, resource)) : 0;
}

void machine_free(struct machine *m)
{
    struct sim_event *const events[] = { &m->boot_event, &m->node_event, &m->capacity_event,
                                         &m->heartbeat_event, &m->agent_event };
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        sim_cancel(m->a->sim, events[i]);
    map_remove(&m->kubelet->machines, m->name);
    while (m->pod_count > 0)
        pod_box_free(m->pods[m->pod_count - 1]);
    free(m->pods);
    map_clear_with(&m->images, free);
    forget_memory(m);
    gpus_clear(m);
    free(m->half_done);
    free(m->words);
    free(m->repair_words);
    free(m->name);
    free(m);
}

void machine_off(struct machine *m)
{
    if (!m->up && !heap_holds(&m->boot_event.item))
        return;
    sim_cancel(m->a->sim, &m->boot_event);
    sim_cancel(m->a->sim, &m->heartbeat_event);
    m->up = m->cut_off = false;
    for (size_t i = 0; i < m->pod_count; i++)
        pod_box_lose(m->pods[i]);
    forget_memory(m);
    gpus_off(m);
    node_lifecycle_watch(m->a, m->name);
}

/* Pods deleted in the API server do not survive a power off. */
static void drop_gone_pods(struct machine *m)
{
    for (size_t i = m->pod_count; i-- > 0;)
        if (m->pods[i]->gone)
            pod_box_free(m->pods[i]);
}

/* Pods may have been bound meanwhile. */
static void note_bound_pods(struct machine *m)
{
    const struct index_set *pods = index_pods_on(m->a->index, m->name);
    for (size_t i = 0; i < pods->len; i++)
        kubelet_note(m->kubelet, pods->items[i]->object);
}

static void booted(void *arg)
{
    struct machine *m = arg;
    struct rng *r = &m->kubelet->draws.rng;
    uint64_t high = rng_next(r), low = rng_next(r);
    snprintf(m->boot_id, sizeof m->boot_id, "%08x-%04x-4%03x-8%03x-%012llx",
             (unsigned) (high >> 32), (unsigned) (high >> 16) & 0xffff, (unsigned) high & 0xfff,
             (unsigned) (low >> 52), (unsigned long long) low & 0xffffffffffffULL);
    m->up = true;
    m->boots++;
    gpus_boot(m);
    driver_boot(m);
    node_register(m, m->from_beginning);
    m->from_beginning = false;
    drop_gone_pods(m);
    for (size_t i = 0; i < m->pod_count; i++)
        pod_box_begin_anew(m->pods[i]);
    note_bound_pods(m);
}

void machine_on(struct machine *m, bool at_once)
{
    if (m->up || heap_holds(&m->boot_event.item) || !gpus_may_boot(m))
        return;
    const struct spec_delay boot = m->shape->boot.high_ms ? m->shape->boot : usual_boot;
    m->from_beginning = at_once;
    if (at_once)
        booted(m);
    else
        sim_after(m->a->sim, &m->boot_event, kubelet_draw(m->kubelet, boot));
}

void machine_reboot(struct machine *m)
{
    machine_off(m);
    machine_on(m, false);
}

void machine_cut_off(struct machine *m)
{
    m->cut_off = m->up;
    if (m->up)
        node_lifecycle_watch(m->a, m->name);
}

/* The kubelet lists its pods again: new, changed and deleted ones. */
void machine_rejoin(struct machine *m)
{
    if (!m->cut_off)
        return;
    m->cut_off = false;
    node_register(m, false);
    for (size_t i = 0; i < m->pod_count; i++) {
        kubelet_note(m->kubelet, m->pods[i]->first);
        pod_note_status(m->pods[i]);
        pod_box_advance(m->pods[i]);
    }
    note_bound_pods(m);
}

bool machine_talks(const struct machine *m)
{
    return m->up && !m->cut_off;
}

void machine_set_gpus(struct machine *m, int gpus)
{
    m->gpus = gpus;
    if (m->plugin) {
        m->devices = gpus;
        node_note_devices(m);
    }
    agent_note(m);
}

void machine_changed(struct machine *m)
{
    agent_note(m);
    for (size_t i = 0; i < m->pod_count; i++)
        for (size_t k = 0; k < m->pods[i]->box_count; k++) {
            struct box *b = &m->pods[i]->boxes[k];
            if (b->state == BOX_RUNNING && b->run.waits && !b->stopping && b->ends_at_ms < 0 &&
                operand_may_go(b))
                box_let_go(b);
        }
}

bool machine_has_image(const struct machine *m, const char *image)
{
    return map_get(&m->images, image) != NULL;
}

void machine_add_image(struct machine *m, const char *image)
{
    map_make(&m->images, image, 0, 0);
}
