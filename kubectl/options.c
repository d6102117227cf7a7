#include "kubectl/options.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/plan/node_plan.h"

enum kind { TEXT, PATH, SPAN, OUTPUT, STATE, DRY_RUN, FLAG };

static const char *const wanted[] = {
    [TEXT] = "must not be empty",
    [PATH] = "must not be empty",
    [SPAN] = "must be a duration such as 30s or 2h",
    [OUTPUT] = "must be one of wide, json and yaml",
#define X(id, name, served) " " name
    [STATE] = "must be one of" NODE_STATES(X),
#undef X
    [DRY_RUN] = "must be server",
    [FLAG] = "takes no value",
};

#define BIT(command) (1u << GPU_##command)
#define WRITES (BIT(PAUSE) | BIT(RESUME) | BIT(APPROVE) | BIT(HOLD) | BIT(RELEASE))
#define SHOWS (BIT(STATUS) | BIT(NODES) | BIT(EXPLAIN) | BIT(EVENTS))
#define PLUGIN (SHOWS | WRITES | BIT(BUNDLE))
#define ONLINE (PLUGIN | BIT(PLAN)) /* a plan has no colours, and asks nothing of Ostler's own namespace */

static const struct command_row {
    const char *name, *takes, *help;
} commands[] = {
#define X(id, name, takes, help) [GPU_##id] = { name, takes, help },
    GPU_COMMANDS(X)
#undef X
};

static const struct option_row {
    const char *name, *letter; /* letter NULL: it has none */
    unsigned commands;         /* that take it, as bits */
    enum kind kind;
    size_t offset;
    const char *argument, *help;
} rows[] = {
    { "--kubeconfig", NULL, ONLINE, PATH, offsetof(struct gpu_options, kubeconfig), "FILE",
      "which cluster; default: $KUBECONFIG, the pod's own, ~/.kube/config" },
    { "--context", NULL, ONLINE, TEXT, offsetof(struct gpu_options, context), "NAME",
      "which context of it; default: the current one" },
    { "--namespace", "-n", PLUGIN, TEXT, offsetof(struct gpu_options, namespace), "NAME",
      "the namespace of Ostler; default: the one that its Lease names, else " OSTLER_NAMESPACE },
    { "--operand-namespace", NULL, ONLINE, TEXT, offsetof(struct gpu_options, operand_namespace), "NAME",
      "where operands run; default: ostler-operands" },
    { "--request-timeout", NULL, ONLINE, SPAN, offsetof(struct gpu_options, request_timeout_ms), "TIME",
      "how long one request may take; default: 30s" },
    { "--output", "-o", SHOWS | BIT(PLAN), OUTPUT, offsetof(struct gpu_options, output), "FORMAT", "wide, json or yaml" },
    { "--watch", "-w", SHOWS, FLAG, offsetof(struct gpu_options, watch), "", "go on showing it until Ctrl-C" },
    { "--state", NULL, BIT(NODES), STATE, offsetof(struct gpu_options, state), "STATE", "nodes: only those in this state" },
    { "--since", NULL, BIT(EVENTS), SPAN, offsetof(struct gpu_options, since_ms), "TIME", "events: only those of the last TIME" },
    { "--filename", "-f", BIT(PLAN) | BIT(BUNDLE), PATH, offsetof(struct gpu_options, file), "FILE",
      "plan: a whole policy, \"-\" is standard input; bundle: what to write; default: ostler-bundle-TIME.tar.gz" },
    { "--simulate", NULL, BIT(PLAN), FLAG, offsetof(struct gpu_options, simulate), "",
      "plan: play the whole rollout and print what happens when" },
    { "--allowed-image-prefixes", NULL, BIT(PLAN), TEXT, offsetof(struct gpu_options, image_prefixes), "LIST",
      "plan: registries that images may come from; default: " POLICY_IMAGE_PREFIXES },
    { "--allowed-settings", NULL, BIT(PLAN), TEXT, offsetof(struct gpu_options, settings), "LIST",
      "plan: variables and arguments that a policy may give to operands; default: proxies and plain switches" },
    { "--allowed-install-dirs", NULL, BIT(PLAN), TEXT, offsetof(struct gpu_options, install_dirs), "LIST",
      "plan: directories that a policy may install the toolkit in; default: " POLICY_INSTALL_DIRS },
    { "--control-plane-nodes", NULL, BIT(PLAN), FLAG, offsetof(struct gpu_options, control_plane), "",
      "plan: Ostler serves GPU nodes of the control plane, too" },
    { "--dry-run", NULL, WRITES, DRY_RUN, offsetof(struct gpu_options, dry_run), "server",
      "have the API server check it and change nothing" },
    { "--no-color", NULL, PLUGIN, FLAG, offsetof(struct gpu_options, no_colour), "",
      "no colours on a terminal either; so does $NO_COLOR" },
};

