/* What is seen of each machine of tests/roots, byte for byte, and whether the schema of GpuNode
 * takes it. The kernel log of a machine is its file kernel.log, as syslog(2) returns it. `make
 * golden` rewrites the inventories (OSTLER_GOLDEN=write). */
#include "node/inventory/inventory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "sim/api/refusal.h"
#include "sim/api/schema.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"

#define CRD "crds/ostler.dev_gpunodes.yaml"

enum { INVENTORY_MAX = 1 << 20 };

/* When the kernel log of a machine is read, and how long it has run then. */
static const struct log_time log_time = { 1764590400LL * 1000 * 1000, 86400LL * 1000 * 1000 };

/* The inventory of a machine. `log`: its kernel log, if there is such a file. New reference. */
static json_t *seen(const char *root_path, const char *log)
{
    struct faults faults = { 0 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_INVENTORY struct inventory i = { 0 };
    assert_int_equal(root_open(&root, root_path, &e), 0);
    fake_root_look_begins();
    inventory_look(&root, &i);
    fake_root_look_ends();
    if (access(log, F_OK) == 0) {
        faults_read(&faults, log, log_time);
        inventory_add_faults(&i, &faults);
    }
    return inventory_json(&i);
}

static char *read_whole(const char *path)
{
    CLEANUP_BUF struct buf text = BUF_INIT(INVENTORY_MAX);
    char chunk[4096];
    size_t n;
    FILE *f = fopen(path, "re");
    if (!f)
        fail_msg("%s is missing; `make golden` writes it", path);
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        assert_true(buf_add(&text, chunk, n));
    fclose(f);
    return buf_take(&text);
}

static void write_whole(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Every member is one of the schema's, and nothing is longer than it allows. */
static void check_schema(const json_t *inventory)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(CRD, NULL, &e);
    assert_non_null(documents);
    const json_t *version = json_array_get(json_at(json_array_get(documents, 0), "spec.versions"),
                                           0);
    struct schema *schema = schema_new(json_at(version, "schema.openAPIV3Schema.properties.status"),
                                       &e);
    assert_non_null(schema);
    CLEANUP_JSON json_t *status = json_pack("{s:O}", "inventory", inventory);
    CLEANUP_JSON json_t *unknown = json_array();
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    CLEANUP_JSON json_t *read = schema_read(schema, NULL, NULL, status, unknown);
    assert_true(json_equal(read, status));
    assert_int_equal(json_array_size(unknown), 0);
    if (!schema_check(schema, true, NULL, status, &refusal) || refusal.code)
        fail_msg("the schema does not take it");
    schema_free(schema);
}

static void check_machine(void **state)
{
    const char *name = *state;
    char *root = fake_root_of(name);
    CLEANUP_FREE char *log = xasprintf(FAKE_ROOTS "/%s/kernel.log", name);
    CLEANUP_JSON json_t *inventory = seen(root, log), *again = seen(root, log);
    fake_root_free(root);
    assert_true(inventory_same(inventory, again));
    check_schema(inventory);
    CLEANUP_FREE char *path = xasprintf(FAKE_ROOTS "/%s/inventory.yaml", name),
                      *got = yaml_dump(inventory);
    if (str_eq(getenv("OSTLER_GOLDEN"), "write"))
        write_whole(path, got);
    CLEANUP_FREE char *want = read_whole(path);
    assert_string_equal(got, want);
}

/* ---- what counts as the same */

static void check_same(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *a = json_pack("{s:{s:b, s:i, s:b}}", "module", "loaded", 1, "references",
                                       3, "inUse", 1);
    CLEANUP_JSON json_t *b = json_deep_copy(a);
    json_object_set_new(json_at(b, "module"), "references", json_integer(4));
    assert_true(inventory_same(a, b));
    assert_int_equal(json_int(a, "module.references", -1), 3);
    json_object_set_new(json_at(b, "module"), "inUse", json_false());
    assert_false(inventory_same(a, b));
    assert_false(inventory_same(a, NULL));
    assert_true(inventory_same(NULL, NULL));
}

static void check_users(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *seen = json_pack("{s:{s:b}, s:[{}, {}], s:i}", "module", "inUse", 1,
                                          "holders", "holdersLeftOut", 3);
    CLEANUP_JSON json_t *nothing = json_object();
    assert_int_equal(inventory_users(seen), 6);
    assert_int_equal(inventory_users(nothing), 0);
}

static int is_machine(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(void)
{
    struct suite s = { 0 };
    struct dirent **machines = NULL;
    int n = scandir(FAKE_ROOTS, &machines, is_machine, alphasort);
    for (int i = 0; i < n; i++)
        suite_add(&s, machines[i]->d_name, check_machine, machines[i]->d_name);
    suite_add(&s, "references of the module alone make no other inventory", check_same, NULL);
    suite_add(&s, "who is left out, and a module in use, are users too", check_users, NULL);
    int failed = suite_run(&s, "machines");
    for (int i = 0; i < n; i++)
        free(machines[i]);
    free(machines);
    return n > 0 ? failed : 1;
}
