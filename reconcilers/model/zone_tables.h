/* What scripts/embed-zones writes into one generated C file: the time zones of the IANA database from 2020 on. */
#ifndef OSTLER_RECONCILERS_MODEL_ZONE_TABLES_H
#define OSTLER_RECONCILERS_MODEL_ZONE_TABLES_H

#include <stddef.h>
#include <stdint.h>

/* A moment of every year: on such a weekday, at seconds after its midnight (also negative, or beyond the day) of the time that
 * was in force until then. */
struct zone_switch {
    uint8_t month;   /* 1 to 12; 0: the zone does not switch */
    uint8_t week;    /* the first to fourth of the month; 5: the last */
    uint8_t weekday; /* 0 (Sunday) to 6 */
    int32_t second;
};

/* What several names may share. Offsets are in seconds east of Greenwich. */
struct zone {
    uint16_t first_change, changes;  /* in zone_changes: until when which offset was in force */
    int32_t offset, other_offset;    /* after those: which one, and which from `leave` to `back` */
    struct zone_switch leave, back;
};

struct zone_change {
    int64_t until_s;
    int32_t offset;
};

/* Without pointers, so that the loader has nothing to do. */
struct zone_name {
    char name[40];
    uint16_t zone; /* in zone_table */
};

extern const struct zone zone_table[];
extern const struct zone_change zone_changes[];
extern const struct zone_name zone_names[]; /* as strcmp() orders them */
extern const size_t zone_names_len;

#endif
