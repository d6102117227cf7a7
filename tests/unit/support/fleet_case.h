/* A small fleet from a file: a policy, records of revisions, nodes with pods and reports, and what
 * Ostler's last pass found of each node, which the file says itself. Time stands still. */
#ifndef OSTLER_TESTS_SUPPORT_FLEET_CASE_H
#define OSTLER_TESTS_SUPPORT_FLEET_CASE_H

#include "reconcilers/fleet_view.h"
#include "tests/unit/support/testbed.h"

struct fleet_case {
    struct testbed bed;
    struct loop *loop;
    json_t *documents; /* the file */
    struct fleet_source source;
};

/* Members of the file: policy (its spec and status; absent: there is none), records (a list of
 * {hash, inputs}), nodes. A node is a short form of testbed_node(), with `pods` (short forms of
 * testbed_pod()), `report` (the status of its GpuNode) and `is`, the verdict: state, reason,
 * operand, message, pod, next, nextAt, since, gpu, driver, toDriver, stack, toStack, unhealthy;
 * absent: no pass has looked at it yet. */
void fleet_case_open(struct fleet_case *f, const char *path);
/* Another verdict for a node of the case. */
void fleet_case_find(struct fleet_case *f, const char *node, const json_t *is);
void fleet_case_close(struct fleet_case *f);

#endif
