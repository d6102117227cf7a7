/* The parsed target of a request: kind, object and query. */
#ifndef OSTLER_SIM_API_PATH_H
#define OSTLER_SIM_API_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/api/kind.h"
#include "sim/api/refusal.h"

/* What a path leads to. */
enum path_end {
    PATH_BROKEN,     /* no path at all: 400 */
    PATH_ELSEWHERE,  /* not below /api/v1 or /apis/GROUP/VERSION */
    PATH_NO_GROUP,   /* a group or version that this server does not have */
    PATH_NO_KIND,    /* a group that it has, without such a resource */
    PATH_COLLECTION, /* the objects of a kind */
    PATH_OBJECT,     /* one object, or a subresource of it */
};

struct path_parameter {
    char *name;
    char *value;
};

/* Zero-initialised = nothing; path_clear() when done. */
struct path {
    enum path_end end;
    char *text; /* the path without the query, decoded */
    const struct kind *kind;
    const char *ns;          /* "" = none, or all; borrowed from `segments` */
    const char *name;        /* "" of a collection */
    const char *subresource; /* "" or its name; static text */
    enum subresource sub;
    char *segments;
    struct path_parameter *parameters;
    size_t parameter_count;
};

/* Parses a request's target; never fails: `end` says if it leads nowhere. */
void path_parse(const char *target, struct path *ret);
/* Frees what it owns. */
void path_clear(struct path *p);
#define CLEANUP_PATH CLEANUP(path_clear)

/* The first value of a query parameter; NULL if it is absent. */
const char *path_parameter(const struct path *p, const char *name);
/* A boolean as the API server reads it: absent, "false" and "0" are false, all else is true. */
bool path_flag(const struct path *p, const char *name);
/* An integer; `fallback` if it is absent. -1 and 400 if it is invalid. */
int path_number(const struct path *p, const char *name, int64_t fallback, int64_t *ret,
                struct refusal *r);

#endif
