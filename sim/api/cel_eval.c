/* Evaluates a rule of CEL. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/cel.h"
#include "sim/api/cel_tree.h"
#include "sim/api/pattern.h"

enum value_kind { VALUE_JSON, VALUE_TEXT, VALUE_NUMBER, VALUE_BOOL, VALUE_DURATION, VALUE_ERROR };

struct value {
    enum value_kind kind;
    const json_t *json;
    const char *text; /* also the problem of VALUE_ERROR */
    const char *name; /* follows the problem; "": nothing */
    int64_t number;   /* also 0 and 1, milliseconds, and bytes of a text */
};

/* The names that a rule knows: self, and the variables of the all() around it. */
struct scope {
    const struct scope *up;
    const char *name;
    struct value value;
};

static struct value eval(const struct cel *c, const struct scope *s);

static struct value failure(const char *what, const char *name)
{
    return (struct value){ .kind = VALUE_ERROR, .text = what, .name = name };
}

static struct value no_overload(void)
{
    return failure("no such overload", "");
}

static struct value of_text(const char *text, size_t len)
{
    return (struct value){ .kind = VALUE_TEXT, .text = text, .number = (int64_t) len };
}

static struct value of_number(enum value_kind kind, int64_t number)
{
    return (struct value){ .kind = kind, .number = number };
}

static struct value of_bool(bool b)
{
    return of_number(VALUE_BOOL, b);
}

