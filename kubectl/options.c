#include "kubectl/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/command_line.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/decide/node_types.h"

static const char *const outputs[] = {
    [SHOW_TEXT] = "text", [SHOW_WIDE] = "wide", [SHOW_JSON] = "json", [SHOW_YAML] = "yaml", NULL
};

static bool store_span(const struct option_kind *kind, const char *value, void *to)
{
    return option_store_duration(kind, value, to) && *(int64_t *) to > 0;
}

/* States may have any case. */
static bool store_state(const struct option_kind *kind, const char *value, void *to)
{
    (void) kind;
    for (int i = 0; i < NODE_STATE_COUNT; i++)
        if (strcasecmp(node_state_name((enum node_state) i), value) == 0) {
            *(const char **) to = node_state_name((enum node_state) i);
            return true;
        }
    return false;
}

static bool store_dry_run(const struct option_kind *kind, const char *value, void *to)
{
    (void) kind;
    *(bool *) to = true;
    return str_eq(value, "server");
}

static bool store_port(const struct option_kind *kind, const char *value, void *to)
{
    (void) kind;
    return str_parse_int(value, 1, 65535, to);
}

static const struct option_kind text = { .store = option_store_text,
                                         .wanted = "must not be empty" };
static const struct option_kind path = { .store = option_store_text,
                                         .wanted = "must not be empty" };
static const struct option_kind span = { .store = store_span,
                                         .wanted = "must be a duration such as 30s or 2h" };
static const struct option_kind port = { .store = store_port,
                                         .wanted = "must be a number from 1 to 65535" };
static const struct option_kind format = { .store = option_store_word,
                                           .wanted = "must be one of wide, json and yaml",
                                           .words = outputs };
#define X(id, name, served) " " name
static const struct option_kind state = { .store = store_state,
                                          .wanted = "must be one of" NODE_STATES(X) };
#undef X
static const struct option_kind dry_run = {
    .store = store_dry_run, .wanted = "must be server", .arity = OPTION_MAY_BE, .alone = "server"
};

#define BIT(command) (1u << GPU_##command)
#define WRITES                                                                                     \
    (BIT(PAUSE) | BIT(RESUME) | BIT(APPROVE) | BIT(HOLD) | BIT(RELEASE) | BIT(REPAIR) | BIT(IGNORE))
#define SHOWS (BIT(STATUS) | BIT(NODES) | BIT(EXPLAIN) | BIT(EVENTS))
#define PLUGIN (SHOWS | WRITES | BIT(BUNDLE) | BIT(PAGE))
/* A plan has no colours, and does not use Ostler's own namespace. */
#define ONLINE (PLUGIN | BIT(PLAN))

static const struct command_row commands[] = {
#define X(id, name, takes, help) [GPU_##id] = { name, takes, help },
    GPU_COMMANDS(X)
#undef X
};

/* The offset of an option's value. */
#define AT(member) offsetof(struct gpu_options, member)

