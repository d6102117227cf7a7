/* Reads scenario files, which describe a simulated world. docs/testing.md lists every key. */
#ifndef OSTLER_SIM_SCENARIO_SCENARIO_H
#define OSTLER_SIM_SCENARIO_SCENARIO_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sim/actors/world_spec.h"

/* Replaces rows from a time on. A list without its has_ flag stays. */
struct scenario_change {
    int64_t at_ms;
    bool has_images, has_drivers, has_programs;
    struct spec_image *images;
    size_t image_count;
    struct spec_driver *drivers;
    size_t driver_count;
    struct spec_program *programs;
    size_t program_count;
};

struct scenario {
    const char *name;     /* NULL: none */
    const char *about;    /* one sentence; NULL: none */
    uint64_t seed;        /* 1 by default */
    int64_t begins_us;    /* wall time at 0; 0: not given */
    const json_t *expect; /* expected results, for test runners; NULL: none. Borrowed */
    struct spec_world world;
    bool agents; /* Ostler deploys its agent to the nodes */
    struct scenario_change *changes;
    size_t change_count;
    struct scenario_store *store; /* owns the data of all members */
};

/* Reads a file ("-": standard input). NULL with an error "FILE:LINE: place: reason". */
struct scenario *scenario_read(const char *file, struct err *e);
/* The same from text; `name` is used as the file's name. */
struct scenario *scenario_parse(const char *name, const char *text, size_t len, struct err *e);
/* Frees it with its data. NULL is allowed. */
void scenario_free(struct scenario *s);

#endif
