#include "tests/unit/sim_api/served.h"

/* Config maps a, b, c in the namespace default, d in kube-public, and the versions at which they
 * came. */
struct shelf {
    struct served s;
    uint64_t before, a, b, c, d;
};

static uint64_t add(struct served *s, const char *ns, const char *name, const char *labels)
{
    CLEANUP_FREE char *request = xasprintf("POST /api/v1/namespaces/%s/configmaps", ns);
    CLEANUP_FREE char *body = xasprintf("{'metadata': {'name': '%s', 'labels': %s}}", name, labels);
    served_expect(s, request, body, 201);
    return api_rv(s->api);
}

static void shelf_init(struct shelf *t)
{
    served_init(&t->s);
    t->before = api_rv(t->s.api);
    t->b = add(&t->s, "default", "b", "{'x': '1'}");
    t->a = add(&t->s, "default", "a", "{'x': '2'}");
    t->c = add(&t->s, "default", "c", "{'x': '1'}");
    t->d = add(&t->s, "kube-public", "d", "{'x': '1'}");
}

static void shelf_clear(struct shelf *t)
{
    served_clear(&t->s);
}

#define CLEANUP_SHELF CLEANUP(shelf_clear)
#define MAPS "/api/v1/configmaps"

static const struct list_row {
    const char *name;
    const char *target;
    const char *want;
} lists[] = {
    { "all of a kind, in order", MAPS, "default/a default/b default/c kube-public/d" },
    { "in a namespace", "/api/v1/namespaces/default/configmaps", "default/a default/b default/c" },
    { "in a namespace that is not there", "/api/v1/namespaces/nope/configmaps", "" },
    { "by label", MAPS "?labelSelector=x%3D1", "default/b default/c kube-public/d" },
    { "by field", MAPS "?fieldSelector=metadata.name%3Dd", "kube-public/d" },
    { "a page", MAPS "?limit=2", "default/a default/b" },
    { "a page of some", MAPS "?limit=2&labelSelector=x%3D1", "default/b default/c" },
    { "from the server's cache, whole whatever the limit", MAPS "?limit=2&resourceVersion=0",
      "default/a default/b default/c kube-public/d" },
    { "at least as new as a version", MAPS "?resourceVersion=1",
      "default/a default/b default/c kube-public/d" },
    { "the same, said", MAPS "?resourceVersion=1&resourceVersionMatch=NotOlderThan&limit=3",
      "default/a default/b default/c" },
    { "exactly a version", MAPS "?resourceVersion=1&resourceVersionMatch=Exact", "" },
    { "a version with a limit means exactly that one", MAPS "?resourceVersion=1&limit=5", "" },
    { "a negative limit is none", MAPS "?limit=-1", "default/a default/b default/c kube-public/d" },
};

static void check_list(void **state)
{
    const struct list_row *row = *state;
    CLEANUP_SHELF struct shelf t;
    shelf_init(&t);
    served_expect_names(&t.s, row->target, row->want);
    assert_string_equal(served_str(&t.s, "kind"), "ConfigMapList");
}

static const struct refusal_row {
    const char *name;
    const char *target;
    int status;
    const char *reason;
    const char *message;
} refusals[] = {
    { "a limit that is no number", MAPS "?limit=abc", 400, "BadRequest",
      "strconv.ParseInt: parsing \"abc\": invalid syntax" },
    { "a version that is no number", MAPS "?resourceVersion=abc", 400, "BadRequest",
      "invalid resource version: resourceVersion: Invalid value: \"abc\": strconv.ParseUint: "
      "parsing \"abc\": invalid syntax" },
    { "a version that has not been", MAPS "?resourceVersion=99999", 504, "Timeout",
      "Timeout: Too large resource version: 99999, current: 9" },
    { "a version that has not been, of one object",
      "/api/v1/namespaces/default/configmaps/a?resourceVersion=99999", 504, "Timeout",
      "Timeout: Too large resource version: 99999, current: 9" },
    { "a match without a version", MAPS "?resourceVersionMatch=Exact", 422, "Invalid",
      "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
      "resourceVersionMatch is forbidden unless "
      "resourceVersion is provided" },
    { "exactly any", MAPS "?resourceVersionMatch=Exact&resourceVersion=0", 422, "Invalid",
      "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
      "resourceVersionMatch \"exact\" is forbidden for "
      "resourceVersion \"0\"" },
    { "a match that is none", MAPS "?resourceVersionMatch=Foo&resourceVersion=1", 422, "Invalid",
      "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported value: \"Foo\": "
      "supported values: \"Exact\", "
      "\"NotOlderThan\", \"\"" },
    { "a match with a token",
      MAPS "?resourceVersionMatch=NotOlderThan&resourceVersion=1&continue=abc", 422, "Invalid",
      "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
      "resourceVersionMatch is forbidden when continue "
      "is provided" },
    { "a token that is none", MAPS "?continue=abc", 400, "BadRequest",
      "invalid continue token: continue key is not valid: abc" },
    { "a token and a version", MAPS "?continue=7:default/a&resourceVersion=3", 400, "BadRequest",
      "specifying resource version is not allowed when using continue" },
    { "one that is not there", "/apis/apps/v1/namespaces/default/daemonsets/x", 404, "NotFound",
      "daemonsets.apps \"x\" not found" },
};

