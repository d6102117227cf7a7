#include "kube/reply.h"

#include <string.h>

#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const struct reply_row {
    const char *name;
    int status;
    const char *body;
    enum err_kind kind;
    const char *message;
} replies[] = {
    { "bad request", 400, "{'kind':'Status','message':'bad','reason':'BadRequest'}", ERR_INVALID,
      "HTTP 400: bad" },
    { "unauthorized", 401, "{'kind':'Status','message':'Unauthorized','reason':'Unauthorized'}",
      ERR_UNAUTHORIZED, "HTTP 401: Unauthorized" },
    { "forbidden", 403, "{'kind':'Status','message':'nodes is forbidden','reason':'Forbidden'}",
      ERR_FORBIDDEN, "HTTP 403: nodes is forbidden" },
    { "not found", 404, "{'kind':'Status','message':'nodes \\'a\\' not found','reason':'NotFound'}",
      ERR_NOT_FOUND, "HTTP 404: nodes \"a\" not found" },
    { "conflict", 409, "{'kind':'Status','message':'modified','reason':'Conflict'}", ERR_CONFLICT,
      "HTTP 409: modified" },
    { "already exists is told from a conflict", 409,
      "{'kind':'Status','message':'exists','reason':'AlreadyExists'}", ERR_EXISTS,
      "HTTP 409: exists" },
    { "gone", 410, "{'kind':'Status','message':'too old','reason':'Gone'}", ERR_GONE,
      "HTTP 410: too old" },
    { "expired", 410, "{'kind':'Status','message':'too old','reason':'Expired'}", ERR_GONE,
      "HTTP 410: too old" },
    { "a server that lags behind our version means: list anew", 504,
      "{'kind':'Status','message':'Too large resource version','reason':'Timeout',"
      "'details':{'causes':[{'reason':'ResourceVersionTooLarge','message':'Too large resource "
      "version'}]}}",
      ERR_GONE, "HTTP 504: Too large resource version" },
    { "another cause says nothing new", 409,
      "{'kind':'Status','message':'m','reason':'Conflict','details':{'causes':[{'reason':'"
      "FieldManagerConflict'}]}}",
      ERR_CONFLICT, "HTTP 409: m" },
    { "too large for the server", 413,
      "{'kind':'Status','message':'m','reason':'RequestEntityTooLarge'}", ERR_TOO_LARGE,
      "HTTP 413: m" },
    { "refused by the schema", 422,
      "{'kind':'Status','message':'spec.x: Required value','reason':'Invalid'}", ERR_INVALID,
      "HTTP 422: spec.x: Required value" },
    { "throttled", 429, "{'kind':'Status','message':'slow down','reason':'TooManyRequests'}",
      ERR_THROTTLED, "HTTP 429: slow down" },
    { "an error of the server", 500, "{'kind':'Status','message':'etcd','reason':'InternalError'}",
      ERR_SERVER, "HTTP 500: etcd" },
    { "unavailable", 503, "{'kind':'Status','message':'m','reason':'ServiceUnavailable'}",
      ERR_SERVER, "HTTP 503: m" },
    { "a timeout of the server leaves the outcome open", 504,
      "{'kind':'Status','message':'m','reason':'Timeout'}", ERR_TIMEOUT, "HTTP 504: m" },
    { "a redirect is not followed", 302, "", ERR_INVALID, "HTTP 302: (empty answer)" },
    { "an empty body", 502, "", ERR_SERVER, "HTTP 502: (empty answer)" },
    { "a proxy's page", 502, "<html>Bad Gateway</html>", ERR_SERVER,
      "HTTP 502: <html>Bad Gateway</html>" },
    { "JSON that is no object", 500, "[1]", ERR_SERVER, "HTTP 500: [1]" },
    { "JSON without a message", 500, "{'a':1}", ERR_SERVER, "HTTP 500: {\"a\":1}" },
    { "a message that is no text", 500, "{'message':7}", ERR_SERVER, "HTTP 500: {\"message\":7}" },
    { "an empty message", 500, "{'message':''}", ERR_SERVER, "HTTP 500: (empty answer)" },
    { "causes of the wrong shape", 500, "{'message':'m','details':{'causes':'x'}}", ERR_SERVER,
      "HTTP 500: m" },
    { "a cut body", 403, "{'kind':'Status','mess", ERR_FORBIDDEN,
      "HTTP 403: {\"kind\":\"Status\",\"mess" },
};

