#include "reconcilers/view/edit_health.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/view/health.h"
#include "reconcilers/view/snapshot.h"
#include "reconcilers/model/fault_record.h"
#include "reconcilers/model/health_spec.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/policy.h"

static const json_t *node_of(const struct edit_health *h)
{
    return json_object_get(h->snapshot, "nodes");
}

static const json_t *report_of(const struct edit_health *h)
{
    return json_object_get(h->snapshot, "reports");
}

static const char *name_of(const struct edit_health *h)
{
    return object_name(node_of(h));
}

static bool is_ignored(const json_t *node)
{
    return str_eq(object_label(node, LABEL_HEALTH), HEALTH_IGNORE);
}

/* ---- repair: whether Ostler would do it */

/* The policy's health with the defaults; as it is, if this program does not know all of it. */
static struct health_spec spec_of(const json_t *policy)
{
    struct policy decoded;
    struct policy_problems problems = { 0 };
    struct health_spec spec;
    int rc = policy_decode(policy, &POLICY_LIMITS_NONE, &decoded, &problems);
    health_spec_decode(rc == 0 ? decoded.spec : json_object_get(policy, "spec"), true, &spec);
    policy_clear(&decoded);
    policy_problems_clear(&problems);
    return spec;
}

/* Each check sets the error and returns -1 if it refuses. */
typedef int check_fn(const struct edit_health *h, const struct health_spec *spec, struct err *e);

static int check_policy(const struct edit_health *h, const struct health_spec *spec, struct err *e)
{
    (void) spec;
    return json_object_get(h->snapshot, "policy")
               ? 0
               : err_set(e, ERR_NOT_FOUND,
                         "there is no GpuClusterPolicy: nothing is repaired, and nothing was "
                         "changed");
}

static int check_mode(const struct edit_health *h, const struct health_spec *spec, struct err *e)
{
    return spec->mode != HEALTH_MODE_OBSERVE
               ? 0
               : err_set(e, ERR_INVALID,
                         "spec.health.mode of the policy is Observe: Ostler repairs nothing, and "
                         "nothing was changed; with Close and Repair it repairs %s when a user "
                         "asks for it",
                         name_of(h));
}

static int check_served(const struct edit_health *h, const struct health_spec *spec, struct err *e)
{
    static const char *const not_served[] = { "Unmanaged", "ForeignStack", "Unsupported",
                                              "Removing", NULL };
    const char *state = snapshot_node_state(report_of(h));
    bool excluded = str_eq(object_label(node_of(h), LABEL_MANAGED), "false");
    (void) spec;
    if (!excluded && !str_is_any_of(state, not_served))
        return 0;
    return err_set(e, ERR_INVALID,
                   "Ostler does not serve %s (%s), so it does not repair it: nothing was changed",
                   name_of(h), excluded ? LABEL_MANAGED "=false" : state);
}

static int check_gpus(const struct edit_health *h, const struct health_spec *spec, struct err *e)
{
    (void) spec;
    return json_int(report_of(h), "status.gpus", 0) > 0
               ? 0
               : err_set(e, ERR_INVALID, "Ostler knows of no GPU in %s: nothing was changed",
                         name_of(h));
}

static check_fn *const checks[] = { check_policy, check_mode, check_served, check_gpus };

/* ---- repair: what it will do */

static size_t gpu_pods(const json_t *pods)
{
    size_t n = 0;
    JSON_EACH (pod, pods)
        n += pod_gpus(pod) > 0 && !str_eq(object_label(pod, LABEL_MANAGED_BY), MANAGED_BY);
    return n;
}

/* Owned by the caller. */
static char *jobs_text(const struct edit_health *h, const struct health_spec *spec)
{
    const json_t *pods = json_object_get(h->snapshot, "pods");
    size_t n = gpu_pods(pods);
    CLEANUP_FREE char *there = pods ? xasprintf(" (%zu now)", n) : xstrdup("");
    CLEANUP_FREE char *span = term_span(spec->wait_for_jobs_s);
    return spec->wait_for_jobs_s < 0
               ? xasprintf(
                     "waits until its jobs among its GPU pods%s have ended, and evicts the others",
                     there)
               : xasprintf(
                     "waits at most %s for the jobs among its GPU pods%s, and evicts the others",
                     span, there);
}

/* What Ostler may do after a reset that was not enough. */
static const char *reboot_text(enum health_reboot reboot)
{
    static const char *const texts[] = {
        [HEALTH_REBOOT_NONE] =
            "if that is not enough, a person has to reboot the node (health.reboot is None)",
        [HEALTH_REBOOT_POD] =
            ("if that is not enough, it evicts the other pods and reboots the node "
             "(health.reboot is Pod)"),
        [HEALTH_REBOOT_SENTINEL] =
            "if that is not enough, it asks kured to reboot the node (health.reboot is Sentinel)",
    };
    return texts[reboot];
}

