/* For a while the API server has the CustomResourceDefinitions of an older Ostler, as after `helm
 * rollback`, or where Helm has left them as they were: it drops the fields that those do not have,
 * and refuses to apply them. Nothing is written again and again for that, what Ostler cannot say
 * whole it says that it cannot, with the remedy, and when the definitions are newer again all is as
 * if nothing had been. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "sim/api/builtin.h"
#include "sim/api/custom_rules.h"
#include "tests/sweep/sweep.h"

enum { MINUTE_MS = 60 * 1000, OLDER_MS = 10 * MINUTE_MS, PATH_MAX_LEN = 128 };

/* The number that the older ones have. */
#define OLDER_SCHEMA "1"

/* Fields that were added since the definitions with which other versions came to nodes for the
 * first time (82d125b). */
static const struct {
    const char *plural, *parent, *field; /* the parent: a path of properties */
} added[] = {
    { "gpuclusterpolicies", "spec", "nodeAgent" },
    { "gpuclusterpolicies", "status.rollout", "plan" },
    { "gpuclusterpolicies", "status.rollout", "pace" },
    { "gpuclusterpolicies", "status.rollout", "until" },
    { "gpunodes", "status", "gpus" },
    { "gpunodes", "status", "product" },
    { "gpunodes", "status", "lastWords" },
    { "gpunodes", "status", "timeToReady" },
    { "gpunodes", "status", "next" },
    { "gpunodes", "status", "inventory" },
};

static const struct older_row {
    const char *text;
    const char *plurals[2];
    bool restarts; /* Ostler starts anew, and so looks at them */
} rows[] = {
    { "the definition of GpuNodes", { "gpunodes" }, false },
    { "the definition of GpuNodes, and Ostler starts anew,", { "gpunodes" }, true },
    { "the definition of GpuClusterPolicies", { "gpuclusterpolicies" }, false },
    { "the definition of GpuClusterPolicies, and Ostler starts anew,",
      { "gpuclusterpolicies" },
      true },
    { "every definition, and Ostler starts anew,", { "gpunodes", "gpuclusterpolicies" }, true },
};

struct older_case {
    const struct older_row *what;
    size_t nth; /* the write with which it begins */
    size_t writes;
    struct custom_schemas *schemas;
};

static struct older_case *case_of(const struct run *r)
{
    return r->plan->arg;
}

/* ---- definitions */

/* The schema at a path of properties. Borrowed; NULL: there is none. */
static json_t *schema_at(json_t *schema, const char *path)
{
    char text[PATH_MAX_LEN], *rest = text;
    snprintf(text, sizeof text, "%s", path);
    for (char *name; (name = strsep(&rest, "."));)
        schema = json_object_get(json_object_get(schema, "properties"), name);
    return schema;
}

/* New reference. */
static json_t *older_definition(const char *plural)
{
    json_t *definition = builtin_crd_of(plural);
    json_t *version = json_array_get(json_at(definition, "spec.versions"), 0);
    json_t *schema = json_at(version, "schema.openAPIV3Schema");
    for (size_t i = 0; i < ARRAY_LEN(added); i++)
        if (str_eq(added[i].plural, plural))
            json_object_del(json_object_get(schema_at(schema, added[i].parent), "properties"),
                            added[i].field);
    return definition;
}

static struct custom_schemas *older_schemas(const struct older_row *row)
{
    struct custom_schemas *schemas = custom_schemas_new();
    for (size_t i = 0; i < ARRAY_LEN(row->plurals) && row->plurals[i]; i++) {
        CLEANUP_JSON json_t *definition = older_definition(row->plurals[i]);
        custom_schemas_use(schemas, definition);
    }
    return schemas;
}

/* An API server reads what is stored by the definition that there is: what that does not have is
 * gone. */
static void drop_added(struct run *r, const struct kind *k)
{
    CLEANUP_JSON json_t *patch = json_object();
    for (size_t i = 0; i < ARRAY_LEN(added); i++)
        if (str_eq(added[i].plural, k->plural) && str_has_prefix(added[i].parent, "status")) {
            CLEANUP_FREE char *path = xasprintf("%s.%s", added[i].parent, added[i].field);
            json_set_at(patch, path, json_null());
        }
    for (size_t i = 0; i < api_count(r->api, k); i++) {
        const json_t *object = api_at(r->api, k, i);
        CLEANUP_REFUSAL struct refusal refusal = { 0 };
        if (json_at(object, "status") &&
            api_merge(r->api, ADMIN, k, NULL, object_name(object), "status", patch, &refusal) < 0)
            run_finding(r, "an object does not fit its definition: %s",
                        str_or_empty(refusal.message));
    }
}

