#include "reconcilers/rollout_unclear.h"

#include <string.h>

#include "base/mem.h"
#include "reconcilers/model/action.h"

#define TARGET "node/"

void rollout_unclear_look(const struct cluster *c, struct actions *actions)
{
    for (size_t i = 0; i < c->slots.len; i++) {
        const struct node_slot *slot = c->by_name[i];
        if (!slot->unclear)
            continue;
        CLEANUP_FREE char *selector = xasprintf("metadata.name=%s", slot->name),
                          *target = xasprintf(TARGET "%s", slot->name);
        action_add(
            actions,
            request_look(RESOURCE_NODE, &(struct list_options){ .field_selector = selector }),
            VERB_LOOK, target, REASON_OUTCOME_UNKNOWN,
            "lists the node, since it is not known what became of a write of its claim");
    }
}

/* A refused write leaves what is known of the node as it was. */
static void take_effect(struct node_slot *slot, enum action_effect effect)
{
    if (effect == ACTION_UNCLEAR)
        slot->unclear = true;
    else if (effect == ACTION_SHOWN)
        slot->unclear = false;
}

void rollout_unclear_take(struct cluster *c, const struct actions *done)
{
    for (size_t i = 0; i < done->len; i++) {
        const struct action *a = &done->items[i];
        struct node_slot *slot = a->request.resource == RESOURCE_NODE
                                     ? map_get(&c->slots, a->target + strlen(TARGET))
                                     : NULL;
        if (slot)
            take_effect(slot, a->effect);
    }
}
