#include "kubectl/options.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { WORDS_MAX = 12 };

/* Parses a command line, words apart by spaces; `text` is used up. */
static int parse(char *text, char **argv, struct gpu_options *ret, struct err *e)
{
    int argc = 1;
    argv[0] = (char *) "kubectl-gpu";
    for (char *word; (word = strsep(&text, " ")) && argc < WORDS_MAX;)
        if (*word)
            argv[argc++] = word;
    return gpu_options_parse(argc, argv, ret, e);
}

static const struct refusal {
    const char *name; /* the command line */
    const char *error;
} refusals[] = {
    { "fly", "unknown command fly; `kubectl gpu help` lists them" },
    { "status --no-such", "unknown option --no-such; `kubectl gpu help` lists them" },
    { "fly --help", "unknown command fly; `kubectl gpu help` lists them" },
    { "help fly", "unknown command fly; `kubectl gpu help` lists them" },
    { "help plan nodes", "unexpected argument nodes" },
    { "status now", "unexpected argument now" },
    { "explain", "`kubectl gpu explain` needs NODE" },
    { "explain a b", "unexpected argument b" },
    { "hold", "`kubectl gpu hold` needs NODE…" },
    { "approve a b", "unexpected argument b" },
    { "repair", "`kubectl gpu repair` needs NODE" },
    { "repair a b", "unexpected argument b" },
    { "ignore a b --fault Xid79", "unexpected argument b" },
    { "ignore a --fault=", "--fault: must not be empty, not \"\"" },
    { "repair a --undo",
      "--undo is not an option of `kubectl gpu repair`; `kubectl gpu help` lists the options" },
    { "ignore a --cancel",
      "--cancel is not an option of `kubectl gpu ignore`; `kubectl gpu help` lists the options" },
    { "hold a --yes",
      "--yes is not an option of `kubectl gpu hold`; `kubectl gpu help` lists the options" },
    { "status -o xml", "--output: must be one of wide, json and yaml, not \"xml\"" },
    { "status -w -oyaml",
      "--watch does not support YAML: use -o json, which prints a line per refresh" },
    { "plan -o wide", "plan does not support -o wide: use json or yaml" },
    { "status --dry-run",
      "--dry-run is not an option of `kubectl gpu status`; `kubectl gpu help` lists the options" },
    { "pause --dry-run=client", "--dry-run: must be server, not \"client\"" },
    { "pause -w",
      "--watch is not an option of `kubectl gpu pause`; `kubectl gpu help` lists the options" },
    { "status --watch=yes", "--watch takes no value" },
    { "status -n", "--namespace needs NAME" },
    { "nodes --state Faild",
      "--state: must be one of Unmanaged Discovered Installing Waiting "
      "Draining Unloading Resetting Rebooting Validating "
      "Ready Unhealthy Failed Lost ForeignStack Unsupported Removing, not \"Faild\"" },
    { "plan -n a",
      "--namespace is not an option of `kubectl gpu plan`; `kubectl gpu help` lists the options" },
    { "plan --no-color",
      "--no-color is not an option of `kubectl gpu plan`; `kubectl gpu help` lists the options" },
    { "status -n a -n b", "--namespace is given twice" },
    { "status --request-timeout 10",
      "--request-timeout: must be a duration such as 30s or 2h, not \"10\"" },
    { "status --request-timeout 0s",
      "--request-timeout: must be a duration such as 30s or 2h, not \"0s\"" },
    { "status --kubeconfig=", "--kubeconfig: must not be empty, not \"\"" },
};

static void check_refusal(void **state)
{
    const struct refusal *row = *state;
    CLEANUP_FREE char *text = xstrdup(row->name);
    CLEANUP_ERR struct err e = { 0 };
    char *argv[WORDS_MAX];
    struct gpu_options o;
    assert_int_equal(parse(text, argv, &o, &e), -1);
    assert_string_equal(err_msg(&e), row->error);
}

static void check_all(void **state)
{
    (void) state;
    char text[] = "-n system hold gpu-1 --context=c gpu-2 --dry-run --request-timeout 5s -- --odd";
    char *argv[WORDS_MAX];
    struct gpu_options o;
    CLEANUP_ERR struct err e = { 0 };
    assert_int_equal(parse(text, argv, &o, &e), 0);
    assert_int_equal(o.command, GPU_HOLD);
    assert_string_equal(o.namespace, "system");
    assert_string_equal(o.context, "c");
    assert_int_equal(o.request_timeout_ms, 5000);
    assert_true(o.dry_run);
    assert_int_equal(o.name_count, 3);
    assert_string_equal(o.names[0], "gpu-1");
    assert_string_equal(o.names[1], "gpu-2");
    assert_string_equal(o.names[2], "--odd");
}

