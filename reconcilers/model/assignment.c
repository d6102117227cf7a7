#include "reconcilers/model/assignment.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

const struct tier_row tiers[TIERS] = {
#define X(id, ...) [TIER_##id] = { __VA_ARGS__ },
    TIER_ROWS(X)
#undef X
};

enum tier tier_parse(const char *name)
{
    enum tier t = 0;
    while (t < TIERS && !str_eq(tiers[t].name, name))
        t++;
    return t;
}

struct assignment_ref assignment_ref(const struct assignment *a)
{
    struct assignment_ref ref;
    for (enum tier t = 0; t < TIERS; t++)
        ref.hash[t] = a->hash[t];
    return ref;
}

void assignment_copy(struct assignment *ret, struct assignment_ref from)
{
    for (enum tier t = 0; t < TIERS; t++)
        snprintf(ret->hash[t], REVISION_HASH_MAX, "%s", str_or_empty(from.hash[t]));
}

static bool is_same_tier(struct assignment_ref a, struct assignment_ref b, enum tier t)
{
    return str_eq(str_or_empty(a.hash[t]), str_or_empty(b.hash[t]));
}

bool assignment_same(struct assignment_ref a, struct assignment_ref b)
{
    for (enum tier t = 0; t < TIERS; t++)
        if (!is_same_tier(a, b, t))
            return false;
    return true;
}

bool assignment_is_empty(struct assignment_ref a)
{
    return assignment_same(a, (struct assignment_ref){ 0 });
}

enum tier assignment_changes_by(struct assignment_ref from, struct assignment_ref to)
{
    enum tier t = 0;
    while (t < TIERS - 1 && is_same_tier(from, to, t))
        t++;
    return t;
}

struct assignment_ref assignment_of_node(const json_t *node)
{
    struct assignment_ref ref;
    for (enum tier t = 0; t < TIERS; t++)
        ref.hash[t] = object_label(node, tiers[t].label);
    return ref;
}

struct assignment_ref assignment_before(struct assignment_ref a, enum tier end)
{
    for (enum tier t = end; t < TIERS; t++)
        a.hash[t] = NULL;
    return a;
}

bool assignment_drains(struct assignment_ref from, struct assignment_ref to)
{
    for (enum tier t = 0; t < TIERS; t++)
        if (tiers[t].drains && !is_same_tier(from, to, t))
            return true;
    return false;
}

char *assignment_text(struct assignment_ref a, char separator, const char *none)
{
    char *text = xstrdup("");
    for (enum tier t = 0; t < TIERS; t++) {
        const char *hash = str_or_empty(a.hash[t]);
        char *longer = xasprintf("%s%.*s%s", text, t > 0, &separator, *hash ? hash : none);
        free(text);
        text = longer;
    }
    return text;
}
