#include "commands/demo_options.h"

#include <stddef.h>
#include <stdio.h>

#include "base/command_line.h"
#include "serve/listen.h"

static bool demo_store_address(const struct option_kind *kind, const char *value, void *to)
{
    return option_store_any(kind, value, to) && listen_is_address(value);
}

static const struct option_kind demo_address = {
    .store = demo_store_address, .wanted = "must be IP:port, [IPv6]:port or :port"
};

#define AT(member) offsetof(struct demo_options, member)

static const struct option_row rows[] = {
    { "--scenario", NULL, 0, &option_any, AT(scenario), "FILE",
      "scenario to play; default: the one that is built in" },
    { "--speed", NULL, 0, &option_any, AT(speed), "N",
      "speed of the simulated cluster as a multiple of real time; default: 10" },
    { "--fleet-listen", NULL, 0, &demo_address, AT(fleet_listen), "ADDR:PORT",
      "address of the fleet page; default: 127.0.0.1:8081 or the next free port, and in a "
      "container 0.0.0.0:8081" },
    { "--log", NULL, 0, &option_flag, AT(log), "", "print Ostler's log instead of a live view" },
    { "--help", NULL, 0, &option_flag, AT(help), "", "print this help" },
};

static const struct option_table table = { .rows = rows,
                                           .count = ARRAY_LEN(rows),
                                           .program = "ostler demo",
                                           .lists = "ostler demo --help",
                                           .unknown = "option" };

int demo_options_parse(int argc, char **argv, struct demo_options *ret, struct err *e)
{
    *ret = (struct demo_options){ .speed = "10" };
    struct option_reader r = { .table = &table, .argc = argc, .argv = argv, .at = 1, .to = ret };
    enum option_next next;
    while ((next = option_next(&r, e)) == OPTION_NEXT_HELP)
        ret->help = true;
    if (next == OPTION_NEXT_WORD)
        return err_set(e, ERR_INVALID, "unexpected argument %s", argv[r.at - 1]);
    if (next == OPTION_NEXT_VERSION)
        return err_set(e, ERR_INVALID, "`ostler version` prints the version");
    return next == OPTION_NEXT_END ? 0 : -1;
}

void demo_options_help(void)
{
    printf("ostler demo: shows Ostler at work in a simulated cluster, in this process and two of "
           "its own; no cluster is needed.\n\nusage: ostler demo [OPTION…]\n\noptions:\n");
    option_help(stdout, &table, 0, 26);
}
