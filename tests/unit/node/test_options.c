/* The command line of ostler-node. */
#include "node/options.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "tests/unit/support/suite.h"

enum { ARGUMENTS_MAX = 6 };

static const struct row {
    const char *name;
    const char *argv[ARGUMENTS_MAX];
    enum node_command command;
    const char *root;
    enum output output;
    const char *error; /* NULL: none */
} rows[] = {
    { "look", { "look" }, NODE_COMMAND_LOOK, "/", OUTPUT_TEXT, NULL },
    { "another root",
      { "look", "--root", "/host" },
      NODE_COMMAND_LOOK,
      "/host",
      OUTPUT_TEXT,
      NULL },
    { "a value behind a sign",
      { "look", "--root=/host", "-o=json" },
      NODE_COMMAND_LOOK,
      "/host",
      OUTPUT_JSON,
      NULL },
    { "an option first", { "-o", "yaml", "look" }, NODE_COMMAND_LOOK, "/", OUTPUT_YAML, NULL },
    { "help", { "help" }, NODE_COMMAND_HELP, "/", OUTPUT_TEXT, NULL },
    { "help, as an option, whatever else is there",
      { "look", "--help", "--nonsense" },
      NODE_COMMAND_HELP,
      "/",
      OUTPUT_TEXT,
      NULL },
    { "help, short", { "-h" }, NODE_COMMAND_HELP, "/", OUTPUT_TEXT, NULL },
    { "version", { "--version" }, NODE_COMMAND_VERSION, "/", OUTPUT_TEXT, NULL },
    { "nothing", { NULL }, 0, NULL, 0, "a command is missing; `ostler-node --help` lists them" },
    { "a command that is none",
      { "walk" },
      0,
      NULL,
      0,
      "walk is not a command; `ostler-node --help` lists the commands" },
    { "run, on no node",
      { "run" },
      0,
      NULL,
      0,
      "run needs the name of this node: --node, or the variable NODE_NAME" },
    { "run, on a node without a name",
      { "run", "--node=" },
      0,
      NULL,
      0,
      "--node must be a name, but is \"\"" },
    { "run",
      { "run", "--node", "a", "--root=/host" },
      NODE_COMMAND_RUN,
      "/host",
      OUTPUT_TEXT,
      NULL },
    { "a log that is none",
      { "run", "--log-format=xml" },
      0,
      NULL,
      0,
      "--log-format must be one of json and text, but is \"xml\"" },
    { "wait", { "wait", "driver" }, NODE_COMMAND_WAIT, "/", OUTPUT_TEXT, NULL },
    { "wait, with options between",
      { "wait", "--timeout=5m", "toolkit" },
      NODE_COMMAND_WAIT,
      "/",
      OUTPUT_TEXT,
      NULL },
    { "wait, for GDRCopy's module too",
      { "wait", "toolkit", "--module=gdrdrv" },
      NODE_COMMAND_WAIT,
      "/",
      OUTPUT_TEXT,
      NULL },
    { "wait, for a module that is none of ours",
      { "wait", "toolkit", "--module=ext4" },
      0,
      NULL,
      0,
      "--module must be gdrdrv, but is \"ext4\"" },
    { "wait, for nothing", { "wait" }, 0, NULL, 0, "wait needs one of driver and toolkit" },
    { "wait, for something else",
      { "wait", "gpu" },
      0,
      NULL,
      0,
      "wait needs one of driver and toolkit, but has \"gpu\"" },
    { "wait, for two things",
      { "wait", "driver", "toolkit" },
      0,
      NULL,
      0,
      "toolkit is an unexpected argument; `ostler-node --help` lists the commands" },
    { "a time that is none",
      { "wait", "--timeout=soon" },
      0,
      NULL,
      0,
      "--timeout must be a duration, such as 10m, but is \"soon\"" },
    { "two commands",
      { "look", "look" },
      0,
      NULL,
      0,
      "look is an unexpected argument; `ostler-node --help` lists the commands" },
    { "an option that is none",
      { "look", "--output" },
      0,
      NULL,
      0,
      "unknown option --output; `ostler-node --help` lists them" },
    { "cards",
      { "cards", "--root=/host", "--to=/run/x" },
      NODE_COMMAND_CARDS,
      "/host",
      OUTPUT_TEXT,
      NULL },
    { "host-driver",
      { "host-driver", "--root=/host" },
      NODE_COMMAND_HOST_DRIVER,
      "/host",
      OUTPUT_TEXT,
      NULL },
    { "unload", { "unload", "--revision=f00" }, NODE_COMMAND_UNLOAD, "/", OUTPUT_TEXT, NULL },
    { "unload, for nothing", { "unload" }, 0, NULL, 0, "unload needs a revision: --revision" },
    { "unload, for nothing that has a name",
      { "unload", "--revision=" },
      0,
      NULL,
      0,
      "--revision must be a hash, but is \"\"" },
    { "copy", { "copy", "--to", "/x" }, NODE_COMMAND_COPY, "/", OUTPUT_TEXT, NULL },
    { "copy, to nowhere", { "copy" }, 0, NULL, 0, "copy needs a file: --to" },
    { "start-driver, with no program",
      { "start-driver" },
      0,
      NULL,
      0,
      "start-driver needs a program" },
    { "start-driver, with one",
      { "start-driver", "nvidia-driver", "--root", "--help" },
      NODE_COMMAND_START_DRIVER,
      "/",
      OUTPUT_TEXT,
      NULL },
    { "options of ours stand before it",
      { "start-driver", "--root=/a", "p", "--root=/b" },
      NODE_COMMAND_START_DRIVER,
      "/a",
      OUTPUT_TEXT,
      NULL },
    { "probe-driver, of no revision",
      { "probe-driver", "--pod=p" },
      0,
      NULL,
      0,
      "probe-driver needs a revision: --revision, or the variable DRIVER_CONFIG_DIGEST" },
    { "probe-driver, in no pod",
      { "probe-driver", "--revision=f00" },
      0,
      NULL,
      0,
      "probe-driver needs the uid of its pod: --pod, or the variable POD_UID" },
    { "stop-driver",
      { "stop-driver", "--pod=p" },
      NODE_COMMAND_STOP_DRIVER,
      "/",
      OUTPUT_TEXT,
      NULL },
    { "start-gdrcopy",
      { "start-gdrcopy", "--pod=p", "program", "install" },
      NODE_COMMAND_START_GDRCOPY,
      "/",
      OUTPUT_TEXT,
      NULL },
    { "start-gdrcopy, with no program",
      { "start-gdrcopy", "--pod=p" },
      0,
      NULL,
      0,
      "start-gdrcopy needs a program" },
    { "start-gdrcopy, in no pod",
      { "start-gdrcopy", "program" },
      0,
      NULL,
      0,
      "start-gdrcopy needs the uid of its pod: --pod, or the variable POD_UID" },
    { "probe-gdrcopy",
      { "probe-gdrcopy", "--root=/a" },
      NODE_COMMAND_PROBE_GDRCOPY,
      "/a",
      OUTPUT_TEXT,
      NULL },
    { "install-cos-driver, to nowhere",
      { "install-cos-driver", "p" },
      0,
      NULL,
      0,
      "install-cos-driver needs a directory: --to" },
    { "install-cos-driver",
      { "install-cos-driver", "--to=/x", "p", "--version=1" },
      NODE_COMMAND_INSTALL_COS_DRIVER,
      "/",
      OUTPUT_TEXT,
      NULL },
    { "install-toolkit, with no program",
      { "install-toolkit", "--to=/x" },
      0,
      NULL,
      0,
      "install-toolkit needs a program" },
    { "install-toolkit, to nowhere",
      { "install-toolkit", "p" },
      0,
      NULL,
      0,
      "install-toolkit needs a directory: --to" },
    { "sign-toolkit",
      { "sign-toolkit", "--revision=f00", "--driver=host" },
      NODE_COMMAND_READY_TOOLKIT,
      "/",
      OUTPUT_TEXT,
      NULL },
    { "write-config, of nothing",
      { "write-config", "--to=/x" },
      0,
      NULL,
      0,
      "write-config needs a text, or the variable CONFIG" },
    { "proof", { "proof" }, NODE_COMMAND_PROOF, "/", OUTPUT_TEXT, NULL },
    { "reset, the root before it",
      { "--root=/host", "reset", "0000:3b:00.0", "0000:5e:00.0" },
      NODE_COMMAND_RESET,
      "/host",
      OUTPUT_TEXT,
      NULL },
    { "reset, of nothing", { "reset" }, 0, NULL, 0, "reset needs the PCI address of a GPU" },
    { "reboot",
      { "reboot", "sentinel", "--boot=0123456789abcdef" },
      NODE_COMMAND_REBOOT,
      "/",
      OUTPUT_TEXT,
      NULL },
    { "reboot, in no way",
      { "reboot", "--boot=0123456789abcdef" },
      0,
      NULL,
      0,
      "reboot needs one of pod, sentinel and withdraw" },
    { "reboot, in another way",
      { "reboot", "now", "--boot=0123456789abcdef" },
      0,
      NULL,
      0,
      "reboot needs one of pod, sentinel and withdraw, but has \"now\"" },
    { "reboot, in two ways",
      { "reboot", "pod", "sentinel", "--boot=0123456789abcdef" },
      0,
      NULL,
      0,
      "sentinel is an unexpected argument; `ostler-node --help` lists the commands" },
    { "reboot, of any boot",
      { "reboot", "pod" },
      0,
      NULL,
      0,
      "reboot needs the boot to end: --boot" },
    { "reboot, of a boot that is none",
      { "reboot", "pod", "--boot=5f0a2d1c-0b7e" },
      0,
      NULL,
      0,
      "--boot must be 16 hexadecimal digits, but is \"5f0a2d1c-0b7e\"" },
    { "an option of another command",
      { "--timeout=1m", "look" },
      0,
      NULL,
      0,
      "--timeout is not an option of `ostler-node look`; `ostler-node --help` lists the options" },
    { "an option twice",
      { "look", "--root=/a", "--root=/b" },
      0,
      NULL,
      0,
      "--root is given twice" },
    { "the kernel log of a command that has none",
      { "wait", "driver", "--kernel-log" },
      0,
      NULL,
      0,
      "--kernel-log is not an option of `ostler-node wait`; `ostler-node --help` lists the "
      "options" },
    { "the file of a log behind a space is another word",
      { "look", "--kernel-log", "/log" },
      0,
      NULL,
      0,
      "/log is an unexpected argument; `ostler-node --help` lists the commands" },
    { "no value", { "look", "--root" }, 0, NULL, 0, "--root needs a value: DIR" },
    { "an empty value",
      { "look", "--root=" },
      0,
      NULL,
      0,
      "--root must be a directory, but is \"\"" },
    { "a format that is none",
      { "look", "-o", "xml" },
      0,
      NULL,
      0,
      "-o must be one of text, json and yaml, but is \"xml\"" },
};