static void check_health(void **state)
{
    (void) state;
    char ignore[] = "ignore gpu-1 --fault Xid79 --undo", repair[] = "repair -y gpu-2",
         cancel[] = "repair gpu-2 --cancel --dry-run";
    char *argv[WORDS_MAX];
    struct gpu_options o;
    CLEANUP_ERR struct err e = { 0 };
    assert_int_equal(parse(ignore, argv, &o, &e), 0);
    assert_int_equal(o.command, GPU_IGNORE);
    assert_string_equal(o.fault, "Xid79");
    assert_true(o.undo);
    assert_int_equal(parse(repair, argv, &o, &e), 0);
    assert_int_equal(o.command, GPU_REPAIR);
    assert_true(o.yes && !o.undo && !o.dry_run);
    assert_int_equal(parse(cancel, argv, &o, &e), 0);
    assert_true(o.undo && o.dry_run && !o.yes);
}

static const struct command_row {
    const char *name; /* the command line */
    enum gpu_command want;
} commands[] = {
    { "", GPU_HELP },
    { "status", GPU_STATUS },
    { "status --help", GPU_HELP },
    { "nodes -h", GPU_HELP },
    { "help", GPU_HELP },
    { "help nodes", GPU_HELP },
    { "--version", GPU_VERSION },
    { "version", GPU_VERSION },
    { "__complete sta --xyz", GPU_COMPLETE },
};

static void check_command(void **state)
{
    const struct command_row *row = *state;
    CLEANUP_FREE char *text = xstrdup(row->name);
    CLEANUP_ERR struct err e = { 0 };
    char *argv[WORDS_MAX];
    struct gpu_options o;
    assert_int_equal(parse(text, argv, &o, &e), 0);
    assert_int_equal(o.command, row->want);
}

/* The help for a command line that asks for it. */
static const struct help_row {
    const char *name;
    enum gpu_command explained;
    const char *has, *lacks;
} helps[] = {
    { "help", GPU_COMMAND_COUNT, "usage: kubectl gpu COMMAND [OPTION…]",
      "usage: kubectl gpu help" },
    { "-h", GPU_COMMAND_COUNT, "plan: file with a policy", NULL },
    { "help events", GPU_EVENTS, "usage: kubectl gpu events [NODE…] [OPTION…]", "--filename" },
    { "explain gpu-1 --help", GPU_EXPLAIN, "usage: kubectl gpu explain NODE [OPTION…]", "--since" },
    { "events -h --since", GPU_EVENTS, "TIME                    only events of", "events: only" },
    { "plan -h", GPU_PLAN, " file with a policy, \"-\" is standard input; short: -f", "bundle" },
    { "bundle -h", GPU_BUNDLE, " output file; default: ostler-bundle", "policy" },
    { "version -h", GPU_VERSION, "usage: kubectl gpu version\n", "option" },
};

static void check_help(void **state)
{
    const struct help_row *row = *state;
    CLEANUP_FREE char *line = xstrdup(row->name), *text = NULL;
    CLEANUP_ERR struct err e = { 0 };
    char *argv[WORDS_MAX];
    struct gpu_options o;
    assert_int_equal(parse(line, argv, &o, &e), 0);
    assert_int_equal(o.command, GPU_HELP);
    assert_int_equal(o.explained, row->explained);
    size_t len;
    FILE *out = open_memstream(&text, &len);
    gpu_options_help(out, o.explained);
    fclose(out);
    if (!strstr(text, row->has) || (row->lacks && strstr(text, row->lacks)))
        fail_msg("%s", text);
}

static void check_values(void **state)
{
    (void) state;
    assert_true(gpu_option_takes_value("-n"));
    assert_true(gpu_option_takes_value("--output"));
    assert_false(gpu_option_takes_value("--output=json"));
    assert_false(gpu_option_takes_value("--watch"));
    assert_false(gpu_option_takes_value("--no-such"));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_refusal, refusals);
    SUITE_ROWS(&s, check_command, commands);
    SUITE_ROWS(&s, check_help, helps);
    suite_add(&s, "all that can be said", check_all, NULL);
    suite_add(&s, "a repair is asked for and cancelled, a fault is ignored", check_health, NULL);
    suite_add(&s, "which options take a word", check_values, NULL);
    return suite_run(&s, "kubectl_options");
}
