#include "sim/edit_text.h"

#include "base/json.h"
#include "base/str.h"

static const struct {
    enum spec_form form;
    const char *verb;
} rows[] = {
#define X(id, name, needs, form, verb) [SPEC_##id] = { FORM_##form, verb },
    SPEC_ACTIONS(X)
#undef X
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
    JSON_EACH_MEMBER (key, value, pairs)
        buf_printf(out, " %s%s%s", key, json_is_string(value) ? "=" : "-",
                   str_or_empty(json_string_value(value)));
}

static void add_taint(const json_t *taint, struct buf *out)
{
    const char *value = json_str(taint, "value"), *effect = json_str(taint, "effect");
    buf_printf(out, " %s%s%s%s%s", json_str_or_empty(taint, "key"), value ? "=" : "",
               str_or_empty(value), effect ? ":" : "", str_or_empty(effect));
}

/* Who does it, where that is neither a user nor a machine. */
static const char *const doers[SPEC_VERB_COUNT] = {
    [SPEC_LABELLER_RESTART] = "the labeller",
    [SPEC_FAULTS_BEGIN] = "random faults of GPUs",
    [SPEC_FAULTS_END] = "random faults of GPUs",
};

void action_text(const struct spec_action *action, const char *refused, struct buf *out)
{
    enum spec_form form = rows[action->verb].form;
    const char *verb = rows[action->verb].verb;
    if (action->about && !refused) {
        buf_str(out, action->about);
        return;
    }
    if (doers[action->verb])
        buf_str(out, doers[action->verb]);
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
