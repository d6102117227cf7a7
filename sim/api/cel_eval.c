/* Evaluates an expression of CEL, as far as the definitions of this project use it. */
#include <string.h>

#include "base/str.h"
#include "sim/api/cel_tree.h"
#include "sim/api/pattern.h"

enum value_kind { VALUE_JSON, VALUE_TEXT, VALUE_NUMBER, VALUE_BOOL, VALUE_DURATION, VALUE_ERROR };

struct value {
    enum value_kind kind;
    const json_t *json;
    const char *text;
    int64_t number; /* also 0 and 1, milliseconds, and bytes of a text */
};

/* The names that a rule knows: self, and the variables of the all() that are around. */
struct scope {
    const struct scope *up;
    const char *name;
    struct value value;
};

static struct value eval(const struct cel *c, const struct scope *s, struct err *e);

static struct value failure(struct err *e, const char *what, const char *name)
{
    if (!e->kind)
        err_set(e, ERR_INVALID, "%s%s", what, name);
    return (struct value){ .kind = VALUE_ERROR };
}

static struct value of_text(const char *text, size_t len)
{
    return (struct value){ .kind = VALUE_TEXT, .text = text, .number = (int64_t) len };
}

static struct value of_json(const json_t *json)
{
    if (json_is_string(json))
        return of_text(json_string_value(json), json_string_length(json));
    if (json_is_integer(json))
        return (struct value){ .kind = VALUE_NUMBER, .number = json_integer_value(json) };
    if (json_is_boolean(json))
        return (struct value){ .kind = VALUE_BOOL, .number = json_is_true(json) };
    return (struct value){ .kind = VALUE_JSON, .json = json };
}

static struct value of_bool(bool b)
{
    return (struct value){ .kind = VALUE_BOOL, .number = b };
}

static bool is_true(const struct value *v)
{
    return v->kind == VALUE_BOOL && v->number;
}

static bool are_equal(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == VALUE_JSON)
        return json_equal(a->json, b->json);
    return a->number == b->number &&
           (a->kind != VALUE_TEXT || memcmp(a->text, b->text, (size_t) a->number) == 0);
}

static struct value eval_name(const struct cel *c, const struct scope *s, struct err *e)
{
    for (; s; s = s->up)
        if (str_eq(s->name, c->text))
            return s->value;
    return failure(e, "undeclared reference to ", c->text);
}

static struct value eval_field(const struct cel *c, const struct scope *s, struct err *e)
{
    struct value object = eval(c->arguments[0], s, e);
    const json_t *member = object.kind == VALUE_JSON ? json_object_get(object.json, c->text) : NULL;
    if (object.kind == VALUE_ERROR)
        return object;
    return member ? of_json(member) : failure(e, "no such key: ", c->text);
}

static struct value eval_has(const struct cel *c, const struct scope *s, struct err *e)
{
    const struct cel *field = c->arguments[0];
    struct value object = eval(field->arguments[0], s, e);
    if (object.kind == VALUE_ERROR)
        return object;
    return of_bool(object.kind == VALUE_JSON && json_object_get(object.json, field->text));
}

/* And, or: what one side decides stays decided where the other cannot be said. */
static struct value eval_logic(const struct cel *c, const struct scope *s, struct err *e)
{
    bool deciding = c->op == CEL_OR;
    CLEANUP_ERR struct err first = { 0 };
    struct value left = eval(c->arguments[0], s, &first);
    if (left.kind == VALUE_BOOL && is_true(&left) == deciding)
        return left;
    struct value right = eval(c->arguments[1], s, e);
    if (right.kind == VALUE_BOOL && is_true(&right) == deciding)
        return right;
    if (left.kind == VALUE_ERROR) {
        err_clear(e);
        *e = err_take(&first);
        return left;
    }
    return right;
}

static struct value eval_if(const struct cel *c, const struct scope *s, struct err *e)
{
    struct value condition = eval(c->arguments[0], s, e);
    if (condition.kind == VALUE_ERROR)
        return condition;
    return eval(c->arguments[is_true(&condition) ? 1 : 2], s, e);
}

static bool compares(enum cel_op op, int64_t a, int64_t b)
{
    return op == CEL_LESS ? a < b : op == CEL_AT_MOST ? a <= b : op == CEL_MORE ? a > b : a >= b;
}

static struct value eval_order(const struct cel *c, const struct value *a, const struct value *b,
                               struct err *e)
{
    if (a->kind != b->kind || (a->kind != VALUE_NUMBER && a->kind != VALUE_DURATION))
        return failure(e, "no such overload", "");
    return of_bool(compares(c->op, a->number, b->number));
}

/* A value in a list, or a key in a map. */
static struct value eval_in(const struct cel *c, const struct scope *s, struct err *e)
{
    struct value item = eval(c->arguments[0], s, e);
    const struct cel *where = c->arguments[1];
    for (size_t i = 0; where->op == CEL_LIST && i < where->len; i++) {
        struct value other = eval(where->arguments[i], s, e);
        if (are_equal(&item, &other))
            return of_bool(true);
    }
    if (where->op == CEL_LIST)
        return item.kind == VALUE_ERROR ? item : of_bool(false);
    struct value map = eval(where, s, e);
    if (item.kind == VALUE_ERROR || map.kind == VALUE_ERROR)
        return failure(e, "no such overload", "");
    return of_bool(item.kind == VALUE_TEXT &&
                   json_object_getn(map.json, item.text, (size_t) item.number));
}

