#include "controller/options.h"

#include <stddef.h>
#include <string.h>

#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "serve/hosts.h"
#include "serve/listen.h"

const char ostler_version[] = OSTLER_VERSION;

static const struct command_row commands[] = {
    [COMMAND_RUN] = { "run", NULL, "manage the GPU nodes of a cluster (the default)" },
    [COMMAND_RENDER] = { "render", NULL,
                         "print the objects that a policy produces, without a cluster" },
    [COMMAND_VALIDATE] = { "validate", NULL,
                           "print what is wrong with a policy; exit code 1 if it is invalid" },
    [COMMAND_PLAN] = { "plan", NULL,
                       "print what a policy would do to the nodes of a cluster; changes nothing" },
    [COMMAND_CLEANUP] = { "cleanup", NULL,
                          "remove everything of Ostler's from a cluster in which Ostler no longer "
                          "runs" },
    [COMMAND_INSTALL_CRDS] = { "install-crds", NULL,
                               "install or upgrade the CustomResourceDefinitions in a directory" },
    [COMMAND_DEMO] = { "demo", NULL,
                       "show Ostler at work in a simulated cluster; `ostler demo --help`" },
    [COMMAND_HELP] = { "help", NULL, "print this help" },
    [COMMAND_VERSION] = { "version", NULL, "print the version" },
};

