/* Commands that show something, once or repeatedly. */
#ifndef OSTLER_KUBECTL_SHOW_H
#define OSTLER_KUBECTL_SHOW_H

#include "kubectl/ask.h"
#include "reconcilers/view/term.h"

/* Exit codes; see docs/kubectl-gpu.1. */
enum { GPU_DONE = 0, GPU_NOT_DONE = 1, GPU_USAGE = 2 };

/* Runs the command of the options: status, nodes, explain or events. */
int show_run(struct ask *a, const struct gpu_options *o, struct err *e);

/* Sets the error that a node does not exist, with similar names of the fleet, which it reads;
 * always -1. */
int show_no_such_node(struct ask *a, const struct gpu_options *o, const char *name, struct err *e);

#endif
