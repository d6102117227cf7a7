/* How operands' containers act on the driver's module and ready files of a machine, in a table. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/fit.h"
#include "sim/actors/kubelet.h"

#define LABEL_TASK "ostler.dev/task"

enum {
    CHECK_MS = 500,             /* a program that checks something and ends */
    USER_SPACE_MS = 5000,       /* the driver's libraries, if its module is already loaded */
    PROOF_MS = 2000,            /* a CUDA program that adds two vectors */
    PROBE_FIRST_MS = 30 * 1000, /* the driver's startup probe */
    PROBE_PERIOD_MS = 10 * 1000,
    DAEMONS_STOP_MS = 3000,
    EXPORTER_READY_MS = 6000,
    AGENT_MS = 200,
};

typedef struct run run_fn(struct box *b);
typedef void event_fn(struct box *b);

struct operand {
    const char *component, *container; /* NULL: any component */
    bool holds_module;                 /* while it runs */
    run_fn *run;
    struct run always;                   /* without `run` */
    bool (*may_go)(const struct box *b); /* for waiting containers */
    event_fn *on[OPERAND_EVENTS];
};

static const char *env(const struct box *b, const char *name)
{
    return json_str_or_empty(json_find(json_object_get(b->spec, "env"), "name", name), "value");
}

static struct machine *machine_of(const struct box *b)
{
    return b->pod->machine;
}

/* Writes a ready file; `what` NULL removes it. */
static void put_sign(struct sign *sign, const char *what, const char *whose)
{
    xstrset(&sign->what, what);
    xstrset(&sign->whose, what ? whose : NULL);
}

static struct run ends(int64_t after_ms, int code, const char *message)
{
    return (struct run){ .ends_ms = after_ms,
                         .step_ms = -1,
                         .ready_ms = -1,
                         .stop_ms = 100,
                         .code = code,
                         .stop_code = 1,
                         .message = message };
}

static struct run runs(int64_t ready_ms, int64_t step_ms)
{
    return (struct run){ .ends_ms = -1, .step_ms = step_ms, .ready_ms = ready_ms, .stop_ms = 500 };
}

/* ---- the kernel module */

/* Loads the module and wakes waiting containers. `digest` is its configuration's; NULL: none. */
static void driver_load(struct machine *m, const char *version, const char *digest)
{
    xstrset(&m->module, version);
    xstrset(&m->digest, digest);
    gpus_driver_starts(m);
    machine_changed(m);
}

/* Unloads the module and removes the ready file; counts it, also if the module was in use. */
static void driver_unload(struct machine *m)
{
    if (!m->module)
        return;
    m->modules_unloaded++;
    m->unloads_under_use += m->users > 0;
    xstrset(&m->module, NULL);
    xstrset(&m->digest, NULL);
    put_sign(&m->driver_sign, NULL, NULL);
    m->pid_file = false;
    agent_note(m);
}

void driver_boot(struct machine *m)
{
    if (m->shape->host_driver)
        driver_load(m, m->shape->host_driver, NULL);
    device_plugin_boot(m);
}

/* The tag of an image, which is the driver's version. */
static const char *tag_of(const char *image)
{
    const char *colon = strrchr(image, ':');
    return colon && !strchr(colon, '/') ? colon + 1 : "latest";
}

static const struct spec_driver *driver_row(const struct machine *m, const char *tag)
{
    const struct spec_world *w = &m->a->world;
    for (size_t i = 0; i < w->driver_count; i++) {
        const struct spec_driver *d = &w->drivers[i];
        if (fit_pattern(d->version, tag) &&
            fit_pattern(d->kernel, str_or_empty(m->shape->kernel)) && fit_pattern(d->node, m->name))
            return d;
    }
    return NULL;
}

bool driver_finds_gpus(const struct machine *m)
{
    const struct spec_driver *row = m->module ? driver_row(m, m->module) : NULL;
    return m->module && (!row || row->outcome != SPEC_DRIVER_FINDS_NO_GPU);
}

/* Whether the machine has rebooted since a driver that needs a reboot was first tried. */
static bool rebooted_for(struct machine *m, const char *version)
{
    if (str_eq(m->half_done, version))
        return m->boots > m->half_done_boots;
    xstrset(&m->half_done, version);
    m->half_done_boots = m->boots;
    return false;
}

