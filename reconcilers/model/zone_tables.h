/* The generated tables of IANA time zones from 2020 on, which scripts/embed-zones writes into one C
 * file. */
#ifndef OSTLER_RECONCILERS_MODEL_ZONE_TABLES_H
#define OSTLER_RECONCILERS_MODEL_ZONE_TABLES_H

#include <stddef.h>
#include <stdint.h>

/* A yearly clock change: on a weekday, in seconds after its midnight (may be negative, or beyond
 * the day), in the offset before the change. */
struct zone_switch {
    uint8_t month;   /* 1 to 12; 0: the zone does not switch */
    uint8_t week;    /* the first to fourth of the month; 5: the last */
    uint8_t weekday; /* 0 (Sunday) to 6 */
    int32_t second;
};

/* Rules that several names may share. Offsets are in seconds east of Greenwich. */
struct zone {
    uint16_t first_change, changes; /* rows of zone_changes: offsets, and until when */
    int32_t offset, other_offset;   /* afterwards: normally, and from `leave` to `back` */
    struct zone_switch leave, back;
};

struct zone_change {
    int64_t until_s;
    int32_t offset;
};

/* Without pointers, so that the loader needs no relocations. */
struct zone_name {
    char name[40];
    uint16_t zone; /* index in zone_table */
};

extern const struct zone zone_table[];
extern const struct zone_change zone_changes[];
extern const struct zone_name zone_names[]; /* sorted as strcmp() does */
extern const size_t zone_names_len;

#endif
