/* The next attempt to repair a node, by its fault, earlier attempts, and the policy. */
#include "reconcilers/decide/repair_rungs.h"
#include "tests/unit/support/suite.h"

enum { NOW_S = 2000000000, PER_S = 3600, RESETS = 1, REBOOTS = 2 };

static const struct rung_row {
    const char *name;
    enum health_level level;
    unsigned resets, reboots; /* begun within the last days */
    enum health_reboot may;
    bool hosts_driver, reset_failed, asked;
    enum repair_kind next;
    enum reason why;
} rung_rows[] = {
    { "CLOSE: a reset", HEALTH_CLOSE, 0, 0, HEALTH_REBOOT_NONE, .next = REPAIR_RESET },
    { "CLOSE: after a reset nothing, if it may not boot", HEALTH_CLOSE, 1, 0, HEALTH_REBOOT_NONE,
      .next = REPAIR_KINDS, .why = REASON_ATTEMPTS_SPENT },
    { "CLOSE: after a reset a reboot", HEALTH_CLOSE, 1, 0, HEALTH_REBOOT_POD,
      .next = REPAIR_REBOOT },
    { "CLOSE: after a reset that failed just now a reboot", HEALTH_CLOSE, 0, 0, HEALTH_REBOOT_POD,
      .reset_failed = true, .next = REPAIR_REBOOT },
    { "CLOSE: all are spent", HEALTH_CLOSE, 1, 2, HEALTH_REBOOT_POD, .next = REPAIR_KINDS,
      .why = REASON_ATTEMPTS_SPENT },
    { "CLOSE, the host's driver: only a reboot", HEALTH_CLOSE, 0, 0, HEALTH_REBOOT_POD,
      .hosts_driver = true, .next = REPAIR_REBOOT },
    { "CLOSE, the host's driver: nothing, if it may not boot", HEALTH_CLOSE, 0, 0,
      HEALTH_REBOOT_NONE, .hosts_driver = true, .next = REPAIR_KINDS,
      .why = REASON_REBOOT_NOT_ALLOWED },
    { "REBOOT: a reset does not help", HEALTH_REBOOT, 0, 0, HEALTH_REBOOT_NONE,
      .next = REPAIR_KINDS, .why = REASON_REBOOT_NOT_ALLOWED },
    { "REBOOT: a reboot", HEALTH_REBOOT, 0, 1, HEALTH_REBOOT_SENTINEL, .next = REPAIR_REBOOT },
    { "REBOOT: all are spent", HEALTH_REBOOT, 0, 2, HEALTH_REBOOT_POD, .next = REPAIR_KINDS,
      .why = REASON_ATTEMPTS_SPENT },
    { "HUMAN: nothing", HEALTH_HUMAN, 0, 0, HEALTH_REBOOT_POD, .next = REPAIR_KINDS },
    { "HUMAN, and a user asks: a reset", HEALTH_HUMAN, 0, 0, HEALTH_REBOOT_NONE, .asked = true,
      .next = REPAIR_RESET },
    { "RESET_WHEN_IDLE: a reset", HEALTH_RESET_WHEN_IDLE, 0, 0, HEALTH_REBOOT_POD,
      .next = REPAIR_RESET },
    { "RESET_WHEN_IDLE: no reboot for it", HEALTH_RESET_WHEN_IDLE, 1, 0, HEALTH_REBOOT_POD,
      .next = REPAIR_KINDS, .why = REASON_ATTEMPTS_SPENT },
    { "RESET_WHEN_IDLE, the host's driver: no reboot for it", HEALTH_RESET_WHEN_IDLE, 0, 0,
      HEALTH_REBOOT_POD, .hosts_driver = true, .next = REPAIR_KINDS, .why = REASON_ATTEMPTS_SPENT },
    { "a fault that has ended: no reboot for it", HEALTH_NONE, 1, 0, HEALTH_REBOOT_POD,
      .next = REPAIR_KINDS, .why = REASON_ATTEMPTS_SPENT },
    { "a fault that has ended, the host's driver: no reboot for it", HEALTH_EVENT, 0, 0,
      HEALTH_REBOOT_POD, .hosts_driver = true, .next = REPAIR_KINDS, .why = REASON_ATTEMPTS_SPENT },
    { "a user asks: earlier attempts do not count", HEALTH_CLOSE, 1, 2, HEALTH_REBOOT_POD,
      .asked = true, .next = REPAIR_RESET },
    { "a user asks beside the host's driver: no reboot that the policy forbids", HEALTH_NONE, 0, 0,
      HEALTH_REBOOT_NONE, .hosts_driver = true, .asked = true, .next = REPAIR_KINDS,
      .why = REASON_REBOOT_NOT_ALLOWED },
};

static void check_rung(void **state)
{
    const struct rung_row *row = *state;
    struct fault_record r = { 0 };
    struct health_spec spec = {
        .reboot = row->may, .resets = RESETS, .reboots = REBOOTS, .attempts_per_s = PER_S
    };
    enum reason why;
    fault_record_try(&r, REPAIR_RESET, NOW_S - PER_S); /* too old to count */
    for (unsigned i = 0; i < row->resets; i++)
        fault_record_try(&r, REPAIR_RESET, NOW_S - 60);
    for (unsigned i = 0; i < row->reboots; i++)
        fault_record_try(&r, REPAIR_REBOOT, NOW_S - 60);
    const struct repair_case c = { .spec = &spec,
                                   .record = &r,
                                   .level = row->level,
                                   .own_driver = !row->hosts_driver,
                                   .reset_failed = row->reset_failed,
                                   .asked = row->asked,
                                   .now_s = NOW_S };
    assert_int_equal(repair_rung(&c, &why), row->next);
    assert_int_equal(why, row->why);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_rung, rung_rows);
    return suite_run(&s, "the next attempt of a repair");
}
