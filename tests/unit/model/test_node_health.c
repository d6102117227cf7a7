/* What is kept of the health of GPUs in a report, whoever wrote it. */
#include "reconcilers/model/node_health.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/node_inventory.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define A "'address':'0000:65:00.0'"
#define TIMES "'first':'2026-11-28T10:00:00Z','last':'2026-11-28T10:00:05Z','bootId':'b-1'"
#define FAULT(xid) "{" A ",'xid':" #xid ",'count':2," TIMES "}"

static struct node_health *health_of(const char *inventory)
{
    CLEANUP_JSON json_t *t = tree(inventory);
    return node_health_read(t);
}

/* What a report comes to, in one line; the caller frees it. */
static char *shown(const struct node_health *h)
{
    struct buf b = BUF_INIT(4096);
    for (size_t i = 0; h && i < h->gpus_len; i++) {
        const struct gpu_health *g = &h->gpus[i];
        const char *recovery = gpu_recovery_name((enum gpu_recovery) g->recovery);
        buf_printf(&b, "gpu %s %s %s f%d%s%s%s%s%s dbe%u;", g->address,
                   *g->serial ? g->serial : "-", recovery ? recovery : "-", g->fabric,
                   g->remap_pending ? " pending" : "", g->remap_failed ? " failed" : "",
                   g->sram_exceeded ? " sram" : "", g->lost ? " lost" : "",
                   g->hangs ? " hangs" : "", g->double_bit_errors);
    }
    for (size_t i = 0; h && i < h->faults_len; i++) {
        const struct gpu_fault *f = &h->faults[i];
        const char *recovery = gpu_recovery_name((enum gpu_recovery) f->recovery);
        buf_printf(&b, "xid %u %s %s%s%s x%u %u-%u %s;", f->xid, f->address,
                   recovery ? recovery : "-", f->nvswitch ? " switch" : "",
                   f->fatal ? " fatal" : "", f->count, f->first_s, f->last_s,
                   f->boot == inventory_boot("b-1") ? "b-1"
                   : f->boot                        ? "other"
                                                    : "-");
    }
    char *text = xstrdup(buf_text(&b));
    buf_clear(&b);
    return text;
}

#define GPU(members) "{'health':[{" A members "}]}"
#define ONE(rest) "gpu 0000:65:00.0 " rest ";"
#define SEEN "1795860000-1795860005"