/* The time of the first probe that finds the module, which takes `ms` to load. */
static int64_t probed_after(int64_t ms)
{
    int64_t late = ms - PROBE_FIRST_MS;
    return PROBE_FIRST_MS +
           (late > 0 ? (late + PROBE_PERIOD_MS - 1) / PROBE_PERIOD_MS * PROBE_PERIOD_MS : 0);
}

/* The behavior of an attempt to build and load; `done` returns it for a success. */
static struct run driver_build_now(struct box *b, struct run (*done)(int64_t after_ms))
{
    struct machine *m = machine_of(b);
    const struct spec_driver *row = driver_row(m, tag_of(b->image));
    int64_t took = kubelet_draw(
        m->kubelet, row && row->build.high_ms ? row->build : m->a->world.latencies.driver_build);
    enum spec_driver_outcome outcome = row ? row->outcome : SPEC_DRIVER_WORKS;
    if (outcome == SPEC_DRIVER_NEEDS_REBOOT && rebooted_for(m, tag_of(b->image)))
        outcome = SPEC_DRIVER_WORKS;
    if (outcome == SPEC_DRIVER_HANGS)
        return runs(-1, -1);
    if (outcome == SPEC_DRIVER_WORKS || outcome == SPEC_DRIVER_FINDS_NO_GPU ||
        outcome == SPEC_DRIVER_FAILS_PROOF)
        return done(took);
    return ends(took, row->exit_code ? row->exit_code : 1, row->message);
}

static struct run loads_and_stays(int64_t after_ms)
{
    return runs(probed_after(after_ms), after_ms);
}

static struct run loads_and_ends(int64_t after_ms)
{
    struct run r = ends(after_ms + 1, 0, NULL);
    r.step_ms = after_ms;
    return r;
}

/* ---- the driver's containers */

static struct run host_driver_run(struct box *b)
{
    const struct machine *m = machine_of(b);
    if (m->module && !m->pid_file)
        return ends(
            CHECK_MS, 1,
            "HostDriver: the module nvidia is loaded, and no driver container has loaded it");
    if (m->shape->host_driver)
        return ends(CHECK_MS, 1,
                    "HostDriver: a driver is installed on the host (/usr/bin/nvidia-smi)");
    return ends(CHECK_MS, 0, NULL);
}

static struct run unload_run(struct box *b)
{
    struct machine *m = machine_of(b);
    if (!m->module || str_eq(m->digest, env(b, "DRIVER_CONFIG_DIGEST")))
        return ends(CHECK_MS, 0, NULL);
    if (m->users > 0)
        return ends(CHECK_MS, 1, "DriverInUse: processes on this node use nvidia nvidia_uvm");
    driver_unload(m);
    return ends(CHECK_MS, 0, NULL);
}

static struct run driver_run(struct box *b)
{
    struct machine *m = machine_of(b);
    bool own_module = m->module && str_eq(m->digest, env(b, "DRIVER_CONFIG_DIGEST"));
    /* The ready file of an earlier container is stale. */
    put_sign(&m->driver_sign, NULL, NULL);
    m->pid_file = true;
    if (own_module)
        return runs(probed_after(USER_SPACE_MS), -1);
    if (m->module && m->users > 0)
        return ends(CHECK_MS, 1, "Could not unload NVIDIA driver kernel modules, driver is in use");
    driver_unload(m);
    m->pid_file = true;
    return driver_build_now(b, loads_and_stays);
}

/* The loaded version may differ from the requested one. */
static const char *loaded_version(const struct box *b)
{
    const struct spec_driver *row = driver_row(machine_of(b), tag_of(b->image));
    return row && row->loads ? row->loads : tag_of(b->image);
}

static void driver_step(struct box *b)
{
    driver_load(machine_of(b), loaded_version(b), env(b, "DRIVER_CONFIG_DIGEST"));
}

static void driver_ready(struct box *b)
{
    struct machine *m = machine_of(b);
    put_sign(&m->driver_sign, env(b, "DRIVER_CONFIG_DIGEST"), b->pod->uid);
    machine_changed(m);
}

/* If ready: unloads an unused module, else waits to be killed. If not ready: gives up. */
static void driver_stopping(struct box *b)
{
    struct machine *m = machine_of(b);
    if (str_eq(m->driver_sign.whose, b->pod->uid))
        put_sign(&m->driver_sign, NULL, NULL);
    b->run.stop_ms = b->ready && m->users > 0 ? -1 : DAEMONS_STOP_MS;
    b->run.stop_code = b->ready ? 0 : 1;
}

static void driver_ended(struct box *b)
{
    struct machine *m = machine_of(b);
    if (b->stopping && !b->killed && m->users == 0) {
        driver_unload(m);
        m->pid_file = false;
    }
}

