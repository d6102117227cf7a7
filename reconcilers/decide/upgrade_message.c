#include "reconcilers/decide/upgrade_message.h"

#include "reconcilers/decide/repair_rungs.h"
#include "reconcilers/decide/rollout_message.h"

static int64_t wait_for_jobs_s(const struct upgrade_story *s)
{
    return claim_kinds[s->claim->kind].repairs ? s->health->wait_for_jobs_s
                                               : s->spec->drain.wait_for_jobs_s;
}

/* ---- when a phase ends by itself; 0: never */

static int64_t jobs_s(const struct upgrade_story *s)
{
    int64_t wait_s = wait_for_jobs_s(s);
    return wait_s < 0 ? 0 : time_after(s->claim->claimed_s, wait_s);
}

static int64_t drain_s(const struct upgrade_story *s)
{
    return time_after(s->from_s, s->spec->drain.timeout_s);
}

static int64_t install_s(const struct upgrade_story *s)
{
    return time_after(s->from_s, s->spec->install_timeout_s);
}

static int64_t reboot_s(const struct upgrade_story *s)
{
    return time_after(s->claim->since_s, repair_reboot_s(s->claim->sentinel));
}

static int64_t validation_s(const struct upgrade_story *s)
{
    return time_after(s->from_s, s->spec->validation_timeout_s);
}

static int64_t retry_s(const struct upgrade_story *s)
{
    return time_after(s->claim->since_s, rollout_backoff_s(s->claim->attempt));
}

/* ---- what happens next; a timeout's step comes soon after it, when the caches are known to be
 * newer */

static const char *next_waiting(const struct upgrade_story *s, const char *at, struct arena *a)
{
    if (wait_for_jobs_s(s) < 0)
        return "Ostler drains it when they end and a slot is free, without a time limit";
    return arena_printf(a, "Ostler drains it when they end and a slot is free, or at %s", at);
}

static const char *next_draining(const struct upgrade_story *s, const char *at, struct arena *a)
{
    return arena_printf(a, "Ostler removes the driver when they are gone; soon after %s %s", at,
                        s->spec->drain.on_timeout == DRAIN_DELETE
                            ? "they are deleted"
                            : "the node returns to service unchanged");
}

/* What follows the removal of the driver. */
static const char *next_unloading(const struct upgrade_story *s, const char *at, struct arena *a)
{
    const struct claim_kind_row *kind = &claim_kinds[s->claim->kind];
    return arena_printf(a, "then Ostler %s; the %s times out at %s",
                        kind->repairs ? "resets the GPUs or reboots the node"
                                      : "installs the new version",
                        kind->noun, at);
}

static const char *next_resetting(const struct upgrade_story *s, const char *at, struct arena *a)
{
    return arena_printf(a, "then Ostler installs the driver; the %s times out at %s",
                        claim_kinds[s->claim->kind].noun, at);
}

static const char *next_rebooting(const struct upgrade_story *s, const char *at, struct arena *a)
{
    (void) s;
    return arena_printf(
        a,
        "Ostler installs the driver when the node is back with another boot id; the repair "
        "times out at %s",
        at);
}

static const char *next_installing(const struct upgrade_story *s, const char *at, struct arena *a)
{
    return arena_printf(a, "then it is validated; the %s times out at %s",
                        claim_kinds[s->claim->kind].noun, at);
}

static const char *next_validating(const struct upgrade_story *s, const char *at, struct arena *a)
{
    return arena_printf(a, "then it is back in service; the %s times out at %s",
                        claim_kinds[s->claim->kind].noun, at);
}

static const char *next_failed(const struct upgrade_story *s, const char *at, struct arena *a)
{
    const char *back = "the node returns to service as soon as its operands come up; ";
    return arena_printf(
        a, "%sthe next attempt is at %s if the %s", claim_closes(s->claim) ? back : "", at,
        claim_kinds[s->claim->kind].repairs ? "fault is still there" : "rollout still needs it");
}

static const struct {
    int64_t (*until_s)(const struct upgrade_story *s);
    const char *(*text)(const struct upgrade_story *s, const char *at, struct arena *a);
} next[CLAIM_PHASE_COUNT] = {
    [CLAIM_WAITING] = { jobs_s, next_waiting },
    [CLAIM_DRAINING] = { drain_s, next_draining },
    [CLAIM_UNLOADING] = { install_s, next_unloading },
    [CLAIM_RESETTING] = { install_s, next_resetting },
    [CLAIM_REBOOTING] = { reboot_s, next_rebooting },
    [CLAIM_INSTALLING] = { install_s, next_installing },
    [CLAIM_VALIDATING] = { validation_s, next_validating },
    [CLAIM_FAILED] = { retry_s, next_failed },
};

const char *upgrade_next(const struct upgrade_story *s, struct arena *a, int64_t *ret_until_s)
{
    *ret_until_s = next[s->claim->phase].until_s(s);
    return next[s->claim->phase].text(s, rollout_time_text(a, *ret_until_s), a);
}

const char *upgrade_sentence(const struct upgrade_story *s, struct arena *a)
{
    int64_t until_s;
    const char *then = upgrade_next(s, a, &until_s);
    return arena_printf(a, "%s, since %s; %s", s->what, rollout_time_text(a, s->claim->since_s),
                        then);
}
