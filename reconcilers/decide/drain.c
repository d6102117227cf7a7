#include "reconcilers/decide/drain.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "reconcilers/model/action.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/decide/holders.h"

/* Number of pods that are named, and maximum length of the text. */
enum { NAMED_MAX = 3, MESSAGE_MAX = 900, ROOM = 8 << 10 };

static const struct {
    enum drain_effect effect;
    enum reason reason;
    const char *text;
} fates[DRAIN_FATE_COUNT] = {
#define X(id, effect, reason, text) [DRAIN_##id] = { effect, REASON_##reason, text },
    DRAIN_FATES(X)
#undef X
};

const char *drain_fate_text(enum drain_fate fate)
{
    return fates[fate].text;
}

enum reason drain_fate_reason(enum drain_fate fate)
{
    return fates[fate].reason;
}

/* ---- fates of pods */

struct look {
    const struct drain_input *in;
    const struct selector *selector; /* NULL: it is invalid, and no pod is evicted */
};

static bool is_static(const struct look *l, const struct pod *p)
{
    return pod_is_static(p, str_or_empty(l->in->node_uid));
}

static bool is_selected(const struct look *l, const struct pod *p)
{
    return l->selector && pod_selected(l->in->strings, p, l->selector);
}

static bool tolerates(const struct look *l, const struct pod *p)
{
    return pod_tolerates(l->in->strings, p, l->in->spec->taint_key);
}

enum drain_mode drain_mode_of_repair(const struct drain_spec *spec,
                                     const struct health_spec *health, enum repair_kind next)
{
    bool kills = next == REPAIR_REBOOT && health->reboot == HEALTH_REBOOT_POD;
    return kills ? DRAIN_ALL_PODS : spec->mode;
}

struct drain_spec drain_of_claim(const struct drain_spec *spec, const struct health_spec *health,
                                 const struct claim *c, enum repair_kind next)
{
    struct drain_spec of_claim = *spec;
    of_claim.repairs = claim_kinds[c->kind].repairs;
    if (!of_claim.repairs)
        return of_claim;
    of_claim.wait_for_jobs_s = health->wait_for_jobs_s;
    of_claim.mode = drain_mode_of_repair(spec, health, next);
    return of_claim;
}

int64_t drain_closed_s(const struct claim *c)
{
    static const bool evicts[CLAIM_PHASE_COUNT] = { [CLAIM_DRAINING] = true,
                                                    [CLAIM_UNLOADING] = true,
                                                    [CLAIM_RESETTING] = true,
                                                    [CLAIM_REBOOTING] = true };
    return evicts[c->phase] ? c->claimed_s : 0;
}

bool drain_jobs_may_go(const struct drain_spec *spec, int64_t claimed_s, int64_t now_s,
                       int64_t *ret_left_s)
{
    int64_t waited = now_s > claimed_s ? now_s - claimed_s : 0;
    *ret_left_s = spec->wait_for_jobs_s < 0 ? -1 : spec->wait_for_jobs_s - waited;
    return spec->wait_for_jobs_s >= 0 && *ret_left_s <= 0;
}

/* How long Ostler does not evict a pod because it was created after the node was tainted. A pod
 * that tolerates the taint, or names its node and so bypasses the scheduler, returns at once
 * after each eviction. A pod that the scheduler bound before it saw the taint does not return
 * afterwards. */
static int64_t spared_s(const struct look *l, const struct pod *p)
{
    int64_t closed_s = l->in->closed_s, seen_s = closed_s + SCHEDULER_BEHIND_S;
    if (!closed_s || p->made_s < closed_s)
        return 0;
    int64_t until_s = tolerates(l, p) || p->made_s >= seen_s ? p->made_s + DRAIN_ASK_AGAIN_S
                                                             : seen_s;
    return until_s > l->in->now_s ? until_s - l->in->now_s : 0;
}

/* Whether the drain ignores the pod. In a drain of all pods, pods without a GPU stay if kubectl
 * drain leaves them, the selector excludes them, or they have come back to the tainted node: they
 * use nothing that will change. */
