/* Whether containers start and the node would be Ready, before and after a change of the runtime's configuration. What was not
 * so before is not asked for after: that is not the change's fault. */
#ifndef OSTLER_NODE_OPERAND_RUNTIME_PROOF_H
#define OSTLER_NODE_OPERAND_RUNTIME_PROOF_H

#include "node/cri/cri.h"

struct runtime_proof {
    const struct cri *cri; /* how the runtime is asked; NULL: it has no such interface, and nothing is proven */
    const char *handler;   /* what the change adds, with which a container has to start as well */
    const char *name;      /* of the sandboxes: another one for each pod that makes a change */
    int64_t limit_ms;      /* until all of it is so again */

    /* What was so before. */
    struct cri_status before;
    const char *cgroup_parent; /* with which a container started; NULL: none did */
    bool is_known;             /* the runtime was asked */
};

/* Looks at the runtime before the change, and says on standard error what cannot be proven after it. NULL proves nothing, here
 * and below. */
void runtime_proof_begin(struct runtime_proof *p);
/* Waits until what was so before the change is so again: an error says what is not. */
int runtime_proof_end(const struct runtime_proof *p, struct err *e);

#endif