static void check(void **state)
{
    const struct row *row = *state;
    char *argv[ARGUMENTS_MAX + 1] = { (char *) "ostler-node" };
    int argc = 1;
    CLEANUP_ERR struct err e = { 0 };
    struct node_options o;
    for (; argc <= ARGUMENTS_MAX && row->argv[argc - 1]; argc++)
        argv[argc] = (char *) row->argv[argc - 1];
    assert_int_equal(node_options_parse(argc, argv, &o, &e), row->error ? -1 : 0);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    if (row->error)
        return;
    assert_int_equal(o.command, row->command);
    assert_string_equal(o.root, row->root);
    assert_int_equal(o.output, row->output);
}

static void check_gpus(void **state)
{
    (void) state;
    char *argv[2 + RESET_GPUS_MAX + 1] = { (char *) "ostler-node", (char *) "reset" };
    struct node_options o;
    CLEANUP_ERR struct err e = { 0 };
    for (size_t i = 2; i < ARRAY_LEN(argv); i++)
        argv[i] = (char *) "0000:3b:00.0";
    assert_int_equal(node_options_parse(ARRAY_LEN(argv) - 1, argv, &o, &e), 0);
    assert_int_equal(o.gpu_count, RESET_GPUS_MAX);
    assert_ptr_equal(o.gpus[RESET_GPUS_MAX - 1], argv[RESET_GPUS_MAX + 1]);
    assert_int_equal(node_options_parse(ARRAY_LEN(argv), argv, &o, &e), -1);
    assert_string_equal(err_msg(&e), "reset takes at most 16 GPUs");
}

