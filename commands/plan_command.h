/* `ostler plan`: shows what a policy would do to the nodes of a cluster; it reads the cluster
 * once and never writes. */
#ifndef OSTLER_PLAN_COMMAND_H
#define OSTLER_PLAN_COMMAND_H

#include "controller/options.h"

/* Prints the plan, or with o->simulate the result of simulating it. Returns the exit code. */
int plan_command(const struct options *o);

#endif