/* ---- Google's installer: its module belongs to the host and stays */

static struct run cos_run(struct box *b)
{
    return machine_of(b)->module ? ends(CHECK_MS, 0, NULL) : driver_build_now(b, loads_and_ends);
}

static void cos_step(struct box *b)
{
    driver_load(machine_of(b), tag_of(b->image), NULL);
}

/* ---- waiting containers */

/* A host driver has no ready file, as in the manifest. */
static bool has_driver(const struct box *b)
{
    const struct machine *m = machine_of(b);
    return m->module && (str_eq(env(b, "DRIVER"), "host") || m->driver_sign.what);
}

static bool has_driver_and_toolkit(const struct box *b)
{
    const struct machine *m = machine_of(b);
    const char *driver = str_eq(env(b, "DRIVER"), "host") ? "host" : m->driver_sign.what;
    if (!has_driver(b) || !str_eq(env(b, "WAIT_FOR"), "toolkit"))
        return has_driver(b);
    return str_eq(m->toolkit_sign.what, env(b, "REVISION")) &&
           str_eq(m->toolkit_sign.whose, driver);
}

/* Without a driver container, the driver is the host's. */
static bool has_any_driver(const struct box *b)
{
    const struct machine *m = machine_of(b);
    return m->module && (!m->pid_file || m->driver_sign.what);
}

/* ---- toolkit */

static struct run install_run(struct box *b)
{
    struct machine *m = machine_of(b);
    return loads_and_ends(kubelet_draw(m->kubelet, m->a->world.latencies.toolkit));
}

static void install_step(struct box *b)
{
    machine_of(b)->handler = !str_eq(object_label(b->pod->first, LABEL_COMPONENT),
                                     "toolkit-removal");
}

static void toolkit_step(struct box *b)
{
    struct machine *m = machine_of(b);
    bool host = str_eq(env(b, "DRIVER"), "host");
    put_sign(&m->toolkit_sign, env(b, "REVISION"),
             host ? "host" : str_or_empty(m->driver_sign.what));
    machine_changed(m);
}

static void toolkit_stopping(struct box *b)
{
    put_sign(&machine_of(b)->toolkit_sign, NULL, NULL);
}

/* ---- exporter */

static struct run exporter_run(struct box *b)
{
    return machine_of(b)->module
               ? runs(EXPORTER_READY_MS, -1)
               : ends(CHECK_MS, 1, "Failed to initialize NVML: could not load NVML library");
}

/* ---- the validation */

/* The facts that nvidia-smi would report. The version is the tag up to the system's name. */
static const char *driver_words_of(struct machine *m)
{
    const char *product = m->shape->gpu_product ? m->shape->gpu_product : "NVIDIA-H100-80GB-HBM3";
    char *words = xasprintf("driver=%.*s\nproduct=%s\nmemory=81559\ncompute=9.0\ncuda=13.0\n",
                            (int) strcspn(m->module, "-"), m->module, product);
    free(m->words);
    m->words = words;
    return words;
}

static struct run proof_run(struct box *b)
{
    struct machine *m = machine_of(b);
    const struct spec_driver *row = m->module ? driver_row(m, m->module) : NULL;
    if (!m->module)
        return ends(CHECK_MS, 1, "CUDA driver version is insufficient for CUDA runtime version");
    if (row && row->outcome == SPEC_DRIVER_FAILS_PROOF)
        return ends(PROOF_MS, row->exit_code ? row->exit_code : 1,
                    row->message ? row->message : "no CUDA-capable device is detected");
    return ends(PROOF_MS, 0, driver_words_of(m));
}

#define WAITS                                                                                      \
    {                                                                                              \
        .ends_ms = -1, .step_ms = -1, .ready_ms = -1, .stop_ms = 100, .stop_code = 1,              \
        .waits = true                                                                              \
    }
#define PLUGIN_EVENTS                                                                              \
    {                                                                                              \
        [OPERAND_STEP] = device_plugin_step, [OPERAND_ENDED] = device_plugin_ended                 \
    }

