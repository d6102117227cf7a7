/* A rule as a tree; for cel.c, which makes it, and cel_eval.c, which walks it. */
#ifndef OSTLER_SIM_API_CEL_TREE_H
#define OSTLER_SIM_API_CEL_TREE_H

#include <regex.h>
#include <stddef.h>
#include <stdint.h>

enum cel_op {
    CEL_NAME,   /* text: "self" or the variable of an all() */
    CEL_STRING, /* text */
    CEL_NUMBER, /* number */
    CEL_BOOL,   /* number */
    CEL_LIST,   /* all arguments */
    CEL_FIELD,  /* arguments[0] . text */
    CEL_HAS,    /* arguments[0], a CEL_FIELD, is there */
    CEL_NOT,
    CEL_AND,
    CEL_OR,
    CEL_IF, /* arguments[0] ? arguments[1] : arguments[2] */
    CEL_EQUAL,
    CEL_UNEQUAL,
    CEL_LESS,
    CEL_AT_MOST,
    CEL_MORE,
    CEL_AT_LEAST,
    CEL_IN,
    CEL_SIZE,
    CEL_DURATION,
    CEL_MATCHES, /* arguments[0] matches `pattern` */
    CEL_STARTS,
    CEL_ALL, /* for each `text` of arguments[0]: arguments[1] */
};

struct cel {
    enum cel_op op;
    char *text;
    int64_t number;
    regex_t *pattern;
    struct cel **arguments;
    size_t len;
};

#endif
