/* What `ostler plan` says of repairs: why, what first, and when. */
#include "reconcilers/decide/repair_plan.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

#define FAULT "Xid95 of GPU 0000:65:00.0"
#define RESETS "Ostler resets its GPUs"

static const struct claim waiting = { .kind = CLAIM_REPAIR, .phase = CLAIM_WAITING },
                          asked_for = { .kind = CLAIM_REPAIR,
                                        .phase = CLAIM_RESETTING,
                                        .asked = true },
                          failed = { .kind = CLAIM_REPAIR,
                                     .phase = CLAIM_FAILED,
                                     .reason = "ResetFailed" },
                          upgrade = { .kind = CLAIM_UPGRADE, .phase = CLAIM_DRAINING };

static const struct row {
    const char *name;
    struct rollout_node node;
    const char *fault;
    enum repair_kind first;
    enum rollout_hold hold;
    enum health_reboot reboot;
    bool tainted_first;
    enum repair_refusal refusal;
    const char *want; /* "why: does, when"; NULL: the node is not listed */
} rows[] = {
    { "a healthy node", .node = { 0 }, .want = NULL },
    { "a node that Ostler lets go", .node = { .repair = REPAIR_FAULT, .let_go = true },
      .want = NULL },
    { "a fault", .node = { .repair = REPAIR_FAULT }, .fault = FAULT,
      .want = FAULT ": " RESETS ", now" },
    { "a fault of which nothing is known any longer", .node = { .repair = REPAIR_FAULT },
      .want = "a fault of its GPUs: " RESETS ", now" },
    { "a reboot may follow", .node = { .repair = REPAIR_FAULT }, .fault = FAULT,
      .reboot = HEALTH_REBOOT_POD,
      .want = FAULT ": " RESETS ", and reboots it if that is not enough, now" },
    { "only a reboot helps", .node = { .repair = REPAIR_FAULT }, .fault = FAULT,
      .first = REPAIR_REBOOT, .reboot = HEALTH_REBOOT_SENTINEL,
      .want = FAULT ": Ostler asks kured to reboot it, now" },
    { "it waits for its jobs", .node = { .repair = REPAIR_FAULT }, .fault = FAULT,
      .tainted_first = true,
      .want = FAULT ": " RESETS ", when its jobs have ended, or after 4h 0m" },
    { "another node goes first", .node = { .repair = REPAIR_FAULT }, .fault = FAULT,
      .hold = ROLLOUT_HOLD_PARALLEL,
      .want = FAULT ": " RESETS ", when spec.rollout has a place (MaxParallel)" },
    { "the rollout is paused", .node = { .repair = REPAIR_FAULT }, .fault = FAULT,
      .hold = ROLLOUT_HOLD_PAUSED,
      .want = FAULT ": " RESETS ", when spec.rollout.paused is false" },
    { "a user cordoned the node", .node = { .repair = REPAIR_FAULT, .cordoned = true },
      .fault = FAULT,
      .want = FAULT ": " RESETS
                    ", when no user cordons the node or holds it with the label ostler.dev/hold" },
    { "a reset that can wait", .node = { .repair = REPAIR_IDLE }, .fault = "RowRemapPending",
      .reboot = HEALTH_REBOOT_POD,
      .want = "RowRemapPending: " RESETS
              ", when no pod uses a GPU there, and no other node needs the place" },
    { "a user asks", .node = { .repair = REPAIR_ASKED },
      .want = "a user asks for it: " RESETS ", now, if an administrator has allowed repairs" },
    { "a user asks although it is known", .node = { .repair = REPAIR_ASKED }, .fault = FAULT,
      .want = "a user asks for it (" FAULT "): " RESETS
              ", now, if an administrator has allowed repairs" },
    { "it is claimed, and waits for its jobs", .node = { .claim = &waiting }, .fault = FAULT,
      .want = FAULT ": " RESETS ", when its jobs have ended, or after 4h 0m" },
    { "it is under way", .node = { .claim = &asked_for },
      .want = "a user asks for it: " RESETS ", it is under way (Resetting)" },
    { "it failed", .node = { .claim = &failed }, .fault = FAULT,
      .want = FAULT ": " RESETS ", it failed (ResetFailed), and is tried again" },
    { "an upgrade is under way", .node = { .claim = &upgrade, .repair = REPAIR_FAULT },
      .fault = FAULT,
      .want = FAULT ": " RESETS
                    ", when its upgrade is over, unless that resets the GPUs on the way" },
    { "nothing may be tried", .node = { .repair = REPAIR_FAULT }, .fault = FAULT,
      .first = REPAIR_KINDS, .want = FAULT ": Ostler may try nothing more, now" },
    { "a request without the permission", .node = { 0 }, .refusal = REPAIR_NOT_ALLOWED,
      .want = "a user asks for it: nothing without --allow-repairs, only if an administrator has "
              "allowed repairs" },
    { "a request where the policy observes", .node = { 0 }, .refusal = REPAIR_OBSERVED,
      .want = "a user asks for a repair (annotation ostler.dev/repair), and Ostler ignores it: "
              "spec.health.mode of the policy is Observe: nothing, never" },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_node node = row->node;
    const struct health_spec spec = { .mode = HEALTH_MODE_CLOSE,
                                      .reboot = row->reboot,
                                      .wait_for_jobs_s = 4 * 3600 };
    node.name = "gpu-1";
    CLEANUP_JSON json_t *o = repair_plan_json(
        &(struct planned_repair){ .node = &node,
                                  .spec = &spec,
                                  .fault = row->fault,
                                  .first = row->first,
                                  .refusal = row->refusal,
                                  .hold = row->hold,
                                  .tainted_first = row->tainted_first },
        &a);
    if (!row->want) {
        assert_null(o);
        return;
    }
    CLEANUP_FREE char *got = xasprintf("%s: %s, %s", json_str_or_empty(o, "why"),
                                       json_str_or_empty(o, "does"), json_str_or_empty(o, "when"));
    assert_string_equal(got, row->want);
    assert_string_equal(json_str(o, "node"), "gpu-1");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "repair_plan");
}
