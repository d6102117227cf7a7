#include "kubectl/ask.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/signals.h"
#include "base/str.h"
#include "client/session.h"
#include "controller/options.h"
#include "reconcilers/model/names.h"

/* Limit of a response about one object or text; and the clock difference that is ignored. */
enum { ANSWER_MAX = 32 << 20, CLOCKS_APART_US = 5 * 1000000 };

struct ask {
    struct session session;
    int64_t timeout_ms;
    char *namespace;  /* NULL: not known yet */
    int64_t ahead_us; /* how far the API server's clock is ahead of ours; 0: ignored */
    int signals;      /* -1: signals are not taken */
    bool stopped;
};

/* A fetch in flight. */
struct flight {
    struct ask *ask;
    struct fetch *fetch;
    struct exchange exchange;
    int64_t answered_us; /* our clock when the response began */
    struct split split;
    struct buf text; /* of a fetch of a text: its end, and some more */
    bool lists, done;
};

/* ---- the client */

struct ask *ask_open(const struct gpu_options *o, struct err *e)
{
    struct ask *a = xcalloc(1, sizeof *a);
    const struct session_options so = { o->kubeconfig, o->context, "kubectl-gpu", ostler_version };
    a->signals = -1;
    a->timeout_ms = o->request_timeout_ms;
    a->namespace = xstrdup_or_null(o->namespace);
    if (session_open(&a->session, &so, e) == 0)
        return a;
    ask_free(a);
    return NULL;
}

int ask_take_signals(struct ask *a, struct err *e)
{
    /* A closed terminal also ends the program, except under nohup. */
    struct sigaction closed;
    bool ignored = sigaction(SIGHUP, NULL, &closed) == 0 && closed.sa_handler == SIG_IGN;
    a->signals = signals_open(ignored ? 0 : SIGHUP, e);
    return a->signals < 0 ? -1 : 0;
}

bool ask_stopped(const struct ask *a)
{
    return a->stopped;
}

int64_t ask_now_us(const struct ask *a)
{
    return clock_wall_us(&a->session.clock) + a->ahead_us;
}

const char *ask_cluster(const struct ask *a)
{
    return a->session.config.description;
}

void ask_free(struct ask *a)
{
    if (!a)
        return;
    session_close(&a->session);
    if (a->signals >= 0)
        close(a->signals);
    free(a->namespace);
    free(a);
}

/* Waits for work, at most until the clock reaches `until`. */
static void turn(struct ask *a, int64_t until)
{
    a->stopped |= http_wait(a->session.http, until, a->signals);
}

bool ask_wait(struct ask *a, int64_t ms)
{
    int64_t until = clock_mono_ms(&a->session.clock) + ms;
    while (!a->stopped && clock_mono_ms(&a->session.clock) < until)
        turn(a, until);
    return !a->stopped;
}

/* ---- responses */

static void ask_submit(struct flight *f, const char *token);

/* Leaves out an unreadable item, with one warning per list. */
static void leave_out(struct fetch *fetch)
{
    if (fetch->unreadable++ == 0)
        fprintf(
            stderr,
            "kubectl gpu: warning: an object in the list of %s cannot be read and is left out\n",
            resource_name(fetch->resource));
}

static int take_item(void *arg, const char *text, size_t len, struct err *e)
{
    (void) e;
    struct flight *f = arg;
    json_t *object = json_parse_stored(text, len, NULL);
    if (object)
        json_array_append_new(f->fetch->ret, object);
    else
        leave_out(f->fetch);
    return 0;
}

static int take_bad_item(void *arg, const char *text, size_t len, const struct err *why,
                         struct err *e)
{
    (void) text, (void) len, (void) why, (void) e;
    leave_out(((struct flight *) arg)->fetch);
    return 0;
}

static void ask_on_begin(void *arg)
{
    struct flight *f = arg;
    f->answered_us = clock_wall_us(&f->ask->session.clock);
}

static int take_page(void *arg, const char *bytes, size_t n)
{
    struct flight *f = arg;
    return split_feed(&f->split, bytes, n, &f->fetch->e);
}

static void keep_end(struct flight *f, size_t len)
{
    if (f->text.len <= len)
        return;
    f->fetch->cut = true;
    buf_consume(&f->text, f->text.len - len);
}

static int ask_take_text(void *arg, const char *bytes, size_t n)
{
    struct flight *f = arg;
    size_t max = f->fetch->text_max, kept = n < max ? n : max;
    f->fetch->cut |= kept < n;
    /* The buffer is twice as large, so that not every piece moves it. */
    if (f->text.len + kept > f->text.max)
        keep_end(f, max - kept);
    return buf_add(&f->text, bytes + (n - kept), kept) ? 0 : -1;
}

/* Ends a page: requests the next one, if there is one. */
static int end_page(struct flight *f)
{
    if (!split_complete(&f->split))
        return err_set(&f->fetch->e, ERR_INVALID, "the answer of the API server is incomplete");
    const struct buf *envelope = split_envelope(&f->split);
    CLEANUP_JSON json_t *list = json_parse(buf_text(envelope), envelope->len, &f->fetch->e);
    const char *token = json_str(list, "metadata.continue");
    if (!list)
        return -1;
    if (!token || !*token)
        return 0;
    ask_submit(f, token);
    return 1;
}

