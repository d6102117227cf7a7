#include "kubectl/bundle_logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "base/terminal.h"
#include "kube/condition.h"
#include "kube/log_tail.h"
#include "kube/object.h"
#include "kubectl/show.h"
#include "reconcilers/view/snapshot.h"

/* Timeout for an unresponsive kubelet, and the concurrent requests that may wait for it. */
enum { BYTES = BUNDLE_LOGS_KIB << 10, TIMEOUT_MS = 10000, AT_ONCE = 16 };

/* The log of one container, of this run or the previous one. */
struct log {
    const json_t *pod;
    const char *container;
    bool before;
};

struct logs {
    struct log *items;
    size_t len;
};

/* Prints progress on a terminal: "logs: 16 of 60". */
static void bundle_progress(const char *what, size_t done, size_t all)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "%s: %zu of %zu\n", what, done, all);
}

/* ---- selection */

static const char *const lists[] = { "status.initContainerStatuses", "status.containerStatuses" };

/* Whether a container fails now, or has failed or restarted. */
static bool is_in_trouble(const json_t *pod)
{
    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        JSON_EACH (status, json_at(pod, lists[k]))
            if (json_at(status, "state.waiting") ||
                json_int(status, "state.terminated.exitCode", 0) != 0 ||
                json_int(status, "restartCount", 0) > 0)
                return true;
    return false;
}

/* Order of pods: rank 0 first. */
enum { RANKS = 4 };

static int rank_of(const json_t *pod)
{
    return 2 * condition_is_true(pod, "Ready") + !is_in_trouble(pod);
}

/* The container name is part of a path, so it must follow the API server's rule: that of a
 * label. */
static void add_logs_of(struct logs *logs, const json_t *pod)
{
    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        JSON_EACH (status, json_at(pod, lists[k])) {
            const char *name = json_str_or_empty(status, "name");
            bool now = json_at(status, "state.running") || json_at(status, "state.terminated");
            bool before = json_at(status, "lastState.terminated") != NULL;
            if (!snapshot_is_name(name) || (!now && !before))
                continue;
            logs->items = xreallocarray(logs->items, logs->len + 2, sizeof *logs->items);
            if (now)
                logs->items[logs->len++] = (struct log){ pod, name, false };
            if (before)
                logs->items[logs->len++] = (struct log){ pod, name, true };
        }
}

static void bundle_logs_choose(const json_t *pods, const json_t *down, struct logs *logs,
                               struct bundle_logs *ret)
{
    for (int rank = 0; rank < RANKS; rank++)
        JSON_EACH (pod, pods) {
            size_t before = logs->len;
            if (rank_of(pod) != rank)
                continue;
            if (json_object_get(down, json_str_or_empty(pod, "spec.nodeName"))) {
                ret->down++;
                continue;
            }
            add_logs_of(logs, pod);
            bool fits = ret->read < BUNDLE_LOGS_PODS;
            ret->read += logs->len > before && fits;
            ret->more += logs->len > before && !fits;
            logs->len = fits ? logs->len : before;
        }
}

/* ---- reading */

/* The API server's own byte limit counts from the first line, which would drop the end of the
 * log. */
static struct request bundle_logs_request_of(const struct log *log)
{
    CLEANUP_FREE char *path = resource_path(RESOURCE_POD, object_namespace(log->pod),
                                            object_name(log->pod), "log");
    return (struct request){ .class = REQUEST_READ,
                             .method = "GET",
                             .path = xasprintf("%s?container=%s&tailLines=%d%s", path,
                                               log->container, BUNDLE_LOGS_LINES,
                                               log->before ? "&previous=true" : ""),
                             .resource = RESOURCE_POD };
}

/* The start of the next line in a cut log: the rest of a cut line may be an unrecognisable part
 * of a secret. */
static const char *next_line(const char *bytes)
{
    const char *end = strchr(bytes, '\n');
    return end && end[1] ? end + 1
                         : "(its last line is longer than the limit of a log, and is left out)\n";
}

/* The bytes of a log as text; NULL if there is no log. Owned by the caller. */
static char *bundle_logs_text_of(const json_t *log, bool cut)
{
    size_t len = json_string_length(log);
    if (!log)
        return NULL;
    CLEANUP_FREE char *bytes = xcalloc(len + 1, 1);
    memcpy(bytes, json_string_value(log), len);
    for (size_t i = 0; i < len; i++)
        bytes[i] = bytes[i] ? bytes[i] : '?';
    const char *from = cut ? next_line(bytes) : bytes;
    CLEANUP_FREE char *lines = log_tail_cut(from, strlen(from), BYTES);
    return terminal_clean_lines(lines);
}

static void read_some(struct ask *a, const struct log *logs, size_t count, bundle_log_fn *fn,
                      void *arg)
{
    struct fetch fetches[AT_ONCE] = { 0 };
    for (size_t i = 0; i < count; i++)
        fetches[i] = (struct fetch){ .request = bundle_logs_request_of(&logs[i]),
                                     .text_max = BYTES,
                                     .timeout_ms = TIMEOUT_MS };
    ask_all(a, fetches, count);
    for (size_t i = 0; i < count; i++) {
        CLEANUP_FREE char *file = xasprintf("logs/%.90s/%.63s%s", object_name(logs[i].pod),
                                            logs[i].container, logs[i].before ? ".before" : "");
        CLEANUP_FREE char *text = bundle_logs_text_of(fetches[i].ret, fetches[i].cut);
        fn(arg, file, text, fetches[i].cut, err_msg(&fetches[i].e));
    }
    fetches_clear(fetches, count);
}

void bundle_logs_read(struct ask *a, const json_t *pods, const json_t *reports, bundle_log_fn *fn,
                      void *arg, struct bundle_logs *ret)
{
    struct logs logs = { 0 };
    CLEANUP_JSON json_t *down = json_object();
    *ret = (struct bundle_logs){ 0 };
    JSON_EACH (report, reports)
        if (str_eq(json_str(report, "status.state"), "Lost"))
            json_object_set(down, object_name(report), report);
    bundle_logs_choose(pods, down, &logs, ret);
    for (size_t i = 0; i < logs.len && !ask_stopped(a); i += AT_ONCE) {
        bundle_progress("logs", i, logs.len);
        read_some(a, logs.items + i, logs.len - i < AT_ONCE ? logs.len - i : AT_ONCE, fn, arg);
    }
    free(logs.items);
}
