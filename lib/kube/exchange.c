#include "kube/exchange.h"

#include "kube/reply.h"

static void on_status(void *arg, int status)
{
    struct exchange *x = arg;
    x->status = status;
    if (x->began)
        x->began(x->arg);
}

static int on_bytes(void *arg, const char *bytes, size_t n)
{
    struct exchange *x = arg;
    if (x->feed && x->status < 300)
        return x->feed(x->arg, bytes, n);
    if (x->lost || buf_add(&x->body, bytes, n))
        return 0;
    x->lost = x->loses;
    buf_clear(&x->body);
    return x->loses ? 0 : -1;
}

static void on_done(void *arg, const struct transport_result *result)
{
    struct exchange *x = arg;
    /* Reset the state first: the callback may send again or free the exchange. */
    CLEANUP_BUF struct buf body = x->body;
    x->body = (struct buf) BUF_INIT(body.max);
    x->id = 0;
    struct reply reply = { .result = result, .body = buf_text(&body), .len = body.len };
    reply_take(result, reply.body, reply.len, &reply.err);
    x->done(x->arg, &reply);
    err_clear(&reply.err);
}

void exchange_send(struct exchange *x, struct request request_steal)
{
    const struct transport_sink sink = { on_status, on_bytes, on_done, x };
    x->status = 0;
    x->lost = false;
    x->id = transport_submit(x->transport, &request_steal, &sink);
}

void exchange_cancel(struct exchange *x)
{
    if (x->id)
        transport_cancel(x->transport, x->id);
    x->id = 0;
    buf_clear(&x->body);
}

json_t *reply_object(struct reply *reply, const struct split_view *view)
{
    return reply->err.kind == ERR_NONE ? split_object(reply->body, reply->len, view, &reply->err)
                                       : NULL;
}
