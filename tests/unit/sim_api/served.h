/* An API server for a test, with a clock that stands still until the test moves it, and requests as
 * short as they can be written. */
#ifndef OSTLER_TESTS_SIM_API_SERVED_H
#define OSTLER_TESTS_SIM_API_SERVED_H

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/api.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* Wall time at the beginning: 2026-11-20T10:00:00Z. */
#define SERVED_EPOCH_US INT64_C(1795168800000000)

struct served {
    int64_t now_us;
    struct api *api;
    struct api_answer answer; /* the last one */
    json_t *body;             /* its body, when it is JSON */
    const char *user;
    const char *accept;
};

/* A request that is refused. */
struct served_refusal {
    const char *name;
    const char *request;
    const char *body;
    int status;
    const char *reason;
    const char *message;
};

static inline int64_t served_mono_ms(void *self)
{
    return ((struct served *) self)->now_us / 1000;
}

static inline int64_t served_wall_us(void *self)
{
    return ((struct served *) self)->now_us;
}

static inline void served_init(struct served *s)
{
    *s = (struct served){ .now_us = SERVED_EPOCH_US, .user = "tester" };
    struct clock clock = { served_mono_ms, served_wall_us, s };
    s->api = api_new(&clock);
}

static inline void served_clear(struct served *s)
{
    api_answer_clear(&s->answer);
    json_decref(s->body);
    api_free(s->api);
}

#define CLEANUP_SERVED CLEANUP(served_clear)

/* Short names of media types: "PATCH json" is a JSON patch, "PUT yaml" YAML. */
static inline const char *served_media(const char *method, const char *form)
{
    static const struct {
        const char *form;
        const char *media_type;
    } media[] = {
        { "merge", "application/merge-patch+json" },
        { "json", "application/json-patch+json" },
        { "apply", "application/apply-patch+yaml" },
        { "strategic", "application/strategic-merge-patch+json" },
        { "yaml", "application/yaml" },
        { "text", "text/plain" },
    };
    for (size_t i = 0; i < ARRAY_LEN(media); i++)
        if (str_eq(media[i].form, form))
            return media[i].media_type;
    return str_eq(method, "PATCH") ? "application/merge-patch+json" : "application/json";
}

/* Sends bytes as they are. `request` is "METHOD [FORM] TARGET". Returns the status. */
static inline int served_send(struct served *s, const char *request, const char *bytes, size_t n)
{
    CLEANUP_FREE char *words = xstrdup(request);
    char *rest = words, *method = strsep(&rest, " "),
         *form = *rest == '/' ? NULL : strsep(&rest, " ");
    struct api_call call = { .method = method,
                             .target = rest,
                             .content_type = served_media(method, form),
                             .accept = s->accept,
                             .user_agent = "served/1.0",
                             .user = s->user,
                             .body = bytes,
                             .body_len = n };
    api_answer_clear(&s->answer);
    json_decref(s->body);
    api_serve(s->api, &call, &s->answer);
    s->body = s->answer.body ? json_loadb(s->answer.body, s->answer.len, 0, NULL) : NULL;
    return s->answer.status;
}

/* The same with a body in which ' stands for "; NULL: none. */
static inline int served(struct served *s, const char *request, const char *body)
{
    CLEANUP_FREE char *bytes = body ? json_quoted(body) : NULL;
    return served_send(s, request, bytes, bytes ? strlen(bytes) : 0);
}

/* Fails the test unless the request is answered with this status; shows the answer then. */
static inline void served_expect(struct served *s, const char *request, const char *body,
                                 int status)
{
    if (served(s, request, body) != status)
        fail_msg("%s: %d instead of %d: %s", request, s->answer.status, status,
                 str_or_empty(s->answer.body));
}

/* Fails the test unless the request is refused so. */
static inline void served_refused(struct served *s, const char *request, const char *body,
                                  int status, const char *reason, const char *message)
{
    served_expect(s, request, body, status);
    assert_string_equal(json_str_or_empty(s->body, "kind"), "Status");
    assert_string_equal(json_str_or_empty(s->body, "reason"), reason);
    assert_string_equal(json_str_or_empty(s->body, "message"), message);
}

/* Something of the last answer. */
static inline const char *served_str(const struct served *s, const char *path)
{
    return json_str_or_empty(s->body, path);
}

/* The names of the items of the last answer, each with its namespace where it has one: "a ns/b".
 * Owned by the caller. */
static inline char *served_names(const struct served *s)
{
    struct buf names = BUF_INIT(1 << 20);
    size_t i;
    json_t *item;
    json_array_foreach (json_object_get(s->body, "items"), i, item) {
        const char *ns = json_str_or_empty(item, "metadata.namespace");
        buf_printf(&names, "%s%s%s%s", i ? " " : "", ns, *ns ? "/" : "",
                   json_str_or_empty(item, "metadata.name"));
    }
    return buf_take(&names);
}

static inline void served_expect_names(struct served *s, const char *target, const char *want)
{
    CLEANUP_FREE char *request = xasprintf("GET %s", target);
    served_expect(s, request, NULL, 200);
    CLEANUP_FREE char *names = served_names(s);
    assert_string_equal(names, want);
}

/* What the open watch of the last answer has to tell: "TYPE name@resourceVersion" each, "GONE" at
 * its end. Owned by the caller. */
static inline char *served_news(struct served *s)
{
    struct buf news = BUF_INIT(1 << 20);
    const char *frame;
    size_t n;
    enum api_watch_news what = API_WATCH_FRAME;
    while (what == API_WATCH_FRAME &&
           (what = api_watch_next(s->answer.watch, &frame, &n)) != API_WATCH_NOTHING) {
        assert_int_equal(frame[n - 1], '\n');
        CLEANUP_JSON json_t *event = json_loadb(frame, n, 0, NULL);
        assert_non_null(event);
        buf_printf(&news, "%s%s", news.len ? " " : "", json_str_or_empty(event, "type"));
        if (what == API_WATCH_FRAME)
            buf_printf(&news, " %s@%s", json_str_or_empty(event, "object.metadata.name"),
                       json_str_or_empty(event, "object.metadata.resourceVersion"));
    }
    return buf_take(&news);
}

static inline void served_expect_news(struct served *s, const char *want)
{
    CLEANUP_FREE char *news = served_news(s);
    assert_string_equal(news, want);
}

#endif
