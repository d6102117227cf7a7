/* kured: reboots machines whose file /var/run/reboot-required says so, one at a time. While a
 * machine is away its node is cordoned. One that never returns holds up the others, as kured's lock
 * does. It evicts no pods. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "sim/actors/kubelet.h"

#define USER "kured"

enum { LOOK_MS = 10 * 1000 };

struct kured {
    struct actors *a;
    struct agenda reboots; /* nodes whose machines ask for a reboot */
    struct agenda returns; /* the node whose machine reboots */
    char *busy;            /* that node; NULL: none */
};

static void kured_cordon(struct kured *k, const char *node, bool cordon)
{
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:b}}", "spec", "unschedulable", cordon);
    api_merge(k->a->api, USER, k->a->kinds.node, "", node, "", patch, NULL);
}

static void kured_reboot(void *self, const char *node)
{
    struct kured *k = self;
    struct machine *m = machine_named(k->a, node);
    if (!m || !m->up || !m->reboot_required)
        return;
    if (k->busy) {
        agenda_after(&k->reboots, node, LOOK_MS);
        return;
    }
    k->busy = xstrdup(node);
    kured_cordon(k, node, true);
    machine_reboot(m);
    agenda_after(&k->returns, node, LOOK_MS);
}

static bool is_back(const struct kured *k, const struct machine *m)
{
    const json_t *node = api_get(k->a->api, k->a->kinds.node, "", m->name);
    return machine_talks(m) && str_eq(json_str(node, "status.nodeInfo.bootID"), m->boot_id) &&
           str_eq(condition_status(json_at(node, "status.conditions"), "Ready"), "True");
}

static void kured_return(void *self, const char *node)
{
    struct kured *k = self;
    const struct machine *m = machine_named(k->a, node);
    if (m && !is_back(k, m)) {
        agenda_after(&k->returns, node, LOOK_MS);
        return;
    }
    if (m)
        kured_cordon(k, node, false);
    free(k->busy);
    k->busy = NULL;
}

void kured_note(struct actors *a, const char *node)
{
    struct kured *k = a->selves[ACTOR_PLACE_KURED];
    if (k)
        agenda_after(&k->reboots, node, agenda_draw(&k->reboots, a->world.kured.after));
}

static void kured_end(void *self)
{
    struct kured *k = self;
    free(k->busy);
}

const struct actor kured_actor = {
    .size = sizeof(struct kured),
    .agendas = { AGENDA(struct kured, reboots, "kured", controller, kured_reboot),
                 AGENDA(struct kured, returns, "kured returns", controller, kured_return) },
    .end = kured_end,
};
