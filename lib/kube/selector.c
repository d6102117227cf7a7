#include "kube/selector.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

enum selector_operator { OPERATOR_IN, OPERATOR_NOT_IN, OPERATOR_EXISTS, OPERATOR_DOES_NOT_EXIST };

struct selector_requirement {
    enum selector_operator op;
    char *key;
    char **values; /* for IN and NOT_IN; at least one */
    size_t values_len;
};

static const struct operator_name {
    const char *name;
    enum selector_operator op;
    bool has_values;
} operators[] = {
    { "In", OPERATOR_IN, true },
    { "NotIn", OPERATOR_NOT_IN, true },
    { "Exists", OPERATOR_EXISTS, false },
    { "DoesNotExist", OPERATOR_DOES_NOT_EXIST, false },
};

static const struct operator_name *operator_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (str_eq(operators[i].name, name))
            return &operators[i];
    return NULL;
}

/* Appends a requirement; NULL with an error if there are too many. */
static struct selector_requirement *add_requirement(struct selector *s, enum selector_operator op,
                                                    const char *key, struct err *e)
{
    if (s->len == SELECTOR_MAX_REQUIREMENTS) {
        err_set(e, ERR_INVALID, "more than %d requirements", SELECTOR_MAX_REQUIREMENTS);
        return NULL;
    }
    s->requirements = xreallocarray(s->requirements, s->len + 1, sizeof *s->requirements);
    struct selector_requirement *r = &s->requirements[s->len++];
    *r = (struct selector_requirement){ .op = op, .key = xstrdup(key) };
    return r;
}

static void selector_add_value(struct selector_requirement *r, const char *value)
{
    r->values = xreallocarray(r->values, r->values_len + 1, sizeof *r->values);
    r->values[r->values_len++] = xstrdup(value);
}

static int selector_add_labels(struct selector *s, const json_t *labels, struct err *e)
{
    JSON_EACH_MEMBER (key, value, labels) {
        if (!json_is_string(value))
            return err_set(e, ERR_INVALID, "%s: the value is not a string", key);
        struct selector_requirement *r = add_requirement(s, OPERATOR_IN, key, e);
        if (!r)
            return -1;
        selector_add_value(r, json_string_value(value));
    }
    return 0;
}

static int add_values(struct selector_requirement *r, const json_t *values, struct err *e)
{
    if (json_array_size(values) > SELECTOR_MAX_VALUES)
        return err_set(e, ERR_INVALID, "values: more than %d", SELECTOR_MAX_VALUES);
    JSON_EACH_AT (i, value, values) {
        if (!json_is_string(value))
            return err_set(e, ERR_INVALID, "values[%zu]: not a string", i);
        selector_add_value(r, json_string_value(value));
    }
    return 0;
}

static int add_expression(struct selector *s, const json_t *expression, struct err *e)
{
    const char *key = json_string_value(json_object_get(expression, "key"));
    const char *name = json_string_value(json_object_get(expression, "operator"));
    const json_t *values = json_object_get(expression, "values");
    const struct operator_name *op = operator_named(name);

    if (!key || !*key)
        return err_set(e, ERR_INVALID, "key: missing");
    if (!op)
        return err_set(e, ERR_INVALID, "operator: must be In, NotIn, Exists or DoesNotExist");
    if (values && !json_is_array(values) && !json_is_null(values))
        return err_set(e, ERR_INVALID, "values: not a list");
    if (op->has_values != (json_array_size(values) > 0))
        return err_set(e, ERR_INVALID, "values: %s takes %s", op->name,
                       op->has_values ? "at least one" : "none");
    struct selector_requirement *r = add_requirement(s, op->op, key, e);
    return r ? add_values(r, values, e) : -1;
}

static int add_expressions(struct selector *s, const json_t *expressions, struct err *e)
{
    JSON_EACH_AT (i, expression, expressions) {
        if (add_expression(s, expression, e) < 0)
            return err_wrap(e, "matchExpressions[%zu]", i);
    }
    return 0;
}

