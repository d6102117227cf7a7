/* What Ostler asks for, by kind of request. */
#ifndef OSTLER_TESTS_SCALE_REQUESTS_H
#define OSTLER_TESTS_SCALE_REQUESTS_H

#include "base/map.h"
#include "kube/request.h"

/* Zero-initialised = nothing was asked for yet. */
struct requests {
    struct map kinds; /* struct requests_of by "<method> <resource>[/<subresource>]" */
};

/* Leases and watches are not counted. */
void requests_count(struct requests *all, const struct request *r);
/* Prints how many of each kind there were for each of so many nodes, and in all. */
void requests_print(const struct requests *all, size_t nodes);
/* Nothing was asked for. */
void requests_clear(struct requests *all);

#endif
