#include "kube/condition.h"

#include "base/json.h"
#include "base/str.h"

const json_t *condition_find(const json_t *conditions, const char *type)
{
    return json_find(conditions, "type", type);
}

const char *condition_status(const json_t *conditions, const char *type)
{
    return json_str_or_empty(condition_find(conditions, type), "status");
}

const json_t *condition_of(const json_t *object, const char *type)
{
    return condition_find(json_at(object, "status.conditions"), type);
}

bool condition_is_true(const json_t *object, const char *type)
{
    return str_eq(json_str(condition_of(object, type), "status"), "True");
}

json_t *condition_json(const struct condition *c, const json_t *previous, int64_t generation,
                       const char *now_text)
{
    const json_t *before = condition_find(previous, c->type);
    const char *since = str_eq(json_str(before, "status"), c->status)
                            ? json_str(before, "lastTransitionTime")
                            : NULL;
    CLEANUP_FREE char *message = str_shortened(c->message, CONDITION_MESSAGE_MAX);
    return json_pack("{s:s, s:s, s:I, s:s, s:s, s:o}", "type", c->type, "status", c->status,
                     "observedGeneration", (json_int_t) generation, "lastTransitionTime",
                     since ? since : now_text, "reason", c->reason, "message", json_text(message));
}
