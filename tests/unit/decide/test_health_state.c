/* What Ostler does about a fault: its state, by what has been done, and the sentences about it. */
#include "reconcilers/decide/health_state.h"

#include <string.h>

#include "base/str.h"
#include "reconcilers/decide/health_sentence.h"
#include "tests/unit/support/suite.h"

#define GPU "0000:65:00.0"

enum { NOW_S = 1795255200, HOUR = 3600 }; /* 2026-11-21T10:00:00Z */

/* Records: of this fault and of others. */
#define RECORD(what, ...)                                                                          \
    {                                                                                              \
        .state = FAULT_##what, .reason = "Xid79", .address = GPU, .since_s = NOW_S - HOUR,         \
        __VA_ARGS__                                                                                \
    }
#define RESET(ago_s)                                                                               \
    {                                                                                              \
        REPAIR_RESET, NOW_S - (ago_s)                                                              \
    }
#define REBOOT(ago_s)                                                                              \
    {                                                                                              \
        REPAIR_REBOOT, NOW_S - (ago_s)                                                             \
    }

static const struct row {
    const char *name;
    enum health_mode mode;
    enum health_level level;
    struct fault_record record;
    enum health_reboot reboot;
    int64_t known_s; /* how long the fault has been known */
    bool left_alone, repairing;
    enum health_state want;
    const char *says; /* a part of the sentence; "": there is none */
    bool nothing_to_do;
} rows[] = {
    { "mode Observe", HEALTH_MODE_OBSERVE, HEALTH_REBOOT, RECORD(CLOSED, .tainted = true),
      .want = HEALTH_IS_REPORTED, .says = "" },
    { "a fault that asks for less than Close",
      HEALTH_MODE_CLOSE,
      HEALTH_RESET_WHEN_IDLE,
      { 0 },
      .want = HEALTH_IS_REPORTED,
      .says = "" },
    { "a new one that asks for Close",
      HEALTH_MODE_CLOSE,
      HEALTH_CLOSE,
      { 0 },
      .known_s = 5,
      .want = HEALTH_IS_CONFIRMING,
      .says = "looks once more",
      .nothing_to_do = true },
    { "it closes nothing",
      HEALTH_MODE_CLOSE,
      HEALTH_CLOSE,
      { 0 },
      .known_s = HEALTH_CONFIRMING_S + 1,
      .want = HEALTH_IS_REPORTED,
      .says = "" },
    { "the node is closed", HEALTH_MODE_CLOSE, HEALTH_REBOOT, RECORD(CLOSED, .tainted = true),
      .want = HEALTH_IS_CLOSED, .says = "it opens after a reset or reboot and a validation" },
    { "its fault asks for less, without evidence", HEALTH_MODE_CLOSE, HEALTH_EVENT,
      RECORD(CLOSED, .tainted = true), .want = HEALTH_IS_CLOSED, .says = "keeps new pods off" },
    { "the plugin withholds the GPU", HEALTH_MODE_CLOSE, HEALTH_CLOSE, RECORD(CLOSED, ),
      .want = HEALTH_IS_WITHHELD, .says = "leaves the node open, because the device plugin" },
    { "it is closed and will be repaired", HEALTH_MODE_REPAIR, HEALTH_CLOSE,
      RECORD(CLOSED, .tainted = true), .want = HEALTH_IS_CLOSED,
      .says = "repairs it when its jobs have ended", .nothing_to_do = true },
    { "the plugin withholds a GPU that will be repaired", HEALTH_MODE_REPAIR, HEALTH_CLOSE,
      RECORD(CLOSED, ), .want = HEALTH_IS_WITHHELD, .says = "repairs it when spec.rollout",
      .nothing_to_do = true },
    { "the fault has ended", HEALTH_MODE_CLOSE, HEALTH_EVENT, RECORD(PROVING, .tainted = true),
      .want = HEALTH_IS_PROVING, .says = "when a GPU is validated", .nothing_to_do = true },
    { "and comes again", HEALTH_MODE_CLOSE, HEALTH_REBOOT, RECORD(PROVING, .tainted = true),
      .want = HEALTH_IS_CLOSED, .says = "keeps new pods off" },
    { "a user removed the taint", HEALTH_MODE_CLOSE, HEALTH_REBOOT, RECORD(IGNORED, ),
      .want = HEALTH_IS_IGNORED,
      .says = "a user removed the taint ostler.dev/unhealthy; undo: kubectl annotate node gpu-1 "
              "ostler.dev/fault-." },
    { "a user removed it for another fault",
      HEALTH_MODE_CLOSE,
      HEALTH_REBOOT,
      { .state = FAULT_IGNORED, .reason = "Xid79", .address = "0000:66:00.0" },
      .want = HEALTH_IS_CONFIRMING,
      .says = "looks once more",
      .nothing_to_do = true },
    { "a user removed it for the same event, which the bus shows",
      HEALTH_MODE_CLOSE,
      HEALTH_REBOOT,
      { .state = FAULT_IGNORED, .reason = "GpuLost", .address = GPU },
      .want = HEALTH_IS_IGNORED,
      .says = "a user removed the taint" },
    { "the node's label", HEALTH_MODE_REPAIR, HEALTH_REBOOT, RECORD(CLOSED, .tainted = true),
      .left_alone = true, .want = HEALTH_IS_IGNORED,
      .says =
          "label ostler.dev/health=ignore; undo: kubectl label node gpu-1 ostler.dev/health-." },
    { "many nodes became unhealthy", HEALTH_MODE_CLOSE, HEALTH_REBOOT, RECORD(BRAKED, ),
      .want = HEALTH_IS_BRAKED,
      .says = "to have it closed: kubectl annotate node gpu-1 ostler.dev/fault-." },
    { "many became so for another fault",
      HEALTH_MODE_CLOSE,
      HEALTH_REBOOT,
      { .state = FAULT_BRAKED, .reason = "Xid95", .address = GPU },
      .want = HEALTH_IS_CONFIRMING,
      .says = "looks once more",
      .nothing_to_do = true },
    { "only a reboot helps, and Ostler may reboot no node", HEALTH_MODE_REPAIR, HEALTH_REBOOT,
      RECORD(CLOSED, .tainted = true), .want = HEALTH_IS_HUMAN,
      .says = "only a reboot repairs it, and spec.health.reboot is None" },
    { "only a reboot helps, and Ostler may reboot the node", HEALTH_MODE_REPAIR, HEALTH_REBOOT,
      RECORD(CLOSED, .tainted = true), .reboot = HEALTH_REBOOT_POD, .want = HEALTH_IS_CLOSED,
      .says = "repairs it when its jobs have ended", .nothing_to_do = true },
    { "a person has to", HEALTH_MODE_CLOSE, HEALTH_HUMAN, RECORD(CLOSED, .tainted = true),
      .want = HEALTH_IS_HUMAN, .says = "keeps new pods off the node; it cannot repair it" },
    { "a person has to, and the others go on", HEALTH_MODE_CLOSE, HEALTH_HUMAN, RECORD(CLOSED, ),
      .want = HEALTH_IS_HUMAN, .says = "leaves the node open, because the device plugin" },
    { "the only reset did not help", HEALTH_MODE_REPAIR, HEALTH_CLOSE,
      RECORD(CLOSED, .tainted = true, .tries = { RESET(HOUR) }, .tries_len = 1),
      .want = HEALTH_IS_HUMAN, .says = "its repairs did not help" },
    { "it was not in this time", HEALTH_MODE_REPAIR, HEALTH_CLOSE,
      RECORD(CLOSED, .tainted = true, .tries = { RESET(25 * HOUR) }, .tries_len = 1),
      .want = HEALTH_IS_CLOSED, .says = "repairs it", .nothing_to_do = true },
    { "a reboot is left", HEALTH_MODE_REPAIR, HEALTH_CLOSE,
      RECORD(CLOSED, .tainted = true, .tries = { RESET(HOUR), REBOOT(100) }, .tries_len = 2),
      .reboot = HEALTH_REBOOT_POD, .want = HEALTH_IS_CLOSED, .says = "repairs it",
      .nothing_to_do = true },
    { "both reboots did not help, where a reset cannot", HEALTH_MODE_REPAIR, HEALTH_REBOOT,
      RECORD(CLOSED, .tainted = true, .tries = { REBOOT(200), REBOOT(100) }, .tries_len = 2),
      .reboot = HEALTH_REBOOT_POD, .want = HEALTH_IS_HUMAN, .says = "its repairs did not help" },
    { "the policy repairs no longer", HEALTH_MODE_CLOSE, HEALTH_CLOSE,
      RECORD(CLOSED, .tainted = true, .tries = { RESET(HOUR) }, .tries_len = 1),
      .want = HEALTH_IS_CLOSED, .says = "opens after a reset" },
    { "it is being repaired", HEALTH_MODE_REPAIR, HEALTH_CLOSE,
      RECORD(CLOSED, .tainted = true, .tries = { RESET(HOUR) }, .tries_len = 1), .repairing = true,
      .want = HEALTH_IS_REPAIRING, .says = "repairs the node", .nothing_to_do = true },
};