static void check_way(void **state)
{
    (void) state;
    char *argv[] = { (char *) "ostler-node", (char *) "reboot", (char *) "pod",
                     (char *) "--boot=0123456789abcdef" };
    struct node_options o;
    assert_int_equal(node_options_parse(ARRAY_LEN(argv), argv, &o, NULL), 0);
    assert_int_equal(o.way, REBOOT_BY_INIT);
    assert_string_equal(o.boot, "0123456789abcdef");
    argv[2] = (char *) "sentinel";
    assert_int_equal(node_options_parse(ARRAY_LEN(argv), argv, &o, NULL), 0);
    assert_int_equal(o.way, REBOOT_BY_SENTINEL);
}

/* What a pod's environment says counts where the command line says nothing, and only for commands
 * that want it. */
static void check_variables(void **state)
{
    (void) state;
    char name[] = "ostler-node", probe[] = "probe-driver", revision[] = "--revision=d00",
         write[] = "write-config", to[] = "--to=/x", wait[] = "wait", toolkit[] = "toolkit",
         install[] = "install-toolkit", program[] = "nvidia-toolkit", debug[] = "--debug";
    struct node_options o;
    setenv("DRIVER_CONFIG_DIGEST", "f00", 1);
    setenv("POD_UID", "uid-1", 1);
    setenv("CONFIG", "version: v1\n", 1);
    assert_int_equal(node_options_parse(2, (char *[]){ name, probe, NULL }, &o, NULL), 0);
    assert_string_equal(o.wish.revision, "f00");
    assert_string_equal(o.pod, "uid-1");
    assert_int_equal(node_options_parse(3, (char *[]){ name, probe, revision, NULL }, &o, NULL), 0);
    assert_string_equal(o.wish.revision, "d00");
    assert_int_equal(node_options_parse(3, (char *[]){ name, write, to, NULL }, &o, NULL), 0);
    assert_string_equal(o.text, "version: v1\n");
    assert_string_equal(o.to, "/x");
    assert_int_equal(node_options_parse(3, (char *[]){ name, wait, toolkit, NULL }, &o, NULL), 0);
    assert_null(o.wish.revision);
    char *with_program[] = { name, install, to, program, debug, NULL };
    assert_int_equal(node_options_parse(5, with_program, &o, NULL), 0);
    assert_ptr_equal(o.program, &with_program[3]);
    unsetenv("DRIVER_CONFIG_DIGEST");
    unsetenv("POD_UID");
    unsetenv("CONFIG");
}

