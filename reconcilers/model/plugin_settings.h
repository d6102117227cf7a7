/* The GPU partitioning and sharing that a device plugin configuration asks for, as far as node
 * labels show it. A user writes the text. Anything that the plugin would not accept counts as
 * absent. */
#ifndef OSTLER_RECONCILERS_MODEL_PLUGIN_SETTINGS_H
#define OSTLER_RECONCILERS_MODEL_PLUGIN_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>

enum plugin_sharing { SHARING_NONE, SHARING_TIME_SLICING, SHARING_MPS };

/* How one resource is shared. */
struct plugin_share {
    enum plugin_sharing how;
    unsigned replicas; /* advertised units per unit; 1: not shared */
    /* A shared resource is offered with the suffix ".shared". The plugin ignores a custom name
     * (`rename`) (v0.19.3, api/config/v1/replicas.go: disableResoureRenaming). */
    bool renamed;
};

/* The parsed configuration of a stack revision; NULL: absent or invalid. New reference. */
json_t *plugin_settings_of(const json_t *stack_inputs);
/* The MIG strategy of the plugin: the policy's, or the configuration's if the policy sets none.
 * "none", "single" or "mixed". Static. */
const char *plugin_mig_strategy(const json_t *stack_inputs, const json_t *settings);
/* How a resource (RESOURCE_GPU) is shared; `settings` may be NULL. */
struct plugin_share plugin_share_of(const json_t *settings, const char *resource);
/* Whether the plugin shares any resource this way under these settings. `how` is not SHARING_NONE;
 * `settings` may be NULL. */
bool plugin_shares_by(const json_t *settings, enum plugin_sharing how);
/* "none", "time-slicing", "mps". */
const char *plugin_sharing_name(enum plugin_sharing how);

#endif
