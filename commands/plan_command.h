/* `ostler plan`: what a policy would do to the nodes of a cluster, read once and never written to. */
#ifndef OSTLER_PLAN_COMMAND_H
#define OSTLER_PLAN_COMMAND_H

#include "controller/options.h"

/* Prints the plan, or with o->simulate what came of playing it. Returns the exit code. */
int plan_command(const struct options *o);

#endif
