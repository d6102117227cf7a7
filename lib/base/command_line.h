/* Command lines: a table of options, from which a program parses and rejects options and prints
 * its help. An option has one spelling ("--name VALUE" or "--name=VALUE") and may have a letter
 * ("-n VALUE", "-nVALUE"). Abbreviations are not accepted. */
#ifndef OSTLER_BASE_COMMAND_LINE_H
#define OSTLER_BASE_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Whether an option has a value. */
enum option_arity {
    OPTION_VALUE,    /* a value is required */
    OPTION_FLAG,     /* no value */
    OPTION_MAY_BE,   /* the value after "=", else `alone` */
    OPTION_MAY_NEXT, /* also the next word, if it is valid */
};

/* Which words of a command line are not options. */
enum option_words {
    OPTION_WORDS_NONE,   /* none: every word is an option */
    OPTION_WORDS_PLAIN,  /* words that do not begin with "-" */
    OPTION_WORDS_DASHES, /* also "-", and every word after "--" */
};

/* A kind of value. */
struct option_kind {
    /* Parses and stores a value at `to`, whose type it knows; false: invalid. */
    bool (*store)(const struct option_kind *kind, const char *value, void *to);
    const char *wanted; /* what a value must be: "must be true or false" */
    enum option_arity arity;
    const char *alone;        /* the value if the option stands alone */
    const char *const *words; /* of option_store_word(): all words, ended by NULL */
    int64_t min, max;         /* limits of option_store_number() */
};

struct option_row {
    const char *name, *letter; /* "--output", "-o"; letter NULL: none */
    unsigned commands;         /* that accept it, as bits; 0: the program has no commands */
    const struct option_kind *kind;
    size_t offset; /* in the struct that holds the options */
    const char *argument, *help;
};

/* A command of a program. */
struct command_row {
    const char *name;
    const char *takes; /* its arguments: "PROGRAM [ARGUMENT…]"; NULL or "": none */
    const char *help;
};

struct option_table {
    const struct option_row *rows; /* at most 64 */
    size_t count;
    const char *program; /* the program name with commands: "kubectl gpu" */
    const char *lists;   /* the command that lists them: "kubectl gpu help" */
    const char *unknown; /* what it calls an unknown option, such as "option" */
    enum option_words words;
    bool repeats; /* options may repeat, the last one counts */
    /* Reports an invalid (NULL: missing) value; always -1. NULL: the default message. */
    int (*refuse)(const struct option_row *row, const char *value, struct err *e);
};

/* The state while a command line is parsed. */
struct option_reader {
    const struct option_table *table;
    int argc;
    char **argv;
    int at;          /* the next word; starts at 1 */
    void *to;        /* the struct that holds the options */
    uint64_t given;  /* options seen so far, as bits */
    bool only_words; /* "--" was seen */
};

/* What follows the options parsed so far. */
enum option_next {
    OPTION_NEXT_END,
    OPTION_NEXT_WORD,
    OPTION_NEXT_HELP,    /* --help or -h */
    OPTION_NEXT_VERSION, /* --version */
    OPTION_NEXT_WRONG,   /* an invalid option */
};

/* The row of an argument. *ret_value is the text after its "=" or letter, NULL: none. Returns
 * NULL if the argument is not an option. */
const struct option_row *option_find(const struct option_table *t, const char *arg,
                                     const char **ret_value);
/* Parses options with their values up to one word, which is then argv[at - 1]. The error says
 * what is wrong. */
enum option_next option_next(struct option_reader *r, struct err *e);
/* Checks that the command with this bit and this name accepts all given options. */
int option_check(const struct option_reader *r, unsigned command, const char *name, struct err *e);
/* Whether the option at this index of the table was given. */
bool option_given(const struct option_reader *r, size_t index);
/* Prints the options: names padded to `name_width` (0: not padded), names with arguments to
 * `width`. */
void option_help(FILE *out, const struct option_table *t, int name_width, int width);
/* The index of a command, or `count`. */
size_t command_find(const struct command_row *rows, size_t count, const char *word);
/* Prints the commands, padded to `width`. */
void command_help(FILE *out, const struct command_row *rows, size_t count, int width);

/* Store functions. To a `const char *`: any text, or a non-empty one; both are borrowed. */
bool option_store_any(const struct option_kind *kind, const char *value, void *to);
bool option_store_text(const struct option_kind *kind, const char *value, void *to);
/* To an enum: the index in `words`. */
bool option_store_word(const struct option_kind *kind, const char *value, void *to);
/* To an int64_t: milliseconds, or a number in the kind's range. */
bool option_store_duration(const struct option_kind *kind, const char *value, void *to);
bool option_store_number(const struct option_kind *kind, const char *value, void *to);

/* The output format of a command. */
enum output { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_YAML };

/* Kinds that programs share: any text; enum output; "true" or "false" to a bool; a flag that
 * sets a bool; enum log_level; a bool that is true for JSON logs. */
extern const struct option_kind option_any, option_output, option_switch, option_flag,
    option_log_level, option_log_format;

#endif