static void check(void **state)
{
    const struct row *row = *state;
    const struct health_spec spec = { .mode = row->mode,
                                      .reboot = row->reboot,
                                      .resets = 1,
                                      .reboots = 2,
                                      .attempts_per_s = 24 * HOUR };
    struct health_handling in = { .spec = &spec,
                                  .left_alone = row->left_alone,
                                  .repairing = row->repairing,
                                  .node = "gpu-1",
                                  .now_s = NOW_S };
    memcpy(&in.record, &row->record, sizeof in.record);
    const struct health_status fault = {
        .level = row->level, .reason = "Xid79", .address = GPU, .since_s = NOW_S - row->known_s
    };
    CLEANUP_ARENA struct arena a = { 0 };
    const char *says = health_state_sentence(&fault, &in, &a);
    assert_int_equal(health_state_of(&fault, &in), row->want);
    assert_int_equal(!*says, !*row->says);
    if (!strstr(says, row->says))
        fail_msg("\"%s\" does not have \"%s\"", says, row->says);
    if (*says)
        assert_true(str_has_prefix(says, " Ostler "));
    assert_int_equal(health_state_needs_person(row->want, &in), !row->nothing_to_do);
}

static void without_a_policy_it_is_reported(void **state)
{
    (void) state;
    const struct health_status fault = { .level = HEALTH_HUMAN };
    const struct health_handling in = { .record = RECORD(CLOSED, .tainted = true) };
    assert_int_equal(health_state_of(&fault, &in), HEALTH_IS_REPORTED);
}

