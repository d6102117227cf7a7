/* Commands that change something. Each says what it did and how to undo it. Each write names the
 * version that it rests on: the API server rejects it after a concurrent write, and the command
 * decides again. */
#ifndef OSTLER_KUBECTL_CHANGE_H
#define OSTLER_KUBECTL_CHANGE_H

#include "kubectl/ask.h"

/* Runs the command of the options: pause, resume, approve, hold, release, repair or
 * ignore. */
int change_run(struct ask *a, const struct gpu_options *o, struct err *e);

#endif
