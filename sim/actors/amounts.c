#include "sim/actors/amounts.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/api/quantity.h"

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

static int64_t clamped(__int128 amount)
{
    return amount > INT64_MAX ? INT64_MAX : amount < INT64_MIN ? INT64_MIN : (int64_t) amount;
}

int64_t amount_parse(const char *quantity)
{
    enum { NANO_PER_THOUSANDTH = 1000000 };
    struct quantity q;
    if (!quantity || !quantity_parse(quantity, &q))
        return 0;
    return clamped((q.nano + NANO_PER_THOUSANDTH / 2) / NANO_PER_THOUSANDTH);
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
    JSON_EACH_MEMBER (name, quantity, list) {
        int place = amounts_place_of(n, name);
        if (place >= 0)
            out.of[place] = json_is_integer(quantity)
                                ? clamped((__int128) json_integer_value(quantity) * 1000)
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
    JSON_EACH (container, json_at(pod, "spec.containers")) {
        struct amounts one = of_container(n, container);
        amounts_add(&out, &one, 1);
    }
    JSON_EACH (container, json_at(pod, "spec.initContainers")) {
        struct amounts one = of_container(n, container);
        for (int k = 0; k < AMOUNT_MAX; k++)
            if (out.of[k] < one.of[k])
                out.of[k] = one.of[k];
    }
    out.of[AMOUNT_PODS] = 1000;
    return out;
}

void amounts_add(struct amounts *a, const struct amounts *b, int sign)
{
    for (int i = 0; i < AMOUNT_MAX; i++)
        a->of[i] = clamped((__int128) a->of[i] + (__int128) sign * b->of[i]);
}