static bool stays(const struct look *l, const struct pod *p)
{
    if (p->gpus > 0 || holders_unasked(l->in->holders, p))
        return false;
    return l->in->spec->mode == DRAIN_GPU_PODS || p->is_task || p->component != OPERAND_NONE ||
           p->daemon || is_static(l, p) || !is_selected(l, p) ||
           (!p->deleting && spared_s(l, p) > 0 && tolerates(l, p));
}

static enum drain_fate fate_of_job(const struct drain_spec *spec)
{
    if (spec->wait_for_jobs_s < 0)
        return DRAIN_JOB;
    return spec->repairs ? DRAIN_SICK_JOB : DRAIN_TIMED_JOB;
}

/* The first that applies. */
static enum drain_fate fate_of(const struct look *l, const struct pod *p)
{
    const struct drain_spec *spec = l->in->spec;
    const struct {
        bool applies;
        enum drain_fate fate;
    } rows[] = {
        { stays(l, p), DRAIN_STAYS },
        { p->deleting, DRAIN_GOING },
        { is_static(l, p), DRAIN_STATIC },
        { p->daemon && tolerates(l, p), DRAIN_DAEMON },
        { !is_selected(l, p), DRAIN_LEFT_OUT },
        { p->ends && !l->in->jobs_may_go, fate_of_job(spec) },
        { p->bare && !spec->force, DRAIN_BARE },
        { p->scratch && !spec->delete_empty_dir, DRAIN_DATA },
        { spared_s(l, p) > 0, DRAIN_RETURNED },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].applies)
            return rows[i].fate;
    return DRAIN_LEAVES;
}

static int by_fate_and_name(const void *a, const void *b)
{
    const struct drain_found *x = a, *y = b;
    return x->fate != y->fate ? (int) x->fate - (int) y->fate
                              : strcmp(x->pod->head.key, y->pod->head.key);
}

/* ---- texts */

/* Adds the pods of one fate; the first `named` by name. */
static void describe_group(struct buf *text, const struct drain_found *group, size_t n,
                           size_t named)
{
    for (size_t i = 0; i < n && i < named; i++)
        buf_printf(text, "%s%s", i ? ", " : "", group[i].pod->head.key);
    if (n > named)
        buf_printf(text, "%s%zu more", named ? " and " : "", n - named);
    buf_printf(text, " (%s)", fates[group->fate].text);
}

static void describe_pods(struct buf *text, const struct look *l, const struct drain *d,
                          const struct drain_found *found)
{
    buf_printf(text, "waits for %zu %spod%s: ", d->waiting,
               l->in->spec->mode == DRAIN_GPU_PODS ? "GPU " : "", d->waiting == 1 ? "" : "s");
    size_t left = NAMED_MAX;
    for (size_t at = 0; at < d->waiting; at += d->of[found[at].fate]) {
        size_t n = d->of[found[at].fate], named = n < left ? n : left;
        buf_str(text, at ? "; " : "");
        describe_group(text, &found[at], n, named);
        left -= named;
    }
}

static char *drain_describe(const struct look *l, const struct drain *d,
                            const struct drain_found *found, struct arena *a)
{
    CLEANUP_BUF struct buf text = BUF_INIT(ROOM);
    if (d->waiting)
        describe_pods(&text, l, d, found);
    if (d->host_count)
        buf_printf(&text, "%s%s", d->waiting ? "; and for " : "waits for ",
                   holders_hosts_text(d->hosts, d->host_count, a));
    CLEANUP_FREE char *shortened = str_shortened(buf_text(&text), MESSAGE_MAX);
    return arena_strdup(a, shortened);
}

/* ---- */

static size_t count_pods(const struct pod *pods)
{
    size_t n = 0;
    for (const struct pod *p = pods; p; p = p->next_on_node)
        n++;
    return n;
}

/* Counts all pods and collects the blocking ones in order. */
static struct drain_found *gather(const struct look *l, struct arena *a, struct drain *ret)
{
    struct drain_found *found = arena_alloc(a, count_pods(l->in->pods) * sizeof *found);
    for (const struct pod *p = l->in->pods; p; p = p->next_on_node) {
        enum drain_fate fate = fate_of(l, p);
        ret->of[fate]++;
        if (fates[fate].effect == DRAIN_FREE)
            continue;
        if (fate == DRAIN_RETURNED && (!ret->again_s || spared_s(l, p) < ret->again_s))
            ret->again_s = spared_s(l, p);
        found[ret->waiting++] = (struct drain_found){ p, fate, holders_unasked(l->in->holders, p) };
        ret->stuck += fates[fate].effect == DRAIN_STUCK;
    }
    qsort(found, ret->waiting, sizeof *found, by_fate_and_name);
    return found;
}

