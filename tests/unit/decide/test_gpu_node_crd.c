/* A report has the fields that its CRD knows, within the limits of the CRD; and the columns of the
 * CRD show what a report has. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "tests/unit/support/gpu_node_case.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define CRD "crds/ostler.dev_gpunodes.yaml"

/* The server would refuse a report that names any other field, as a whole. */
static void check_known(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *known = tree("{'properties':{'state':{'type':'string'}}}");
    struct gpu_node_scene s;
    gpu_node_scene_init(&s, &(struct gpu_node_case){ .state = NODE_READY });
    s.in.known = known;
    gpu_node_plan(&s.in, &s.arena, &s.actions);
    CLEANUP_JSON json_t *status = gpu_node_scene_body(&s, VERB_STATUS);
    assert_tree(json_object_get(status, "status"), "{'state':'Ready'}");
    gpu_node_scene_clear(&s);
}

/* ---- bounds */

/* What the CRD says of its only version. New reference. */
static json_t *version_of_crd(void)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(CRD, NULL, &e);
    if (!documents)
        fail_msg("%s", err_msg(&e));
    return json_incref(json_array_get(json_at(json_array_get(documents, 0), "spec.versions"), 0));
}

/* The rules of the members of the status. New reference. */
static json_t *rules_of_status(void)
{
    CLEANUP_JSON json_t *version = version_of_crd();
    return json_incref(json_at(version, "schema.openAPIV3Schema.properties.status.properties"));
}

/* Every member of `value` is one of the schema's, and nothing is longer than it allows. */
static void expect_fits(const json_t *properties, const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    json_t *item;
    json_object_foreach ((json_t *) value, key, member) {
        const json_t *rule = json_object_get(properties, key);
        assert_non_null(rule);
        assert_true(*json_str_or_empty(rule, "description"));
        if (json_is_string(member))
            assert_true(json_str(rule, "format") ||
                        json_has_text(json_object_get(rule, "enum"), json_string_value(member)) ||
                        (int64_t) json_string_length(member) <= json_int(rule, "maxLength", -1));
        if (json_is_object(member))
            expect_fits(json_object_get(rule, "properties"), member);
        if (json_is_array(member))
            assert_true((int64_t) json_array_size(member) <= json_int(rule, "maxItems", -1));
        json_array_foreach (member, i, item)
            expect_fits(json_at(rule, "items.properties"), item);
    }
}

static void check_bounds(void **state)
{
    (void) state;
    char sentence[5000];
    memset(sentence, 'x', sizeof sentence);
    sentence[sizeof sentence - 1] = '\0';
    CLEANUP_BUF struct buf pods = BUF_INIT(64 << 10);
    for (int i = 0; i < 30; i++)
        buf_printf(&pods, GPU_POD("p%d", "") "%s", i, i < 29 ? "," : "");
    struct gpu_node_scene s;
    gpu_node_scene_init(&s, &(struct gpu_node_case){ .state = NODE_DRAINING,
                                                     .reason = sentence,
                                                     .message = sentence,
                                                     .next = sentence,
                                                     .refused = sentence,
                                                     .pods = buf_text(&pods) });
    struct health_status health = { .level = HEALTH_HUMAN, .repairs_len = REPAIRS_MAX };
    memcpy(health.reason, sentence, HEALTH_WORD_MAX - 1);
    memcpy(health.address, sentence, HEALTH_ADDRESS_MAX - 1);
    memcpy(health.message, sentence, HEALTH_MESSAGE_MAX);
    s.in.health = &health;
    s.in.stages = &(struct node_stages){ .seen_s = 1, .reached = { 1, 2, 3, 4 } };
    gpu_node_plan(&s.in, &s.arena, &s.actions);
    CLEANUP_JSON json_t *body = gpu_node_scene_body(&s, VERB_STATUS),
                        *condition = gpu_node_scene_body(&s, VERB_CONDITION),
                        *rules = rules_of_status();
    expect_fits(rules, json_at(body, "status"));
    assert_int_equal(json_array_size(json_at(body, "status.waitingFor")), GPU_NODE_WAITING_MAX);
    assert_string_equal(json_str(body, "status.next.until"), "9999-12-31T23:59:59Z");
    assert_int_equal(json_object_size(json_at(body, "status.health")), 7);
    assert_true(strlen(json_str(json_array_get(json_at(condition, "status.conditions"), 0),
                                "message")) <= 1024);
    gpu_node_scene_clear(&s);
}

/* ---- columns */

/* The schema of what ".a.b[0].c" leads to; NULL: there is no such member. */
static const json_t *rule_at(const json_t *schema, const char *path)
{
    CLEANUP_FREE char *keys = xstrdup(path + 1);
    char *rest = keys, *word;
    while ((word = strsep(&rest, "."))) {
        bool is_list = strchr(word, '[') != NULL;
        word[strcspn(word, "[")] = '\0';
        schema = json_object_get(json_object_get(schema, "properties"), word);
        if (is_list)
            schema = json_object_get(schema, "items");
    }
    return schema;
}

/* Each column shows what is there to be shown. */
static void check_columns(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *version = version_of_crd();
    CLEANUP_BUF struct buf usual = BUF_INIT(1024), wide = BUF_INIT(1024);
    size_t i;
    json_t *column;
    json_array_foreach (json_object_get(version, "additionalPrinterColumns"), i, column) {
        const json_t *rule = rule_at(json_at(version, "schema.openAPIV3Schema"),
                                     json_str(column, "jsonPath"));
        bool date = str_eq(json_str(column, "type"), "date");
        assert_non_null(rule);
        assert_string_equal(json_str(rule, date ? "format" : "type"),
                            date ? "date-time" : json_str(column, "type"));
        assert_true(*json_str_or_empty(column, "description"));
        buf_printf(json_int(column, "priority", 0) ? &wide : &usual, "%s ",
                   json_str(column, "name"));
    }
    assert_string_equal(buf_text(&usual), "GPUs Product Driver State Reason Since ");
    assert_string_equal(buf_text(&wide),
                        "Assigned Kernel OS Runtime Holders Waiting-For Health Fault Message ");
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "an older definition gets the fields that it knows", check_known, NULL);
    suite_add(&s, "a report stays within what its CRD allows", check_bounds, NULL);
    suite_add(&s, "columns show what there is", check_columns, NULL);
    return suite_run(&s, "gpu_node_crd");
}
