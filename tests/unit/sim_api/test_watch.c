#include "sim/api/state.h"
#include "tests/unit/sim_api/served.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static void put(struct served *s, const char *name, const char *labels)
{
    CLEANUP_FREE char *body = xasprintf("{'metadata': {'name': '%s', 'labels': %s}}", name, labels);
    served_expect(s, "POST " MAPS, body, 201);
}

static void label(struct served *s, const char *name, const char *labels)
{
    CLEANUP_FREE char *request = xasprintf("PATCH " MAPS "/%s", name);
    CLEANUP_FREE char *body = xasprintf("{'metadata': {'labels': %s}}", labels);
    served_expect(s, request, body, 200);
}

static void drop(struct served *s, const char *name)
{
    CLEANUP_FREE char *request = xasprintf("DELETE " MAPS "/%s", name);
    served_expect(s, request, NULL, 200);
}

/* A life of a few objects from version 6 on: what a watch from version 5 with this query tells. */
static const struct watch_row {
    const char *name;
    const char *query;
    const char *want;
} watches[] = {
    { "all that happened", "resourceVersion=5",
      "ADDED a@6 ADDED b@7 MODIFIED a@8 MODIFIED b@9 MODIFIED a@10 DELETED b@11 ADDED b@12" },
    { "from a version on", "resourceVersion=9", "MODIFIED a@10 DELETED b@11 ADDED b@12" },
    { "what begins and ceases to match", "resourceVersion=5&labelSelector=x%3D1",
      "ADDED a@6 DELETED a@8 ADDED b@9 ADDED a@10 DELETED b@11" },
    { "by name", "resourceVersion=5&fieldSelector=metadata.name%3Db",
      "ADDED b@7 MODIFIED b@9 DELETED b@11 ADDED b@12" },
    { "from now, with what there is", "", "ADDED a@10 ADDED b@12" },
    { "from any version, with what there is", "resourceVersion=0", "ADDED a@10 ADDED b@12" },
    { "with what there is and matches", "labelSelector=x%3D1", "ADDED a@10" },
    { "a list first, and a bookmark at its end",
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
      "ADDED a@10 ADDED b@12 BOOKMARK @12" },
    { "a list first, without bookmarks", "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
      "ADDED a@10 ADDED b@12" },
    { "no list, said so", "sendInitialEvents=false&resourceVersionMatch=NotOlderThan", "" },
    { "from a version that has not been", "resourceVersion=1000", "" },
};

static void check_watch(void **state)
{
    const struct watch_row *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    put(&s, "a", "{'x': '1'}");
    put(&s, "b", "{'x': '2'}");
    label(&s, "a", "{'x': '2'}");
    label(&s, "b", "{'x': '1'}");
    label(&s, "a", "{'x': '1'}");
    drop(&s, "b");
    put(&s, "b", "{}");
    CLEANUP_FREE char *request = xasprintf("GET /api/v1/configmaps?watch=true&%s", row->query);
    served_expect(&s, request, NULL, 200);
    assert_null(s.answer.body);
    served_expect_news(&s, row->want);
}

/* Starts a watch and keeps it across later requests. */
static struct api_watch *start(struct served *s, const char *target)
{
    CLEANUP_FREE char *request = xasprintf("GET %s", target);
    served_expect(s, request, NULL, 200);
    return TAKE(s->answer.watch);
}

static void expect_news(struct served *s, struct api_watch *w, const char *want)
{
    api_answer_clear(&s->answer);
    s->answer.watch = w;
    served_expect_news(s, want);
    s->answer.watch = NULL;
}

static void check_goes_on(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    struct api_watch *w = start(&s, MAPS "?watch=1");
    expect_news(&s, w, "");
    put(&s, "a", "{}");
    served_expect(&s, "POST /api/v1/namespaces/kube-public/configmaps",
                  "{'metadata': {'name': 'elsewhere'}}", 201);
    expect_news(&s, w, "ADDED a@6");
    expect_news(&s, w, "");
    assert_int_equal(api_watch_rv(w), 7);
    assert_string_equal(api_watch_kind(w)->plural, "configmaps");
    api_watch_free(w);
}

