/* What NVML reports of which GPU: absence is never "good". */
#include "reconcilers/model/gpu_heard.h"

#include <stdlib.h>

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define A "'address':'0000:65:00.0'"

static const struct row {
    const char *name, *health;
    unsigned heard;
} rows[] = {
    { "no list", "{}", 0 },
    { "an empty list", "[]", 0 },
    { "a row without an address", "[{'recovery':'None'}]", 0 },
    { "another GPU", "[{'address':'0000:66:00.0','recovery':'None'}]", 0 },
    { "a GPU that answers", "[{" A ",'serial':'1'}]", HEARD_ANSWERS },
    { "behind another one", "[{'address':'0000:66:00.0'},{" A "}]", HEARD_ANSWERS },
    { "a lost GPU", "[{" A ",'lost':true}]", HEARD_SILENT },
    { "a GPU that hangs", "[{" A ",'hangs':true}]", HEARD_SILENT },
    { "nothing needs to be done", "[{" A ",'recovery':'None'}]",
      HEARD_ANSWERS | HEARD_RECOVERY | HEARD_NEEDS_NOTHING },
    { "a reset", "[{" A ",'recovery':'Reset'}]", HEARD_ANSWERS | HEARD_RECOVERY },
    { "an action of a newer agent", "[{" A ",'recovery':'Pray'}]", HEARD_ANSWERS },
    { "a fabric", "[{" A ",'fabric':'Healthy'}]", HEARD_ANSWERS | HEARD_FABRIC },
    { "row remaps", "[{" A ",'remapFailed':false}]", HEARD_ANSWERS | HEARD_REMAP },
    { "a row remap that waits", "[{" A ",'remapPending':true}]", HEARD_ANSWERS | HEARD_PENDING },
    { "memory errors", "[{" A ",'doubleBitErrors':0}]", HEARD_ANSWERS | HEARD_ECC },
    { "on-chip memory", "[{" A ",'sramExceeded':false}]", HEARD_ANSWERS | HEARD_SRAM },
};

static void check_row(void **state)
{
    const struct row *row = *state;
    struct gpu_heard h;
    CLEANUP_JSON json_t *health = tree(row->health);
    gpu_heard_read(health, &h);
    assert_int_equal(gpu_heard_of(&h, "0000:65:00.0"), row->heard);
    assert_int_equal(gpu_heard_of(&h, ""), 0);
    assert_true(gpu_heard_count(&h) >= (row->heard != 0) &&
                gpu_heard_count(&h) <= json_array_size(health));
}

static void check_too_many(void **state)
{
    (void) state;
    struct gpu_heard h;
    CLEANUP_JSON json_t *health = json_array();
    for (int i = 0; i <= HEARD_GPUS_MAX; i++)
        json_array_append_new(health, json_pack("{s:s}", "address", "0000:65:00.0"));
    gpu_heard_read(health, &h);
    assert_int_equal(gpu_heard_of(&h, "0000:65:00.0"), 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    suite_add(&s, "a list longer than an agent's counts as absent", check_too_many, NULL);
    return suite_run(&s, "gpu_heard");
}
