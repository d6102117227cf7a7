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
    { "bad request", 400, "{'kind':'Status','message':'bad','reason':'BadRequest'}", ERR_INVALID, "HTTP 400: bad" },
    { "unauthorized", 401, "{'kind':'Status','message':'Unauthorized','reason':'Unauthorized'}", ERR_UNAUTHORIZED,
      "HTTP 401: Unauthorized" },
    { "forbidden", 403, "{'kind':'Status','message':'nodes is forbidden','reason':'Forbidden'}", ERR_FORBIDDEN,
      "HTTP 403: nodes is forbidden" },
    { "not found", 404, "{'kind':'Status','message':'nodes \\'a\\' not found','reason':'NotFound'}", ERR_NOT_FOUND,
      "HTTP 404: nodes \"a\" not found" },
    { "conflict", 409, "{'kind':'Status','message':'modified','reason':'Conflict'}", ERR_CONFLICT, "HTTP 409: modified" },
    { "already exists is told from a conflict", 409, "{'kind':'Status','message':'exists','reason':'AlreadyExists'}",
      ERR_EXISTS, "HTTP 409: exists" },
    { "gone", 410, "{'kind':'Status','message':'too old','reason':'Gone'}", ERR_GONE, "HTTP 410: too old" },
    { "expired", 410, "{'kind':'Status','message':'too old','reason':'Expired'}", ERR_GONE, "HTTP 410: too old" },
    { "a server that lags behind our version means: list anew", 504,
      "{'kind':'Status','message':'Too large resource version','reason':'Timeout',"
      "'details':{'causes':[{'reason':'ResourceVersionTooLarge','message':'Too large resource version'}]}}",
      ERR_GONE, "HTTP 504: Too large resource version" },
    { "another cause says nothing new", 409,
      "{'kind':'Status','message':'m','reason':'Conflict','details':{'causes':[{'reason':'FieldManagerConflict'}]}}",
      ERR_CONFLICT, "HTTP 409: m" },
    { "too large for the server", 413, "{'kind':'Status','message':'m','reason':'RequestEntityTooLarge'}", ERR_TOO_LARGE,
      "HTTP 413: m" },
    { "refused by the schema", 422, "{'kind':'Status','message':'spec.x: Required value','reason':'Invalid'}", ERR_INVALID,
      "HTTP 422: spec.x: Required value" },
    { "throttled", 429, "{'kind':'Status','message':'slow down','reason':'TooManyRequests'}", ERR_THROTTLED,
      "HTTP 429: slow down" },
    { "an error of the server", 500, "{'kind':'Status','message':'etcd','reason':'InternalError'}", ERR_SERVER, "HTTP 500: etcd" },
    { "unavailable", 503, "{'kind':'Status','message':'m','reason':'ServiceUnavailable'}", ERR_SERVER, "HTTP 503: m" },
    { "a timeout of the server leaves the outcome open", 504, "{'kind':'Status','message':'m','reason':'Timeout'}", ERR_TIMEOUT,
      "HTTP 504: m" },
    { "a redirect is not followed", 302, "", ERR_INVALID, "HTTP 302: (empty answer)" },
    { "an empty body", 502, "", ERR_SERVER, "HTTP 502: (empty answer)" },
    { "a proxy's page", 502, "<html>Bad Gateway</html>", ERR_SERVER, "HTTP 502: <html>Bad Gateway</html>" },
    { "JSON that is no object", 500, "[1]", ERR_SERVER, "HTTP 500: [1]" },
    { "JSON without a message", 500, "{'a':1}", ERR_SERVER, "HTTP 500: {\"a\":1}" },
    { "a message that is no text", 500, "{'message':7}", ERR_SERVER, "HTTP 500: {\"message\":7}" },
    { "an empty message", 500, "{'message':''}", ERR_SERVER, "HTTP 500: (empty answer)" },
    { "causes of the wrong shape", 500, "{'message':'m','details':{'causes':'x'}}", ERR_SERVER, "HTTP 500: m" },
    { "a cut body", 403, "{'kind':'Status','mess", ERR_FORBIDDEN, "HTTP 403: {\"kind\":\"Status\",\"mess" },
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

static const struct causes_row {
    const char *name, *body;
    bool causes;
} causes_rows[] = {
    { "causes: a field", "{'details':{'causes':[{'reason':'FieldValueInvalid','field':'metadata.labels'}]}}", true },
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

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_reply, replies);
    SUITE_ROWS(&s, check_causes, causes_rows);
    suite_add(&s, "no body at all", no_body_at_all, NULL);
    suite_add(&s, "a page without end is shown in part", endless_page_is_shown_in_part, NULL);
    return suite_run(&s, "reply");
}
