#include "options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "serve/listen.h"

const char ostler_version[] = OSTLER_VERSION;

static const struct command_row {
    const char *name;
    enum command command;
    const char *help;
} commands[] = {
    { "run", COMMAND_RUN, "look after the GPU nodes of a cluster (the default)" },
    { "render", COMMAND_RENDER, "print the objects that a policy gives, without a cluster" },
    { "validate", COMMAND_VALIDATE, "say what is wrong with a policy; exit code 1 when something is" },
    { "plan", COMMAND_PLAN, "say what a policy would do to the nodes of a cluster, which is only read" },
    { "cleanup", COMMAND_CLEANUP, "take everything of Ostler's off a cluster where Ostler does not run any more" },
    { "install-crds", COMMAND_INSTALL_CRDS, "install the CustomResourceDefinitions of a folder, or bring them up to date" },
    { "help", COMMAND_HELP, "print this" },
    { "version", COMMAND_VERSION, "print the version" },
};

enum kind { TEXT, NAMESPACE, ADDRESS, SWITCH, DURATION, LEVEL, FORMAT, OUTPUT };

/* What a value must be, by its kind. */
static const char *const wanted[] = {
    [NAMESPACE] = "must be the name of a namespace: at most 63 lower case letters, digits and \"-\", with a letter or digit at "
                  "both ends",
    [ADDRESS] = "must be IP:port, [IPv6]:port or :port, or \"\" for none",
    [SWITCH] = "must be true or false",
    [DURATION] = "must be a number with a unit, such as 10m or 1h30m",
    [LEVEL] = "must be one of debug, info, warn and error",
    [FORMAT] = "must be one of json and text",
    [OUTPUT] = "must be one of text, json and yaml",
};

#define BIT(command) (1u << (command))
#define ANYWHERE (BIT(COMMAND_RUN) | BIT(COMMAND_RENDER) | BIT(COMMAND_VALIDATE) | BIT(COMMAND_PLAN) | BIT(COMMAND_CLEANUP) | \
                  BIT(COMMAND_INSTALL_CRDS))
#define ONLINE (BIT(COMMAND_RUN) | BIT(COMMAND_CLEANUP))
#define CLEANUP_ONLY BIT(COMMAND_CLEANUP)
#define PLAN BIT(COMMAND_PLAN)
/* Of use only to a plan with --simulate. */
#define SIMULATION (PLAN | 1u << 31)
#define OFFLINE (BIT(COMMAND_RENDER) | BIT(COMMAND_VALIDATE))

