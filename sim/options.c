#include "sim/options.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/command_line.h"

static bool store_speed(const struct option_kind *kind, const char *value, void *to)
{
    (void) kind;
    char *end;
    double speed = strtod(value, &end);
    *(double *) to = speed;
    return end != value && *end == '\0' && isfinite(speed) && speed >= 0.01 && speed <= 1e6;
}

static const struct option_kind text = { .store = option_store_text };
static const struct option_kind speed = { .store = store_speed };
static const struct option_kind seed = { .store = option_store_number, .min = 0, .max = INT64_MAX };
static const struct option_kind duration = { .store = option_store_duration };

#define AT(member) offsetof(struct sim_options, member)

static const struct option_row rows[] = {
    { "--scenario", NULL, 0, &text, AT(scenario), "FILE",
      "scenario to run; \"-\" is standard input; default: an empty cluster" },
    { "--kubeconfig", NULL, 0, &text, AT(kubeconfig), "FILE",
      "file to write with the admin's kubeconfig; default: ostler-sim.kubeconfig" },
    { "--ostler-kubeconfig", NULL, 0, &text, AT(ostler_kubeconfig), "FILE",
      "file to write with a kubeconfig that has the permissions of Ostler's ServiceAccount" },
    { "--listen", NULL, 0, &text, AT(listen), "ADDR:PORT",
      "address of the API server; default: 127.0.0.1:0, a free port" },
    { "--speed", NULL, 0, &speed, AT(speed), "N",
      "speed as a multiple of real time, from 0.01 to 1000000; default: 1" },
    { "--seed", NULL, 0, &seed, AT(seed), "N",
      "random seed, from 0 to 9223372036854775807; default: the scenario's" },
    { "--for", NULL, 0, &duration, AT(duration_ms), "TIME",
      "end after this virtual time, such as 90s, 10m or 1h30m; default: on a signal" },
    { "--show", NULL, 0, &option_flag, AT(show), "",
      "show what happens: as a picture on a terminal, else as lines" },
    { "--tell", NULL, 0, &option_flag, AT(tell), "",
      "print only a story: what admins and users do, and what Ostler says of it" },
    { "--api-only", NULL, 0, &option_flag, AT(api_only), "",
      "only the API server: no controllers, no scheduler, no kubelets" },
    { "--log-level", NULL, 0, &option_log_level, AT(log_level), "LEVEL",
      "debug, info, warn or error; default: warn" },
    { "--help", NULL, 0, &option_flag, AT(help), "", "print this help" },
    { "--version", NULL, 0, &option_flag, AT(version), "", "print the version" },
};

/* Errors in the words of this program: the help describes the value. */
static int options_refuse_now(const struct option_row *row, const char *value, struct err *e)
{
    return value
               ? err_set(e, ERR_INVALID, "%s: \"%s\" is not valid: %s", row->name, value, row->help)
               : err_set(e, ERR_INVALID, "%s needs %s", row->name, row->argument);
}

static const struct option_table table = { .rows = rows,
                                           .count = ARRAY_LEN(rows),
                                           .lists = "ostler-sim --help",
                                           .unknown = "argument",
                                           .repeats = true,
                                           .refuse = options_refuse_now };

int sim_options_parse(int argc, char **argv, struct sim_options *ret, struct err *e)
{
    *ret = (struct sim_options){ .kubeconfig = "ostler-sim.kubeconfig",
                                 .listen = "127.0.0.1:0",
                                 .speed = 1,
                                 .seed = -1,
                                 .log_level = LOG_WARN };
    struct option_reader r = { .table = &table, .argc = argc, .argv = argv, .at = 1, .to = ret };
    enum option_next next;
    while ((next = option_next(&r, e)) == OPTION_NEXT_HELP || next == OPTION_NEXT_VERSION)
        *(next == OPTION_NEXT_HELP ? &ret->help : &ret->version) = true;
    return next == OPTION_NEXT_END ? 0 : -1;
}

void sim_options_help(void)
{
    printf(
        "%s: a Kubernetes cluster with GPU nodes in one process, for kubectl, curl and Ostler.\n\n"
        "usage: ostler-sim [OPTION…]\n\noptions:\n",
        sim_options_version());
    option_help(stdout, &table, 0, 31);
    printf("\nexample: ostler-sim --scenario sim/scenarios/fleet.yaml --speed 10 --show\n"
           "         kubectl --kubeconfig ostler-sim.kubeconfig get nodes\n");
}

const char *sim_options_version(void)
{
    return "ostler-sim " OSTLER_VERSION;
}
