#include "reconcilers/model/action.h"

#include "base/mem.h"

void action_add(struct actions *p, struct request request_steal, enum verb verb, const char *target,
                enum reason reason, const char *fmt, ...)
{
    CLEANUP_FREE char *message = FORMATTED(fmt);
    actions_add(p, request_steal, verb, target, reason_text(reason), "%s", message);
    p->items[p->len - 1].why = (int) reason;
}

enum reason action_reason(const struct action *a)
{
    return (enum reason) a->why;
}
