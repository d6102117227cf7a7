/* The parts that actors are made of: agenda, index, amounts, fit, and what they share of objects.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/actors/agenda.h"
#include "sim/actors/amounts.h"
#include "sim/actors/fit.h"
#include "sim/actors/index.h"
#include "sim/actors/objects.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* ---- agenda */

struct diary {
    struct sim sim;
    struct agenda agenda;
    struct buf looks; /* "key@ms " for each */
};

static void write_down(void *self, const char *key)
{
    struct diary *d = self;
    buf_printf(&d->looks, "%s@%d ", key, (int) d->sim.now_ms);
    if (str_eq(key, "again") && d->sim.now_ms < 30)
        agenda_after(&d->agenda, key, 10);
}

static void begin_diary(struct diary *d, struct spec_delay delay)
{
    *d = (struct diary){ .looks = BUF_INIT(1 << 16) };
    sim_init(&d->sim, 1);
    agenda_init(&d->agenda, &d->sim, "test", delay, write_down, d);
}

static void end_diary(struct diary *d)
{
    agenda_clear(&d->agenda);
    sim_clear(&d->sim);
    buf_clear(&d->looks);
}

static void one_look_for_many_notes(void **state)
{
    (void) state;
    struct diary d;
    begin_diary(&d, (struct spec_delay){ 10, 10 });
    agenda_note(&d.agenda, "a");
    agenda_note(&d.agenda, "b");
    agenda_note(&d.agenda, "a");
    sim_run_until(&d.sim, 100);
    assert_string_equal(buf_text(&d.looks), "a@10 b@10 ");
    end_diary(&d);
}

static void the_earliest_counts(void **state)
{
    (void) state;
    struct diary d;
    begin_diary(&d, (struct spec_delay){ 10, 10 });
    agenda_at(&d.agenda, "a", 50);
    agenda_at(&d.agenda, "a", 30);
    agenda_at(&d.agenda, "a", 70);
    agenda_at(&d.agenda, "b", 90);
    agenda_note(&d.agenda, "b");
    agenda_at(&d.agenda, "c", 5);
    agenda_drop(&d.agenda, "c");
    sim_run_until(&d.sim, 100);
    assert_string_equal(buf_text(&d.looks), "b@10 a@30 ");
    end_diary(&d);
}

static void a_look_may_ask_for_another(void **state)
{
    (void) state;
    struct diary d;
    begin_diary(&d, (struct spec_delay){ 10, 10 });
    agenda_note(&d.agenda, "again");
    sim_run_until(&d.sim, 100);
    assert_string_equal(buf_text(&d.looks), "again@10 again@20 again@30 ");
    end_diary(&d);
}

static void failed_looks_come_later_each_time(void **state)
{
    (void) state;
    struct diary d;
    begin_diary(&d, (struct spec_delay){ 10, 10 });
    for (int i = 0; i < 4; i++) {
        agenda_retry(&d.agenda, "a");
        sim_run_until(&d.sim, d.sim.now_ms + 50);
    }
    agenda_succeeded(&d.agenda, "a");
    agenda_retry(&d.agenda, "a");
    sim_run_until(&d.sim, d.sim.now_ms + 50);
    assert_string_equal(buf_text(&d.looks), "a@5 a@60 a@120 a@190 a@205 ");
    end_diary(&d);
}

/* ---- amounts */

static const struct quantity_case {
    const char *name, *text;
    int64_t want;
} quantities[] = {
    { "a whole number", "2", 2000 },
    { "thousandths", "100m", 100 },
    { "a fraction", "1.5", 1500 },
    { "binary thousands", "1Ki", 1024000 },
    { "decimal thousands", "1k", 1000000 },
    { "binary millions", "2Mi", INT64_C(2097152000) },
    { "many", "8Gi", INT64_C(8589934592000) },
    { "more than can be counted", "9223372036854775807", INT64_MAX },
    { "more than the API server keeps", "1e300", 0 },
    { "less than can be counted", "-9223372036854775807", INT64_MIN },
    { "nothing", "", 0 },
    { "no quantity", "many", 0 },
    { "an unknown unit", "3x", 0 },
};

static void check_quantity(void **state)
{
    const struct quantity_case *c = *state;
    assert_int_equal(amount_parse(c->text), c->want);
}