/* ---- a closed node */

static const struct closed_row {
    const char *name;
    enum health_mode mode;
    enum health_level level; /* NONE: no source shows a fault */
    enum fault_state record;
    const char *address;
    const char *says, *next;
} closed_rows[] = {
    { "a closed node", HEALTH_MODE_CLOSE, HEALTH_CLOSE, FAULT_CLOSED, GPU,
      "closed for new pods since 2026-11-21T09:00:00Z because of the fault Xid79 of GPU " GPU
      "; running pods stay, and status.health says more",
      "after a reset of its GPUs or a reboot, and a validation, Ostler opens the node" },
    { "a fault that is of no GPU", HEALTH_MODE_CLOSE, HEALTH_NONE, FAULT_CLOSED, "",
      "closed for new pods since 2026-11-21T09:00:00Z because of the fault Xid79; running pods "
      "stay, and status.health says more",
      "after a reset of its GPUs or a reboot, and a validation, Ostler opens the node" },
    { "one that will be repaired", HEALTH_MODE_REPAIR, HEALTH_CLOSE, FAULT_CLOSED, "",
      "closed for new pods since 2026-11-21T09:00:00Z because of the fault Xid79; running pods "
      "stay, and status.health says more",
      "when its jobs have ended and spec.rollout allows it, Ostler repairs the node" },
    { "one that only a person repairs", HEALTH_MODE_REPAIR, HEALTH_HUMAN, FAULT_CLOSED, "",
      "closed for new pods since 2026-11-21T09:00:00Z because of the fault Xid79; running pods "
      "stay, and status.health says more",
      "nothing, until a user does what status.health says" },
    { "one whose fault has ended", HEALTH_MODE_CLOSE, HEALTH_NONE, FAULT_PROVING, GPU,
      "the fault Xid79 of GPU " GPU " has ended; the node is closed for new pods until a GPU is "
      "validated",
      "when a GPU of the node is validated, Ostler opens the node" },
};

static void check_closed(void **state)
{
    const struct closed_row *row = *state;
    const struct health_spec spec = { .mode = row->mode, .resets = 1, .attempts_per_s = HOUR };
    struct health_handling in = { .spec = &spec,
                                  .record = { .state = row->record,
                                              .reason = "Xid79",
                                              .since_s = NOW_S - HOUR,
                                              .tainted = true },
                                  .now_s = NOW_S };
    strcpy(in.record.address, row->address);
    const struct health_status fault = { .level = row->level, .reason = "Xid79" };
    CLEANUP_ARENA struct arena a = { 0 };
    assert_true(fault_state_closes(in.record.state));
    assert_string_equal(health_closed_sentence(&in, &a), row->says);
    assert_string_equal(health_closed_next(row->level ? &fault : NULL, &in), row->next);
}

/* ---- a message with what Ostler does */

static const struct health_ending human = { HEALTH_IS_HUMAN,
                                            " Ostler leaves the node open, because the device "
                                            "plugin keeps pods off the GPU; its repairs did not "
                                            "help.",
                                            true };

