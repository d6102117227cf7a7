/* What a configuration of the device plugin says of how GPUs are divided and shared, as far as nodes bear labels of it. The text
 * is a person's: what is not as the plugin reads it counts as not said. */
#ifndef OSTLER_RECONCILERS_MODEL_PLUGIN_SETTINGS_H
#define OSTLER_RECONCILERS_MODEL_PLUGIN_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>

enum plugin_sharing { SHARING_NONE, SHARING_TIME_SLICING, SHARING_MPS };

/* How one resource is shared. */
struct plugin_share {
    enum plugin_sharing how;
    unsigned replicas; /* each unit counts for so many; 1: it is not shared */
    /* What is shared is offered with ".shared" after its name. A name of one's own (`rename`) the plugin ignores (v0.19.3,
     * api/config/v1/replicas.go: disableResoureRenaming). */
    bool renamed;
};

/* The configuration of a stack revision, parsed; NULL: it has none, or one that nobody can read. New reference. */
json_t *plugin_settings_of(const json_t *stack_inputs);
/* The MIG strategy that the plugin follows: that of the policy, unless that leaves it to the configuration. "none", "single" or
 * "mixed". Static. */
const char *plugin_mig_strategy(const json_t *stack_inputs, const json_t *settings);
/* How a resource (RESOURCE_GPU) is shared; `settings` may be NULL. */
struct plugin_share plugin_share_of(const json_t *settings, const char *resource);
/* Whether the plugin shares any resource in this way with them. `how` is not SHARING_NONE; `settings` may be NULL. */
bool plugin_shares_by(const json_t *settings, enum plugin_sharing how);
/* "none", "time-slicing", "mps". */
const char *plugin_sharing_name(enum plugin_sharing how);

#endif