static void amounts_do_not_overflow(void **state)
{
    (void) state;
    struct amounts a = { { INT64_MAX } }, b = { { INT64_MAX } };
    amounts_add(&a, &b, 1);
    assert_int_equal(a.of[AMOUNT_CPU], INT64_MAX);
    a.of[AMOUNT_CPU] = INT64_MIN;
    amounts_add(&a, &b, -1);
    assert_int_equal(a.of[AMOUNT_CPU], INT64_MIN);
}

static void what_a_pod_asks_for(void **state)
{
    (void) state;
    struct amount_names names;
    amount_names_init(&names);
    CLEANUP_JSON json_t *pod = tree(
        "{'spec': {'containers': [{'resources': {'requests': {'cpu': '1'}, 'limits': {'cpu': '2', "
        "'nvidia.com/gpu': '1'}}},"
        " {'resources': {'requests': {'cpu': '500m'}}}], 'initContainers': [{'resources': "
        "{'requests': {'cpu': '4'}}}]}}");
    struct amounts a = amounts_of_pod(&names, pod);
    assert_int_equal(a.of[AMOUNT_CPU], 4000);
    assert_int_equal(a.of[AMOUNT_PODS], 1000);
    assert_int_equal(a.of[AMOUNT_EXTENDED], 1000);
    assert_string_equal(names.names[AMOUNT_EXTENDED], "nvidia.com/gpu");
    amount_names_clear(&names);
}

/* ---- fit */

static const struct affinity_case {
    const char *name, *spec;
    bool want;
} affinities[] = {
    { "no wish", "{}", true },
    { "a label of the selector", "{'nodeSelector': {'a': '1'}}", true },
    { "a label with another value", "{'nodeSelector': {'a': '2'}}", false },
#define TERMS(text)                                                                                \
    "{'affinity': {'nodeAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': "            \
    "{'nodeSelectorTerms': [" text "]}}}}"
    { "In", TERMS("{'matchExpressions': [{'key': 'a', 'operator': 'In', 'values': ['0', '1']}]}"),
      true },
    { "NotIn of a label that is absent",
      TERMS("{'matchExpressions': [{'key': 'z', 'operator': 'NotIn', 'values': ['0']}]}"), true },
    { "Exists", TERMS("{'matchExpressions': [{'key': 'z', 'operator': 'Exists'}]}"), false },
    { "DoesNotExist", TERMS("{'matchExpressions': [{'key': 'z', 'operator': 'DoesNotExist'}]}"),
      true },
    { "Gt", TERMS("{'matchExpressions': [{'key': 'n', 'operator': 'Gt', 'values': ['9']}]}"),
      true },
    { "Lt", TERMS("{'matchExpressions': [{'key': 'n', 'operator': 'Lt', 'values': ['10']}]}"),
      false },
    { "one of two terms is enough",
      TERMS("{'matchExpressions': [{'key': 'z', 'operator': 'Exists'}]}, {'matchExpressions': "
            "[{'key': 'a', 'operator': "
            "'Exists'}]}"),
      true },
    { "all of one term are needed",
      TERMS("{'matchExpressions': [{'key': 'a', 'operator': 'Exists'}, {'key': 'z', 'operator': "
            "'Exists'}]}"),
      false },
    { "an empty term matches nothing", TERMS("{}"), false },
    { "the node's name",
      TERMS("{'matchFields': [{'key': 'metadata.name', 'operator': 'In', 'values': ['n1']}]}"),
      true },
    { "another node's name",
      TERMS("{'matchFields': [{'key': 'metadata.name', 'operator': 'In', 'values': ['n2']}]}"),
      false },
};

static void check_affinity(void **state)
{
    const struct affinity_case *c = *state;
    CLEANUP_JSON json_t *node = tree(
        "{'metadata': {'name': 'n1', 'labels': {'a': '1', 'n': '10'}}}");
    CLEANUP_JSON json_t *spec = tree(c->spec);
    assert_int_equal(fit_affinity(spec, node), c->want);
}

static const struct toleration_case {
    const char *name, *toleration;
    bool want;
} tolerations[] = {
    { "Exists without a key is for all", "{'operator': 'Exists'}", true },
    { "the key exists", "{'key': 'k', 'operator': 'Exists'}", true },
    { "another key", "{'key': 'l', 'operator': 'Exists'}", false },
    { "key and value", "{'key': 'k', 'value': 'v'}", true },
    { "another value", "{'key': 'k', 'operator': 'Equal', 'value': 'w'}", false },
    { "another effect", "{'key': 'k', 'value': 'v', 'effect': 'NoExecute'}", false },
    { "the effect", "{'key': 'k', 'value': 'v', 'effect': 'NoSchedule'}", true },
    { "nothing", "{}", false },
};

