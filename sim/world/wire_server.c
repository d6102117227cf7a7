/* The server's side of the simulated network: requests arrive, and their responses go back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/world/wire_state.h"

int64_t wire_latency(struct wire *w)
{
    return rng_between(&w->latency, w->o.latency_min_ms, w->o.latency_max_ms);
}

/* ---- failures of responses */

/* How a response comes to its client. */
struct arrival {
    bool has_status; /* the client sees the status */
    enum err_kind kind;
    const char *message; /* NULL: it is whole */
};

static const struct arrival answered = { .has_status = true };
static const struct arrival halved = { true, ERR_UNREACHABLE, "the answer broke off" };
static const struct arrival was_reset = { false, ERR_UNREACHABLE, "the connection was reset" };
static const struct arrival refused = { false, ERR_UNREACHABLE, "the connection was refused" };
static const struct arrival expired = { false, ERR_TIMEOUT, "no answer in time" };

static void on_arrival(void *arg)
{
    struct flight *f = arg;
    const struct arrival *a = f->arrival;
    f->status_due = f->status_due || a->has_status;
    if (a == &answered && f->result.status == 401)
        flight_end(f, 401, ERR_UNAUTHORIZED, "the credentials are rejected");
    else
        flight_end(f, f->result.status, a->kind, a->message);
}

static void arrives_at(struct flight *f, const struct arrival *arrival, int64_t at_ms)
{
    f->arrival = arrival;
    f->event.fn = on_arrival;
    sim_at(f->wire->o.sim, &f->event, at_ms);
}

static void lose(struct flight *f)
{
    struct wire *w = f->wire;
    arrives_at(f, &expired, f->deadline_ms);
    if (f->deadline_ms > w->counts.lost_until_ms)
        w->counts.lost_until_ms = f->deadline_ms;
}

/* Happens after the way back; a client that times out before does not see it. */
static void back(struct flight *f, const struct arrival *arrival, int64_t delay_ms)
{
    int64_t at = f->wire->o.sim->now_ms + delay_ms + wire_latency(f->wire);
    if (at > f->deadline_ms) {
        f->result.status = 0;
        buf_reset(&f->bytes);
        lose(f);
        return;
    }
    arrives_at(f, arrival, at);
}

/* A response that is not from the API server, or that it gives without executing the request. */
static void put_status(struct flight *f, const struct fault *fault)
{
    int status = fault->status;
    CLEANUP_REFUSAL struct refusal r = { 0 };
    refuse(&r, status, "the simulated network answers %d", status);
    CLEANUP_JSON json_t *body = refusal_status(&r);
    CLEANUP_FREE char *text = json_compact(body);
    buf_reset(&f->bytes);
    flight_put(f, text, strlen(text));
    f->result.status = status;
    int64_t wait_s = fault->retry_after_s ? fault->retry_after_s : status == 429 ? 1 : -1;
    f->result.retry_after_ms = wait_s < 0 ? -1 : transport_retry_after_ms(wait_s);
}

/* Ends the client's process; the flight no longer belongs to the client. */
static void die(struct flight *f)
{
    struct wire_client *c = f->client;
    flight_leave_news(f);
    f->client = NULL;
    c->o.die(c->o.arg);
}

/* ---- at the server */

/* The path of the request; changed if a stale replica answers lists. Owned. */
static char *target_of(const struct flight *f)
{
    bool first_page = f->request.class == REQUEST_READ && strstr(f->request.path, "limit=") &&
                      !strstr(f->request.path, "continue=");
    if (!f->wire->list_rv || !first_page)
        return xstrdup(f->request.path);
    return xasprintf("%s&resourceVersion=%llu&resourceVersionMatch=Exact", f->request.path,
                     (unsigned long long) f->wire->list_rv);
}

static void wire_serve(struct flight *f, struct api_answer *ret)
{
    struct wire *w = f->wire;
    const struct request *r = &f->request;
    CLEANUP_FREE char *target = target_of(f);
    struct api_call call = {
        .method = r->method,
        .target = target,
        .content_type = r->content_type,
        .accept = "application/json",
        .user = f->user,
        .user_agent = f->user_agent,
        .body = r->body,
        .body_len = r->body ? strlen(r->body) : 0,
    };
    w->counts.requests[r->class]++;
    if (w->o.arrived)
        w->o.arrived(w->o.arg, f->client, r);
    api_serve(w->o.api, &call, ret);
    w->counts.forbidden += ret->status == 403;
    sim_trace(w->o.sim, &w->o.sim->now_ms, sizeof w->o.sim->now_ms);
    sim_trace(w->o.sim, target, strlen(target));
    sim_trace(w->o.sim, call.body, call.body_len);
    sim_trace(w->o.sim, &ret->status, sizeof ret->status);
}

/* Sends the response on its way back, unless a fault prevents it. */
static void answer(struct flight *f, const struct fault *fault)
{
    enum fault_effect effect = fault ? fault->effect : FAULT_DELAY;
    if (effect == FAULT_DIE) {
        die(f);
        flight_free(f);
        return;
    }
    if (effect == FAULT_DROP || effect == FAULT_RESET)
        f->result.status = 0;
    if (effect == FAULT_DROP) {
        lose(f);
        return;
    }
    if (effect == FAULT_RESET)
        buf_reset(&f->bytes);
    if (effect == FAULT_STATUS)
        put_status(f, fault);
    if (effect == FAULT_HALF)
        f->bytes.len /= 2;
    back(f,
         effect == FAULT_RESET  ? &was_reset
         : effect == FAULT_HALF ? &halved
                                : &answered,
         fault && effect == FAULT_DELAY ? fault->delay_ms : 0);
}

