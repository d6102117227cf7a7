#include "reconcilers/model/foreign.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/pod.h"

#define AFFINITY                                                                                   \
    "spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."     \
    "nodeSelectorTerms"

/* In Kubernetes a term without a condition matches no node; a term that names a node is treated
 * likewise. Unsupported conditions, such as Gt, count as met. */
static void read_terms(struct foreign *f, const json_t *terms)
{
    size_t i;
    json_t *term;
    f->limited = json_is_array(terms) && json_array_size(terms) <= FOREIGN_TERMS_MAX;
    for (i = 0; f->limited && (term = json_array_get(terms, i)); i++) {
        if (json_array_size(json_object_get(term, "matchExpressions")) == 0)
            continue;
        CLEANUP_JSON json_t *selector = json_pack("{s:O}", "matchExpressions",
                                                  json_object_get(term, "matchExpressions"));
        if (selector_compile(selector, &f->terms[f->term_count], NULL) < 0)
            f->terms[f->term_count] = (struct selector){ 0 };
        f->term_count++;
    }
}

struct foreign *foreign_project(const json_t *daemonset)
{
    const struct sign *sign = pod_serves_for_others(json_at(daemonset, "spec.template"));
    if (!sign)
        return NULL;
    struct foreign *f = record_new(sizeof *f, daemonset);
    f->sign = sign;
    f->generation = object_generation(daemonset);
    f->of_cluster = str_eq(object_namespace(daemonset), "kube-system");
    if (selector_compile_labels(json_at(daemonset, "spec.template.spec.nodeSelector"), &f->labels,
                                NULL) < 0)
        f->labels = (struct selector){ 0 };
    read_terms(f, json_at(daemonset, AFFINITY));
    return f;
}

void foreign_free(struct foreign *f)
{
    if (!f)
        return;
    selector_clear(&f->labels);
    for (size_t i = 0; i < f->term_count; i++)
        selector_clear(&f->terms[i]);
    record_free(f);
}

bool foreign_same(const struct foreign *a, const struct foreign *b)
{
    return record_same_uid(&a->head, &b->head) && a->generation == b->generation;
}

/* A node's labels, plus those that another operator has yet to set. */
struct labels_to_come {
    selector_lookup_fn *label;
    const void *labels;
};

/* NVIDIA's operator (v26.7, internal/state and controllers/state_manager.go) sets the first kind on
 * nodes, after Node Feature Discovery has set the last. */
static const char *label_to_come(const void *labels, const char *key)
{
    const struct labels_to_come *l = labels;
    const char *value = l->label(l->labels, key);
    char found[PCI_LABEL_MAX];
    detect_pci_label(&vendors[VENDOR_NVIDIA], 0, found);
    bool comes = str_has_prefix(key, NVIDIA_GPU ".deploy.") || str_eq(key, LABEL_GPU_PRESENT) ||
                 str_eq(key, found);
    return value || !comes ? value : "true";
}

bool foreign_selects(const struct foreign *f, selector_lookup_fn *label, const void *labels)
{
    const struct labels_to_come to_come = { label, labels };
    bool met = !f->limited;
    for (size_t i = 0; i < f->term_count && !met; i++)
        met = selector_matches(&f->terms[i], label_to_come, &to_come);
    return met && selector_matches(&f->labels, label_to_come, &to_come);
}

/* ---- ResourceSlices */

struct slice *slice_project(const json_t *object)
{
    const char *node = json_str_or_empty(object, "spec.nodeName");
    bool offers = str_eq(json_str(object, "spec.driver"), SLICE_DRIVER) &&
                  json_array_size(json_at(object, "spec.devices")) > 0;
    if (!offers || !*node)
        return NULL;
    struct slice *s = record_new(sizeof *s, object);
    s->node = xstrdup(node);
    return s;
}

void slice_free(struct slice *s)
{
    if (!s)
        return;
    free(s->node);
    record_free(s);
}

bool slice_same(const struct slice *a, const struct slice *b)
{
    return str_eq(a->node, b->node);
}
