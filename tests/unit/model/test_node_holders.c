/* What is kept of who has a GPU open, whoever wrote it. */
#include "reconcilers/model/node_holders.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define POD(uid) "{'podUid':'" uid "','process':'python3','processes':1,'minors':[0]}"
#define HOST "{'process':'nv-hostengine','unit':'dcgm.service','pid':812,'processes':2,'minors':[]}"

static const struct row {
    const char *name, *holders; /* the list; NULL: there is none */
    size_t pods, hosts;
    const char *process, *unit; /* of the first of those */
    int pid;
    bool fixed;
} rows[] = {
    { "nothing is said", NULL, 0, 0, NULL, NULL, 0, false },
    { "no holder", "[]", 0, 0, NULL, NULL, 0, false },
    { "a pod", "[" POD("a-1") "]", 1, 0, NULL, NULL, 0, false },
    { "two containers of a pod", "[" POD("a-1") "," POD("a-1") "," POD("a-2") "]", 2, 0, NULL, NULL,
      0, false },
    { "a process of the host", "[" HOST "," POD("a-1") "]", 1, 1, "nv-hostengine", "dcgm.service",
      812, false },
    { "a static pod", "[" POD("0123456789abcdef0123456789abcdef") "]", 0, 1, "python3", "", 0,
      true },
    { "what is no list", "{'podUid':'a-1'}", 0, 0, NULL, NULL, 0, false },
    { "what is no holder", "[7,'x',null,[]]", 0, 4, "", "", 0, false },
    { "numbers that no process has", "[{'process':'x','pid':-4},{'pid':99999999}]", 0, 2, "x", "",
      0, false },
    { "texts that break a line", "[{'process':'a\\nb\\u00e4'}]", 0, 1, "a?b??", "", 0, false },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_JSON json_t *inventory = json_object();
    if (row->holders)
        json_object_set_new(inventory, "holders", tree(row->holders));
    struct node_holders *h = node_holders_read(inventory), *again = node_holders_read(inventory);
    assert_int_equal(h != NULL, row->pods + row->hosts > 0);
    assert_true(node_holders_same(h, again));
    assert_true(node_holders_hash(h) == node_holders_hash(again));
    assert_int_equal(node_holders_hash(h) != 0, h != NULL);
    if (h) {
        assert_false(node_holders_same(h, NULL));
        assert_int_equal(h->pod_count, row->pods);
        assert_int_equal(h->host_count, row->hosts);
    }
    if (row->hosts) {
        assert_string_equal(h->hosts[0].process, row->process);
        assert_string_equal(h->hosts[0].unit, row->unit);
        assert_int_equal(h->hosts[0].pid, row->pid);
        assert_int_equal(h->hosts[0].fixed, row->fixed);
    }
    node_holders_free(h);
    node_holders_free(again);
}

static void check_who(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *inventory = tree("{'holders':[" POD("a-1") "," HOST "]}"),
                        *other = tree("{'holders':[" POD("a-1") "]}");
    struct node_holders *h = node_holders_read(inventory), *less = node_holders_read(other);
    assert_true(node_holders_have(h, str_hash_id("a-1")));
    assert_false(node_holders_have(h, str_hash_id("a-2")));
    assert_false(node_holders_have(h, str_hash_id("")));
    assert_false(node_holders_have(NULL, str_hash_id("a-1")));
    assert_false(node_holders_same(h, less));
    assert_true(node_holders_hash(h) != node_holders_hash(less));
    node_holders_free(h);
    node_holders_free(less);
}

/* More than an agent lists is no agent's. */
static void check_too_many(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *inventory = json_pack("{s:[]}", "holders");
    for (int i = 0; i <= NODE_HOLDERS_MAX; i++) {
        struct node_holders *h = node_holders_read(inventory);
        assert_int_equal(h ? h->pod_count : 0, i);
        node_holders_free(h);
        json_array_append_new(json_object_get(inventory, "holders"),
                              json_pack("{s:o}", "podUid", json_textf("a-%d", i)));
    }
    assert_null(node_holders_read(inventory));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "who is one of them", check_who, NULL);
    suite_add(&s, "too many", check_too_many, NULL);
    return suite_run(&s, "node_holders");
}