/* Whether a part of a selector is absent or has the required type. */
static bool is_absent_or(const json_t *value, json_type type)
{
    return !value || json_is_null(value) || json_typeof(value) == type;
}

static int compile(const json_t *label_selector, struct selector *s, struct err *e)
{
    const json_t *labels = json_object_get(label_selector, "matchLabels");
    const json_t *expressions = json_object_get(label_selector, "matchExpressions");

    if (!is_absent_or(label_selector, JSON_OBJECT))
        return err_set(e, ERR_INVALID, "not a label selector");
    if (!is_absent_or(labels, JSON_OBJECT))
        return err_set(e, ERR_INVALID, "matchLabels: not a map");
    if (!is_absent_or(expressions, JSON_ARRAY))
        return err_set(e, ERR_INVALID, "matchExpressions: not a list");
    if (selector_add_labels(s, labels, e) < 0)
        return err_wrap(e, "matchLabels");
    return add_expressions(s, expressions, e);
}

int selector_compile(const json_t *label_selector, struct selector *ret, struct err *e)
{
    struct selector s = { 0 };
    if (compile(label_selector, &s, e) < 0) {
        selector_clear(&s);
        return -1;
    }
    *ret = s;
    return 0;
}

int selector_compile_labels(const json_t *labels, struct selector *ret, struct err *e)
{
    struct selector s = { 0 };
    if (!is_absent_or(labels, JSON_OBJECT))
        return err_set(e, ERR_INVALID, "not a map of labels");
    if (selector_add_labels(&s, labels, e) < 0) {
        selector_clear(&s);
        return -1;
    }
    *ret = s;
    return 0;
}

void selector_clear(struct selector *selector)
{
    for (size_t i = 0; i < selector->len; i++) {
        struct selector_requirement *r = &selector->requirements[i];
        for (size_t j = 0; j < r->values_len; j++)
            free(r->values[j]);
        free(r->values);
        free(r->key);
    }
    free(selector->requirements);
    *selector = (struct selector){ 0 };
}

bool selector_is_empty(const struct selector *selector)
{
    return selector->len == 0;
}

bool selector_asks(const struct selector *selector, const char *key)
{
    for (size_t i = 0; i < selector->len; i++)
        if (str_eq(selector->requirements[i].key, key))
            return true;
    return false;
}

bool selector_asks_no_more(const struct selector *a, const struct selector *b)
{
    for (size_t i = 0; i < a->len; i++)
        if (!selector_asks(b, a->requirements[i].key))
            return false;
    return true;
}

static bool has_value(const struct selector_requirement *r, const char *value)
{
    for (size_t i = 0; i < r->values_len; i++)
        if (str_eq(r->values[i], value))
            return true;
    return false;
}

static bool selector_holds(const struct selector_requirement *r, const char *value)
{
    switch (r->op) {
    case OPERATOR_IN:
        return value && has_value(r, value);
    case OPERATOR_NOT_IN:
        return !value || !has_value(r, value);
    case OPERATOR_EXISTS:
        return value;
    case OPERATOR_DOES_NOT_EXIST:
        return !value;
    }
    return false;
}

bool selector_matches(const struct selector *selector, selector_lookup_fn *lookup,
                      const void *labels)
{
    for (size_t i = 0; i < selector->len; i++) {
        const struct selector_requirement *r = &selector->requirements[i];
        if (!selector_holds(r, lookup(labels, r->key)))
            return false;
    }
    return true;
}

const char *selector_lookup_json(const void *labels, const char *key)
{
    return json_string_value(json_object_get((const json_t *) labels, key));
}

const char *selector_lookup_list(const void *labels, const char *key)
{
    const struct selector_labels *list = labels;
    for (size_t i = 0; i < list->len; i++)
        if (str_eq(list->items[i].key, key))
            return list->items[i].value;
    return NULL;
}
