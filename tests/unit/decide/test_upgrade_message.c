/* The one sentence of a claimed node: what it waits for, since when, what happens next and when. */
#include "reconcilers/decide/upgrade_message.h"

#include <string.h>

#include "reconcilers/decide/rollout_message.h"
#include "tests/unit/support/suite.h"

/* 2026-11-20T10:00:00Z */
#define T0 INT64_C(1795168800)

static const struct row {
    const char *name;
    struct claim claim; /* times in seconds after T0 */
    struct rollout_spec spec;
    int64_t from_s;
    const char *want;
    const char *until; /* NULL: never */
} rows[] = {
    { "jobs without limit",
      { .phase = CLAIM_WAITING },
      { .drain = { .wait_for_jobs_s = -1 } },
      0,
      "W, since 2026-11-20T10:00:00Z; Ostler drains it when they end and a slot is free, without a "
      "time limit",
      NULL },
    { "jobs for a day, counted from the claim",
      { .phase = CLAIM_WAITING, .since_s = 60 },
      { .drain = { .wait_for_jobs_s = 86400 } },
      0,
      "W, since 2026-11-20T10:01:00Z; Ostler drains it when they end and a slot is free, or at "
      "2026-11-21T10:00:00Z",
      "2026-11-21T10:00:00Z" },
    { "pods that leave, or the node goes back",
      { .phase = CLAIM_DRAINING },
      { .drain = { .timeout_s = 900, .on_timeout = DRAIN_RELEASE } },
      0,
      "W, since 2026-11-20T10:00:00Z; Ostler removes the driver when they are gone; soon after "
      "2026-11-20T10:15:00Z the node "
      "returns to service unchanged",
      "2026-11-20T10:15:00Z" },
    { "pods that leave, or are deleted",
      { .phase = CLAIM_DRAINING },
      { .drain = { .timeout_s = 900, .on_timeout = DRAIN_DELETE } },
      0,
      "W, since 2026-11-20T10:00:00Z; Ostler removes the driver when they are gone; soon after "
      "2026-11-20T10:15:00Z they are "
      "deleted",
      "2026-11-20T10:15:00Z" },
    { "pods of the old driver",
      { .phase = CLAIM_UNLOADING },
      { .install_timeout_s = 1800 },
      0,
      "W, since 2026-11-20T10:00:00Z; then Ostler installs the new version; the upgrade times out "
      "at "
      "2026-11-20T10:30:00Z",
      "2026-11-20T10:30:00Z" },
    { "a node that was down, or that Ostler did not watch, had no time",
      { .phase = CLAIM_INSTALLING },
      { .install_timeout_s = 1800 },
      600,
      "W, since 2026-11-20T10:00:00Z; then it is validated; the upgrade times out at "
      "2026-11-20T10:40:00Z",
      "2026-11-20T10:40:00Z" },
    { "the proof",
      { .phase = CLAIM_VALIDATING, .since_s = 5 },
      { .validation_timeout_s = 600 },
      0,
      "W, since 2026-11-20T10:00:05Z; then it is back in service; the upgrade times out at "
      "2026-11-20T10:10:05Z",
      "2026-11-20T10:10:05Z" },
    { "a first failure is tried again after two minutes",
      { .phase = CLAIM_FAILED, .attempt = 1 },
      { 0 },
      0,
      "W, since 2026-11-20T10:00:00Z; the node returns to service as soon as its operands come up; "
      "the next attempt is at "
      "2026-11-20T10:02:00Z if the rollout still needs it",
      "2026-11-20T10:02:00Z" },
    { "a tenth one after an hour",
      { .phase = CLAIM_FAILED, .attempt = 10 },
      { 0 },
      0,
      "W, since 2026-11-20T10:00:00Z; the node returns to service as soon as its operands come up; "
      "the next attempt is at "
      "2026-11-20T11:00:00Z if the rollout still needs it",
      "2026-11-20T11:00:00Z" },
    { "a drain that timed out left the node in service",
      { .phase = CLAIM_FAILED, .attempt = 1, .reason = "DrainTimeout" },
      { 0 },
      0,
      "W, since 2026-11-20T10:00:00Z; the next attempt is at 2026-11-20T10:02:00Z if the rollout "
      "still needs it",
      "2026-11-20T10:02:00Z" },
};

