#include "kube/actions.h"

#include <stdlib.h>

#include "base/buf.h"

const char *verb_text(enum verb v)
{
    static const char *const texts[] = {
#define X(id, text) [VERB_##id] = text,
        VERBS(X)
#undef X
    };
    return texts[v];
}

void actions_add(struct actions *p, struct request request_steal, enum verb verb,
                 const char *target, const char *reason, const char *fmt, ...)
{
    char *message = FORMATTED(fmt);
    p->items = xreallocarray(p->items, p->len + 1, sizeof *p->items);
    p->items[p->len++] = (struct action){ .request = request_steal,
                                          .verb = verb,
                                          .target = xstrdup(target),
                                          .reason = reason,
                                          .message = message };
}

void actions_add_notice(struct actions *p, const struct notice *n)
{
    p->notices = xreallocarray(p->notices, p->notice_count + 1, sizeof *p->notices);
    struct notice *copy = &p->notices[p->notice_count++];
    *copy = *n;
    copy->name = xstrdup(n->name);
    copy->uid = xstrdup(n->uid);
    copy->note = xstrdup(n->note);
}

void actions_requeue(struct actions *p, int64_t after_ms)
{
    if (after_ms < 1)
        after_ms = 1; /* already due; 0 would mean never */
    if (!p->requeue_after_ms || after_ms < p->requeue_after_ms)
        p->requeue_after_ms = after_ms;
}

void actions_text(const struct actions *p, struct buf *out)
{
    for (size_t i = 0; i < p->len; i++)
        buf_printf(out, "%s %s %s: %s\n", verb_text(p->items[i].verb), p->items[i].target,
                   p->items[i].reason, p->items[i].message);
}

static void action_clear(struct action *a)
{
    request_clear(&a->request);
    free(a->target);
    free(a->message);
}

void actions_clear(struct actions *p)
{
    for (size_t i = 0; i < p->len; i++)
        action_clear(&p->items[i]);
    free(p->items);
    for (size_t i = 0; i < p->notice_count; i++) {
        free(p->notices[i].name);
        free(p->notices[i].uid);
        free(p->notices[i].note);
    }
    free(p->notices);
    *p = (struct actions){ 0 };
}
