#include "tests/unit/support/gpu_node_case.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const struct drain_spec drain = {
    .taint_key = TAINT_UPGRADE, .wait_for_jobs_s = -1, .force = true, .delete_empty_dir = true
};

static void take_node(struct gpu_node_scene *s, const struct gpu_node_case *c)
{
    CLEANUP_FREE char *ready = c->condition ? xasprintf("{'type':'GpuReady',%s}", c->condition)
                                            : NULL,
                      *healthy = c->healthy ? xasprintf("{'type':'GpuHealthy',%s}", c->healthy)
                                            : NULL;
    CLEANUP_FREE char *text = xasprintf(
        "{'metadata':{'name':'a','uid':'u'%s},'status':{'conditions':[%s%s%s]}}",
        str_or_empty(c->node), str_or_empty(ready), ready && healthy ? "," : "",
        str_or_empty(healthy));
    CLEANUP_JSON json_t *object = tree(text);
    s->node = node_project(s->strings, object);
}

static void take_pods(struct gpu_node_scene *s, const struct gpu_node_case *c)
{
    CLEANUP_FREE char *text = xasprintf("[%s]", str_or_empty(c->pods));
    CLEANUP_JSON json_t *objects = tree(text);
    size_t i;
    json_t *object;
    json_array_foreach (objects, i, object) {
        struct pod *p = pod_project_any(s->strings, "ops", NULL, object);
        assert_non_null(p);
        p->next_on_node = s->pods;
        s->pods = p;
    }
}

static void take_report(struct gpu_node_scene *s, const struct gpu_node_case *c)
{
    if (!c->report)
        return;
    CLEANUP_FREE char *text = xasprintf("{'metadata':{'name':'a','uid':'r','ownerReferences':[{'"
                                        "kind':'Node','uid':'%s'}]},'status':{%s}}",
                                        c->owner ? c->owner : "u", c->report);
    CLEANUP_JSON json_t *object = tree(text);
    s->report = gpu_node_project(object);
}

static void take_holders(struct gpu_node_scene *s, const struct gpu_node_case *c)
{
    CLEANUP_FREE char *text = xasprintf("{'holders':[%s]}", str_or_empty(c->holders));
    CLEANUP_JSON json_t *inventory = tree(text);
    s->holders = node_holders_read(inventory);
}

static void take_verdict(struct gpu_node_scene *s, const struct gpu_node_case *c)
{
    struct node_verdict v = { .state = c->state,
                              .reason = reason_parse(c->reason),
                              .word = c->reason,
                              .message = c->message,
                              .gpu = c->gpu,
                              .pod = c->pod,
                              .trouble = c->trouble,
                              .next_text = c->next,
                              .next_s = c->next ? INT64_MAX : 0,
                              .moving = c->next != NULL,
                              .cause = c->pod ? OPERAND_TOOLKIT : OPERAND_NONE,
                              .carried = { { "d1", "s1" } },
                              .target = { { "d2", "s1" } } };
    if (c->off)
        *v.carried.hash[TIER_DRIVER] = *v.carried.hash[TIER_STACK] = *v.target.hash[TIER_DRIVER] =
            *v.target.hash[TIER_STACK] = '\0';
    s->summary.name = "a";
    assert_true(tally_set(&s->tally, &s->summary, &v));
}

void gpu_node_scene_init(struct gpu_node_scene *s, const struct gpu_node_case *c)
{
    *s = (struct gpu_node_scene){ .strings = intern_new() };
    take_node(s, c);
    take_pods(s, c);
    take_report(s, c);
    take_holders(s, c);
    take_verdict(s, c);
    s->in = (struct gpu_node_input){ .name = "a",
                                     .node = c->gone ? NULL : s->node,
                                     .summary = c->gone ? NULL : &s->summary,
                                     .pods = s->pods,
                                     .report = s->report,
                                     .told_ms = c->told_ms,
                                     .reports_exist = !c->no_crd,
                                     .managing = c->managing,
                                     .agent = c->agent,
                                     .version[TIER_DRIVER] = c->off ? NULL : "580",
                                     .version[TIER_STACK] = c->off ? NULL : "1.18",
                                     .generation = 4,
                                     .now = NOW,
                                     .strings = s->strings,
                                     .drain = &drain,
                                     .refused = c->refused,
                                     .hold = c->hold,
                                     .gpus = c->gpus,
                                     .product = c->product,
                                     .words = c->words,
                                     .failed = c->failed,
                                     .runs = c->runs,
                                     .failure = c->failure ? c->failure : "gpu-1 NoAllocatableGpus",
                                     .failed_retry = "twfs0h0r29.2",
                                     .holders = s->holders,
                                     .wanted_since = BEFORE,
                                     .target_version = "581",
                                     .retry = "twfs0h0r29.2" };
}

void gpu_node_scene_clear(struct gpu_node_scene *s)
{
    actions_clear(&s->actions);
    arena_free(&s->arena);
    tally_remove(&s->tally, &s->summary);
    tally_clear(&s->tally);
    if (s->report)
        gpu_node_free(s->report);
    node_holders_free(s->holders);
    node_free(s->strings, s->node);
    while (s->pods) {
        struct pod *p = s->pods;
        s->pods = p->next_on_node;
        pod_free(s->strings, p);
    }
    assert_int_equal(intern_count(s->strings), 0);
    intern_free(s->strings);
}

json_t *gpu_node_scene_body(const struct gpu_node_scene *s, enum verb verb)
{
    for (size_t i = 0; i < s->actions.len; i++) {
        const struct request *request = &s->actions.items[i].request;
        if (s->actions.items[i].verb == verb)
            return json_parse(request->body, strlen(request->body), NULL);
    }
    return NULL;
}

static void expect_part(const struct gpu_node_scene *s, enum verb verb, const char *path,
                        const char *want)
{
    CLEANUP_JSON json_t *body = gpu_node_scene_body(s, verb);
    if (!want) {
        assert_null(body);
        return;
    }
    const json_t *part = json_at(body, path);
    assert_tree(json_is_array(part) ? json_array_get(part, 0) : part, want);
}

void gpu_node_case_check(const struct gpu_node_case *c)
{
    struct gpu_node_scene s;
    gpu_node_scene_init(&s, c);
    CLEANUP_BUF struct buf requests = BUF_INIT(4096);
    assert_int_equal(gpu_node_plan(&s.in, &s.arena, &s.actions), c->said != NULL);
    for (size_t i = 0; i < s.actions.len; i++)
        buf_printf(&requests, "%s %s\n", s.actions.items[i].request.method,
                   s.actions.items[i].request.path);
    assert_string_equal(buf_text(&requests), c->requests);
    expect_part(&s, VERB_STATUS, "status", c->status);
    expect_part(&s, VERB_CONDITION, "status.conditions", c->said);
    assert_int_equal(s.actions.requeue_after_ms, c->again_ms);
    gpu_node_scene_clear(&s);
}
