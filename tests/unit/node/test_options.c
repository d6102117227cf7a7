/* The command line of ostler-node. */
#include "node/options.h"

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
    enum node_output output;
    const char *error; /* NULL: none */
} rows[] = {
    { "look", { "look" }, NODE_COMMAND_LOOK, "/", NODE_OUTPUT_TEXT, NULL },
    { "another root", { "look", "--root", "/host" }, NODE_COMMAND_LOOK, "/host", NODE_OUTPUT_TEXT, NULL },
    { "a value behind a sign", { "look", "--root=/host", "-o=json" }, NODE_COMMAND_LOOK, "/host", NODE_OUTPUT_JSON, NULL },
    { "an option first", { "-o", "yaml", "look" }, NODE_COMMAND_LOOK, "/", NODE_OUTPUT_YAML, NULL },
    { "help", { "help" }, NODE_COMMAND_HELP, "/", NODE_OUTPUT_TEXT, NULL },
    { "help, as an option, whatever else is there",
      { "look", "--help", "--nonsense" },
      NODE_COMMAND_HELP,
      "/",
      NODE_OUTPUT_TEXT,
      NULL },
    { "help, short", { "-h" }, NODE_COMMAND_HELP, "/", NODE_OUTPUT_TEXT, NULL },
    { "version", { "--version" }, NODE_COMMAND_VERSION, "/", NODE_OUTPUT_TEXT, NULL },
    { "nothing", { NULL }, 0, NULL, 0, "no command; `ostler-node --help` lists them" },
    { "a command that is none", { "walk" }, 0, NULL, 0, "walk is no command; `ostler-node --help` lists the commands" },
    { "run, on no node", { "run" }, 0, NULL, 0, "run wants the name of this node: --node, or the variable NODE_NAME" },
    { "run, on a node without a name", { "run", "--node=" }, 0, NULL, 0, "--node must be a name, but is \"\"" },
    { "run", { "run", "--node", "a", "--root=/host" }, NODE_COMMAND_RUN, "/host", NODE_OUTPUT_TEXT, NULL },
    { "a log that is none",
      { "run", "--log-format=xml" }, 0, NULL, 0, "--log-format must be one of json and text, but is \"xml\"" },
    { "wait", { "wait", "driver" }, NODE_COMMAND_WAIT, "/", NODE_OUTPUT_TEXT, NULL },
    { "wait, with options between", { "wait", "--timeout=5m", "toolkit" }, NODE_COMMAND_WAIT, "/", NODE_OUTPUT_TEXT, NULL },
    { "wait, for nothing", { "wait" }, 0, NULL, 0, "wait wants one of driver and toolkit" },
    { "wait, for something else", { "wait", "gpu" }, 0, NULL, 0, "wait wants one of driver and toolkit, but has \"gpu\"" },
    { "wait, for two things", { "wait", "driver", "toolkit" }, 0, NULL, 0,
      "toolkit is one word too many; `ostler-node --help` lists the commands" },
    { "a time that is none", { "wait", "--timeout=soon" }, 0, NULL, 0, "--timeout must be a time, such as 10m, but is \"soon\"" },
    { "two commands", { "look", "look" }, 0, NULL, 0, "look is one word too many; `ostler-node --help` lists the commands" },
    { "an option that is none", { "look", "--output" }, 0, NULL, 0, "unknown option --output; `ostler-node --help` lists them" },
    { "cards", { "cards", "--root=/host", "--to=/run/x" }, NODE_COMMAND_CARDS, "/host", NODE_OUTPUT_TEXT, NULL },
    { "an option of another command", { "--timeout=1m", "look" }, 0, NULL, 0,
      "--timeout is no option of `ostler-node look`; `ostler-node --help` says what it is for" },
    { "an option twice", { "look", "--root=/a", "--root=/b" }, 0, NULL, 0, "--root is there twice" },
    { "no value", { "look", "--root" }, 0, NULL, 0, "--root wants a value: DIR" },
    { "an empty value", { "look", "--root=" }, 0, NULL, 0, "--root must be a folder, but is \"\"" },
    { "a format that is none", { "look", "-o", "xml" }, 0, NULL, 0, "-o must be one of text, json and yaml, but is \"xml\"" },
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

/* Options of one command each, all of them. */
static void check_values(void **state)
{
    (void) state;
    char *run[] = { (char *) "ostler-node", (char *) "run", (char *) "--node=a", (char *) "--kubeconfig=k",
                    (char *) "--log-level=debug", (char *) "--log-format=text" };
    char *wait[] = { (char *) "ostler-node", (char *) "wait", (char *) "toolkit", (char *) "--driver=host",
                     (char *) "--revision=f00", (char *) "--timeout=90s" };
    struct node_options o;
    assert_int_equal(node_options_parse(ARRAY_LEN(run), run, &o, NULL), 0);
    assert_string_equal(o.node, "a");
    assert_string_equal(o.kubeconfig, "k");
    assert_int_equal(o.log_level, LOG_DEBUG);
    assert_false(o.log_json);
    assert_int_equal(node_options_parse(ARRAY_LEN(wait), wait, &o, NULL), 0);
    assert_int_equal(o.wish.sign, SIGN_TOOLKIT);
    assert_int_equal(o.wish.source, SIGN_OF_HOST);
    assert_string_equal(o.wish.revision, "f00");
    assert_int_equal(o.timeout_ms, 90 * 1000);
    assert_true(o.log_json);
}

/* ---- init containers that wait */

static const struct manifest_row {
    const char *name, *operand;
    const char *variable, *value; /* what a part sets; NULL: nothing */
    struct sign_wish want;
} manifest_rows[] = {
    { "the toolkit waits", "toolkit", NULL, NULL, { SIGN_DRIVER, SIGN_OF_CONTAINER, NULL } },
    { "the toolkit waits for a driver of the host", "toolkit", "DRIVER", "host", { SIGN_DRIVER, SIGN_OF_HOST, NULL } },
    { "the device plugin waits", "device-plugin", "REVISION", "f00", { SIGN_TOOLKIT, SIGN_OF_CONTAINER, "f00" } },
    { "the device plugin waits for the driver alone", "device-plugin", "WAIT_FOR", "driver",
      { SIGN_DRIVER, SIGN_OF_CONTAINER, "x" } },
    { "the exporter waits", "exporter", NULL, NULL, { SIGN_DRIVER, SIGN_OF_EITHER, NULL } },
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
    assert_string_equal(json_string_value(json_array_get(json_object_get(container, "command"), 0)), "/usr/bin/ostler-node");
    for (; argc <= ARGUMENTS_MAX && (size_t) argc <= json_array_size(args); argc++)
        argv[argc] = expanded(json_string_value(json_array_get(args, (size_t) argc - 1)), container, row);
    if (node_options_parse(argc, argv, &o, &e) < 0)
        fail_msg("%s", err_msg(&e));
    assert_int_equal(o.command, NODE_COMMAND_WAIT);
    assert_int_equal(o.wish.sign, row->want.sign);
    assert_int_equal(o.wish.source, row->want.source);
    assert_true(str_eq(o.wish.revision, row->want.revision));
    for (int i = 0; i < argc; i++)
        free(argv[i]);
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
    suite_add(&s, "values of options", check_values, NULL);
    suite_add(&s, "the name of the node from the environment", check_environment, NULL);
    return suite_run(&s, "node options");
}