static void carry_out(struct flight *f)
{
    struct wire *w = f->wire;
    struct api_answer a = { 0 };
    f->phase = FLIGHT_SERVING;
    wire_serve(f, &a);
    f->phase = FLIGHT_RETURNING;
    if (!f->client) {
        api_watch_free(a.watch);
        api_answer_clear(&a);
        flight_free(f);
        return;
    }
    f->result.status = a.status;
    f->result.date_s = sim_wall_us(w->o.sim, w->o.sim->now_ms) / 1000000;
    f->result.retry_after_ms = a.retry_after_s ? transport_retry_after_ms(a.retry_after_s) : -1;
    if (a.watch) {
        stream_open(f, a.watch);
        a.watch = NULL;
    } else {
        flight_put(f, a.body ? a.body : "", a.len);
        answer(f, fault_draw(w->o.faults, FAULT_COMMITTED, f->request.class, f->request.path,
                             w->o.sim->now_ms));
    }
    api_answer_clear(&a);
}

/* A fault before the server has seen the request; true if the request stops here for now. */
static bool stopped_before(struct flight *f, const struct fault *fault)
{
    f->phase = fault->effect == FAULT_DELAY ? FLIGHT_GOING : FLIGHT_RETURNING;
    if (fault->effect == FAULT_DIE) {
        die(f);
        flight_free(f);
    } else if (fault->effect == FAULT_DROP) {
        lose(f);
    } else if (fault->effect == FAULT_RESET) {
        back(f, &was_reset, 0);
    } else if (fault->effect == FAULT_STATUS) {
        put_status(f, fault);
        back(f, &answered, 0);
    } else {
        return false;
    }
    return true;
}

static void arrive_late(void *arg)
{
    struct flight *f = arg;
    f->phase = FLIGHT_RETURNING;
    if (f->wire->away && f->client)
        back(f, &refused, 0);
    else if (f->wire->away)
        flight_free(f);
    else
        carry_out(f);
}

void wire_arrive(void *arg)
{
    struct flight *f = arg;
    struct wire *w = f->wire;
    const struct fault *fault = NULL;
    if (w->away)
        w->counts.refused++;
    else if (f->client)
        fault = fault_draw(w->o.faults, FAULT_BEFORE, f->request.class, f->request.path,
                           w->o.sim->now_ms);
    if (fault && stopped_before(f, fault))
        return;
    f->event.fn = arrive_late;
    if (fault && fault->effect == FAULT_DELAY)
        sim_after(w->o.sim, &f->event, fault->delay_ms);
    else
        arrive_late(f);
}

/* ---- control by the simulated world */

static void wire_on_commit(void *arg, const struct api_commit *commit)
{
    struct wire *w = arg;
    for (struct flight *f = w->head; f; f = f->next)
        if (f->stream)
            stream_notice(f, commit);
}

struct wire *wire_new(const struct wire_options *o)
{
    struct wire *w = xcalloc(1, sizeof *w);
    *w = (struct wire){ .o = *o,
                        .latency = rng_fork(&o->sim->rng, "latency"),
                        .cuts = rng_fork(&o->sim->rng, "cuts"),
                        .forgotten_rv = xcalloc(kind_count(), sizeof *w->forgotten_rv) };
    api_on_commit(o->api, wire_on_commit, w);
    return w;
}

void wire_free(struct wire *w)
{
    if (!w)
        return;
    while (w->head)
        flight_free(w->head);
    free(w->forgotten_rv);
    free(w);
}

const struct wire_counts *wire_counts(const struct wire *w)
{
    return &w->counts;
}

void wire_set_away(struct wire *w, bool away)
{
    w->away = away;
    for (struct flight *f = w->head, *next; away && f; f = next) {
        next = f->next;
        if (f->phase != FLIGHT_RETURNING || f->ended)
            continue;
        if (f->stream)
            stream_end(f, ERR_UNREACHABLE, "the connection was reset");
        else if (f->arrival == &answered || f->arrival == &halved) {
            buf_reset(&f->bytes);
            f->result.status = 0;
            f->arrival = &was_reset;
        }
    }
}

static void wake_streams(struct wire *w)
{
    for (struct flight *f = w->head; f; f = f->next)
        if (f->stream)
            stream_wake(f);
}

void wire_freeze(struct wire *w, const struct kind *kind)
{
    w->frozen = true;
    w->frozen_kind = kind;
}

void wire_thaw(struct wire *w)
{
    w->frozen = false;
    wake_streams(w);
}

void wire_gone(struct wire *w, const struct kind *kind)
{
    for (struct flight *f = w->head, *next; f; f = next) {
        next = f->next;
        if (f->stream && (!kind || kind == api_watch_kind(f->stream->watch)))
            stream_gone(f);
    }
}

void wire_forget(struct wire *w)
{
    for (size_t i = 0; i < kind_count(); i++)
        w->forgotten_rv[i] = api_rv(w->o.api);
}

void wire_list_from(struct wire *w, uint64_t rv)
{
    w->list_rv = rv;
}

bool wire_is_troubled(const struct wire *w)
{
    return w->away || w->frozen || w->list_rv;
}