const char *gpu_command_name(enum gpu_command command)
{
    return commands[command].name;
}

enum gpu_command gpu_command_of(const char *name)
{
    size_t i = 0;
    while (i < GPU_COMMAND_COUNT && !str_eq(commands[i].name, name))
        i++;
    return (enum gpu_command) i;
}

const char *gpu_output_name(enum gpu_output output)
{
    static const char *const names[] = { [SHOW_TEXT] = "text", [SHOW_WIDE] = "wide", [SHOW_JSON] = "json", [SHOW_YAML] = "yaml" };
    return names[output];
}

static bool parse_output(const char *s, enum gpu_output *ret)
{
    for (size_t i = 0; i < SHOW_COUNT; i++)
        if (str_eq(gpu_output_name((enum gpu_output) i), s)) {
            *ret = (enum gpu_output) i;
            return true;
        }
    return false;
}

/* States are written as people please. */
static bool parse_state(const char *s, const char **ret)
{
    for (int i = 0; i < NODE_STATE_COUNT; i++)
        if (strcasecmp(node_state_name((enum node_state) i), s) == 0) {
            *ret = node_state_name((enum node_state) i);
            return true;
        }
    return false;
}

static bool store(const struct option_row *row, const char *value, struct gpu_options *o)
{
    void *at = (char *) o + row->offset;
    switch (row->kind) {
    case TEXT:
    case PATH:
        *(const char **) at = value;
        return *value != '\0';
    case SPAN:
        return str_parse_duration(value, at) && *(int64_t *) at > 0;
    case OUTPUT:
        return parse_output(value, at);
    case STATE:
        return parse_state(value, at);
    case DRY_RUN:
        *(bool *) at = true;
        return str_eq(value, "server");
    case FLAG:
        *(bool *) at = true;
        return true;
    }
    return false;
}

/* The row of an argument; *value is what stands behind its "=", or for "-oyaml" behind the letter, or NULL. */
static const struct option_row *find(const char *arg, const char **value)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *letter = rows[i].letter;
        if (str_is_option(arg, rows[i].name, value))
            return &rows[i];
        if (!letter || !str_has_prefix(arg, letter))
            continue;
        const char *rest = arg + strlen(letter);
        *value = *rest == '=' ? rest + 1 : *rest ? rest : NULL;
        return &rows[i];
    }
    return NULL;
}

bool gpu_option_takes_value(const char *name)
{
    const char *value;
    const struct option_row *row = find(name, &value);
    return row && !value && row->kind != FLAG && row->kind != DRY_RUN;
}

bool gpu_option_takes_file(const char *name)
{
    const char *value;
    const struct option_row *row = find(name, &value);
    return row && row->kind == PATH;
}

const char *gpu_output_refused(enum gpu_command command, enum gpu_output output, bool watch)
{
    static const struct {
        unsigned commands;
        bool watch; /* only then */
        enum gpu_output output;
        const char *why;
    } refusals[] = {
        { SHOWS, true, SHOW_YAML, "--watch has no end, and so no YAML: take -o json, a line for each time" },
        { BIT(PLAN), false, SHOW_WIDE, "-o wide: a plan is shown whole; take json or yaml for programs" },
    };
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        if (refusals[i].commands & 1u << command && refusals[i].output == output && (watch || !refusals[i].watch))
            return refusals[i].why;
    return NULL;
}

static int take_option(int argc, char **argv, int *i, struct gpu_options *o, unsigned *given, struct err *e)
{
    const char *value;
    const struct option_row *row = find(argv[*i], &value);
    if (!row)
        return err_set(e, ERR_INVALID, "unknown option %s; `kubectl gpu help` lists them", argv[*i]);
    if (*given & 1u << (row - rows))
        return err_set(e, ERR_INVALID, "%s is there twice", row->name);
    *given |= 1u << (row - rows);
    if (row->kind == FLAG && value)
        return err_set(e, ERR_INVALID, "%s takes no value", row->name);
    if (!value && row->kind == DRY_RUN)
        value = "server";
    if (!value && row->kind != FLAG && *i + 1 < argc)
        value = argv[++*i];
    if (!value && row->kind != FLAG)
        return err_set(e, ERR_INVALID, "%s needs %s", row->name, row->argument);
    if (!store(row, value, o))
        return err_set(e, ERR_INVALID, "%s: %s, not \"%s\"", row->name, wanted[row->kind], value);
    return 0;
}

