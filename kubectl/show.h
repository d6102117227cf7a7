/* Commands that show something, once or repeatedly. */
#ifndef OSTLER_KUBECTL_SHOW_H
#define OSTLER_KUBECTL_SHOW_H

#include "kubectl/ask.h"
#include "kubectl/view/term.h"

/* Exit codes; see docs/kubectl-gpu.1. */
enum { GPU_DONE = 0, GPU_NOT_DONE = 1, GPU_USAGE = 2 };

/* One function per command; each knows its options. */
int show_status(struct ask *a, const struct gpu_options *o, struct err *e);
int show_nodes(struct ask *a, const struct gpu_options *o, struct err *e);
int show_explain(struct ask *a, const struct gpu_options *o, struct err *e);
int show_events(struct ask *a, const struct gpu_options *o, struct err *e);

/* Whether the text can be a node's name. */
bool show_is_name(const char *name);
/* Sets the error that a node does not exist, with similar names from `reports`; always -1. */
int show_no_node(const json_t *reports, const char *name, struct err *e);

#endif
