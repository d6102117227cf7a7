#include "node/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

const char ostler_node_version[] = OSTLER_VERSION;

static const struct {
    const char *name;
    enum node_command command;
    const char *shown; /* as help has it */
    const char *help;
} commands[] = {
    { "look", NODE_COMMAND_LOOK, "look", "print what this machine is, as a GPU node" },
    { "run", NODE_COMMAND_RUN, "run", "keep that up to date in the cluster, as the inventory of a GpuNode" },
    { "wait", NODE_COMMAND_WAIT, "wait driver|toolkit", "end when it is ready on this start of the machine" },
    { "cards", NODE_COMMAND_CARDS, "cards", "print what the driver's library reports of its GPUs, or keep it in a file" },
    { "host-driver", NODE_COMMAND_HOST_DRIVER, "host-driver", "fail when the host has a driver of its own" },
    { "unload", NODE_COMMAND_UNLOAD, "unload", "take out what a driver cannot have beside it" },
    { "copy", NODE_COMMAND_COPY, "copy", "put this program where containers of other images have it" },
    { "start-driver", NODE_COMMAND_START_DRIVER, "start-driver PROGRAM [ARGUMENT…]",
      "become NVIDIA's program, without the ready files of an earlier one" },
    { "probe-driver", NODE_COMMAND_PROBE_DRIVER, "probe-driver", "write the driver's ready file when it is ready, else fail" },
    { "stop-driver", NODE_COMMAND_STOP_DRIVER, "stop-driver", "remove the ready file of this pod's driver" },
    { "start-gdrcopy", NODE_COMMAND_START_GDRCOPY, "start-gdrcopy PROGRAM [ARGUMENT…]",
      "become NVIDIA's program when the driver of this pod is ready" },
    { "probe-gdrcopy", NODE_COMMAND_PROBE_GDRCOPY, "probe-gdrcopy",
      "make the device of GDRCopy when its module is loaded, else fail" },
    { "install-cos-driver", NODE_COMMAND_INSTALL_COS_DRIVER, "install-cos-driver PROGRAM [ARGUMENT…]",
      "become Google's installer, unless a driver is loaded" },
    { "install-toolkit", NODE_COMMAND_INSTALL_TOOLKIT, "install-toolkit PROGRAM [ARGUMENT…]",
      "have NVIDIA's program install the toolkit" },
    { "sign-toolkit", NODE_COMMAND_SIGN_TOOLKIT, "sign-toolkit", "keep the toolkit's ready file until told to stop" },
    { "remove-toolkit", NODE_COMMAND_REMOVE_TOOLKIT, "remove-toolkit PROGRAM [ARGUMENT…]",
      "have it take the toolkit out of the runtime" },
    { "idle", NODE_COMMAND_IDLE, "idle", "do nothing until told to stop" },
    { "write-config", NODE_COMMAND_WRITE_CONFIG, "write-config", "write a configuration into a file" },
    { "proof", NODE_COMMAND_PROOF, "proof", "run a CUDA program, and say what it ran on" },
    { "help", NODE_COMMAND_HELP, "help", "print this" },
    { "version", NODE_COMMAND_VERSION, "version", "print the version" },
};

/* The number of a word in a list, or -1. */
static int word_of(const char *value, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(words[i], value))
            return (int) i;
    return -1;
}

static bool set_output(const char *value, struct node_options *o)
{
    static const char *const names[] = { [NODE_OUTPUT_TEXT] = "text", [NODE_OUTPUT_JSON] = "json", [NODE_OUTPUT_YAML] = "yaml" };
    int i = word_of(value, names, ARRAY_LEN(names));
    if (i >= 0)
        o->output = (enum node_output) i;
    return i >= 0;
}

static bool set_log_level(const char *value, struct node_options *o)
{
    return log_level_parse(value, &o->log_level);
}

static bool set_log_format(const char *value, struct node_options *o)
{
    static const char *const names[] = { "text", "json" };
    int i = word_of(value, names, ARRAY_LEN(names));
    o->log_json = i == 1;
    return i >= 0;
}