static void check_reply(void **state)
{
    const struct reply_row *row = *state;
    CLEANUP_FREE char *body = json_quoted(row->body);
    CLEANUP_ERR struct err e = { 0 };
    assert_int_equal(reply_error(row->status, body, strlen(body), &e), -1);
    assert_int_equal(e.kind, row->kind);
    assert_string_equal(err_msg(&e), row->message);
}

/* As pkg/registry/core/pod/storage/eviction.go answers. */
#define VIOLATES                                                                                   \
    "{'kind':'Status','message':'Cannot evict pod as it would violate the pod\\u0027s disruption " \
    "budget.','reason':'TooManyRequests','code':429,"
#define BUDGET_CAUSE(text)                                                                         \
    "{'reason':'DisruptionBudget','message':'The disruption budget web " text "'}"
static const struct eviction_row {
    const char *name;
    int status;
    const char *body;
    enum err_kind kind;
    int64_t wait_ms;
    const char *message;
} evictions[] = {
    { "eviction: the budget is spent", 429,
      VIOLATES
      "'details':{'causes':[" BUDGET_CAUSE("needs 2 healthy pods and has 2 currently") "]}}",
      ERR_BUDGET, 60000,
      "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web "
      "needs 2 healthy pods "
      "and has 2 currently" },
    { "eviction: the disruption controller has not counted yet", 429,
      VIOLATES "'details':{'causes':[" BUDGET_CAUSE(
          "is still being processed by the server.") "],'retryAfterSeconds':10}}",
      ERR_BUDGET, 60000,
      "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web "
      "is still "
      "being processed by the server." },
    { "eviction: flow control speaks of no budget", 429,
      "{'kind':'Status','message':'Too many requests, please try again "
      "later.','reason':'TooManyRequests','details':{'retryAfterSeconds':1}}",
      ERR_THROTTLED, 0, "HTTP 429: Too many requests, please try again later." },
    { "eviction: a proxy that throttles", 429, "slow down", ERR_THROTTLED, 0,
      "HTTP 429: slow down" },
    { "eviction: two budgets for one pod", 500,
      "{'kind':'Status','metadata':{},'status':'Failure','message':'This pod has more than one "
      "PodDisruptionBudget, which the "
      "eviction subresource does not support.','code':500}",
      ERR_BUDGET, 60000,
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
      "support." },
    { "eviction: another error of the server", 500,
      "{'kind':'Status','message':'etcd','reason':'InternalError','code':500}", ERR_SERVER, 0,
      "HTTP 500: etcd" },
    { "eviction: a proxy's error", 500, "<html>", ERR_SERVER, 0, "HTTP 500: <html>" },
    { "eviction: JSON that is no Status", 500, "{'message':'m'}", ERR_SERVER, 0, "HTTP 500: m" },
    { "eviction: a budget whose counts are out of order", 403,
      "{'kind':'Status','message':'poddisruptionbudget.policy \\u0022web\\u0022 is forbidden: pdb "
      "disruptions allowed is "
      "negative','reason':'Forbidden','details':{'name':'web','group':'policy','kind':'"
      "poddisruptionbudget'}}",
      ERR_BUDGET, 60000,
      "poddisruptionbudget.policy \"web\" is forbidden: pdb disruptions allowed is negative" },
    { "eviction: the right is missing", 403,
      "{'kind':'Status','message':'pods \\u0022a\\u0022 is forbidden: "
      "no','reason':'Forbidden','details':{'name':'a','kind':'pods'}}",
      ERR_FORBIDDEN, 0, "HTTP 403: pods \"a\" is forbidden: no" },
    { "eviction: its namespace goes, and the pod with it", 403,
      "{'kind':'Status','message':'pods \\u0022a\\u0022 is forbidden: no new "
      "content.','reason':'Forbidden','details':{'name':'a','kind':'pods',"
      "'causes':[{'reason':'NamespaceTerminating','message':'namespace ml is being "
      "terminated','field':'metadata.namespace'}]}}",
      ERR_CONFLICT, 0,
      "pods \"a\" is forbidden: no new content. namespace ml is being terminated" },
    { "eviction: the pod is gone", 404,
      "{'kind':'Status','message':'not found','reason':'NotFound'}", ERR_NOT_FOUND, 0,
      "HTTP 404: not found" },
    { "eviction: another incarnation", 409,
      "{'kind':'Status','message':'Precondition failed','reason':'Conflict'}", ERR_CONFLICT, 0,
      "HTTP 409: Precondition failed" },
    { "eviction: the budget could not be written", 504,
      "{'kind':'Status','message':'conflicts','reason':'Timeout'}", ERR_TIMEOUT, 0,
      "HTTP 504: conflicts" },
};