static const struct option_row {
    const char *name;
    unsigned commands; /* that take it, as bits */
    enum kind kind;
    size_t offset;
    const char *argument;
    const char *help;
} rows[] = {
    { "--kubeconfig", ONLINE | PLAN | BIT(COMMAND_INSTALL_CRDS), TEXT, offsetof(struct options, kubeconfig), "FILE",
      "which cluster; default: $KUBECONFIG, the pod's own, ~/.kube/config" },
    { "--context", ONLINE | PLAN | BIT(COMMAND_INSTALL_CRDS), TEXT, offsetof(struct options, context), "NAME",
      "which context of the kubeconfig; default: its current one" },
    { "--namespace", ONLINE, NAMESPACE, offsetof(struct options, namespace), "NAME",
      "where the Lease is; default: the pod's own, else ostler-system" },
    { "--operand-namespace", ONLINE | PLAN | BIT(COMMAND_RENDER), NAMESPACE, offsetof(struct options, operand_namespace), "NAME",
      "where DaemonSets are; default: ostler-operands" },
    { "--listen", BIT(COMMAND_RUN), ADDRESS, offsetof(struct options, listen), "ADDR:PORT",
      "for /metrics, /healthz, /readyz; \"\" for none; default: :8080" },
    { "--leader-elect", ONLINE, SWITCH, offsetof(struct options, leader_elect), "BOOL",
      "only one of several replicas acts; default: true" },
    { "--allowed-image-prefixes", OFFLINE | PLAN | BIT(COMMAND_RUN), TEXT, offsetof(struct options, limits.images), "LIST",
      "registries that images may come from; default: " POLICY_IMAGE_PREFIXES },
    { "--allowed-settings", OFFLINE | PLAN | BIT(COMMAND_RUN), TEXT, offsetof(struct options, limits.settings), "LIST",
      "variables and arguments that a policy may give to operands; \"A_*\": all that begin so; default: proxies, switches" },
    { "--allowed-install-dirs", OFFLINE | PLAN | BIT(COMMAND_RUN), TEXT, offsetof(struct options, limits.install_dirs), "LIST",
      "directories of hosts that a policy may install the toolkit in; default: " POLICY_INSTALL_DIRS },
    { "--control-plane-nodes", OFFLINE | PLAN | BIT(COMMAND_RUN), SWITCH, offsetof(struct options, limits.control_plane), "BOOL",
      "serve GPU nodes of the control plane, too; default: false" },
    { "--agent-image", BIT(COMMAND_RUN) | BIT(COMMAND_RENDER), TEXT, offsetof(struct options, agent_image), "IMAGE",
      "Ostler's own image, for the agent on nodes; default: it runs nowhere" },
    { "--node-name", BIT(COMMAND_RUN) | PLAN, TEXT, offsetof(struct options, node_name), "NAME",
      "the node that it runs on, which is upgraded last" },
    { "--absent-policy-grace", BIT(COMMAND_RUN), DURATION, offsetof(struct options, absent_policy_grace_ms), "TIME",
      "how long the policy must be absent before Ostler cleans its nodes; default: 10m" },
    { "--delete-policy", CLEANUP_ONLY, SWITCH, offsetof(struct options, wishes.delete_policy), "BOOL",
      "cleanup: delete the policy, and leave the work to the Ostler that runs, where one does; default: false" },
    { "--force", CLEANUP_ONLY, SWITCH, offsetof(struct options, wishes.force), "BOOL",
      "cleanup: take drivers from under running jobs, too; default: false" },
    { "--delete-operand-namespace", CLEANUP_ONLY, SWITCH, offsetof(struct options, wishes.delete_namespace), "BOOL",
      "cleanup: last of all delete the namespace of the operands; default: false" },
    { "--delete-crds", CLEANUP_ONLY, SWITCH, offsetof(struct options, wishes.delete_crds), "BOOL",
      "cleanup: last of all delete Ostler's CustomResourceDefinitions; default: false" },
    { "--delete-operator", CLEANUP_ONLY, SWITCH, offsetof(struct options, wishes.delete_operator), "BOOL",
      "cleanup: when all is off delete the Deployment " DEPLOYMENT_NAME " in --namespace, too, and its leases; default: false" },
    { "--timeout", CLEANUP_ONLY | BIT(COMMAND_INSTALL_CRDS), DURATION, offsetof(struct options, wishes.timeout_ms), "TIME",
      "cleanup, install-crds: give up after this; default: cleanup never, install-crds 1m" },
    { "--from", BIT(COMMAND_INSTALL_CRDS), TEXT, offsetof(struct options, from), "DIR",
      "install-crds: the directory of the CRDs, files named *.yaml" },
    { "--log-level", ANYWHERE, LEVEL, offsetof(struct options, log_level), "LEVEL", "debug, info, warn or error; default: info" },
    { "--log-format", ANYWHERE, FORMAT, offsetof(struct options, log_json), "FORMAT", "json or text; default: json" },
    { "-f", OFFLINE | PLAN, TEXT, offsetof(struct options, file), "FILE",
      "render, validate, plan: a whole policy; \"-\" is standard input" },
    { "--node", BIT(COMMAND_RENDER), TEXT, offsetof(struct options, node_file), "FILE", "render: the Node to render for" },
    { "-o", PLAN, OUTPUT, offsetof(struct options, output), "FORMAT", "plan: text, json or yaml; default: text" },
    { "--simulate", PLAN, SWITCH, offsetof(struct options, simulate), "BOOL",
      "plan: play the whole rollout and print what happens when; default: false" },
    { "--driver-takes", SIMULATION, DURATION, offsetof(struct options, driver_takes_ms), "TIME",
      "plan --simulate: how long a driver installs; default: 3m, at most half of timeouts.install" },
    { "--pull-takes", SIMULATION, DURATION, offsetof(struct options, pull_takes_ms), "TIME",
      "plan --simulate: how long an image is pulled; default: 30s" },
    { "--jobs-end-after", SIMULATION, DURATION, offsetof(struct options, jobs_end_after_ms), "TIME",
      "plan --simulate: how long each job still runs; default: it does not end" },
    { "--simulate-for", SIMULATION, DURATION, offsetof(struct options, simulated_ms), "TIME",
      "plan --simulate: the most that is simulated; default: 336h" },
};