static bool set_driver(const char *value, struct node_options *o)
{
    static const char *const names[] = {
        [SIGN_OF_CONTAINER] = "container", [SIGN_OF_HOST] = "host", [SIGN_OF_EITHER] = "either"
    };
    int i = word_of(value, names, ARRAY_LEN(names));
    o->wish.source = i > 0 ? (enum sign_source) i : SIGN_OF_CONTAINER;
    return i >= 0;
}

static bool set_module(const char *value, struct node_options *o)
{
    o->wish.module = str_eq(value, "gdrdrv") ? SIGN_MODULE_GDRDRV : SIGN_MODULE_NONE;
    return o->wish.module != SIGN_MODULE_NONE;
}

static bool set_timeout(const char *value, struct node_options *o)
{
    return str_parse_duration(value, &o->timeout_ms);
}

#define BIT(n) (1u << (n))
/* Commands that an option is for. */
#define FOR(command) BIT(NODE_COMMAND_##command)
#define ON_MACHINE \
    (FOR(LOOK) | FOR(RUN) | FOR(WAIT) | FOR(CARDS) | FOR(HOST_DRIVER) | FOR(UNLOAD) | FOR(START_DRIVER) | FOR(PROBE_DRIVER) | \
     FOR(STOP_DRIVER) | FOR(START_GDRCOPY) | FOR(PROBE_GDRCOPY) | FOR(INSTALL_COS_DRIVER) | FOR(SIGN_TOOLKIT) | \
     FOR(REMOVE_TOOLKIT) | FOR(PROOF))
#define WITH_PROGRAM \
    (FOR(START_DRIVER) | FOR(START_GDRCOPY) | FOR(INSTALL_COS_DRIVER) | FOR(INSTALL_TOOLKIT) | FOR(REMOVE_TOOLKIT))
#define TEXT(member) offsetof(struct node_options, member), NULL

static const struct option {
    const char *name;
    const char *argument;
    unsigned commands;
    size_t text; /* where a text is put that is not empty, where there is no function */
    bool (*set)(const char *value, struct node_options *o);
    const char *wanted;
    const char *help;
} options[] = {
    { "--root", "DIR", ON_MACHINE | FOR(INSTALL_TOOLKIT), TEXT(root), "must be a folder",
      "where the root folder of the machine is; default: /" },
    { "-o", "FORMAT", FOR(LOOK), 0, set_output, "must be one of text, json and yaml",
      "of look: text, json or yaml; default: text" },
    { "--node", "NAME", FOR(RUN), TEXT(node), "must be a name", "of run: the name of this node; default: $NODE_NAME" },
    { "--kubeconfig", "FILE", FOR(RUN), TEXT(kubeconfig), "must be a file",
      "of run: the cluster; default: the one that it runs in" },
    { "--log-level", "LEVEL", FOR(RUN) | FOR(CARDS), 0, set_log_level, "must be one of debug, info, warn and error",
      "of run and cards: debug, info, warn or error; default: info" },
    { "--log-format", "FORMAT", FOR(RUN) | FOR(CARDS), 0, set_log_format, "must be one of json and text",
      "of run and cards: json or text; default: json" },
    { "--driver", "SOURCE", FOR(WAIT) | FOR(INSTALL_TOOLKIT) | FOR(SIGN_TOOLKIT), 0, set_driver,
      "must be one of container, host and either",
      "of wait, install-toolkit and sign-toolkit: whose driver, container or host; default: container" },
    { "--revision", "HASH", FOR(WAIT) | FOR(UNLOAD) | FOR(PROBE_DRIVER) | FOR(SIGN_TOOLKIT), TEXT(wish.revision),
      "must be a hash", "of wait toolkit: which one it has to be; of operands: theirs" },
    { "--module", "NAME", FOR(WAIT), 0, set_module, "must be gdrdrv",
      "of wait: a module that has to be loaded as well: gdrdrv" },
    { "--timeout", "TIME", FOR(WAIT), 0, set_timeout, "must be a time, such as 10m",
      "of wait: how long at most; default: for ever" },
    { "--pod", "UID", FOR(PROBE_DRIVER) | FOR(STOP_DRIVER) | FOR(START_GDRCOPY), TEXT(pod), "must be a uid",
      "of probe-driver, stop-driver and start-gdrcopy: the pod that it runs in; default: $POD_UID" },
    { "--to", "FILE", FOR(CARDS) | FOR(COPY) | FOR(INSTALL_COS_DRIVER) | FOR(INSTALL_TOOLKIT) | FOR(WRITE_CONFIG), TEXT(to),
      "must be a file",
      "of cards: keep it in this file until told to stop; of others: where it goes" },
};

