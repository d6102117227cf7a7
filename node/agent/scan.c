#include "node/agent/scan.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "client/session.h"
#include "node/agent/report.h"
#include "node/inventory/inventory.h"

/* For all requests of a scan; shorter than the agent's limit for a scan. */
enum { REQUESTS_MS = 60 * 1000 };

static void run_report(struct session *s, struct report *r)
{
    if (!session_wait(s, &r->exchange, clock_mono_ms(&s->clock) + REQUESTS_MS))
        err_set(&r->err, ERR_TIMEOUT, "the API server took too long");
}

static void scan_report(const struct report *r, const char *node)
{
    const json_t *gpus = json_object_get(r->inventory, "gpus");
    char count[32] = "not known";
    if (gpus)
        snprintf(count, sizeof count, "%zu", json_array_size(gpus));
    if (r->err.kind != ERR_NONE)
        log_warn("cannot write the inventory to the GpuNode; the agent tries again", "node", node,
                 "err", err_msg(&r->err));
    else if (r->wrote)
        log_info("the agent wrote the inventory to the GpuNode", "node", node, "gpus", count);
    else
        log_debug("the inventory has not changed", "node", node, "gpus", count);
}

static void scan_take(const struct report *r, struct scan_outcome *ret)
{
    ret->end = r->err.kind == ERR_NONE ? TURN_SAID : TURN_FAILED;
    ret->wrote = r->wrote;
    ret->closed = r->closed;
    ret->gone = r->absent > 0 && r->absent < ABSENT_LOOKS_MAX;
    ret->retry_after_ms = r->retry_after_ms;
}

static struct inventory_hash hash_of(const json_t *inventory)
{
    return (struct inventory_hash){ inventory_hash(inventory, false),
                                    inventory_hash(inventory, true), inventory_users(inventory),
                                    inventory_fault_counts(inventory) };
}

/* What a scan is made of. */
struct scan {
    const struct scan_options *o;
    const struct inventory *seen;
    struct faults *faults;
    struct scan_outcome *ret;
};

/* Counts on from the faults that the GpuNode reports: the log may have forgotten them. */
static void scan_join(void *arg, const json_t *said, json_t *inventory)
{
    struct scan *scan = arg;
    struct faults joined;
    const char *boot_id = scan->seen->os.boot_id;
    struct log_time now = log_time_now();
    if (scan->faults->joined || scan->faults->why || !boot_id)
        return;
    faults_join(&joined, json_object_get(said, "faults"), boot_id, now.wall_us / (1000 * 1000));
    faults_read(&joined, scan->o->kernel_log, now);
    if (joined.why)
        return;
    *scan->faults = joined;
    json_object_set_new(inventory, "faults", faults_json(&joined, &scan->seen->bus, boot_id));
    scan->ret->hash = hash_of(inventory);
}

static int scan_describe(struct scan *scan, json_t *inventory, struct err *e)
{
    const struct scan_options *o = scan->o;
    struct session s;
    struct report r;
    int rc = session_open(
        &s, &(struct session_options){ o->kubeconfig, NULL, "ostler-node", o->version }, e);
    if (rc == 0) {
        report_begin(&r, &s.transport, o->node, json_incref(inventory));
        if (o->kernel_log) {
            r.join = scan_join;
            r.arg = scan;
        }
        run_report(&s, &r);
        scan_report(&r, o->node);
        scan_take(&r, scan->ret);
        report_clear(&r);
    }
    session_close(&s);
    return rc;
}

static void scan_look(const struct scan_options *o, struct faults *faults, struct inventory *ret)
{
    inventory_look(o->root, ret);
    if (!o->kernel_log)
        return;
    if (!faults->joined) {
        *faults = (struct faults){ 0 };
        faults_read(faults, o->kernel_log, log_time_now());
    }
    inventory_add_faults(ret, faults);
}

void scan_run(const struct scan_options *o, const struct pace *p, int64_t now_ms,
              struct scan_memory *m, struct scan_outcome *ret)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_INVENTORY struct inventory seen = { 0 };
    struct scan scan = { o, &seen, &m->faults, ret };
    scan_look(o, &m->faults, &seen);
    bus_watch_take(&m->bus, &seen.bus.gpus);
    CLEANUP_JSON json_t *inventory = inventory_json(&seen);
    *ret = (struct scan_outcome){ .hash = hash_of(inventory), .retry_after_ms = -1 };
    ret->end = pace_verdict(p, &ret->hash, now_ms);
    if (ret->end == TURN_SAID && scan_describe(&scan, inventory, &e) < 0) {
        ret->end = TURN_FAILED;
        log_warn("the API server cannot be reached", "node", o->node, "err", err_msg(&e));
    }
}
