#include "reconcilers/decide/repair_call_off.h"

#include "base/str.h"

static bool is_held(const struct node_input *in, const struct call_off_case *c)
{
    (void) c;
    return node_is_held(&in->view);
}

static bool is_cordoned(const struct node_input *in, const struct call_off_case *c)
{
    return c->cordon_counts && in->view.node->cordoned;
}

static bool is_ignored(const struct node_input *in, const struct call_off_case *c)
{
    return !c->asked && node_ignores_faults(&in->view);
}

static bool has_no_permission(const struct node_input *in, const struct call_off_case *c)
{
    (void) c;
    return !in->health_spec->repairs;
}

static bool has_another_mode(const struct node_input *in, const struct call_off_case *c)
{
    enum health_mode least = c->asked ? HEALTH_MODE_CLOSE : HEALTH_MODE_REPAIR;
    return in->health_spec->mode < least;
}

static bool has_no_reboot(const struct node_input *in, const struct call_off_case *c)
{
    return c->reboots && in->health_spec->reboot == HEALTH_REBOOT_NONE;
}

static bool is_needless(const struct node_input *in, const struct call_off_case *c)
{
    (void) in;
    return c->needless;
}

static const struct {
    const char *word, *text;
    bool (*applies)(const struct node_input *in, const struct call_off_case *c);
} rows[] = {
    { "Held", "a user holds the node", is_held },
    { "Cordoned", "a user has cordoned the node", is_cordoned },
    { "Ignored", "the node has the label ostler.dev/health=ignore", is_ignored },
    { "NotAllowed", "the administrator no longer allows repairs", has_no_permission },
    { "Mode", "spec.health.mode no longer asks for repairs", has_another_mode },
    { "RebootNotAllowed", "spec.health.reboot no longer allows a reboot", has_no_reboot },
    { "NotNeeded", "the node needs no repair any longer", is_needless },
};

const char *repair_call_off(const struct node_input *in, const struct call_off_case *c)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].applies(in, c))
            return rows[i].word;
    return NULL;
}

const char *repair_call_off_text(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(rows[i].word, word))
            return rows[i].text;
    return "it may not go on";
}
