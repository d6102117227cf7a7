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

/* One row of `nodes`: one machine, or several with numbered names. */
struct node_row {
    const char *name;
    const struct spec_shape *shape;
    const json_t *labels;
    int count; /* 0: one, with exactly this name */
};

static const char *const outcomes[] = {
#define X(id, name) name,
    SPEC_DRIVER_OUTCOMES(X)
#undef X
        NULL,
};

static const char *const verbs[] = {
#define X(id, name, ...) [SPEC_##id] = name,
    SPEC_ACTIONS(X)
#undef X
        NULL,
};

static const char *const fault_kinds[] = {
#define X(id, name, ...) name,
    SPEC_FAULTS(X)
#undef X
        NULL,
};

static const char *const cures[] = {
#define X(id, name) name,
    SPEC_CURES(X)
#undef X
        NULL,
};

static const char *const recoveries[] = {
#define X(id, name, ...) name,
    SPEC_RECOVERIES(X)
#undef X
        NULL,
};

static const char *const fabrics[] = {
#define X(id, name) name,
    SPEC_FABRICS(X)
#undef X
        NULL,
};

#define ROW(type, key_, member, ...)                                                               \
    {                                                                                              \
        .key = key_, .offset = offsetof(type, member), __VA_ARGS__                                 \
    }
#define ROWS(into, key_, member, count_, fields_)                                                  \
    {                                                                                              \
        .key = key_, .type = FIELD_ROWS, .offset = offsetof(into, member), .fields = fields_,      \
        .size = sizeof *((into *) NULL)->member, .count = offsetof(into, count_)                   \
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
    ROW(struct spec_shape, "gpuHealth", gpu_health, .type = FIELD_BOOL),
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
    ROW(struct spec_action, "at", at_ms, .type = FIELD_DURATION, .required = true),
    ROW(struct spec_action, "every", every_ms, .type = FIELD_DURATION),
    ROW(struct spec_action, "about", about, .type = FIELD_TEXT),
    ROW(struct spec_action, "do", verb, .type = FIELD_CHOICE, .choices = verbs, .required = true),
    ROW(struct spec_action, "user", user, .type = FIELD_TEXT),
    ROW(struct spec_action, "node", name, .type = FIELD_TEXT),
    ROW(struct spec_action, "kind", kind, .type = FIELD_TEXT),
    ROW(struct spec_action, "namespace", ns, .type = FIELD_TEXT),
    ROW(struct spec_action, "name", name, .type = FIELD_TEXT),
    ROW(struct spec_action, "with", body, .type = FIELD_OBJECT),
    ROW(struct spec_action, "shape", shape, .type = FIELD_SHAPE),
    END,
};

/* What an action on a GPU has in `with`. */
static const struct field fault_fields[] = {
    ROW(struct spec_gpu_fault, "gpu", gpu, .type = FIELD_INT),
    ROW(struct spec_gpu_fault, "kind", kind, .type = FIELD_CHOICE, .choices = fault_kinds),
    ROW(struct spec_gpu_fault, "xid", xid, .type = FIELD_INT),
    ROW(struct spec_gpu_fault, "times", times, .type = FIELD_INT),
    ROW(struct spec_gpu_fault, "fatal", fatal, .type = FIELD_BOOL),
    ROW(struct spec_gpu_fault, "nvswitch", nvswitch, .type = FIELD_BOOL),
    ROW(struct spec_gpu_fault, "offTheBus", off_the_bus, .type = FIELD_BOOL),
    ROW(struct spec_gpu_fault, "cure", cure, .type = FIELD_CHOICE, .choices = cures),
    ROW(struct spec_gpu_fault, "recovery", recovery, .type = FIELD_CHOICE, .choices = recoveries),
    ROW(struct spec_gpu_fault, "fabric", fabric, .type = FIELD_CHOICE, .choices = fabrics),
    ROW(struct spec_gpu_fault, "remapPending", remap_pending, .type = FIELD_BOOL),
    ROW(struct spec_gpu_fault, "remapFailed", remap_failed, .type = FIELD_BOOL),
    ROW(struct spec_gpu_fault, "sramExceeded", sram_exceeded, .type = FIELD_BOOL),
    ROW(struct spec_gpu_fault, "hangs", hangs, .type = FIELD_BOOL),
    ROW(struct spec_gpu_fault, "doubleBitErrors", double_bit_errors, .type = FIELD_INT),
    ROW(struct spec_gpu_fault, "lasts", lasts_ms, .type = FIELD_DURATION),
    ROW(struct spec_gpu_fault, "again", again_ms, .type = FIELD_DURATION),
    ROW(struct spec_gpu_fault, "noBoot", no_boot, .type = FIELD_BOOL),
    END,
};