static const struct option_row rows[] = {
    { "--kubeconfig", NULL, ONLINE, &path, AT(kubeconfig), "FILE",
      "kubeconfig of the cluster; default: $KUBECONFIG, the pod's own, ~/.kube/config" },
    { "--context", NULL, ONLINE, &text, AT(context), "NAME",
      "context of the kubeconfig; default: the current one" },
    { "--namespace", "-n", PLUGIN, &text, AT(namespace), "NAME",
      "namespace of Ostler; default: the one that its Lease names, else " OSTLER_NAMESPACE },
    { "--operand-namespace", NULL, ONLINE, &text, AT(operand_namespace), "NAME",
      "namespace of the operands; default: ostler-operands" },
    { "--request-timeout", NULL, ONLINE, &span, AT(request_timeout_ms), "TIME",
      "timeout of a request; default: 30s" },
    { "--output", "-o", SHOWS | BIT(PLAN), &format, AT(output), "FORMAT",
      "output format: wide, json or yaml" },
    { "--watch", "-w", SHOWS, &option_flag, AT(watch), "", "refresh the output until Ctrl-C" },
    { "--state", NULL, BIT(NODES), &state, AT(state), "STATE", "nodes: only nodes in this state" },
    { "--since", NULL, BIT(EVENTS), &span, AT(since_ms), "TIME",
      "events: only events of the last TIME" },
    { "--filename", "-f", BIT(PLAN) | BIT(BUNDLE), &path, AT(file), "FILE",
      "plan: file with a policy, \"-\" is standard input; bundle: output file; default: "
      "ostler-bundle-TIME.tar.gz" },
    { "--simulate", NULL, BIT(PLAN), &option_flag, AT(simulate), "",
      "plan: simulate the whole rollout and print its timeline" },
    { "--allowed-image-prefixes", NULL, BIT(PLAN), &text, AT(image_prefixes), "LIST",
      "plan: registries that images may come from; default: " POLICY_IMAGE_PREFIXES },
    { "--allowed-settings", NULL, BIT(PLAN), &text, AT(settings), "LIST",
      "plan: variables and arguments that a policy may set on operands; default: proxies and "
      "switches" },
    { "--allowed-install-dirs", NULL, BIT(PLAN), &text, AT(install_dirs), "LIST",
      "plan: directories in which a policy may install the toolkit; "
      "default: " POLICY_INSTALL_DIRS },
    { "--control-plane-nodes", NULL, BIT(PLAN), &option_flag, AT(control_plane), "",
      "plan: Ostler also serves GPU nodes of the control plane" },
    { "--allow-repairs", NULL, BIT(PLAN), &option_flag, AT(repairs), "",
      "plan: a policy may ask for repairs: resets of GPUs, and reboots" },
    { "--yes", "-y", BIT(REPAIR), &option_flag, AT(yes), "",
      "repair: ask for it; without this, only say what it would do" },
    { "--cancel", NULL, BIT(REPAIR), &option_flag, AT(undo), "", "repair: no longer ask for it" },
    { "--fault", NULL, BIT(IGNORE), &text, AT(fault), "REASON",
      "ignore: the fault, such as Xid79, or \"all\" for every fault of the node" },
    { "--undo", NULL, BIT(IGNORE), &option_flag, AT(undo), "",
      "ignore: let the fault count again" },
    { "--dry-run", NULL, WRITES, &dry_run, AT(dry_run), "server",
      "let the API server check the change without applying it" },
    { "--port", NULL, BIT(PAGE), &port, AT(port), "NUMBER",
      "page: port on this machine; default: a free one" },
    { "--no-browser", NULL, BIT(PAGE), &option_flag, AT(no_browser), "",
      "page: print the address without opening a browser" },
    { "--no-color", NULL, PLUGIN, &option_flag, AT(no_colour), "",
      "no colours on a terminal; $NO_COLOR has the same effect" },
};

static const struct option_table table = { .rows = rows,
                                           .count = ARRAY_LEN(rows),
                                           .program = "kubectl gpu",
                                           .lists = "kubectl gpu help",
                                           .unknown = "option",
                                           .words = OPTION_WORDS_DASHES };

enum gpu_command gpu_command_of(const char *name)
{
    return (enum gpu_command) command_find(commands, GPU_COMMAND_COUNT, name);
}

const char *gpu_output_name(enum gpu_output output)
{
    return outputs[output];
}

bool gpu_option_takes_value(const char *name)
{
    const char *value;
    const struct option_row *row = option_find(&table, name, &value);
    return row && !value && row->kind->arity == OPTION_VALUE;
}

bool gpu_option_takes_file(const char *name)
{
    const char *value;
    const struct option_row *row = option_find(&table, name, &value);
    return row && row->kind == &path;
}

const char *gpu_output_refused(enum gpu_command command, enum gpu_output output, bool watch)
{
    static const struct {
        unsigned commands;
        bool watch; /* only with --watch */
        enum gpu_output output;
        const char *why;
    } refusals[] = {
        { SHOWS, true, SHOW_YAML,
          "--watch does not support YAML: use -o json, which prints a line per refresh" },
        { BIT(PLAN), false, SHOW_WIDE, "plan does not support -o wide: use json or yaml" },
    };
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        if (refusals[i].commands & 1u << command && refusals[i].output == output &&
            (watch || !refusals[i].watch))
            return refusals[i].why;
    return NULL;
}

/* Checks that the command accepts all given options, and that all required ones are there. */
static int check_together(const struct gpu_options *o, const struct option_reader *r, struct err *e)
{
    const struct command_row *command = &commands[o->command];
    if (option_check(r, 1u << o->command, command->name, e) < 0)
        return -1;
    bool optional = *command->takes == '[', many = strstr(command->takes, "…") != NULL;
    if (*command->takes && !optional && o->name_count == 0)
        return err_set(e, ERR_INVALID, "`kubectl gpu %s` needs %s", command->name, command->takes);
    if (o->name_count > (many ? SIZE_MAX : *command->takes ? 1u : 0u))
        return err_set(e, ERR_INVALID, "unexpected argument %s", o->names[*command->takes ? 1 : 0]);
    const char *refused = gpu_output_refused(o->command, o->output, o->watch);
    return refused ? err_set(e, ERR_INVALID, "%s", refused) : 0;
}

/* Stores the command of a word (NULL: none), and says what to do if there is no such command. */
static int take_command(const char *word, enum gpu_command *ret, struct err *e)
{
    *ret = word ? gpu_command_of(word) : GPU_COMMAND_COUNT;
    return word && *ret == GPU_COMMAND_COUNT
               ? err_set(e, ERR_INVALID, "unknown command %s; `kubectl gpu help` lists them", word)
               : 0;
}

