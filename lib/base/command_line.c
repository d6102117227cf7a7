#include "base/command_line.h"

#include <string.h>

#include "base/log.h"
#include "base/str.h"

#define BIT(n) (UINT64_C(1) << (n))

/* ---- values */

bool option_store_any(const struct option_kind *kind, const char *value, void *to)
{
    (void) kind;
    *(const char **) to = value;
    return true;
}

bool option_store_text(const struct option_kind *kind, const char *value, void *to)
{
    return option_store_any(kind, value, to) && *value;
}

/* The index of a value in the kind's words; -1: it is none of them. */
static int word_of(const struct option_kind *kind, const char *value)
{
    for (int i = 0; kind->words[i]; i++)
        if (str_eq(kind->words[i], value))
            return i;
    return -1;
}

bool option_store_word(const struct option_kind *kind, const char *value, void *to)
{
    int i = word_of(kind, value);
    if (i >= 0)
        *(unsigned *) to = (unsigned) i;
    return i >= 0;
}

/* The second word is true. */
static bool store_bool(const struct option_kind *kind, const char *value, void *to)
{
    int i = word_of(kind, value);
    if (i >= 0)
        *(bool *) to = i;
    return i >= 0;
}

bool option_store_duration(const struct option_kind *kind, const char *value, void *to)
{
    (void) kind;
    return str_parse_duration(value, to);
}

bool option_store_number(const struct option_kind *kind, const char *value, void *to)
{
    return str_parse_int(value, kind->min, kind->max, to);
}

static const char *const outputs[] = {
    [OUTPUT_TEXT] = "text", [OUTPUT_JSON] = "json", [OUTPUT_YAML] = "yaml", NULL
};

static const char *const booleans[] = { "false", "true", NULL };
static const char *const formats[] = { "text", "json", NULL };

const struct option_kind option_any = { .store = option_store_any };
const struct option_kind option_output = { .store = option_store_word,
                                           .wanted = "must be one of text, json and yaml",
                                           .words = outputs };
const struct option_kind option_switch = { .store = store_bool,
                                           .wanted = "must be true or false",
                                           .words = booleans,
                                           .arity = OPTION_MAY_NEXT,
                                           .alone = "true" };
const struct option_kind option_flag = {
    .store = store_bool, .words = booleans, .arity = OPTION_FLAG, .alone = "true"
};
const struct option_kind option_log_level = {
    .store = option_store_word,
    .wanted = "must be one of debug, info, warn and error",
    .words = log_levels
};
const struct option_kind option_log_format = { .store = store_bool,
                                               .wanted = "must be one of json and text",
                                               .words = formats };

/* ---- parsing */

/* Whether an argument begins with a letter option; *ret_value is the text after it, with or
 * without a "=". */
static bool is_letter(const char *arg, const char *letter, const char **ret_value)
{
    if (!letter || !str_has_prefix(arg, letter))
        return false;
    const char *rest = arg + strlen(letter);
    *ret_value = *rest == '=' ? rest + 1 : *rest ? rest : NULL;
    return true;
}

const struct option_row *option_find(const struct option_table *t, const char *arg,
                                     const char **ret_value)
{
    for (size_t i = 0; i < t->count; i++)
        if (str_is_option(arg, t->rows[i].name, ret_value) ||
            is_letter(arg, t->rows[i].letter, ret_value))
            return &t->rows[i];
    return NULL;
}

static int command_line_refuse(const struct option_table *t, const struct option_row *row,
                               const char *value, struct err *e)
{
    if (t->refuse)
        return t->refuse(row, value, e);
    return value
               ? err_set(e, ERR_INVALID, "%s: %s, not \"%s\"", row->name, row->kind->wanted, value)
               : err_set(e, ERR_INVALID, "%s needs %s", row->name, row->argument);
}

/* Whether the next word is the value of an option without "=". */
static bool takes_next(const struct option_row *row, const char *next, void *to)
{
    return next && (row->kind->arity == OPTION_VALUE ||
                    (row->kind->arity == OPTION_MAY_NEXT && row->kind->store(row->kind, next, to)));
}

bool option_given(const struct option_reader *r, size_t index)
{
    return r->given & BIT(index);
}

/* Takes an option, and the next word if it is its value. */
static int command_line_take(struct option_reader *r, const char *arg, struct err *e)
{
    const struct option_table *t = r->table;
    const char *next = r->at < r->argc ? r->argv[r->at] : NULL, *value;
    const struct option_row *row = option_find(t, arg, &value);
    if (!row)
        return err_set(e, ERR_INVALID, "unknown %s %s; `%s` lists them", t->unknown, arg, t->lists);
    if (option_given(r, (size_t) (row - t->rows)) && !t->repeats)
        return err_set(e, ERR_INVALID, "%s is given twice", row->name);
    r->given |= BIT(row - t->rows);
    if (row->kind->arity == OPTION_FLAG && value)
        return err_set(e, ERR_INVALID, "%s takes no value", row->name);
    void *at = (char *) r->to + row->offset;
    if (!value && takes_next(row, next, at)) {
        value = next;
        r->at++;
    }
    value = value ? value : row->kind->alone;
    return value && row->kind->store(row->kind, value, at) ? 0
                                                           : command_line_refuse(t, row, value, e);
}

static bool is_option(const struct option_reader *r, const char *arg)
{
    enum option_words words = r->table->words;
    return words == OPTION_WORDS_NONE ||
           (arg[0] == '-' && (words == OPTION_WORDS_PLAIN || (arg[1] && !r->only_words)));
}

enum option_next option_next(struct option_reader *r, struct err *e)
{
    while (r->at < r->argc) {
        const char *arg = r->argv[r->at++];
        if (!is_option(r, arg))
            return OPTION_NEXT_WORD;
        if (str_eq(arg, "--help") || str_eq(arg, "-h"))
            return OPTION_NEXT_HELP;
        if (str_eq(arg, "--version"))
            return OPTION_NEXT_VERSION;
        if (r->table->words == OPTION_WORDS_DASHES && str_eq(arg, "--"))
            r->only_words = true;
        else if (command_line_take(r, arg, e) < 0)
            return OPTION_NEXT_WRONG;
    }
    return OPTION_NEXT_END;
}

int option_check(const struct option_reader *r, unsigned command, const char *name, struct err *e)
{
    const struct option_table *t = r->table;
    for (size_t i = 0; i < t->count; i++)
        if (option_given(r, i) && !(t->rows[i].commands & command))
            return err_set(e, ERR_INVALID, "%s is not an option of `%s %s`; `%s` lists the options",
                           t->rows[i].name, t->program, name, t->lists);
    return 0;
}

/* ---- help */

void option_help(FILE *out, const struct option_table *t, int name_width, int width)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct option_row *row = &t->rows[i];
        CLEANUP_FREE char *head = xasprintf("%-*s %s", name_width, row->name, row->argument);
        fprintf(out, "  %-*s %s%s%s\n", width, head, row->help, row->letter ? "; short: " : "",
                str_or_empty(row->letter));
    }
}

size_t command_find(const struct command_row *rows, size_t count, const char *word)
{
    size_t i = 0;
    while (i < count && !str_eq(rows[i].name, word))
        i++;
    return i;
}

void command_help(FILE *out, const struct command_row *rows, size_t count, int width)
{
    for (size_t i = 0; i < count; i++) {
        const char *takes = str_or_empty(rows[i].takes);
        CLEANUP_FREE char *head = xasprintf("%s%s%s", rows[i].name, *takes ? " " : "", takes);
        fprintf(out, "  %-*s %s\n", width, head, rows[i].help);
    }
}
