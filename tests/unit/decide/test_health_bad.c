#include "reconcilers/decide/health_bad.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define A "'address': '0000:65:00.0'"
#define B "'address': '0000:66:00.0'"
#define LINE(gpu, xid) "{" gpu ", 'bootId': 'b', 'xid': " xid "}"

static const struct row {
    const char *name;
    const char *health, *faults, *gpus; /* of the inventory */
    const char *kept;                   /* reason of status.health, of which NVML is silent */
    unsigned bad;
    bool whole_node;
    unsigned withholdable, others;
} rows[] = {
    { "nothing", "", "", "", NULL, 0, false, 0, 0 },
    { "milder faults do not count", "{" A ", 'remapPending': true}", LINE(B, "13"), "", NULL, 0,
      false, 0, 0 },
    { "one GPU, by NVML", "{" A ", 'recovery': 'Reset'}", "", "", NULL, 1, false, 0, 0 },
    { "one GPU, by NVML and the log", "{" A ", 'recovery': 'Reset'}", LINE(A, "95"), "", NULL, 1,
      false, 1, 0 },
    { "one GPU, twice in the log", "", LINE(A, "95") "," LINE(A, "119"), "", NULL, 1, false, 1, 0 },
    { "two GPUs", "{" A ", 'recovery': 'Reset'}", LINE(B, "95"), "", NULL, 2, false, 1, 0 },
    { "the plugin withholds for an Xid that asks for nothing", "{" A ", 'recovery': 'Reset'}",
      LINE(A, "32"), "", NULL, 1, false, 1, 0 },
    { "the plugin ignores the Xid", "", LINE(A, "109"), "", NULL, 1, false, 0, 0 },
    { "it is not known what the plugin does for Xid 154", "{" A ", 'recovery': 'Reset'}",
      LINE(A, "154") "," LINE(B, "154"), "", NULL, 1, false, 0, 1 },
    { "another GPU may be withheld for a milder Xid", "", LINE(A, "95") "," LINE(B, "94"), "", NULL,
      1, false, 1, 1 },
    { "not for an Xid of another boot", "{" A ", 'recovery': 'Reset'}",
      "{" A ", 'bootId': 'a', 'xid': 32}, {" B ", 'bootId': 'a', 'xid': 94}", "", NULL, 1, false, 0,
      0 },
    { "NVML's word is milder than the log", "{" A ", 'recovery': 'None'}", LINE(A, "95"), "", NULL,
      0, false, 0, 1 },
    { "a part to replace is of one GPU", "{" A ", 'remapFailed': true}", "", "", NULL, 1, false, 0,
      0 },
    { "the driver wants a reboot for one GPU", "{" A ", 'recovery': 'Reboot'}", "", "", NULL, 1,
      false, 0, 0 },
    { "whole node: gone from the bus", "", "", "{" A ", 'bus': 'Gone'}", NULL, 0, true, 0, 0 },
    { "whole node: gone from the bus, and another GPU is bad by itself",
      "{" B ", 'recovery': 'Reset'}", "", "{" A ", 'bus': 'Gone'}", NULL, 1, true, 0, 0 },
    { "whole node: lost, by NVML", "{" A ", 'lost': true}", "", "", NULL, 1, true, 0, 0 },
    { "whole node: lost, by the log", "", LINE(A, "79"), "", NULL, 1, true, 0, 0 },
    { "whole node: a link behind another fault of the GPU", "", LINE(A, "48") "," LINE(A, "74"), "",
      NULL, 1, true, 0, 0 },
    { "whole node: the fabric", "{" A ", 'fabric': 'Unhealthy'}", "", "", NULL, 1, true, 0, 0 },
    { "whole node: peers", "{" A ", 'recovery': 'DrainPeers'}", "", "", NULL, 1, true, 0, 0 },
    { "whole node: NVML is silent about what it said", "", "", "", "RecoveryReset", 0, true, 0, 0 },
};

static json_t *list(const char *items)
{
    CLEANUP_FREE char *text = xasprintf("[%s]", items);
    return tree(text);
}

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_JSON json_t *inventory = json_pack(
        "{s:s, s:o, s:o, s:o, s:{s:b, s:s}}", "bootId", "b", "health", list(row->health), "faults",
        list(row->faults), "gpus", list(row->gpus), "module", "loaded", 1, "version", "580.95.05");
    CLEANUP_FREE struct node_inventory *seen = node_inventory_read(inventory);
    CLEANUP_FREE struct node_health *facts = node_health_read(inventory);
    struct health_status said = { .level = HEALTH_CLOSE };
    snprintf(said.reason, sizeof said.reason, "%s", str_or_empty(row->kept));
    struct health_input in = { .facts = facts,
                               .inventory = seen,
                               .boot = str_hash_id("b"),
                               .concluded = row->kept ? &said : NULL,
                               .nvml_told = true,
                               .now_s = 1795168800 };
    struct health_bad bad = health_bad_gpus(&in);
    assert_int_equal(bad.whole_node, row->whole_node);
    if (row->whole_node)
        return;
    assert_int_equal(bad.gpus, row->bad);
    assert_int_equal(bad.withholdable, row->withholdable);
    assert_int_equal(bad.others, row->others);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "health bad");
}
