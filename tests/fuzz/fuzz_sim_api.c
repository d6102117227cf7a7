/* The simulated API server against whatever is sent to it. Every answer is one; what the store has
 * never changes after it was committed; versions grow by one; and the same requests give the same
 * answers. Input: requests, each a line "METHOD FORM TARGET" and then its body, up to a line "---".
 * FORM is a media type. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/api.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fails the run. */
#define DEMAND(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* Frames of one watch that are looked at. */
enum { FRAMES_MAX = 64 };

/* What was committed, and as which text. */
struct entry {
    json_t *object;
    char *text;
};

struct run {
    struct api *api;
    struct entry *records;
    size_t record_count;
    uint64_t rv;
    uint64_t hash; /* over all answers */
};

static int64_t time_zero(void *self)
{
    (void) self;
    return 0;
}

static void record(void *arg, const struct api_commit *c)
{
    struct run *r = arg;
    DEMAND(c->before || c->after);
    DEMAND(c->rv == r->rv + 1);
    r->rv = c->rv;
    json_t *object = c->after ? c->after : c->before;
    r->records = xreallocarray(r->records, r->record_count + 1, sizeof *r->records);
    r->records[r->record_count++] = (struct entry){ json_incref(object), json_canonical(object) };
}

static void mix(struct run *r, const char *bytes, size_t n)
{
    r->hash = (r->hash ^ str_hash(bytes, n)) * UINT64_C(0x9e3779b97f4a7c15);
}

static void read_watch(struct run *r, struct api_watch *w)
{
    const char *frame;
    size_t n;
    enum api_watch_news news = API_WATCH_FRAME;
    for (int i = 0; i < FRAMES_MAX && news == API_WATCH_FRAME; i++) {
        news = api_watch_next(w, &frame, &n);
        if (news == API_WATCH_NOTHING)
            return;
        CLEANUP_JSON json_t *event = json_loadb(frame, n, 0, NULL);
        DEMAND(event && frame[n - 1] == '\n');
        mix(r, frame, n);
    }
}

static void check_answer(struct run *r, const struct api_answer *a)
{
    DEMAND(a->status >= 200 && a->status < 600 && a->content_type);
    if (a->watch) {
        read_watch(r, a->watch);
        return;
    }
    DEMAND(a->body);
    CLEANUP_JSON json_t *body = json_loadb(a->body, a->len, JSON_ALLOW_NUL, NULL);
    DEMAND(body || !str_has_prefix(a->content_type, "application/json"));
    mix(r, a->body, a->len);
}

/* One request: its first line and the rest. A line of other than three words is no request. */
static void serve(struct run *r, char *text)
{
    char *body = text, *line = strsep(&body, "\n");
    char *method = strsep(&line, " "), *form = line ? strsep(&line, " ") : NULL;
    if (!line)
        return;
    struct api_call call = { .method = method,
                             .content_type = form,
                             .target = line,
                             .user_agent = "fuzz/1",
                             .user = "fuzz",
                             .body = str_or_empty(body),
                             .body_len = strlen(str_or_empty(body)) };
    struct api_answer answer;
    api_serve(r->api, &call, &answer);
    check_answer(r, &answer);
    api_answer_clear(&answer);
}

static uint64_t run(const uint8_t *data, size_t size)
{
    struct clock clock = { time_zero, time_zero, NULL };
    struct run r = { .api = api_new(&clock) };
    r.rv = api_rv(r.api);
    api_on_commit(r.api, record, &r);
    CLEANUP_FREE char *text = xstrndup((const char *) data, size);
    for (char *next, *at = text; at; at = next) {
        next = strstr(at, "\n---\n");
        if (next) {
            *next = '\0';
            next += strlen("\n---\n");
        }
        serve(&r, at);
    }
    DEMAND(r.rv == api_rv(r.api));
    for (size_t i = 0; i < r.record_count; i++) {
        CLEANUP_FREE char *now = json_canonical(r.records[i].object);
        DEMAND(str_eq(now, r.records[i].text));
        json_decref(r.records[i].object);
        free(r.records[i].text);
    }
    free(r.records);
    api_free(r.api);
    return r.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    DEMAND(run(data, size) == run(data, size));
    return 0;
}
