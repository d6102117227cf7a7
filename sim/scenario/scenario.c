#include "sim/scenario/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "sim/scenario/check.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/host.h"
#include "sim/world/sim.h"

enum { NODES_MAX = 20000, BASES_MAX = 4 };

/* Owner of a scenario's data. */
struct scenario_store {
    json_t *documents;
    struct spec_shape *shapes;
    size_t shape_count;
    struct arena arena; /* names of counted nodes */
    void *lists[8];     /* arrays of the world */
    size_t list_count;
};

/* One row of `nodes`: one machine, or several with numbered names. */
struct node_row {
    const char *name;
    const struct spec_shape *shape;
    const json_t *labels;
    int count; /* 0: one, with exactly this name */
};

/* One row of `actions`, which may name a node with `node`. */
struct action_row {
    struct spec_action action;
    const char *node;
};

static const char *const outcomes[] = {
    [SPEC_DRIVER_WORKS] = "Works",
    [SPEC_DRIVER_FAILS_BUILD] = "FailsBuild",
    [SPEC_DRIVER_HANGS] = "Hangs",
    [SPEC_DRIVER_FINDS_NO_GPU] = "FindsNoGpu",
    [SPEC_DRIVER_FAILS_PROOF] = "FailsProof",
    [SPEC_DRIVER_NEEDS_REBOOT] = "NeedsReboot",
    NULL,
};

static const char *const deeds[] = {
    [SPEC_CREATE] = "Create",
    [SPEC_APPLY] = "Apply",
    [SPEC_EDIT] = "Edit",
    [SPEC_DELETE] = "Delete",
    [SPEC_EVICT] = "Evict",
    [SPEC_CORDON] = "Cordon",
    [SPEC_UNCORDON] = "Uncordon",
    [SPEC_LABEL] = "Label",
    [SPEC_ANNOTATE] = "Annotate",
    [SPEC_TAINT] = "Taint",
    [SPEC_UNTAINT] = "Untaint",
    [SPEC_REBOOT] = "Reboot",
    [SPEC_NODE_DOWN] = "NodeDown",
    [SPEC_NODE_UP] = "NodeUp",
    [SPEC_NODE_CUT_OFF] = "NodeCutOff",
    [SPEC_NODE_REJOIN] = "NodeRejoin",
    [SPEC_NODE_ADD] = "NodeAdd",
    [SPEC_NODE_REMOVE] = "NodeRemove",
    [SPEC_CRASH] = "Crash",
    [SPEC_LABELLER_RESTART] = "LabellerRestart",
    [SPEC_EDIT_STATUS] = "EditStatus",
    [SPEC_GPUS_OUT] = "GpusOut",
    [SPEC_GPUS_IN] = "GpusIn",
    [SPEC_AGENT_SAYS] = "AgentSays",
    [SPEC_AGENT_SILENT] = "AgentSilent",
    [SPEC_AGENT_RESTART] = "AgentRestart",
    [SPEC_KUBELET_RESTART] = "KubeletRestart",
    [SPEC_DEED_COUNT] = NULL,
};

#define ROW(type, key_, member, ...)                                                               \
    {                                                                                              \
        .key = key_, .offset = offsetof(type, member), __VA_ARGS__                                 \
    }
#define END                                                                                        \
    {                                                                                              \
        .key = NULL                                                                                \
    }

