/* Any two JSON objects, divided by a zero byte, as records of revisions (ControllerRevisions),
 * whose annotations any client with the permission may have written: no crash; which of them a pool
 * prefers to keep does not depend on their order; and the content of a record settles: an hour
 * later the only edit left is to remove annotations that no longer apply. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/records.h"
#include "tests/fuzz/two_texts.h"

#define HASH "aaaaaaaaaa"
#define POOL "default"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_order(const struct child *a, const struct child *b)
{
    int order = record_order(a, b, POOL), back = record_order(b, a, POOL);
    if ((order < 0) != (back > 0) || record_order(a, a, POOL) != 0 ||
        record_standing_same(a, b) != record_standing_same(b, a) || !record_standing_same(a, a))
        abort();
    if (record_time_s(a, ANNOTATION_COMPLETED, POOL) < 0 ||
        (record_has_failed(a, POOL) && !child_has_failed(a)))
        abort();
}

static void check_written(struct cluster_view *v, struct child *record)
{
    json_t *said = record->annotations;
    v->now = "2026-11-20T10:00:00Z";
    CLEANUP_JSON json_t *wanted = record_annotations(v, "driver", HASH, record);
    record->annotations = wanted;
    v->now = "2026-11-20T11:00:00Z";
    CLEANUP_JSON json_t *later = record_annotations(v, "driver", HASH, record);
    record->annotations = later;
    CLEANUP_JSON json_t *again = record_annotations(v, "driver", HASH, record);
    if (!json_equal(later, again) || json_object_size(later) > json_object_size(wanted))
        abort();
    record_is_held(v, record);
    record->annotations = said;
}

/* One node runs a revision, under the usual policy. */
static void check(struct child *a, struct child *b, bool settled)
{
    CLEANUP_JSON json_t *object = json_pack("{s:{s:s, s:s}, s:{}}", "metadata", "name", POLICY_NAME,
                                            "uid", "u1", "spec");
    const struct child *children[] = { a, b };
    struct policy policy;
    struct policy_problems problems = { 0 };
    struct tally tally = { 0 };
    struct node_summary node = { .name = "n" };
    struct node_verdict verdict = { .state = NODE_READY, .cause = OPERAND_NONE };
    snprintf(verdict.carried.hash[TIER_DRIVER], sizeof verdict.carried.hash[TIER_DRIVER], HASH);
    snprintf(verdict.target.hash[TIER_DRIVER], sizeof verdict.target.hash[TIER_DRIVER], HASH);
    if (policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true },
                      &policy, &problems) < 0)
        abort();
    tally_set(&tally, &node, &verdict);
    struct cluster_view v = { .object = object,
                              .policy = &policy,
                              .targets = targets_new(&policy, &(struct target_sources){ 0 }),
                              .tally = &tally,
                              .settled = settled,
                              .children = children,
                              .child_count = 2 };
    check_written(&v, a);
    check_order(a, b);
    targets_free(v.targets);
    tally_remove(&tally, &node);
    tally_clear(&tally);
    policy_clear(&policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    CLEANUP_JSON json_t *first = NULL, *second = NULL;
    two_texts(data + 1, size - 1, &first, &second);
    if (!json_is_object(first) || !json_is_object(second))
        return 0;
    struct child *a = child_project(RESOURCE_REVISION, first),
                 *b = child_project(RESOURCE_REVISION, second);
    struct child *again = child_project(RESOURCE_REVISION, first);
    if (!child_same(a, again))
        abort();
    check(a, b, data[0] & 1);
    child_free(a);
    child_free(b);
    child_free(again);
    return 0;
}
