/* Checks of nodes that Ostler closes for a fault of their GPUs: for what, how many, and that each
 * is opened again. What is the matter with a node is read from its agent's reports, by the tables
 * of checks_health.c; what Ostler has done, from the node's taint and from ostler.dev/fault. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/checks.h"

enum {
    /* a client may work for so long on a watch that brings nothing */
    UNHEARD_MS = 200 * 1000,
    HEARD_MS = 10 * 1000, /* the same where nothing goes wrong */
    /* after a report a worse action in a line of the log counts for two minutes, and what a claim
     * made of the log for one; then a GPU is validated */
    SETTLES_MS = 240 * 1000,
    WINDOW_SLACK_MS = 5 * 1000, /* the clocks of Ostler and of the world */
};

/* ---- what is read of a node */

bool check_is_unhealthy(const json_t *node)
{
    return check_has_taint(node, TAINT_UNHEALTHY);
}

/* The record of a node's fault: its state; "": there is none that can be read. */
struct on_record {
    char state[16];
    bool tainted;
};

static struct on_record record_of(const json_t *node)
{
    struct on_record r = { 0 };
    const char *text = object_annotation(node, ANNOTATION_FAULT);
    CLEANUP_JSON json_t *said = text ? json_parse(text, strlen(text), NULL) : NULL;
    snprintf(r.state, sizeof r.state, "%s", json_str_or_empty(said, "state"));
    r.tainted = json_bool(said, "tainted", false);
    return r;
}

static bool is_dealt_with(const struct on_record *r)
{
    return str_eq(r->state, "Closed") || str_eq(r->state, "Proving");
}

bool check_is_on_record(const json_t *node)
{
    struct on_record r = record_of(node);
    return is_dealt_with(&r);
}

/* How long Ostler may not have heard of something. */
static int64_t unheard_ms(const struct invariants *v)
{
    return v->run->plan->calm ? HEARD_MS : UNHEARD_MS;
}

static bool is_within(const struct invariants *v, const struct map *m, const char *key, int64_t ms)
{
    int64_t at_ms = check_noted(m, key);
    return at_ms >= 0 && v->run->sim.now_ms - at_ms < ms;
}

/* Whether what says that the node may be closed for a fault has just changed. */
static bool is_rule_new(const struct invariants *v, const char *node)
{
    return is_within(v, &v->faults.rules, "", unheard_ms(v)) ||
           is_within(v, &v->faults.rules, node, unheard_ms(v));
}

/* Why the node may not be closed for a fault; NULL: it may. */
static const char *why_not_closed(const json_t *policy, const json_t *node)
{
    const char *mode = check_health_mode(policy);
    if (!*mode)
        return "there is no policy";
    if (str_eq(mode, "Observe"))
        return "the mode is Observe";
    if (!check_is_wanted(policy, node))
        return "it is not Ostler's";
    if (str_eq(object_label(node, LABEL_HEALTH), HEALTH_IGNORE))
        return "its faults are to be ignored";
    return object_label(node, LABEL_HOLD) ? "it is held" : NULL;
}

/* ---- what is noted */

static void note_rules(const struct invariants *v, const struct api_commit *c)
{
    static const char *const labels[] = { LABEL_HEALTH, LABEL_HOLD, LABEL_MANAGED,
                                          LABEL_DEPLOY_OPERANDS };
    const char *name = object_name(c->after ? c->after : c->before);
    bool node = check_is_kind(c->kind, "nodes"),
         policy = check_is_kind(c->kind, "gpuclusterpolicies");
    if (policy &&
        !json_equal(json_object_get(c->before, "spec"), json_object_get(c->after, "spec")))
        check_note(v, (struct map *) &v->faults.rules, "");
    if (policy && object_is_deleting(c->after) && !object_is_deleting(c->before))
        check_note(v, (struct map *) &v->faults.rules, "");
    for (size_t i = 0; node && i < ARRAY_LEN(labels); i++)
        if (!str_eq(object_label(c->before, labels[i]), object_label(c->after, labels[i])))
            check_note(v, (struct map *) &v->faults.rules, name);
}

static void note_report(const struct invariants *v, const struct api_commit *c)
{
    const json_t *inventory = json_at(c->after, "status.inventory");
    if (!check_is_kind(c->kind, "gpunodes") || !inventory)
        return;
    struct faults_noted *f = (struct faults_noted *) &v->faults;
    bool bad = check_level_at_most(inventory) >= LEVEL_CLOSE;
    if (bad || check_nvml_speaks(inventory))
        check_note(v, bad ? &f->ailing : &f->well, object_name(c->after));
}

