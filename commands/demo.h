/* `ostler demo`: Ostler at work in a simulated cluster, with a page, a story and a live view. */
#ifndef OSTLER_DEMO_H
#define OSTLER_DEMO_H

#include <stddef.h>

/* The scenario that is built in (sim/scenarios/demo.yaml). */
extern const char demo_scenario[];
extern const size_t demo_scenario_len;

/* Runs the words from `demo` on until a signal; returns the exit code. It leaves no process and no
 * file. */
int demo_main(int argc, char **argv);

#endif
