/* What no client sends by accident: patches that grow, long lists and the largest numbers. */
#include "tests/unit/sim_api/served.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"

enum { BODY_MAX = 3 << 20, LEVELS = 1900, FINALIZERS = 20000, MANAGERS = 15000 };

static void make_map(struct served *s)
{
    served_init(s);
    served_expect(s, "POST " MAPS, "{'metadata': {'name': 'a'}}", 201);
}

static void expect_sent(struct served *s, const char *request, const struct buf *body, int status)
{
    if (served_send(s, request, buf_text(body), body->len) != status)
        fail_msg("%s: %d instead of %d: %.300s", request, s->answer.status, status,
                 str_or_empty(s->answer.body));
}

static void add_many(struct buf *b, const char *text, size_t times)
{
    while (times-- > 0)
        buf_str(b, text);
}

/* Lists into lists, each time as deep as a body may be. */
static void a_patch_does_not_nest_without_end(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    CLEANUP_BUF struct buf b = BUF_INIT(BODY_MAX);
    make_map(&s);
    buf_str(&b, "[{\"op\":\"add\",\"path\":\"/x\",\"value\":[]}");
    for (int i = 0; i < 100; i++) {
        buf_str(&b, ",{\"op\":\"add\",\"path\":\"/y\",\"value\":");
        add_many(&b, "[", LEVELS);
        add_many(&b, "]", LEVELS);
        buf_str(&b, "},{\"op\":\"move\",\"from\":\"/x\",\"path\":\"/y");
        add_many(&b, "/0", LEVELS - 1);
        buf_str(&b, "/-\"},{\"op\":\"move\",\"from\":\"/y\",\"path\":\"/x\"}");
    }
    buf_str(&b, "]");
    expect_sent(&s, "PATCH json " MAPS "/a", &b, 422);
}

static void a_patch_does_not_copy_without_end(void **state)
{
    (void) state;
    static const struct {
        int copies, status;
    } rows[] = { { 10, 200 }, { 40, 422 } };
    CLEANUP_SERVED struct served s;
    make_map(&s);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP_BUF struct buf b = BUF_INIT(BODY_MAX);
        buf_str(&b, "[{\"op\":\"add\",\"path\":\"/x\",\"value\":[\"y\"]}");
        for (int n = 0; n < rows[i].copies; n++)
            buf_str(&b, ",{\"op\":\"copy\",\"from\":\"/x\",\"path\":\"/x/-\"}");
        buf_str(&b, ",{\"op\":\"remove\",\"path\":\"/x\"}]");
        expect_sent(&s, "PATCH json " MAPS "/a", &b, rows[i].status);
    }
}

static void add_finalizers(struct buf *b, bool backwards)
{
    buf_str(b, "{\"metadata\":{\"finalizers\":[");
    for (int i = 0; i < FINALIZERS; i++)
        buf_printf(b, "%s\"a.b/f%d\"", i ? "," : "", backwards ? FINALIZERS - 1 - i : i);
    buf_str(b, "]}}");
}

/* A list against itself backwards, whose order the patch decides. */
static void long_lists_are_merged(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    CLEANUP_BUF struct buf forth = BUF_INIT(BODY_MAX);
    CLEANUP_BUF struct buf back = BUF_INIT(BODY_MAX);
    make_map(&s);
    add_finalizers(&forth, false);
    add_finalizers(&back, true);
    expect_sent(&s, "PATCH merge " MAPS "/a", &forth, 200);
    expect_sent(&s, "PATCH strategic " MAPS "/a", &back, 200);
    const json_t *list = json_at(s.body, "metadata.finalizers");
    assert_int_equal(json_array_size(list), FINALIZERS);
    assert_string_equal(json_string_value(json_array_get(list, FINALIZERS - 1)), "a.b/f0");
}

/* A list of what to delete that is none, or that is for a map. */
static void a_deletion_from_no_list_is_passed_over(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    make_map(&s);
    served_expect(&s, "PATCH " MAPS "/a",
                  "{'metadata': {'finalizers': ['a.b/c', 'a.b/d'], 'labels': {'x': 'y'}}}", 200);
    served_expect(&s, "PATCH strategic " MAPS "/a",
                  "{'metadata': {'$deleteFromPrimitiveList/finalizers': 5, "
                  "'$deleteFromPrimitiveList/labels': ['x']}}",
                  200);
    assert_tree(json_at(s.body, "metadata.finalizers"), "['a.b/c', 'a.b/d']");
    assert_tree(json_at(s.body, "metadata.labels"), "{'x': 'y'}");
    served_expect(&s, "PATCH strategic " MAPS "/a",
                  "{'metadata': {'$deleteFromPrimitiveList/finalizers': ['a.b/c']}}", 200);
    assert_tree(json_at(s.body, "metadata.finalizers"), "['a.b/d']");
}

/* Of many managers ten are left, and what the others owned is owned still. */
static void many_managers_become_few(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    CLEANUP_BUF struct buf b = BUF_INIT(BODY_MAX);
    make_map(&s);
    buf_str(&b, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\","
                "\"managedFields\":[");
    for (int i = 0; i < MANAGERS; i++)
        buf_printf(&b,
                   "%s{\"manager\":\"x%d\",\"operation\":\"Update\",\"apiVersion\":\"v1\","
                   "\"fieldsType\":\"FieldsV1\","
                   "\"time\":\"2026-01-01T00:00:%02dZ\",\"fieldsV1\":{\"f:a%d\":{}}}",
                   i ? "," : "", i, i * 7 % 60, i);
    buf_str(&b, "]}}");
    expect_sent(&s, "PUT " MAPS "/a", &b, 200);
    const json_t *managers = json_at(s.body, "metadata.managedFields");
    size_t i, fields = 0;
    json_t *entry;
    json_array_foreach (managers, i, entry)
        fields += json_object_size(json_object_get(entry, "fieldsV1"));
    assert_int_equal(json_array_size(managers), 10);
    assert_int_equal(fields, MANAGERS);
}

static void times_stay_within_the_clock(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    make_map(&s);
    served_expect(&s, "GET " MAPS "?watch=1&timeoutSeconds=9223372036854775807", NULL, 200);
    assert_int_equal(api_watch_timeout_ms(s.answer.watch), INT64_C(1000) * INT32_MAX);
    served_expect(&s, "POST " PODS,
                  "{'metadata': {'name': 'p'}, 'spec': {'nodeName': 'n', "
                  "'terminationGracePeriodSeconds': 9223372036854775807, "
                  "'containers': [{'name': 'c', 'image': 'i'}]}}",
                  201);
    served_expect(&s, "DELETE " PODS "/p", NULL, 200);
    assert_int_equal(json_int(s.body, "metadata.deletionGracePeriodSeconds", 0), INT32_MAX);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a patch does not nest without end", a_patch_does_not_nest_without_end, NULL);
    suite_add(&s, "a patch does not copy without end", a_patch_does_not_copy_without_end, NULL);
    suite_add(&s, "long lists are merged", long_lists_are_merged, NULL);
    suite_add(&s, "a deletion from no list is passed over", a_deletion_from_no_list_is_passed_over,
              NULL);
    suite_add(&s, "many managers become few", many_managers_become_few, NULL);
    suite_add(&s, "times stay within the clock", times_stay_within_the_clock, NULL);
    return suite_run(&s, "limits");
}