static void check_refusal(void **state)
{
    const struct refusal_row *row = *state;
    CLEANUP_SHELF struct shelf t;
    shelf_init(&t);
    CLEANUP_FREE char *request = xasprintf("GET %s", row->target);
    served_refused(&t.s, request, NULL, row->status, row->reason, row->message);
}

/* The next page of the last answer. */
static void expect_next(struct served *s, const char *query, const char *want)
{
    CLEANUP_FREE char *target = xasprintf(MAPS "?%s&continue=%s", query,
                                          served_str(s, "metadata.continue"));
    served_expect_names(s, target, want);
}

static void check_pages_show_one_version(void **state)
{
    (void) state;
    CLEANUP_SHELF struct shelf t;
    shelf_init(&t);
    served_expect_names(&t.s, MAPS "?limit=1", "default/a");
    assert_int_equal(json_int(t.s.body, "metadata.remainingItemCount", 0), 3);
    CLEANUP_FREE char *token = xstrdup(served_str(&t.s, "metadata.continue"));
    served_expect(&t.s, "DELETE /api/v1/namespaces/default/configmaps/b", NULL, 200);
    add(&t.s, "default", "aa", "{}");
    served_expect(&t.s, "PATCH /api/v1/namespaces/default/configmaps/c", "{'data': {'new': 'yes'}}",
                  200);
    CLEANUP_FREE char *target = xasprintf(MAPS "?limit=2&continue=%s", token);
    served_expect_names(&t.s, target, "default/b default/c");
    CLEANUP_FREE char *version = xasprintf("%d", (int) t.d);
    assert_string_equal(served_str(&t.s, "metadata.resourceVersion"), version);
    assert_null(json_at(json_array_get(json_object_get(t.s.body, "items"), 1), "data.new"));
    expect_next(&t.s, "limit=2", "kube-public/d");
    assert_null(json_at(t.s.body, "metadata.continue"));
}

static void check_old_versions(void **state)
{
    (void) state;
    CLEANUP_SHELF struct shelf t;
    shelf_init(&t);
    CLEANUP_FREE char *then = xasprintf(MAPS "?resourceVersionMatch=Exact&resourceVersion=%d",
                                        (int) t.a);
    served_expect_names(&t.s, then, "default/a default/b");
    api_compact(t.s.api, t.a);
    served_expect_names(&t.s, then, "default/a default/b");
    api_compact(t.s.api, t.c);
    CLEANUP_FREE char *request = xasprintf("GET %s", then);
    served_refused(&t.s, request, NULL, 410, "Expired",
                   "The resourceVersion for the provided list is too old.");
}

static void check_expired_token(void **state)
{
    (void) state;
    CLEANUP_SHELF struct shelf t;
    shelf_init(&t);
    served_expect_names(&t.s, MAPS "?limit=2", "default/a default/b");
    CLEANUP_FREE char *request = xasprintf("GET " MAPS "?limit=2&continue=%s",
                                           served_str(&t.s, "metadata.continue"));
    add(&t.s, "default", "bb", "{}");
    api_compact(t.s.api, api_rv(t.s.api));
    served_expect(&t.s, request, NULL, 410);
    assert_string_equal(served_str(&t.s, "reason"), "Expired");
    /* The refusal has a token with which the rest can be had as it is now. */
    expect_next(&t.s, "limit=2", "default/bb default/c");
    expect_next(&t.s, "limit=2", "kube-public/d");
}

static void check_items(void **state)
{
    (void) state;
    CLEANUP_SHELF struct shelf t;
    shelf_init(&t);
    served_expect(&t.s, "GET " MAPS "?limit=1", NULL, 200);
    const json_t *item = json_array_get(json_object_get(t.s.body, "items"), 0);
    assert_null(json_object_get(item, "kind"));
    assert_null(json_object_get(item, "apiVersion"));
    assert_string_equal(served_str(&t.s, "apiVersion"), "v1");
    served_expect(&t.s, "GET /api/v1/namespaces/default/configmaps/a", NULL, 200);
    assert_string_equal(served_str(&t.s, "kind"), "ConfigMap");
}

static void check_direct(void **state)
{
    (void) state;
    CLEANUP_SHELF struct shelf t;
    shelf_init(&t);
    const struct kind *k = kind_named("configmaps");
    assert_int_equal(api_count(t.s.api, k), 4);
    assert_string_equal(json_str(api_at(t.s.api, k, 3), "metadata.name"), "d");
    assert_ptr_equal(api_get(t.s.api, k, "kube-public", "d"), api_at(t.s.api, k, 3));
    assert_null(api_get(t.s.api, k, "default", "d"));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_list, lists);
    SUITE_ROWS(&s, check_refusal, refusals);
    suite_add(&s, "pages show one version, whatever is written meanwhile",
              check_pages_show_one_version, NULL);
    suite_add(&s, "an older version can be listed until it is compacted", check_old_versions, NULL);
    suite_add(&s, "a token that has expired says how to go on", check_expired_token, NULL);
    suite_add(&s, "items of a list do not say what they are", check_items, NULL);
    suite_add(&s, "actors read the same", check_direct, NULL);
    return suite_run(&s, "sim_api/read");
}
