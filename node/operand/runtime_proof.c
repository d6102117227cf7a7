#include "node/operand/runtime_proof.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"

/* A status comes at once. SANDBOX_MS: a container that takes longer counts as failed. */
enum { STATUS_MS = 10 * 1000, SANDBOX_MS = 60 * 1000, LOOK_MS = 1000 };

/* systemd accepts control groups only below a slice; without systemd, a slice is not a valid
 * control group. One of the two starts a container. */
static const char *const cgroup_parents[] = { "", "system.slice" };

static int64_t at_most(int64_t ms, int64_t max)
{
    return ms < max ? ms : max;
}

static int try_sandbox(const struct runtime_proof *p, const char *cgroup_parent,
                       const char *handler, int64_t limit_ms, struct err *e)
{
    CLEANUP_FREE char *uid = xasprintf("%s-%" PRId64, p->name, clock_now_ms());
    const struct cri_sandbox sandbox = { .uid = uid,
                                         .cgroup_parent = cgroup_parent,
                                         .handler = handler };
    return cri_try_sandbox(p->cri, &sandbox, at_most(limit_ms, SANDBOX_MS), e);
}

void runtime_proof_begin(struct runtime_proof *p)
{
    CLEANUP_ERR struct err why = { 0 };
    if (!p || !p->cri)
        return;
    p->is_known = cri_status(p->cri, at_most(p->limit_ms, STATUS_MS), &p->before, &why) == 0;
    for (size_t i = 0; p->is_known && !p->cgroup_parent && i < ARRAY_LEN(cgroup_parents); i++) {
        CLEANUP_ERR struct err again = { 0 };
        if (try_sandbox(p, cgroup_parents[i], "", p->limit_ms, &again) == 0)
            p->cgroup_parent = cgroup_parents[i];
        else
            err_set(&why, again.kind, "%s%s%s", err_msg(&why), i ? "; " : "", err_msg(&again));
    }
    if (!p->cgroup_parent)
        fprintf(stderr, "ostler-node: cannot check that containers start after the change: %s\n",
                err_msg(&why));
}

/* Checks the conditions, and containers with the default runtime and with the handler; an error
 * names the first regression. */
static int runtime_proof_look(const struct runtime_proof *p, int64_t left_ms, struct err *e)
{
    const char *const handlers[] = { "", p->handler };
    struct cri_status status;
    if (cri_status(p->cri, at_most(left_ms, STATUS_MS), &status, e) < 0)
        return -1;
    for (enum cri_condition i = 0; i < CRI_CONDITIONS; i++)
        if (p->before.is_true[i] && !status.is_true[i])
            return err_set(
                e, ERR_INVALID,
                "%s of the container runtime is False, and the node would not be Ready: %s",
                cri_condition_name(i), status.why[i]);
    for (size_t i = 0; p->cgroup_parent && i < ARRAY_LEN(handlers); i++)
        if (try_sandbox(p, p->cgroup_parent, handlers[i], left_ms, e) < 0)
            return err_wrap(e, "no container starts with the runtime's handler %s",
                            *handlers[i] ? handlers[i] : "by default");
    return 0;
}

int runtime_proof_end(const struct runtime_proof *p, struct err *e)
{
    CLEANUP_ERR struct err last = { 0 };
    for (int64_t until_ms = p ? clock_now_ms() + p->limit_ms : 0; p && p->is_known;) {
        CLEANUP_ERR struct err why = { 0 };
        int64_t left_ms = until_ms - clock_now_ms();
        if (runtime_proof_look(p, left_ms > 0 ? left_ms : 1, &why) == 0)
            return 0;
        /* A check that the deadline cut off says less than the one before. */
        if (why.kind != ERR_TIMEOUT || last.kind == ERR_NONE)
            err_set(&last, why.kind, "%s", err_msg(&why));
        if (clock_now_ms() >= until_ms)
            return err_set(e, last.kind, "%s", err_msg(&last));
        poll(NULL, 0, LOOK_MS);
    }
    return 0;
}
