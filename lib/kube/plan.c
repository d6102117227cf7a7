#include "kube/plan.h"

#include <stdarg.h>
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

void plan_add(struct plan *p, struct request request_steal, enum verb verb, const char *target,
              const char *reason, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    p->actions = xreallocarray(p->actions, p->len + 1, sizeof *p->actions);
    p->actions[p->len++] = (struct action){
        .request = request_steal, .verb = verb, .target = xstrdup(target), .reason = reason, .message = message
    };
}

void plan_notice(struct plan *p, const struct notice *n)
{
    p->notices = xreallocarray(p->notices, p->notice_count + 1, sizeof *p->notices);
    struct notice *copy = &p->notices[p->notice_count++];
    *copy = *n;
    copy->name = xstrdup(n->name);
    copy->uid = xstrdup(n->uid);
    copy->note = xstrdup(n->note);
}

void plan_requeue(struct plan *p, int64_t after_ms)
{
    if (after_ms < 1)
        after_ms = 1; /* due already; 0 would mean never */
    if (!p->requeue_after_ms || after_ms < p->requeue_after_ms)
        p->requeue_after_ms = after_ms;
}

void plan_text(const struct plan *p, struct buf *out)
{
    for (size_t i = 0; i < p->len; i++)
        buf_printf(out, "%s %s %s: %s\n", verb_text(p->actions[i].verb), p->actions[i].target,
                   p->actions[i].reason, p->actions[i].message);
}

/* Frees what one action owns. */
static void action_clear(struct action *a)
{
    request_clear(&a->request);
    free(a->target);
    free(a->message);
}

void plan_clear(struct plan *p)
{
    for (size_t i = 0; i < p->len; i++)
        action_clear(&p->actions[i]);
    free(p->actions);
    for (size_t i = 0; i < p->notice_count; i++) {
        free(p->notices[i].name);
        free(p->notices[i].uid);
        free(p->notices[i].note);
    }
    free(p->notices);
    *p = (struct plan){ 0 };
}