static const struct field shape_fields[] = {
    ROW(struct spec_shape, "name", name, .type = FIELD_TEXT, .required = true),
    ROW(struct spec_shape, "osImage", os_image, .type = FIELD_TEXT),
    ROW(struct spec_shape, "osID", os_id, .type = FIELD_TEXT),
    ROW(struct spec_shape, "osVersion", os_version, .type = FIELD_TEXT),
    ROW(struct spec_shape, "kernel", kernel, .type = FIELD_TEXT),
    ROW(struct spec_shape, "architecture", architecture, .type = FIELD_TEXT),
    ROW(struct spec_shape, "containerRuntime", runtime, .type = FIELD_TEXT),
    ROW(struct spec_shape, "kubelet", kubelet, .type = FIELD_TEXT),
    ROW(struct spec_shape, "gpus", gpus, .type = FIELD_INT),
    ROW(struct spec_shape, "resource", resource, .type = FIELD_TEXT),
    ROW(struct spec_shape, "more", more, .type = FIELD_OBJECT),
    ROW(struct spec_shape, "gpuProduct", gpu_product, .type = FIELD_TEXT),
    ROW(struct spec_shape, "hostDriver", host_driver, .type = FIELD_TEXT),
    ROW(struct spec_shape, "hostToolkit", host_toolkit, .type = FIELD_BOOL),
    ROW(struct spec_shape, "host", host, .type = FIELD_OBJECT),
    ROW(struct spec_shape, "hostPlugin", host_plugin, .type = FIELD_BOOL),
    ROW(struct spec_shape, "cpus", cpus, .type = FIELD_INT64),
    ROW(struct spec_shape, "memoryMiB", memory_mib, .type = FIELD_INT64),
    ROW(struct spec_shape, "pods", pods, .type = FIELD_INT64),
    ROW(struct spec_shape, "labels", labels, .type = FIELD_OBJECT),
    ROW(struct spec_shape, "annotations", annotations, .type = FIELD_OBJECT),
    ROW(struct spec_shape, "taints", taints, .type = FIELD_LIST),
    ROW(struct spec_shape, "boot", boot, .type = FIELD_DELAY),
    END,
};

static const struct field node_fields[] = {
    ROW(struct node_row, "name", name, .type = FIELD_TEXT, .required = true),
    ROW(struct node_row, "shape", shape, .type = FIELD_SHAPE, .required = true),
    ROW(struct node_row, "labels", labels, .type = FIELD_OBJECT),
    ROW(struct node_row, "count", count, .type = FIELD_INT),
    END,
};

static const struct field image_fields[] = {
    ROW(struct spec_image, "image", pattern, .type = FIELD_TEXT, .required = true),
    ROW(struct spec_image, "node", node, .type = FIELD_TEXT),
    ROW(struct spec_image, "pull", pull, .type = FIELD_DELAY),
    ROW(struct spec_image, "missing", missing, .type = FIELD_BOOL),
    ROW(struct spec_image, "secret", secret, .type = FIELD_TEXT),
    ROW(struct spec_image, "message", message, .type = FIELD_TEXT),
    END,
};

static const struct field driver_fields[] = {
    ROW(struct spec_driver, "version", version, .type = FIELD_TEXT),
    ROW(struct spec_driver, "kernel", kernel, .type = FIELD_TEXT),
    ROW(struct spec_driver, "node", node, .type = FIELD_TEXT),
    ROW(struct spec_driver, "outcome", outcome, .type = FIELD_CHOICE, .choices = outcomes,
        .required = true),
    ROW(struct spec_driver, "build", build, .type = FIELD_DELAY),
    ROW(struct spec_driver, "loads", loads, .type = FIELD_TEXT),
    ROW(struct spec_driver, "exitCode", exit_code, .type = FIELD_INT),
    ROW(struct spec_driver, "message", message, .type = FIELD_TEXT),
    END,
};

static const struct field program_fields[] = {
    ROW(struct spec_program, "image", image, .type = FIELD_TEXT),
    ROW(struct spec_program, "pod", pod, .type = FIELD_TEXT),
    ROW(struct spec_program, "run", run, .type = FIELD_DELAY),
    ROW(struct spec_program, "exitCode", exit_code, .type = FIELD_INT),
    ROW(struct spec_program, "message", message, .type = FIELD_TEXT),
    ROW(struct spec_program, "ready", ready, .type = FIELD_DELAY),
    ROW(struct spec_program, "neverReady", never_ready, .type = FIELD_BOOL),
    ROW(struct spec_program, "stop", stop, .type = FIELD_DELAY),
    ROW(struct spec_program, "ignoresTerm", ignores_term, .type = FIELD_BOOL),
    ROW(struct spec_program, "unkillable", unkillable, .type = FIELD_BOOL),
    ROW(struct spec_program, "holdsGpu", holds_gpu, .type = FIELD_BOOL),
    END,
};