static void store(struct run *r, const json_t *definition, const char *schema)
{
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:{s:s}}, s:{s:O}}", "metadata", "annotations",
                                           ANNOTATION_SCHEMA, schema, "spec", "versions",
                                           json_at(definition, "spec.versions"));
    if (api_merge(r->api, ADMIN, kind_named("customresourcedefinitions"), NULL,
                  object_name(definition), "", patch, &refusal) < 0)
        run_finding(r, "a definition cannot be changed: %s", str_or_empty(refusal.message));
}

/* The row's definitions are older from now on, or newer again; the watches of their objects end. */
static void define(struct run *r, bool older)
{
    const struct older_case *c = case_of(r);
    api_share_schemas(r->api, older ? c->schemas : r->life->schemas);
    for (size_t i = 0; i < ARRAY_LEN(c->what->plurals) && c->what->plurals[i]; i++) {
        const struct kind *k = kind_named(c->what->plurals[i]);
        CLEANUP_JSON json_t *newest = builtin_crd_of(k->plural),
                            *older_one = older_definition(k->plural);
        store(r, older ? older_one : newest,
              older ? OLDER_SCHEMA : object_annotation(newest, ANNOTATION_SCHEMA));
        if (older)
            drop_added(r, k);
        wire_gone(r->wire, k);
    }
}

/* ---- what Ostler says of it */

static bool says_so(const struct older_row *row, const json_t *policy)
{
    const json_t *conditions = json_at(policy, "status.conditions");
    bool works_on = !row->plurals[1] && str_eq(row->plurals[0], "gpunodes"), degraded = false;
    size_t i;
    json_t *condition;
    json_array_foreach (conditions, i, condition) {
        if (str_eq(json_str(condition, "reason"), "CRDOutdated") &&
            strstr(json_str_or_empty(condition, "message"), "kubectl apply --server-side"))
            return true;
        degraded |= str_eq(json_str(condition, "type"), "Degraded") &&
                    str_eq(json_str(condition, "status"), "True");
    }
    return works_on && degraded; /* for something that is worse */
}

/* What an older definition knows of a report is true: this field was there from the beginning.
 * Policies that are not understood stop all else. */
static void check_reports(struct run *r)
{
    const struct kind *nodes = kind_named("nodes");
    for (size_t i = 0; i < api_count(r->api, nodes); i++) {
        const json_t *node = api_at(r->api, nodes, i);
        const json_t *report = api_get(r->api, kind_named("gpunodes"), NULL, object_name(node));
        const char *said = json_str(report, "status.driver.revision"),
                   *is = object_label(node, LABEL_DRIVER);
        if (report && is && !object_annotation(node, ANNOTATION_CLAIM) && !str_eq(said, is))
            run_finding(r, "the report of %s names driver revision %s: it is %s", object_name(node),
                        str_or_empty(said), is);
    }
}

static void on_end(void *arg)
{
    struct run *r = arg;
    const struct older_row *row = case_of(r)->what;
    const json_t *policy = api_get(r->api, kind_named("gpuclusterpolicies"), NULL, "default");
    if (policy && !object_is_deleting(policy) && !says_so(row, policy))
        run_finding(r,
                    "no condition says that the definition is older than Ostler, and what to do");
    if (str_eq(row->plurals[0], "gpunodes") && !row->plurals[1])
        check_reports(r);
    define(r, false);
    run_hold(r, r->sim.now_ms + MINUTE_MS);
}

static void on_begin(void *arg)
{
    define(arg, true);
}

static void on_older_sent(struct run *r, const struct wire_client *client,
                          const struct request *request)
{
    struct older_case *c = case_of(r);
    if (request->class != REQUEST_WRITE || ++c->writes != c->nth)
        return;
    if (c->what->restarts)
        process_kill(run_sender(r, client));
    run_call(r, 0, on_begin, r, NULL);
    run_call(r, OLDER_MS, on_end, r, NULL);
    run_hold(r, r->sim.now_ms + OLDER_MS + 1);
    r->result->counts.fired++;
}

size_t older_cases(const struct sweep_env *env)
{
    return env->writes * ARRAY_LEN(rows);
}

size_t older_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    const struct older_row *row = &rows[index % ARRAY_LEN(rows)];
    struct older_case c = { .what = row,
                            .nth = index / ARRAY_LEN(rows) + 1,
                            .schemas = older_schemas(row) },
                      fresh = c;
    CLEANUP_FREE char *what = xasprintf("from write %zu on %s is older for ten minutes", c.nth,
                                        row->text);
    struct run_plan plan = {
        .seed = 1, .on_sent = on_older_sent, .arg = &c, .fresh = &fresh, .arg_size = sizeof c
    };
    size_t found = sweep_live(env, &plan, true, what, counts, out);
    custom_schemas_free(c.schemas);
    return found;
}
