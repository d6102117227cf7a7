#include "sim/actors/amounts.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

static const struct {
    const char *suffix;
    int64_t thousandths;
} units[] = {
    { "", 1000 },
    { "m", 1 },
    { "k", INT64_C(1000000) },
    { "M", INT64_C(1000000000) },
    { "G", INT64_C(1000000000000) },
    { "T", INT64_C(1000000000000000) },
    { "Ki", INT64_C(1000) << 10 },
    { "Mi", INT64_C(1000) << 20 },
    { "Gi", INT64_C(1000) << 30 },
    { "Ti", INT64_C(1000) << 40 },
};

void amount_names_init(struct amount_names *n)
{
    static const char *const first[AMOUNT_EXTENDED] = { "cpu", "memory", "ephemeral-storage",
                                                        "pods" };
    for (n->count = 0; n->count < AMOUNT_EXTENDED; n->count++)
        n->names[n->count] = xstrdup(first[n->count]);
}

void amount_names_clear(struct amount_names *n)
{
    while (n->count > 0)
        free(n->names[--n->count]);
}

/* Rounded and clamped. */
static int64_t thousandths_of(double amount)
{
    if (!(amount < (double) INT64_MAX))
        return INT64_MAX;
    return amount <= (double) INT64_MIN ? INT64_MIN : (int64_t) (amount + 0.5);
}

int64_t amount_parse(const char *quantity)
{
    if (!quantity)
        return 0;
    char *end;
    double number = strtod(quantity, &end);
    if (end == quantity)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eq(end, units[i].suffix))
            return thousandths_of(number * (double) units[i].thousandths);
    return 0;
}

/* The index of a resource, -1 if the table is full. */
static int amounts_place_of(struct amount_names *n, const char *name)
{
    for (int i = 0; i < n->count; i++)
        if (str_eq(n->names[i], name))
            return i;
    if (n->count == AMOUNT_MAX)
        return -1;
    n->names[n->count] = xstrdup(name);
    return n->count++;
}

struct amounts amounts_of_list(struct amount_names *n, const json_t *list)
{
    struct amounts out = { { 0 } };
    const char *name;
    json_t *quantity;
    json_object_foreach ((json_t *) list, name, quantity) {
        int place = amounts_place_of(n, name);
        if (place >= 0)
            out.of[place] = json_is_integer(quantity)
                                ? thousandths_of((double) json_integer_value(quantity) * 1000)
                                : amount_parse(json_string_value(quantity));
    }
    return out;
}

/* The requests of one container; a limit without a request counts as a request. */
static struct amounts of_container(struct amount_names *n, const json_t *container)
{
    struct amounts requests = amounts_of_list(n, json_at(container, "resources.requests"));
    const json_t *limits = json_at(container, "resources.limits");
    if (json_object_size(limits) == 0)
        return requests;
    struct amounts most = amounts_of_list(n, limits);
    for (int i = 0; i < AMOUNT_MAX; i++)
        if (requests.of[i] == 0)
            requests.of[i] = most.of[i];
    return requests;
}

struct amounts amounts_of_pod(struct amount_names *n, const json_t *pod)
{
    struct amounts out = { { 0 } };
    size_t i;
    json_t *container;
    json_array_foreach (json_at(pod, "spec.containers"), i, container) {
        struct amounts one = of_container(n, container);
        amounts_add(&out, &one, 1);
    }
    json_array_foreach (json_at(pod, "spec.initContainers"), i, container) {
        struct amounts one = of_container(n, container);
        for (int k = 0; k < AMOUNT_MAX; k++)
            if (out.of[k] < one.of[k])
                out.of[k] = one.of[k];
    }
    out.of[AMOUNT_PODS] = 1000;
    return out;
}

/* a + b or a - b, clamped. */
static int64_t sum(int64_t a, int sign, int64_t b)
{
    int64_t result;
    bool over = sign < 0 ? __builtin_sub_overflow(a, b, &result)
                         : __builtin_add_overflow(a, b, &result);
    if (!over)
        return result;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

void amounts_add(struct amounts *a, const struct amounts *b, int sign)
{
    for (int i = 0; i < AMOUNT_MAX; i++)
        a->of[i] = sum(a->of[i], sign, b->of[i]);
}
