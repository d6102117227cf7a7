#ifndef OSTLER_KUBE_SELECTOR_H
#define OSTLER_KUBE_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct err;

/*
 * Label selectors: the JSON of a metav1.LabelSelector, compiled once and matched often. The labels
 * to match may be kept in any shape: the caller gives a function that looks a key up in them.
 */

/* Limits of one selector; what exceeds them does not compile. */
#define SELECTOR_MAX_REQUIREMENTS 64
#define SELECTOR_MAX_VALUES 64

/* One condition on one label. */
struct selector_requirement;

/* A compiled selector; all of its requirements must hold. All zero: matches everything. */
struct selector {
    struct selector_requirement *requirements;
    size_t len;
};

/* The value that `labels` has for `key`, or NULL where it has none. */
typedef const char *selector_lookup_fn(const void *labels, const char *key);

/*
 * Compiles {matchLabels, matchExpressions}; NULL, JSON null and {} match everything. ERR_INVALID
 * with the place in the message ("matchExpressions[0].operator: ...") when it is not a selector.
 */
int selector_compile(const json_t *label_selector, struct selector *ret, struct err *e);

/* Compiles a plain map of labels, as a nodeSelector is one. NULL and {} match everything. */
int selector_compile_labels(const json_t *labels, struct selector *ret, struct err *e);

/* Frees the requirements; it matches everything afterwards. */
void selector_clear(struct selector *selector);

/* Whether it has no requirement, and so matches everything. */
bool selector_is_empty(const struct selector *selector);

/* Whether one of its requirements is on the label `key`. */
bool selector_asks(const struct selector *selector, const char *key);

/* Whether `b` asks for every label that `a` asks for. */
bool selector_asks_no_more(const struct selector *a, const struct selector *b);

/* Whether the labels meet every requirement, by the rules of Kubernetes: NotIn and DoesNotExist
 * also hold for an object without the label. */
bool selector_matches(const struct selector *selector, selector_lookup_fn *lookup,
                      const void *labels);

/* A lookup for labels that are a JSON object; `labels` is the json_t, NULL has no labels. */
const char *selector_lookup_json(const void *labels, const char *key);

/* One label, and a list of them, for selector_lookup_list(). */
struct selector_label {
    const char *key;
    const char *value;
};

struct selector_labels {
    const struct selector_label *items;
    size_t len;
};

/* A lookup for labels that are a struct selector_labels. */
const char *selector_lookup_list(const void *labels, const char *key);

#endif
