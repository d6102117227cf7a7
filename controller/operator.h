/* The operator as a process: builds all layers, starts them and stops them in order. */
#ifndef OSTLER_OPERATOR_H
#define OSTLER_OPERATOR_H

#include "controller/options.h"

/* Runs until SIGTERM or SIGINT (exit code 0, the lease released) or until the lease is lost (1).
 * A `cleanup` runs until nothing of Ostler is left (0). */
int operator_run(const struct options *o);

#endif