static bool store_namespace(const struct option_kind *kind, const char *value, void *to)
{
    static const char fit[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    size_t n = strlen(value);
    return option_store_any(kind, value, to) && n >= 1 && n <= 63 && strspn(value, fit) == n &&
           value[0] != '-' && value[n - 1] != '-';
}

static bool store_address(const struct option_kind *kind, const char *value, void *to)
{
    return option_store_any(kind, value, to) && (!*value || listen_is_address(value));
}

static bool store_hosts(const struct option_kind *kind, const char *value, void *to)
{
    return option_store_any(kind, value, to) && hosts_are_valid(value);
}

static const struct option_kind namespace = {
    .store = store_namespace,
    .wanted = "must be the name of a namespace: at most 63 lower case letters, digits and \"-\", "
              "with a letter or "
              "digit at both ends"
};
static const struct option_kind address = {
    .store = store_address, .wanted = "must be IP:port, [IPv6]:port or :port, or \"\" for none"
};
static const struct option_kind hosts = {
    .store = store_hosts,
    .wanted = "must be names of hosts, without ports, such as \"fleet.example.com,10.0.0.7\""
};
static const struct option_kind duration = {
    .store = option_store_duration, .wanted = "must be a number with a unit, such as 10m or 1h30m"
};

#define BIT(command) (1u << (command))
#define ANYWHERE                                                                                   \
    (BIT(COMMAND_RUN) | BIT(COMMAND_RENDER) | BIT(COMMAND_VALIDATE) | BIT(COMMAND_PLAN) |          \
     BIT(COMMAND_CLEANUP) | BIT(COMMAND_INSTALL_CRDS))
#define ONLINE (BIT(COMMAND_RUN) | BIT(COMMAND_CLEANUP))
#define CLEANUP_ONLY BIT(COMMAND_CLEANUP)
#define PLAN BIT(COMMAND_PLAN)
/* Only for a plan with --simulate. */
#define SIMULATION (PLAN | 1u << 31)
#define OFFLINE (BIT(COMMAND_RENDER) | BIT(COMMAND_VALIDATE))

/* The offset of an option's value. */
#define AT(member) offsetof(struct options, member)

static const struct option_row rows[] = {
    { "--kubeconfig", NULL, ONLINE | PLAN | BIT(COMMAND_INSTALL_CRDS), &option_any, AT(kubeconfig),
      "FILE", "kubeconfig of the cluster; default: $KUBECONFIG, the pod's own, ~/.kube/config" },
    { "--context", NULL, ONLINE | PLAN | BIT(COMMAND_INSTALL_CRDS), &option_any, AT(context),
      "NAME", "context of the kubeconfig; default: the current one" },
    { "--namespace", NULL, ONLINE, &namespace, AT(namespace), "NAME",
      "namespace of the Lease; default: the pod's own, else ostler-system" },
    { "--operand-namespace", NULL, ONLINE | PLAN | BIT(COMMAND_RENDER), &namespace,
      AT(operand_namespace), "NAME", "namespace of the operands; default: ostler-operands" },
    { "--listen", NULL, BIT(COMMAND_RUN), &address, AT(listen), "ADDR:PORT",
      "address of /metrics, /healthz and /readyz; \"\" for none; default: :8080" },
    { "--fleet-listen", NULL, BIT(COMMAND_RUN), &address, AT(fleet_listen), "ADDR:PORT",
      "address of the fleet page; \"\" for none; default: 127.0.0.1:8081" },
    { "--fleet-hosts", NULL, BIT(COMMAND_RUN), &hosts, AT(fleet_hosts), "LIST",
      "more names under which browsers may reach the fleet page; default: only localhost, "
      "127.0.0.1 and [::1]" },
    { "--leader-elect", NULL, ONLINE, &option_switch, AT(leader_elect), "BOOL",
      "act only as the leader of several replicas; default: true" },
    { "--allowed-image-prefixes", NULL, OFFLINE | PLAN | BIT(COMMAND_RUN), &option_any,
      AT(limits.images), "LIST",
      "registries that images may come from; default: " POLICY_IMAGE_PREFIXES },
    { "--allowed-settings", NULL, OFFLINE | PLAN | BIT(COMMAND_RUN), &option_any,
      AT(limits.settings), "LIST",
      "variables and arguments that a policy may set on operands; \"A_*\" is a prefix; default: "
      "proxies, switches" },
    { "--allowed-install-dirs", NULL, OFFLINE | PLAN | BIT(COMMAND_RUN), &option_any,
      AT(limits.install_dirs), "LIST",
      "host directories in which a policy may install the toolkit; "
      "default: " POLICY_INSTALL_DIRS },
    { "--control-plane-nodes", NULL, OFFLINE | PLAN | BIT(COMMAND_RUN), &option_switch,
      AT(limits.control_plane), "BOOL",
      "also serve GPU nodes of the control plane; default: false" },
    { "--allow-repairs", NULL, OFFLINE | PLAN | BIT(COMMAND_RUN), &option_switch,
      AT(limits.repairs), "BOOL",
      "a policy and users may ask for repairs: resets of GPUs, and reboots; default: false" },
    { "--agent-image", NULL, BIT(COMMAND_RUN) | BIT(COMMAND_RENDER), &option_any, AT(agent_image),
      "IMAGE", "Ostler's own image, for the agent on nodes; default: no agent" },
    { "--node-name", NULL, BIT(COMMAND_RUN) | PLAN, &option_any, AT(node_name), "NAME",
      "node that Ostler runs on, which is upgraded last" },
    { "--absent-policy-grace", NULL, BIT(COMMAND_RUN), &duration, AT(absent_policy_grace_ms),
      "TIME", "time without a policy before Ostler cleans its nodes; default: 10m" },
    { "--delete-policy", NULL, CLEANUP_ONLY, &option_switch, AT(wishes.delete_policy), "BOOL",
      "cleanup: delete the policy, and leave the work to a running Ostler if there is one; "
      "default: false" },
    { "--force", NULL, CLEANUP_ONLY, &option_switch, AT(wishes.force), "BOOL",
      "cleanup: remove drivers even from under running jobs; default: false" },
    { "--delete-operand-namespace", NULL, CLEANUP_ONLY, &option_switch, AT(wishes.delete_namespace),
      "BOOL", "cleanup: finally delete the namespace of the operands; default: false" },
    { "--delete-crds", NULL, CLEANUP_ONLY, &option_switch, AT(wishes.delete_crds), "BOOL",
      "cleanup: finally delete Ostler's CustomResourceDefinitions; default: false" },
    { "--delete-operator", NULL, CLEANUP_ONLY, &option_switch, AT(wishes.delete_operator), "BOOL",
      "cleanup: after the removal delete the Deployment " DEPLOYMENT_NAME
      " in --namespace and its Leases; default: false" },
    { "--timeout", NULL, CLEANUP_ONLY | BIT(COMMAND_INSTALL_CRDS), &duration, AT(wishes.timeout_ms),
      "TIME", "cleanup, install-crds: time limit; default: cleanup none, install-crds 1m" },
    { "--from", NULL, BIT(COMMAND_INSTALL_CRDS), &option_any, AT(from), "DIR",
      "install-crds: directory of the CRDs, files named *.yaml" },
    { "--log-level", NULL, ANYWHERE, &option_log_level, AT(log_level), "LEVEL",
      "debug, info, warn or error; default: info" },
    { "--log-format", NULL, ANYWHERE, &option_log_format, AT(log_json), "FORMAT",
      "json or text; default: json" },
    { "-f", NULL, OFFLINE | PLAN, &option_any, AT(file), "FILE",
      "render, validate, plan: file with a policy; \"-\" is standard input" },
    { "--node", NULL, BIT(COMMAND_RENDER), &option_any, AT(node_file), "FILE",
      "render: file with the Node to render for" },
    { "-o", NULL, PLAN, &option_output, AT(output), "FORMAT",
      "plan: text, json or yaml; default: text" },
    { "--simulate", NULL, PLAN, &option_switch, AT(simulate), "BOOL",
      "plan: simulate the whole rollout and print its timeline; default: false" },
    { "--driver-takes", NULL, SIMULATION, &duration, AT(driver_takes_ms), "TIME",
      "plan --simulate: time to install a driver; default: 3m, at most half of "
      "timeouts.install" },
    { "--pull-takes", NULL, SIMULATION, &duration, AT(pull_takes_ms), "TIME",
      "plan --simulate: time to pull an image; default: 30s" },
    { "--jobs-end-after", NULL, SIMULATION, &duration, AT(jobs_end_after_ms), "TIME",
      "plan --simulate: time until each job ends; default: jobs do not end" },
    { "--simulate-for", NULL, SIMULATION, &duration, AT(simulated_ms), "TIME",
      "plan --simulate: maximum simulated time; default: 336h" },
};

static const struct option_table table = { .rows = rows,
                                           .count = ARRAY_LEN(rows),
                                           .program = "ostler",
                                           .lists = "ostler --help",
                                           .unknown = "option",
                                           .words = OPTION_WORDS_PLAIN };

static int take_command(const char *word, bool is_first, struct options *o, struct err *e)
{
    if (!is_first)
        return err_set(e, ERR_INVALID, "unexpected argument %s", word);
    size_t i = command_find(commands, ARRAY_LEN(commands), word);
    if (i == ARRAY_LEN(commands))
        return err_set(e, ERR_INVALID, "unknown command %s; `ostler --help` lists them", word);
    o->command = (enum command) i;
    return 0;
}

/* Checks required options and combinations. */
static int check_needs(const struct options *o, struct err *e)
{
    if (OFFLINE & BIT(o->command) && !o->file)
        return err_set(e, ERR_INVALID, "-f FILE is missing: the policy; \"-\" is standard input");
    if (o->command == COMMAND_INSTALL_CRDS && !o->from)
        return err_set(e, ERR_INVALID, "--from DIR is missing: the directory of the CRDs");
    if (o->wishes.force && !o->wishes.delete_policy)
        return err_set(e, ERR_INVALID, "--force needs --delete-policy");
    if (str_eq(o->file, "-") && str_eq(o->node_file, "-"))
        return err_set(e, ERR_INVALID, "only one of -f and --node can be standard input");
    return 0;
}

/* Checks that the command accepts all given options, and that all required ones are there. */
static int check_together(const struct options *o, const struct option_reader *r, struct err *e)
{
    if (o->command == COMMAND_HELP || o->command == COMMAND_VERSION)
        return 0;
    if (option_check(r, BIT(o->command), commands[o->command].name, e) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (option_given(r, i) && (rows[i].commands & SIMULATION) == SIMULATION && !o->simulate)
            return err_set(e, ERR_INVALID, "%s needs --simulate", rows[i].name);
    return check_needs(o, e);
}

int options_parse(int argc, char **argv, struct options *ret, struct err *e)
{
    *ret = (struct options){ .called = "ostler",
                             .command = COMMAND_RUN,
                             .operand_namespace = "ostler-operands",
                             .listen = ":8080",
                             .fleet_listen = "127.0.0.1:8081",
                             .fleet_hosts = "",
                             .limits = POLICY_LIMITS_DEFAULT,
                             .absent_policy_grace_ms = 10 * 60 * 1000,
                             .leader_elect = true,
                             .log_json = true,
                             .log_level = LOG_INFO,
                             .driver_takes_ms = -1,
                             .pull_takes_ms = 30 * 1000,
                             .simulated_ms = INT64_C(336) * 3600 * 1000 };
    struct option_reader r = { .table = &table, .argc = argc, .argv = argv, .at = 1, .to = ret };
    for (enum option_next next; (next = option_next(&r, e)) != OPTION_NEXT_END;) {
        if (next == OPTION_NEXT_HELP || next == OPTION_NEXT_VERSION)
            ret->command = next == OPTION_NEXT_HELP ? COMMAND_HELP : COMMAND_VERSION;
        else if (next == OPTION_NEXT_WRONG || take_command(argv[r.at - 1], r.at == 2, ret, e) < 0)
            return -1;
    }
    return check_together(ret, &r, e);
}

void options_help(FILE *out)
{
    fprintf(out, "Ostler %s: manages the GPU nodes of a Kubernetes cluster.\n\n", ostler_version);
    fprintf(out, "usage: ostler [COMMAND] [OPTION…]\n\ncommands:\n");
    command_help(out, commands, ARRAY_LEN(commands), 12);
    fprintf(out, "\noptions:\n");
    option_help(out, &table, 0, 35);
    fprintf(out, "\nexit codes: 0 success, 1 failure, 2 invalid command line, 3 plan --simulate: "
                 "not all nodes reach their target\n");
    fprintf(out, "\nexample: ostler --kubeconfig ~/.kube/config --agent-image "
                 "registry.example.com/ostler:dev "
                 "--log-format text\n");
}