static void ask_repair(const struct edit_health *h, const struct health_spec *spec,
                       struct edit *ret)
{
    const char *name = name_of(h);
    char now[CLOCK_TEXT_MAX];
    clock_rfc3339(h->now_us / 1000000 * 1000000, now);
    CLEANUP_FREE char *jobs = jobs_text(h, spec);
    CLEANUP_FREE char *held = snapshot_node_is_held(node_of(h))
                                  ? xasprintf(
                                        "; it is held, and is not repaired before kubectl gpu "
                                        "release %s",
                                        name)
                                  : xstrdup("");
    ret->patch = edit_mark(node_of(h), "annotations", ANNOTATION_REPAIR, now);
    ret->said = xasprintf(
        "a repair of %s is asked for. If an administrator has allowed repairs (allowRepairs of the "
        "chart; if not, kubectl gpu explain %s says so in a moment): when its turn comes, in the "
        "same budget as upgrades, Ostler %s; then it removes "
        "the driver, resets the GPUs, installs the driver and validates a GPU; "
        "%s%s",
        name, name, jobs, reboot_text(spec->reboot), held);
    ret->undo = xasprintf("kubectl gpu repair %s --cancel", name);
}

/* Whether a repair is asked for or under way; then says so. */
static bool is_repaired(const struct edit_health *h, struct edit *ret)
{
    const char *asked = object_annotation(node_of(h), ANNOTATION_REPAIR),
               *ignored = health_repair_ignored(report_of(h));
    if (str_eq(json_str(report_of(h), "status.health.state"), "Repairing"))
        ret->said = xasprintf("%s is being repaired already; nothing was changed", name_of(h));
    else if (asked && ignored)
        ret->said = xasprintf("a repair of %s is asked for already, since %s; nothing was changed: "
                              "%s",
                              name_of(h), asked, ignored);
    else if (asked)
        ret->said = xasprintf("a repair of %s is asked for already, since %s; nothing was changed",
                              name_of(h), asked);
    return ret->said;
}

static void cancel_repair(const struct edit_health *h, struct edit *ret)
{
    const char *name = name_of(h);
    bool begun = str_eq(json_str(report_of(h), "status.health.state"), "Repairing");
    if (!object_annotation(node_of(h), ANNOTATION_REPAIR)) {
        ret->said = xasprintf("no repair of %s is asked for; nothing was changed", name);
        return;
    }
    ret->patch = edit_mark(node_of(h), "annotations", ANNOTATION_REPAIR, NULL);
    ret->said = xasprintf("the repair of %s is no longer asked for%s", name,
                          begun ? "; it has begun, and Ostler ends what it began" : "");
    ret->undo = xasprintf("kubectl gpu repair %s --yes", name);
}

int edit_repair(const struct edit_health *h, struct edit *ret, struct err *e)
{
    *ret = (struct edit){ .warning = snapshot_keeper(node_of(h)) };
    if (h->undo) {
        cancel_repair(h, ret);
        return 0;
    }
    struct health_spec spec = spec_of(json_object_get(h->snapshot, "policy"));
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        if (checks[i](h, &spec, e) < 0)
            return -1;
    if (!is_repaired(h, ret))
        ask_repair(h, &spec, ret);
    return 0;
}

/* ---- ignore: every fault */

static void ignore_all(const struct edit_health *h, struct edit *ret)
{
    const char *name = name_of(h);
    if (is_ignored(node_of(h)) != h->undo) {
        ret->said = xasprintf("%s %s the label " LABEL_HEALTH "=" HEALTH_IGNORE
                              "; nothing was changed",
                              name, h->undo ? "does not have" : "already has");
        return;
    }
    ret->patch = edit_mark(node_of(h), "labels", LABEL_HEALTH, h->undo ? NULL : HEALTH_IGNORE);
    ret->said = h->undo
                    ? xasprintf("faults of the GPUs of %s count again: Ostler does what "
                                "spec.health.mode of the policy says",
                                name)
                    : xasprintf("faults of the GPUs of %s are ignored: Ostler reports them, and "
                                "neither closes the node nor repairs it",
                                name);
    ret->undo = xasprintf("kubectl gpu ignore %s --fault " EDIT_HEALTH_ALL "%s", name,
                          h->undo ? "" : " --undo");
}

/* ---- ignore: one fault */

/* The Node's taints without Ostler's for a fault. New reference. */
static json_t *other_taints(const json_t *node)
{
    json_t *others = json_array();
    JSON_EACH (taint, json_at(node, "spec.taints"))
        if (!str_eq(json_str(taint, "key"), TAINT_UNHEALTHY))
            json_array_append(others, taint);
    return others;
}

