/* Checks of single values, as many kinds have them. An absent value is in order. */
#ifndef OSTLER_SIM_API_VALIDATE_VALUE_H
#define OSTLER_SIM_API_VALIDATE_VALUE_H

#include "sim/api/spot.h"

/* The member `key` of `object`, a number, is at least 0. */
void validate_not_negative(const json_t *object, const char *key, const struct spot *at,
                           struct refusal *r);
/* The same for several members; `keys` is NULL-terminated. */
void validate_none_negative(const json_t *object, const char *const *keys, const struct spot *at,
                            struct refusal *r);
/* A port's number is from 1 to 65535. */
void validate_port(const json_t *number, const struct spot *at, struct refusal *r);
/* The member is one of a NULL-terminated set of words. */
void validate_word(const json_t *object, const char *key, const char *const *words,
                   const struct spot *at, struct refusal *r);
/* A number that is not negative, or a percentage of at most 100. */
void validate_amount(const json_t *value, const struct spot *at, struct refusal *r);
/* What may not change once it is there. */
void validate_immutable(const json_t *before, const json_t *after, const char *key,
                        const struct spot *at, struct refusal *r);
/* Whether a text comes for the first time; `seen`, a JSON object, remembers it. */
bool validate_first(json_t *seen, const char *text);
/* The same for any value. */
bool validate_first_value(json_t *seen, const json_t *value);
/* Zero, "0%", or what is no amount. */
bool validate_is_nothing(const json_t *amount);

#endif