/* Whether a node is closed that was not. One of which the device plugin withheld a GPU was closed
 * already when it gets the taint. */
static bool is_closing(const struct api_commit *c)
{
    return c->before && c->after && check_is_unhealthy(c->after) &&
           !check_is_unhealthy(c->before) && !check_is_on_record(c->before);
}

static void note_node(struct invariants *v, const struct api_commit *c)
{
    struct faults_noted *f = &v->faults;
    const char *name = object_name(c->after ? c->after : c->before);
    bool ours = str_eq(c->user, OSTLER_USER);
    if (!check_is_kind(c->kind, "nodes"))
        return;
    if (object_annotation(c->before, ANNOTATION_CLAIM))
        check_note(v, &f->claimed, name);
    if (ours && check_is_on_record(c->after) && !check_is_on_record(c->before))
        check_note(v, &f->closed, name);
    if (object_annotation(c->after, ANNOTATION_REPAIR) ||
        (!ours && !str_eq(object_annotation(c->before, ANNOTATION_FAULT),
                          object_annotation(c->after, ANNOTATION_FAULT))))
        check_note(v, &f->asked, name);
    if (ours && is_closing(c) && !check_is_hard(check_inventory(v, name)))
        check_note(v, &f->soft, name);
}

void check_closing_commit(struct invariants *v, const struct api_commit *c)
{
    note_rules(v, c);
    note_report(v, c);
    note_node(v, c);
}

void check_closing_clear(struct invariants *v)
{
    struct map *const maps[] = { &v->faults.ailing, &v->faults.well, &v->faults.rules,
                                 &v->faults.closed, &v->faults.soft, &v->faults.asked,
                                 &v->faults.claimed };
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        check_notes_clear(maps[i]);
}

/* ---- H4 */

/* Whether its reports show no fault for which a node is closed, and showed none lately. */
static bool is_shown_well(const struct invariants *v, const char *node)
{
    int64_t ailing_ms = check_noted(&v->faults.ailing, node),
            well_ms = check_noted(&v->faults.well, node);
    return ailing_ms < 0 ||
           (well_ms > ailing_ms && !is_within(v, &v->faults.well, node, unheard_ms(v)));
}

static void check_closed_for(struct invariants *v, const json_t *node)
{
    const char *name = object_name(node), *why = why_not_closed(check_policy(v), node);
    struct on_record r = record_of(node);
    check_tried(v, INVARIANT_H4_CLOSED);
    if (!is_dealt_with(&r) || !r.tainted)
        check_failed(v, INVARIANT_H4_CLOSED, "%s is closed without a record that says so", name);
    if (why && !is_rule_new(v, name))
        check_failed(v, INVARIANT_H4_CLOSED, "%s is closed, and %s", name, why);
    if (!json_object_size(json_at(check_policy(v), "spec.health.xids")) && is_shown_well(v, name))
        check_failed(v, INVARIANT_H4_CLOSED, "%s is closed, and its GPUs are well", name);
}

/* Whether a node's record ends although its reports show the fault, and have for long enough. A
 * driver that is not up may have ended what a log told: that is not judged. */
static bool is_opened_ill(const struct invariants *v, const json_t *node)
{
    const char *name = object_name(node);
    const json_t *inventory = check_inventory(v, name);
    int64_t driver_us = check_driver_us(v, name);
    bool ill = check_level_at_least(inventory) >= LEVEL_CLOSE ||
               (driver_us >= 0 && check_level_settled(inventory, driver_us) >= LEVEL_CLOSE);
    bool current = str_eq(json_str(inventory, "bootId"), json_str(node, "status.nodeInfo.bootID"));
    return ill && current && !is_within(v, &v->faults.ailing, name, unheard_ms(v));
}

static void check_opened_for(struct invariants *v, const json_t *node)
{
    const json_t *policy = check_policy(v);
    const char *name = object_name(node);
    if (why_not_closed(policy, node) || is_rule_new(v, name) ||
        json_object_size(json_at(policy, "spec.health.xids")))
        return;
    check_tried(v, INVARIANT_H4_CLOSED);
    if (is_opened_ill(v, node))
        check_failed(v, INVARIANT_H4_CLOSED, "%s is opened, and its report shows the fault", name);
}

/* Whether a node that Ostler releases from a claim has to be closed for what its reports show and
 * have shown for long enough: in the same write, so that no pod comes in between. What only a log
 * tells does not count for a while after a claim. */