static json_t *whole(struct flight *f, struct reply *reply)
{
    const struct split_view view = { .paths = f->fetch->left_out };
    if (!f->fetch->text_max)
        return reply_object(reply, &view);
    keep_end(f, f->fetch->text_max);
    return json_stringn_nocheck(buf_text(&f->text), f->text.len);
}

/* Date has whole seconds: take the middle. */
static void learn_time(const struct flight *f, const struct transport_result *result)
{
    int64_t ahead_us = result->date_s * 1000000 + 500000 - f->answered_us;
    if (result->date_s)
        f->ask->ahead_us = llabs(ahead_us) > CLOCKS_APART_US ? ahead_us : 0;
}

static void ask_on_reply(void *arg, struct reply *reply)
{
    struct flight *f = arg;
    struct fetch *fetch = f->fetch;
    learn_time(f, reply->result);
    /* An unreadable item is the more specific error. */
    bool is_answer = fetch->e.kind == ERR_NONE && reply->err.kind == ERR_NONE;
    if (is_answer && f->lists && end_page(f) > 0)
        return;
    if (is_answer && !f->lists)
        fetch->ret = whole(f, reply);
    if (fetch->e.kind == ERR_NONE)
        fetch->e = err_take(&reply->err);
    if (fetch->e.kind != ERR_NONE)
        json_decref(TAKE(fetch->ret));
    f->done = true;
}

/* ---- requests */

static struct request ask_request_of(const struct fetch *f, const char *token)
{
    return f->name ? request_get(f->resource, f->in.ns, f->name)
                   : request_list(f->resource, &f->in, token);
}

/* `token`: from the previous page; NULL: the first page. */
static void ask_submit(struct flight *f, const char *token)
{
    struct request r = f->fetch->request.path ? f->fetch->request : ask_request_of(f->fetch, token);
    f->fetch->request = (struct request){ 0 };
    r.timeout_ms = f->fetch->timeout_ms ? f->fetch->timeout_ms : f->ask->timeout_ms;
    split_clear(&f->split);
    split_init(&f->split, SPLIT_LIST, &(struct split_view){ .paths = f->fetch->left_out },
               take_item, f);
    f->split.on_bad = take_bad_item;
    exchange_send(&f->exchange, r);
}

static void ask_begin(struct ask *a, struct flight *f, struct fetch *fetch)
{
    *f = (struct flight){ .ask = a,
                          .fetch = fetch,
                          .text = BUF_INIT(2 * fetch->text_max),
                          .done = fetch->unwanted,
                          .lists = !fetch->name && !fetch->request.path };
    f->exchange = (struct exchange){ .transport = &a->session.transport,
                                     .done = ask_on_reply,
                                     .arg = f,
                                     .began = ask_on_begin,
                                     .feed = f->lists          ? take_page
                                             : fetch->text_max ? ask_take_text
                                                               : NULL,
                                     .body = BUF_INIT(ANSWER_MAX) };
    if (fetch->unwanted)
        return;
    if (f->lists)
        fetch->ret = json_array();
    ask_submit(f, NULL);
}

static bool all_done(const struct flight *flights, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!flights[i].done)
            return false;
    return true;
}

static void ask_end(struct flight *f)
{
    exchange_cancel(&f->exchange);
    if (!f->done) {
        json_decref(TAKE(f->fetch->ret));
        err_set(&f->fetch->e, ERR_TIMEOUT, "stopped by a signal");
    }
    split_clear(&f->split);
    buf_clear(&f->text);
}

void ask_all(struct ask *a, struct fetch *fetches, size_t count)
{
    CLEANUP_FREE struct flight *flights = xcalloc(count, sizeof *flights);
    for (size_t i = 0; i < count; i++)
        ask_begin(a, &flights[i], &fetches[i]);
    while (!all_done(flights, count) && !a->stopped)
        turn(a, INT64_MAX);
    for (size_t i = 0; i < count; i++)
        ask_end(&flights[i]);
}

int ask_one(struct ask *a, struct request request_steal, json_t **ret, struct err *e)
{
    struct fetch f = { .request = request_steal };
    ask_all(a, &f, 1);
    *ret = TAKE(f.ret);
    if (e)
        err_clear(e);
    if (!*ret && e)
        *e = err_take(&f.e);
    int rc = *ret ? 0 : -1;
    fetches_clear(&f, 1);
    return rc;
}

const char *ask_namespace(struct ask *a, struct err *e)
{
    static const char fit[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    struct fetch claim = { .resource = RESOURCE_LEASE,
                           .name = CLUSTER_LEASE_NAME,
                           .in = { .ns = CLUSTER_LEASE_NAMESPACE } };
    if (a->namespace)
        return a->namespace;
    ask_all(a, &claim, 1);
    const char *holder = json_str_or_empty(claim.ret, "spec.holderIdentity");
    if (claim.ret || claim.e.kind == ERR_NOT_FOUND) {
        a->namespace = xstrdup(*holder && strlen(holder) == strspn(holder, fit) ? holder
                                                                                : OSTLER_NAMESPACE);
    } else {
        *e = err_take(&claim.e);
        err_wrap(e, "cannot find the namespace of Ostler without the Lease " CLUSTER_LEASE_NAMESPACE
                    "/" CLUSTER_LEASE_NAME " (or give it with -n NAME)");
    }
    fetches_clear(&claim, 1);
    return a->namespace;
}

void fetches_clear(struct fetch *fetches, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_decref(TAKE(fetches[i].ret));
        err_clear(&fetches[i].e);
        request_clear(&fetches[i].request);
    }
}
