#include "sim/edit_text.h"

#include "base/json.h"
#include "base/str.h"

/* The forms of a description. */
enum form {
    FORM_MANIFEST, /* a user, and the object in the body */
    FORM_OBJECT,   /* a user, and an object */
    FORM_PAIRS,    /* a user, an object, and keys with values */
    FORM_TAINT,    /* a user, an object, and a taint */
    FORM_ITSELF,   /* the named object alone */
};

static const struct {
    enum form form;
    const char *verb;
} deeds[SPEC_DEED_COUNT] = {
    [SPEC_CREATE] = { FORM_MANIFEST, "creates" },
    [SPEC_APPLY] = { FORM_MANIFEST, "applies" },
    [SPEC_EDIT] = { FORM_OBJECT, "edits" },
    [SPEC_DELETE] = { FORM_OBJECT, "deletes" },
    [SPEC_EVICT] = { FORM_OBJECT, "evicts" },
    [SPEC_CORDON] = { FORM_OBJECT, "cordons" },
    [SPEC_UNCORDON] = { FORM_OBJECT, "uncordons" },
    [SPEC_LABEL] = { FORM_PAIRS, "labels" },
    [SPEC_ANNOTATE] = { FORM_PAIRS, "annotates" },
    [SPEC_TAINT] = { FORM_TAINT, "taints" },
    [SPEC_UNTAINT] = { FORM_TAINT, "takes the taint off" },
    [SPEC_REBOOT] = { FORM_ITSELF, "boots anew" },
    [SPEC_NODE_DOWN] = { FORM_ITSELF, "goes down" },
    [SPEC_NODE_UP] = { FORM_ITSELF, "is switched on" },
    [SPEC_NODE_ADD] = { FORM_ITSELF, "is added" },
    [SPEC_NODE_REMOVE] = { FORM_ITSELF, "is removed" },
    [SPEC_CRASH] = { FORM_ITSELF, "crashes" },
    [SPEC_NODE_CUT_OFF] = { FORM_ITSELF, "is cut off" },
    [SPEC_NODE_REJOIN] = { FORM_ITSELF, "is heard of again" },
    [SPEC_LABELLER_RESTART] = { FORM_ITSELF, "starts anew" },
    [SPEC_EDIT_STATUS] = { FORM_OBJECT, "writes into the status of" },
    [SPEC_GPUS_OUT] = { FORM_ITSELF, "loses its GPUs" },
    [SPEC_GPUS_IN] = { FORM_ITSELF, "has its GPUs again" },
    [SPEC_AGENT_SAYS] = { FORM_ITSELF, "has an agent that says what it is told to" },
    [SPEC_AGENT_SILENT] = { FORM_ITSELF, "has an agent that falls silent" },
    [SPEC_AGENT_RESTART] = { FORM_ITSELF, "has an agent that starts anew" },
    [SPEC_KUBELET_RESTART] = { FORM_ITSELF, "has a kubelet that starts anew" },
};

/* "infer-2" for nodes, "daemonsets ostler-operands/exporter" for others. */
static void add_object(const struct spec_action *a, struct buf *out)
{
    if (a->kind && !str_eq(a->kind, "nodes"))
        buf_printf(out, "%s ", a->kind);
    buf_printf(out, "%s%s%s", str_or_empty(a->ns), a->ns ? "/" : "", str_or_empty(a->name));
}

/* As in kubectl: key=value, and key- for a removal. */
static void add_pairs(const json_t *pairs, struct buf *out)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) pairs, key, value)
        buf_printf(out, " %s%s%s", key, json_is_string(value) ? "=" : "-",
                   str_or_empty(json_string_value(value)));
}

static void add_taint(const json_t *taint, struct buf *out)
{
    const char *value = json_str(taint, "value"), *effect = json_str(taint, "effect");
    buf_printf(out, " %s%s%s%s%s", json_str_or_empty(taint, "key"), value ? "=" : "",
               str_or_empty(value), effect ? ":" : "", str_or_empty(effect));
}

void deed_text(const struct spec_action *action, const char *refused, struct buf *out)
{
    enum form form = deeds[action->deed].form;
    const char *verb = deeds[action->deed].verb;
    if (action->deed == SPEC_LABELLER_RESTART)
        buf_str(out, "the labeller");
    else if (form == FORM_ITSELF)
        add_object(action, out);
    else
        buf_str(out, action->user ? action->user : "alice");
    buf_printf(out, " %s", verb);
    if (form == FORM_MANIFEST)
        buf_printf(out, " %s %s", json_str_or_empty(action->body, "kind"),
                   json_str_or_empty(action->body, "metadata.name"));
    if (form == FORM_OBJECT || form == FORM_PAIRS || form == FORM_TAINT) {
        buf_str(out, " ");
        add_object(action, out);
    }
    if (form == FORM_PAIRS)
        add_pairs(action->body, out);
    if (form == FORM_TAINT)
        add_taint(action->body, out);
    if (refused)
        buf_printf(out, " refused: %s", refused);
}
