#include "reconcilers/decide/upgrade_message.h"

#include "reconcilers/decide/rollout_message.h"

/* When the phase's timeout ends. The next step comes soon afterwards, when the caches are known to
 * be newer. */
static const char *deadline(const struct upgrade_story *s, int64_t timeout_s, struct arena *a)
{
    return rollout_time_text(a, time_after(s->from_s, timeout_s));
}

static const char *next_waiting(const struct upgrade_story *s, struct arena *a)
{
    int64_t wait_s = s->spec->drain.wait_for_jobs_s;
    if (wait_s < 0)
        return "it is drained when they have ended and a place is free, without limit of time";
    return arena_printf(a, "it is drained when they have ended and a place is free, or at %s",
                        rollout_time_text(a, time_after(s->claim->claimed_s, wait_s)));
}

static const char *next_draining(const struct upgrade_story *s, struct arena *a)
{
    const struct drain_spec *drain = &s->spec->drain;
    return arena_printf(a, "Ostler removes the driver when they are gone; soon after %s %s",
                        deadline(s, drain->timeout_s, a),
                        drain->on_timeout == DRAIN_DELETE
                            ? "they are deleted"
                            : "the node returns to service unchanged");
}

static const char *next_unloading(const struct upgrade_story *s, struct arena *a)
{
    return arena_printf(a,
                        "then Ostler installs the new version; soon after %s it counts as failed",
                        deadline(s, s->spec->install_timeout_s, a));
}

static const char *next_installing(const struct upgrade_story *s, struct arena *a)
{
    return arena_printf(a, "then it is validated; soon after %s it counts as failed",
                        deadline(s, s->spec->install_timeout_s, a));
}

static const char *next_validating(const struct upgrade_story *s, struct arena *a)
{
    return arena_printf(a, "then it is back in service; soon after %s it counts as failed",
                        deadline(s, s->spec->validation_timeout_s, a));
}

static const char *next_failed(const struct upgrade_story *s, struct arena *a)
{
    return arena_printf(
        a,
        "the node returns to service as soon as its operands come up; the next attempt is at %s if "
        "the "
        "rollout still needs it",
        rollout_time_text(a, time_after(s->claim->since_s, rollout_backoff_s(s->claim->attempt))));
}

static const char *(*const next[CLAIM_PHASE_COUNT])(const struct upgrade_story *s,
                                                    struct arena *a) = {
    [CLAIM_WAITING] = next_waiting,       [CLAIM_DRAINING] = next_draining,
    [CLAIM_UNLOADING] = next_unloading,   [CLAIM_INSTALLING] = next_installing,
    [CLAIM_VALIDATING] = next_validating, [CLAIM_FAILED] = next_failed,
};

const char *upgrade_sentence(const struct upgrade_story *s, struct arena *a)
{
    return arena_printf(a, "%s, since %s; %s", s->what, rollout_time_text(a, s->claim->since_s),
                        next[s->claim->phase](s, a));
}