static struct value of_json(const json_t *json)
{
    if (json_is_string(json))
        return of_text(json_string_value(json), json_string_length(json));
    if (json_is_integer(json))
        return of_number(VALUE_NUMBER, json_integer_value(json));
    return json_is_boolean(json) ? of_bool(json_is_true(json))
                                 : (struct value){ .kind = VALUE_JSON, .json = json };
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

static struct value eval_name(const struct cel *c, const struct scope *s)
{
    for (; s; s = s->up)
        if (str_eq(s->name, c->text))
            return s->value;
    return failure("undeclared reference to ", c->text);
}

static struct value eval_field(const struct cel *c, const struct scope *s)
{
    struct value object = eval(c->arguments[0], s);
    const json_t *member = object.kind == VALUE_JSON ? json_object_get(object.json, c->text) : NULL;
    if (object.kind == VALUE_ERROR)
        return object;
    return member ? of_json(member) : failure("no such key: ", c->text);
}

static struct value eval_has(const struct cel *c, const struct scope *s)
{
    const struct cel *field = c->arguments[0];
    struct value object = eval(field->arguments[0], s);
    if (object.kind == VALUE_ERROR)
        return object;
    return of_bool(object.kind == VALUE_JSON && json_object_get(object.json, field->text));
}

/* If one side decides, an error of the other side does not matter. */
static struct value eval_logic(const struct cel *c, const struct scope *s)
{
    bool deciding = c->op == CEL_OR;
    struct value left = eval(c->arguments[0], s);
    if (left.kind == VALUE_BOOL && is_true(&left) == deciding)
        return left;
    struct value right = eval(c->arguments[1], s);
    bool right_decides = right.kind == VALUE_BOOL && is_true(&right) == deciding;
    return left.kind == VALUE_ERROR && !right_decides ? left : right;
}

static struct value eval_if(const struct cel *c, const struct scope *s)
{
    struct value condition = eval(c->arguments[0], s);
    return condition.kind == VALUE_ERROR ? condition
                                         : eval(c->arguments[is_true(&condition) ? 1 : 2], s);
}

/* A value in a list, or a key in a map. */
static struct value eval_in(const struct cel *c, const struct scope *s)
{
    struct value item = eval(c->arguments[0], s);
    const struct cel *where = c->arguments[1];
    for (size_t i = 0; where->op == CEL_LIST && i < where->len; i++) {
        struct value other = eval(where->arguments[i], s);
        if (are_equal(&item, &other))
            return of_bool(true);
    }
    if (item.kind == VALUE_ERROR || where->op == CEL_LIST)
        return item.kind == VALUE_ERROR ? item : of_bool(false);
    struct value map = eval(where, s);
    if (map.kind == VALUE_ERROR)
        return map;
    return of_bool(item.kind == VALUE_TEXT &&
                   json_object_getn(map.json, item.text, (size_t) item.number));
}

/* Over the items of a list or the keys of a map. */
static struct value eval_all(const struct cel *c, const struct scope *s)
{
    struct value many = eval(c->arguments[0], s), holds = of_bool(true);
    struct scope inner = { .up = s, .name = c->text };
    if (many.kind != VALUE_JSON)
        return many.kind == VALUE_ERROR ? many : no_overload();
    JSON_EACH_AT (i, item, many.json) {
        inner.value = of_json(item);
        holds = eval(c->arguments[1], &inner);
        if (!is_true(&holds))
            return holds;
    }
    JSON_EACH_MEMBER (key, value, many.json) {
        inner.value = of_text(key, strlen(key));
        holds = eval(c->arguments[1], &inner);
        if (!is_true(&holds))
            return holds;
    }
    return of_bool(true);
}

static struct value duration_of(const struct value *v)
{
    int64_t ms;
    bool negative = v->kind == VALUE_TEXT && *v->text == '-';
    bool whole = v->kind == VALUE_TEXT && strlen(v->text) == (size_t) v->number;
    if (whole && str_parse_duration(v->text + negative, &ms))
        return of_number(VALUE_DURATION, negative ? -ms : ms);
    return failure("type conversion error from 'string' to 'google.protobuf.Duration'", "");
}

/* Operators on one value. */
static struct value eval_one(const struct cel *c, const struct value *v)
{
    if (c->op == CEL_NOT && v->kind == VALUE_BOOL)
        return of_bool(!v->number);
    if (c->op == CEL_SIZE && v->kind == VALUE_JSON)
        return of_number(VALUE_NUMBER,
                         (int64_t) (json_array_size(v->json) + json_object_size(v->json)));
    return c->op == CEL_DURATION ? duration_of(v) : no_overload();
}

static bool compares(enum cel_op op, int64_t a, int64_t b)
{
    return op == CEL_LESS ? a < b : op == CEL_AT_MOST ? a <= b : op == CEL_MORE ? a > b : a >= b;
}

/* Operators on two values. */
static struct value eval_two(const struct cel *c, const struct value *a, const struct value *b)
{
    if (c->op == CEL_EQUAL || c->op == CEL_UNEQUAL)
        return of_bool(are_equal(a, b) == (c->op == CEL_EQUAL));
    if (c->op == CEL_MATCHES && a->kind == VALUE_TEXT)
        return of_bool(pattern_matches(c->pattern, a->text, (size_t) a->number));
    if (c->op == CEL_STARTS && a->kind == VALUE_TEXT && b->kind == VALUE_TEXT)
        return of_bool(str_has_prefix(a->text, b->text));
    if (a->kind != b->kind || (a->kind != VALUE_NUMBER && a->kind != VALUE_DURATION))
        return no_overload();
    return of_bool(compares(c->op, a->number, b->number));
}

/* Operators that first evaluate all their values. */
static struct value eval_values(const struct cel *c, const struct scope *s)
{
    struct value a = eval(c->arguments[0], s);
    if (a.kind == VALUE_ERROR || c->len == 1)
        return a.kind == VALUE_ERROR ? a : eval_one(c, &a);
    struct value b = eval(c->arguments[1], s);
    return b.kind == VALUE_ERROR ? b : eval_two(c, &a, &b);
}

static struct value eval_literal(const struct cel *c, const struct scope *s)
{
    (void) s;
    if (c->op == CEL_LIST)
        return failure("a list stands only after in", "");
    return c->op == CEL_STRING
               ? of_text(c->text, strlen(c->text))
               : of_number(c->op == CEL_BOOL ? VALUE_BOOL : VALUE_NUMBER, c->number);
}

/* The operators that are missing here are those of eval_values(). */
static struct value (*const evals[])(const struct cel *c, const struct scope *s) = {
    [CEL_NAME] = eval_name,    [CEL_STRING] = eval_literal, [CEL_NUMBER] = eval_literal,
    [CEL_BOOL] = eval_literal, [CEL_LIST] = eval_literal,   [CEL_FIELD] = eval_field,
    [CEL_HAS] = eval_has,      [CEL_AND] = eval_logic,      [CEL_OR] = eval_logic,
    [CEL_IF] = eval_if,        [CEL_IN] = eval_in,          [CEL_ALL] = eval_all,
};

static struct value eval(const struct cel *c, const struct scope *s)
{
    return c->op < ARRAY_LEN(evals) && evals[c->op] ? evals[c->op](c, s) : eval_values(c, s);
}

int cel_eval(const struct cel *c, const json_t *self, bool *ret_holds, struct err *e)
{
    const struct scope scope = { .name = "self", .value = of_json(self) };
    struct value v = eval(c, &scope);
    if (v.kind != VALUE_BOOL && v.kind != VALUE_ERROR)
        v = no_overload();
    if (v.kind == VALUE_ERROR)
        return err_set(e, ERR_INVALID, "%s%s", v.text, v.name);
    *ret_holds = v.number;
    return 0;
}
