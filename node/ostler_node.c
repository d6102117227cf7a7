/* Entry point of ostler-node: runs the command from the command line. */
#include "node/ostler_node.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "node/agent/agent.h"
#include "node/agent/rights.h"
#include "node/agent/wait.h"
#include "node/gpus/gpus.h"
#include "node/inventory/inventory.h"
#include "node/operand/cos.h"
#include "node/operand/driver.h"
#include "node/operand/gdrcopy.h"
#include "node/operand/host_check.h"
#include "node/operand/host_devices.h"
#include "node/operand/termination_log.h"
#include "node/operand/proof.h"
#include "node/operand/self.h"
#include "node/operand/runtime_change.h"
#include "node/operand/toolkit.h"
#include "node/operand/unload.h"
#include "node/options.h"
#include "node/show.h"

static void print(const struct inventory *i, enum output output)
{
    if (output == OUTPUT_TEXT) {
        show_inventory(i, stdout);
        return;
    }
    CLEANUP_JSON json_t *json = inventory_json(i);
    CLEANUP_FREE char *text = output == OUTPUT_JSON ? json_dumps(json, JSON_INDENT(2))
                                                    : yaml_dump(json);
    printf(output == OUTPUT_JSON ? "%s\n" : "%s", text);
}

static int ostler_node_look(const struct node_options *o, const struct root *root, struct err *e)
{
    CLEANUP_INVENTORY struct inventory i = { 0 };
    inventory_look(root, &i);
    print(&i, o->output);
    if (fflush(stdout) != 0 || ferror(stdout))
        return err_set(e, ERR_SYSTEM, "what was seen could not be printed");
    return 0;
}

static int ostler_node_run(const struct node_options *o, const struct root *root, struct err *e)
{
    const struct scan_options turn = {
        .node = o->node, .kubeconfig = o->kubeconfig, .version = ostler_node_version, .root = root
    };
    log_setup(o->log_level, o->log_json);
    log_info("starting", "version", ostler_node_version, "node", o->node);
    if (rights_lessen(e) < 0) {
        log_warn("the agent cannot give up privileges, and keeps those that it has", "err",
                 err_msg(e));
        err_clear(e);
    }
    return node_agent_run(&turn, e);
}

static int gpus(const struct node_options *o, const struct root *root, struct err *e)
{
    if (!o->to)
        return gpus_print(root, e);
    log_setup(o->log_level, o->log_json);
    return gpus_keep(root, o->to, e);
}

static int ostler_node_await(const struct node_options *o, const struct root *root, struct err *e)
{
    return wait_for(root, &o->wish, o->timeout_ms, e);
}

static int host_driver(const struct node_options *o, const struct root *root, struct err *e)
{
    (void) o;
    return host_check(root, e);
}

static int unload(const struct node_options *o, const struct root *root, struct err *e)
{
    return unload_run(root, o->wish.revision, unload_module, e);
}

static int ostler_node_copy(const struct node_options *o, const struct root *root, struct err *e)
{
    (void) root;
    return self_copy(o->to, e);
}

static int start_driver(const struct node_options *o, const struct root *root, struct err *e)
{
    return driver_start(root, o->program, e);
}

static int probe_driver(const struct node_options *o, const struct root *root, struct err *e)
{
    const struct driver_probe probe = { o->wish.revision, o->pod, DRIVER_PROBE_MS, mknodat };
    return driver_probe(root, &probe, e);
}

static int stop_driver(const struct node_options *o, const struct root *root, struct err *e)
{
    return driver_stop(root, o->pod, e);
}

static int start_gdrcopy(const struct node_options *o, const struct root *root, struct err *e)
{
    return gdrcopy_start(root, o->pod, o->program, e);
}

static int probe_gdrcopy(const struct node_options *o, const struct root *root, struct err *e)
{
    (void) o;
    return gdrcopy_probe(root, mknodat, e);
}

static int install_cos_driver(const struct node_options *o, const struct root *root, struct err *e)
{
    return cos_install(root, o->to, o->program, e);
}

/* Uses the host's own tools; its root directory is mounted in the toolkit's container. */
static int show_host_devices(const struct node_options *o, const struct root *root, struct err *e)
{
    char chroot[] = "chroot", modprobe[] = "modprobe", uvm[] = "nvidia-uvm";
    CLEANUP_FREE char *folder = xstrdup(o->root);
    char *const loader[] = { chroot, folder, modprobe, uvm, NULL };
    return host_devices_show(root, &(struct host_devices){ loader, mknodat }, e);
}

/* Both containers have the same environment variables, which are those of NVIDIA's program. */
static struct toolkit_files toolkit_files(const char *programs)
{
    return (struct toolkit_files){ .config = getenv("RUNTIME_CONFIG"),
                                   .drop_in = getenv("RUNTIME_DROP_IN_CONFIG"),
                                   .programs = programs,
                                   .copies = TOOLKIT_FILES_FOLDER };
}

/* The value of the first set variable, else `other`. */
static const char *first_set(const char *name, const char *second_name, const char *other)
{
    const char *value = getenv(name), *second = getenv(second_name);
    return value ? value : second ? second : other;
}

