#include "reconcilers/decide/inventory.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/node_inventory.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/proof.h"

/* The report from this boot of the machine; NULL: none, or from an earlier boot. */
static const struct node_inventory *of_this_boot(const struct node_input *in)
{
    const struct node_inventory *i = in->inventory;
    return i && i->boot && i->boot == in->view.node->boot ? i : NULL;
}

bool inventory_is_since_boot(const struct node_input *in)
{
    return of_this_boot(in) != NULL;
}

bool inventory_is_told(const struct node_input *in)
{
    return inventory_is_since_boot(in) || !json_bool(in->policy->spec, "nodeAgent.enabled", true);
}

/* The same, only while the agent is up: otherwise its report may be stale. */
static const struct node_inventory *live(const struct node_input *in)
{
    return in->pods->agent ? of_this_boot(in) : NULL;
}

bool inventory_has_no_gpu(const struct node_input *in)
{
    const struct node_inventory *i = live(in);
    return i && in->view.node->gpus == 0 && node_inventory_shows_none(i);
}

/* A driver of Ostler's is there, or being installed or removed. */
static bool has_our_driver(const struct node_input *in)
{
    return in->view.node->claim || node_label(&in->view, LABEL_DRIVER) ||
           in->pods->of[OPERAND_DRIVER].present;
}

/* A module that remains after Ostler's driver was removed is not the host's. */
static bool was_never_ours(const struct node_input *in)
{
    return !in->view.node->proof && !node_label(&in->view, LABEL_STACK);
}

static bool inventory_host_driver(const struct node_input *in, const struct node_facts *facts)
{
    const struct node_inventory *i = of_this_boot(in);
    if (!i || has_our_driver(in) || host_of(facts).cos)
        return false;
    return i->host_driver || (i->module_loaded && !i->driver_container && was_never_ours(in));
}

bool node_host_driver(const struct node_input *in, const struct node_facts *facts)
{
    return in->view.node->host_driver || in->pods->host_driver || inventory_host_driver(in, facts);
}

/* Assumed for a revision whose record is lost. */
static bool brings_toolkit(const struct node_input *in, const char *stack)
{
    const json_t *inputs = in->record(in->arg, TIER_STACK, stack);
    return !inputs || json_bool(inputs, "toolkit.enabled", false);
}

bool inventory_has_own_toolkit(const struct node_input *in)
{
    const struct node_view *v = &in->view;
    const char *stack = node_label(v, LABEL_STACK),
               *claimed = intern_text(v->strings, v->node->claim);
    struct claim claim;
    if (in->pods->of[OPERAND_TOOLKIT].ready || in->pods->of[OPERAND_TOOLKIT].running ||
        node_label(v, LABEL_REMOVAL))
        return true;
    if (claimed && claim_parse(claimed, &claim, NULL) && *claim_last_stack(&claim))
        return brings_toolkit(in, claim_last_stack(&claim));
    return stack && v->node->proof && brings_toolkit(in, stack);
}

const char *inventory_driver_version(const struct node_input *in)
{
    const struct node_inventory *i = of_this_boot(in);
    uint32_t made_s = in->pods->of[OPERAND_DRIVER].made_s;
    bool earlier = i && made_s && i->said_s && i->said_s <= made_s;
    return i && !earlier && i->module_loaded ? i->module_version : "";
}

/* ---- why GPUs do not work */

/* One check of an agent's report. */
struct seeing {
    const struct node_pass *p;
    const struct node_inventory *seen;
};

/* A driver was sent there and does not come up, although its image is pulled. */
static bool waits_for_driver(const struct seeing *s)
{
    const struct node_verdict *v = s->p->v;
    return v->cause == OPERAND_DRIVER && s->p->in->pods->of[OPERAND_DRIVER].present &&
           (v->state == NODE_INSTALLING || v->state == NODE_FAILED) && !task_cannot_pull(v->reason);
}

/* The inputs of the revision that it carries. */
static const json_t *seen_inputs(const struct seeing *s, enum tier tier)
{
    return operands_inputs(s->p->in, tier, s->p->v->carried.hash[tier]);
}

static const char *nouveau(const struct seeing *s)
{
    const struct node_inventory *i = s->seen;
    if (!waits_for_driver(s) || i->module_loaded || !i->nouveau)
        return NULL;
    return arena_printf(s->p->a,
                        "the kernel driver nouveau holds %u of its GPUs, which blocks NVIDIA's "
                        "driver: blacklist nouveau on the node and reboot it",
                        i->nouveau);
}

static const char *secure_boot(const struct seeing *s)
{
    if (!waits_for_driver(s) || s->p->v->state != NODE_FAILED || s->seen->module_loaded ||
        !s->seen->secure_boot)
        return NULL;
    return "Secure Boot is on, so its kernel loads only modules with a trusted signature: set "
           "driver.precompiled for its pool, install a signed driver on the host, or switch Secure "
           "Boot off";
}

/* The pod's container `peermem` waits for the card's driver without end. */
static const char *no_network_card(const struct seeing *s)
{
    if (!waits_for_driver(s) || !json_object_get(seen_inputs(s, TIER_DRIVER), "rdma") ||
        !s->seen->no_network_card)
        return NULL;
    return "driver.rdma is on, but its PCI bus has no network card of NVIDIA (Mellanox), which the "
           "container peermem needs: switch driver.rdma on only for pools whose nodes all have "
           "such a card";
}

