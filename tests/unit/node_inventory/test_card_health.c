/* The health of GPUs as NVML reports it: which GPUs are in the list, how long it counts, and that a
 * change of it is news. */
#include "node/inventory/card_health.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "node/inventory/inventory.h"
#include "node/inventory/nvml.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"

/* GPUs of one bus, in order. */
static struct pci_devices gpus_new(struct view *v, int count)
{
    struct pci_devices gpus = { .known = true };
    for (int i = 0; i < count; i++) {
        struct pci_device gpu = { .vendor = &vendors[VENDOR_NVIDIA],
                                  .address = arena_printf(&v->arena, "0000:%02x:00.0", i) };
        assert_true(pci_add(v, &gpus, &gpu));
    }
    return gpus;
}

static void add(struct view *v, const struct pci_devices *gpus, const char *address,
                const char *facts, struct card_healths *ret)
{
    card_health_add(v, gpus, part_of(address), part_of(facts), ret);
}

static void check_list(void **state)
{
    (void) state;
    CLEANUP_VIEW struct view v = { 0 };
    struct card_healths list = { 0 };
    struct pci_devices gpus = gpus_new(&v, 4);
    assert_null(card_health_json(&list));
    add(&v, &gpus, "0000:02:00.0", "recovery=Reset", &list);
    add(&v, &gpus, "0000:00:00.0", "lost=true", &list);
    add(&v, &gpus, "0000:02:00.0", "recovery=None", &list);  /* a second line */
    add(&v, &gpus, "0000:01:00.0", "recovery=Later", &list); /* nothing is known */
    add(&v, &gpus, "0000:77:00.0", "lost=true", &list);      /* not on the bus */
    add(&v, &gpus, "0000:03:00.0", "doubleBitErrors=3 remapPending=false", &list);
    card_health_cut(&list);
    CLEANUP_JSON json_t *got = card_health_json(&list),
                        *want = json_pack("[{s:s, s:b}, {s:s, s:s}, {s:s, s:i, s:b}]", "address",
                                          "0000:00:00.0", "lost", 1, "address", "0000:02:00.0",
                                          "recovery", "Reset", "address", "0000:03:00.0",
                                          "doubleBitErrors", 3, "remapPending", 0);
    assert_true(json_equal(got, want));
}

/* The GPUs that are well leave first, the last of them before others. */
static void check_cut(void **state)
{
    (void) state;
    static const char *const wrong[] = { "recovery=Reboot",   "remapPending=true",
                                         "remapFailed=true",  "doubleBitErrors=1",
                                         "sramExceeded=true", "fabric=Limited",
                                         "lost=true",         "hangs=true" };
    enum { MANY = 64 };
    CLEANUP_VIEW struct view v = { 0 };
    struct card_healths list = { 0 };
    struct pci_devices gpus = gpus_new(&v, MANY);
    for (int i = 0; i < MANY; i++)
        add(&v, &gpus, gpus.items[i].address,
            i < MANY - (int) ARRAY_LEN(wrong)
                ? "serial=7 recovery=None remapPending=false remapFailed=false doubleBitErrors=0 "
                  "sramExceeded=false fabric=Healthy"
                : wrong[i - (MANY - (int) ARRAY_LEN(wrong))],
            &list);
    assert_int_equal(list.len, MANY);
    card_health_cut(&list);
    assert_int_equal(list.len, CARD_HEALTH_MAX);
    for (int i = 0; i < CARD_HEALTH_MAX; i++) {
        int at = i < 8 ? i : MANY - CARD_HEALTH_MAX + i;
        assert_string_equal(list.items[i].address, gpus.items[at].address);
    }
}

static void check_cut_of_bad_ones(void **state)
{
    (void) state;
    CLEANUP_VIEW struct view v = { 0 };
    struct card_healths list = { 0 };
    struct pci_devices gpus = gpus_new(&v, CARD_HEALTH_MAX + 1);
    for (size_t i = 0; i < gpus.len; i++)
        add(&v, &gpus, gpus.items[i].address, "lost=true", &list);
    card_health_cut(&list);
    assert_int_equal(list.len, CARD_HEALTH_MAX);
    assert_string_equal(list.items[0].address, "0000:00:00.0");
}

/* ---- how long the file counts */

static json_t *seen_after(int age_s)
{
    char *path = fake_root_of("ubuntu-hgx-sick");
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_INVENTORY struct inventory i = { 0 };
    struct timespec times[2];
    assert_int_equal(root_open(&root, path, NULL), 0);
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age_s;
    times[1] = times[0];
    assert_int_equal(utimensat(root.fd, NVML_FILE, times, 0), 0);
    inventory_look(&root, &i);
    json_t *ret = inventory_json(&i);
    fake_root_free(path);
    return ret;
}

static const struct age_row {
    const char *name;
    int age_s;
    bool counts;
} ages[] = {
    { "a file of this moment", 0, true },
    { "a file of before a turn or two", NVML_FRESH_S - 10, true },
    { "a file that is no longer kept", NVML_FRESH_S + 10, false },
    { "a file of days ago", 1000 * 1000, false },
    { "a clock that was set back", -NVML_FRESH_S + 10, true },
    { "a clock that was set back by more", -NVML_FRESH_S - 10, false },
};

static void check_age(void **state)
{
    const struct age_row *row = *state;
    CLEANUP_JSON json_t *inventory = seen_after(row->age_s);
    const json_t *gpu = json_array_get(json_object_get(inventory, "gpus"), 0);
    assert_int_equal(json_array_size(json_object_get(inventory, "health")), row->counts ? 6 : 0);
    assert_int_equal(json_object_get(inventory, "health") != NULL, row->counts);
    /* What does not change with time stays known. */
    assert_int_equal(json_int(gpu, "memoryMiB", -1), 81559);
}

/* ---- news */

static void check_hash(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *a = seen_after(0), *b = json_deep_copy(a);
    assert_int_equal(inventory_hash(a, false), inventory_hash(b, false));
    assert_int_equal(inventory_hash(a, true), inventory_hash(b, true));
    json_object_set_new(json_array_get(json_object_get(b, "health"), 0), "recovery",
                        json_string("Reboot"));
    assert_int_not_equal(inventory_hash(a, false), inventory_hash(b, false));
    assert_int_not_equal(inventory_hash(a, true), inventory_hash(b, true));
    assert_false(inventory_same(a, b));
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "which GPUs are in the list", check_list, NULL);
    suite_add(&s, "more GPUs than the list takes", check_cut, NULL);
    suite_add(&s, "more bad GPUs than the list takes", check_cut_of_bad_ones, NULL);
    SUITE_ROWS(&s, check_age, ages);
    suite_add(&s, "a change is news", check_hash, NULL);
    return suite_run(&s, "card_health");
}
