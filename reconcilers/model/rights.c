#include "reconcilers/model/rights.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/resource.h"

enum { NAMED_MAX = 5, TEXT_MAX = 4096 };

/* Resources used in other namespaces, which the review does not cover, and resources that Ostler
 * can do without. */
static const enum resource_id left_out[] = { RESOURCE_LEASE,          RESOURCE_EVENT,
                                             RESOURCE_SERVICEMONITOR, RESOURCE_BUDGET,
                                             RESOURCE_SLICE,          RESOURCE_DEPLOYMENT };
#define COURTESY "pods/log"

struct missing {
    struct buf text;
    size_t count;
};

static bool lists(const json_t *rule, const char *key, const char *word)
{
    const json_t *list = json_object_get(rule, key);
    return json_has_text(list, "*") || json_has_text(list, word);
}

/* A rule for one named object counts: Ostler uses that name. */
static bool rights_is_given(const json_t *review, const char *verb, const char *group,
                            const char *resource)
{
    size_t i;
    json_t *rule;
    json_array_foreach (json_at(review, "status.resourceRules"), i, rule)
        if (lists(rule, "verbs", verb) && lists(rule, "apiGroups", group) &&
            lists(rule, "resources", resource))
            return true;
    return false;
}

static void look_for(const json_t *review, const char *verb, const struct resource *r,
                     const char *resource, struct missing *m)
{
    if (rights_is_given(review, verb, r->group, resource))
        return;
    if (m->count++ < NAMED_MAX)
        buf_printf(&m->text, "%s%s %s", m->count > 1 ? ", " : "", verb, resource);
}

static void look_for_verbs(const json_t *review, const struct resource *r, struct missing *m)
{
    CLEANUP_FREE char *verbs = xstrdup(r->verbs);
    for (char *rest = verbs, *verb; (verb = strsep(&rest, ","));)
        look_for(review, verb, r, r->plural, m);
}

/* The verb on each of them, in their order. */
static void look_for_subresources(const json_t *review, const struct resource *r, struct missing *m)
{
    CLEANUP_FREE char *names = xstrdup(r->subresources), *verbs = xstrdup(r->subresource_verbs);
    for (char *name, *verb, *rest = names, *their = verbs;
         (name = strsep(&rest, ",")) && (verb = strsep(&their, ",")) && *name;) {
        CLEANUP_FREE char *resource = xasprintf("%s/%s", r->plural, name);
        if (!str_eq(resource, COURTESY))
            look_for(review, verb, r, resource, m);
    }
}

static bool is_left_out(enum resource_id id)
{
    for (size_t i = 0; i < ARRAY_LEN(left_out); i++)
        if (left_out[i] == id)
            return true;
    return false;
}

char *rights_missing(const json_t *review)
{
    if (json_bool(review, "status.incomplete", false) ||
        !json_is_array(json_at(review, "status.resourceRules")))
        return NULL;
    struct missing m = { .text = BUF_INIT(TEXT_MAX) };
    for (int id = 0; id < RESOURCE_COUNT; id++) {
        const struct resource *r = resource_get((enum resource_id) id);
        if (is_left_out((enum resource_id) id))
            continue;
        look_for_verbs(review, r, &m);
        look_for_subresources(review, r, &m);
    }
    if (m.count > NAMED_MAX)
        buf_printf(&m.text, ", and %zu others", m.count - NAMED_MAX);
    char *text = m.count ? xstrdup(buf_text(&m.text)) : NULL;
    buf_clear(&m.text);
    return text;
}