static void check_toleration(void **state)
{
    const struct toleration_case *c = *state;
    CLEANUP_JSON json_t *toleration = tree(c->toleration);
    CLEANUP_JSON json_t *taint = tree("{'key': 'k', 'value': 'v', 'effect': 'NoSchedule'}");
    assert_int_equal(fit_tolerates(toleration, taint), c->want);
}

static const struct pattern_case {
    const char *name, *pattern, *text;
    bool want;
} patterns[] = {
    { "no pattern", NULL, "abc", true },
    { "the text itself", "abc", "abc", true },
    { "another text", "abc", "abd", false },
    { "the beginning", "ab*", "abc", true },
    { "the end", "*bc", "abc", true },
    { "the middle", "*b*", "abc", true },
    { "anything", "*", "", true },
    { "two parts", "a*c*e", "abcde", true },
    { "the wrong order", "a*e*c", "abcde", false },
    { "more than the text", "abcd", "abc", false },
    { "less than the text", "ab", "abc", false },
    { "a second try", "*ab", "aab", true },
};

static void check_pattern(void **state)
{
    const struct pattern_case *c = *state;
    assert_int_equal(fit_pattern(c->pattern, c->text), c->want);
}

/* ---- index */

/* Tells the index of one change; takes the objects. */
static void tell(struct index *ix, const char *plural, json_t *before_steal, json_t *after_steal)
{
    index_commit(ix, &(struct api_commit){ .kind = kind_named(plural),
                                           .before = before_steal,
                                           .after = after_steal });
    json_decref(before_steal);
    json_decref(after_steal);
}

static json_t *pod(const char *uid, const char *spec, const char *phase)
{
    json_t *o = json_pack("{s:{s:s}, s:o, s:{s:s}}", "metadata", "uid", uid, "spec", tree(spec),
                          "status", "phase", phase);
    return o;
}

#define PINNED                                                                                     \
    "'affinity': {'nodeAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': "             \
    "{'nodeSelectorTerms': [{'matchFields': "                                                      \
    "[{'key': "                                                                                    \
    "'metadata.name', 'operator': 'In', 'values': ['n1']}]}]}}}"

static void pods_by_node(void **state)
{
    (void) state;
    struct index *ix = index_new();
    tell(ix, "pods", NULL,
         pod("1", "{" PINNED ", 'containers': [{'resources': {'requests': {'cpu': '2'}}}]}",
             "Pending"));
    assert_int_equal(index_pods_on(ix, "n1")->len, 1);
    assert_false(index_pods_on(ix, "n1")->items[0]->bound);
    /* It takes nothing before it is bound, and nothing after it has ended. */
    assert_int_equal(index_pods_on(ix, "n1")->used.of[AMOUNT_CPU], 0);
    static const char bound[] =
        "{'nodeName': 'n1', 'containers': [{'resources': {'requests': {'cpu': '2'}}}]}";
    tell(ix, "pods", pod("1", "{}", "Pending"), pod("1", bound, "Running"));
    tell(ix, "pods", NULL, pod("2", bound, "Running"));
    assert_int_equal(index_pods_on(ix, "n1")->used.of[AMOUNT_CPU], 4000);
    tell(ix, "pods", pod("1", bound, "Running"), pod("1", bound, "Succeeded"));
    assert_int_equal(index_pods_on(ix, "n1")->used.of[AMOUNT_CPU], 2000);
    tell(ix, "pods", pod("1", bound, "Succeeded"), NULL);
    assert_int_equal(index_pods_on(ix, "n1")->len, 1);
    tell(ix, "pods", pod("2", bound, "Running"), NULL);
    assert_int_equal(index_pods_on(ix, "n1")->len, 0);
    index_free(ix);
}

static json_t *owned(const char *uid, const char *owners)
{
    return json_pack("{s:{s:s, s:o}}", "metadata", "uid", uid, "ownerReferences", tree(owners));
}

