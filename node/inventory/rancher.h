/* Finds the containerd configuration of k3s and RKE2 if they use a custom data directory, from
 * their units and configurations. */
#ifndef OSTLER_NODE_INVENTORY_RANCHER_H
#define OSTLER_NODE_INVENTORY_RANCHER_H

#include "node/inventory/text.h"
#include "node/inventory/view.h"

/* Longest accepted path of a configuration. */
enum { RANCHER_PATH_MAX = 127 };

/* The containerd configuration in the custom data directory of "k3s" or "rke2"; NULL: no custom
 * directory, or no configuration in it. As in those programs, the unit overrides the
 * configuration. */
const char *rancher_config(const struct view *v, const char *distribution);
/* The directory in a unit's command line; length 0: none. */
struct part rancher_folder_of_unit(struct part text);
/* The directory in a configuration; length 0: none. */
struct part rancher_folder_of_config(struct part text);

#endif
