/* What a cluster needs and a test is not about: a clock that stands still, a listener that does
 * nothing, and objects that the server has. */
#ifndef OSTLER_TESTS_SUPPORT_QUIET_H
#define OSTLER_TESTS_SUPPORT_QUIET_H

#include "reconcilers/cluster.h"

enum { QUIET_MONO_MS = 100 * 1000 };
/* 2026-11-20T10:00:00Z. */
#define QUIET_WALL_US INT64_C(1795168800000000)

extern const struct clock quiet_clock;
extern const struct cluster_listener quiet_listener;

/* The server tells of an object (as text, with ' for ") that has come, has changed or is gone. */
void quiet_event(struct cluster *c, enum resource_id resource, const char *text, bool deleted);

#endif
