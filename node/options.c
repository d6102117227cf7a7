#include "node/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "node/inventory/text.h"

const char ostler_node_version[] = OSTLER_VERSION;

static const struct command_row commands[] = {
#define X(id, name, takes, help) [NODE_COMMAND_##id] = { name, takes, help },
    NODE_COMMANDS(X)
#undef X
};

static bool store_module(const struct option_kind *kind, const char *value, void *to)
{
    (void) kind;
    *(enum ready_module *) to = READY_MODULE_GDRDRV;
    return str_eq(value, "gdrdrv");
}

static const char *const sources[] = {
    [READY_OF_CONTAINER] = "container", [READY_OF_HOST] = "host", [READY_OF_EITHER] = "either", NULL
};
static const char *const ways[] = { [REBOOT_BY_INIT] = "pod",
                                    [REBOOT_BY_SENTINEL] = "sentinel",
                                    [REBOOT_WITHDRAWN] = "withdraw",
                                    NULL };
static const char *const signs[] = { [READY_DRIVER] = "driver", [READY_TOOLKIT] = "toolkit", NULL };

static bool store_boot(const struct option_kind *kind, const char *value, void *to)
{
    (void) kind;
    *(const char **) to = value;
    return part_is_hex(part_of(value), REBOOT_BOOT_LEN);
}

static const struct option_kind folder = { .store = option_store_text,
                                           .wanted = "must be a directory" };
static const struct option_kind file = { .store = option_store_text, .wanted = "must be a file" };
static const struct option_kind name = { .store = option_store_text, .wanted = "must be a name" };
static const struct option_kind hash = { .store = option_store_text, .wanted = "must be a hash" };
static const struct option_kind uid = { .store = option_store_text, .wanted = "must be a uid" };
static const struct option_kind boot = { .store = store_boot,
                                         .wanted = "must be 16 hexadecimal digits" };
static const struct option_kind driver = { .store = option_store_word,
                                           .wanted = "must be one of container, host and either",
                                           .words = sources };
static const struct option_kind module = { .store = store_module, .wanted = "must be gdrdrv" };
static const struct option_kind log_source = {
    .store = option_store_any, .wanted = "must be a file", .arity = OPTION_MAY_BE, .alone = ""
};
static const struct option_kind duration = { .store = option_store_duration,
                                             .wanted = "must be a duration, such as 10m" };

#define BIT(n) (1u << (n))
/* Bits of the commands that accept an option. */
#define FOR(command) BIT(NODE_COMMAND_##command)
#define ON_MACHINE                                                                                 \
    (FOR(LOOK) | FOR(RUN) | FOR(WAIT) | FOR(CARDS) | FOR(HOST_DRIVER) | FOR(UNLOAD) |              \
     FOR(START_DRIVER) | FOR(PROBE_DRIVER) | FOR(STOP_DRIVER) | FOR(START_GDRCOPY) |               \
     FOR(PROBE_GDRCOPY) | FOR(INSTALL_COS_DRIVER) | FOR(READY_TOOLKIT) | FOR(REMOVE_TOOLKIT) |     \
     FOR(PROOF) | FOR(RESET) | FOR(REBOOT))
#define WITH_PROGRAM                                                                               \
    (FOR(START_DRIVER) | FOR(START_GDRCOPY) | FOR(INSTALL_COS_DRIVER) | FOR(INSTALL_TOOLKIT) |     \
     FOR(REMOVE_TOOLKIT))

#define AT(member) offsetof(struct node_options, member)