/* No log, the kernel's, or a file in its place. */
static void check_kernel_log(void **state)
{
    (void) state;
    char name[] = "ostler-node", run[] = "run", node[] = "--node=a", alone[] = "--kernel-log",
         file[] = "--kernel-log=/log";
    struct node_options o;
    assert_int_equal(node_options_parse(3, (char *[]){ name, run, node, NULL }, &o, NULL), 0);
    assert_null(o.kernel_log);
    assert_int_equal(node_options_parse(4, (char *[]){ name, run, node, alone, NULL }, &o, NULL),
                     0);
    assert_string_equal(o.kernel_log, "");
    assert_int_equal(node_options_parse(4, (char *[]){ name, run, node, file, NULL }, &o, NULL), 0);
    assert_string_equal(o.kernel_log, "/log");
}

/* Options of one command each, all of them. */
static void check_values(void **state)
{
    (void) state;
    char *run[] = { (char *) "ostler-node",       (char *) "run",
                    (char *) "--node=a",          (char *) "--kubeconfig=k",
                    (char *) "--log-level=debug", (char *) "--log-format=text" };
    char *wait[] = {
        (char *) "ostler-node",   (char *) "wait",           (char *) "toolkit",
        (char *) "--driver=host", (char *) "--revision=f00", (char *) "--timeout=90s"
    };
    struct node_options o;
    assert_int_equal(node_options_parse(ARRAY_LEN(run), run, &o, NULL), 0);
    assert_string_equal(o.node, "a");
    assert_string_equal(o.kubeconfig, "k");
    assert_int_equal(o.log_level, LOG_DEBUG);
    assert_false(o.log_json);
    assert_int_equal(node_options_parse(ARRAY_LEN(wait), wait, &o, NULL), 0);
    assert_int_equal(o.wish.sign, READY_TOOLKIT);
    assert_int_equal(o.wish.source, READY_OF_HOST);
    assert_string_equal(o.wish.revision, "f00");
    assert_int_equal(o.timeout_ms, 90 * 1000);
    assert_true(o.log_json);
}

