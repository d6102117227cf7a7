/* The end of a failed container's log: asked for once, also by an Ostler that was started since,
 * and gone with the next upgrade. */
#include "reconcilers/log_tail.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

#define POD "ostler-operands/driver-1"
#define KEY "gpu-1 " POD " driver"
#define PATH                                                                                       \
    "GET "                                                                                         \
    "/api/v1/namespaces/ostler-operands/pods/driver-1/"                                            \
    "log?container=driver&tailLines=20&limitBytes=16384"

struct fixture {
    struct testbed bed;
    struct buf log; /* questions and Events, a line each */
    struct node_slot *slot;
};

static void on_question(void *arg, const char *key, struct request request_steal)
{
    struct fixture *f = arg;
    buf_printf(&f->log, "%s: %s %s\n", key, request_steal.method, request_steal.path);
    request_clear(&request_steal);
}

static void on_notice(void *arg, const struct notice *n)
{
    struct fixture *f = ((const struct reconcilers *) arg)->arg;
    buf_printf(&f->log, "%s %s: %s\n", n->name, n->reason, n->note);
}

static void put_pod(struct fixture *f, const char *status)
{
    CLEANUP_FREE char *text = xasprintf(
        "{'metadata':{'name':'driver-1','namespace':'ostler-operands','uid':'p','labels':{"
        "'app.kubernetes.io/managed-by':'ostler','app.kubernetes.io/component':'driver'},"
        "'ownerReferences':[{'kind':'DaemonSet','controller':true}]},'spec':{'nodeName':'gpu-1'},"
        "'status':{'containerStatuses':[{'name':'driver',%s}]}}",
        status);
    testbed_put(&f->bed, RESOURCE_POD, tree(text));
}

static void put_report(struct fixture *f, const char *words)
{
    CLEANUP_FREE char *text = xasprintf(
        "{'metadata':{'name':'gpu-1','uid':'r','resourceVersion':'1'},'status':{'lastWords':%s}}",
        words);
    CLEANUP_JSON json_t *report = tree(text);
    table_event(&f->bed.cluster->tables[RESOURCE_GPU_NODE], report, false);
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    CLEANUP_JSON json_t *brief = tree("{}"), *policy = tree("{'spec':{}}");
    testbed_init(&f->bed, policy);
    f->log = (struct buf) BUF_INIT(8192);
    f->bed.passes->read_text = on_question;
    f->bed.passes->notice = on_notice;
    f->bed.passes->arg = f;
    testbed_put(&f->bed, RESOURCE_NODE, testbed_node(brief));
    f->slot = map_get(&f->bed.cluster->slots, "gpu-1");
    put_pod(f, "'restartCount':0,'state':{'terminated':{'exitCode':1,'reason':'Error'}}");
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    testbed_clear(&f->bed);
    buf_clear(&f->log);
    free(f);
    return 0;
}

static void expect(struct fixture *f, const char *want)
{
    assert_string_equal(buf_text(&f->log), want);
    buf_reset(&f->log);
}

static void pass(struct fixture *f, enum node_state state, bool moving, bool restoring)
{
    struct node_verdict v = {
        .state = state, .pod = POD, .moving = moving, .restoring = restoring
    };
    log_tail_request(f->bed.passes, f->slot, &v);
}

static void answer(struct fixture *f, const char *key, const char *text)
{
    log_tail_take(f->bed.passes, key, text, text ? strlen(text) : 0);
}

static void one_question_for_one_failure(void **state)
{
    struct fixture *f = *state;
    pass(f, NODE_FAILED, false, false);
    pass(f, NODE_FAILED, false, false);
    expect(f, KEY ": " PATH "\n");
    answer(f, KEY, "compiling\n\033[31mno headers\033[0m\n");
    expect(f, "gpu-1 ContainerFailed: container driver of pod " POD
              " failed; its log ends: compiling\nno headers\n");
    pass(f, NODE_FAILED, false, false);
    expect(f, "");
    assert_string_equal(f->slot->words->text, "compiling\nno headers");
}

static void a_run_that_has_been_followed_by_another(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "'restartCount':1,'state':{'running':{}},'lastState':{'terminated':{'exitCode':1}}");
    pass(f, NODE_FAILED, false, false);
    expect(f, KEY ": " PATH "&previous=true\n");
}

static void expect_no_request(struct fixture *f, enum node_state state)
{
    pass(f, state, false, false);
    expect(f, "");
}

static void nothing_has_failed(void **state)
{
    struct fixture *f = *state;
    expect_no_request(f, NODE_INSTALLING);
    /* nothing has ever run there */
    put_pod(f, "'restartCount':0,'state':{'waiting':{'reason':'ImagePullBackOff'}}");
    expect_no_request(f, NODE_FAILED);
}

static void what_is_not_said_is_left_out(void **state)
{
    struct fixture *f = *state;
    pass(f, NODE_FAILED, false, false);
    buf_reset(&f->log);
    answer(f, KEY, NULL);
    answer(f, KEY, " \n");
    answer(f, "gpu-1 " POD " other", "of another container");
    answer(f, "gpu-9 " POD " driver", "of another node");
    expect(f, "");
    assert_null(f->slot->words->text);
}

static void a_report_is_remembered_after_a_start(void **state)
{
    struct fixture *f = *state;
    put_report(f, "{'pod':'" POD "','container':'driver','text':'no headers'}");
    expect_no_request(f, NODE_FAILED);
    assert_string_equal(f->slot->words->text, "no headers");
}

/* Long before its time is over people want to know why it does not come up; on the way back what
 * counts is what failed before. */
static void who_does_not_come_up_is_asked(void **state)
{
    struct fixture *f = *state;
    struct node_verdict v = { .state = NODE_INSTALLING,
                              .pod = POD,
                              .moving = true,
                              .restoring = true,
                              .trouble = "CrashLoopBackOff: m" };
    log_tail_request(f->bed.passes, f->slot, &v);
    expect(f, "");
    v.restoring = false;
    log_tail_request(f->bed.passes, f->slot, &v);
    expect(f, KEY ": " PATH "\n");
    answer(f, KEY, "no headers");
    buf_reset(&f->log);
    v.trouble = NULL; /* it runs, until it crashes again */
    log_tail_request(f->bed.passes, f->slot, &v);
    v.trouble = "CrashLoopBackOff: m";
    log_tail_request(f->bed.passes, f->slot, &v);
    expect(f, "");
    assert_string_equal(f->slot->words->text, "no headers");
}

static void they_go_with_the_next_upgrade_and_stay_on_the_way_back(void **state)
{
    struct fixture *f = *state;
    pass(f, NODE_FAILED, false, false);
    answer(f, KEY, "no headers");
    pass(f, NODE_UNLOADING, true, true);
    assert_non_null(f->slot->words);
    pass(f, NODE_UNLOADING, true, false);
    assert_null(f->slot->words);
}

int main(void)
{
    static const struct suite_check rows[] = {
        { "one question for one failure", one_question_for_one_failure },
        { "a run that has been followed by another", a_run_that_has_been_followed_by_another },
        { "nothing has failed", nothing_has_failed },
        { "what is not said is left out", what_is_not_said_is_left_out },
        { "a report is remembered after a start", a_report_is_remembered_after_a_start },
        { "who does not come up is asked", who_does_not_come_up_is_asked },
        { "they go with the next upgrade, and stay on the way back",
          they_go_with_the_next_upgrade_and_stay_on_the_way_back },
    };
    struct suite s = { 0 };
    SUITE_CHECKS(&s, rows, set_up, tear_down);
    return suite_run(&s, "last_words");
}
