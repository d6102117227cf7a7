#include "sim/api/cel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "sim/api/cel_tree.h"
#include "sim/api/pattern.h"

/* Deeper rules than any that a person writes. */
enum { DEPTH_MAX = 64, TEXT_MAX = 1 << 16 };

/* The state of the parser. After an error nothing of the text is left. So every function returns a
 * node, and only cel_compile() checks for an error. */
struct parser {
    const char *text;
    const char *at;
    int depth;
    struct err *e;
};

static struct cel *parse_ternary(struct parser *p);

static struct cel *node(enum cel_op op)
{
    struct cel *c = xcalloc(1, sizeof *c);
    c->op = op;
    return c;
}

static void cel_fail(struct parser *p, const char *why)
{
    if (!p->e->kind)
        err_set(p->e, ERR_INVALID, "column %td: %s", p->at - p->text + 1, why);
    p->at += strlen(p->at);
}

/* Fails where a value is expected. */
static struct cel *cel_no_value(struct parser *p, const char *why)
{
    cel_fail(p, why);
    return node(CEL_BOOL);
}

static void cel_add(struct cel *c, struct cel *argument_steal)
{
    c->arguments = xreallocarray(c->arguments, c->len + 1, sizeof(struct cel *));
    c->arguments[c->len++] = argument_steal;
}

void cel_free(struct cel *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->len; i++)
        cel_free(c->arguments[i]);
    pattern_free(c->pattern);
    free(c->arguments);
    free(c->text);
    free(c);
}

/* ---- words */

static void skip_space(struct parser *p)
{
    p->at += strspn(p->at, " \t\n");
}

/* Consumes a mark if it comes next. */
static bool cel_take(struct parser *p, const char *mark)
{
    skip_space(p);
    if (!str_has_prefix(p->at, mark))
        return false;
    p->at += strlen(mark);
    return true;
}

static size_t name_length(const char *s)
{
    return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
}

/* Consumes a whole word if it comes next. */
static bool cel_take_word(struct parser *p, const char *word)
{
    skip_space(p);
    size_t n = strlen(word);
    if (name_length(p->at) != n || strncmp(p->at, word, n) != 0)
        return false;
    p->at += n;
    return true;
}

static char *take_name(struct parser *p)
{
    skip_space(p);
    size_t n = name_length(p->at);
    char *name = xstrndup(p->at, n);
    p->at += n;
    return name;
}

static void expect(struct parser *p, const char *mark, const char *problem)
{
    if (!cel_take(p, mark))
        cel_fail(p, problem);
}

/* ---- values */

static struct cel *parse_string(struct parser *p)
{
    char quote = *p->at++;
    CLEANUP_BUF struct buf b = BUF_INIT(TEXT_MAX);
    for (; *p->at && *p->at != quote; p->at++) {
        /* An escape stands for the character after it; no rule uses other escapes. */
        if (*p->at == '\\' && (p->at[1] == '\\' || p->at[1] == quote))
            p->at++;
        else if (*p->at == '\\')
            return cel_no_value(p, "an escape that is not known");
        if (!buf_add(&b, p->at, 1))
            return cel_no_value(p, "a string that is too long");
    }
    if (*p->at != quote)
        return cel_no_value(p, "a string without an end");
    p->at++;
    struct cel *c = node(CEL_STRING);
    c->text = buf_take(&b);
    return c;
}

static struct cel *parse_number(struct parser *p)
{
    char *end;
    struct cel *c = node(CEL_NUMBER);
    c->number = strtoll(p->at, &end, 10);
    p->at = end;
    return c;
}

static struct cel *parse_list(struct parser *p)
{
    struct cel *list = node(CEL_LIST);
    while (!p->e->kind && !cel_take(p, "]")) {
        if (list->len > 0)
            expect(p, ",", "expected , or ]");
        cel_add(list, parse_ternary(p));
    }
    return list;
}

static const struct word {
    const char *word;
    enum cel_op op;
} functions[] = { { "has", CEL_HAS },
                  { "size", CEL_SIZE },
                  { "duration", CEL_DURATION },
                  { NULL, CEL_NAME } },
  methods[] = { { "matches", CEL_MATCHES },
                { "startsWith", CEL_STARTS },
                { "all", CEL_ALL },
                { NULL, CEL_NAME } };

/* The row of a word; the last row if there is none. */
static const struct word *word_of(const struct word *words, const char *word)
{
    while (words->word && !str_eq(words->word, word))
        words++;
    return words;
}

static struct cel *parse_call(struct parser *p, const char *name)
{
    const struct word *function = word_of(functions, name);
    if (!function->word)
        return cel_no_value(p, "a function that is not known");
    struct cel *c = node(function->op);
    cel_add(c, parse_ternary(p));
    expect(p, ")", "expected )");
    if (c->op == CEL_HAS && c->arguments[0]->op != CEL_FIELD)
        cel_fail(p, "has() wants a field");
    return c;
}

static struct cel *parse_name(struct parser *p)
{
    CLEANUP_FREE char *name = take_name(p);
    if (!*name)
        return cel_no_value(p, "expected a value");
    bool is_true = str_eq(name, "true"), is_bool = is_true || str_eq(name, "false");
    if (!is_bool && cel_take(p, "("))
        return parse_call(p, name);
    struct cel *c = node(is_bool ? CEL_BOOL : CEL_NAME);
    c->number = is_true;
    c->text = TAKE(name);
    return c;
}

