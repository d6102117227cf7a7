#include "reconcilers/model/prerequisites.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/known_fields.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/rights.h"

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

static struct prerequisite_problem judge_crd(const json_t *crd, const char *name,
                                             const char *effect)
{
    const char *text = object_annotation(crd, ANNOTATION_SCHEMA);
    if (crd && text && strtol(text, NULL, 10) >= PREREQUISITES_SCHEMA)
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

/* Missing list and watch permissions show by themselves; missing write permissions only when there
 * is something to write. */
static struct prerequisite_problem judge_rights(const json_t *review, const char *ns)
{
    CLEANUP_FREE char *missing = rights_missing(review);
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
