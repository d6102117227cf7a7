#include "kube/lease_step.h"

#include <stdio.h>

#include "base/json.h"
#include "base/str.h"

/* A time of the rules, scaled for this lease. */
static int64_t stretched(const struct lease_state *s, int64_t ms)
{
    return s->slowness ? ms * s->slowness : ms;
}

/* Records the Lease. Its expiry counts from when this process saw its holder or renew time
 * change. */
static void observe(struct lease_state *s, const json_t *lease, int64_t now_ms)
{
    char text[LEASE_TEXT_MAX];
    /* The time comes first: a long holder name may not fit, but each renewal must be visible. */
    snprintf(text, sizeof text, "%s %s", json_str_or_empty(lease, "spec.renewTime"),
             json_str_or_empty(lease, "spec.holderIdentity"));
    if (str_eq(text, s->seen))
        return;
    snprintf(s->seen, sizeof s->seen, "%s", text);
    s->seen_ms = now_ms;
    int64_t seconds = json_int(lease, "spec.leaseDurationSeconds", LEASE_DURATION_MS / 1000);
    /* the API's type is int32 */
    s->seen_duration_ms = (seconds < 0 ? 0 : seconds > INT32_MAX ? INT32_MAX : seconds) * 1000;
}

static struct lease_next wait_for(int64_t delay_ms)
{
    return (struct lease_next){ .what = LEASE_DO_WAIT, .delay_ms = delay_ms };
}

/* When the last renewal expires, leading or not. */
static int64_t renewal_ends(const struct lease_state *s)
{
    return s->renewed_ms + stretched(s, LEASE_RENEW_DEADLINE_MS);
}

/* After the fence this process does not lead, whatever the record says. */
static void judge_fence(struct lease_state *s, int64_t now_ms)
{
    s->leading = s->leading && now_ms < renewal_ends(s);
}

struct lease_next lease_step_read(struct lease_state *s, const json_t *lease, int64_t now_ms)
{
    const char *holder = json_str_or_empty(lease, "spec.holderIdentity");
    /* If the record names us after a conflict, no other process took it: mostly, one of our
     * renewals succeeded but its response was lost. */
    s->leading = str_eq(holder, s->me) && s->led && now_ms < renewal_ends(s);
    if (!lease)
        return (struct lease_next){ .what = LEASE_DO_CREATE };
    observe(s, lease, now_ms);
    if (str_eq(holder, s->me) || !*holder)
        return (struct lease_next){ .what = LEASE_DO_UPDATE };
    if (s->led)
        return (struct lease_next){ .what = LEASE_DO_EXIT };
    int64_t left_ms = s->seen_ms + s->seen_duration_ms - now_ms;
    if (left_ms > 0)
        return wait_for(left_ms < stretched(s, LEASE_RETRY_MS) ? left_ms
                                                               : stretched(s, LEASE_RETRY_MS));
    return (struct lease_next){ .what = LEASE_DO_UPDATE };
}

struct lease_next lease_step_written(struct lease_state *s, const json_t *lease, int64_t sent_ms,
                                     int64_t now_ms)
{
    observe(s, lease, now_ms);
    s->leading = s->led = true;
    s->renewed_ms = sent_ms;
    judge_fence(s, now_ms);
    return wait_for(s->leading ? stretched(s, LEASE_RETRY_MS) : 0);
}

struct lease_next lease_step_failed(struct lease_state *s, enum err_kind error, int64_t now_ms)
{
    judge_fence(s, now_ms);
    bool led_till_now = s->leading, changed = error == ERR_CONFLICT || error == ERR_EXISTS;
    /* From now on another process may lead. */
    if (changed || error == ERR_NOT_FOUND)
        s->leading = false;
    /* Read the holder. After a failed create (such as in a deleted namespace), wait first. */
    if (changed || (error == ERR_NOT_FOUND && led_till_now))
        return (struct lease_next){ .what = LEASE_DO_GET };
    return wait_for(stretched(s, LEASE_RETRY_MS) / 2);
}

int64_t lease_fence(const struct lease_state *s)
{
    return s->leading ? renewal_ends(s) : INT64_MIN;
}

/* Number of changes of the holder, including this one. It restarts at 0 after 32 bits, since the
 * API server would reject the record. */
static int64_t transitions(const json_t *previous)
{
    int64_t before = json_int(previous, "spec.leaseTransitions", 0);
    return previous && before >= 0 && before < INT32_MAX ? before + 1 : 0;
}

json_t *lease_record(const struct lease_state *s, const json_t *previous, const char *ns,
                     const char *name, const char *micro, bool release)
{
    json_t *lease = json_is_object(previous) ? json_deep_copy(previous)
                                             : json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion",
                                                         "coordination.k8s.io/v1", "kind", "Lease",
                                                         "metadata", "name", name, "namespace", ns);
    json_object_del(json_at(lease, "metadata"), "managedFields");
    bool mine = str_eq(json_str(previous, "spec.holderIdentity"), s->me);
    if (!mine) {
        json_set_at(lease, "spec.acquireTime", json_string(micro));
        json_set_at(lease, "spec.leaseTransitions", json_integer(transitions(previous)));
    }
    json_set_at(lease, "spec.holderIdentity", json_string(release ? "" : s->me));
    json_set_at(lease, "spec.leaseDurationSeconds",
                json_integer(release ? 1 : stretched(s, LEASE_DURATION_MS) / 1000));
    json_set_at(lease, "spec.renewTime", json_string(micro));
    return lease;
}