static struct value eval_size(const struct value *v, struct err *e)
{
    if (v->kind == VALUE_JSON)
        return (struct value){ .kind = VALUE_NUMBER,
                               .number = (int64_t) (json_array_size(v->json) +
                                                    json_object_size(v->json)) };
    return failure(e, "no such overload", "");
}

static struct value eval_duration(const struct value *v, struct err *e)
{
    int64_t ms;
    bool negative = v->kind == VALUE_TEXT && *v->text == '-';
    bool whole = v->kind == VALUE_TEXT && strlen(v->text) == (size_t) v->number;
    if (whole && str_parse_duration(v->text + negative, &ms))
        return (struct value){ .kind = VALUE_DURATION, .number = negative ? -ms : ms };
    return failure(e, "type conversion error from 'string' to 'google.protobuf.Duration'", "");
}

/* Over the items of a list or the keys of a map. */
static struct value eval_all(const struct cel *c, const struct scope *s, struct err *e)
{
    struct value many = eval(c->arguments[0], s, e);
    if (many.kind != VALUE_JSON)
        return failure(e, "no such overload", "");
    size_t i;
    json_t *item;
    json_array_foreach ((json_t *) many.json, i, item) {
        struct scope inner = { .up = s, .name = c->text, .value = of_json(item) };
        struct value holds = eval(c->arguments[1], &inner, e);
        if (!is_true(&holds))
            return holds;
    }
    const char *key;
    json_object_foreach ((json_t *) many.json, key, item) {
        struct scope inner = { .up = s, .name = c->text, .value = of_text(key, strlen(key)) };
        struct value holds = eval(c->arguments[1], &inner, e);
        if (!is_true(&holds))
            return holds;
    }
    return of_bool(true);
}

static struct value eval_not(const struct value *v, struct err *e)
{
    return v->kind == VALUE_BOOL ? of_bool(!v->number) : failure(e, "no such overload", "");
}

/* Operators on one value. */
static struct value eval_one(const struct cel *c, const struct value *v, struct err *e)
{
    if (c->op == CEL_NOT)
        return eval_not(v, e);
    if (c->op == CEL_SIZE)
        return eval_size(v, e);
    if (c->op == CEL_DURATION)
        return eval_duration(v, e);
    return failure(e, "no such overload", "");
}

/* Operators on two values. */
static struct value eval_two(const struct cel *c, const struct value *a, const struct value *b,
                             struct err *e)
{
    if (c->op == CEL_EQUAL || c->op == CEL_UNEQUAL)
        return of_bool(are_equal(a, b) == (c->op == CEL_EQUAL));
    if (c->op == CEL_MATCHES && a->kind == VALUE_TEXT)
        return of_bool(pattern_matches(c->pattern, a->text, (size_t) a->number));
    if (c->op == CEL_STARTS && a->kind == VALUE_TEXT && b->kind == VALUE_TEXT)
        return of_bool(str_has_prefix(a->text, b->text));
    return eval_order(c, a, b, e);
}

static struct value eval_values(const struct cel *c, const struct scope *s, struct err *e)
{
    struct value a = eval(c->arguments[0], s, e);
    if (a.kind == VALUE_ERROR || c->len == 1)
        return a.kind == VALUE_ERROR ? a : eval_one(c, &a, e);
    struct value b = eval(c->arguments[1], s, e);
    return b.kind == VALUE_ERROR ? b : eval_two(c, &a, &b, e);
}

static struct value eval_string(const struct cel *c, const struct scope *s, struct err *e)
{
    (void) s;
    (void) e;
    return of_text(c->text, strlen(c->text));
}

static struct value eval_number(const struct cel *c, const struct scope *s, struct err *e)
{
    (void) s;
    (void) e;
    return (struct value){ .kind = c->op == CEL_BOOL ? VALUE_BOOL : VALUE_NUMBER,
                           .number = c->number };
}

static struct value eval_list(const struct cel *c, const struct scope *s, struct err *e)
{
    (void) c;
    (void) s;
    return failure(e, "a list stands only after in", "");
}

/* Operators that do not first work out all their values. */
static struct value (*const evals[])(const struct cel *c, const struct scope *s, struct err *e) = {
    [CEL_NAME] = eval_name,   [CEL_STRING] = eval_string, [CEL_NUMBER] = eval_number,
    [CEL_BOOL] = eval_number, [CEL_LIST] = eval_list,     [CEL_FIELD] = eval_field,
    [CEL_HAS] = eval_has,     [CEL_AND] = eval_logic,     [CEL_OR] = eval_logic,
    [CEL_IF] = eval_if,       [CEL_IN] = eval_in,         [CEL_ALL] = eval_all,
};

static struct value eval(const struct cel *c, const struct scope *s, struct err *e)
{
    if (c->op < ARRAY_LEN(evals) && evals[c->op])
        return evals[c->op](c, s, e);
    return eval_values(c, s, e);
}

int cel_eval(const struct cel *c, const json_t *self, bool *ret_holds, struct err *e)
{
    CLEANUP_ERR struct err own = { 0 };
    const struct scope scope = { .name = "self", .value = of_json(self) };
    struct value v = eval(c, &scope, &own);
    if (v.kind == VALUE_BOOL) {
        *ret_holds = v.number;
        return 0;
    }
    return err_set(e, ERR_INVALID, "%s", own.kind ? err_msg(&own) : "no such overload");
}
