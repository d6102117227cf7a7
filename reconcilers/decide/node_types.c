#include "reconcilers/decide/node_types.h"

static const struct {
    const char *name;
    bool served;
} states[NODE_STATE_COUNT] = {
#define X(id, name, served) [NODE_##id] = { name, served },
    NODE_STATES(X)
#undef X
};

const char *node_state_name(enum node_state s)
{
    return states[s].name;
}

bool node_state_served(enum node_state s)
{
    return states[s].served;
}

bool node_state_taken(enum node_state s)
{
    return node_state_served(s) || s == NODE_LOST;
}

const char *verdict_word(const struct node_verdict *v)
{
    return reason_word(v->reason, v->word);
}