/* Whatever the fault is, the last thing that a support ticket needs is not cut off. */
static void ticket_fits(void **state)
{
    (void) state;
    struct gpu_fault faults[6];
    struct gpu_health gpu = { .address = "00000000:65:00.0",
                              .serial = "1234567890123456789012345678901",
                              .uuid = "GPU-12345678-1234-1234-1234-123456789012",
                              .remap_pending = true };
    for (unsigned xid = 0; xid < 200; xid++) {
        if (!xid_find(xid))
            continue;
        for (size_t i = 0; i < ARRAY_LEN(faults); i++)
            faults[i] = (struct gpu_fault){ .address = "00000000:65:00.0",
                                            .xid = (uint16_t) xid,
                                            .count = 99999,
                                            .first_s = 1,
                                            .last_s = 2,
                                            .boot = 1 };
        struct node_health facts = { faults, &gpu, ARRAY_LEN(faults), 1 };
        const struct health_input in = { .facts = &facts, .boot = 1 };
        const struct health_verdict v = { .level = HEALTH_CLOSE,
                                          .reason = REASON_XID,
                                          .address = gpu.address,
                                          .log = &faults[0],
                                          .gpu = &gpu };
        CLEANUP_ARENA struct arena a = { 0 };
        const char *text = health_message(&in, &v, &human, &a);
        if (!strstr(text, "row remap pending."))
            fail_msg("cut off: %s", text);
    }
}

static void ticket_has_what_is_known(void **state)
{
    (void) state;
    struct gpu_fault faults[] = { { .address = GPU, .xid = 48, .count = 1, .boot = 1 },
                                  { .address = GPU, .xid = 13, .count = 1, .boot = 2 },
                                  { .address = "0000:66:00.0", .xid = 31, .count = 1, .boot = 1 },
                                  { .address = GPU, .xid = 64, .count = 1, .boot = 1 } };
    struct gpu_health gpu = {
        .address = GPU, .serial = "165", .uuid = "GPU-1", .remap_failed = true
    };
    struct node_health facts = { faults, &gpu, ARRAY_LEN(faults), 1 };
    const struct health_input in = { .facts = &facts, .boot = 1 };
    struct health_verdict v = {
        .level = HEALTH_HUMAN, .reason = REASON_ROW_REMAP_FAILED, .address = GPU, .gpu = &gpu
    };
    CLEANUP_ARENA struct arena a = { 0 };
    const char *text = health_message(&in, &v, &human, &a);
    assert_non_null(strstr(text, "replace the GPU: serial number 165, UUID GPU-1, Xids 48, 64, row "
                                 "remap failed."));
    v.reason = REASON_RECOVERY_RECOVER_DOMAIN;
    assert_non_null(strstr(health_message(&in, &v, &human, &a), "restart IMEX on all of them."));
    v.gpu = NULL;
    v.address = "0000:67:00.0";
    v.reason = REASON_GPU_LOST;
    assert_non_null(strstr(health_message(&in, &v, &human, &a), "or replace the GPU."));
}

/* A fact that NVML no longer reports keeps its first sentence, whatever was done since. */
static void kept_fact_gets_another_end(void **state)
{
    (void) state;
    struct health_status kept = { .level = HEALTH_CLOSE, .reason = "GpuHangs" };
    const struct health_ending closed = { HEALTH_IS_CLOSED, " Ostler keeps.", true },
                               proving = { HEALTH_IS_PROVING, " Ostler opens.", false };
    CLEANUP_ARENA struct arena a = { 0 };
    strcpy(kept.message, "GPU 1: it hangs. Give the node no new jobs.");
    assert_string_equal(health_message_kept(&kept, &closed, &a),
                        "GPU 1: it hangs. Ostler keeps. When the node's jobs have ended, reset the "
                        "GPU or reboot the node.");
    strcpy(kept.message, "GPU 1: it hangs. Ostler keeps. When.");
    assert_string_equal(health_message_kept(&kept, &proving, &a), "GPU 1: it hangs. Ostler opens.");
    assert_string_equal(health_message_kept(&kept, &human, &a),
                        "GPU 1: it hangs. Ostler leaves the node open, because the device plugin "
                        "keeps pods off the GPU; its repairs did not help. Drain the node, and "
                        "have its vendor check or replace the GPU.");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    SUITE_ROWS(&s, check_closed, closed_rows);
    suite_add(&s, "without a policy it is reported", without_a_policy_it_is_reported, NULL);
    suite_add(&s, "the ticket fits", ticket_fits, NULL);
    suite_add(&s, "the ticket has what is known", ticket_has_what_is_known, NULL);
    suite_add(&s, "a kept fact gets another end", kept_fact_gets_another_end, NULL);
    return suite_run(&s, "health_state");
}