static const struct field one_gpu_fields[] = {
    ROW(struct spec_gpu_fault, "gpu", gpu, .type = FIELD_INT, .required = true),
    END,
};

static const struct field share_fields[] = {
    ROW(struct spec_fault_share, "kind", kind, .type = FIELD_CHOICE, .choices = fault_kinds,
        .required = true),
    ROW(struct spec_fault_share, "weight", weight, .type = FIELD_INT, .required = true),
    END,
};

static const struct field storm_fields[] = {
    ROW(struct spec_fault_storm, "after", after_ms, .type = FIELD_DURATION, .required = true),
    ROW(struct spec_fault_storm, "within", within_ms, .type = FIELD_DURATION, .required = true),
    ROW(struct spec_fault_storm, "node", node, .type = FIELD_TEXT),
    ROW(struct spec_fault_storm, "nodes", nodes, .type = FIELD_INT, .required = true),
    ROW(struct spec_fault_storm, "kind", kind, .type = FIELD_CHOICE, .choices = fault_kinds,
        .required = true),
    END,
};

static const struct field bug_fields[] = {
    ROW(struct spec_fault_bug, "version", version, .type = FIELD_TEXT, .required = true),
    ROW(struct spec_fault_bug, "kind", kind, .type = FIELD_CHOICE, .choices = fault_kinds,
        .required = true),
    ROW(struct spec_fault_bug, "every", every, .type = FIELD_DELAY, .required = true),
    END,
};

