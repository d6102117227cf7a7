/* Lists: whole or page by page, at the version that was asked for. */
#ifndef OSTLER_SIM_API_READ_H
#define OSTLER_SIM_API_READ_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/api/api.h"
#include "sim/api/filter.h"
#include "sim/api/options.h"

/* Zero-initialised = empty. */
struct page {
    json_t *objects;    /* an array, as they are stored; owned */
    uint64_t rv;        /* at which they were so */
    char *continuation; /* owned; NULL: that was all */
    int64_t remaining;  /* how many come after this page; -1: not known */
};

/* 0, or -1 and a refusal: 400 for a broken token, 410 where history is forgotten, 504 for a version
 * that has not been. */
int page_read(const struct api *api, const struct kind *k, const struct list_options *o,
              const struct filter *f, struct page *ret, struct refusal *r);
/* Frees what it owns. */
void page_clear(struct page *p);
#define CLEANUP_PAGE CLEANUP(page_clear)

/* 504 when a version is newer than any; 400 when it is none. `ret` is 0 where it is unset. */
int version_parse(const struct api *api, const char *text, uint64_t *ret, struct refusal *r);

#endif