static void check_last_state(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    put(&s, "a", "{'x': '1'}");
    struct api_watch *w = start(&s, MAPS "?watch=1&resourceVersion=6&labelSelector=x%3D1");
    label(&s, "a", "{'x': '2'}");
    const char *frame;
    size_t n;
    assert_int_equal(api_watch_next(w, &frame, &n), API_WATCH_FRAME);
    CLEANUP_JSON json_t *event = json_loadb(frame, n, 0, NULL);
    assert_string_equal(json_str(event, "type"), "DELETED");
    assert_string_equal(json_str(event, "object.metadata.labels.x"), "1");
    assert_string_equal(json_str(event, "object.metadata.resourceVersion"), "7");
    api_watch_free(w);
}

static void check_bookmarks(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    struct api_watch *plain = start(&s, MAPS "?watch=1&resourceVersion=5");
    struct api_watch *marked = start(&s,
                                     MAPS "?watch=1&resourceVersion=5&allowWatchBookmarks=true");
    served_expect(&s, "POST /api/v1/namespaces", "{'metadata': {'name': 'x'}}", 201);
    size_t n;
    assert_null(api_watch_bookmark(plain, &n));
    expect_news(&s, marked, "");
    const char *line = api_watch_bookmark(marked, &n);
    CLEANUP_JSON json_t *event = json_loadb(line, n, 0, NULL);
    assert_tree(event, "{'type': 'BOOKMARK', 'object': {'kind': 'ConfigMap', 'apiVersion': 'v1', "
                       "'metadata': {'resourceVersion': "
                       "'6'}}}");
    api_watch_free(plain);
    api_watch_free(marked);
}

static void check_no_bookmark_before_the_list(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    put(&s, "a", "{}");
    struct api_watch *w = start(&s, MAPS "?watch=1&allowWatchBookmarks=true");
    size_t n;
    assert_null(api_watch_bookmark(w, &n));
    expect_news(&s, w, "ADDED a@6");
    assert_non_null(api_watch_bookmark(w, &n));
    api_watch_free(w);
}

static void check_forgotten(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    put(&s, "a", "{}");
    struct api_watch *behind = start(&s, MAPS "?watch=1&resourceVersion=5"),
                     *level = start(&s, MAPS "?watch=1&resourceVersion="
                                             "6");
    api_compact(s.api, 6);
    expect_news(&s, level, "");
    put(&s, "b", "{}");
    expect_news(&s, level, "ADDED b@7");
    const char *frame;
    size_t n;
    assert_int_equal(api_watch_next(behind, &frame, &n), API_WATCH_GONE);
    CLEANUP_JSON json_t *event = json_loadb(frame, n, 0, NULL);
    assert_tree(event,
                "{'type': 'ERROR', 'object': {'kind': 'Status', 'apiVersion': 'v1', 'metadata': "
                "{}, 'status': 'Failure', "
                "'message': 'too old resource version: 5 (7)', 'reason': 'Expired', 'code': 410}}");
    served_expect(&s, "GET " MAPS "?watch=1&resourceVersion=3", NULL, 200);
    served_expect_news(&s, "ERROR");
    api_watch_free(behind);
    api_watch_free(level);
}

static void check_history_grows_old(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    enum { KEEP_MS = 60000 };
    /* Each minute a write, and within it many calls. Their versions are 6 to 11. */
    for (int minute = 0; minute < 6; minute++) {
        char name[] = { (char) ('a' + minute), '\0' };
        put(&s, name, "{}");
        for (int at = 1; at <= 60; at++)
            api_forget_older(s.api, minute * KEEP_MS + at * 1000, KEEP_MS);
    }
    struct api_watch *level = start(&s, MAPS "?watch=1&resourceVersion=10");
    expect_news(&s, level, "ADDED f@11");
    served_expect(&s, "GET " MAPS "?watch=1&resourceVersion=9", NULL, 200);
    served_expect_news(&s, "ERROR");
    api_forget_older(s.api, 7 * KEEP_MS, KEEP_MS);
    expect_news(&s, level, ""); /* who has seen everything loses nothing */
    api_watch_free(level);
}

