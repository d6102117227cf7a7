#include "runtime/executor.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "kube/exchange.h"
#include "kube/reply.h"
#include "kube/split.h"
#include "runtime/list_check.h"

enum { ANSWER_MAX = 8 << 20 };

/* One plan in execution. */
struct job {
    TAILQ_ENTRY(job) link;
    struct executor *ex;
    struct actions actions;
    size_t at; /* the next action, or the one in flight */
    char *key;
    executor_done_fn *done;
    void *arg;
    struct exchange exchange;    /* of the action in flight; idle: the job waits */
    struct list_check *look;     /* for the list in flight, or NULL */
    struct err first;            /* the first failure of a plan with keep_going */
    const struct action *failed; /* the action of that failure */
    int64_t retry_after_ms;      /* the longest requested wait */
};

struct executor {
    struct executor_options o;
    TAILQ_HEAD(, job) jobs; /* waiting and in flight, oldest first */
    size_t job_count, in_flight;
};

struct executor *executor_new(const struct executor_options *o)
{
    struct executor *ex = xcalloc(1, sizeof *ex);
    ex->o = *o;
    TAILQ_INIT(&ex->jobs);
    if (ex->o.in_flight == 0)
        ex->o.in_flight = EXECUTOR_IN_FLIGHT;
    return ex;
}

static void job_free(struct job *job)
{
    exchange_cancel(&job->exchange);
    actions_clear(&job->actions);
    list_check_free(job->look);
    err_clear(&job->first);
    free(job->key);
    free(job);
}

static void unlink_job(struct job *job)
{
    struct executor *ex = job->ex;
    TAILQ_REMOVE(&ex->jobs, job, link);
    ex->job_count--;
}

static void executor_finish(struct job *job, enum err_kind error, const char *message)
{
    struct executor_result result = { error, message, job->retry_after_ms, &job->actions,
                                      job->failed };
    unlink_job(job);
    job->done(job->arg, job->key, &result);
    job_free(job);
}

static void log_outcome(const struct job *job, const struct err *e)
{
    const struct action *a = &job->actions.items[job->at];
    if (e->kind == ERR_NONE)
        log_info("request accepted", "verb", verb_text(a->verb), "object", a->target, "reason",
                 a->reason, "message", a->message);
    else if (e->kind == ERR_CONFLICT) /* another writer came first; the next pass sees its change */
        log_debug("the object has changed since Ostler read it: reading it again", "verb",
                  verb_text(a->verb), "object", a->target, "reason", a->reason, "err", err_msg(e));
    else if (e->kind == ERR_BUDGET) /* the budget's author intends that */
        log_info("a PodDisruptionBudget refuses the eviction", "verb", verb_text(a->verb), "object",
                 a->target, "reason", a->reason, "err", err_msg(e));
    else
        log_warn("request refused", "verb", verb_text(a->verb), "object", a->target, "reason",
                 a->reason, "message", a->message, "err", err_msg(e));
}

static void executor_pump(struct executor *ex);

static int feed_look(void *arg, const char *bytes, size_t n)
{
    return list_check_feed(((struct job *) arg)->look, bytes, n);
}

static bool on_seen(void *arg, const json_t *object, uint64_t list_rv)
{
    const struct job *job = arg;
    const struct executor_options *o = &job->ex->o;
    return o->seen(o->arg, job->actions.items[job->at].request.resource, object, list_rv);
}

static const struct split_view *view_of(const struct executor *ex, enum resource_id resource)
{
    return ex->o.view ? ex->o.view(resource) : NULL;
}

/* Whether a JSON patch failed its test after a concurrent write: the server responds 422 without
 * causes. An invalid patch has causes. */
static bool is_failed_test(const struct request *r, const struct reply *reply)
{
    return str_eq(r->content_type, "application/json-patch+json") &&
           !reply_names_causes(reply->body, reply->len);
}

/* For evictions and deletions, an absent object counts as success. */
static bool wants_it_gone(const struct request *r)
{
    return r->evicts || request_deletes(r);
}

static void executor_judge(struct job *job, struct reply *reply)
{
    const struct request *r = &job->actions.items[job->at].request;
    const struct transport_result *result = reply->result;
    struct err *e = &reply->err;
    int64_t wait_ms = result->retry_after_ms, least_ms = 0;
    if (result->err.kind == ERR_NONE && result->status >= 300 && r->evicts)
        reply_eviction_error(result->status, reply->body, reply->len, e, &least_ms);
    if (e->kind == ERR_INVALID && is_failed_test(r, reply))
        e->kind = ERR_CONFLICT;
    if (e->kind == ERR_NOT_FOUND && wants_it_gone(r))
        err_clear(e);
    if (e->kind == ERR_BUDGET && wait_ms < least_ms)
        wait_ms = least_ms;
    if (wait_ms > job->retry_after_ms)
        job->retry_after_ms = wait_ms;
}

/* Whether the response to an accepted request had the object. */
static bool take_answer(const struct job *job, const struct reply *reply)
{
    const struct executor_options *o = &job->ex->o;
    const struct request *r = &job->actions.items[job->at].request;
    if (r->evicts || r->dry_run || r->looks)
        return false;
    CLEANUP_JSON json_t *object = split_object(reply->body, reply->len,
                                               view_of(job->ex, r->resource), NULL);
    if (object)
        o->written(o->arg, r->resource, object);
    return object != NULL;
}