static const struct row {
    const char *name, *inventory, *want;
} rows[] = {
    { "an empty inventory", "{}", "" },
    { "empty lists", "{'health':[],'faults':[]}", "" },
    { "a GPU without news", GPU(), "" },
    { "a GPU that is well",
      GPU(",'serial':'1','recovery':'None','remapPending':false,'remapFailed':false,"
          "'doubleBitErrors':0,'sramExceeded':false,'fabric':'Healthy'"),
      "" },
    { "each recovery action", GPU(",'recovery':'Reset'"), ONE("- Reset f0 dbe0") },
    { "reboot", GPU(",'recovery':'Reboot'"), ONE("- Reboot f0 dbe0") },
    { "drain peers", GPU(",'recovery':'DrainPeers'"), ONE("- DrainPeers f0 dbe0") },
    { "drain and reset", GPU(",'recovery':'DrainAndReset'"), ONE("- DrainAndReset f0 dbe0") },
    { "recover the domain", GPU(",'recovery':'RecoverDomain'"), ONE("- RecoverDomain f0 dbe0") },
    { "a row waits for its spare", GPU(",'remapPending':true"), ONE("- - f0 pending dbe0") },
    { "a row has no spare", GPU(",'remapFailed':true"), ONE("- - f0 failed dbe0") },
    { "double-bit errors", GPU(",'doubleBitErrors':3"), ONE("- - f0 dbe3") },
    { "errors of the on-chip memory", GPU(",'sramExceeded':true"), ONE("- - f0 sram dbe0") },
    { "a limited fabric", GPU(",'fabric':'Limited'"), ONE("- - f2 dbe0") },
    { "a broken fabric", GPU(",'fabric':'Unhealthy'"), ONE("- - f3 dbe0") },
    { "a lost GPU", GPU(",'lost':true"), ONE("- - f0 lost dbe0") },
    { "a GPU that does not answer", GPU(",'hangs':true"), ONE("- - f0 hangs dbe0") },
    { "the serial number", GPU(",'lost':true,'serial':'1321020023456'"),
      ONE("1321020023456 - f0 lost dbe0") },
    { "the longest serial number", GPU(",'lost':true,'serial':'1234567890123456789012345678901'"),
      ONE("1234567890123456789012345678901 - f0 lost dbe0") },
    { "a longer serial number", GPU(",'lost':true,'serial':'12345678901234567890123456789012'"),
      ONE("- - f0 lost dbe0") },
    { "a serial number that breaks a line", GPU(",'lost':true,'serial':'1\\n2'"),
      ONE("- - f0 lost dbe0") },
    { "words of no agent",
      GPU(",'recovery':'reset','fabric':'bad','lost':'yes','hangs':1,'remapPending':null,"
          "'doubleBitErrors':-1"),
      "" },
    { "more errors than a number holds", GPU(",'doubleBitErrors':2147483648"), "" },
    { "of two GPUs, the one that is not well",
      "{'health':[{'address':'0000:17:00.0','recovery':'None'},{" A ",'recovery':'Reset'}]}",
      ONE("- Reset f0 dbe0") },
    { "a fault, and its GPU although it is well",
      "{'faults':[" FAULT(94) "],'health':[{'address':'0000:17:00.0','recovery':'None'},{" A
                              ",'serial':'7','recovery':'None'}]}",
      ONE("7 None f0 dbe0") "xid 94 0000:65:00.0 - x2 " SEEN " b-1;" },
    { "a fault of a recovery action",
      "{'faults':[{" A ",'xid':154,'recovery':'Reboot','count':1," TIMES "}]}",
      "xid 154 0000:65:00.0 Reboot x1 " SEEN " b-1;" },
    { "a fatal fault of NVLink", "{'faults':[{" A ",'xid':149,'fatal':true,'count':1," TIMES "}]}",
      "xid 149 0000:65:00.0 - fatal x1 " SEEN " b-1;" },
    { "a fault of an NVSwitch",
      "{'faults':[{'address':'0000:c1:00.0','xid':20034,'nvswitch':true,'count':1," TIMES "}]}",
      "xid 20034 0000:c1:00.0 - switch x1 " SEEN " b-1;" },
    { "a fault of another boot, with no more",
      "{'faults':[{" A ",'xid':31,'count':0,'bootId':'b-0'}]}",
      "xid 31 0000:65:00.0 - x1 0-0 other;" },
    { "a fault without a boot", "{'faults':[{" A ",'xid':31,'count':2147483648,'last':'today'}]}",
      "xid 31 0000:65:00.0 - x1 0-0 -;" },
    { "times beyond what is kept",
      "{'faults':[{" A ",'xid':31,'first':'1969-12-31T23:59:59Z','last':'9999-12-31T23:59:59Z'}]}",
      "xid 31 0000:65:00.0 - x1 0-0 -;" },
    { "number 0 and the highest", "{'faults':[{" A ",'xid':0},{" A ",'xid':65535}]}",
      "xid 0 0000:65:00.0 - x1 0-0 -;xid 65535 0000:65:00.0 - x1 0-0 -;" },
    { "faults without a number, or with none of a driver",
      "{'faults':[{" A "},{" A ",'xid':-1},{" A ",'xid':65536},{" A ",'xid':'79'},{" A
      ",'xid':79.5}]}",
      "" },
    { "no address, or none of a bus",
      "{'faults':[{'xid':79},{'xid':79,'address':''},{'xid':79,'address':'0000:65:00'},"
      "{'xid':79,'address':'0000:65:00.0\\n'},{'xid':79,'address':'GPU-00000000-0'},"
      "{'xid':79,'address':'0000:65:00.00000000'}],'health':[{'lost':true},7,null,[]]}",
      "" },
    { "the longest address", "{'faults':[{'xid':79,'address':'00000000:65:00.0'}]}",
      "xid 79 00000000:65:00.0 - x1 0-0 -;" },
    { "the newest comes last, whatever the order",
      "{'faults':[{" A ",'xid':3,'last':'2026-11-28T10:00:03Z'},"
      "{" A ",'xid':1,'last':'2026-11-28T10:00:01Z'},{" A ",'xid':2,'last':'2026-11-28T10:00:02Z'},"
      "{" A ",'xid':4,'last':'2026-11-28T10:00:03Z'}]}",
      "xid 1 0000:65:00.0 - x1 0-1795860001 -;xid 2 0000:65:00.0 - x1 0-1795860002 -;"
      "xid 3 0000:65:00.0 - x1 0-1795860003 -;xid 4 0000:65:00.0 - x1 0-1795860003 -;" },
    { "what is no list", "{'faults':{" A ",'xid':79},'health':'lost'}", "" },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct node_health *h = health_of(row->inventory), *again = health_of(row->inventory);
    CLEANUP_FREE char *text = shown(h);
    assert_string_equal(text, row->want);
    assert_int_equal(h == NULL, *row->want == '\0');
    assert_true(node_health_same(h, again));
    if (h) {
        assert_false(node_health_same(h, NULL));
        assert_false(node_health_same(NULL, h));
    }
    free(h);
    free(again);
}