static const struct field action_fields[] = {
    ROW(struct action_row, "at", action.at_ms, .type = FIELD_DURATION, .required = true),
    ROW(struct action_row, "do", action.deed, .type = FIELD_CHOICE, .choices = deeds,
        .required = true),
    ROW(struct action_row, "user", action.user, .type = FIELD_TEXT),
    ROW(struct action_row, "node", node, .type = FIELD_TEXT),
    ROW(struct action_row, "kind", action.kind, .type = FIELD_TEXT),
    ROW(struct action_row, "namespace", action.ns, .type = FIELD_TEXT),
    ROW(struct action_row, "name", action.name, .type = FIELD_TEXT),
    ROW(struct action_row, "with", action.body, .type = FIELD_OBJECT),
    ROW(struct action_row, "shape", action.shape, .type = FIELD_SHAPE),
    END,
};

static const struct field latency_fields[] = {
    ROW(struct spec_latencies, "controller", controller, .type = FIELD_DELAY),
    ROW(struct spec_latencies, "scheduler", scheduler, .type = FIELD_DELAY),
    ROW(struct spec_latencies, "kubelet", kubelet, .type = FIELD_DELAY),
    ROW(struct spec_latencies, "collector", collector, .type = FIELD_DELAY),
    ROW(struct spec_latencies, "pull", pull, .type = FIELD_DELAY),
    ROW(struct spec_latencies, "start", start, .type = FIELD_DELAY),
    ROW(struct spec_latencies, "ready", ready, .type = FIELD_DELAY),
    ROW(struct spec_latencies, "stop", stop, .type = FIELD_DELAY),
    ROW(struct spec_latencies, "driverBuild", driver_build, .type = FIELD_DELAY),
    ROW(struct spec_latencies, "toolkit", toolkit, .type = FIELD_DELAY),
    ROW(struct spec_latencies, "plugin", plugin, .type = FIELD_DELAY),
    ROW(struct spec_latencies, "deviceUpdate", device_update, .type = FIELD_DELAY),
    ROW(struct spec_latencies, "nodeGrace", node_grace_ms, .type = FIELD_DURATION),
    ROW(struct spec_latencies, "heartbeat", heartbeat_ms, .type = FIELD_DURATION),
    END,
};

static const struct field autoscaler_fields[] = {
    ROW(struct spec_autoscaler, "shape", shape, .type = FIELD_SHAPE, .required = true),
    ROW(struct spec_autoscaler, "prefix", prefix, .type = FIELD_TEXT),
    ROW(struct spec_autoscaler, "max", max, .type = FIELD_INT, .required = true),
    ROW(struct spec_autoscaler, "scan", scan_ms, .type = FIELD_DURATION),
    ROW(struct spec_autoscaler, "idle", idle_ms, .type = FIELD_DURATION),
    END,
};

static const struct field other_operator_fields[] = {
    ROW(struct spec_other_operator, "name", name, .type = FIELD_TEXT, .required = true),
    ROW(struct spec_other_operator, "period", period, .type = FIELD_DELAY, .required = true),
    END,
};

static const struct field gitops_fields[] = {
    ROW(struct spec_gitops, "object", object, .type = FIELD_OBJECT, .required = true),
    ROW(struct spec_gitops, "kind", kind, .type = FIELD_TEXT, .required = true),
    ROW(struct spec_gitops, "period", period_ms, .type = FIELD_DURATION),
    END,
};

