#include "runtime/lease.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "kube/exchange.h"
#include "kube/lease_step.h"
#include "kube/object.h"

enum { LEASE_MAX = 64 * 1024 };

enum sent { SENT_NOTHING, SENT_GET, SENT_WRITE, SENT_RELEASE, SENT_REMOVAL };

struct lease {
    struct lease_options o;
    struct lease_state state;
    struct timer due;
    /* suspends at the deadline of the renewal, unless a conflict does so earlier */
    struct timer fence;
    bool told;      /* on_leading was called, and not on_suspended since */
    json_t *record; /* as last read or written; NULL: none */
    enum sent sent;
    struct exchange exchange;
    int64_t sent_ms;
    int64_t asked_ms; /* the same, in loop time */
    int64_t free_ms;  /* as lease_free_ms() */
    char *problem;
    enum err_kind trouble; /* kind of the problem; ERR_NONE: none */
    char *holder;          /* last holder that we logged; NULL: none since we last led */
    int64_t holder_ms;     /* when we first saw that holder */
    loop_fn *on_released;  /* not NULL: the lease is being released */
    bool removes;          /* by deletion */
    void *released_arg;
};

static void act(struct lease *l, struct lease_next next);
static void send_record(struct lease *l, enum sent what);
static void send_removal(struct lease *l);

static void lease_set_problem(struct lease *l, const struct err *e)
{
    char *sentence = NULL;
    enum err_kind kind = e ? e->kind : ERR_NONE;
    if (e)
        sentence = xasprintf("cannot %s lease %s/%s: %s", l->sent == SENT_GET ? "read" : "write",
                             l->o.ns, l->o.name, err_msg(e));
    outage_note(l->o.outage, l->trouble, kind, sentence);
    l->trouble = kind;
    if (sentence && !outage_is_general(kind) && !str_eq(sentence, l->problem))
        log_warn("lease failed", "err", sentence);
    free(l->problem);
    l->problem = sentence;
}

/* Logs each holder that we wait for once. */
static void log_standby(struct lease *l, const char *holder)
{
    if (str_eq(l->holder, holder))
        return;
    xstrset(&l->holder, holder);
    l->holder_ms = l->state.seen_ms;
    log_info("standing by", "lease", l->o.name, "namespace", l->o.ns, "holder", holder);
}

/* Whether the last known record names us as holder. */
static bool lease_is_ours(const struct lease *l)
{
    return str_eq(json_str(l->record, "spec.holderIdentity"), l->state.me);
}

/* A lease was read. Without a record, now or before, there was no leader. */
static void note_freedom(struct lease *l, enum lease_do next)
{
    bool held = l->record || l->holder;
    if (held && next != LEASE_DO_WAIT && !l->state.led && !lease_is_ours(l))
        l->free_ms = l->asked_ms;
}

static void begin_leading(struct lease *l)
{
    loop_timer_set(l->o.loop, &l->fence, lease_fence(&l->state));
    if (l->told)
        return;
    l->told = true;
    free(TAKE(l->holder));
    log_info("leading", "lease", l->o.name, "identity", l->state.me);
    l->o.on_leading(l->o.arg);
}

static void suspend(struct lease *l, const char *message)
{
    if (!l->told)
        return;
    l->told = false;
    log_warn("not leading", "lease", l->o.name, "message", message, "err", l->problem);
    l->o.on_suspended(l->o.arg);
}

static void take_success(struct lease *l, json_t *record)
{
    lease_set_problem(l, NULL);
    json_decref(l->record);
    l->record = record;
    int64_t now = clock_mono_ms(l->o.clock);
    bool was_read = l->sent == SENT_GET;
    struct lease_next next = was_read ? lease_step_read(&l->state, record, now)
                                      : lease_step_written(&l->state, record, l->sent_ms, now);
    if (was_read)
        note_freedom(l, next.what);
    if (was_read && next.what == LEASE_DO_WAIT)
        log_standby(l, json_str_or_empty(record, "spec.holderIdentity"));
    if (l->state.leading)
        begin_leading(l);
    act(l, next);
}

/* Releases the lease if the newest record names us. */
static void give_back(struct lease *l)
{
    if (!lease_is_ours(l))
        l->on_released(l->released_arg);
    else if (l->removes)
        send_removal(l);
    else
        send_record(l, SENT_RELEASE);
}

/* Handles a response during the release. A failed write may still have succeeded, and a conflict
 * indicates that: then only the server knows the version for the release. */
static void release_further(struct lease *l, json_t *record, enum err_kind error)
{
    if (record && l->sent != SENT_RELEASE && l->sent != SENT_REMOVAL) {
        json_decref(l->record);
        l->record = record;
        give_back(l);
        return;
    }
    json_decref(record);
    if (l->sent == SENT_REMOVAL && error == ERR_FORBIDDEN) {
        log_warn("cannot delete the Lease: the permission is missing", "lease", l->o.name,
                 "namespace", l->o.ns);
        send_record(l, SENT_RELEASE);
    } else if (!record && (l->sent == SENT_WRITE || error == ERR_CONFLICT))
        act(l, (struct lease_next){ .what = LEASE_DO_GET });
    else
        l->on_released(l->released_arg);
}