static void check_released(struct invariants *v, const struct api_commit *c)
{
    const char *name = object_name(c->after);
    struct on_record r = record_of(c->after);
    struct reading_claim claim;
    if (!str_eq(c->user, OSTLER_USER) || !check_claim_of(c->before, &claim) ||
        object_annotation(c->after, ANNOTATION_CLAIM) ||
        why_not_closed(check_policy(v), c->after) || is_rule_new(v, name) ||
        object_is_deleting(c->after))
        return;
    check_tried(v, INVARIANT_H4_CLOSED);
    bool keeps_open = str_eq(r.state, "Ignored") || str_eq(r.state, "Braked") ||
                      (is_dealt_with(&r) && !r.tainted);
    if (check_is_hard(check_inventory(v, name)) && !keeps_open &&
        !is_within(v, &v->faults.ailing, name, unheard_ms(v)) && !check_is_unhealthy(c->after))
        check_failed(v, INVARIANT_H4_CLOSED, "%s is released, and a GPU of it is gone", name);
}

/* Whether Ostler opens a node whose record says that it is closed. */
static void check_keeps_closed(struct invariants *v, const struct api_commit *c)
{
    struct on_record r = record_of(c->after);
    if (!str_eq(c->user, OSTLER_USER) || !is_dealt_with(&r) || !r.tainted)
        return;
    check_tried(v, INVARIANT_H4_CLOSED);
    if (!check_is_unhealthy(c->after) && check_is_unhealthy(c->before))
        check_failed(v, INVARIANT_H4_CLOSED, "%s is opened, and its record says that it is closed",
                     object_name(c->after));
}

void check_closing(struct invariants *v, const struct api_commit *c)
{
    if (!check_is_kind(c->kind, "nodes") || !c->before || !c->after)
        return;
    check_released(v, c);
    check_keeps_closed(v, c);
    struct on_record was = record_of(c->before), is = record_of(c->after);
    bool tainted = check_is_unhealthy(c->after), was_tainted = check_is_unhealthy(c->before);
    if (tainted && !was_tainted)
        check_closed_for(v, c->after);
    else if (tainted && is_dealt_with(&was) && !is_dealt_with(&is))
        check_failed(v, INVARIANT_H4_CLOSED, "%s stays closed, and its record ends",
                     object_name(c->after));
    bool over = !*is.state || str_eq(is.state, "Over");
    if (is_dealt_with(&was) && over && (!was.tainted || was_tainted))
        check_opened_for(v, c->after);
}

/* Whoever put the taint there: it has a record or goes, and so do the ones that the policy wants no
 * longer. */
void check_records(struct invariants *v)
{
    const struct kind *nodes = kind_named("nodes");
    for (size_t i = 0; !v->run->plan->deny_verb && i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        const char *why = why_not_closed(check_policy(v), node);
        struct on_record r = record_of(node);
        if (!check_is_unhealthy(node) || object_is_deleting(node) || !check_policy(v))
            continue;
        check_tried(v, INVARIANT_H4_CLOSED);
        if (!is_dealt_with(&r))
            check_failed(v, INVARIANT_H4_CLOSED, "%s has the taint and no record",
                         object_name(node));
        if (why && !object_label(node, LABEL_HOLD))
            check_failed(v, INVARIANT_H4_CLOSED, "%s has the taint, and %s", object_name(node),
                         why);
    }
}

/* ---- H5 */

static bool is_repair(const json_t *node)
{
    struct reading_claim claim;
    return reading_claim(node, &claim) && str_eq(claim.kind, "Repair");
}

void check_no_eviction(struct invariants *v, const struct api_commit *c)
{
    if (!check_has_faults(v) || !str_eq(check_health_mode(check_policy(v)), "Close") ||
        is_within(v, &v->faults.rules, "", unheard_ms(v)) || !c->before)
        return;
    if (check_is_kind(c->kind, "nodes") && c->after &&
        !object_annotation(c->after, ANNOTATION_REPAIR) &&
        check_is_faulty(v, object_name(c->after))) {
        check_tried(v, INVARIANT_H5_NO_EVICTION);
        if (is_repair(c->after) && !is_repair(c->before))
            check_failed(v, INVARIANT_H5_NO_EVICTION, "%s is claimed", object_name(c->after));
    }
    if (!check_is_sent_away(c))
        return;
    const char *name = json_str_or_empty(c->before, "spec.nodeName");
    const json_t *node = api_get(v->run->api, kind_named("nodes"), NULL, name);
    struct reading_claim claim;
    check_tried(v, INVARIANT_H5_NO_EVICTION);
    if (node && !object_annotation(node, ANNOTATION_REPAIR) && !check_is_recent(v, name) &&
        (!check_claim_of(node, &claim) || str_eq(claim.kind, "Repair")))
        check_failed(v, INVARIANT_H5_NO_EVICTION, "%s is sent away from %s", object_name(c->before),
                     name);
}

