#include "reconcilers/model/prerequisites.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/resource.h"
#include "reconcilers/model/names.h"

#define LABEL_ENFORCE "pod-security.kubernetes.io/enforce"

typedef struct prerequisite_problem judge_fn(const json_t *answer, const char *ns);

static struct prerequisite_problem judge_server(const json_t *answer, const char *ns)
{
    (void) ns;
    /* Some servers report "30+". */
    long major = strtol(json_str_or_empty(answer, "major"), NULL, 10);
    long minor = strtol(json_str_or_empty(answer, "minor"), NULL, 10);
    if (major != 1 || minor >= PREREQUISITES_MINOR)
        return (struct prerequisite_problem){ 0 };
    return (struct prerequisite_problem){
        .reason = REASON_API_SERVER_TOO_OLD,
        .message = xasprintf("the API server is Kubernetes %s; Ostler needs 1.%d or newer, because "
                             "ValidatingAdmissionPolicies "
                             "(v1) limit what its ServiceAccount may change: upgrade the cluster. "
                             "Ostler changes nothing until "
                             "then",
                             json_str_or_empty(answer, "gitVersion"), PREREQUISITES_MINOR),
        .stops = true,
    };
}

/* ---- CRDs */

json_t *known_fields_of(const json_t *crd)
{
    const json_t *version = json_array_get(json_at(crd, "spec.versions"), 0);
    return json_at(version, "schema.openAPIV3Schema.properties.status");
}

static json_t *known_items(const json_t *schema, const json_t *list)
{
    json_t *known = json_array();
    JSON_EACH (item, list)
        json_array_append_new(known, known_fields(schema, item));
    return known;
}

static json_t *known_members(const json_t *schema, json_t *object)
{
    const json_t *properties = json_object_get(schema, "properties"),
                 *others = json_object_get(schema, "additionalProperties");
    json_t *known = json_object();
    JSON_EACH_MEMBER (key, value, object) {
        const json_t *of_key = json_object_get(properties, key);
        if (of_key || json_is_object(others) || json_is_true(others))
            json_object_set_new(known, key, known_fields(of_key ? of_key : others, value));
    }
    return known;
}

json_t *known_fields(const json_t *schema, json_t *value)
{
    if (!json_is_object(schema) || json_bool(schema, "x-kubernetes-preserve-unknown-fields", false))
        return json_incref(value);
    if (json_is_array(value))
        return known_items(json_object_get(schema, "items"), value);
    return json_is_object(value) ? known_members(schema, value) : json_incref(value);
}

bool prerequisites_crd_fits(const json_t *crd)
{
    const char *text = object_annotation(crd, ANNOTATION_SCHEMA);
    return text && strtol(text, NULL, 10) >= PREREQUISITES_SCHEMA;
}

static struct prerequisite_problem judge_crd(const json_t *crd, const char *name,
                                             const char *effect)
{
    const char *text = object_annotation(crd, ANNOTATION_SCHEMA);
    if (prerequisites_crd_fits(crd))
        return (struct prerequisite_problem){ 0 };
    CLEANUP_FREE char *is = crd ? xasprintf("is older than this Ostler (schema %s, needed is %d)",
                                            text ? text : "without a number", PREREQUISITES_SCHEMA)
                                : xstrdup("is missing");
    return (struct prerequisite_problem){
        .reason = crd ? REASON_CRD_OUTDATED : REASON_CRD_MISSING,
        .message = xasprintf(
            "CustomResourceDefinition %s %s; run: kubectl apply --server-side --force-conflicts "
            "--field-manager=helm -f crds/ (of this version). %s",
            name, is, effect),
        .status = json_incref(known_fields_of(crd)),
    };
}

static struct prerequisite_problem judge_policies(const json_t *answer, const char *ns)
{
    (void) ns;
    struct prerequisite_problem p = judge_crd(
        answer, CRD_POLICY,
        "Ostler changes nothing until then: the API server drops fields that it does not "
        "know, so parts of the policy may be missing");
    p.stops = answer && p.reason; /* without the CRD, no policy can be misread */
    return p;
}