static struct cel *parse_value(struct parser *p)
{
    skip_space(p);
    if (*p->at == '\'' || *p->at == '"')
        return parse_string(p);
    if (*p->at >= '0' && *p->at <= '9')
        return parse_number(p);
    if (cel_take(p, "["))
        return parse_list(p);
    if (!cel_take(p, "("))
        return parse_name(p);
    struct cel *inner = parse_ternary(p);
    expect(p, ")", "expected )");
    return inner;
}

/* ---- what follows a value */

static void compile_pattern(struct parser *p, struct cel *c)
{
    const struct cel *argument = c->arguments[1];
    if (argument->op != CEL_STRING)
        cel_fail(p, "matches() wants a string");
    else if (!(c->pattern = pattern_new(argument->text)))
        cel_fail(p, "a pattern that is not known");
}

static struct cel *parse_method(struct parser *p, const char *name, struct cel *target_steal)
{
    const struct word *method = word_of(methods, name);
    struct cel *c = node(method->op);
    cel_add(c, target_steal);
    if (!method->word)
        cel_fail(p, "a method that is not known");
    if (c->op == CEL_ALL) {
        c->text = take_name(p);
        if (!*c->text || !cel_take(p, ","))
            cel_fail(p, "all() wants a name and a rule");
    }
    cel_add(c, parse_ternary(p));
    expect(p, ")", "expected )");
    if (c->op == CEL_MATCHES)
        compile_pattern(p, c);
    return c;
}

static struct cel *parse_postfix(struct parser *p)
{
    struct cel *c = parse_value(p);
    while (cel_take(p, ".")) {
        CLEANUP_FREE char *name = take_name(p);
        if (!*name)
            cel_fail(p, "expected the name of a field");
        if (cel_take(p, "(")) {
            c = parse_method(p, name, c);
            continue;
        }
        struct cel *field = node(CEL_FIELD);
        field->text = TAKE(name);
        cel_add(field, c);
        c = field;
    }
    return c;
}

/* ---- operators */

static struct cel *parse_not(struct parser *p)
{
    skip_space(p);
    if (*p->at != '!' || p->at[1] == '=')
        return parse_postfix(p);
    p->at++;
    if (++p->depth > DEPTH_MAX)
        return cel_no_value(p, "too deep");
    struct cel *c = node(CEL_NOT);
    cel_add(c, parse_not(p));
    p->depth--;
    return c;
}

/* How tightly an operator binds. A comparison is not followed by another one. */
enum level { LEVEL_OR, LEVEL_AND, LEVEL_COMPARISON, LEVELS };

/* Longer marks come first: "<=" is not "<". */
static const struct operator
{
    const char *mark;
    enum level level;
    enum cel_op op;
}
operators[] = {
    { "||", LEVEL_OR, CEL_OR },
    { "&&", LEVEL_AND, CEL_AND },
    { "in", LEVEL_COMPARISON, CEL_IN },
    { "==", LEVEL_COMPARISON, CEL_EQUAL },
    { "!=", LEVEL_COMPARISON, CEL_UNEQUAL },
    { "<=", LEVEL_COMPARISON, CEL_AT_MOST },
    { ">=", LEVEL_COMPARISON, CEL_AT_LEAST },
    { "<", LEVEL_COMPARISON, CEL_LESS },
    { ">", LEVEL_COMPARISON, CEL_MORE },
};

/* Consumes an operator of a level; NULL if none comes next. */
static const struct operator* take_operator(struct parser *p, enum level level)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        const struct operator* o = & operators[i];
        if (o->level == level &&
            (isalpha(*o->mark) ? cel_take_word(p, o->mark) : cel_take(p, o->mark)))
            return o;
    }
    return NULL;
}

static struct cel *parse_level(struct parser *p, enum level level)
{
    if (level == LEVELS)
        return parse_not(p);
    struct cel *left = parse_level(p, level + 1);
    for (const struct operator* o; (o = take_operator(p, level));) {
        struct cel *both = node(o->op);
        cel_add(both, left);
        cel_add(both, parse_level(p, level + 1));
        left = both;
        if (level == LEVEL_COMPARISON)
            break;
    }
    return left;
}

static struct cel *parse_ternary(struct parser *p)
{
    if (++p->depth > DEPTH_MAX)
        return cel_no_value(p, "too deep");
    struct cel *c = parse_level(p, LEVEL_OR);
    if (cel_take(p, "?")) {
        struct cel *condition = c;
        c = node(CEL_IF);
        cel_add(c, condition);
        cel_add(c, parse_ternary(p));
        expect(p, ":", "expected :");
        cel_add(c, parse_ternary(p));
    }
    p->depth--;
    return c;
}

struct cel *cel_compile(const char *text, struct err *e)
{
    CLEANUP_ERR struct err own = { 0 };
    struct parser p = { .text = text, .at = text, .e = &own };
    struct cel *c = parse_ternary(&p);
    skip_space(&p);
    if (*p.at)
        cel_fail(&p, "something follows the rule");
    if (!own.kind)
        return c;
    cel_free(c);
    err_set(e, ERR_INVALID, "%s", err_msg(&own));
    return NULL;
}