static void lease_on_reply(void *arg, struct reply *reply)
{
    static const char *const unread[] = { "metadata.managedFields", NULL };
    static const struct split_view view = { .paths = unread };
    struct lease *l = arg;
    json_t *record = reply_object(reply, &view);
    const struct err *e = &reply->err;

    if (l->on_released) {
        release_further(l, record, e->kind);
    } else if (record) {
        take_success(l, record);
    } else if (e->kind == ERR_NOT_FOUND && l->sent == SENT_GET) {
        json_decref(TAKE(l->record));
        act(l, lease_step_read(&l->state, NULL, clock_mono_ms(l->o.clock)));
    } else {
        if (e->kind != ERR_CONFLICT && e->kind != ERR_EXISTS)
            lease_set_problem(l, e);
        struct lease_next next = lease_step_failed(&l->state, e->kind, clock_mono_ms(l->o.clock));
        if (next.what == LEASE_DO_GET)
            suspend(l, "the lease was changed or deleted: Ostler writes nothing until it reads "
                       "that it is the holder");
        act(l, next);
    }
}

static void lease_send(struct lease *l, enum sent what, struct request request)
{
    l->sent = what;
    l->sent_ms = clock_mono_ms(l->o.clock);
    l->asked_ms = loop_now(l->o.loop);
    exchange_send(&l->exchange, request);
}

static void send_record(struct lease *l, enum sent what)
{
    char micro[CLOCK_TEXT_MAX];
    clock_rfc3339_micro(clock_wall_us(l->o.clock), micro);
    CLEANUP_JSON json_t *record = lease_record(&l->state, l->record, l->o.ns, l->o.name, micro,
                                               what == SENT_RELEASE);
    lease_send(l, what,
               l->record ? request_update(RESOURCE_LEASE, l->o.ns, l->o.name, record)
                         : request_create(RESOURCE_LEASE, l->o.ns, record));
}

/* Deletes only the known version: a new holder keeps the lease. */
static void send_removal(struct lease *l)
{
    lease_send(l, SENT_REMOVAL,
               request_delete(RESOURCE_LEASE, l->o.ns, l->o.name, object_uid(l->record),
                              object_rv(l->record)));
}

static void act(struct lease *l, struct lease_next next)
{
    switch (next.what) {
    case LEASE_DO_GET:
        lease_send(l, SENT_GET, request_get(RESOURCE_LEASE, l->o.ns, l->o.name));
        break;
    case LEASE_DO_CREATE:
    case LEASE_DO_UPDATE:
        send_record(l, SENT_WRITE);
        break;
    case LEASE_DO_WAIT:
        loop_timer_set(l->o.loop, &l->due, loop_now(l->o.loop) + next.delay_ms);
        break;
    case LEASE_DO_EXIT:
        l->o.on_lost(l->o.arg);
        break;
    }
}

/* A leader renews over its last record (one request); a candidate or a late leader reads first. */
static void lease_on_due(void *arg)
{
    struct lease *l = arg;
    bool in_time = clock_mono_ms(l->o.clock) < lease_fence(&l->state);
    if (in_time && lease_is_ours(l))
        send_record(l, SENT_WRITE);
    else
        act(l, (struct lease_next){ .what = LEASE_DO_GET });
}

static void on_fence(void *arg)
{
    struct lease *l = arg;
    l->state.leading = false;
    suspend(l, "lease not renewed in time: Ostler writes nothing until it renews it");
}

struct lease *lease_new(const struct lease_options *o)
{
    struct lease *l = xcalloc(1, sizeof *l);
    l->o = *o;
    l->state.slowness = o->slowness;
    l->free_ms = INT64_MIN;
    snprintf(l->state.me, sizeof l->state.me, "%s", o->me);
    l->exchange = (struct exchange){
        .transport = o->transport, .done = lease_on_reply, .arg = l, .body = BUF_INIT(LEASE_MAX)
    };
    l->due = (struct timer){ .fn = lease_on_due, .arg = l };
    l->fence = (struct timer){ .fn = on_fence, .arg = l };
    return l;
}

void lease_start(struct lease *l)
{
    act(l, (struct lease_next){ .what = LEASE_DO_GET });
}

bool lease_is_leading(const struct lease *l)
{
    return l->state.leading;
}

int64_t lease_write_fence(const struct lease *l)
{
    return lease_fence(&l->state);
}

int64_t lease_free_ms(const struct lease *l)
{
    return l->free_ms;
}

const char *lease_holder(const struct lease *l)
{
    return l->holder;
}

bool lease_is_renewed(const struct lease *l)
{
    return l->holder && l->state.seen_ms != l->holder_ms;
}

const char *lease_problem(const struct lease *l)
{
    return l->problem;
}

void lease_release(struct lease *l, loop_fn *on_released, void *arg)
{
    loop_timer_cancel(l->o.loop, &l->due);
    loop_timer_cancel(l->o.loop, &l->fence);
    l->state.leading = false;
    l->on_released = on_released;
    l->released_arg = arg;
    /* The response in flight brings the newest version, and may make us the holder. */
    if (l->exchange.id && (l->sent == SENT_WRITE || lease_is_ours(l)))
        return;
    exchange_cancel(&l->exchange);
    give_back(l);
}

void lease_remove(struct lease *l, loop_fn *on_removed, void *arg)
{
    l->removes = true;
    lease_release(l, on_removed, arg);
}

void lease_free(struct lease *l)
{
    if (!l)
        return;
    exchange_cancel(&l->exchange);
    loop_timer_cancel(l->o.loop, &l->due);
    loop_timer_cancel(l->o.loop, &l->fence);
    json_decref(l->record);
    free(l->problem);
    free(l->holder);
    free(l);
}
