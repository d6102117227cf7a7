/* What targets ask about the cluster: revisions that pools hold on to, and configurations of the device plugin. */
#ifndef OSTLER_RECONCILERS_TARGETS_SOURCES_H
#define OSTLER_RECONCILERS_TARGETS_SOURCES_H

#include "reconcilers/cluster.h"

/* The questions, to be answered by this cluster, which is borrowed. */
struct target_sources targets_sources(struct cluster *c);
/* The targets of the valid policy, worked out when first asked for; NULL without a valid policy. Borrowed. */
struct targets *cluster_targets(struct cluster *c);

#endif
