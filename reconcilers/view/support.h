/* What a support ticket of NVIDIA or of a machine's vendor asks for, of one node whose GPUs have a
 * fault: only what the GpuNode has. Pure. */
#ifndef OSTLER_RECONCILERS_VIEW_SUPPORT_H
#define OSTLER_RECONCILERS_VIEW_SUPPORT_H

#include "reconcilers/view/snapshot.h"

/* Whether a ticket may be needed: Ostler reports a fault of the node's GPUs, or its kernel log has
 * one. */
bool support_is_needed(const json_t *report);
/* Hardware, driver, the faults with their meaning, what Ostler did, Events, as text. `snapshot` is
 * of one node. */
void support_print(const json_t *snapshot, const struct paint *p, struct buf *out);
/* The commands that collect the rest on the node, as text: NVIDIA's nvidia-bug-report.sh. */
void support_print_commands(const json_t *snapshot, const struct paint *p, struct buf *out);

#endif