static const struct operand operands[] = {
    { "driver", "host-driver", .run = host_driver_run },
    { "driver", "unload", .run = unload_run },
    { "driver", "driver", .run = driver_run,
      .on = { driver_step, driver_ready, driver_stopping, driver_ended } },
    { "driver", "install", .run = cos_run, .on = { [OPERAND_STEP] = cos_step } },
    { "toolkit", "wait", .always = WAITS, .may_go = has_driver },
    { NULL, "install", .run = install_run, .on = { [OPERAND_STEP] = install_step } },
    { "toolkit", "toolkit", .always = { .ends_ms = -1, .step_ms = 200, .stop_ms = 500 },
      .on = { [OPERAND_STEP] = toolkit_step, [OPERAND_STOPPING] = toolkit_stopping } },
    { "device-plugin", "wait", .always = WAITS, .may_go = has_driver_and_toolkit },
    { "device-plugin", "device-plugin", .holds_module = true, .run = device_plugin_run,
      .on = PLUGIN_EVENTS },
    { NULL, "wait", .always = WAITS, .may_go = has_any_driver },
    { "exporter", "exporter", .holds_module = true, .run = exporter_run },
    /* It holds the module for a second each minute. */
    { "node-cards", "cards", .holds_module = true,
      .always = { .ends_ms = -1, .step_ms = -1, .ready_ms = AGENT_MS, .stop_ms = AGENT_MS } },
    { "node-agent", "agent",
      .always = { .ends_ms = -1, .step_ms = AGENT_MS, .ready_ms = AGENT_MS, .stop_ms = AGENT_MS },
      .on = { [OPERAND_STEP] = agent_step } },
    { "proof", "proof", .run = proof_run },
    { "reset", "reset", .run = reset_pod_run, .on = { [OPERAND_STEP] = reset_step } },
    { "reboot", "reboot", .run = reboot_pod_run, .on = { [OPERAND_STEP] = reboot_step } },
    { NULL, "copy",
      .always = { .ends_ms = CHECK_MS,
                  .step_ms = -1,
                  .ready_ms = -1,
                  .stop_ms = 100,
                  .stop_code = 1 } },
};

/* ---- lookup */

/* Container names of foreign device plugins. */
static const char *const foreign_plugins[] = {
    "nvidia-gpu-device-plugin", /* GKE's */
    "nvidia-device-plugin-ctr", /* NVIDIA's static manifest */
};

static const struct operand *foreign_plugin_of(const struct box *b)
{
    static const struct operand plugin = { .holds_module = true,
                                           .run = device_plugin_run,
                                           .on = PLUGIN_EVENTS };
    for (size_t i = 0; i < ARRAY_LEN(foreign_plugins); i++)
        if (str_eq(foreign_plugins[i], b->name))
            return &plugin;
    return NULL;
}

static const struct operand *operand_of(const struct box *b)
{
    const char *task = object_label(b->pod->first, LABEL_TASK);
    const char *component = task ? task : object_label(b->pod->first, LABEL_COMPONENT);
    /* Google's driver pod runs a pause container after its installer. */
    bool pauses = strstr(b->image, "/pause:") != NULL;
    for (size_t i = 0; component && !pauses && i < ARRAY_LEN(operands); i++)
        if (str_eq(operands[i].container, b->name) &&
            (!operands[i].component || str_eq(operands[i].component, component)))
            return &operands[i];
    return component ? NULL : foreign_plugin_of(b);
}

bool operand_is_agent(const struct box *b)
{
    const struct operand *o = operand_of(b);
    return o && o->on[OPERAND_STEP] == agent_step;
}

bool operand_is_foreign_plugin(const struct box *b)
{
    const struct operand *o = operand_of(b);
    return o && !o->container;
}

bool operand_run(struct box *b, struct run *ret)
{
    const struct operand *o = operand_of(b);
    if (o)
        *ret = o->run ? o->run(b) : o->always;
    return o != NULL;
}

bool operand_may_go(const struct box *b)
{
    const struct operand *o = operand_of(b);
    return o && o->may_go && o->may_go(b);
}

/* Whole and shared GPUs and MIG devices; other plugins also serve resources of NVIDIA's name. */
static bool is_gpu(const char *resource)
{
    return str_eq(resource, RESOURCE_GPU) || str_has_prefix(resource, RESOURCE_GPU ".") ||
           str_has_prefix(resource, "nvidia.com/mig-");
}

bool operand_holds_module(const struct box *b)
{
    const struct operand *o = operand_of(b);
    JSON_EACH_MEMBER (name, amount, json_at(b->spec, "resources.limits"))
        if (is_gpu(name))
            return true;
    return o && o->holds_module;
}

void operand_on(struct box *b, enum operand_event event)
{
    const struct operand *o = operand_of(b);
    if (o && o->on[event])
        o->on[event](b);
}