static const struct field change_fields[] = {
    ROW(struct scenario_change, "at", at_ms, .type = FIELD_DURATION, .required = true),
    { .key = "images", .type = FIELD_IGNORED },
    { .key = "drivers", .type = FIELD_IGNORED },
    { .key = "programs", .type = FIELD_IGNORED },
    END,
};

static const struct field world_fields[] = {
    ROW(struct scenario, "name", name, .type = FIELD_TEXT),
    ROW(struct scenario, "about", about, .type = FIELD_TEXT),
    ROW(struct scenario, "seed", seed, .type = FIELD_INT64),
    ROW(struct scenario, "agents", agents, .type = FIELD_BOOL),
    ROW(struct scenario, "labeller", world.labeller, .type = FIELD_BOOL),
    ROW(struct scenario, "others", world.others, .type = FIELD_SHAPE),
    ROW(struct scenario, "objects", world.objects, .type = FIELD_LIST),
    ROW(struct scenario, "begins", begins_us, .type = FIELD_TIME),
    ROW(struct scenario, "expect", expect, .type = FIELD_LIST),
    { .key = "base", .type = FIELD_IGNORED },
    { .key = "worlds", .type = FIELD_IGNORED },
    { .key = "shapes", .type = FIELD_IGNORED },
    { .key = "nodes", .type = FIELD_IGNORED },
    { .key = "images", .type = FIELD_IGNORED },
    { .key = "drivers", .type = FIELD_IGNORED },
    { .key = "programs", .type = FIELD_IGNORED },
    { .key = "actions", .type = FIELD_IGNORED },
    { .key = "changes", .type = FIELD_IGNORED },
    { .key = "latencies", .type = FIELD_IGNORED },
    { .key = "autoscaler", .type = FIELD_IGNORED },
    { .key = "otherOperator", .type = FIELD_IGNORED },
    { .key = "gitops", .type = FIELD_IGNORED },
    END,
};

/* ---- assembly */

/* Keeps an array for the life of the scenario. */
static void *keep(struct scenario *s, void *list)
{
    return s->store->lists[s->store->list_count++] = list;
}

static int read_rows(struct scenario *s, const json_t *root, const char *key,
                     const struct field *fields, size_t size, void **ret, size_t *ret_len,
                     struct err *e)
{
    const struct field_context c = { s->store->shapes, s->store->shape_count };
    void *list;
    int rc = fields_read_list(fields, &c, json_object_get(root, key), key, size, &list, ret_len, e);
    *ret = keep(s, list);
    return rc;
}

static int read_nodes(struct scenario *s, const json_t *root, struct err *e)
{
    struct node_row *rows;
    size_t row_count, n = 0, total = 0;
    if (read_rows(s, root, "nodes", node_fields, sizeof *rows, (void **) &rows, &row_count, e) < 0)
        return -1;
    for (size_t i = 0; i < row_count; i++) {
        total += rows[i].count ? (size_t) rows[i].count : 1;
        if (total > NODES_MAX)
            return err_set(e, ERR_INVALID, "nodes[%zu].count: more than %d nodes are not simulated",
                           i, NODES_MAX);
    }
    struct spec_node *nodes = keep(s, xcalloc(total ? total : 1, sizeof *nodes));
    for (size_t i = 0; i < row_count; i++) {
        for (int k = 0; k < rows[i].count || k == 0; k++) {
            const char *name = rows[i].count
                                   ? arena_printf(&s->store->arena, "%s-%d", rows[i].name, k + 1)
                                   : rows[i].name;
            nodes[n++] = (struct spec_node){ .name = name,
                                             .shape = rows[i].shape,
                                             .labels = rows[i].labels };
        }
    }
    s->world.nodes = nodes;
    s->world.node_count = total;
    return 0;
}

