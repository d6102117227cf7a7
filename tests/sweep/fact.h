/* What is so of an object, by a short name that case files use. */
#ifndef OSTLER_TESTS_SWEEP_FACT_H
#define OSTLER_TESTS_SWEEP_FACT_H

#include "tests/sweep/run.h"

/* A fact as text, "none" where it is not there. Owned. The names:
 *   label KEY, annotation KEY, taint KEY (its effect), condition TYPE (its status), condition TYPE
 *   reason,
 *   condition TYPE message;
 *   of a node's claim: claim (its phase), claim.kind, claim.reason, claim.attempt;
 *   of a node's machine: driver (the version of the module that is loaded), gpus (that its plugin
 *   gives), boots, unloads;
 *   anything else: a path of keys, as spec.nodeName. */
char *fact_of(const struct run *r, const json_t *object, const char *name);
/* A scalar as text; "none" for null and what is absent, compact JSON for the rest. Owned. */
char *fact_text(const json_t *value);

#endif
