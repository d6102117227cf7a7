/* Texts for the formats of the policy's strings: good ones, and such as people and attackers write.
 */
#ifndef OSTLER_TESTS_SWEEP_SWEEP_ACTO_FORMATS_H
#define OSTLER_TESTS_SWEEP_SWEEP_ACTO_FORMATS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "reconcilers/model/policy_formats.h"

enum { ACTO_GOODS = 5 };

/* The format that a string's schema asks for, known by its pattern; false when it is none of ours.
 */
bool acto_format_of(const json_t *schema, enum policy_format *ret);
/* Texts that the format takes; the list ends with NULL. */
const char *const *acto_format_goods(enum policy_format format);
/* A good text for this schema, another one for each `n`. Owned. */
char *acto_format_sample(const json_t *schema, size_t n);
/* The range of a duration in seconds, from its rule; false when it has none. */
bool acto_format_range(const json_t *schema, long long *ret_min, long long *ret_max);
/* Texts for any string at all; the list ends with NULL. */
const char *const *acto_hostile_texts(void);

#endif
