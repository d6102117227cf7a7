#include "reconcilers/decide/blocking_budgets.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/pod.h"

struct blocking_budget {
    char *name;    /* "namespace/name"; owned */
    size_t ns_len; /* length of the namespace in it, with the slash */
    struct selector selector;
};

static bool lets_no_pod_go(const json_t *object)
{
    return str_eq(json_str(object, "kind"), "PodDisruptionBudget") &&
           json_int(object, "status.disruptionsAllowed", 0) <= 0;
}

/* A budget without a selector covers no pod. */
static void blocking_budgets_add(struct blocking_budgets *r, const json_t *object)
{
    const json_t *selector = json_at(object, "spec.selector");
    struct blocking_budget b = { .name = xasprintf("%s/%s", object_namespace(object),
                                                   object_name(object)) };
    b.ns_len = strlen(object_namespace(object)) + 1;
    if (selector && selector_compile(selector, &b.selector, NULL) == 0)
        r->budgets[r->count++] = b;
    else
        free(b.name);
}

void blocking_budgets_make(const json_t *objects, struct blocking_budgets *ret)
{
    size_t count = 0;
    JSON_EACH_MEMBER (key, object, objects)
        count += lets_no_pod_go(object);
    *ret = (struct blocking_budgets){ .budgets = xcalloc(count, sizeof *ret->budgets) };
    JSON_EACH_MEMBER (key, object, objects)
        if (lets_no_pod_go(object))
            blocking_budgets_add(ret, object);
}

const char *blocking_budget_of(const struct blocking_budgets *r, const struct intern *strings,
                               const struct pod *p)
{
    for (size_t i = 0; i < r->count; i++)
        if (strncmp(r->budgets[i].name, p->head.key, r->budgets[i].ns_len) == 0 &&
            pod_selected(strings, p, &r->budgets[i].selector))
            return r->budgets[i].name;
    return NULL;
}

void blocking_budgets_clear(struct blocking_budgets *r)
{
    for (size_t i = 0; i < r->count; i++) {
        selector_clear(&r->budgets[i].selector);
        free(r->budgets[i].name);
    }
    free(r->budgets);
    *r = (struct blocking_budgets){ 0 };
}
