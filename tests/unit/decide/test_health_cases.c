/* Case files: tests/cases/health/ has one file per subject, no code. Each is a list; an item has
 *   about: what it shows
 *   bus: `gpus` of the agent's inventory    nvml: `health` of it    log: `faults` of it, each with
 *     what differs from one line of Xid 79 for 0000:65:00.0 in this boot, at 09:00:00
 *   module: version of the loaded driver ("580.95.05"; "": none is loaded)
 *   node, agent: boot of the node, and that of the agent's report ("now"; "": not known)
 *   driver: when the newest pod of its driver was created
 *   concluded: {level, reason, address}: what status.health has (0000:65:00.0)
 *   quiet: {from, until}: when the driver was being changed by Ostler
 *   spoke: NVML has reported in this boot what `concluded` shows (false)
 *   suspected: the node's driver failed by such faults (false)
 *   proofFailed: since when a failed proof shows that pods fail there
 *   keeps: level of `concluded` if it stands because NVML is silent; absent: it does not
 *   at: the present (10:00:00)              policy: {xid: level}
 *   is: null, or of the verdict level, reason, address ("": of no GPU; 0000:65:00.0), hard (false)
 *     and a part of the message
 * Times are of one day. Each case also holds that the message fits, and that the order of the facts
 * in the report does not matter. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "kube/object.h"
#include "reconcilers/decide/health_sentence.h"
#include "tests/unit/support/cases.h"

#define GPU "0000:65:00.0"

static json_t *time_of(const char *clock)
{
    return json_textf("2026-11-21T%sZ", clock);
}

static int64_t seconds_of(const json_t *item, const char *path, const char *otherwise)
{
    const char *text = json_str(item, path) ? json_str(item, path) : otherwise;
    CLEANUP_JSON json_t *at = text ? json_pack("{s:o}", "at", time_of(text)) : json_object();
    return object_time_s(at, "at");
}

/* A line of the log, from what differs. New reference. */
static json_t *fault_of(const json_t *differs)
{
    json_t *fault = json_pack("{s:s, s:i, s:i, s:s, s:s, s:s}", "address", GPU, "xid", 79, "count",
                              1, "first", "09:00:00", "last", "09:00:00", "bootId", "now");
    json_object_update(fault, (json_t *) differs);
    if (json_object_get(differs, "first") && !json_object_get(differs, "last"))
        json_object_set(fault, "last", json_object_get(differs, "first"));
    json_object_set_new(fault, "first", time_of(json_str(fault, "first")));
    json_object_set_new(fault, "last", time_of(json_str(fault, "last")));
    return fault;
}

/* The agent's inventory. `turned`: its lists the other way round. New reference. */
static json_t *inventory_of(const json_t *item, bool turned)
{
    const char *module = json_str(item, "module") ? json_str(item, "module") : "580.95.05",
               *boot = json_str(item, "agent") ? json_str(item, "agent") : "now";
    json_t *faults = json_array(), *gpus = json_array(), *one;
    size_t i;
    json_array_foreach (json_object_get(item, "log"), i, one)
        json_array_insert_new(faults, turned ? 0 : i, fault_of(one));
    json_array_foreach (json_object_get(item, "nvml"), i, one) {
        json_t *gpu = json_pack("{s:s}", "address", GPU);
        json_object_update(gpu, one);
        json_array_insert_new(gpus, turned ? 0 : i, gpu);
    }
    return json_pack("{s:s, s:O*, s:o, s:o, s:{s:b, s:s}}", "bootId", boot, "gpus",
                     json_object_get(item, "bus"), "health", gpus, "faults", faults, "module",
                     "loaded", *module != '\0', "version", module);
}

static void expect_text(const char *about, const char *what, const char *got, const char *want)
{
    if (!str_eq(got, want))
        fail_msg("%s: %s is %s, not %s", about, what, got, want);
}

