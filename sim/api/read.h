/* Lists, whole or in pages, at the requested version; and the start of watches. */
#ifndef OSTLER_SIM_API_READ_H
#define OSTLER_SIM_API_READ_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/api/api.h"
#include "sim/api/filter.h"
#include "sim/api/extras.h"
#include "sim/api/options.h"

/* Zero-initialised = empty. */
struct page {
    json_t *objects;    /* an array, as they are stored; owned */
    uint64_t rv;        /* of the list */
    char *continuation; /* owned; NULL: that was all */
    int64_t remaining;  /* number of objects after this page; -1: unknown */
};

/* 0, or -1 and a refusal: 400 for an invalid token, 410 for forgotten history, 504 for a version in
 * the future. */
int page_read(struct api *api, const struct kind *k, const struct list_options *o,
              const struct filter *f, struct page *ret, struct refusal *r);
/* Frees what it owns. */
void page_clear(struct page *p);
#define CLEANUP_PAGE CLEANUP(page_clear)

/* Parses a version; `ret` is 0 if it is unset. 504 if it is in the future, 400 if it is invalid. */
int version_parse(const struct api *api, const char *text, uint64_t *ret, struct refusal *r);

/* Starts a watch and takes the filter, which is empty afterwards. With a `table` form the objects
 * are sent as tables. -1 and 500 for an invalid version; the stream itself reports that a version
 * is forgotten. */
int watch_open(struct api *api, const struct kind *k, const struct list_options *o,
               struct filter *filter_steal, enum table_form table, struct api_watch **ret,
               struct refusal *r);

#endif
