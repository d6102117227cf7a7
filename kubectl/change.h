/* Commands that change something. Each says what it did and how to undo it. Each write names the
 * version that it rests on: the API server rejects it after a concurrent write, and the command
 * decides again. */
#ifndef OSTLER_KUBECTL_CHANGE_H
#define OSTLER_KUBECTL_CHANGE_H

#include "kubectl/ask.h"

int change_pause(struct ask *a, const struct gpu_options *o, struct err *e);
int change_resume(struct ask *a, const struct gpu_options *o, struct err *e);
int change_approve(struct ask *a, const struct gpu_options *o, struct err *e);
int change_hold(struct ask *a, const struct gpu_options *o, struct err *e);
int change_release(struct ask *a, const struct gpu_options *o, struct err *e);

#endif
