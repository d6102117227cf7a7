/* Time zones, from tables in the program: an image without files has no zoneinfo. */
#ifndef OSTLER_RECONCILERS_MODEL_ZONE_H
#define OSTLER_RECONCILERS_MODEL_ZONE_H

#include <stdint.h>

struct zone;

/* The zone of a name such as "Asia/Tokyo" or "UTC"; NULL when there is none. */
const struct zone *zone_find(const char *name);
/* Seconds east of Greenwich at a time (seconds of the epoch). Times before 2020 are not in the tables: they count as if what is
 * in force since then had always been. */
int32_t zone_offset(const struct zone *z, int64_t at_s);
/* When the clocks of a zone show a time (seconds of the epoch, were they in UTC). One that they show twice: the first; one that
 * they skip: the moment after the gap. */
int64_t zone_to_utc(const struct zone *z, int64_t local_s);

#endif