/* Errors with which the API server refuses a request before it carries it out. With a conflict the
 * object differs from the plan's; after any other error the request may have been carried out. */
static const bool refuses[ERR_SYSTEM + 1] = {
    [ERR_INVALID] = true,      [ERR_NOT_FOUND] = true, [ERR_EXISTS] = true, [ERR_FORBIDDEN] = true,
    [ERR_UNAUTHORIZED] = true, [ERR_THROTTLED] = true, [ERR_BUDGET] = true,
};

static enum action_effect effect_of(const struct job *job, enum err_kind error, bool shown)
{
    bool listed = job->look && job->exchange.status == 200 &&
                  (error == ERR_NONE || error == ERR_CONFLICT);
    if (shown || listed)
        return ACTION_SHOWN;
    return refuses[error] ? ACTION_REFUSED : ACTION_UNCLEAR;
}

static void executor_take_failure(struct job *job, struct err *e)
{
    job->first = err_take(e);
    job->failed = &job->actions.items[job->at];
}

static void executor_on_reply(void *arg, struct reply *reply)
{
    struct job *job = arg;
    struct executor *ex = job->ex;
    struct action *a = &job->actions.items[job->at];
    struct err *e = &reply->err;
    int status = reply->result->status;
    ex->in_flight--;
    executor_judge(job, reply);
    /* The list check knows why it stopped the list. */
    if (job->look && job->exchange.status == 200 &&
        (e->kind == ERR_NONE || e->kind == ERR_TOO_LARGE))
        list_check_end(job->look, e);
    a->accepted = e->kind == ERR_NONE;
    log_outcome(job, e);
    if (ex->o.answered)
        ex->o.answered(ex->o.arg, &a->request, status, e);
    bool ends = e->kind != ERR_NONE && (!job->actions.keep_going || a->request.looks),
         shown = e->kind == ERR_NONE && status < 300 && take_answer(job, reply);
    a->effect = effect_of(job, e->kind, shown);
    if (e->kind != ERR_NONE && job->first.kind == ERR_NONE)
        executor_take_failure(job, e);
    job->at++;
    if (job->at == job->actions.len || ends)
        executor_finish(job, job->first.kind, err_msg(&job->first));
    executor_pump(ex);
}

/* Starts the job's next action. Its request's strings move; class, method and resource stay
 * readable. */
static void executor_begin(struct job *job)
{
    struct executor *ex = job->ex;
    struct action *a = &job->actions.items[job->at];
    struct request sent = a->request;
    list_check_free(job->look);
    job->look = a->request.looks ? list_check_new(view_of(ex, a->request.resource), on_seen, job)
                                 : NULL;
    job->exchange.feed = job->look ? feed_look : NULL;
    a->request.path = a->request.body = NULL;
    exchange_send(&job->exchange, sent);
    ex->in_flight++;
}

/* Why no action of the plan may start; NULL: it may. */
static const char *why_not(const struct job *job)
{
    const struct executor_options *o = &job->ex->o;
    if (clock_mono_ms(loop_clock(o->loop)) >= o->fence(o->arg))
        return "this Ostler no longer holds the Lease";
    if (job->actions.epoch && job->actions.epoch != o->epoch(o->arg))
        return "the policy or the nodes changed since this was decided";
    return NULL;
}

static void executor_pump(struct executor *ex)
{
    for (struct job *job = TAILQ_FIRST(&ex->jobs), *next; job && ex->in_flight < ex->o.in_flight;
         job = next) {
        next = TAILQ_NEXT(job, link);
        if (job->exchange.id)
            continue;
        const char *why = why_not(job);
        if (!why) {
            executor_begin(job);
        } else {
            job->failed = NULL;
            executor_finish(job, ERR_CONFLICT, why);
            next = TAILQ_FIRST(&ex->jobs); /* the done function may have changed the list */
        }
    }
}

void executor_submit(struct executor *ex, const char *key, struct actions *actions_steal,
                     executor_done_fn *done, void *arg)
{
    struct job *job = xcalloc(1, sizeof *job);
    *job = (struct job){ .ex = ex,
                         .actions = *actions_steal,
                         .key = xstrdup(key),
                         .done = done,
                         .arg = arg,
                         .retry_after_ms = -1 };
    /* The watch repeats a write's response: a response that is too long counts as empty, without
     * effect on the write's result. */
    job->exchange = (struct exchange){ .transport = ex->o.transport,
                                       .done = executor_on_reply,
                                       .arg = job,
                                       .body = BUF_INIT(ANSWER_MAX),
                                       .loses = true };
    *actions_steal = (struct actions){ 0 };
    TAILQ_INSERT_TAIL(&ex->jobs, job, link);
    ex->job_count++;
    executor_pump(ex);
}

size_t executor_pending(const struct executor *ex)
{
    return ex->job_count;
}

void executor_free(struct executor *ex)
{
    if (!ex)
        return;
    for (struct job *job; (job = TAILQ_FIRST(&ex->jobs));) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): a freed job has left the list. */
        unlink_job(job);
        job_free(job);
    }
    free(ex);
}