/* All operands are up, or would be if the kubelet offered as many GPUs as before. */
static bool inventory_is_up(const struct seeing *s)
{
    return s->p->v->state == NODE_READY || s->p->v->reason == REASON_GPUS_MISSING;
}

static const char *lost(const struct seeing *s)
{
    const struct node_inventory *i = s->seen;
    if (!inventory_is_up(s) || !i->lost)
        return NULL;
    return arena_printf(s->p->a,
                        "%u of its %u GPUs %s fallen off the bus (%s): drain the node and power it "
                        "off and on; if that does not help, the GPU or its slot is broken",
                        i->lost, (unsigned) i->lost + i->gpus, i->lost == 1 ? "has" : "have",
                        i->lost_address);
}

/* Whether the kubelet should offer each GPU of the driver with a stack of these inputs: not if they
 * are divided or shared. */
static bool are_whole(const json_t *stack, const struct node_inventory *seen)
{
    const json_t *plugin = json_object_get(stack, "devicePlugin");
    const json_t *config = json_object_get(plugin, "config");
    return json_bool(plugin, "enabled", false) && str_eq(json_str(plugin, "migStrategy"), "none") &&
           (!config || json_is_null(config)) && !seen->divided;
}

static bool offers_whole_gpus(const struct seeing *s)
{
    return are_whole(seen_inputs(s, TIER_STACK), s->seen);
}

unsigned inventory_whole_gpus(const struct node_input *in)
{
    const struct node_inventory *i = of_this_boot(in);
    const char *stack = str_or_empty(node_label(&in->view, LABEL_STACK));
    return i && are_whole(operands_inputs(in, TIER_STACK, stack), i) ? i->driven : 0;
}

/* GPUs that are not listed any longer, for example after a boot without them. The kubelet must
 * confirm that they are missing: an agent alone removes no offered GPU. */
static const char *vanished(const struct seeing *s)
{
    struct proof proven = { 0 };
    unsigned there = s->seen->gpus;
    const struct node_view *view = &s->p->in->view;
    if (s->p->v->reason != REASON_GPUS_MISSING || !s->seen->gpus_known || !offers_whole_gpus(s) ||
        !proof_of_node(view, &proven) || there >= proven.gpus)
        return NULL;
    return arena_printf(s->p->a,
                        "%u GPU%s on the PCI bus, and %u passed the last validation: power the "
                        "node off and on; if that does not help, a GPU or its slot is broken. If "
                        "the change is intended, run: kubectl annotate node %s " ANNOTATION_PROOF
                        "-",
                        there, there == 1 ? " is" : "s are", proven.gpus, view->node->head.key);
}

static const char *not_offered(const struct seeing *s)
{
    int offered = s->p->in->view.node->gpus;
    if (!inventory_is_up(s) || offered + (int) s->p->v->withheld >= s->seen->driven ||
        !offers_whole_gpus(s))
        return NULL;
    return arena_printf(s->p->a,
                        "the driver has %u GPUs, and the kubelet offers %d: the log of the device "
                        "plugin on the node names the unhealthy GPUs",
                        s->seen->driven, offered);
}

static const char *other_version(const struct seeing *s)
{
    const json_t *driver = seen_inputs(s, TIER_DRIVER);
    const char *wanted = json_str(driver, "version"), *loaded = inventory_driver_version(s->p->in);
    bool container = str_eq(json_str(driver, "source"),
                            driver_source_name(DRIVER_SOURCE_CONTAINER));
    if (s->p->v->state != NODE_READY || !container || !*loaded ||
        proof_version_fits(wanted, loaded))
        return NULL;
    return arena_printf(s->p->a,
                        "the kernel module %s is loaded, and driver %s is wanted: another program "
                        "loaded the module after the validation; reboot the node",
                        loaded, wanted);
}

/* In order of priority: the first that applies is reported. */
static const struct problem {
    enum reason reason;
    const char *(*sentence)(const struct seeing *s); /* NULL: does not apply */
    bool of_driver;                                  /* the assigned driver does not come up */
} problems[] = {
    { REASON_NOUVEAU_BOUND, nouveau, true },
    { REASON_SECURE_BOOT_UNSIGNED, secure_boot, true },
    { REASON_NETWORK_CARD_MISSING, no_network_card, true },
    { REASON_GPUS_MISSING, lost, false },
    { REASON_GPUS_MISSING, vanished, false },
    { REASON_GPUS_MISSING, not_offered, false },
    { REASON_VERSION_MISMATCH, other_version, false },
};

/* The first that applies, and its sentence; NULL: none. */
static const struct problem *first_problem(const struct node_pass *p, const char **ret_sentence)
{
    const struct seeing s = { p, live(p->in) };
    for (size_t i = 0; s.seen && i < ARRAY_LEN(problems); i++) {
        *ret_sentence = problems[i].sentence(&s);
        if (*ret_sentence)
            return &problems[i];
    }
    return NULL;
}

void inventory_explain_driver(const struct node_pass *p)
{
    const char *sentence;
    const struct problem *problem = first_problem(p, &sentence);
    if (problem && problem->of_driver)
        verdict_set(p, p->v->state, problem->reason, "%s: %s", reason_text(problem->reason),
                    sentence);
}

void inventory_explain(const struct node_pass *p)
{
    const char *sentence;
    const struct problem *problem = first_problem(p, &sentence);
    enum node_state state = p->v->state == NODE_READY ? NODE_VALIDATING : p->v->state;
    if (problem)
        verdict_set(p, state, problem->reason, "node %s: %s", p->in->view.node->head.key, sentence);
}