/* ---- init containers that wait */

/* What is waited for. */
#define WISH(what, whose)                                                                          \
    {                                                                                              \
        .sign = READY_##what, .source = READY_OF_##whose                                           \
    }

static const struct manifest_row {
    const char *name, *operand;
    const char *variable, *value; /* what a part sets; NULL: nothing */
    struct ready_target want;
} manifest_rows[] = {
    { "the toolkit waits", "toolkit", NULL, NULL, WISH(DRIVER, CONTAINER) },
    { "the toolkit waits for a driver of the host", "toolkit", "DRIVER", "host",
      WISH(DRIVER, HOST) },
    { "the device plugin waits",
      "device-plugin",
      "REVISION",
      "f00",
      { .sign = READY_TOOLKIT, .source = READY_OF_CONTAINER, .revision = "f00" } },
    { "the device plugin waits for the driver alone",
      "device-plugin",
      "WAIT_FOR",
      "driver",
      { .sign = READY_DRIVER, .source = READY_OF_CONTAINER, .revision = "x" } },
    { "the exporter waits", "exporter", NULL, NULL, WISH(DRIVER, EITHER) },
};

/* As the kubelet does it, for a variable that is a whole word of an argument or its end. */
static char *expanded(const char *argument, const json_t *container, const struct manifest_row *row)
{
    const char *at = strstr(argument, "$(");
    if (!at)
        return xstrdup(argument);
    CLEANUP_FREE char *name = xstrndup(at + 2, strcspn(at + 2, ")"));
    const json_t *variable = json_find(json_object_get(container, "env"), "name", name);
    assert_non_null(variable);
    const char *value = json_key(variable, "value");
    if (!*value)
        value = "x";
    if (str_eq(name, row->variable))
        value = row->value;
    return xasprintf("%.*s%s", (int) (at - argument), argument, value);
}

/* The manifests ask for what this program can do. */
static void check_manifest(void **state)
{
    const struct manifest_row *row = *state;
    CLEANUP_FREE char *path = xasprintf("reconcilers/manifests/%s/daemonset.yaml", row->operand);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(path, NULL, &e);
    const json_t *pod = json_at(json_array_get(documents, 0), "spec.template.spec");
    const json_t *container = json_find(json_object_get(pod, "initContainers"), "name", "wait");
    const json_t *args = json_object_get(container, "args");
    char *argv[ARGUMENTS_MAX + 1] = { xstrdup("ostler-node") };
    int argc = 1;
    struct node_options o;
    assert_string_equal(json_string_value(json_array_get(json_object_get(container, "command"), 0)),
                        "/usr/bin/ostler-node");
    for (; argc <= ARGUMENTS_MAX && (size_t) argc <= json_array_size(args); argc++)
        argv[argc] = expanded(json_string_value(json_array_get(args, (size_t) argc - 1)), container,
                              row);
    if (node_options_parse(argc, argv, &o, &e) < 0)
        fail_msg("%s", err_msg(&e));
    assert_int_equal(o.command, NODE_COMMAND_WAIT);
    assert_int_equal(o.wish.sign, row->want.sign);
    assert_int_equal(o.wish.source, row->want.source);
    assert_true(str_eq(o.wish.revision, row->want.revision));
    for (int i = 0; i < argc; i++)
        free(argv[i]);
}

/* ---- all that is rendered */

/* Where a container has command lines. */
static const char *const places[][2] = {
    { "command", "args" },
    { "startupProbe.exec.command", NULL },
    { "lifecycle.preStop.exec.command", NULL },
};

static bool mounts(const json_t *container, const char *path)
{
    return json_find(json_object_get(container, "volumeMounts"), "mountPath", path) != NULL;
}

/* A command line of this program is one that it takes, with the variables that the container has,
 * and the program is there. */
