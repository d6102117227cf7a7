/* `ostler plan`: what a policy would do to the nodes of a cluster, read once and never written to. Returns the exit code. */
#ifndef OSTLER_PLAN_COMMAND_H
#define OSTLER_PLAN_COMMAND_H

#include "options.h"

int plan_command(const struct options *o);

#endif