static const struct field gpu_fault_fields[] = {
    ROW(struct spec_gpu_faults, "rate", rate, .type = FIELD_INT),
    ROW(struct spec_gpu_faults, "speedUp", speed_up, .type = FIELD_INT),
    ROWS(struct spec_gpu_faults, "mix", mix, mix_count, share_fields),
    ROWS(struct spec_gpu_faults, "storms", storms, storm_count, storm_fields),
    ROWS(struct spec_gpu_faults, "driverBugs", bugs, bug_count, bug_fields),
    ROW(struct spec_gpu_faults, "sticky", sticky, .type = FIELD_INT),
    ROW(struct spec_gpu_faults, "flapping", flapping, .type = FIELD_INT),
    ROW(struct spec_gpu_faults, "noBoot", no_boot, .type = FIELD_INT),
    ROW(struct spec_gpu_faults, "repairs", repairs, .type = FIELD_DELAY),
    ROW(struct spec_gpu_faults, "waits", waits, .type = FIELD_BOOL),
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

static const struct field kured_fields[] = {
    ROW(struct spec_kured, "after", after, .type = FIELD_DELAY, .required = true),
    END,
};

static const struct field change_fields[] = {
    ROW(struct spec_change, "at", at_ms, .type = FIELD_DURATION, .required = true),
    ROWS(struct spec_change, "images", images, image_count, image_fields),
    ROWS(struct spec_change, "drivers", drivers, driver_count, driver_fields),
    ROWS(struct spec_change, "programs", programs, program_count, program_fields),
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
    ROWS(struct scenario, "images", world.images, world.image_count, image_fields),
    ROWS(struct scenario, "drivers", world.drivers, world.driver_count, driver_fields),
    ROWS(struct scenario, "programs", world.programs, world.program_count, program_fields),
    ROWS(struct scenario, "actions", world.actions, world.action_count, action_fields),
    ROWS(struct scenario, "changes", changes, change_count, change_fields),
    ROW(struct scenario, "latencies", world.latencies, .type = FIELD_PART,
        .fields = latency_fields),
    ROW(struct scenario, "autoscaler", world.autoscaler, .type = FIELD_PART,
        .fields = autoscaler_fields),
    ROW(struct scenario, "otherOperator", world.other_operator, .type = FIELD_PART,
        .fields = other_operator_fields),
    ROW(struct scenario, "gitops", world.gitops, .type = FIELD_PART, .fields = gitops_fields),
    ROW(struct scenario, "gpuFaults", world.gpu_faults, .type = FIELD_PART,
        .fields = gpu_fault_fields),
    ROW(struct scenario, "kured", world.kured, .type = FIELD_PART, .fields = kured_fields),
    END,
};

/* ---- assembly */

/* Counted rows of `nodes` become numbered nodes. */
static int read_nodes(struct scenario *s, const struct field_context *c, const json_t *root,
                      struct err *e)
{
    const void *list;
    size_t row_count, n = 0, total = 0;
    if (fields_read_list(node_fields, c, json_object_get(root, "nodes"), "nodes",
                         sizeof(struct node_row), &list, &row_count, e) < 0)
        return -1;
    const struct node_row *rows = list;
    for (size_t i = 0; i < row_count; i++) {
        total += rows[i].count ? (size_t) rows[i].count : 1;
        if (total > NODES_MAX)
            return err_set(e, ERR_INVALID, "nodes[%zu].count: more than %d nodes are not simulated",
                           i, NODES_MAX);
    }
    struct spec_node *nodes = arena_alloc(&s->arena, (total ? total : 1) * sizeof *nodes);
    for (size_t i = 0; i < row_count; i++) {
        for (int k = 0; k < rows[i].count || k == 0; k++) {
            const char *name = rows[i].count ? arena_printf(&s->arena, "%s-%d", rows[i].name, k + 1)
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

/* A row of `actions` may name a node with `node`. */
static void aim_at_nodes(struct scenario *s, const json_t *root)
{
    struct spec_action *action = (struct spec_action *) s->world.actions;
    JSON_EACH (row, json_object_get(root, "actions")) {
        const char *node = json_str(row, "node");
        if (node) {
            action->kind = "nodes";
            action->name = node;
        }
        action++;
    }
}

/* Reads the body of actions on GPUs. */
static int read_faults(struct scenario *s, const struct field_context *c, struct err *e)
{
    for (size_t i = 0; i < s->world.action_count; i++) {
        struct spec_action *action = (struct spec_action *) &s->world.actions[i];
        const struct field *fields = action->verb == SPEC_GPU_FAULT ? fault_fields
                                     : action->verb == SPEC_GPU_RESET ||
                                             action->verb == SPEC_GPU_REPLACE
                                         ? one_gpu_fields
                                         : NULL;
        CLEANUP_FREE char *path = xasprintf("actions[%zu].with", i);
        if (fields && action->body &&
            fields_read(fields, c, action->body, path, &action->fault, e) < 0)
            return -1;
    }
    return 0;
}

static int scenario_read_all(struct scenario *s, const json_t *root, struct err *e)
{
    struct field_context c = { .arena = &s->arena };
    const void *shapes;
    s->seed = 1;
    if (fields_read_list(shape_fields, &c, json_object_get(root, "shapes"), "shapes",
                         sizeof *c.shapes, &shapes, &c.shape_count, e) < 0)
        return -1;
    c.shapes = shapes;
    if (fields_read(world_fields, &c, root, "", s, e) < 0 || read_nodes(s, &c, root, e) < 0)
        return -1;
    aim_at_nodes(s, root);
    if (read_faults(s, &c, e) < 0)
        return -1;
    return scenario_check(&s->world, root, e);
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
    s->documents = documents_steal;
    int rc = json_array_size(documents_steal) == 1
                 ? scenario_read_all(s, json_array_get(documents_steal, 0), e)
                 : err_set(e, ERR_INVALID, "a scenario must be one YAML document, not %zu",
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
        return err_set(e, ERR_INVALID, "%s: base: more than %d levels of base files", file,
                       BASES_MAX);
    CLEANUP_FREE char *path = file_beside(file, base);
    CLEANUP_JSON json_t *others = yaml_parse_file(path, NULL, e);
    if (!others)
        return err_wrap(e, "%s: base", file);
    if (add_base(path, others, depth + 1, e) < 0)
        return -1;
    if (json_object_update_missing(root, json_array_get(others, 0)) < 0)
        return err_set(e, ERR_INVALID, "%s: base: %s is not a mapping", file, path);
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
    arena_free(&s->arena);
    json_decref(s->documents);
    free(s);
}
