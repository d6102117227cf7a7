/* Which of Ostler's own Events are kept, and for how long. */
#include "reconcilers/recent_events.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static void add(struct recent_events *r, enum resource_id resource, const char *name,
                const char *note, int64_t now_s)
{
    const struct notice n = { .resource = resource,
                              .name = (char *) name,
                              .reason = "Claimed",
                              .action = "Claim",
                              .note = (char *) note };
    recent_events_add(r, &n, now_s);
}

static void each_object_has_its_own(void **state)
{
    (void) state;
    struct recent_events r;
    recent_events_init(&r);
    add(&r, RESOURCE_NODE, "gpu-1", "a", 1);
    add(&r, RESOURCE_NODE, "gpu-2", "b", 2);
    add(&r, RESOURCE_GPU_NODE, "gpu-1", "c", 3);
    CLEANUP_JSON json_t *got = recent_events_of(&r, RESOURCE_NODE, "gpu-1");
    assert_tree(got, "[{'metadata': {'namespace': 'default'}, 'regarding': {'kind': 'Node', "
                     "'name': 'gpu-1'}, 'type': 'Normal', 'reason': 'Claimed', 'note': 'a', "
                     "'eventTime': '1970-01-01T00:00:01Z', 'deprecatedCount': 1, "
                     "'reportingController': 'ostler.dev/ostler'}]");
    recent_events_clear(&r);
    assert_int_equal(r.bytes, 0);
}

static void repeated_one_counts_and_is_the_newest(void **state)
{
    (void) state;
    struct recent_events r;
    recent_events_init(&r);
    add(&r, RESOURCE_NODE, "gpu-1", "a", 1);
    add(&r, RESOURCE_NODE, "gpu-1", "b", 2);
    add(&r, RESOURCE_NODE, "gpu-1", "a", 3);
    CLEANUP_JSON json_t *got = recent_events_of(&r, RESOURCE_NODE, "gpu-1");
    assert_int_equal(json_array_size(got), 2);
    assert_string_equal(json_str(json_array_get(got, 1), "note"), "a");
    assert_int_equal(json_int(json_array_get(got, 1), "deprecatedCount", 0), 2);
    recent_events_clear(&r);
}

static void memory_is_bounded_and_the_oldest_go(void **state)
{
    (void) state;
    struct recent_events r;
    recent_events_init(&r);
    char note[2 * RECENT_NOTE_MAX];
    for (int i = 0; i < 1000; i++) {
        memset(note, 'x', sizeof note - 1);
        note[sizeof note - 1] = '\0';
        note[0] = (char) ('a' + i % 26);
        note[1] = (char) ('a' + i / 26);
        add(&r, RESOURCE_NODE, "gpu-1", note, i);
        assert_in_range(r.bytes, 1, RECENT_EVENTS_MAX);
    }
    CLEANUP_JSON json_t *got = recent_events_of(&r, RESOURCE_NODE, "gpu-1");
    size_t n = json_array_size(got);
    assert_in_range(n, 40, RECENT_EVENTS_MAX / RECENT_NOTE_MAX);
    assert_in_range(strlen(json_str(json_array_get(got, 0), "note")), 1, RECENT_NOTE_MAX);
    assert_string_equal(json_str(json_array_get(got, n - 1), "eventTime"), "1970-01-01T00:16:39Z");
    recent_events_clear(&r);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "each object has its own", each_object_has_its_own, NULL);
    suite_add(&s, "a repeated one counts, and is the newest", repeated_one_counts_and_is_the_newest,
              NULL);
    suite_add(&s, "memory is bounded, and the oldest go", memory_is_bounded_and_the_oldest_go,
              NULL);
    return suite_run(&s, "recent_events");
}