/* Moves the command and its names to the front of argv; returns their number. Stops at a request
 * for help or version. */
static int options_collect(struct option_reader *r, struct gpu_options *ret, struct err *e)
{
    int words = 0;
    for (enum option_next next; (next = option_next(r, e)) != OPTION_NEXT_END;) {
        if (next == OPTION_NEXT_WRONG)
            return -1;
        if (next != OPTION_NEXT_WORD) {
            ret->command = next == OPTION_NEXT_HELP ? GPU_HELP : GPU_VERSION;
            return take_command(words ? r->argv[0] : NULL, &ret->explained, e);
        }
        r->argv[words++] = r->argv[r->at - 1];
    }
    return words;
}

int gpu_options_parse(int argc, char **argv, struct gpu_options *ret, struct err *e)
{
    *ret = (struct gpu_options){ .command = GPU_COMMAND_COUNT,
                                 .explained = GPU_COMMAND_COUNT,
                                 .request_timeout_ms = 30 * 1000,
                                 .operand_namespace = "ostler-operands" };
    /* Words to complete are not a valid command line yet. */
    if (argc > 1 && str_eq(argv[1], commands[GPU_COMPLETE].name)) {
        ret->command = GPU_COMPLETE;
        ret->names = argv + 2;
        ret->name_count = (size_t) argc - 2;
        return 0;
    }
    struct option_reader r = { .table = &table, .argc = argc, .argv = argv, .at = 1, .to = ret };
    int words = options_collect(&r, ret, e);
    if (words < 0 || ret->command != GPU_COMMAND_COUNT)
        return words;
    if (take_command(words ? argv[0] : commands[GPU_HELP].name, &ret->command, e) < 0)
        return -1;
    ret->names = argv + 1;
    ret->name_count = words ? (size_t) words - 1 : 0;
    if (check_together(ret, &r, e) < 0)
        return -1;
    bool explains = ret->command == GPU_HELP && ret->name_count;
    return explains ? take_command(ret->names[0], &ret->explained, e) : 0;
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
        if ((command == GPU_COMMAND_COUNT || rows[i].commands & 1u << command) &&
            str_has_prefix(rows[i].name, word))
            printf("%s\t%s\n", rows[i].name, rows[i].help);
}

/* What the text of an option says for one command: "plan: a policy; bundle: the output" has a part
 * for each of two. Owned by the caller. */
static char *help_for(enum gpu_command command, const char *help)
{
    CLEANUP_FREE char *own = xasprintf("%s: ", commands[command].name);
    const char *part = strstr(help, own);
    if (!part)
        return xstrdup(help);
    part += strlen(own);
    size_t len = strlen(part);
    for (size_t i = 0; i < GPU_COMMAND_COUNT; i++) {
        CLEANUP_FREE char *next = xasprintf("; %s: ", commands[i].name);
        const char *end = strstr(part, next);
        len = end && (size_t) (end - part) < len ? (size_t) (end - part) : len;
    }
    return xstrndup(part, len);
}

static void print_command_help(FILE *out, enum gpu_command command)
{
    const struct command_row *c = &commands[command];
    struct option_row own[ARRAY_LEN(rows)];
    struct option_table its = { .rows = own };
    char *texts[ARRAY_LEN(rows)];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!(rows[i].commands & 1u << command))
            continue;
        own[its.count] = rows[i];
        own[its.count].help = texts[its.count] = help_for(command, rows[i].help);
        its.count++;
    }
    fprintf(out, "kubectl gpu %s: %s\n\nusage: kubectl gpu %s%s%s%s\n", c->name, c->help, c->name,
            *c->takes ? " " : "", c->takes, its.count ? " [OPTION…]" : "");
    if (its.count)
        fprintf(out, "\noptions:\n");
    option_help(out, &its, 0, 31);
    for (size_t i = 0; i < its.count; i++)
        free(texts[i]);
}

void gpu_options_help(FILE *out, enum gpu_command command)
{
    if (command != GPU_COMMAND_COUNT) {
        print_command_help(out, command);
        return;
    }
    fputs("kubectl gpu: shows and controls the GPU nodes that Ostler manages.\n\n"
          "usage: kubectl gpu COMMAND [OPTION…]\n\ncommands:\n",
          out);
    for (size_t i = 0; i < GPU_COMMAND_COUNT; i++)
        if (*commands[i].help)
            fprintf(out, "  %-10s %-9s%s %s\n", commands[i].name, commands[i].takes,
                    strstr(commands[i].takes, "…") ? "  " : "", commands[i].help);
    fprintf(out, "\noptions:\n");
    option_help(out, &table, 0, 31);
    fputs("\nexit codes: 0 success, 1 failure, 2 invalid command line, 3 plan --simulate: not all "
          "nodes reach their target\n\nexample: kubectl gpu status --watch\n"
          "`kubectl gpu COMMAND --help` has the options of a command.\n",
          out);
}