static int read_actions(struct scenario *s, const json_t *root, struct err *e)
{
    struct action_row *rows;
    size_t n;
    if (read_rows(s, root, "actions", action_fields, sizeof *rows, (void **) &rows, &n, e) < 0)
        return -1;
    struct spec_action *actions = keep(s, xcalloc(n ? n : 1, sizeof *actions));
    for (size_t i = 0; i < n; i++) {
        actions[i] = rows[i].action;
        if (rows[i].node) {
            actions[i].kind = "nodes";
            actions[i].name = rows[i].node;
        }
    }
    s->world.actions = actions;
    s->world.action_count = n;
    return 0;
}

static int read_tables(struct scenario *s, const json_t *root, struct err *e)
{
    void *images, *drivers, *programs;
    struct spec_world *w = &s->world;
    if (read_rows(s, root, "images", image_fields, sizeof *w->images, &images, &w->image_count, e) <
        0)
        return -1;
    w->images = images;
    if (read_rows(s, root, "drivers", driver_fields, sizeof *w->drivers, &drivers, &w->driver_count,
                  e) < 0)
        return -1;
    w->drivers = drivers;
    if (read_rows(s, root, "programs", program_fields, sizeof *w->programs, &programs,
                  &w->program_count, e) < 0)
        return -1;
    w->programs = programs;
    return 0;
}

/* Reads the sections that are one object each. */
static int read_parts(struct scenario *s, const json_t *root, struct err *e)
{
    const struct field_context c = { s->store->shapes, s->store->shape_count };
    const struct {
        const char *key;
        const struct field *fields;
        void *into;
    } parts[] = {
        { "latencies", latency_fields, &s->world.latencies },
        { "autoscaler", autoscaler_fields, &s->world.autoscaler },
        { "otherOperator", other_operator_fields, &s->world.other_operator },
        { "gitops", gitops_fields, &s->world.gitops },
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        const json_t *object = json_object_get(root, parts[i].key);
        if (object && fields_read(parts[i].fields, &c, object, parts[i].key, parts[i].into, e) < 0)
            return -1;
    }
    return 0;
}

static int read_change(const json_t *row, size_t i, struct scenario_change *c, struct err *e)
{
    const struct field_context none = { 0 };
    CLEANUP_FREE char *images = xasprintf("changes[%zu].images", i),
                      *drivers = xasprintf("changes[%zu].drivers", i),
                      *programs = xasprintf("changes[%zu].programs", i);
    c->has_images = json_object_get(row, "images");
    c->has_drivers = json_object_get(row, "drivers");
    c->has_programs = json_object_get(row, "programs");
    int rc = fields_read_list(image_fields, &none, json_object_get(row, "images"), images,
                              sizeof *c->images, (void **) &c->images, &c->image_count, e);
    if (rc == 0)
        rc = fields_read_list(driver_fields, &none, json_object_get(row, "drivers"), drivers,
                              sizeof *c->drivers, (void **) &c->drivers, &c->driver_count, e);
    if (rc == 0)
        rc = fields_read_list(program_fields, &none, json_object_get(row, "programs"), programs,
                              sizeof *c->programs, (void **) &c->programs, &c->program_count, e);
    return rc;
}

static int read_changes(struct scenario *s, const json_t *root, struct err *e)
{
    const struct field_context none = { 0 };
    const json_t *list = json_object_get(root, "changes");
    if (fields_read_list(change_fields, &none, list, "changes", sizeof *s->changes,
                         (void **) &s->changes, &s->change_count, e) < 0)
        return -1;
    for (size_t i = 0; i < s->change_count; i++)
        if (read_change(json_array_get(list, i), i, &s->changes[i], e) < 0)
            return -1;
    return 0;
}