static void check_eviction(void **state)
{
    const struct eviction_row *row = *state;
    CLEANUP_FREE char *body = json_quoted(row->body);
    CLEANUP_ERR struct err e = { 0 };
    int64_t wait_ms = -1;
    assert_int_equal(reply_eviction_error(row->status, body, strlen(body), &e, &wait_ms), -1);
    assert_int_equal(e.kind, row->kind);
    assert_int_equal(wait_ms, row->wait_ms);
    assert_string_equal(err_msg(&e), row->message);
}

static const struct causes_row {
    const char *name, *body;
    bool causes;
} causes_rows[] = {
    { "causes: a field",
      "{'details':{'causes':[{'reason':'FieldValueInvalid','field':'metadata.labels'}]}}", true },
    { "causes: none", "{'message':'m','details':{}}", false },
    { "causes: an empty list", "{'details':{'causes':[]}}", false },
    { "causes: no list", "{'details':{'causes':'x'}}", false },
    { "causes: a proxy's page", "<html>", false },
    { "causes: nothing", "", false },
};

static void check_causes(void **state)
{
    const struct causes_row *row = *state;
    CLEANUP_FREE char *body = json_quoted(row->body);
    assert_int_equal(reply_names_causes(body, strlen(body)), row->causes);
}

static void no_body_at_all(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    assert_int_equal(reply_error(503, NULL, 0, &e), -1);
    assert_string_equal(err_msg(&e), "HTTP 503: (empty answer)");
    assert_int_equal(reply_error(503, NULL, 0, NULL), -1);
}

static void endless_page_is_shown_in_part(void **state)
{
    (void) state;
    static char page[100000];
    memset(page, 'x', sizeof page);
    CLEANUP_ERR struct err e = { 0 };
    reply_error(502, page, sizeof page, &e);
    assert_int_equal(strlen(err_msg(&e)), strlen("HTTP 502: ") + 256);
}

static const struct outcome_row {
    const char *name;
    int status;
    enum err_kind transport, kind;
} outcomes[] = {
    { "outcome: a success", 201, ERR_NONE, ERR_NONE },
    { "outcome: a refusal", 404, ERR_NONE, ERR_NOT_FOUND },
    { "outcome: no answer came", 0, ERR_UNREACHABLE, ERR_UNREACHABLE },
    { "outcome: an answer that broke off says nothing", 200, ERR_TIMEOUT, ERR_TIMEOUT },
};

static void check_outcome(void **state)
{
    const struct outcome_row *row = *state;
    CLEANUP_ERR struct err e = { 0 };
    struct transport_result result = { .status = row->status };
    if (row->transport != ERR_NONE)
        err_set(&result.err, row->transport, "why");
    assert_int_equal(reply_take(&result, "{}", 2, &e), row->kind == ERR_NONE ? 0 : -1);
    assert_int_equal(e.kind, row->kind);
    if (row->transport != ERR_NONE)
        assert_string_equal(err_msg(&e), "why");
    err_clear(&result.err);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_reply, replies);
    SUITE_ROWS(&s, check_eviction, evictions);
    SUITE_ROWS(&s, check_causes, causes_rows);
    SUITE_ROWS(&s, check_outcome, outcomes);
    suite_add(&s, "no body at all", no_body_at_all, NULL);
    suite_add(&s, "a page without end is shown in part", endless_page_is_shown_in_part, NULL);
    return suite_run(&s, "reply");
}
