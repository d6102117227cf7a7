/* Checks Ostler's prerequisites: at the start, on leading, when reading policies fails or
 * recovers, and every few seconds during a problem. It sends one request at a time. A part that
 * it may not read counts as good. */
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/engine/engine_state.h"
#include "reconcilers/model/names.h"

enum {
    RETRY_MS = 1000,
    /* During a problem. */
    AGAIN_MS = 10 * 1000,
    /* Successive triggers within this time cause one check. */
    APART_MS = 2 * 1000,
    ANSWER_MAX = 4 * 1024 * 1024,
};

static void engine_prerequisites_ask(struct engine *en);

static struct request engine_prerequisites_request_of(const struct engine *en)
{
    static const char *const crds[PREREQUISITES_PARTS] = {
        [PREREQUISITES_POLICIES] = CRD_POLICY,
        [PREREQUISITES_REPORTS] = CRD_GPU_NODE,
    };
    if (en->look.part == PREREQUISITES_SERVER)
        return request_version();
    if (en->look.part == PREREQUISITES_RIGHTS)
        return request_rules_review(en->o.cluster.operand_namespace);
    if (crds[en->look.part])
        return request_get(RESOURCE_CRD, NULL, crds[en->look.part]);
    return request_get(RESOURCE_NAMESPACE, NULL, en->o.cluster.operand_namespace);
}

static void engine_prerequisites_log(const struct prerequisite_problem *p)
{
    if (p)
        log_error("a prerequisite of Ostler is missing or wrong", "reason", reason_text(p->reason),
                  "err", p->message);
    else
        log_info("all prerequisites of Ostler are met again");
}

/* Records the result for a part; false if there was none. */
static bool engine_prerequisites_take(struct engine *en, const json_t *answer, const struct err *e)
{
    struct prerequisites_check *l = &en->look;
    if (outage_is_general(e->kind))
        return false;
    if (e->kind == ERR_FORBIDDEN && !l->refused)
        l->refused = xstrdup(err_msg(e));
    bool said = e->kind == ERR_NONE || e->kind == ERR_NOT_FOUND;
    bool news = said ? prerequisites_take(&en->prerequisites, l->part, answer,
                                          en->o.cluster.operand_namespace)
                     : prerequisites_forget(&en->prerequisites, l->part);
    if (news)
        engine_prerequisites_log(prerequisites_of(&en->prerequisites, l->part));
    l->news |= news;
    return true;
}

static void wait_for(struct engine *en, int64_t ms)
{
    loop_timer_set(en->o.loop, &en->look.due, loop_now(en->o.loop) + ms);
}

/* Ends a check of all parts. */
static void engine_prerequisites_finish(struct engine *en)
{
    struct prerequisites_check *l = &en->look;
    bool news = l->news || !l->known;
    l->part = PREREQUISITES_SERVER;
    l->news = false;
    l->known = true;
    l->looked_ms = loop_now(en->o.loop);
    if (l->refused && !str_eq(l->refused, l->forbidden))
        log_warn("cannot read all prerequisites of Ostler", "err", l->refused);
    free(l->forbidden);
    l->forbidden = TAKE(l->refused);
    if (l->again)
        wait_for(en, APART_MS);
    else if (prerequisites_worst(&en->prerequisites) || l->forbidden)
        wait_for(en, AGAIN_MS);
    l->again = false;
    if (news)
        engine_on_prerequisites(en);
}

/* The part of an answer that counts. The spec of the reports' CRD, which shows its fields, is 40
 * KiB; only a CRD that is too old needs it. */
static json_t *engine_prerequisites_read(enum prerequisite part, struct reply *reply)
{
    static const char *const unread[] = { "spec", "status", "metadata.managedFields", NULL };
    static const struct split_view of_objects = { .paths = unread },
                                   with_spec = { .paths = unread + 1 };
    json_t *answer = reply_object(reply, part == PREREQUISITES_RIGHTS ? NULL : &of_objects);
    if (part != PREREQUISITES_REPORTS || !answer || prerequisites_crd_fits(answer))
        return answer;
    json_decref(answer);
    return reply_object(reply, &with_spec);
}

static void engine_prerequisites_on_reply(void *arg, struct reply *reply)
{
    struct engine *en = arg;
    struct prerequisites_check *l = &en->look;
    CLEANUP_JSON json_t *answer = engine_prerequisites_read(l->part, reply);
    if (!engine_prerequisites_take(en, answer, &reply->err)) {
        wait_for(en, RETRY_MS);
        return;
    }
    l->part++;
    if (l->part == PREREQUISITES_PARTS)
        engine_prerequisites_finish(en);
    else
        engine_prerequisites_ask(en);
}

static void engine_prerequisites_ask(struct engine *en)
{
    exchange_send(&en->look.exchange, engine_prerequisites_request_of(en));
}

static void engine_prerequisites_on_due(void *arg)
{
    struct engine *en = arg;
    if (!en->look.exchange.id && !en->stopping)
        engine_prerequisites_ask(en);
}

void engine_prerequisites_init(struct engine *en)
{
    en->look = (struct prerequisites_check){ .exchange = { .transport = en->o.transport,
                                                           .done = engine_prerequisites_on_reply,
                                                           .arg = en,
                                                           .body = BUF_INIT(ANSWER_MAX) },
                                             .due = { .fn = engine_prerequisites_on_due,
                                                      .arg = en } };
    /* A cleanup does not need the prerequisites. */
    en->look.known = en->o.cleanup;
}

void engine_prerequisites_check(struct engine *en)
{
    struct prerequisites_check *l = &en->look;
    int64_t since_ms = loop_now(en->o.loop) - l->looked_ms;
    if (en->o.cleanup || en->stopping || (!l->known && l->began))
        return;
    l->began = true;
    if (l->exchange.id || l->part != PREREQUISITES_SERVER)
        l->again = true;
    else if (!l->known || since_ms >= APART_MS)
        engine_prerequisites_ask(en);
    else
        wait_for(en, APART_MS - since_ms);
}

void engine_prerequisites_clear(struct engine *en)
{
    exchange_cancel(&en->look.exchange);
    loop_timer_cancel(en->o.loop, &en->look.due);
    free(TAKE(en->look.refused));
    free(TAKE(en->look.forbidden));
    prerequisites_clear(&en->prerequisites);
}