static void check_verdict(const char *about, const json_t *want, const struct health_input *in)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct health_verdict v = health_judge(in);
    if (!json_is_object(want)) {
        expect_text(about, "level", health_level_name(v.level), "None");
        assert_int_equal(v.reason, REASON_NONE);
        return;
    }
    const char *address = json_str(want, "address") ? json_str(want, "address") : GPU,
               *message = health_sentence(in, &v, &a), *part = json_str_or_empty(want, "message");
    expect_text(about, "level", health_level_name(v.level), json_str(want, "level"));
    expect_text(about, "reason", health_word(&v, &a), json_str(want, "reason"));
    expect_text(about, "address", v.address, address);
    if (v.hard != json_bool(want, "hard", false))
        fail_msg("%s: it is %s", about, v.hard ? "hard" : "not hard");
    if (!strstr(message, part))
        fail_msg("%s: the message is\n%s\nwithout\n%s", about, message, part);
    assert_true(strlen(message) <= HEALTH_MESSAGE_MAX);
}

/* What the status has. Owned by the caller; NULL: nothing. */
static struct health_status *concluded_of(const json_t *item)
{
    const json_t *said = json_object_get(item, "concluded");
    CLEANUP_JSON json_t *health = json_pack("{s:s, s:o}", "address", GPU, "since",
                                            time_of("09:00:10"));
    CLEANUP_JSON json_t *status = json_pack("{s:O}", GPU_NODE_HEALTH, health);
    json_object_update(health, (json_t *) said);
    return said ? health_status_read(status) : NULL;
}

/* What stands of that because NVML is silent; `keeps`: its level. */
static void check_kept(const json_t *item, const struct health_input *in)
{
    const char *about = json_str_or_empty(item, "about"), *keeps = json_str(item, "keeps");
    const struct health_status *kept = health_kept(in);
    enum health_level level = health_judge(in).level;
    expect_text(about, "kept", kept ? health_level_name(kept->level) : NULL, keeps);
    assert_true(!kept || kept == in->concluded);
    assert_int_equal(health_level_of(in), kept && kept->level > level ? kept->level : level);
}

static void check_item(const json_t *item, bool turned)
{
    CLEANUP_JSON json_t *inventory = inventory_of(item, turned);
    CLEANUP_FREE struct node_inventory *seen = node_inventory_read(inventory);
    CLEANUP_FREE struct node_health *facts = node_health_read(inventory);
    CLEANUP_FREE struct health_status *concluded = concluded_of(item);
    const char *boot = json_str(item, "node") ? json_str(item, "node") : "now";
    struct health_input in = {
        .facts = facts,
        .inventory = seen,
        .boot = str_hash_id(boot),
        .concluded = concluded,
        .nvml_told = json_bool(item, "spoke", false),
        .driver_suspected = json_bool(item, "suspected", false),
        .proof_failed_s = seconds_of(item, "proofFailed", NULL),
        .driver_s = (uint32_t) seconds_of(item, "driver", NULL),
        .quiet = { (uint32_t) seconds_of(item, "quiet.from", NULL),
                   (uint32_t) seconds_of(item, "quiet.until", NULL) },
        .now_s = seconds_of(item, "at", "10:00:00"),
        .xids = json_object_get(item, "policy"),
    };
    check_verdict(json_str_or_empty(item, "about"), json_object_get(item, "is"), &in);
    check_kept(item, &in);
}

static void check_case(void **state)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(*state, NULL, &e);
    const json_t *items = json_array_get(documents, 0);
    if (json_array_size(items) == 0)
        fail_msg("%s", documents ? "a list is needed" : err_msg(&e));
    size_t i;
    json_t *item;
    json_array_foreach (items, i, item) {
        assert_non_null(json_object_get(item, "is"));
        check_item(item, false);
        check_item(item, true);
    }
}

int main(void)
{
    return cases_run("health_cases", "tests/cases/health", check_case);
}