/* What commands cannot do without. */
static const struct need {
    unsigned commands;
    size_t text;
    const char *variable; /* where it is looked for, too; NULL: nowhere */
    const char *wanted;
} needs[] = {
    { FOR(RUN), offsetof(struct node_options, node), "NODE_NAME", "the name of this node: --node" },
    { FOR(UNLOAD) | FOR(SIGN_TOOLKIT), offsetof(struct node_options, wish.revision), NULL, "a revision: --revision" },
    { FOR(PROBE_DRIVER), offsetof(struct node_options, wish.revision), "DRIVER_CONFIG_DIGEST", "a revision: --revision" },
    { FOR(PROBE_DRIVER) | FOR(STOP_DRIVER) | FOR(START_GDRCOPY), offsetof(struct node_options, pod), "POD_UID",
      "the uid of its pod: --pod" },
    { FOR(COPY) | FOR(WRITE_CONFIG), offsetof(struct node_options, to), NULL, "a file: --to" },
    { FOR(INSTALL_COS_DRIVER) | FOR(INSTALL_TOOLKIT), offsetof(struct node_options, to), NULL, "a folder: --to" },
    { FOR(WRITE_CONFIG), offsetof(struct node_options, text), "CONFIG", "a text" },
};

static const char **text_at(struct node_options *o, size_t offset)
{
    return (const char **) ((char *) o + offset);
}

static bool set(const struct option *option, const char *value, struct node_options *o)
{
    if (option->set)
        return option->set(value, o);
    *text_at(o, option->text) = value;
    return *value != '\0';
}

/* The option of an argument; *value is what stands behind its "=", or NULL. */
static const struct option *find(const char *arg, const char **value)
{
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (str_is_option(arg, options[i].name, value))
            return &options[i];
    return NULL;
}

/* `given` are the options that were there before, as bits. */
static int take_option(int argc, char **argv, int *i, struct node_options *o, unsigned *given, struct err *e)
{
    const char *value;
    const struct option *option = find(argv[*i], &value);
    if (!option)
        return err_set(e, ERR_INVALID, "unknown option %s; `ostler-node --help` lists them", argv[*i]);
    if (*given & BIT(option - options))
        return err_set(e, ERR_INVALID, "%s is there twice", option->name);
    *given |= BIT(option - options);
    if (!value && ++*i >= argc)
        return err_set(e, ERR_INVALID, "%s wants a value: %s", option->name, option->argument);
    if (!value)
        value = argv[*i];
    if (!set(option, value, o))
        return err_set(e, ERR_INVALID, "%s %s, but is \"%s\"", option->name, option->wanted, value);
    return 0;
}

/* What `wait` waits for. */
static int take_wish(const char *word, struct node_options *o, struct err *e)
{
    static const char *const names[] = { [SIGN_DRIVER] = "driver", [SIGN_TOOLKIT] = "toolkit" };
    int i = word_of(word, names, ARRAY_LEN(names));
    if (i < 0)
        return err_set(e, ERR_INVALID, "wait wants one of driver and toolkit, but has \"%s\"", word);
    o->wish.sign = (enum sign) i;
    return 0;
}