/* ---- H6 */

/* Whether a user's pods leave a GPU for the validation. */
static bool has_free_gpu(const struct invariants *v, const json_t *node, int64_t gpus)
{
    const struct kind *pods = kind_named("pods");
    for (size_t i = 0; i < api_count(v->run->api, pods); i++) {
        const json_t *pod = api_at(v->run->api, pods, i);
        JSON_EACH (container, json_at(pod, "spec.containers"))
            if (str_eq(json_str(pod, "spec.nodeName"), object_name(node)))
                gpus -= strtoll(
                    str_or_empty(json_key(json_at(container, "resources.limits"), RESOURCE_GPU)),
                    NULL, 10);
    }
    return gpus > 0;
}

/* Whether nothing keeps a node closed: its GPUs are well, and their reports have shown that for
 * long enough; it is up, and not being changed; a GPU can be validated. */
static bool may_open(const struct invariants *v, const json_t *node)
{
    const char *name = object_name(node);
    const json_t *report = check_report_of(v, node);
    const json_t *inventory = json_at(report, "status.inventory");
    struct actors_machine m;
    int64_t driver_us = check_driver_us(v, name);
    return report && actors_machine(v->run->actors, name, &m) && m.up && !m.faulty && m.module &&
           str_eq(check_condition(node, "Ready"), "True") && !object_is_deleting(node) &&
           !object_annotation(node, ANNOTATION_CLAIM) && has_free_gpu(v, node, m.gpus) &&
           driver_us >= 0 && check_nvml_speaks(inventory) &&
           check_level_settled(inventory, driver_us) < LEVEL_CLOSE &&
           !is_within(v, &v->faults.ailing, name, SETTLES_MS);
}

void check_opened(struct invariants *v)
{
    const struct kind *nodes = kind_named("nodes");
    const json_t *policy = check_policy(v);
    for (size_t i = 0; check_has_faults(v) && i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        const char *name = object_name(node);
        if (check_noted(&v->faults.closed, name) < 0 || why_not_closed(policy, node) ||
            life_is_broken(v->run->life, policy) || !may_open(v, node))
            continue;
        check_tried(v, INVARIANT_H6_OPENED);
        if (check_is_unhealthy(node) || check_is_on_record(node))
            check_failed(v, INVARIANT_H6_OPENED, "%s: %s", name,
                         str_or_empty(object_annotation(node, ANNOTATION_FAULT)));
    }
}

/* ---- H9 */

/* How many nodes were closed within the window for what only a log or a library told, and still
 * are. */
static size_t closed_within(const struct invariants *v, int64_t window_ms)
{
    const struct kind *nodes = kind_named("nodes");
    size_t count = 0;
    for (size_t i = 0; i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        struct on_record r = record_of(node);
        count += str_eq(r.state, "Closed") && r.tainted &&
                 is_within(v, &v->faults.soft, object_name(node), window_ms);
    }
    return count;
}

void check_brake(struct invariants *v, const struct api_commit *c)
{
    const json_t *policy = check_policy(v);
    bool closes = check_is_kind(c->kind, "nodes") && is_closing(c);
    if (!closes || !policy || is_within(v, &v->faults.rules, "", unheard_ms(v)) ||
        check_is_hard(check_inventory(v, object_name(c->after))) ||
        is_within(v, &v->faults.soft, object_name(c->after), unheard_ms(v)))
        return;
    int64_t window_ms = reading_brake_window_ms(policy);
    const struct kind *nodes = kind_named("nodes");
    size_t gpu_nodes = 0;
    for (size_t i = 0; i < api_count(v->run->api, nodes); i++)
        gpu_nodes += object_label(api_at(v->run->api, nodes, i), LABEL_GPU_PRESENT) != NULL;
    size_t most = reading_brake_nodes(policy, gpu_nodes),
           closed = closed_within(v, window_ms - WINDOW_SLACK_MS) + 1;
    check_tried(v, INVARIANT_H9_BRAKE);
    if (closed > most)
        check_failed(v, INVARIANT_H9_BRAKE,
                     "with %s %zu nodes are closed within %lld s, and %zu may",
                     object_name(c->after), closed, (long long) window_ms / 1000, most);
}
