/* Scenario files: a world, written down for people. docs/testing.md has every key. */
#ifndef OSTLER_SIM_SCENARIO_SCENARIO_H
#define OSTLER_SIM_SCENARIO_SCENARIO_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sim/actors/world_spec.h"

/* From a time on, other rows count. A list that is not there stays as it was. */
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
    const char *name;        /* NULL: none */
    const char *about;       /* one sentence; NULL: none */
    uint64_t seed;           /* 1 when the file has none */
    int64_t begins_us;       /* wall time at 0; 0: the file does not say */
    const json_t *expect;    /* what must come of it, for who runs it as a test; NULL: nothing is said. Borrowed. */
    struct spec_world world;
    bool agents;             /* Ostler sends its agent to the nodes */
    struct scenario_change *changes;
    size_t change_count;
    struct scenario_store *store; /* what all of it stands in */
};

/* Reads a file ("-": standard input). NULL with an error "FILE:LINE: place: reason". */
struct scenario *scenario_read(const char *file, struct err *e);
/* The same from text; `name` stands for the file. */
struct scenario *scenario_parse(const char *name, const char *text, size_t len, struct err *e);
/* Frees it with all that stands in it. NULL is none. */
void scenario_free(struct scenario *s);

#endif
