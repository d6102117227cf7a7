/* Hashes in case files: `$driver` and `$stack` stand for the target of the first node,
 * `$driver@NAME` and `$stack@NAME` for that of another, so that a case says what it means and
 * outlives every change of inputs. */
#ifndef OSTLER_TESTS_SUPPORT_SYMBOLS_H
#define OSTLER_TESTS_SUPPORT_SYMBOLS_H

#include <jansson.h>

#include "reconcilers/decide/targets.h"

/* Adds the hashes of a node's target to a map from symbols to hashes; `node` NULL: the plain
 * symbols. */
void symbols_add(json_t *symbols, const char *node, const struct target *target);
/* The tree with hashes for symbols. New reference; NULL for NULL. */
json_t *symbols_resolved(const json_t *symbols, const json_t *tree);
/* The text with symbols for hashes. Owned by the caller. */
char *symbols_named(const json_t *symbols, const char *text);

#endif