static const struct option_row rows[] = {
    { "--root", NULL, ON_MACHINE | FOR(INSTALL_TOOLKIT), &folder, AT(root), "DIR",
      "root directory of the machine; default: /" },
    { "-o", NULL, FOR(LOOK), &option_output, AT(output), "FORMAT",
      "look: text, json or yaml; default: text" },
    { "--kernel-log", NULL, FOR(LOOK) | FOR(RUN), &log_source, AT(kernel_log), "[=FILE]",
      "look, run: report GPU faults of the kernel log, or of a file in its format" },
    { "--node", NULL, FOR(RUN), &name, AT(node), "NAME",
      "run: name of this node; default: $NODE_NAME" },
    { "--kubeconfig", NULL, FOR(RUN), &file, AT(kubeconfig), "FILE",
      "run: kubeconfig of the cluster; default: the cluster in which the agent runs" },
    { "--log-level", NULL, FOR(RUN) | FOR(CARDS), &option_log_level, AT(log_level), "LEVEL",
      "run, cards: debug, info, warn or error; default: info" },
    { "--log-format", NULL, FOR(RUN) | FOR(CARDS), &option_log_format, AT(log_json), "FORMAT",
      "run, cards: json or text; default: json" },
    { "--driver", NULL, FOR(WAIT) | FOR(INSTALL_TOOLKIT) | FOR(READY_TOOLKIT), &driver,
      AT(wish.source), "SOURCE",
      "wait, install-toolkit, sign-toolkit: whose driver: container, host or either; default: "
      "container" },
    { "--revision", NULL, FOR(WAIT) | FOR(UNLOAD) | FOR(PROBE_DRIVER) | FOR(READY_TOOLKIT), &hash,
      AT(wish.revision), "HASH",
      "wait toolkit: revision to wait for; operands: their own revision" },
    { "--module", NULL, FOR(WAIT), &module, AT(wish.module), "NAME",
      "wait: module that must also be loaded: gdrdrv" },
    { "--timeout", NULL, FOR(WAIT), &duration, AT(timeout_ms), "TIME",
      "wait: time limit; default: no limit" },
    { "--pod", NULL, FOR(PROBE_DRIVER) | FOR(STOP_DRIVER) | FOR(START_GDRCOPY), &uid, AT(pod),
      "UID", "probe-driver, stop-driver, start-gdrcopy: UID of its own pod; default: $POD_UID" },
    { "--to", NULL,
      FOR(CARDS) | FOR(COPY) | FOR(INSTALL_COS_DRIVER) | FOR(INSTALL_TOOLKIT) | FOR(WRITE_CONFIG),
      &file, AT(to), "FILE",
      "cards: keep this file up to date until a signal; others: destination" },
    { "--boot", NULL, FOR(REBOOT), &boot, AT(boot), "HASH",
      "reboot: do nothing unless this is the hash of the current boot's id" },
};

/* Errors in the words of this program. */
static int options_refuse(const struct option_row *row, const char *value, struct err *e)
{
    return value ? err_set(e, ERR_INVALID, "%s %s, but is \"%s\"", row->name, row->kind->wanted,
                           value)
                 : err_set(e, ERR_INVALID, "%s needs a value: %s", row->name, row->argument);
}

static const struct option_table table = { .rows = rows,
                                           .count = ARRAY_LEN(rows),
                                           .program = "ostler-node",
                                           .lists = "ostler-node --help",
                                           .unknown = "option",
                                           .words = OPTION_WORDS_PLAIN,
                                           .refuse = options_refuse };

/* Values that commands require. */
static const struct need {
    unsigned commands;
    size_t text;
    const char *variable; /* variable that may also set it; NULL: none */
    const char *wanted;
} needs[] = {
    { FOR(RUN), AT(node), "NODE_NAME", "the name of this node: --node" },
    { FOR(UNLOAD) | FOR(READY_TOOLKIT), AT(wish.revision), NULL, "a revision: --revision" },
    { FOR(PROBE_DRIVER), AT(wish.revision), "DRIVER_CONFIG_DIGEST", "a revision: --revision" },
    { FOR(PROBE_DRIVER) | FOR(STOP_DRIVER) | FOR(START_GDRCOPY), AT(pod), "POD_UID",
      "the uid of its pod: --pod" },
    { FOR(COPY) | FOR(WRITE_CONFIG), AT(to), NULL, "a file: --to" },
    { FOR(INSTALL_COS_DRIVER) | FOR(INSTALL_TOOLKIT), AT(to), NULL, "a directory: --to" },
    { FOR(WRITE_CONFIG), AT(text), "CONFIG", "a text" },
    { FOR(REBOOT), AT(boot), NULL, "the boot to end: --boot" },
};

static int take_wish(const char *word, struct node_options *o, struct err *e)
{
    return option_store_word(&(struct option_kind){ .words = signs }, word, &o->wish.sign)
               ? 0
               : err_set(e, ERR_INVALID, "wait needs one of driver and toolkit, but has \"%s\"",
                         word);
}

static int take_way(const char *word, struct node_options *o, struct err *e)
{
    return option_store_word(&(struct option_kind){ .words = ways }, word, &o->way)
               ? 0
               : err_set(e, ERR_INVALID,
                         "reboot needs one of pod, sentinel and withdraw, but has \"%s\"", word);
}

