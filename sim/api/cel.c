#include "sim/api/cel.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "sim/api/cel_tree.h"

/* Deeper rules than any that a person writes. */
enum { DEPTH_MAX = 64, TEXT_MAX = 1 << 16 };

/* Where the parser is. */
struct parser {
    const char *text;
    const char *at;
    int depth;
    struct err *e;
};

static struct cel *parse_ternary(struct parser *p);

static struct cel *cel_fail(struct parser *p, const char *why)
{
    if (p->e && !p->e->kind)
        err_set(p->e, ERR_INVALID, "column %td: %s", p->at - p->text + 1, why);
    return NULL;
}

static struct cel *node(enum cel_op op)
{
    struct cel *c = xcalloc(1, sizeof *c);
    c->op = op;
    return c;
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
    if (c->pattern)
        regfree(c->pattern);
    free(c->pattern);
    free(c->arguments);
    free(c->text);
    free(c);
}

static void cel_cleanup(struct cel **c)
{
    cel_free(*c);
}
#define CLEANUP_CEL CLEANUP(cel_cleanup)

/* ---- words */

static void skip_space(struct parser *p)
{
    p->at += strspn(p->at, " \t\n");
}

/* Takes a mark when it is next. */
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

/* Takes a whole word when it is next. */
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

/* ---- values */

static struct cel *parse_string(struct parser *p)
{
    char quote = *p->at++;
    CLEANUP_BUF struct buf b = BUF_INIT(TEXT_MAX);
    for (; *p->at && *p->at != quote; p->at++) {
        /* An escape stands for the sign after it; others are not in use. */
        if (*p->at == '\\' && (p->at[1] == '\\' || p->at[1] == quote))
            p->at++;
        else if (*p->at == '\\')
            return cel_fail(p, "an escape that is not known");
        if (!buf_add(&b, p->at, 1))
            return cel_fail(p, "a string that is too long");
    }
    if (*p->at != quote)
        return cel_fail(p, "a string without an end");
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
    CLEANUP_CEL struct cel *list = node(CEL_LIST);
    while (!cel_take(p, "]")) {
        if (list->len > 0 && !cel_take(p, ","))
            return cel_fail(p, "expected , or ]");
        struct cel *item = parse_ternary(p);
        if (!item)
            return NULL;
        cel_add(list, item);
    }
    return TAKE(list);
}

/* One argument in brackets, the first of which is open. */
static struct cel *parse_argument(struct parser *p, enum cel_op op)
{
    CLEANUP_CEL struct cel *argument = parse_ternary(p);
    if (!argument)
        return NULL;
    if (!cel_take(p, ")"))
        return cel_fail(p, "expected )");
    if (op == CEL_HAS && argument->op != CEL_FIELD)
        return cel_fail(p, "has() wants a field");
    struct cel *c = node(op);
    cel_add(c, TAKE(argument));
    return c;
}

static const struct word {
    const char *word;
    enum cel_op op;
} functions[] = { { "has", CEL_HAS }, { "size", CEL_SIZE }, { "duration", CEL_DURATION } };

static struct cel *parse_name(struct parser *p)
{
    CLEANUP_FREE char *name = take_name(p);
    if (!*name)
        return cel_fail(p, "expected a value");
    if (str_eq(name, "true") || str_eq(name, "false")) {
        struct cel *c = node(CEL_BOOL);
        c->number = str_eq(name, "true");
        return c;
    }
    if (!cel_take(p, "(")) {
        struct cel *c = node(CEL_NAME);
        c->text = TAKE(name);
        return c;
    }
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (str_eq(functions[i].word, name))
            return parse_argument(p, functions[i].op);
    return cel_fail(p, "a function that is not known");
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
    CLEANUP_CEL struct cel *inner = parse_ternary(p);
    if (inner && !cel_take(p, ")"))
        return cel_fail(p, "expected )");
    return TAKE(inner);
}

/* ---- what follows a value */

static struct cel *compile_pattern(struct parser *p, struct cel *c_steal)
{
    CLEANUP_CEL struct cel *c = c_steal;
    if (c->arguments[1]->op != CEL_STRING)
        return cel_fail(p, "matches() wants a string");
    regex_t *pattern = xcalloc(1, sizeof *pattern);
    if (regcomp(pattern, c->arguments[1]->text, REG_EXTENDED | REG_NOSUB) != 0) {
        free(pattern);
        return cel_fail(p, "a pattern that is not known");
    }
    c->pattern = pattern;
    return TAKE(c);
}

/* all(name, rule) */
static struct cel *parse_all(struct parser *p, struct cel *c_steal)
{
    CLEANUP_CEL struct cel *c = c_steal;
    c->text = take_name(p);
    if (!*c->text || !cel_take(p, ","))
        return cel_fail(p, "all() wants a name and a rule");
    struct cel *rule = parse_ternary(p);
    if (!rule)
        return NULL;
    cel_add(c, rule);
    return cel_take(p, ")") ? TAKE(c) : cel_fail(p, "expected )");
}

static const struct word methods[] = { { "matches", CEL_MATCHES },
                                       { "startsWith", CEL_STARTS },
                                       { "all", CEL_ALL } };

