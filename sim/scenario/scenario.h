/* Reads scenario files, which describe a simulated world. docs/testing.md lists every key. */
#ifndef OSTLER_SIM_SCENARIO_SCENARIO_H
#define OSTLER_SIM_SCENARIO_SCENARIO_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "sim/actors/world_spec.h"

struct scenario {
    const char *name;     /* NULL: none */
    const char *about;    /* one sentence; NULL: none */
    uint64_t seed;        /* 1 by default */
    int64_t begins_us;    /* wall time at 0; 0: not given */
    const json_t *expect; /* expected results, for test runners; NULL: none. Borrowed */
    struct spec_world world;
    bool agents; /* Ostler deploys its agent to the nodes */
    const struct spec_change *changes;
    size_t change_count;
    /* own the data of all members */
    json_t *documents;
    struct arena arena;
};

/* Reads a file ("-": standard input). NULL with an error "FILE:LINE: place: reason". */
struct scenario *scenario_read(const char *file, struct err *e);
/* The same from text; `name` is used as the file's name. */
struct scenario *scenario_parse(const char *name, const char *text, size_t len, struct err *e);
/* Frees it with its data. NULL is allowed. */
void scenario_free(struct scenario *s);

#endif
