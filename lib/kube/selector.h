#ifndef OSTLER_KUBE_SELECTOR_H
#define OSTLER_KUBE_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct err;

/* Label selectors: a metav1.LabelSelector in JSON, compiled once and matched often. A function
 * of the caller looks labels up, so that they may have any form. */

/* Limits of one selector; beyond them it does not compile. */
#define SELECTOR_MAX_REQUIREMENTS 64
#define SELECTOR_MAX_VALUES 64

/* A condition on one label. */
struct selector_requirement;

/* A compiled selector; an object must meet all its requirements. Zeroed: matches everything. */
struct selector {
    struct selector_requirement *requirements;
    size_t len;
};

/* The value of `key` in `labels`, or NULL. */
typedef const char *selector_lookup_fn(const void *labels, const char *key);

/* Compiles {matchLabels, matchExpressions}; NULL, JSON null and {} match everything. ERR_INVALID
 * with the position in the message ("matchExpressions[0].operator: ...") if it is not a
 * selector. */
int selector_compile(const json_t *label_selector, struct selector *ret, struct err *e);

/* Compiles a plain map of labels, such as a nodeSelector. NULL and {} match everything. */
int selector_compile_labels(const json_t *labels, struct selector *ret, struct err *e);

/* Frees the requirements; the selector then matches everything. */
void selector_clear(struct selector *selector);

/* Whether it has no requirement and so matches everything. */
bool selector_is_empty(const struct selector *selector);

/* Whether a requirement is about the label `key`. */
bool selector_asks(const struct selector *selector, const char *key);

/* Whether `b` has a requirement on every label that `a` has one on. */
bool selector_asks_no_more(const struct selector *a, const struct selector *b);

/* Whether the labels meet every requirement, by the rules of Kubernetes: NotIn and DoesNotExist
 * hold for an object without the label. */
bool selector_matches(const struct selector *selector, selector_lookup_fn *lookup,
                      const void *labels);

/* A lookup in a JSON object; `labels` is the json_t, NULL has no labels. */
const char *selector_lookup_json(const void *labels, const char *key);

/* A label and a list of labels, for selector_lookup_list(). */
struct selector_label {
    const char *key;
    const char *value;
};

struct selector_labels {
    const struct selector_label *items;
    size_t len;
};

/* A lookup in a struct selector_labels. */
const char *selector_lookup_list(const void *labels, const char *key);

#endif
