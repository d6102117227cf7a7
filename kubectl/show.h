/* Commands that show something: once, or again and again. */
#ifndef OSTLER_KUBECTL_SHOW_H
#define OSTLER_KUBECTL_SHOW_H

#include "kubectl/ask.h"
#include "kubectl/view/term.h"

/* Exit codes; docs/kubectl-gpu.1 has them. */
enum { GPU_DONE = 0, GPU_NOT_DONE = 1, GPU_USAGE = 2 };

/* One of them each; they know their own options. */
int show_status(struct ask *a, const struct gpu_options *o, struct err *e);
int show_nodes(struct ask *a, const struct gpu_options *o, struct err *e);
int show_explain(struct ask *a, const struct gpu_options *o, struct err *e);
int show_events(struct ask *a, const struct gpu_options *o, struct err *e);

/* Whether it can be the name of a node at all. */
bool show_is_name(const char *name);
/* Error that says that a node is not there, with names like it among those of `reports`; always -1. */
int show_no_node(const json_t *reports, const char *name, struct err *e);

#endif
