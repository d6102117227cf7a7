/* Checks before and after a change of the runtime's configuration that containers start and the
 * node would be Ready. What failed before the change is not checked after it. */
#ifndef OSTLER_NODE_OPERAND_RUNTIME_PROOF_H
#define OSTLER_NODE_OPERAND_RUNTIME_PROOF_H

#include "node/cri/cri.h"

struct runtime_proof {
    /* how to reach the runtime; NULL: it has no such interface, and nothing is checked */
    const struct cri *cri;
    /* the handler that the change adds, with which a container must start as well */
    const char *handler;
    const char *name; /* of the sandboxes; unique for each pod that makes a change */
    int64_t limit_ms; /* time for all checks to pass again */

    /* The state before the change. */
    struct cri_status before;
    const char *cgroup_parent; /* the one with which a container started; NULL: none started */
    bool is_known;             /* the runtime responded */
};

/* Inspects the runtime before the change, and prints on standard error what cannot be checked after
 * it. NULL: checks nothing, here and below. */
void runtime_proof_begin(struct runtime_proof *p);
/* Waits until all that worked before the change works again; an error names what does not. */
int runtime_proof_end(const struct runtime_proof *p, struct err *e);

#endif