static unsigned check_line(const json_t *container, const char *const place[2])
{
    static const struct manifest_row nothing_else = { .name = "" };
    const json_t *lists[] = { json_at(container, place[0]),
                              place[1] ? json_at(container, place[1]) : NULL };
    const char *program = json_string_value(json_array_get(lists[0], 0));
    char *argv[ARGUMENTS_MAX + 1] = { NULL };
    int argc = 0;
    struct node_options o;
    CLEANUP_ERR struct err e = { 0 };
    if (!program || !str_has_suffix(program, "/ostler-node"))
        return 0;
    assert_true(!str_eq(program, "/ostler/ostler-node") || mounts(container, "/ostler"));
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        for (size_t i = 0; i < json_array_size(lists[l]); i++) {
            assert_true(argc < ARGUMENTS_MAX);
            argv[argc++] = expanded(json_string_value(json_array_get(lists[l], i)), container,
                                    &nothing_else);
        }
    if (node_options_parse(argc, argv, &o, &e) < 0)
        fail_msg("%s: %s", json_key(container, "name"), err_msg(&e));
    while (argc > 0)
        free(argv[--argc]);
    return 1U << o.command;
}

/* The kubelet sets a container's variables, those that come from its pod as well. */
static unsigned check_container(const json_t *container)
{
    unsigned commands = 0;
    size_t i;
    json_t *variable;
    json_array_foreach (json_object_get(container, "env"), i, variable)
        setenv(json_key(variable, "name"),
               *json_str_or_empty(variable, "value") ? json_key(variable, "value") : "x", 1);
    for (size_t p = 0; p < ARRAY_LEN(places); p++)
        commands |= check_line(container, places[p]);
    json_array_foreach (json_object_get(container, "env"), i, variable)
        unsetenv(json_key(variable, "name"));
    return commands;
}

static unsigned check_file(const char *path)
{
    static const char *const lists[] = { "initContainers", "containers" };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(path, NULL, &e);
    unsigned commands = 0;
    size_t d, i;
    json_t *document, *container;
    if (!documents)
        fail_msg("%s", err_msg(&e));
    json_array_foreach (documents, d, document) {
        const json_t *template = json_at(document, "spec.template.spec");
        const json_t *pod = template ? template : json_object_get(document, "spec");
        for (size_t l = 0; l < ARRAY_LEN(lists); l++)
            json_array_foreach (json_object_get(pod, lists[l]), i, container)
                commands |= check_container(container);
    }
    return commands;
}

/* Every command of this program that is for operands is in one of the golden files, and all of
 * those are as they should be. */
static void check_rendered(void **state)
{
    (void) state;
    glob_t files;
    unsigned commands = 0;
    assert_int_equal(glob("tests/golden/*.yaml", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        commands |= check_file(files.gl_pathv[i]);
    globfree(&files);
    for (unsigned c = NODE_COMMAND_HOST_DRIVER; c <= NODE_COMMAND_REBOOT; c++)
        if (!(commands & 1U << c))
            fail_msg("no golden file uses command %u", c);
}

/* In a pod the name comes by the environment. */
static void check_environment(void **state)
{
    (void) state;
    char *run[] = { (char *) "ostler-node", (char *) "run" };
    struct node_options o;
    setenv("NODE_NAME", "from-the-pod", 1);
    assert_int_equal(node_options_parse(ARRAY_LEN(run), run, &o, NULL), 0);
    assert_string_equal(o.node, "from-the-pod");
    unsetenv("NODE_NAME");
}

int main(void)
{
    unsetenv("NODE_NAME");
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    SUITE_ROWS(&s, check_manifest, manifest_rows);
    suite_add(&s, "command lines of all that is rendered", check_rendered, NULL);
    suite_add(&s, "the kernel log", check_kernel_log, NULL);
    suite_add(&s, "values from the environment, and a program", check_variables, NULL);
    suite_add(&s, "values of options", check_values, NULL);
    suite_add(&s, "the GPUs of a reset", check_gpus, NULL);
    suite_add(&s, "how and what to reboot", check_way, NULL);
    suite_add(&s, "the name of the node from the environment", check_environment, NULL);
    return suite_run(&s, "node options");
}
