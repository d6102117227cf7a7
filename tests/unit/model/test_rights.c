/* Which rights Ostler lacks, as a review of them says. */
#include "reconcilers/model/prerequisites.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/resource.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static json_t *words(const char *list)
{
    json_t *array = json_array();
    CLEANUP_FREE char *text = xstrdup(list);
    for (char *rest = text, *word; (word = strsep(&rest, ","));)
        json_array_append_new(array, json_string(word));
    return array;
}

static void add_rule(json_t *rules, const char *verbs, const char *group, const char *resource)
{
    json_array_append_new(rules, json_pack("{s:o, s:[s], s:[s]}", "verbs", words(verbs),
                                           "apiGroups", group, "resources", resource));
}

/* A review that gives what the table of resources has, but `verb` on `resource`. */
static json_t *review_without(const char *verb, const char *resource)
{
    json_t *rules = json_array();
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        const struct resource *r = resource_get((enum resource_id) i);
        CLEANUP_JSON json_t *verbs = words(r->verbs);
        size_t k;
        json_t *each;
        json_array_foreach (verbs, k, each)
            if (!str_eq(json_string_value(each), verb) || !str_eq(r->plural, resource))
                add_rule(rules, json_string_value(each), r->group, r->plural);
        CLEANUP_JSON json_t *names = words(r->subresources), *theirs = words(r->subresource_verbs);
        json_array_foreach (names, k, each) {
            CLEANUP_FREE char *whole = xasprintf("%s/%s", r->plural, json_string_value(each));
            if (!str_eq(whole, resource))
                add_rule(rules, json_string_value(json_array_get(theirs, k)), r->group, whole);
        }
    }
    return json_pack("{s:{s:o}}", "status", "resourceRules", rules);
}

static const struct row {
    const char *name;
    const char *verb, *resource;
    const char *missing; /* NULL: nothing */
} rows[] = {
    { "all rights", "", "", NULL },
    { "no node may be patched", "patch", "nodes", "patch nodes" },
    { "no DaemonSet may be made", "create", "daemonsets", "create daemonsets" },
    { "no status may be written", "patch", "gpuclusterpolicies/status",
      "patch gpuclusterpolicies/status" },
    { "no pod may be evicted", "create", "pods/eviction", "create pods/eviction" },
    { "last words are a courtesy", "get", "pods/log", NULL },
    { "budgets are looked at where that is allowed", "list", "poddisruptionbudgets", NULL },
    { "leases are elsewhere", "update", "leases", NULL },
};

static void check_row(void **state)
{
    const struct row *row = *state;
    CLEANUP_JSON json_t *review = review_without(row->verb, row->resource);
    CLEANUP_FREE char *missing = prerequisites_missing_rights(review);
    if (row->missing)
        assert_string_equal(missing, row->missing);
    else
        assert_null(missing);
}

static const struct review {
    const char *name, *text;
    const char *missing; /* how it ends; NULL: nothing is known to be missing */
} reviews[] = {
    { "everything is allowed",
      "{'status':{'resourceRules':[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]}}", NULL },
    { "nothing is allowed", "{'status':{'resourceRules':[]}}", " others" },
    { "a review that does not know everything", "{'status':{'incomplete':true,'resourceRules':[]}}",
      NULL },
    { "no review", "{}", NULL },
};

static void check_review(void **state)
{
    const struct review *row = *state;
    CLEANUP_JSON json_t *review = tree(row->text);
    CLEANUP_FREE char *missing = prerequisites_missing_rights(review);
    if (row->missing)
        assert_true(str_has_suffix(missing, row->missing));
    else
        assert_null(missing);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    SUITE_ROWS(&s, check_review, reviews);
    return suite_run(&s, "rights");
}
