#include "tests/sweep/options.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/command_line.h"
#include "base/str.h"
#include "tests/sweep/workers.h"

enum { PROCESSES = 2, NAMES_MAX = 4096, SHORTEN_S = 60, SHORTEN_MAX_S = 24 * 3600 };

static const struct option_kind amount = { .store = option_store_number,
                                           .min = 1,
                                           .max = SWEEP_SEEDS };
static const struct option_kind number = { .store = option_store_number,
                                           .min = 0,
                                           .max = SWEEP_SEEDS };
static const struct option_kind workers = { .store = option_store_number,
                                            .min = 1,
                                            .max = WORKERS_MAX };
static const struct option_kind seconds = { .store = option_store_number,
                                            .min = 0,
                                            .max = SHORTEN_MAX_S };

/* Where an option is stored. */
#define AT(member) offsetof(struct options, member)

static const struct option_row rows[] = {
    { "--full", NULL, 0, &option_flag, AT(full), "",
      "run every case; default: a bounded number, spread evenly over all cases" },
    { "--count", NULL, 0, &amount, AT(count), "N", "run N cases" },
    { "--first", NULL, 0, &number, AT(first), "N", "sweeps over seeds: first seed" },
    { "--case", NULL, 0, &number, AT(only), "N",
      "run only case N, from 0; in dst, dst-life and same N is the seed" },
    { "--verbose", NULL, 0, &option_flag, AT(verbose), "",
      "print all commits, faults, starts, writes and log lines of one case" },
    { "--reference", NULL, 0, &option_flag, AT(reference), "",
      "run only the life without faults, and print all commits and writes" },
    { "--processes", NULL, 0, &workers, AT(processes), "N", "run N processes; default: 2" },
    { "--life", NULL, 0, &option_any, AT(life), "FILE", "use the scenario in FILE" },
    { "--plant", NULL, 0, &number, AT(plant), "N",
      "report an artificial finding after N faults; it is not recorded" },
    { "--shorten", NULL, 0, &seconds, AT(shorten_s), "N",
      "shorten a failing seed for at most N seconds; default: 60" },
    { "--help", NULL, 0, &option_flag, AT(help), "", "print this help" },
};

static int refuse_value(const struct option_row *row, const char *value, struct err *e)
{
    const struct option_kind *kind = row->kind;
    return value ? err_set(e, ERR_INVALID, "%s %s: must be a whole number from %lld to %lld",
                           row->name, value, (long long) kind->min, (long long) kind->max)
                 : err_set(e, ERR_INVALID, "%s needs %s", row->name, row->argument);
}

static const struct option_table options = { .rows = rows,
                                             .count = ARRAY_LEN(rows),
                                             .lists = "sweep --help",
                                             .unknown = "argument",
                                             .repeats = true,
                                             .refuse = refuse_value };

static int find_sweep(const char *name, const struct sweep **ret, struct err *e)
{
    CLEANUP_BUF struct buf names = BUF_INIT(NAMES_MAX);
    size_t n;
    const struct sweep *table = sweep_table(&n);
    for (size_t i = 0; i < n; i++) {
        if (str_eq(table[i].name, name)) {
            *ret = &table[i];
            return 0;
        }
        buf_printf(&names, "%s%s", i ? ", " : "", table[i].name);
    }
    return err_set(e, ERR_INVALID, "%s%s; there are %s",
                   name ? "there is no sweep " : "a sweep's name is missing", str_or_empty(name),
                   buf_text(&names));
}

int options_parse(int argc, char **argv, struct options *ret, struct err *e)
{
    *ret = (struct options){ .only = SIZE_MAX, .processes = PROCESSES, .shorten_s = SHORTEN_S };
    for (int i = 1; i < argc; i++)
        ret->help |= str_eq(argv[i], "--help") || str_eq(argv[i], "-h");
    if (ret->help)
        return 0;
    if (find_sweep(argc > 1 ? argv[1] : NULL, &ret->sweep, e) < 0)
        return -1;
    struct option_reader r = { .table = &options, .argc = argc, .argv = argv, .at = 2, .to = ret };
    enum option_next next = option_next(&r, e);
    if (next == OPTION_NEXT_VERSION)
        err_set(e, ERR_INVALID, "unknown argument --version; `sweep --help` lists them");
    return next == OPTION_NEXT_END ? 0 : -1;
}

void options_help(void)
{
    size_t n;
    const struct sweep *table = sweep_table(&n);
    printf("usage: sweep NAME [OPTION…]\n\noptions:\n");
    option_help(stdout, &options, 0, 20);
    printf("\nsweeps:\n");
    for (size_t i = 0; i < n; i++)
        printf("  %-20s %s\n", table[i].name, table[i].help);
}
