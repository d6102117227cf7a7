/* k3s and RKE2 whose data are in a folder of their own choice: which one, as their units and configurations name it. */
#ifndef OSTLER_NODE_INVENTORY_RANCHER_H
#define OSTLER_NODE_INVENTORY_RANCHER_H

#include "node/inventory/text.h"
#include "node/inventory/view.h"

/* Longest path of a configuration that is taken. */
enum { RANCHER_PATH_MAX = 127 };

/* The configuration of containerd in the folder that "k3s" or "rke2" was told; NULL: it was told none, or has none there. What
 * stands in the unit counts before what stands in the configuration, as it does for them. */
const char *rancher_config(const struct view *v, const char *distribution);
/* The folder that a unit's command line names; of length 0: it names none. */
struct part rancher_folder_of_unit(struct part text);
/* The same of a configuration. */
struct part rancher_folder_of_config(struct part text);

#endif