static bool parse_bool(const char *s, bool *ret)
{
    *ret = str_eq(s, "true");
    return *ret || str_eq(s, "false");
}

static bool parse_output(const char *s, enum output *ret)
{
    static const char *const names[] = { [OUTPUT_TEXT] = "text", [OUTPUT_JSON] = "json", [OUTPUT_YAML] = "yaml" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(names[i], s)) {
            *ret = (enum output) i;
            return true;
        }
    return false;
}

static bool is_namespace(const char *s)
{
    static const char fit[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    size_t n = strlen(s);
    return n >= 1 && n <= 63 && strspn(s, fit) == n && s[0] != '-' && s[n - 1] != '-';
}

static bool is_valid(enum kind kind, const char *value)
{
    return kind == NAMESPACE ? is_namespace(value) : kind != ADDRESS || !*value || listen_is_address(value);
}

static bool store(const struct option_row *row, const char *value, struct options *o)
{
    void *at = (char *) o + row->offset;
    switch (row->kind) {
    case TEXT:
    case NAMESPACE:
    case ADDRESS:
        *(const char **) at = value;
        return is_valid(row->kind, value);
    case SWITCH:
        return parse_bool(value, at);
    case DURATION:
        return str_parse_duration(value, at);
    case LEVEL:
        return log_level_parse(value, at);
    case FORMAT:
        *(bool *) at = str_eq(value, "json");
        return *(bool *) at || str_eq(value, "text");
    case OUTPUT:
        return parse_output(value, at);
    }
    return false;
}

/* The row of an argument; *value is what stands behind its "=", or NULL. */
static const struct option_row *find(const char *arg, const char **value)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_is_option(arg, rows[i].name, value))
            return &rows[i];
    return NULL;
}

/* `given` are the rows that were given before, as bits. */
static int take_option(int argc, char **argv, int *i, struct options *o, unsigned *given, struct err *e)
{
    const char *value;
    const struct option_row *row = find(argv[*i], &value);
    if (!row)
        return err_set(e, ERR_INVALID, "unknown option %s; `ostler --help` lists them", argv[*i]);
    if (*given & BIT(row - rows))
        return err_set(e, ERR_INVALID, "%s is there twice", row->name);
    *given |= BIT(row - rows);
    /* A switch may stand alone; what follows it belongs to it only when it is a value of a switch. */
    bool dummy;
    if (!value && row->kind == SWITCH && (*i + 1 == argc || !parse_bool(argv[*i + 1], &dummy)))
        value = "true";
    if (!value && *i + 1 < argc)
        value = argv[++*i];
    if (!value)
        return err_set(e, ERR_INVALID, "%s needs %s", row->name, row->argument);
    if (!store(row, value, o))
        return err_set(e, ERR_INVALID, "%s: %s, not \"%s\"", row->name, wanted[row->kind], value);
    return 0;
}

