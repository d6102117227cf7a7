#include "sim/options.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum kind { TEXT, SPEED, SEED, DURATION, LEVEL, FLAG };

static const struct row {
    const char *name;
    enum kind kind;
    size_t offset;
    const char *argument;
    const char *help;
} rows[] = {
    { "--scenario", TEXT, offsetof(struct sim_options, scenario), "FILE",
      "the world; \"-\" is standard input; default: an empty cluster" },
    { "--kubeconfig", TEXT, offsetof(struct sim_options, kubeconfig), "FILE",
      "where the administrator's kubeconfig is written; default: ostler-sim.kubeconfig" },
    { "--ostler-kubeconfig", TEXT, offsetof(struct sim_options, ostler_kubeconfig), "FILE",
      "where one with the rights of Ostler's ServiceAccount is written" },
    { "--listen", TEXT, offsetof(struct sim_options, listen), "ADDR:PORT",
      "where the API server listens; default: 127.0.0.1:0, a free port" },
    { "--speed", SPEED, offsetof(struct sim_options, speed), "N",
      "how much faster than real time, from 0.01 to 1000000; default: 1" },
    { "--seed", SEED, offsetof(struct sim_options, seed), "N",
      "what chance is drawn from, from 0 to 9223372036854775807; default: the scenario's" },
    { "--for", DURATION, offsetof(struct sim_options, duration_ms), "TIME",
      "ends after this virtual time, as 90s, 10m or 1h30m; default: with a signal" },
    { "--show", FLAG, offsetof(struct sim_options, show), "", "show what happens: a picture on a terminal, lines elsewhere" },
    { "--api-only", FLAG, offsetof(struct sim_options, api_only), "",
      "only the API server: no controllers, no scheduler, no kubelets" },
    { "--log-level", LEVEL, offsetof(struct sim_options, log_level), "LEVEL", "debug, info, warn or error; default: warn" },
    { "--help", FLAG, offsetof(struct sim_options, help), "", "print this" },
    { "--version", FLAG, offsetof(struct sim_options, version), "", "print the version" },
};

static bool parse_speed(const char *text, double *ret)
{
    char *end;
    *ret = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*ret) && *ret >= 0.01 && *ret <= 1e6;
}

static bool store(const struct row *row, const char *value, struct sim_options *o)
{
    void *at = (char *) o + row->offset;
    switch (row->kind) {
    case TEXT:
        *(const char **) at = value;
        return *value != '\0';
    case SPEED:
        return parse_speed(value, at);
    case SEED:
        return str_parse_int(value, 0, INT64_MAX, at);
    case DURATION:
        return str_parse_duration(value, at);
    case LEVEL:
        return log_level_parse(value, at);
    case FLAG:
        *(bool *) at = true;
        return true;
    }
    return false;
}

static const struct row *find(const char *arg, const char **value)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_is_option(arg, rows[i].name, value))
            return &rows[i];
    return NULL;
}

int sim_options_parse(int argc, char **argv, struct sim_options *ret, struct err *e)
{
    *ret = (struct sim_options){ .kubeconfig = "ostler-sim.kubeconfig", .listen = "127.0.0.1:0", .speed = 1, .seed = -1,
                                 .log_level = LOG_WARN };
    for (int i = 1; i < argc; i++) {
        const char *value;
        const struct row *row = find(str_eq(argv[i], "-h") ? "--help" : argv[i], &value);
        if (!row)
            return err_set(e, ERR_INVALID, "unknown argument %s; `ostler-sim --help` lists them", argv[i]);
        if (row->kind == FLAG && value)
            return err_set(e, ERR_INVALID, "%s takes no value", row->name);
        if (row->kind != FLAG && !value && i + 1 < argc)
            value = argv[++i];
        if (row->kind != FLAG && !value)
            return err_set(e, ERR_INVALID, "%s needs %s", row->name, row->argument);
        if (!store(row, value, ret))
            return err_set(e, ERR_INVALID, "%s: \"%s\" is not valid: %s", row->name, value, row->help);
    }
    return 0;
}

void sim_options_help(void)
{
    printf("%s: a Kubernetes cluster with GPU nodes in one process, for kubectl, curl and Ostler.\n\n"
           "usage: ostler-sim [OPTION…]\n\noptions:\n", sim_options_version());
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        printf("  %s %s%*s %s\n", rows[i].name, rows[i].argument, (int) (30 - strlen(rows[i].name) - strlen(rows[i].argument)),
               "", rows[i].help);
    printf("\nexample: ostler-sim --scenario sim/scenarios/fleet.yaml --speed 10 --show\n"
           "         kubectl --kubeconfig ostler-sim.kubeconfig get nodes\n");
}

const char *sim_options_version(void)
{
    return "ostler-sim " OSTLER_VERSION;
}
