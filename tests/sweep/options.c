#include "tests/sweep/options.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/str.h"
#include "tests/sweep/workers.h"

enum { PROCESSES = 2, NAMES_MAX = 4096, SHORTEN_S = 60, SHORTEN_MAX_S = 24 * 3600 };

/* What a row's value is. */
enum value { FLAG, NUMBER, TEXT };

static const struct row {
    const char *name;
    enum value kind;
    size_t offset;
    int64_t min, max; /* of a number */
    const char *argument;
    const char *help;
} rows[] = {
    { "--full", FLAG, offsetof(struct options, full), 0, 0, "", "every case; else a bounded number, spread evenly over all" },
    { "--count", NUMBER, offsetof(struct options, count), 1, SWEEP_SEEDS, " N", "so many cases" },
    { "--first", NUMBER, offsetof(struct options, first), 0, SWEEP_SEEDS, " N", "of sweeps over seeds: the first seed" },
    { "--case", NUMBER, offsetof(struct options, only), 0, SWEEP_SEEDS, " N",
      "this one alone, from 0; of dst, dst-life and same the number is the seed" },
    { "--verbose", FLAG, offsetof(struct options, verbose), 0, 0, "",
      "of one case all commits, faults and starts, and all that Ostler writes and logs" },
    { "--reference", FLAG, offsetof(struct options, reference), 0, 0, "",
      "the life without faults alone, with all commits and all that Ostler writes" },
    { "--processes", NUMBER, offsetof(struct options, processes), 1, WORKERS_MAX, " N", "2 by default" },
    { "--life", TEXT, offsetof(struct options, life), 0, 0, " FILE", "another scenario" },
    { "--plant", NUMBER, offsetof(struct options, plant), 0, SWEEP_SEEDS, " N",
      "a finding where there is none: as soon as N faults have struck; it is not kept" },
    { "--shorten", NUMBER, offsetof(struct options, shorten_s), 0, SHORTEN_MAX_S, " N",
      "so many seconds to make a failing seed short; 60 by default" },
    { "--help", FLAG, offsetof(struct options, help), 0, 0, "", "print this" },
};

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
    return err_set(e, ERR_INVALID, "%s%s; there are %s", name ? "there is no sweep " : "a sweep's name is missing",
                   str_or_empty(name), buf_text(&names));
}

static const struct row *find_row(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(rows[i].name, name))
            return &rows[i];
    return NULL;
}

static int store(const struct row *row, const char *value, struct options *o, struct err *e)
{
    void *at = (char *) o + row->offset;
    int64_t number;
    if (row->kind == FLAG) {
        *(bool *) at = true;
        return 0;
    }
    if (!value)
        return err_set(e, ERR_INVALID, "%s needs%s", row->name, row->argument);
    if (row->kind == TEXT) {
        *(const char **) at = value;
        return 0;
    }
    if (!str_parse_int(value, row->min, row->max, &number))
        return err_set(e, ERR_INVALID, "%s %s: must be a whole number from %lld to %lld", row->name, value, (long long) row->min,
                       (long long) row->max);
    *(size_t *) at = (size_t) number;
    return 0;
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
    for (int i = 2; i < argc; i++) {
        const struct row *row = find_row(argv[i]);
        if (!row)
            return err_set(e, ERR_INVALID, "unknown argument %s; `sweep --help` lists them", argv[i]);
        const char *value = row->kind != FLAG && i + 1 < argc ? argv[++i] : NULL;
        if (store(row, value, ret, e) < 0)
            return -1;
    }
    return 0;
}

void options_help(void)
{
    size_t n;
    const struct sweep *table = sweep_table(&n);
    printf("usage: sweep NAME [OPTION…]\n\noptions:\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP_FREE char *head = xasprintf("%s%s", rows[i].name, rows[i].argument);
        printf("  %-20s %s\n", head, rows[i].help);
    }
    printf("\nsweeps:\n");
    for (size_t i = 0; i < n; i++)
        printf("  %-20s %s\n", table[i].name, table[i].help);
}
