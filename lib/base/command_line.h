/* Command lines: a table of options, by which a program takes them, refuses them and prints its
 * help. An option has one spelling
 * ("--name VALUE" or "--name=VALUE"), and perhaps a letter ("-n VALUE", "-nVALUE"); nothing is
 * abbreviated. */
#ifndef OSTLER_BASE_COMMAND_LINE_H
#define OSTLER_BASE_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Whether an option has a value. */
enum option_arity {
    OPTION_VALUE,    /* it has one */
    OPTION_FLAG,     /* it has none */
    OPTION_MAY_BE,   /* where it is behind a "=", else `alone` */
    OPTION_MAY_NEXT, /* also the next word, where that is valid */
};

/* Which words of a command line are no options. */
enum option_words {
    OPTION_WORDS_NONE,   /* all are */
    OPTION_WORDS_PLAIN,  /* those that do not begin with "-" */
    OPTION_WORDS_DASHES, /* also "-", and all that stand behind "--" */
};

/* What values are. */
struct option_kind {
    /* Stores a value at `to`, whose type it knows; false: it is not valid. */
    bool (*store)(const struct option_kind *kind, const char *value, void *to);
    const char *wanted; /* what a value is: "must be true or false" */
    enum option_arity arity;
    const char *alone;        /* the value of an option that stands without one */
    const char *const *words; /* of option_store_word(): all that there are, ended by NULL */
    int64_t min, max;         /* of option_store_number() */
};

struct option_row {
    const char *name, *letter; /* "--output", "-o"; letter NULL: it has none */
    unsigned commands;         /* that take it, as bits; 0: the program has no commands */
    const struct option_kind *kind;
    size_t offset; /* in what the options are stored in */
    const char *argument, *help;
};

/* A command of a program. */
struct command_row {
    const char *name;
    const char *takes; /* what stands behind it: "PROGRAM [ARGUMENT…]"; NULL or "": nothing */
    const char *help;
};

struct option_table {
    const struct option_row *rows; /* 32 at most */
    size_t count;
    const char *program; /* that has the commands: "kubectl gpu" */
    const char *lists;   /* the command that lists them: "kubectl gpu help" */
    const char *unknown; /* "option", or what it calls one that it does not know */
    enum option_words words;
    bool repeats; /* an option may be there more than once, and the last one counts */
    /* Says that a value (NULL: it is missing) is not one, always -1; NULL: in the usual words. */
    int (*refuse)(const struct option_row *row, const char *value, struct err *e);
};

/* A command line that is being read. */
struct option_reader {
    const struct option_table *table;
    int argc;
    char **argv;
    int at;          /* the word that is next; 1 at the beginning */
    void *to;        /* what the options are stored in */
    unsigned given;  /* those that were there, as bits */
    bool only_words; /* "--" was there */
};

/* What stands next on a command line, behind all options. */
enum option_next {
    OPTION_NEXT_END,
    OPTION_NEXT_WORD,
    OPTION_NEXT_HELP,    /* --help or -h */
    OPTION_NEXT_VERSION, /* --version */
    OPTION_NEXT_WRONG,   /* an option that is not as it should be */
};

/* The row of an argument; *ret_value is what stands behind its "=" or letter, NULL: nothing. NULL:
 * it is no option. */
const struct option_row *option_find(const struct option_table *t, const char *arg,
                                     const char **ret_value);
/* Takes options with their values, and one word: argv[at - 1], where it is no option. The error
 * says what is wrong. */
enum option_next option_next(struct option_reader *r, struct err *e);
/* Whether all that were given are of use to the command that has this bit and this name. */
int option_check(const struct option_reader *r, unsigned command, const char *name, struct err *e);
/* Prints the options: names padded to `name_width` (0: as they are), with their arguments to
 * `width`. */
void option_help(FILE *out, const struct option_table *t, int name_width, int width);
/* The place of a word in commands, or `count`. */
size_t command_find(const struct command_row *rows, size_t count, const char *word);
/* Prints them, padded to `width`. */
void command_help(FILE *out, const struct command_row *rows, size_t count, int width);

/* Values. To a `const char *`, any text, or one that is not empty; both are borrowed. */
bool option_store_any(const struct option_kind *kind, const char *value, void *to);
bool option_store_text(const struct option_kind *kind, const char *value, void *to);
/* To an enum: the place in `words`. */
bool option_store_word(const struct option_kind *kind, const char *value, void *to);
/* To an int64_t: milliseconds, or a number in the range of the kind. */
bool option_store_duration(const struct option_kind *kind, const char *value, void *to);
bool option_store_number(const struct option_kind *kind, const char *value, void *to);

/* How an answer is printed. */
enum output { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_YAML };

/* Kinds that programs share: any text; to an enum output; "true" and "false", to a bool; a flag, to
 * a bool that becomes true; to an enum log_level; to a bool, whether the log is JSON. */
extern const struct option_kind option_any, option_output, option_switch, option_flag,
    option_log_level, option_log_format;

#endif
