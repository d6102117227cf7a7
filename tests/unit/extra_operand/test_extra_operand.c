/* An operand is a row and a YAML file: Ostler, built with one more follower (operand_rows.h in this
 * folder), makes it, counts it, tells of it and takes it off. Nothing else knows that follower. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "kube/object.h"
#include "commands/offline.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/names.h"
#include "sim/actors/actors.h"
#include "sim/api/builtin.h"
#include "sim/api/custom_rules.h"
#include "sim/world/process.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define NAME "feature-reporter"
#define IMAGE "nvcr.io/nvidia/feature-reporter:v1.2.3"
#define LABEL_OFF MARK_PREFIX NAME

enum { MINUTE_MS = 60 * 1000 };

/* A cluster with two GPU nodes, one of them of the pool `bare`, and an Ostler. */
struct setting {
    struct sim sim;
    struct api *api;
    struct custom_schemas *schemas;
    struct wire *wire;
    struct fault_plan faults;
    struct manifests *manifests;
    struct actors *actors;
    struct process *ostler;
    json_t *objects, *labels, *bare;
    struct spec_shape shape;
    struct spec_node nodes[2];
    struct spec_world world;
};

/* The policy's definition, as a person would have made it for the new section. New reference. */
static json_t *policy_definition(void)
{
    json_t *crd = builtin_crd_of("gpuclusterpolicies");
    json_t *version = json_array_get(json_at(crd, "spec.versions"), 0);
    json_t *spec = json_at(version, "schema.openAPIV3Schema.properties.spec.properties");
    CLEANUP_JSON json_t *section = tree(
        "{'type': 'object', 'properties': {'enabled': {'type': 'boolean'}}}");
    json_object_set(spec, "featureReporter", section);
    json_object_set(json_at(spec, "pools.items.properties"), "featureReporter", section);
    return crd;
}

static json_t *first_objects(void)
{
    json_t *objects = tree(
        "[{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'ostler-system'}},"
        " {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'ostler-operands'}}]");
    CLEANUP_JSON json_t *crds = builtin_crds();
    json_array_extend(objects, crds);
    json_array_append_new(objects,
                          tree("{'apiVersion': 'ostler.dev/v1alpha1', 'kind': 'GpuClusterPolicy',"
                               " 'metadata': {'name': 'default'}, 'spec': {}}"));
    return objects;
}

static int set_up(void **state)
{
    struct setting *s = xcalloc(1, sizeof *s);
    log_setup(LOG_SILENT, false);
    sim_init(&s->sim, 1);
    s->faults = (struct fault_plan){ .rng = rng_of(1) };
    s->api = api_new(&s->sim.clock);
    s->schemas = custom_schemas_new();
    CLEANUP_JSON json_t *definition = policy_definition();
    custom_schemas_use(s->schemas, definition);
    api_share_schemas(s->api, s->schemas);
    s->wire = wire_new(&(struct wire_options){ .sim = &s->sim,
                                               .api = s->api,
                                               .faults = &s->faults,
                                               .latency_min_ms = 1,
                                               .latency_max_ms = 20 });
    s->manifests = manifests_new(NULL);
    s->labels = tree("{'feature.node.kubernetes.io/pci-0302_10de.present': 'true'}");
    s->bare = tree("{'pool': 'bare'}");
    s->shape = (struct spec_shape){ .name = "gpu",
                                    .os_image = "Ubuntu 24.04.1 LTS",
                                    .os_id = "ubuntu",
                                    .os_version = "24.04",
                                    .kernel = "6.8.0-49-generic",
                                    .gpus = 8,
                                    .labels = s->labels };
    s->nodes[0] = (struct spec_node){ .name = "gpu-1", .shape = &s->shape };
    s->nodes[1] = (struct spec_node){ .name = "gpu-2", .shape = &s->shape, .labels = s->bare };
    s->objects = first_objects();
    s->world = (struct spec_world){ .nodes = s->nodes,
                                    .node_count = ARRAY_LEN(s->nodes),
                                    .objects = s->objects };
    s->actors = actors_new(&s->sim, s->api, &(struct actors_options){ .world = &s->world });
    s->ostler = process_new(
        &(struct process_options){ .sim = &s->sim,
                                   .wire = s->wire,
                                   .engine.manifests = s->manifests,
                                   .name = "ostler",
                                   .user = "system:serviceaccount:ostler-system:ostler",
                                   .engine.lease_namespace = "ostler-system",
                                   .engine.cluster.operand_namespace = "ostler-operands",
                                   .engine.cluster.limits = POLICY_LIMITS_DEFAULT,
                                   .engine.cluster.absent_grace_ms = 10 * MINUTE_MS,
                                   .restart_ms = -1,
                                   .engine.leader_elect = true });
    process_start(s->ostler);
    sim_run_until(&s->sim, s->sim.now_ms + 30 * MINUTE_MS);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct setting *s = *state;
    process_free(s->ostler);
    actors_free(s->actors);
    wire_free(s->wire);
    fault_plan_clear(&s->faults);
    sim_clear(&s->sim);
    api_free(s->api);
    custom_schemas_free(s->schemas);
    manifests_free(s->manifests);
    json_decref(s->objects);
    json_decref(s->labels);
    json_decref(s->bare);
    free(s);
    return 0;
}