/* Inventories that differ in one field each. */
static const char *const different[] = {
    "{}",
    GPU(",'lost':true"),
    GPU(",'hangs':true"),
    GPU(",'lost':true,'serial':'1'"),
    GPU(",'lost':true,'serial':'2'"),
    GPU(",'recovery':'Reset'"),
    GPU(",'recovery':'Reboot'"),
    GPU(",'doubleBitErrors':1"),
    "{'health':[{'address':'0000:17:00.0','lost':true}]}",
    "{'health':[{'address':'0000:17:00.0','lost':true},{" A ",'lost':true}]}",
    "{'faults':[" FAULT(79) "]}",
    "{'faults':[" FAULT(48) "]}",
    "{'faults':[{" A ",'xid':48,'count':3," TIMES "}]}",
    "{'faults':[" FAULT(48) "," FAULT(79) "]}",
    "{'faults':[" FAULT(79) "," FAULT(48) "]}",
    "{'faults':[" FAULT(79) "],'health':[{" A ",'recovery':'None'}]}",
};

static void check_same(void **state)
{
    (void) state;
    struct node_health *all[ARRAY_LEN(different)];
    for (size_t i = 0; i < ARRAY_LEN(different); i++)
        all[i] = health_of(different[i]);
    for (size_t i = 0; i < ARRAY_LEN(different); i++)
        for (size_t j = 0; j < ARRAY_LEN(different); j++)
            assert_int_equal(node_health_same(all[i], all[j]), i == j);
    for (size_t i = 0; i < ARRAY_LEN(different); i++)
        free(all[i]);
}

/* An inventory with so many of each. */
static json_t *crowd(size_t gpus, size_t faults)
{
    json_t *inventory = json_pack("{s:[], s:[]}", "health", "faults");
    for (size_t i = 0; i < gpus; i++)
        json_array_append_new(json_object_get(inventory, "health"),
                              json_pack("{s:o, s:b}", "address",
                                        json_textf("0000:%02x:00.0", (unsigned) i), "lost", 1));
    for (size_t i = 0; i < faults; i++)
        json_array_append_new(json_object_get(inventory, "faults"),
                              json_pack("{s:s, s:i}", "address", "0000:65:00.0", "xid", (int) i));
    return inventory;
}

/* Lists that are longer than an agent's are no agent's. */
static void check_limits(void **state)
{
    static const struct {
        size_t gpus, faults, want_gpus, want_faults;
    } counts[] = {
        { HEALTH_GPUS_MAX, HEALTH_FAULTS_MAX, HEALTH_GPUS_MAX, HEALTH_FAULTS_MAX },
        { HEALTH_GPUS_MAX + 1, HEALTH_FAULTS_MAX, 0, HEALTH_FAULTS_MAX },
        { HEALTH_GPUS_MAX, HEALTH_FAULTS_MAX + 1, HEALTH_GPUS_MAX, 0 },
        { 1000, 1000, 0, 0 },
    };
    (void) state;
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        CLEANUP_JSON json_t *inventory = crowd(counts[i].gpus, counts[i].faults);
        struct node_health *h = node_health_read(inventory);
        assert_int_equal(h ? h->gpus_len : 0, counts[i].want_gpus);
        assert_int_equal(h ? h->faults_len : 0, counts[i].want_faults);
        free(h);
    }
    assert_null(node_health_read(NULL));
}

/* A GpuNode keeps it, and is another one with it. */
static void check_gpu_node(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *well = tree("{'metadata':{'name':'a'},'status':{'inventory':" GPU(
                            ",'recovery':'None'") "}}"),
                        *ill = tree("{'metadata':{'name':'a'},'status':{'inventory':" GPU(
                            ",'recovery':'Reset'") "}}");
    struct gpu_node *a = gpu_node_project(well), *b = gpu_node_project(ill),
                    *c = gpu_node_project(ill);
    assert_null(a->health);
    assert_non_null(b->health);
    assert_false(gpu_node_same(a, b));
    assert_true(gpu_node_same(b, c));
    gpu_node_free(a);
    gpu_node_free(b);
    gpu_node_free(c);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "the same, and not", check_same, NULL);
    suite_add(&s, "more than an agent writes", check_limits, NULL);
    suite_add(&s, "a GpuNode has it", check_gpu_node, NULL);
    return suite_run(&s, "node_health");
}
