/* What people hear of a rollout: each thing with the write that records it, and nothing of what was
 * recorded before. */
#include "reconcilers/decide/rollout_events.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define T1 "2026-11-20T10:00:00Z"
#define T2 "2026-11-20T11:00:00Z"

static const struct row {
    const char *name;
    /* annotations of the record without their prefix; NULL: there is no record */
    const char *before;
    const char *after;
    const char *other;   /* of another revision of the tier; NULL: there is none */
    const char *want;    /* reasons */
    const char *part;    /* of the first note */
    const char *rollout; /* of the policy */
    const char *version; /* of the other revision; NULL: the same */
    const char *tier;    /* of the other revision; NULL: driver */
} rows[] = {
    { "a first installation is no rollout", NULL, "'target-default':'" T1 "'", NULL, "", NULL, NULL,
      NULL, NULL },
    { "nor does it complete one", "'target-default':'" T1 "'",
      "'target-default':'" T1 "','ran-default':'" T2 "','completed-default':'" T2 "'", NULL, "",
      NULL, NULL, NULL, NULL },
    { "another revision is wanted", NULL, "'target-default':'" T1 "'", "'ran-default':'" T1 "'",
      "RolloutStarted ",
      "driver 580.178.04 (revision aaaaaaaaaa), pool default: the policy asks for it on nodes",
      NULL, NULL, NULL },
    { "another version needs no hash", NULL, "'target-default':'" T1 "'", "'ran-default':'" T1 "'",
      "RolloutStarted ", "driver 580.178.04, pool default: the policy asks for it on nodes", NULL,
      "570.133.20", NULL },
    { "what ran in another pool", NULL, "'target-default':'" T1 "'", "'ran-h100':'" T1 "'", "",
      NULL, NULL, NULL, NULL },
    { "what is recorded is no news", "'target-default':'" T1 "'", "'target-default':'" T1 "'",
      "'ran-default':'" T1 "'", "", NULL, NULL, NULL, NULL },
    { "the canary is up", "'target-default':'" T1 "'",
      "'target-default':'" T1 "','canary-default':'" T2 "'", NULL, "CanaryReady ", "since " T2,
      NULL, NULL, NULL },
    { "a wave begins", NULL, "'wave-default':'running'", NULL, "WaveStarted ",
      "the next wave begins", NULL, NULL, NULL },
    { "a wave is over", "'wave-default':'running'", "'wave-default':'" T2 "'", NULL,
      "WaveCompleted ", "since " T2, NULL, NULL, NULL },
    { "a revision fails", NULL, "'failed-default':'" T1 " gpu-1 CrashLoopBackOff'", NULL,
      "RevisionFailed! ",

      "pool default: it failed on gpu-1 with CrashLoopBackOff, and no other node of "
      "this pool gets it; Ostler rolls back the nodes on which "
      "it failed and those that are being upgraded",
      NULL, NULL, NULL },
    { "and everything stays", NULL, "'failed-default':'" T1 " gpu-1 CrashLoopBackOff'", NULL,
      "RevisionFailed! ", "Ostler rolls no node back", "'onFailure':'Pause'", NULL, NULL },
    { "a failure that was recorded", "'failed-default':'" T1 " gpu-1 Error'",
      "'failed-default':'" T1 " gpu-1 Error'", NULL, "", NULL, NULL, NULL, NULL },
    { "a person asks again", "'failed-default':'" T1 " gpu-1 Error'",
      "'retried-default':'" T2 " aaaaaaaaaa'", NULL, "RevisionRetried ", "a user asked", NULL, NULL,
      NULL },
    { "the failure that is taken back is no other one", "'failed-default':'" T1 " gpu-1 Error'",
      "'failed-default':'','retried-default':'" T2 " aaaaaaaaaa'", NULL, "RevisionRetried ",
      "a user asked", NULL, NULL, NULL },
    { "the first failure has the hash in its command", NULL,
      "'failed-default':'" T1 " gpu-1 Error'", NULL, "RevisionFailed! ",
      "retry the revision: kubectl annotate gpuclusterpolicy default ostler.dev/retry=aaaaaaaaaa "
      "--overwrite",
      NULL, NULL, NULL },
    { "the next one has another value", "'retried-default':'" T1 "'",
      "'retried-default':'" T1 "','failed-default':'" T2 " gpu-1 Error'", NULL, "RevisionFailed! ",
      "ostler.dev/retry=aaaaaaaaaa.2 --overwrite", NULL, NULL, NULL },
    { "and the one after that", "'retried-default':'" T1 " aaaaaaaaaa.2'",
      "'retried-default':'" T1 " aaaaaaaaaa.2','failed-default':'" T2 " gpu-1 Error'", NULL,
      "RevisionFailed! ", "ostler.dev/retry=aaaaaaaaaa.3 --overwrite", NULL, NULL, NULL },
    { "all nodes run it", "'target-default':'" T1 "'",
      "'target-default':'" T1 "','completed-default':'" T2 "'", "'ran-default':'" T1 "'",
      "RolloutCompleted ", "from now on Ostler rolls back to it", NULL, NULL, NULL },
    { "they went back", "'completed-default':'" T1 "'", "'completed-default':'" T2 "'",
      "'failed-default':'" T1 " gpu-1 Error'", "RolledBack ", "every node that was rolled back",
      NULL, NULL, NULL },
    { .name = "what failed of another tier is no rollback of this one",
      .before = "'target-default':'" T1 "'",
      .after = "'completed-default':'" T2 "'",
      .other = "'failed-default':'" T1 " gpu-1 Error'",
      .want = "",
      .tier = "stack" },
    { "two pools at once", NULL, "'canary-default':'" T1 "','canary-h100':'" T1 "'", NULL,
      "CanaryReady CanaryReady ", "pool default", NULL, NULL, NULL },
};