static const json_t *daemonset(const struct setting *s)
{
    return api_get(s->api, kind_named("daemonsets"), "ostler-operands", NAME);
}

static const json_t *node(const struct setting *s, const char *name)
{
    return api_get(s->api, kind_named("nodes"), NULL, name);
}

/* What the policy's status says of an operand. */
static const json_t *status_of(const struct setting *s, const char *operand)
{
    const json_t *policy = api_get(s->api, kind_named("gpuclusterpolicies"), NULL, "default");
    size_t i;
    json_t *entry;
    json_array_foreach (json_at(policy, "status.operands"), i, entry)
        if (str_eq(json_str(entry, "name"), operand))
            return entry;
    return NULL;
}

static void edit_policy(struct setting *s, const char *patch)
{
    CLEANUP_JSON json_t *change = tree(patch);
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_merge(s->api, "admin", kind_named("gpuclusterpolicies"), NULL, "default", "", change,
                  &r) < 0)
        fail_msg("%s", r.message);
    sim_run_until(&s->sim, s->sim.now_ms + 10 * MINUTE_MS);
}

static void is_made_and_counted(void **state)
{
    struct setting *s = *state;
    const json_t *container = json_array_get(json_at(daemonset(s), "spec.template.spec.containers"),
                                             0);
    assert_string_equal(json_str_or_empty(container, "image"), IMAGE);
    assert_string_equal(json_str_or_empty(container, "imagePullPolicy"), "IfNotPresent");
    assert_string_equal(json_str_or_empty(daemonset(s), "spec.template.spec.priorityClassName"),
                        "system-node-critical");
    assert_non_null(object_annotation(daemonset(s), ANNOTATION_INTENT));
    assert_non_null(object_annotation(daemonset(s), ANNOTATION_KNOWN_GOOD));
    assert_int_equal(json_int(daemonset(s), "status.numberReady", 0), 2);
    assert_int_equal(json_int(status_of(s, NAME), "desired", 0), 2);
    assert_int_equal(json_int(status_of(s, NAME), "ready", 0), 2);
    assert_int_equal(json_int(status_of(s, "exporter"), "ready", 0), 2);
}

static void is_taken_off_a_pool(void **state)
{
    struct setting *s = *state;
    edit_policy(s, "{'spec': {'pools': [{'name': 'bare', 'nodeSelector': {'pool': 'bare'},"
                   " 'featureReporter': {'enabled': false}}]}}");
    assert_null(object_label(node(s, "gpu-1"), LABEL_OFF));
    assert_string_equal(object_label(node(s, "gpu-2"), LABEL_OFF), "false");
    assert_int_equal(json_int(daemonset(s), "status.numberReady", 0), 1);
    assert_int_equal(json_int(status_of(s, NAME), "desired", 0), 1);
    assert_int_equal(json_int(status_of(s, "exporter"), "ready", 0), 2);
}

