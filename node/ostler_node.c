/* Entry point of ostler-node: runs the command from the command line. */
#include "node/ostler_node.h"

#include <signal.h>
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
#include "node/operand/host_check.h"
#include "node/operand/host_devices.h"
#include "node/operand/proof.h"
#include "node/operand/place.h"
#include "node/operand/reboot.h"
#include "node/operand/reset.h"
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

static int look(const struct node_options *o, const struct root *root, struct err *e)
{
    CLEANUP_INVENTORY struct inventory i = { 0 };
    struct faults faults = { 0 };
    inventory_look(root, &i);
    if (o->kernel_log) {
        faults_read(&faults, o->kernel_log, log_time_now());
        inventory_add_faults(&i, &faults);
    }
    print(&i, o->output);
    if (fflush(stdout) != 0 || ferror(stdout))
        return err_set(e, ERR_SYSTEM, "cannot print the inventory");
    return 0;
}

static int run(const struct node_options *o, const struct root *root, struct err *e)
{
    const struct scan_options turn = { .node = o->node,
                                       .kubeconfig = o->kubeconfig,
                                       .version = ostler_node_version,
                                       .root = root,
                                       .kernel_log = o->kernel_log };
    log_setup(o->log_level, o->log_json);
    log_info("starting", "version", ostler_node_version, "node", o->node);
    if (rights_lessen(o->kernel_log, e) < 0) {
        log_warn("the agent cannot drop privileges and keeps them", "err", err_msg(e));
        err_clear(e);
    }
    if (o->kernel_log && !*o->kernel_log && !rights_have_syslog())
        log_warn("CAP_SYSLOG is missing: the agent may be unable to read the kernel log", "node",
                 o->node);
    return node_agent_run(&turn, e);
}

static int gpus(const struct node_options *o, const struct root *root, struct err *e)
{
    if (!o->to)
        return gpus_print(root, e);
    log_setup(o->log_level, o->log_json);
    return gpus_keep(root, o->to, e);
}

/* Uses the host's own tools; its root directory is mounted in the toolkit's container. */
static int show_host_devices(const struct node_options *o, const struct root *root, struct err *e)
{
    char chroot[] = "chroot", modprobe[] = "modprobe", uvm[] = "nvidia-uvm";
    CLEANUP_FREE char *folder = xstrdup(o->root);
    char *const loader[] = { chroot, folder, modprobe, uvm, NULL };
    return host_devices_show(root, &(struct host_devices){ loader, mknodat }, e);
}

/* Both containers have the same environment variables, which are those of NVIDIA's program. The
 * caller frees *ret_programs. */
static struct toolkit toolkit_at(const char *to, char *const *program, char **ret_programs)
{
    *ret_programs = xasprintf("%s/toolkit/", to);
    return (struct toolkit){ .to = to,
                             .program = program,
                             .socket = getenv("RUNTIME_SOCKET"),
                             .seen_ms = TOOLKIT_SEEN_MS,
                             .times = RUNTIME_TIMES,
                             .scratch = "",
                             .files = { .config = getenv("RUNTIME_CONFIG"),
                                        .drop_in = getenv("RUNTIME_DROP_IN_CONFIG"),
                                        .programs = *ret_programs,
                                        .copies = TOOLKIT_FILES_FOLDER } };
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
    const char *asked = first_set("CRI_SOCKET", "RUNTIME_SOCKET", NULL);
    const struct cri cri = cri_on(asked);
    CLEANUP_FREE char *programs = NULL;
    struct toolkit t = toolkit_at(o->to, o->program, &programs);
    t.cri = asked ? &cri : NULL;
    t.handler = first_set("NVIDIA_RUNTIME_NAME", "CONTAINERD_RUNTIME_CLASS", "nvidia");
    t.pod = getenv("HOSTNAME"); /* the kubelet sets it to the pod's name */
    return toolkit_install(&t, e);
}

static int remove_toolkit(const struct node_options *o, const struct root *root, struct err *e)
{
    const char *to = getenv("ROOT");
    CLEANUP_FREE char *programs = NULL;
    struct toolkit t = toolkit_at(to ? to : "/usr/local/nvidia", o->program, &programs);
    return toolkit_remove(root, &t, e);
}