static struct prerequisite_problem judge_reports(const json_t *answer, const char *ns)
{
    (void) ns;
    return judge_crd(answer, CRD_GPU_NODE,
                     "Until then GpuNodes are missing or incomplete; everything else works");
}

static struct prerequisite_problem judge_namespace(const json_t *answer, const char *ns)
{
    const char *enforced = object_label(answer, LABEL_ENFORCE);
    if (!answer || object_is_deleting(answer))
        return (struct prerequisite_problem){
            .reason = REASON_NAMESPACE_MISSING,
            .message = xasprintf("the operands' namespace %s %s; run: kubectl create namespace %s "
                                 "&& kubectl label namespace %s " LABEL_ENFORCE
                                 "=privileged, and install the chart's roles there (helm upgrade)",
                                 ns, answer ? "is being deleted" : "is missing", ns, ns),
        };
    if (!enforced || str_eq(enforced, "privileged"))
        return (struct prerequisite_problem){ 0 };
    return (struct prerequisite_problem){
        .reason = REASON_NAMESPACE_RESTRICTED,
        .message = xasprintf(
            "the operands' namespace %s does not admit privileged pods (" LABEL_ENFORCE
            "=%s), and the driver's "
            "pod is privileged; run: kubectl label namespace %s " LABEL_ENFORCE
            "=privileged --overwrite",
            ns, enforced, ns),
    };
}

/* ---- permissions */

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
    JSON_EACH (rule, json_at(review, "status.resourceRules"))
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

char *prerequisites_missing_rights(const json_t *review)
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

/* Missing list and watch permissions show by themselves; missing write permissions only when there
 * is something to write. */
static struct prerequisite_problem judge_rights(const json_t *review, const char *ns)
{
    CLEANUP_FREE char *missing = prerequisites_missing_rights(review);
    if (!missing)
        return (struct prerequisite_problem){ 0 };
    return (struct prerequisite_problem){
        .reason = REASON_PERMISSIONS_MISSING,
        .message = xasprintf("Ostler's ServiceAccount may not: %s (for the cluster, or in "
                             "namespace %s); upgrade the chart to "
                             "this version: "
                             "it has all roles",
                             missing, ns),
    };
}

/* ---- all of them */

static judge_fn *const judges[PREREQUISITES_PARTS] = {
    [PREREQUISITES_SERVER] = judge_server,   [PREREQUISITES_POLICIES] = judge_policies,
    [PREREQUISITES_REPORTS] = judge_reports, [PREREQUISITES_NAMESPACE] = judge_namespace,
    [PREREQUISITES_RIGHTS] = judge_rights,
};

/* Whether it differs from the known problem. */
static bool prerequisites_replace(struct prerequisite_problem *p,
                                  struct prerequisite_problem by_steal)
{
    bool news = !str_eq(p->message, by_steal.message);
    free(p->message);
    json_decref(p->status);
    *p = by_steal;
    return news;
}

bool prerequisites_take(struct prerequisites *s, enum prerequisite part, const json_t *answer,
                        const char *ns)
{
    return prerequisites_replace(&s->of[part], judges[part](answer, ns));
}

bool prerequisites_forget(struct prerequisites *s, enum prerequisite part)
{
    return prerequisites_replace(&s->of[part], (struct prerequisite_problem){ 0 });
}

const struct prerequisite_problem *prerequisites_of(const struct prerequisites *s,
                                                    enum prerequisite part)
{
    return s->of[part].reason ? &s->of[part] : NULL;
}

const struct prerequisite_problem *prerequisites_worst(const struct prerequisites *s)
{
    for (int i = 0; i < PREREQUISITES_PARTS; i++)
        if (prerequisites_of(s, (enum prerequisite) i))
            return &s->of[i];
    return NULL;
}

const struct prerequisite_problem *prerequisites_blocking(const struct prerequisites *s, bool well)
{
    for (int i = 0; i < PREREQUISITES_PARTS; i++)
        if (s->of[i].stops || (!well && i == PREREQUISITES_NAMESPACE && s->of[i].reason))
            return &s->of[i];
    return NULL;
}

void prerequisites_clear(struct prerequisites *s)
{
    for (int i = 0; i < PREREQUISITES_PARTS; i++)
        prerequisites_forget(s, (enum prerequisite) i);
}