/* The `nth` word that is no option. */
static int take_word(const char *word, size_t nth, struct node_options *o, struct err *e)
{
    if (nth == 1 && o->command == NODE_COMMAND_WAIT)
        return take_wish(word, o, e);
    for (size_t i = 0; nth == 0 && i < ARRAY_LEN(commands); i++)
        if (str_eq(commands[i].name, word)) {
            o->command = commands[i].command;
            return 0;
        }
    return err_set(e, ERR_INVALID, "%s %s; `ostler-node --help` lists the commands", word,
                   nth == 0 ? "is no command" : "is one word too many");
}

/* What is asked for in the usual way of all programs. */
static bool take_question(const char *arg, struct node_options *o)
{
    bool is_help = str_eq(arg, "--help") || str_eq(arg, "-h"), is_version = str_eq(arg, "--version");
    if (is_help || is_version)
        o->command = is_help ? NODE_COMMAND_HELP : NODE_COMMAND_VERSION;
    return is_help || is_version;
}

static const char *name_of(enum node_command command)
{
    size_t i = 0;
    while (commands[i].command != command)
        i++;
    return commands[i].name;
}

/* Looks for what is not on the command line where else it may be said. */
static int take_needs(struct node_options *o, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
        const struct need *n = &needs[i];
        const char **text = text_at(o, n->text);
        if (!(n->commands & BIT(o->command)) || *text)
            continue;
        const char *value = n->variable ? getenv(n->variable) : NULL;
        if (!value || !*value)
            return err_set(e, ERR_INVALID, "%s wants %s%s%s", name_of(o->command), n->wanted,
                           n->variable ? ", or the variable " : "", str_or_empty(n->variable));
        *text = value;
    }
    return 0;
}

/* What a command cannot do without, and what is of no use to it. */
static int check(struct node_options *o, size_t words, unsigned given, struct err *e)
{
    if (words == 0)
        return err_set(e, ERR_INVALID, "no command; `ostler-node --help` lists them");
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (given & BIT(i) && !(options[i].commands & BIT(o->command)))
            return err_set(e, ERR_INVALID, "%s is no option of `ostler-node %s`; `ostler-node --help` lists the options",
                           options[i].name, name_of(o->command));
    if (o->command == NODE_COMMAND_WAIT && words == 1)
        return err_set(e, ERR_INVALID, "wait wants one of driver and toolkit");
    if (WITH_PROGRAM & BIT(o->command) && !o->program)
        return err_set(e, ERR_INVALID, "%s wants a program", name_of(o->command));
    return take_needs(o, e);
}

/* Where the words of a program begin all others are its own. */
static bool is_program(const char *arg, size_t words, const struct node_options *o)
{
    return words == 1 && arg[0] != '-' && WITH_PROGRAM & BIT(o->command);
}

int node_options_parse(int argc, char **argv, struct node_options *ret, struct err *e)
{
    *ret = (struct node_options){ .command = NODE_COMMAND_LOOK, .root = "/", .log_level = LOG_INFO, .log_json = true };
    size_t words = 0;
    unsigned given = 0;
    for (int i = 1; i < argc; i++) {
        if (is_program(argv[i], words, ret)) {
            ret->program = &argv[i];
            break;
        }
        if (take_question(argv[i], ret))
            return 0;
        bool is_option = argv[i][0] == '-';
        if ((is_option ? take_option(argc, argv, &i, ret, &given, e) : take_word(argv[i], words, ret, e)) < 0)
            return -1;
        words += !is_option;
    }
    return check(ret, words, given, e);
}

void node_options_help(void)
{
    printf("ostler-node %s: what a machine is, as a GPU node\n\n", ostler_node_version);
    printf("usage: ostler-node COMMAND [OPTION…]\n\ncommands:\n");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        printf("  %-35s %s\n", commands[i].shown, commands[i].help);
    printf("\noptions:\n");
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        printf("  %-13s %-7s %s\n", options[i].name, options[i].argument, options[i].help);
}