/* Whether all that was given is of use to the command, and all that it needs is there. */
static int check_together(const struct gpu_options *o, unsigned given, struct err *e)
{
    const struct command_row *command = &commands[o->command];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (given & 1u << i && !(rows[i].commands & 1u << o->command))
            return err_set(e, ERR_INVALID, "%s is no option of `kubectl gpu %s`; `kubectl gpu help` lists the options",
                           rows[i].name, command->name);
    bool optional = *command->takes == '[', many = strstr(command->takes, "…") != NULL;
    if (*command->takes && !optional && o->name_count == 0)
        return err_set(e, ERR_INVALID, "`kubectl gpu %s` needs %s", command->name, command->takes);
    if (o->name_count > (many ? SIZE_MAX : *command->takes ? 1u : 0u))
        return err_set(e, ERR_INVALID, "unexpected argument %s", o->names[*command->takes ? 1 : 0]);
    const char *refused = gpu_output_refused(o->command, o->output, o->watch);
    return refused ? err_set(e, ERR_INVALID, "%s", refused) : 0;
}

/* The command and its names are moved to the front of argv; returns how many there are. */
static int collect(int argc, char **argv, struct gpu_options *ret, unsigned *given, struct err *e)
{
    int words = 0;
    bool only_words = false;
    for (int i = 1; i < argc; i++) {
        bool option = !only_words && argv[i][0] == '-' && argv[i][1];
        if (option && str_eq(argv[i], "--")) {
            only_words = true;
        } else if (option && (str_eq(argv[i], "--help") || str_eq(argv[i], "-h"))) {
            ret->command = GPU_HELP;
            return 0;
        } else if (option && str_eq(argv[i], "--version")) {
            ret->command = GPU_VERSION;
            return 0;
        } else if (!option) {
            argv[words++] = argv[i];
        } else if (take_option(argc, argv, &i, ret, given, e) < 0) {
            return -1;
        }
    }
    return words;
}

int gpu_options_parse(int argc, char **argv, struct gpu_options *ret, struct err *e)
{
    *ret = (struct gpu_options){ .command = GPU_COMMAND_COUNT, .request_timeout_ms = 30 * 1000,
                                 .operand_namespace = "ostler-operands" };
    /* What is to be completed is no command line yet. */
    if (argc > 1 && str_eq(argv[1], commands[GPU_COMPLETE].name)) {
        ret->command = GPU_COMPLETE;
        ret->names = argv + 2;
        ret->name_count = (size_t) argc - 2;
        return 0;
    }
    unsigned given = 0;
    int words = collect(argc, argv, ret, &given, e);
    if (words < 0 || ret->command != GPU_COMMAND_COUNT)
        return words;
    ret->command = words ? gpu_command_of(argv[0]) : GPU_HELP;
    if (ret->command == GPU_COMMAND_COUNT)
        return err_set(e, ERR_INVALID, "unknown command %s; `kubectl gpu help` lists them", argv[0]);
    ret->names = argv + 1;
    ret->name_count = words ? (size_t) words - 1 : 0;
    return check_together(ret, given, e);
}

void gpu_options_complete_command(const char *word)
{
    for (size_t i = 0; i < GPU_COMMAND_COUNT; i++)
        if (*commands[i].help && str_has_prefix(commands[i].name, word))
            printf("%s\t%s\n", commands[i].name, commands[i].help);
}

void gpu_options_complete_option(enum gpu_command command, const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((command == GPU_COMMAND_COUNT || rows[i].commands & 1u << command) && str_has_prefix(rows[i].name, word))
            printf("%s\t%s\n", rows[i].name, rows[i].help);
}

void gpu_options_help(void)
{
    printf("kubectl gpu: GPU nodes that Ostler manages.\n\nusage: kubectl gpu COMMAND [OPTION…]\n\ncommands:\n");
    for (size_t i = 0; i < GPU_COMMAND_COUNT; i++)
        if (*commands[i].help)
            printf("  %-10s %-9s%s %s\n", commands[i].name, commands[i].takes, strstr(commands[i].takes, "…") ? "  " : "",
                   commands[i].help);
    printf("\noptions:\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t used = strlen(rows[i].name) + strlen(rows[i].argument);
        printf("  %s %s%*s %s%s%s\n", rows[i].name, rows[i].argument, used < 30 ? (int) (30 - used) : 0, "", rows[i].help,
               rows[i].letter ? "; short: " : "", str_or_empty(rows[i].letter));
    }
    printf("\nexit codes: 0 done, 1 it could not be done, 2 the command line is wrong, 3 plan --simulate: some node did not get "
           "there\n");
    printf("\nexample: kubectl gpu status --watch\n");
}