static struct cel *parse_method(struct parser *p, const char *name, struct cel *target_steal)
{
    CLEANUP_CEL struct cel *c = node(CEL_STARTS);
    cel_add(c, target_steal);
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (str_eq(methods[i].word, name)) {
            c->op = methods[i].op;
            known = true;
        }
    if (!known)
        return cel_fail(p, "a method that is not known");
    if (c->op == CEL_ALL)
        return parse_all(p, TAKE(c));
    struct cel *argument = parse_ternary(p);
    if (!argument)
        return NULL;
    cel_add(c, argument);
    if (!cel_take(p, ")"))
        return cel_fail(p, "expected )");
    return c->op == CEL_MATCHES ? compile_pattern(p, TAKE(c)) : TAKE(c);
}

static struct cel *parse_postfix(struct parser *p)
{
    CLEANUP_CEL struct cel *c = parse_value(p);
    while (c && cel_take(p, ".")) {
        CLEANUP_FREE char *name = take_name(p);
        if (!*name)
            return cel_fail(p, "expected the name of a field");
        if (cel_take(p, "(")) {
            c = parse_method(p, name, TAKE(c));
            continue;
        }
        struct cel *field = node(CEL_FIELD);
        field->text = TAKE(name);
        cel_add(field, TAKE(c));
        c = field;
    }
    return TAKE(c);
}

/* ---- operators, from the tightest to the loosest */

static struct cel *parse_not(struct parser *p)
{
    skip_space(p);
    if (*p->at != '!' || p->at[1] == '=')
        return parse_postfix(p);
    p->at++;
    if (++p->depth > DEPTH_MAX)
        return cel_fail(p, "too deep");
    struct cel *inner = parse_not(p);
    p->depth--;
    if (!inner)
        return NULL;
    struct cel *c = node(CEL_NOT);
    cel_add(c, inner);
    return c;
}

/* Longer marks come first: "<=" is no "<". */
static const struct word comparisons[] = {
    { "==", CEL_EQUAL },    { "!=", CEL_UNEQUAL }, { "<=", CEL_AT_MOST },
    { ">=", CEL_AT_LEAST }, { "<", CEL_LESS },     { ">", CEL_MORE },
};

static struct cel *both(enum cel_op op, struct cel *left_steal, struct cel *right_steal)
{
    struct cel *c = node(op);
    cel_add(c, left_steal);
    cel_add(c, right_steal);
    return c;
}

static struct cel *parse_comparison(struct parser *p)
{
    CLEANUP_CEL struct cel *left = parse_not(p);
    if (!left)
        return NULL;
    enum cel_op op = CEL_IN;
    bool found = cel_take_word(p, "in");
    for (size_t i = 0; !found && i < ARRAY_LEN(comparisons); i++)
        if (cel_take(p, comparisons[i].word)) {
            op = comparisons[i].op;
            found = true;
        }
    if (!found)
        return TAKE(left);
    struct cel *right = parse_not(p);
    return right ? both(op, TAKE(left), right) : NULL;
}

static struct cel *parse_chain(struct parser *p, const char *mark, enum cel_op op,
                               struct cel *(*parse)(struct parser *) )
{
    CLEANUP_CEL struct cel *left = parse(p);
    while (left && cel_take(p, mark)) {
        struct cel *right = parse(p);
        if (!right)
            return NULL;
        left = both(op, TAKE(left), right);
    }
    return TAKE(left);
}

static struct cel *parse_and(struct parser *p)
{
    return parse_chain(p, "&&", CEL_AND, parse_comparison);
}

static struct cel *parse_or(struct parser *p)
{
    return parse_chain(p, "||", CEL_OR, parse_and);
}

static struct cel *parse_branches(struct parser *p)
{
    CLEANUP_CEL struct cel *condition = parse_or(p);
    if (!condition || !cel_take(p, "?"))
        return TAKE(condition);
    CLEANUP_CEL struct cel *yes = parse_ternary(p);
    if (!yes)
        return NULL;
    if (!cel_take(p, ":"))
        return cel_fail(p, "expected :");
    CLEANUP_CEL struct cel *no = parse_ternary(p);
    if (!no)
        return NULL;
    struct cel *c = both(CEL_IF, TAKE(condition), TAKE(yes));
    cel_add(c, TAKE(no));
    return c;
}

static struct cel *parse_ternary(struct parser *p)
{
    if (++p->depth > DEPTH_MAX)
        return cel_fail(p, "too deep");
    struct cel *c = parse_branches(p);
    p->depth--;
    return c;
}

struct cel *cel_compile(const char *text, struct err *e)
{
    CLEANUP_ERR struct err own = { 0 };
    struct parser p = { .text = text, .at = text, .e = &own };
    CLEANUP_CEL struct cel *c = parse_ternary(&p);
    skip_space(&p);
    if (c && *p.at)
        cel_fail(&p, "something follows the rule");
    if (!own.kind)
        return TAKE(c);
    err_set(e, ERR_INVALID, "%s", err_msg(&own));
    return NULL;
}