/* What a repair says differs where an upgrade would be named. */
static const struct health_spec health = { .wait_for_jobs_s = 3600, .reboot = HEALTH_REBOOT_POD };
static const struct row repair_rows[] = {
    { "a repair has its own time for jobs",
      { .kind = CLAIM_REPAIR, .phase = CLAIM_WAITING },
      { .drain = { .wait_for_jobs_s = -1 } },
      0,
      "W, since 2026-11-20T10:00:00Z; Ostler drains it when they end and a slot is free, or at "
      "2026-11-20T11:00:00Z",
      "2026-11-20T11:00:00Z" },
    { "what a repair does without a driver",
      { .kind = CLAIM_REPAIR, .phase = CLAIM_UNLOADING },
      { .install_timeout_s = 1800 },
      0,
      "W, since 2026-11-20T10:00:00Z; then Ostler resets the GPUs or reboots the node; the repair "
      "times out at 2026-11-20T10:30:00Z",
      "2026-11-20T10:30:00Z" },
    { "a reset",
      { .kind = CLAIM_REPAIR, .phase = CLAIM_RESETTING },
      { .install_timeout_s = 1800 },
      0,
      "W, since 2026-11-20T10:00:00Z; then Ostler installs the driver; the repair times out at "
      "2026-11-20T10:30:00Z",
      "2026-11-20T10:30:00Z" },
    { "a reset on the way of an upgrade",
      { .kind = CLAIM_UPGRADE, .phase = CLAIM_RESETTING },
      { .install_timeout_s = 1800 },
      0,
      "W, since 2026-11-20T10:00:00Z; then Ostler installs the driver; the upgrade times out at "
      "2026-11-20T10:30:00Z",
      "2026-11-20T10:30:00Z" },
    { "a reboot has twenty minutes, whether the node is up or down",
      { .kind = CLAIM_REPAIR, .phase = CLAIM_REBOOTING },
      { .install_timeout_s = 1800 },
      600,
      "W, since 2026-11-20T10:00:00Z; Ostler installs the driver when the node is back with "
      "another "
      "boot id; the repair times out at 2026-11-20T10:20:00Z",
      "2026-11-20T10:20:00Z" },
    { "a failed repair",
      { .kind = CLAIM_REPAIR, .phase = CLAIM_FAILED, .attempt = 1 },
      { 0 },
      0,
      "W, since 2026-11-20T10:00:00Z; the node returns to service as soon as its operands come up; "
      "the next attempt is at 2026-11-20T10:02:00Z if the fault is still there",
      "2026-11-20T10:02:00Z" },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct claim claim = row->claim;
    claim.since_s += T0;
    claim.claimed_s += T0;
    CLEANUP_ARENA struct arena a = { 0 };
    struct upgrade_story s = { .claim = &claim,
                               .spec = &row->spec,
                               .health = &health,
                               .what = "W",
                               .from_s = row->from_s ? T0 + row->from_s : claim.since_s };
    assert_string_equal(upgrade_sentence(&s, &a), row->want);
    int64_t until_s;
    const char *next = upgrade_next(&s, &a, &until_s);
    assert_non_null(strstr(row->want, next)); /* the sentence ends with it */
    assert_string_equal(until_s ? rollout_time_text(&a, until_s) : "never",
                        row->until ? row->until : "never");
}

/* A claim may say any time that has a text, and a policy any limit. */
static void times_past_all_calendars(void **state)
{
    (void) state;
    struct claim claim = { .phase = CLAIM_WAITING,
                           .since_s = INT64_C(253402300799),
                           .claimed_s = INT64_C(253402300799) };
    struct rollout_spec spec = { .drain = { .wait_for_jobs_s = INT64_MAX } };
    CLEANUP_ARENA struct arena a = { 0 };
    assert_string_equal(
        upgrade_sentence(&(struct upgrade_story){ .claim = &claim, .spec = &spec, .what = "W" },
                         &a),
        "W, since 9999-12-31T23:59:59Z; Ostler drains it when they end and a slot is free, or at "
        "9999-12-31T23:59:59Z");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    SUITE_ROWS(&s, check, repair_rows);
    suite_add(&s, "times past all calendars", times_past_all_calendars, NULL);
    return suite_run(&s, "upgrade_message");
}
