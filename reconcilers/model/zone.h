/* Time zones from built-in tables, because the container image has no zoneinfo files. */
#ifndef OSTLER_RECONCILERS_MODEL_ZONE_H
#define OSTLER_RECONCILERS_MODEL_ZONE_H

#include <stdbool.h>
#include <stdint.h>

struct zone;

/* The zone of a name such as "Asia/Tokyo" or "UTC"; NULL: unknown. */
const struct zone *zone_find(const char *name);
/* Seconds east of Greenwich at a time (epoch seconds). The tables start in 2020; earlier times use
 * the rules of 2020. */
int32_t zone_offset(const struct zone *z, int64_t at_s);
/* Whether its clocks never change. */
bool zone_is_fixed(const struct zone *z);
/* The UTC time (epoch seconds) at which the clocks of a zone show `local_s`. A time shown twice:
 * the first; a time that the clocks skip: the moment after the gap. */
int64_t zone_to_utc(const struct zone *z, int64_t local_s);

#endif