/* With the prefix of the keys. New reference. */
static json_t *annotations(const char *text)
{
    CLEANUP_FREE char *whole = xasprintf("{%s}", str_or_empty(text));
    CLEANUP_JSON json_t *brief = tree(whole);
    json_t *out = json_object(), *value;
    const char *key;
    json_object_foreach (brief, key, value) {
        CLEANUP_FREE char *name = xasprintf("ostler.dev/%s", key);
        json_object_set(out, name, value);
    }
    return out;
}

static struct child record_of(const char *revision, const char *tier, const char *version,
                              const char *text)
{
    CLEANUP_FREE char *inputs = xasprintf("{'tier':'%s','version':'%s'}", tier, version);
    return (struct child){ .head = { .key = (char *) revision },
                           .resource = RESOURCE_REVISION,
                           .policy_uid = (char *) "u",
                           .revision = (char *) revision,
                           .inputs = tree(inputs),
                           .annotations = annotations(text) };
}

static void record_clear(struct child *c)
{
    json_decref(c->inputs);
    json_decref(c->annotations);
}

static void check(void **state)
{
    const struct row *row = *state;
    struct child own = record_of("ops/driver-aaaaaaaaaa", "driver", "580.178.04", row->before);
    struct child other = record_of("ops/driver-bbbbbbbbbb", row->tier ? row->tier : "driver",
                                   row->version ? row->version : "580.178.04", row->other);
    own.revision = (char *) "aaaaaaaaaa";
    other.revision = (char *) "bbbbbbbbbb";
    const struct child *children[] = { &own, &other };
    CLEANUP_FREE char *text = xasprintf(
        "{'metadata':{'name':'default','uid':'u'},'spec':{'rollout':{%s}}}",
        str_or_empty(row->rollout));
    CLEANUP_JSON json_t *policy = tree(text), *after = annotations(row->after),
                        *body = json_object();
    struct cluster_view v = { .object = policy,
                              .children = children,
                              .child_count = row->other ? 2 : 1,
                              .operand_namespace = "ops" };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    CLEANUP_BUF struct buf got = BUF_INIT(1000);
    actions_add(&actions, request_apply(RESOURCE_REVISION, "ops", "driver-aaaaaaaaaa", body),
                VERB_APPLY, "x", "Changed", "m");
    rollout_events(&v, "driver", "aaaaaaaaaa", row->before ? &own : NULL, after, &actions);
    for (size_t i = 0; i < actions.notice_count; i++) {
        buf_printf(&got, "%s%s ", actions.notices[i].reason, actions.notices[i].warning ? "!" : "");
        assert_int_equal(actions.notices[i].of_action, 1);
        assert_int_equal(actions.notices[i].share, EVENTS_OF_ROLLOUTS);
        assert_string_equal(actions.notices[i].name, "default");
    }
    assert_string_equal(buf_text(&got), row->want);
    if (row->part && !strstr(actions.notices[0].note, row->part))
        fail_msg("\"%s\" is not in \"%s\"", row->part, actions.notices[0].note);
    record_clear(&own);
    record_clear(&other);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "rollout_events");
}