static bool has_taint(const json_t *node)
{
    return json_find(json_at(node, "spec.taints"), "key", TAINT_UNHEALTHY);
}

/* Writes the record, and removes the taint in the same request: Ostler would set it again without
 * the record. */
static json_t *patch_of_record(const json_t *node, const struct fault_record *r, bool open)
{
    CLEANUP_FREE char *text = fault_record_text(r);
    json_t *patch = edit_mark(node, "annotations", ANNOTATION_FAULT, text);
    if (open && has_taint(node))
        json_object_set_new(patch, "spec", json_pack("{s:o}", "taints", other_taints(node)));
    return patch;
}

/* What the record's fault asks for now; NONE: the status shows another one. */
static enum health_level level_of(const struct edit_health *h, const struct fault_record *r)
{
    const json_t *shown = json_at(report_of(h), "status.health");
    enum health_level level = HEALTH_NONE;
    bool same = str_eq(json_str(shown, "reason"), r->reason) &&
                str_eq(json_str_or_empty(shown, "address"), r->address);
    return same && health_level_parse(json_str(shown, "level"), &level) ? level : HEALTH_NONE;
}

static void ignore_fault(const struct edit_health *h, struct fault_record *r, struct edit *ret)
{
    const char *name = name_of(h);
    if (r->state == FAULT_IGNORED) {
        ret->said = xasprintf("%s of %s is ignored already; nothing was changed", r->reason, name);
        return;
    }
    bool closed = has_taint(node_of(h));
    r->state = FAULT_IGNORED;
    r->tainted = false;
    r->level = level_of(h, r);
    r->since_s = h->now_us / 1000000;
    ret->patch = patch_of_record(node_of(h), r, true);
    ret->said = xasprintf(
        "%s of %s is ignored: %sOstler neither closes the node nor repairs it for this fault and "
        "what belongs to it on the same GPU; another fault, or the same after a reboot, counts "
        "again: kubectl gpu explain %s names it",
        r->reason, name, closed ? "the node is open for new pods, and " : "", name);
    ret->undo = xasprintf("kubectl gpu ignore %s --fault %s --undo", name, r->reason);
}

/* Forgets the fault, so that Ostler decides anew; what it has tried stays known. */
static void heed_fault(const struct edit_health *h, struct fault_record *r, struct edit *ret)
{
    const char *name = name_of(h);
    if (r->state != FAULT_IGNORED) {
        ret->said = xasprintf("%s of %s is not ignored; nothing was changed", r->reason, name);
        return;
    }
    CLEANUP_FREE char *reason = xstrdup(r->reason);
    r->state = FAULT_OVER;
    ret->patch = patch_of_record(node_of(h), r, false);
    ret->said = xasprintf("%s of %s counts again: if the fault is still there, Ostler does what "
                          "spec.health.mode of the policy says",
                          reason, name);
    ret->undo = xasprintf("kubectl gpu ignore %s --fault %s", name, reason);
}

/* The node has no such fault of which Ostler has a record: says which one it has. */
static int refuse_fault(const struct edit_health *h, const struct fault_record *r, struct err *e)
{
    const char *name = name_of(h), *reported = json_str(report_of(h), "status.health.reason");
    const char *known = r->state != FAULT_OVER ? r->reason : reported;
    if (!h->fault)
        return err_set(e, ERR_INVALID,
                       "which fault of %s? Give --fault %s, or --fault " EDIT_HEALTH_ALL
                       " for every fault; nothing was changed",
                       name, health_is_reason(known) ? known : "REASON");
    if (!known)
        return err_set(e, ERR_INVALID, "no fault of the GPUs of %s is known: nothing was changed",
                       name);
    if (strcasecmp(known, h->fault) != 0)
        return err_set(e, ERR_INVALID, "the fault of %s is %s, not %s: nothing was changed", name,
                       known, h->fault);
    return err_set(e, ERR_INVALID,
                   "Ostler does nothing about %s of %s: nothing was changed; --fault " //
                   EDIT_HEALTH_ALL " ignores every fault of the node",
                   known, name);
}

int edit_ignore(const struct edit_health *h, struct edit *ret, struct err *e)
{
    struct fault_record r;
    *ret = (struct edit){ .warning = snapshot_keeper(node_of(h)) };
    fault_record_parse(object_annotation(node_of(h), ANNOTATION_FAULT), &r);
    if (h->fault && strcasecmp(h->fault, EDIT_HEALTH_ALL) == 0)
        ignore_all(h, ret);
    else if (!h->fault || r.state == FAULT_OVER || strcasecmp(h->fault, r.reason) != 0)
        return refuse_fault(h, &r, e);
    else if (h->undo)
        heed_fault(h, &r, ret);
    else
        ignore_fault(h, &r, ret);
    return 0;
}