static int reset(const struct node_options *o, const struct root *root, struct err *e)
{
    return reset_run(root,
                     &(struct reset){ .addresses = o->gpus,
                                      .count = o->gpu_count,
                                      .write = place_write,
                                      .limit_ms = RESET_MS,
                                      .back_ms = RESET_BACK_MS,
                                      .words = TERMINATION_LOG_FILE },
                     e);
}

/* Starts a command. */
static int work(const struct node_options *o, const struct root *root, struct err *e)
{
    switch (o->command) {
    case NODE_COMMAND_LOOK:
        return look(o, root, e);
    case NODE_COMMAND_RUN:
        return run(o, root, e);
    case NODE_COMMAND_WAIT:
        return wait_for(root, &o->wish, o->timeout_ms, e);
    case NODE_COMMAND_CARDS:
        return gpus(o, root, e);
    case NODE_COMMAND_HOST_DRIVER:
        return host_check(root, e);
    case NODE_COMMAND_UNLOAD:
        return unload_run(root, o->wish.revision, unload_module, e);
    case NODE_COMMAND_COPY:
        return place_self(o->to, e);
    case NODE_COMMAND_START_DRIVER:
        return driver_start(root, o->program, e);
    case NODE_COMMAND_PROBE_DRIVER:
        return driver_probe(
            root, &(struct driver_probe){ o->wish.revision, o->pod, DRIVER_PROBE_MS, mknodat }, e);
    case NODE_COMMAND_STOP_DRIVER:
        return driver_stop(root, o->pod, e);
    case NODE_COMMAND_START_GDRCOPY:
        return gdrcopy_start(root, o->pod, o->program, e);
    case NODE_COMMAND_PROBE_GDRCOPY:
        return gdrcopy_probe(root, mknodat, e);
    case NODE_COMMAND_INSTALL_COS_DRIVER:
        return cos_install(root, o->to, o->program, e);
    case NODE_COMMAND_INSTALL_TOOLKIT:
        return install_toolkit(o, root, e);
    case NODE_COMMAND_READY_TOOLKIT:
        return toolkit_sign(root, o->wish.source, o->wish.revision, e);
    case NODE_COMMAND_REMOVE_TOOLKIT:
        return remove_toolkit(o, root, e);
    case NODE_COMMAND_IDLE:
        return toolkit_idle(e);
    case NODE_COMMAND_WRITE_CONFIG:
        return file_write(o->to, 0644, o->text, strlen(o->text), e);
    case NODE_COMMAND_PROOF:
        return proof_run(root, TERMINATION_LOG_FILE, e);
    case NODE_COMMAND_RESET:
        return reset(o, root, e);
    case NODE_COMMAND_REBOOT:
        return reboot_run(root, &(struct reboot){ o->way, o->boot, kill, TERMINATION_LOG_FILE }, e);
    case NODE_COMMAND_HELP:
    case NODE_COMMAND_VERSION:
        break;
    }
    return 0;
}

/* Whether it runs a program of NVIDIA's, whose log explains a failure better than Ostler's error.
 */
static bool log_speaks(enum node_command command)
{
    const unsigned such = 1u << NODE_COMMAND_PROBE_DRIVER | 1u << NODE_COMMAND_STOP_DRIVER |
                          1u << NODE_COMMAND_PROBE_GDRCOPY | 1u << NODE_COMMAND_INSTALL_TOOLKIT |
                          1u << NODE_COMMAND_REMOVE_TOOLKIT | 1u << NODE_COMMAND_PROOF;
    return such & 1u << command;
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
    CLEANUP_ROOT struct root root = { .fd = -1 };
    if (root_open(&root, o.root, &e) == 0 && work(&o, &root, &e) == 0)
        return 0;
    fprintf(stderr, "ostler-node: %s\n", err_msg(&e));
    if (!log_speaks(o.command) || str_has_prefix(err_msg(&e), RUNTIME_CONFIG_FAILED ": "))
        place_last_words(TERMINATION_LOG_FILE, err_msg(&e));
    return 1;
}