static int install_toolkit(const struct node_options *o, const struct root *root, struct err *e)
{
    if (o->wish.source == READY_OF_HOST && show_host_devices(o, root, e) < 0)
        return -1;
    CLEANUP_FREE char *programs = xasprintf("%s/toolkit/", o->to);
    const char *socket = getenv("RUNTIME_SOCKET"),
               *asked = first_set("CRI_SOCKET", "RUNTIME_SOCKET", NULL);
    const struct cri cri = cri_on(asked);
    /* HOSTNAME: the kubelet sets a container's host name to the pod's name. */
    const struct toolkit_install install = {
        .to = o->to,
        .program = o->program,
        .socket = socket,
        .cri = asked ? &cri : NULL,
        .handler = first_set("NVIDIA_RUNTIME_NAME", "CONTAINERD_RUNTIME_CLASS", "nvidia"),
        .seen_ms = TOOLKIT_SEEN_MS,
        .times = RUNTIME_TIMES,
        .pod = getenv("HOSTNAME"),
        .scratch = "",
        .files = toolkit_files(programs)
    };
    return toolkit_install(&install, e);
}

static int sign_toolkit(const struct node_options *o, const struct root *root, struct err *e)
{
    return toolkit_sign(root, o->wish.source, o->wish.revision, e);
}

static int remove_toolkit(const struct node_options *o, const struct root *root, struct err *e)
{
    const char *root_variable = getenv("ROOT"),
               *to = root_variable ? root_variable : "/usr/local/nvidia";
    CLEANUP_FREE char *programs = xasprintf("%s/toolkit/", to);
    const struct toolkit_removal removal = { .to = to,
                                             .program = o->program,
                                             .socket = getenv("RUNTIME_SOCKET"),
                                             .seen_ms = TOOLKIT_SEEN_MS,
                                             .times = RUNTIME_TIMES,
                                             .files = toolkit_files(programs),
                                             .scratch = "" };
    return toolkit_remove(root, &removal, e);
}

static int do_nothing(const struct node_options *o, const struct root *root, struct err *e)
{
    (void) o;
    (void) root;
    return toolkit_idle(e);
}

static int write_config(const struct node_options *o, const struct root *root, struct err *e)
{
    (void) root;
    int why = file_put(AT_FDCWD, o->to, 0644, o->text, strlen(o->text));
    return why ? err_set(e, ERR_SYSTEM, "cannot write %s: %s", o->to, strerror(why)) : 0;
}

static int prove(const struct node_options *o, const struct root *root, struct err *e)
{
    (void) o;
    return proof_run(root, TERMINATION_LOG_FILE, e);
}

/* What a command runs. `log_speaks`: it runs a program of NVIDIA's, whose log explains a failure
 * better than Ostler's error. */
static const struct work {
    int (*run)(const struct node_options *o, const struct root *root, struct err *e);
    bool log_speaks;
} works[] = {
    [NODE_COMMAND_LOOK] = { .run = ostler_node_look },
    [NODE_COMMAND_RUN] = { .run = ostler_node_run },
    [NODE_COMMAND_WAIT] = { .run = ostler_node_await },
    [NODE_COMMAND_CARDS] = { .run = gpus },
    [NODE_COMMAND_HOST_DRIVER] = { .run = host_driver },
    [NODE_COMMAND_UNLOAD] = { .run = unload },
    [NODE_COMMAND_COPY] = { .run = ostler_node_copy },
    [NODE_COMMAND_START_DRIVER] = { .run = start_driver },
    [NODE_COMMAND_PROBE_DRIVER] = { .run = probe_driver, .log_speaks = true },
    [NODE_COMMAND_STOP_DRIVER] = { .run = stop_driver, .log_speaks = true },
    [NODE_COMMAND_START_GDRCOPY] = { .run = start_gdrcopy },
    [NODE_COMMAND_PROBE_GDRCOPY] = { .run = probe_gdrcopy, .log_speaks = true },
    [NODE_COMMAND_INSTALL_COS_DRIVER] = { .run = install_cos_driver },
    [NODE_COMMAND_INSTALL_TOOLKIT] = { .run = install_toolkit, .log_speaks = true },
    [NODE_COMMAND_READY_TOOLKIT] = { .run = sign_toolkit },
    [NODE_COMMAND_REMOVE_TOOLKIT] = { .run = remove_toolkit, .log_speaks = true },
    [NODE_COMMAND_IDLE] = { .run = do_nothing },
    [NODE_COMMAND_WRITE_CONFIG] = { .run = write_config },
    [NODE_COMMAND_PROOF] = { .run = prove, .log_speaks = true },
};

static int work(const struct node_options *o, struct err *e)
{
    CLEANUP_ROOT struct root root = { .fd = -1 };
    return root_open(&root, o->root, e) < 0 ? -1 : works[o->command].run(o, &root, e);
}

int ostler_node_main(int argc, char **argv)
{
    mem_hook_jansson();
    struct node_options o;
    CLEANUP_ERR struct err e = { 0 };
    if (node_options_parse(argc, argv, &o, &e) < 0) {
        fprintf(stderr, "ostler-node: %s\n", err_msg(&e));
        return 2;
    }
    if (o.command == NODE_COMMAND_HELP) {
        node_options_help();
        return 0;
    }
    if (o.command == NODE_COMMAND_VERSION) {
        printf("ostler-node %s\n", ostler_node_version);
        return 0;
    }
    if (work(&o, &e) == 0)
        return 0;
    fprintf(stderr, "ostler-node: %s\n", err_msg(&e));
    if (!works[o.command].log_speaks || str_has_prefix(err_msg(&e), RUNTIME_CONFIG_FAILED ": "))
        termination_log_write(TERMINATION_LOG_FILE, err_msg(&e));
    return 1;
}
