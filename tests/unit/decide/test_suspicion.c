/* What the record of a driver says that failed by faults of GPUs, and what a fault is to the
 * rollout. When a driver is suspected: tests/cases/rollout/suspicion-*.yaml. */
#include "reconcilers/decide/suspicion.h"

#include "base/str.h"
#include "reconcilers/decide/health_report.h"
#include "tests/unit/support/suite.h"

static const struct told_row {
    const char *name, *failure;
    bool told;
} told_rows[] = {
    { "no failure", NULL, false },
    { "another failure", "gpu-1 CrashLoopBackOff", false },
    { "a suspicion",
      "gpu-1 Xid119, as on gpu-2 (within its soak; no node with a known good driver has a new "
      "fault)",
      true },
    { "its end alone", " (within its soak; no node with a known good driver has a new fault)",
      false },
    { "more behind it",
      "gpu-1 Xid119 (within its soak; no node with a known good driver has a new fault) x", false },
};

static void check_told(void **state)
{
    const struct told_row *row = *state;
    assert_int_equal(suspicion_is_told(row->failure), row->told);
}

/* What is written can be read. */
static void a_text_is_told(void **state)
{
    (void) state;
    struct arena a = { 0 };
    struct suspicion s;
    const struct rollout_spec spec = { .canary_nodes = 2, .canary_soak_s = 900 };
    const struct health_fault fault = { HEALTH_CLOSE, false, 500, "Xid119" };
    const struct rollout_node nodes[] = {
        { .name = "gpu-1", .now = { { "d2", "s" } }, .fault = fault, .driver_s = 400 },
        { .name = "gpu-2", .now = { { "d2", "s" } }, .fault = fault, .driver_s = 400 },
    };
    const struct rollout_revision r = { .hash = "d2" };
    const struct rollout_input in = {
        .spec = &spec, .nodes = nodes, .node_count = 2, .now_s = 600
    };
    assert_true(suspicion_of(&in, &r, &a, &s));
    assert_string_equal(s.first->name, "gpu-1");
    assert_int_equal(s.nodes, 2);
    assert_true(suspicion_is_told(s.text));
    arena_free(&a);
}

/* ---- the fault of a node */

enum { NOW_S = 5000, LOGGED_S = 1000, SHOWN_S = 2000, BEFORE_S = 3000 };

static const struct fault_row {
    const char *name;
    unsigned xid;               /* of the log, 0: none */
    enum gpu_recovery recovery; /* by NVML */
    const char *shown;          /* reason of status.health since SHOWN_S; NULL: absent */
    const char *before;         /* at the last pass, since BEFORE_S; NULL: there was none */
    const char *word;           /* NULL: there is no fault */
    int64_t since_s;
} fault_rows[] = {
    { "nothing", 0, RECOVERY_UNKNOWN, NULL, NULL, NULL, 0 },
    { "a mild fault", 92, RECOVERY_UNKNOWN, NULL, NULL, NULL, 0 },
    { "a line of the log has its own time", 119, RECOVERY_UNKNOWN, NULL, NULL, "Xid119", LOGGED_S },
    { "whenever it was seen", 119, RECOVERY_UNKNOWN, "Xid119", "Xid119", "Xid119", LOGGED_S },
    { "NVML's word begins now", 0, RECOVERY_RESET, NULL, NULL, "RecoveryReset", NOW_S },
    { "or when it was first seen", 0, RECOVERY_RESET, NULL, "RecoveryReset", "RecoveryReset",
      BEFORE_S },
    { "or written, by an earlier Ostler", 0, RECOVERY_RESET, "RecoveryReset", NULL, "RecoveryReset",
      SHOWN_S },
    { "another one than before begins now", 0, RECOVERY_RESET, NULL, "Xid119", "RecoveryReset",
      NOW_S },
};

static void check_fault(void **state)
{
    const struct fault_row *row = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct node_inventory inventory = { .boot = 7, .health_listed = true };
    struct gpu_fault line = { .address = "0000:65:00.0",
                              .xid = (uint16_t) row->xid,
                              .count = 1,
                              .first_s = LOGGED_S,
                              .last_s = LOGGED_S + 100,
                              .boot = 7 };
    struct gpu_health gpu = { .address = "0000:65:00.0", .recovery = (uint8_t) row->recovery };
    struct node_health facts = { .faults = &line,
                                 .gpus = &gpu,
                                 .faults_len = row->xid > 0,
                                 .gpus_len = row->recovery != RECOVERY_UNKNOWN };
    struct health_status shown = { .level = HEALTH_CLOSE,
                                   .address = "0000:65:00.0",
                                   .since_s = SHOWN_S };
    snprintf(shown.reason, sizeof shown.reason, "%s", str_or_empty(row->shown));
    struct health_input in = { .facts = &facts,
                               .inventory = &inventory,
                               .boot = 7,
                               .now_s = NOW_S,
                               .concluded = row->shown ? &shown : NULL };
    struct health_fault before = { row->before ? HEALTH_CLOSE : HEALTH_NONE, false,
                                   row->before ? BEFORE_S : 0, row->before };
    struct health_fault got = health_fault_of(&in, &before, &a);
    assert_int_equal(got.level, row->word ? HEALTH_CLOSE : HEALTH_NONE);
    assert_int_equal(got.since_s, row->since_s);
    assert_true(str_eq(got.word, row->word));
    assert_false(got.hard);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_told, told_rows);
    SUITE_ROWS(&s, check_fault, fault_rows);
    suite_add(&s, "a text is told", a_text_is_told, NULL);
    return suite_run(&s, "suspicion");
}