static int scenario_read_all(struct scenario *s, const json_t *root, struct err *e)
{
    const struct field_context none = { 0 };
    if (fields_read_list(shape_fields, &none, json_object_get(root, "shapes"), "shapes",
                         sizeof *s->store->shapes, (void **) &s->store->shapes,
                         &s->store->shape_count, e) < 0)
        return -1;
    const struct field_context c = { s->store->shapes, s->store->shape_count };
    s->seed = 1;
    if (fields_read(world_fields, &c, root, "", s, e) < 0 || read_nodes(s, root, e) < 0 ||
        read_tables(s, root, e) < 0 || read_actions(s, root, e) < 0 || read_parts(s, root, e) < 0)
        return -1;
    return read_changes(s, root, e) < 0 ? -1 : scenario_check(s, root, e);
}

/* Prefixes the message, which starts with the place, with "file:line: ". */
static int locate(const char *file, const struct yaml_lines *lines, struct err *e)
{
    CLEANUP_FREE char *path = xstrndup(err_msg(e), strcspn(err_msg(e), ":"));
    int line = yaml_line_of(lines, path);
    return line ? err_wrap(e, "%s:%d", file, line) : err_wrap(e, "%s", file);
}

static struct scenario *build(const char *name, json_t *documents_steal,
                              const struct yaml_lines *lines, struct err *e)
{
    struct scenario *s = xcalloc(1, sizeof *s);
    s->store = xcalloc(1, sizeof *s->store);
    s->store->documents = documents_steal;
    int rc = json_array_size(documents_steal) == 1
                 ? scenario_read_all(s, json_array_get(documents_steal, 0), e)
                 : err_set(e, ERR_INVALID, "a scenario is one YAML document, not %zu",
                           json_array_size(documents_steal));
    if (rc == 0)
        return s;
    locate(name, lines, e);
    scenario_free(s);
    return NULL;
}

struct scenario *scenario_parse(const char *name, const char *text, size_t len, struct err *e)
{
    struct yaml_lines *lines = NULL;
    json_t *documents = yaml_parse(text, len, &lines, e);
    if (!documents) {
        err_wrap(e, "%s", name);
        return NULL;
    }
    struct scenario *s = build(name, documents, lines, e);
    yaml_lines_free(lines);
    return s;
}

/* Takes missing keys from the file that `base` names, relative to this file's directory; that file
 * may have a base too. */
static int add_base(const char *file, json_t *documents, int depth, struct err *e)
{
    json_t *root = json_array_get(documents, 0);
    const char *base = json_str(root, "base");
    if (!base)
        return 0;
    if (depth == BASES_MAX)
        return err_set(e, ERR_INVALID, "%s: base: more than %d files stand on one another", file,
                       BASES_MAX);
    CLEANUP_FREE char *path = file_beside(file, base);
    CLEANUP_JSON json_t *others = yaml_parse_file(path, NULL, e);
    if (!others)
        return err_wrap(e, "%s: base", file);
    if (add_base(path, others, depth + 1, e) < 0)
        return -1;
    if (json_object_update_missing(root, json_array_get(others, 0)) < 0)
        return err_set(e, ERR_INVALID, "%s: base: %s is no mapping", file, path);
    return 0;
}

struct scenario *scenario_read(const char *file, struct err *e)
{
    struct yaml_lines *lines = NULL;
    json_t *documents = yaml_parse_file(file, &lines, e);
    if (!documents)
        return NULL;
    struct scenario *s = NULL;
    if (add_base(file, documents, 0, e) == 0 &&
        hosts_read(file, json_array_get(documents, 0), e) == 0)
        s = build(str_eq(file, "-") ? "standard input" : file, documents, lines, e);
    else
        json_decref(documents);
    yaml_lines_free(lines);
    return s;
}

void scenario_free(struct scenario *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->change_count; i++) {
        free(s->changes[i].images);
        free(s->changes[i].drivers);
        free(s->changes[i].programs);
    }
    free(s->changes);
    for (size_t i = 0; i < s->store->list_count; i++)
        free(s->store->lists[i]);
    free(s->store->shapes);
    arena_free(&s->store->arena);
    json_decref(s->store->documents);
    free(s->store);
    free(s);
}
