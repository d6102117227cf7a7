#include "runtime/text_reader.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/log.h"

enum {
    IN_FLIGHT_MAX = 2,
    WAITING_MAX = 64,
    TEXT_MAX = 64 << 10, /* requests ask for less */
};

/* One question. */
struct question {
    struct question *next;
    struct text_reader *reader;
    char *key;
    struct request request;
    uint64_t id; /* in flight; 0: it waits */
    struct buf answer;
};

struct text_reader {
    struct text_reader_options o;
    struct question *head; /* oldest first; those in flight before those that wait */
    size_t in_flight, waiting;
};

static void question_free(struct question *q)
{
    request_clear(&q->request);
    buf_clear(&q->answer);
    free(q->key);
    free(q);
}

static void unlink_question(struct text_reader *r, const struct question *q)
{
    struct question **at = &r->head;
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
}

static int on_bytes(void *arg, const char *bytes, size_t n)
{
    struct question *q = arg;
    return buf_add(&q->answer, bytes, n) ? 0 : -1;
}

static void pump(struct text_reader *r);

static void on_done(void *arg, const struct transport_result *result)
{
    struct question *q = arg;
    struct text_reader *r = q->reader;
    bool there = result->err.kind == ERR_NONE && result->status == 200;
    if (!there)
        log_debug("cannot read the end of a container's log", "object", q->key, "err",
                  result->err.kind != ERR_NONE ? err_msg(&result->err) : "refused");
    unlink_question(r, q);
    r->in_flight--;
    r->o.text(r->o.arg, q->key, there ? buf_text(&q->answer) : NULL, there ? q->answer.len : 0);
    question_free(q);
    pump(r);
}

static void pump(struct text_reader *r)
{
    for (struct question *q = r->head; q && r->in_flight < IN_FLIGHT_MAX; q = q->next) {
        struct transport_sink sink = { NULL, on_bytes, on_done, q };
        if (q->id)
            continue;
        r->waiting--;
        r->in_flight++;
        q->id = transport_submit(r->o.transport, &q->request, &sink);
    }
}

struct text_reader *text_reader_new(const struct text_reader_options *o)
{
    struct text_reader *r = xcalloc(1, sizeof *r);
    r->o = *o;
    return r;
}

void text_reader_ask(struct text_reader *r, const char *key, struct request request_steal)
{
    if (r->waiting == WAITING_MAX) {
        request_clear(&request_steal);
        return;
    }
    struct question *q = xcalloc(1, sizeof *q), **end = &r->head;
    *q = (struct question){ .reader = r, .key = xstrdup(key), .request = request_steal };
    q->answer = (struct buf) BUF_INIT(TEXT_MAX);
    while (*end)
        end = &(*end)->next;
    *end = q;
    r->waiting++;
    pump(r);
}

void text_reader_free(struct text_reader *r)
{
    if (!r)
        return;
    while (r->head) {
        struct question *q = r->head;
        r->head = q->next;
        if (q->id)
            transport_cancel(r->o.transport, q->id);
        question_free(q);
    }
    free(r);
}