static void check_history_is_little_older(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    enum { KEEP_S = 60, LIFE_S = 600 };
    uint64_t versions[LIFE_S];
    for (int at = 0; at < LIFE_S; at++) {
        CLEANUP_FREE char *name = xasprintf("m%d", at);
        put(&s, name, "{}");
        versions[at] = api_rv(s.api);
        api_forget_older(s.api, at * 1000, KEEP_S * 1000);
        if (at < 2 * KEEP_S)
            continue;
        assert_true(store_knows_since(&s.api->store, versions[at - KEEP_S]));
        assert_false(store_knows_since(&s.api->store, versions[at - KEEP_S * 5 / 4 - 1]));
    }
}

static void check_history_runs_out(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    put(&s, "a", "{}");
    struct api_watch *w = start(&s, MAPS "?watch=1&resourceVersion=6");
    const struct kind *k = kind_named("configmaps");
    for (int i = 0; i <= API_HISTORY; i++) {
        CLEANUP_JSON json_t *patch = json_pack("{s:{s:s}}", "data", "i", i % 2 ? "odd" : "even");
        assert_int_equal(api_merge(s.api, "tester", k, "default", "a", "", patch, NULL), 0);
    }
    expect_news(&s, w, "ERROR");
    api_watch_free(w);
}

static size_t wanted;

static void count_wanted(void *arg, const struct api_commit *c)
{
    wanted += api_watch_wants(arg, c);
}

static void check_wants(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    struct api_watch *w = start(&s, MAPS "?watch=1&labelSelector=x");
    api_on_commit(s.api, count_wanted, w);
    wanted = 0;
    put(&s, "a", "{}");
    assert_int_equal(wanted, 0);
    label(&s, "a", "{'x': '1'}");
    assert_int_equal(wanted, 1);
    label(&s, "a", "{'x': null}");
    assert_int_equal(wanted, 2);
    drop(&s, "a");
    assert_int_equal(wanted, 2);
    api_watch_free(w);
}

static void check_timeouts(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    struct api_watch *said = start(&s, MAPS "?watch=1&timeoutSeconds=5"),
                     *own = start(&s, MAPS "?watch=1");
    assert_int_equal(api_watch_timeout_ms(said), 5000);
    assert_int_equal(api_watch_timeout_ms(own), 1800000);
    api_watch_free(said);
    api_watch_free(own);
}

static const struct refusal_row {
    const char *name;
    const char *query;
    int status;
    const char *reason;
    const char *message;
} refusals[] = {
    { "a version that is no number", "resourceVersion=abc", 500, "",
      "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid "
      "syntax" },
    { "a list first without saying of which version", "sendInitialEvents=true", 422, "Invalid",
      "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents "
      "requires setting "
      "resourceVersionMatch to "
      "NotOlderThan" },
    { "a match without a list", "resourceVersionMatch=Exact&resourceVersion=3", 422, "Invalid",
      "ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMatch: Forbidden: "
      "resourceVersionMatch is forbidden for watch "
      "unless sendInitialEvents is provided, resourceVersionMatch: Unsupported value: \"Exact\": "
      "supported values: "
      "\"NotOlderThan\"]" },
    { "a selector that is none", "labelSelector=!", 400, "BadRequest",
      "unable to parse requirement: found '', expected: identifier" },
};

static void check_refusal(void **state)
{
    const struct refusal_row *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    CLEANUP_FREE char *request = xasprintf("GET " MAPS "?watch=1&%s", row->query);
    served_refused(&s, request, NULL, row->status, row->reason, row->message);
    assert_null(s.answer.watch);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_watch, watches);
    SUITE_ROWS(&s, check_refusal, refusals);
    suite_add(&s, "a watch goes on with what comes", check_goes_on, NULL);
    suite_add(&s, "what stops matching is told as it was, with the new version", check_last_state,
              NULL);
    suite_add(&s, "bookmarks for those who asked", check_bookmarks, NULL);
    suite_add(&s, "no bookmark while the list is not told", check_no_bookmark_before_the_list,
              NULL);
    suite_add(&s, "what is compacted is told in the stream", check_forgotten, NULL);
    suite_add(&s, "history goes when it is old", check_history_grows_old, NULL);
    suite_add(&s, "history is at most a quarter longer than it must be",
              check_history_is_little_older, NULL);
    suite_add(&s, "a watch that falls behind by the whole history", check_history_runs_out, NULL);
    suite_add(&s, "which commits a watch would see", check_wants, NULL);
    suite_add(&s, "how long a watch lasts", check_timeouts, NULL);
    return suite_run(&s, "sim_api/watch");
}