static void is_switched_off(void **state)
{
    struct setting *s = *state;
    edit_policy(s, "{'spec': {'featureReporter': {'enabled': false}}}");
    assert_null(daemonset(s));
    assert_int_equal(json_int(status_of(s, NAME), "desired", 1), 0);
    assert_int_equal(json_int(status_of(s, "exporter"), "ready", 0), 2);
}

static const struct policy_row {
    const char *name;
    const char *section;
    const char *said; /* "": nothing is wrong */
} policy_rows[] = {
    { "an image and a setting", "{'version': 'v2', 'args': ['--device-id-strategy=uuid']}", "" },
    { "an unknown field", "{'interval': '30s'}",
      "spec.featureReporter.interval: is not a field that this version of Ostler knows" },
    { "an image from elsewhere", "{'repository': 'evil.io'}",
      "spec.featureReporter.repository: evil.io/feature-reporter" },
    { "a variable that Ostler sets", "{'env': [{'name': 'NODE_NAME', 'value': 'x'}]}",
      "spec.featureReporter.env[0].name: is set by Ostler itself and cannot be set here" },
    { "a variable that is not allowed", "{'env': [{'name': 'BASH_ENV', 'value': 'x'}]}",
      "spec.featureReporter.env[0]: BASH_ENV is not allowed" },
};

static void check_policy(void **state)
{
    const struct policy_row *row = *state;
    CLEANUP_JSON json_t *object = tree("{'metadata': {'name': 'default'}, 'spec': {}}");
    json_set_at(object, "spec.featureReporter", tree(row->section));
    struct policy policy;
    struct policy_problems problems = { 0 };
    int rc = policy_decode(object, &POLICY_LIMITS_DEFAULT, &policy, &problems);
    CLEANUP_FREE char *text = policy_problems_text(&problems);
    policy_clear(&policy);
    policy_problems_clear(&problems);
    assert_int_equal(rc, *row->said ? -1 : 0);
    if (!strstr(text, row->said))
        fail_msg("%s", text);
}

/* Runs `ostler render` for a file; what it prints. */
static char *rendered(const char *policy)
{
    char path[] = "/tmp/ostler-extra-XXXXXX", *text = xcalloc(1, 1 << 18);
    int fd = mkstemp(path), stdout_before = dup(STDOUT_FILENO);
    FILE *out = tmpfile();
    assert_true(fd >= 0 && stdout_before >= 0 && out);
    assert_int_equal(write(fd, policy, strlen(policy)), (ssize_t) strlen(policy));
    close(fd);
    fflush(stdout);
    dup2(fileno(out), STDOUT_FILENO);
    int rc = offline_render(&(struct options){ .called = "ostler",
                                               .file = path,
                                               .operand_namespace = "ostler-operands",
                                               .limits = POLICY_LIMITS_DEFAULT });
    fflush(stdout);
    dup2(stdout_before, STDOUT_FILENO);
    close(stdout_before);
    unlink(path);
    rewind(out);
    text[fread(text, 1, (1 << 18) - 1, out)] = '\0';
    fclose(out);
    assert_int_equal(rc, 0);
    return text;
}

#define HEAD                                                                                       \
    "apiVersion: ostler.dev/v1alpha1\nkind: GpuClusterPolicy\nmetadata: {name: default}\nspec:"

static void is_rendered_offline(void **state)
{
    (void) state;
    CLEANUP_FREE char *with = rendered(HEAD " {}\n");
    CLEANUP_FREE char *without = rendered(HEAD " {featureReporter: {enabled: false}}\n");
    assert_non_null(strstr(with, "  name: " NAME "\n"));
    assert_non_null(strstr(with, IMAGE));
    assert_null(strstr(without, NAME));
    assert_non_null(strstr(without, "  name: exporter\n"));
}

int main(void)
{
    struct suite s = { 0 };
    suite_add_fixture(&s, "is made and counted", is_made_and_counted, set_up, tear_down);
    suite_add_fixture(&s, "is taken off a pool", is_taken_off_a_pool, set_up, tear_down);
    suite_add_fixture(&s, "is switched off", is_switched_off, set_up, tear_down);
    SUITE_ROWS(&s, check_policy, policy_rows);
    suite_add(&s, "is rendered offline", is_rendered_offline, NULL);
    return suite_run(&s, "one more operand");
}