static void dependents_by_owner(void **state)
{
    (void) state;
    struct index *ix = index_new();
    tell(ix, "configmaps", NULL, owned("1", "[{'uid': 'a'}, {'uid': 'b', 'controller': true}]"));
    tell(ix, "configmaps", NULL, owned("2", "[{'uid': 'a'}]"));
    tell(ix, "configmaps", NULL, owned("3", "[]"));
    assert_int_equal(index_dependents(ix, "a")->len, 2);
    assert_int_equal(index_dependents(ix, "b")->len, 1);
    assert_string_equal(index_dependents(ix, "b")->items[0]->controller, "b");
    tell(ix, "configmaps", owned("1", "[]"), owned("1", "[{'uid': 'c'}]"));
    assert_int_equal(index_dependents(ix, "a")->len, 1);
    assert_int_equal(index_dependents(ix, "b")->len, 0);
    assert_int_equal(index_dependents(ix, "c")->len, 1);
    CLEANUP_JSON json_t *copy = index_copy(ix, kind_named("configmaps"), "a");
    assert_int_equal(json_array_size(copy), 1);
    index_free(ix);
}

/* ---- objects */

static const struct scaled_case {
    const char *name, *value;
    int64_t total;
    bool up;
    int64_t want;
} scaled[] = {
    { "a number", "3", 10, true, 3 },
    { "a percentage, up", "'25%'", 10, true, 3 },
    { "a percentage, down", "'25%'", 10, false, 2 },
    { "nothing", "null", 10, true, -1 },
    { "no percentage", "'25'", 10, true, -1 },
    { "of nothing", "'50%'", 0, true, 0 },
};

static void check_scaled(void **state)
{
    const struct scaled_case *c = *state;
    CLEANUP_FREE char *text = xasprintf("[%s]", c->value);
    CLEANUP_JSON json_t *list = tree(text);
    assert_int_equal(scaled_value(json_array_get(list, 0), c->total, c->up, -1), c->want);
}

static void conditions_keep_their_time(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *none = json_array();
    CLEANUP_JSON json_t *first = conditions_with(none, "Ready", "False", "A", "x", "t1");
    CLEANUP_JSON json_t *same = conditions_with(first, "Ready", "False", "A", "x", "t2");
    assert_ptr_equal(first, same);
    CLEANUP_JSON json_t *reason = conditions_with(first, "Ready", "False", "B", "y", "t2");
    assert_tree(reason, "[{'type': 'Ready', 'status': 'False', 'reason': 'B', 'message': 'y', "
                        "'lastTransitionTime': 't1'}]");
    CLEANUP_JSON json_t *turned = conditions_with(reason, "Ready", "True", NULL, NULL, "t3");
    assert_tree(turned, "[{'type': 'Ready', 'status': 'True', 'lastTransitionTime': 't3'}]");
    CLEANUP_JSON json_t *two = conditions_with(turned, "Other", "True", NULL, NULL, "t4");
    assert_int_equal(json_array_size(two), 2);
}

static void hashes_of_templates(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *a = tree("{'spec': {'x': 1, 'y': 2}}");
    CLEANUP_JSON json_t *b = tree("{'spec': {'y': 2, 'x': 1}}");
    CLEANUP_JSON json_t *c = tree("{'spec': {'y': 2, 'x': 2}}");
    char of_a[16], of_b[16], of_c[16], again[16];
    template_hash(a, 0, of_a);
    template_hash(b, 0, of_b);
    template_hash(c, 0, of_c);
    template_hash(a, 1, again);
    assert_string_equal(of_a, of_b);
    assert_string_not_equal(of_a, of_c);
    assert_string_not_equal(of_a, again);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "agenda: one look for many notes", one_look_for_many_notes, NULL);
    suite_add(&s, "agenda: the earliest counts", the_earliest_counts, NULL);
    suite_add(&s, "agenda: a look may ask for another", a_look_may_ask_for_another, NULL);
    suite_add(&s, "a look that fails is done again, later each time",
              failed_looks_come_later_each_time, NULL);
    SUITE_ROWS(&s, check_quantity, quantities);
    suite_add(&s, "amounts do not overflow", amounts_do_not_overflow, NULL);
    suite_add(&s, "what a pod asks for", what_a_pod_asks_for, NULL);
    SUITE_ROWS(&s, check_affinity, affinities);
    SUITE_ROWS(&s, check_toleration, tolerations);
    SUITE_ROWS(&s, check_pattern, patterns);
    suite_add(&s, "index: pods by node", pods_by_node, NULL);
    suite_add(&s, "index: dependents by owner", dependents_by_owner, NULL);
    SUITE_ROWS(&s, check_scaled, scaled);
    suite_add(&s, "conditions keep their time", conditions_keep_their_time, NULL);
    suite_add(&s, "hashes of templates", hashes_of_templates, NULL);
    return suite_run(&s, "parts");
}
