#include "sim/api/path.h"

#include "tests/unit/support/suite.h"

/* What a target leads to, written as "END plural ns name sub" with "-" for what is empty. */
static const struct target_row {
    const char *name;
    const char *target;
    const char *want;
} targets[] = {
    { "all objects of a kind", "/api/v1/nodes", "COLLECTION nodes - - -" },
    { "a slash at the end counts for nothing", "/api/v1/pods/", "COLLECTION pods - - -" },
    { "one object", "/api/v1/nodes/gpu-1", "OBJECT nodes - gpu-1 -" },
    { "its status", "/api/v1/nodes/gpu-1/status", "OBJECT nodes - gpu-1 status" },
    { "in a namespace", "/api/v1/namespaces/jobs/pods", "COLLECTION pods jobs - -" },
    { "an object in a namespace", "/apis/apps/v1/namespaces/ops/daemonsets/driver",
      "OBJECT daemonsets ops driver -" },
    { "an eviction", "/api/v1/namespaces/jobs/pods/p/eviction", "OBJECT pods jobs p eviction" },
    { "a namespace", "/api/v1/namespaces/jobs", "OBJECT namespaces - jobs -" },
    { "a namespace's status", "/api/v1/namespaces/jobs/status", "OBJECT namespaces - jobs status" },
    { "all namespaces", "/api/v1/namespaces", "COLLECTION namespaces - - -" },
    { "a custom kind", "/apis/ostler.dev/v1alpha1/gpuclusterpolicies/default",
      "OBJECT gpuclusterpolicies - default -" },
    { "encoded letters are those letters", "/api/v1/nodes/gpu%2D1", "OBJECT nodes - gpu-1 -" },
    { "an encoded slash cuts, too", "/api/v1/nodes/a%2Fstatus", "OBJECT nodes - a status" },
    { "a plus in a path is a plus", "/api/v1/nodes/a+b", "OBJECT nodes - a+b -" },
    { "a query is no part of it", "/api/v1/nodes?limit=1", "COLLECTION nodes - - -" },
    { "both kinds of events", "/apis/events.k8s.io/v1/namespaces/a/events",
      "COLLECTION events a - -" },
    { "no such resource of a group", "/apis/apps/v1/foos", "NO_KIND" },
    { "no such resource of the core", "/api/v1/foos", "NO_KIND" },
    { "no such version of a group", "/apis/apps/v2/daemonsets", "NO_KIND" },
    { "no such group", "/apis/foo.example/v1/xs", "NO_GROUP" },
    { "no such resource of a custom group", "/apis/ostler.dev/v1alpha1/foos", "NO_GROUP" },
    { "an object in no namespace that needs one", "/api/v1/pods/p", "NO_KIND" },
    { "an object in a namespace that has none", "/api/v1/namespaces/default/nodes", "NO_KIND" },
    { "no such subresource", "/api/v1/nodes/a/foo", "NO_KIND" },
    { "a subresource that this kind lacks", "/api/v1/namespaces/a/configmaps/c/status", "NO_KIND" },
    { "below a subresource", "/api/v1/nodes/a/status/b", "NO_KIND" },
    { "an empty segment", "/api/v1//nodes", "NO_KIND" },
    { "an empty namespace", "/api/v1/namespaces//pods", "NO_KIND" },
    { "the list of groups", "/apis", "ELSEWHERE" },
    { "a group's resources", "/apis/apps/v1", "NO_KIND" },
    { "health", "/healthz", "ELSEWHERE" },
    { "the root", "/", "ELSEWHERE" },
    { "no path", "nodes", "BROKEN" },
    { "nothing", "", "BROKEN" },
    { "half an escape", "/api/v1/nodes/a%2", "BROKEN" },
    { "an escape of no number", "/api/v1/nodes/%zz", "BROKEN" },
    { "a NUL", "/api/v1/nodes/a%00b", "BROKEN" },
    { "more segments than any path has", "/1/2/3/4/5/6/7/8/9/10/11/12/13", "BROKEN" },
};

static const char *or_dash(const char *s)
{
    return *s ? s : "-";
}

