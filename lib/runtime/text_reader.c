#include "runtime/text_reader.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/log.h"
#include "kube/exchange.h"

enum {
    IN_FLIGHT_MAX = 2,
    WAITING_MAX = 64,
    TEXT_MAX = 64 << 10, /* requests ask for less */
};

/* A request for a text. */
struct question {
    TAILQ_ENTRY(question) link;
    struct text_reader *reader;
    char *key;
    struct request request; /* until sent */
    struct exchange exchange;
};

struct text_reader {
    struct text_reader_options o;
    TAILQ_HEAD(, question) questions; /* oldest first; those in flight come first */
    size_t in_flight, waiting;
};

static void question_free(struct question *q)
{
    request_clear(&q->request);
    exchange_cancel(&q->exchange);
    free(q->key);
    free(q);
}

static void text_reader_pump(struct text_reader *r);

static void text_reader_on_reply(void *arg, struct reply *reply)
{
    struct question *q = arg;
    struct text_reader *r = q->reader;
    bool there = reply->err.kind == ERR_NONE;
    if (!there)
        log_debug("cannot read the end of a container's log", "object", q->key, "err",
                  err_msg(&reply->err));
    TAILQ_REMOVE(&r->questions, q, link);
    r->in_flight--;
    r->o.text(r->o.arg, q->key, there ? reply->body : NULL, there ? reply->len : 0);
    question_free(q);
    text_reader_pump(r);
}

static void text_reader_pump(struct text_reader *r)
{
    struct question *q = TAILQ_FIRST(&r->questions);
    for (; q && r->in_flight < IN_FLIGHT_MAX; q = TAILQ_NEXT(q, link)) {
        if (q->exchange.id)
            continue;
        r->waiting--;
        r->in_flight++;
        exchange_send(&q->exchange, q->request);
        q->request = (struct request){ 0 };
    }
}

struct text_reader *text_reader_new(const struct text_reader_options *o)
{
    struct text_reader *r = xcalloc(1, sizeof *r);
    r->o = *o;
    TAILQ_INIT(&r->questions);
    return r;
}

void text_reader_ask(struct text_reader *r, const char *key, struct request request_steal)
{
    if (r->waiting == WAITING_MAX) {
        request_clear(&request_steal);
        return;
    }
    struct question *q = xcalloc(1, sizeof *q);
    *q = (struct question){ .reader = r, .key = xstrdup(key), .request = request_steal };
    q->exchange = (struct exchange){ .transport = r->o.transport,
                                     .done = text_reader_on_reply,
                                     .arg = q,
                                     .body = BUF_INIT(TEXT_MAX) };
    TAILQ_INSERT_TAIL(&r->questions, q, link);
    r->waiting++;
    text_reader_pump(r);
}

void text_reader_free(struct text_reader *r)
{
    if (!r)
        return;
    for (struct question *q; (q = TAILQ_FIRST(&r->questions));) {
        TAILQ_REMOVE(&r->questions, q, link);
        question_free(q);
    }
    free(r);
}