static int take_command(const char *word, struct options *o, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (str_eq(commands[i].name, word)) {
            o->command = commands[i].command;
            return 0;
        }
    }
    return err_set(e, ERR_INVALID, "unknown command %s; `ostler --help` lists them", word);
}

static const char *command_name(enum command command)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (commands[i].command == command)
            return commands[i].name;
    return "";
}

/* What a command needs, and what fits together. */
static int check_needs(const struct options *o, struct err *e)
{
    if (OFFLINE & BIT(o->command) && !o->file)
        return err_set(e, ERR_INVALID, "which policy? Say -f FILE (or -f - for standard input)");
    if (o->command == COMMAND_INSTALL_CRDS && !o->from)
        return err_set(e, ERR_INVALID, "--from DIR is missing: the directory of the CRDs");
    if (o->wishes.force && !o->wishes.delete_policy)
        return err_set(e, ERR_INVALID, "--force needs --delete-policy");
    if (str_eq(o->file, "-") && str_eq(o->node_file, "-"))
        return err_set(e, ERR_INVALID, "only one of -f and --node can be standard input");
    return 0;
}

/* Whether all that was given is of use to the command, and all that it needs is there. */
static int check_together(const struct options *o, unsigned given, struct err *e)
{
    if (o->command == COMMAND_HELP || o->command == COMMAND_VERSION)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (given & BIT(i) && !(rows[i].commands & BIT(o->command)))
            return err_set(e, ERR_INVALID, "%s is no option of `ostler %s`; `ostler --help` lists the options", rows[i].name,
                           command_name(o->command));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (given & BIT(i) && (rows[i].commands & SIMULATION) == SIMULATION && !o->simulate)
            return err_set(e, ERR_INVALID, "%s needs --simulate", rows[i].name);
    return check_needs(o, e);
}

int options_parse(int argc, char **argv, struct options *ret, struct err *e)
{
    *ret = (struct options){ .called = "ostler", .command = COMMAND_RUN, .operand_namespace = "ostler-operands",
                             .listen = ":8080",
                             .limits = POLICY_LIMITS_DEFAULT, .absent_policy_grace_ms = 10 * 60 * 1000,
                             .leader_elect = true, .log_json = true, .log_level = LOG_INFO, .driver_takes_ms = -1,
                             .pull_takes_ms = 30 * 1000, .simulated_ms = INT64_C(336) * 3600 * 1000 };
    unsigned given = 0;
    for (int i = 1; i < argc; i++) {
        bool option = argv[i][0] == '-';
        if (str_eq(argv[i], "--help") || str_eq(argv[i], "-h"))
            ret->command = COMMAND_HELP;
        else if (str_eq(argv[i], "--version"))
            ret->command = COMMAND_VERSION;
        else if (option ? take_option(argc, argv, &i, ret, &given, e)
                 : i > 1 ? err_set(e, ERR_INVALID, "unexpected argument %s", argv[i])
                                                                     : take_command(argv[i], ret, e))
            return -1;
    }
    return check_together(ret, given, e);
}

void options_help(FILE *out)
{
    fprintf(out, "Ostler %s: manages the GPU nodes of a Kubernetes cluster.\n\n", ostler_version);
    fprintf(out, "usage: ostler [COMMAND] [OPTION…]\n\ncommands:\n");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\noptions:\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        fprintf(out, "  %s %s%*s %s\n", rows[i].name, rows[i].argument,
                (int) (34 - strlen(rows[i].name) - strlen(rows[i].argument)), "", rows[i].help);
    fprintf(out, "\nexit codes: 0 done, 1 it could not be done, 2 the command line is wrong, 3 plan --simulate: some node did "
                 "not get there\n");
    fprintf(out, "\nexample: ostler --kubeconfig ~/.kube/config --agent-image registry.example.com/ostler:dev "
                 "--log-format text\n");
}
