/* Label selectors of queries. */
#include "sim/api/filter.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/validate.h"

enum { NAME_MAX_LEN = 63 };

/* The next word or sign of the text; "" at its end. */
struct reader {
    const char *at;
    char word[512];
};

static bool is_sign(char c)
{
    return c && strchr("(),!=<>", c);
}

static const char *next_word(struct reader *t)
{
    t->at += strspn(t->at, " \t");
    size_t n = 0;
    if (is_sign(*t->at)) {
        n = 1;
        if ((*t->at == '=' || *t->at == '!') && t->at[1] == '=')
            n = 2;
    } else {
        while (t->at[n] && !is_sign(t->at[n]) && t->at[n] != ' ' && t->at[n] != '\t')
            n++;
    }
    size_t kept = n < sizeof t->word - 1 ? n : sizeof t->word - 1;
    memcpy(t->word, t->at, kept);
    t->word[kept] = '\0';
    t->at += n;
    return t->word;
}

static const char *peek(const struct reader *t, struct reader *ahead)
{
    *ahead = *t;
    return next_word(ahead);
}

static bool label_text_is_word(const char *s)
{
    return *s && !is_sign(*s);
}

static bool is_name(const char *s)
{
    return strlen(s) <= NAME_MAX_LEN && validate_is_word(s, strlen(s));
}

static int check_key(const char *key, struct refusal *r)
{
    const char *slash = strrchr(key, '/');
    const char *name = slash ? slash + 1 : key;
    if (is_name(name))
        return 0;
    return refuse(r, 400,
                  "unable to parse requirement: <nil>: Invalid value: \"%s\": name part must "
                  "consist of alphanumeric characters, "
                  "'-', '_' or '.', and must start and end with an alphanumeric character",
                  key);
}

static int label_text_add_value(json_t *values, const char *key, const char *value,
                                struct refusal *r)
{
    if (*value && !is_name(value))
        return refuse(r, 400,
                      "unable to parse requirement: values[%zu][%s]: Invalid value: \"%s\": a "
                      "valid label must be an empty "
                      "string or consist of alphanumeric characters, '-', '_' or '.'",
                      json_array_size(values), key, value);
    json_array_append_new(values, json_string(value));
    return 0;
}

/* "(a, b)" after in and notin. */
static int read_values(struct reader *t, const char *key, json_t *values, struct refusal *r)
{
    if (!str_eq(next_word(t), "("))
        return refuse(r, 400, "unable to parse requirement: found '%s' expected: '('", t->word);
    for (;;) {
        struct reader ahead;
        bool has_word = label_text_is_word(peek(t, &ahead));
        if (label_text_add_value(values, key, has_word ? next_word(t) : "", r) < 0)
            return -1;
        const char *sign = next_word(t);
        if (str_eq(sign, ")"))
            return 0;
        if (!str_eq(sign, ","))
            return refuse(r, 400, "unable to parse requirement: found '%s', expected: ',' or ')'",
                          sign);
    }
}

static const struct operator_word {
    const char *word;
    const char *op;
    bool list;
} operators[] = {
    { "=", "In", false }, { "==", "In", false },      { "!=", "NotIn", false },
    { "in", "In", true }, { "notin", "NotIn", true },
};

static const struct operator_word *operator_of(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (str_eq(operators[i].word, word))
            return &operators[i];
    return NULL;
}

static bool begins_requirement(const char *word)
{
    return label_text_is_word(word) || str_eq(word, "!");
}

/* One requirement; its place is before the comma or the end. */
static int read_requirement(struct reader *t, json_t *expressions, struct refusal *r)
{
    bool absent = str_eq(next_word(t), "!");
    if (absent)
        next_word(t);
    if (absent && !label_text_is_word(t->word))
        return refuse(r, 400, "unable to parse requirement: found '%s', expected: identifier",
                      t->word);
    CLEANUP_FREE char *key = xstrdup(t->word);
    if (check_key(key, r) < 0)
        return -1;
    struct reader ahead;
    const char *next = peek(t, &ahead);
    if (absent || !*next || str_eq(next, ",")) {
        json_array_append_new(expressions, json_pack("{s:s, s:s}", "key", key, "operator",
                                                     absent ? "DoesNotExist" : "Exists"));
        return 0;
    }
    const struct operator_word *op = operator_of(next_word(t));
    if (!op)
        return refuse(
            r, 400,
            "unable to parse requirement: found '%s', expected: in, notin, =, ==, !=, gt, lt",
            t->word);
    json_t *values = json_array();
    json_array_append_new(expressions, json_pack("{s:s, s:s, s:o}", "key", key, "operator", op->op,
                                                 "values", values));
    if (op->list)
        return read_values(t, key, values, r);
    bool has_word = label_text_is_word(peek(t, &ahead));
    return label_text_add_value(values, key, has_word ? next_word(t) : "", r);
}

int label_text_compile(const char *text, struct selector *ret, struct refusal *r)
{
    CLEANUP_JSON json_t *expressions = json_array();
    struct reader t = { .at = text }, ahead;
    bool more = *peek(&t, &ahead);
    if (more && !begins_requirement(ahead.word))
        return refuse(r, 400, "found '%s', expected: !, identifier, or 'end of string'",
                      ahead.word);
    while (more) {
        if (read_requirement(&t, expressions, r) < 0)
            return -1;
        more = *next_word(&t);
        if (more && !str_eq(t.word, ","))
            return refuse(r, 400, "found '%s', expected: ',' or 'end of string'", t.word);
        if (more && !begins_requirement(peek(&t, &ahead)))
            return refuse(r, 400, "found '%s', expected: identifier after ','", ahead.word);
    }
    CLEANUP_JSON json_t *selector = json_pack("{s:O}", "matchExpressions", expressions);
    CLEANUP_ERR struct err e = { 0 };
    if (selector_compile(selector, ret, &e) < 0)
        return refuse(r, 400, "unable to parse requirement: %s", err_msg(&e));
    return 0;
}
