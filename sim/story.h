/* Tells what happens in a simulated cluster as a story, a line each: the actions of the scenario,
 * and what Ostler says of them in Events that a reader wants to know. */
#ifndef OSTLER_SIM_STORY_H
#define OSTLER_SIM_STORY_H

#include "base/clock.h"
#include "sim/api/api.h"

struct story;

struct story_options {
    struct api *api;           /* borrowed */
    const struct clock *clock; /* whose wall time the lines show; borrowed */
    void (*tell)(void *arg, const char *line);
    void *arg;
};

/* Listens to the API server from now on. */
struct story *sim_story_new(const struct story_options *o);
void sim_story_free(struct story *s);
/* Tells an action of the scenario. */
void sim_story_action(struct story *s, const char *text);

#endif
