/* Faults of a log as the GpuNode has them, and which of their changes is news. */
#include <errno.h>

#include "base/json.h"
#include "base/str.h"
#include "node/inventory/faults.h"
#include "node/inventory/inventory.h"
#include "node/inventory/kernel_log.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define BOOT_ID "7c1e0a52-4d2c-4f5b-8d9a-6a2fb0a7b1c2"

/* The address of a GPU is that of the bus, with the function that a log leaves out. */
static void check_addresses(void **state)
{
    (void) state;
    struct pci_device gpus[] = { { .address = "0000:3a:00.0" }, { .address = "0000:3b:00.4" } },
                      switches[] = { { .address = "0000:3b:00.2" } };
    const struct pci_bus bus = { .gpus = { gpus, 2, true }, .switches = { switches, 1, true } };
    const struct {
        struct xid_event event;
        const char *want;
    } events[] = {
        { { .place = { 0, 0x3b, 0, -1 } }, "0000:3b:00.4" },
        { { .place = { 0, 0x3b, 0, 1 } }, "0000:3b:00.1" },
        { { .place = { 0, 0x3b, 0, -1 }, .nvswitch = true }, "0000:3b:00.2" },
        { { .place = { 0, 0x3b, 1, -1 } }, "0000:3b:01.0" },
        { { .place = { 0x10000, 0x3b, 0, -1 } }, "10000:3b:00.0" },
        { { .place = { 0xffffffff, 0xff, 0xff, 7 } }, "ffffffff:ff:ff.7" },
    };
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        char address[PCI_ADDRESS_MAX];
        fault_address(&events[i].event, &bus, address);
        assert_string_equal(address, events[i].want);
    }
}

/* What is not known is not an empty list. */
static void check_unknown(void **state)
{
    (void) state;
    static const struct pci_bus bus;
    struct faults never = { 0 }, refused = { .read_s = 1, .why = EPERM }, known = { .read_s = 1 };
    assert_null(faults_json(NULL, &bus, BOOT_ID));
    assert_null(faults_json(&never, &bus, BOOT_ID));
    assert_null(faults_json(&refused, &bus, BOOT_ID));
    assert_null(faults_json(&known, &bus, NULL));
    CLEANUP_JSON json_t *none = faults_json(&known, &bus, BOOT_ID);
    assert_int_equal(json_array_size(none), 0);
    assert_true(json_is_array(none));
}

static const struct why_row {
    const char *name;
    int why;
    const char *reason;
} whys[] = {
    { "why: it must not be read", EPERM, "CAP_SYSLOG is missing" },
    { "why: it has no time stamps", NO_STAMPS, "it has no time stamps (printk.time is 0)" },
    { "why: another error", ENOSYS, "Function not implemented" },
};

static void check_says_why(void **state)
{
    const struct why_row *row = *state;
    CLEANUP_INVENTORY struct inventory i = { .os.boot_id = BOOT_ID };
    const struct faults refused = { .why = row->why };
    inventory_add_faults(&i, &refused);
    CLEANUP_JSON json_t *json = inventory_json(&i);
    assert_null(json_object_get(json, "faults"));
    const json_t *place = json_array_get(json_object_get(json, "unreadable"), 0);
    assert_string_equal(json_str(place, "path"), "kernel log");
    assert_string_equal(json_str(place, "reason"), row->reason);
}

/* What is a change, and what is one that can wait. */
static const struct change_row {
    const char *name, *before, *after;
    bool same, lasting; /* to both, they are the same */
} changes[] = {
    { "a time", "[{'xid':79,'count':1,'first':'a','last':'a'}]",
      "[{'xid':79,'count':1,'first':'b','last':'b'}]", true, true },
    { "a count", "[{'xid':79,'count':1}]", "[{'xid':79,'count':2}]", false, true },
    { "the order", "[{'xid':79,'count':1},{'xid':31,'count':1}]",
      "[{'xid':31,'count':2},{'xid':79,'count':1}]", false, true },
    { "another number", "[{'xid':79,'count':1}]", "[{'xid':78,'count':1}]", false, false },
    { "one more", "[]", "[{'xid':79,'count':1}]", false, false },
    { "not known", "[]", "null", false, false },
    { "what must happen", "[{'xid':154,'count':1,'recovery':'Reset'}]",
      "[{'xid':154,'count':1,'recovery':'Reboot'}]", false, false },
};

static void check_change(void **state)
{
    const struct change_row *row = *state;
    CLEANUP_JSON json_t *before = json_object(), *after = json_object();
    json_object_set_new(before, "faults", tree(row->before));
    if (!str_eq(row->after, "null"))
        json_object_set_new(after, "faults", tree(row->after));
    assert_int_equal(inventory_same(before, after), row->same);
    assert_int_equal(inventory_hash(before, false) == inventory_hash(after, false), row->same);
    assert_int_equal(inventory_hash(before, true) == inventory_hash(after, true), row->lasting);
}

static void check_counts(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *some = tree("{'faults':[{'count':3},{'count':4}]}");
    CLEANUP_JSON json_t *none = tree("{}");
    assert_int_equal(inventory_fault_counts(some), 7);
    assert_int_equal(inventory_fault_counts(none), 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_change, changes);
    SUITE_ROWS(&s, check_says_why, whys);
    suite_add(&s, "addresses", check_addresses, NULL);
    suite_add(&s, "a log that was not read", check_unknown, NULL);
    suite_add(&s, "the sum of counts", check_counts, NULL);
    return suite_run(&s, "faults_json");
}