void drain_look(const struct drain_input *in, struct arena *a, struct drain *ret)
{
    CLEANUP(selector_clear) struct selector selector = { 0 };
    bool good = selector_compile(in->spec->pod_selector, &selector, NULL) == 0;
    struct look l = { in, good ? &selector : NULL };
    *ret = (struct drain){ 0 };
    struct drain_found *found = gather(&l, a, ret);
    ret->found = found;
    ret->leaving = arena_alloc(a, ret->of[DRAIN_LEAVES] * sizeof *ret->leaving);
    for (size_t i = 0, n = 0; i < ret->waiting; i++)
        if (found[i].fate == DRAIN_LEAVES)
            ret->leaving[n++] = found[i].pod;
    ret->hosts = in->holders ? in->holders->hosts : NULL;
    ret->host_count = in->holders ? in->holders->host_count : 0;
    ret->stuck += ret->host_count;
    ret->message = drain_is_done(ret) ? NULL : drain_describe(&l, ret, found, a);
}

bool drain_is_done(const struct drain *d)
{
    return d->waiting == 0 && d->host_count == 0;
}

bool drain_waits_for_jobs_alone(const struct drain *d)
{
    return drain_is_stuck_by_jobs(d) && d->waiting == d->stuck;
}

bool drain_is_stuck_by_jobs(const struct drain *d)
{
    return d->stuck > 0 &&
           d->stuck == d->of[DRAIN_JOB] + d->of[DRAIN_TIMED_JOB] + d->of[DRAIN_SICK_JOB];
}

/* ---- requests */

enum removal { TRY_EVICT, EVICT, EVICT_TO_REBOOT, DELETE };

static void drain_remove(const struct pod *p, enum removal how, struct actions *actions)
{
    static const struct {
        enum verb verb;
        enum reason reason;
        const char *message;
    } rows[] = {
        [TRY_EVICT] = { VERB_TRY_EVICT, REASON_DRAIN,
                        "dry run of the eviction, before Ostler evicts a pod of the node" },
        [EVICT] = { VERB_EVICT, REASON_DRAIN,
                    "the driver of its node is about to be replaced: Ostler evicts the pod" },
        [EVICT_TO_REBOOT] = { VERB_EVICT, REASON_DRAIN,
                              "its node is about to reboot: Ostler evicts the pod" },
        [DELETE] = { VERB_DELETE, REASON_DRAIN_TIMED_OUT,
                     "drain.timeout is over and drain.onTimeout is Delete: Ostler deletes the "
                     "pod" },
    };
    const char *name;
    CLEANUP_FREE char *ns = record_namespace(p->head.key, &name),
                      *target = xasprintf("pod/%s", p->head.key);
    struct request request = how == DELETE
                                 ? request_delete(RESOURCE_POD, ns, name, RECORD_UID(&p->head),
                                                  p->head.rv)
                                 : request_evict(ns, name, RECORD_UID(&p->head), how == TRY_EVICT);
    action_add(actions, request, rows[how].verb, target, rows[how].reason, "%s", rows[how].message);
}

/* None while a pod is stuck. */
static void drain_remove_all(const struct drain *d, enum removal how, struct actions *actions)
{
    for (size_t i = 0; i < d->of[DRAIN_LEAVES] && !d->stuck; i++)
        drain_remove(d->leaving[i], how, actions);
}

void drain_evict(const struct drain *d, bool dry_run_first, struct actions *actions)
{
    if (dry_run_first)
        drain_remove_all(d, TRY_EVICT, actions);
    drain_remove_all(d, d->reboots ? EVICT_TO_REBOOT : EVICT, actions);
}

void drain_delete(const struct drain *d, struct actions *actions)
{
    drain_remove_all(d, DELETE, actions);
}