static int take_gpu(const char *word, struct node_options *o, struct err *e)
{
    if (o->gpu_count == RESET_GPUS_MAX)
        return err_set(e, ERR_INVALID, "reset takes at most %d GPUs", RESET_GPUS_MAX);
    o->gpus[o->gpu_count++] = word;
    return 0;
}

/* Takes the `nth` word that is not an option. */
static int options_take_word(const char *word, size_t nth, struct node_options *o, struct err *e)
{
    if (nth == 1 && o->command == NODE_COMMAND_WAIT)
        return take_wish(word, o, e);
    if (nth == 1 && o->command == NODE_COMMAND_REBOOT)
        return take_way(word, o, e);
    if (nth > 0 && o->command == NODE_COMMAND_RESET)
        return take_gpu(word, o, e);
    size_t i = command_find(commands, ARRAY_LEN(commands), word);
    if (nth > 0 || i == ARRAY_LEN(commands))
        return err_set(e, ERR_INVALID, "%s %s; `ostler-node --help` lists the commands", word,
                       nth == 0 ? "is not a command" : "is an unexpected argument");
    o->command = (enum node_command) i;
    return 0;
}

/* Fills missing values from environment variables. */
static int take_needs(struct node_options *o, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
        const struct need *n = &needs[i];
        const char **text = (const char **) ((char *) o + n->text);
        if (!(n->commands & BIT(o->command)) || *text)
            continue;
        const char *value = n->variable ? getenv(n->variable) : NULL;
        if (!value || !*value)
            return err_set(e, ERR_INVALID, "%s needs %s%s%s", commands[o->command].name, n->wanted,
                           n->variable ? ", or the variable " : "", str_or_empty(n->variable));
        *text = value;
    }
    return 0;
}

/* Checks required values, and options that the command does not accept. */
static int check(struct node_options *o, size_t words, const struct option_reader *r, struct err *e)
{
    if (words == 0)
        return err_set(e, ERR_INVALID, "a command is missing; `ostler-node --help` lists them");
    if (option_check(r, BIT(o->command), commands[o->command].name, e) < 0)
        return -1;
    if (o->command == NODE_COMMAND_WAIT && words == 1)
        return err_set(e, ERR_INVALID, "wait needs one of driver and toolkit");
    if (o->command == NODE_COMMAND_REBOOT && words == 1)
        return err_set(e, ERR_INVALID, "reboot needs one of pod, sentinel and withdraw");
    if (o->command == NODE_COMMAND_RESET && words == 1)
        return err_set(e, ERR_INVALID, "reset needs the PCI address of a GPU");
    if (WITH_PROGRAM & BIT(o->command) && !o->program)
        return err_set(e, ERR_INVALID, "%s needs a program", commands[o->command].name);
    return take_needs(o, e);
}

int node_options_parse(int argc, char **argv, struct node_options *ret, struct err *e)
{
    *ret = (struct node_options){
        .command = NODE_COMMAND_LOOK, .root = "/", .log_level = LOG_INFO, .log_json = true
    };
    struct option_reader r = { .table = &table, .argc = argc, .argv = argv, .at = 1, .to = ret };
    size_t words = 0;
    for (enum option_next next; (next = option_next(&r, e)) != OPTION_NEXT_END; words++) {
        if (next == OPTION_NEXT_HELP || next == OPTION_NEXT_VERSION) {
            ret->command = next == OPTION_NEXT_HELP ? NODE_COMMAND_HELP : NODE_COMMAND_VERSION;
            return 0;
        }
        /* All words after a program's name belong to that program. */
        if (next == OPTION_NEXT_WORD && words == 1 && WITH_PROGRAM & BIT(ret->command)) {
            ret->program = &argv[r.at - 1];
            break;
        }
        if (next == OPTION_NEXT_WRONG || options_take_word(argv[r.at - 1], words, ret, e) < 0)
            return -1;
    }
    return check(ret, words, &r, e);
}

void node_options_help(void)
{
    printf("ostler-node %s: reports the inventory of a GPU node, and runs steps of Ostler's "
           "operands\n\n",
           ostler_node_version);
    printf("usage: ostler-node COMMAND [OPTION…]\n\ncommands:\n");
    command_help(stdout, commands, ARRAY_LEN(commands), 35);
    printf("\noptions:\n");
    option_help(stdout, &table, 13, 21);
}
