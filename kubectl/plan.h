/* `kubectl gpu plan`: `ostler plan`, with the plugin's options. */
#ifndef OSTLER_KUBECTL_PLAN_H
#define OSTLER_KUBECTL_PLAN_H

#include "kubectl/options.h"

/* Prints the plan; returns the exit code. */
int plan_show(const struct gpu_options *o);

#endif