static void check_target(void **state)
{
    const struct target_row *row = *state;
    static const char *const ends[] = {
        [PATH_BROKEN] = "BROKEN",   [PATH_ELSEWHERE] = "ELSEWHERE",   [PATH_NO_GROUP] = "NO_GROUP",
        [PATH_NO_KIND] = "NO_KIND", [PATH_COLLECTION] = "COLLECTION", [PATH_OBJECT] = "OBJECT",
    };
    CLEANUP_PATH struct path p;
    path_parse(row->target, &p);
    bool found = p.end == PATH_COLLECTION || p.end == PATH_OBJECT;
    CLEANUP_FREE char *got = found
                                 ? xasprintf("%s %s %s %s %s", ends[p.end], p.kind->plural,
                                             or_dash(p.ns), or_dash(p.name), or_dash(p.subresource))
                                 : xstrdup(ends[p.end]);
    assert_string_equal(got, row->want);
}

static void check_events_have_two_kinds(void **state)
{
    (void) state;
    CLEANUP_PATH struct path core, events;
    path_parse("/api/v1/events", &core);
    path_parse("/apis/events.k8s.io/v1/events", &events);
    assert_string_equal(core.kind->group, "");
    assert_string_equal(events.kind->group, "events.k8s.io");
}

static void check_parameters(void **state)
{
    (void) state;
    CLEANUP_PATH struct path p;
    path_parse(
        "/api/v1/nodes?labelSelector=a%3Db,c+in+(d)&limit=%zz&watch&limit=5&limit=6&=x&empty=", &p);
    assert_string_equal(path_parameter(&p, "labelSelector"), "a=b,c in (d)");
    assert_string_equal(path_parameter(&p, "limit"), "5");
    assert_string_equal(path_parameter(&p, "watch"), "");
    assert_string_equal(path_parameter(&p, "empty"), "");
    assert_null(path_parameter(&p, "continue"));
}

static const struct flag_row {
    const char *name;
    const char *target;
    bool want;
} flags[] = {
    { "true is yes", "/a?watch=true", true },
    { "1 is yes", "/a?watch=1", true },
    { "any word is yes", "/a?watch=foo", true },
    { "nothing said of it is yes", "/a?watch", true },
    { "false is no", "/a?watch=False", false },
    { "0 is no", "/a?watch=0", false },
    { "absent is no", "/a", false },
};

static void check_flag(void **state)
{
    const struct flag_row *row = *state;
    CLEANUP_PATH struct path p;
    path_parse(row->target, &p);
    assert_int_equal(path_flag(&p, "watch"), row->want);
}

static void check_numbers(void **state)
{
    (void) state;
    CLEANUP_PATH struct path p;
    CLEANUP_REFUSAL struct refusal r = { 0 };
    int64_t n;
    path_parse("/a?limit=12&timeoutSeconds=1x&empty=&huge=-99999999999999999999", &p);
    assert_int_equal(path_number(&p, "limit", 7, &n, &r), 0);
    assert_int_equal(n, 12);
    assert_int_equal(path_number(&p, "empty", 7, &n, &r), -1);
    assert_string_equal(r.message, "strconv.ParseInt: parsing \"\": invalid syntax");
    assert_int_equal(path_number(&p, "huge", 7, &n, &r), -1);
    assert_string_equal(r.message,
                        "strconv.ParseInt: parsing \"-99999999999999999999\": value out of range");
    assert_int_equal(path_number(&p, "absent", 7, &n, &r), 0);
    assert_int_equal(n, 7);
    assert_int_equal(path_number(&p, "timeoutSeconds", 7, &n, &r), -1);
    assert_int_equal(r.code, 400);
    assert_string_equal(r.message, "strconv.ParseInt: parsing \"1x\": invalid syntax");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_target, targets);
    SUITE_ROWS(&s, check_flag, flags);
    suite_add(&s, "events have two kinds", check_events_have_two_kinds, NULL);
    suite_add(&s, "parameters are decoded, broken ones left out, the first of a name counts",
              check_parameters, NULL);
    suite_add(&s, "numbers", check_numbers, NULL);
    return suite_run(&s, "sim_api/path");
}
