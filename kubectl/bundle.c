#include "kubectl/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "base/terminal.h"
#include "base/yaml.h"
#include "controller/options.h"
#include "kube/object.h"
#include "kubectl/archive.h"
#include "kubectl/gather.h"
#include "kubectl/show.h"
#include "kubectl/view/events.h"
#include "kubectl/view/explain.h"
#include "kubectl/view/nodes.h"
#include "kubectl/view/scrub.h"
#include "kubectl/view/status.h"

enum { TEXT_ROOM = 256 << 20, LOGS_MAX = 60, EXPLAINED_MAX = 10, LOG_LINES = 300, LOGS_OF_POD = 16, LOG_TIMEOUT_MS = 5000,
       WIDTH = 160 };

#define OPERATOR_LABELS "app.kubernetes.io/name=ostler"

struct bundle {
    struct ask *ask;
    const struct gpu_options *o;
    struct archive *archive;
    struct buf inside;  /* a line for each file */
    struct buf lacking; /* a line for each thing that could not be had */
    int64_t now_us;
    size_t logs;
};

/* ---- files */

static void add_text(struct bundle *b, const char *name, const char *what, const char *text)
{
    archive_add(b->archive, name, text, strlen(text));
    buf_printf(&b->inside, "%-24s %s\n", name, what);
}

static void lack(struct bundle *b, const char *what, const char *why)
{
    CLEANUP_FREE char *clean = terminal_clean(why);
    buf_printf(&b->lacking, "%s: %s\n", what, clean);
}

typedef json_t *scrub_fn(const json_t *object);

static void add_objects(struct bundle *b, const char *name, const char *what, const json_t *objects, scrub_fn *scrub)
{
    if (!objects)
        return;
    CLEANUP_JSON json_t *clean = json_array();
    size_t i;
    json_t *object;
    json_array_foreach (objects, i, object)
        json_array_append_new(clean, scrub(object));
    if (!json_is_array(objects))
        json_array_append_new(clean, scrub(objects));
    CLEANUP_FREE char *text = yaml_dump(clean);
    add_text(b, name, what, text);
}

typedef void print_fn(const json_t *viewed, const struct paint *p, struct buf *out);

static void add_view(struct bundle *b, const char *name, const char *what, const json_t *viewed, print_fn *print)
{
    struct buf out = BUF_INIT(TEXT_ROOM);
    print(viewed, &(struct paint){ .wide = true, .whole = true, .width = WIDTH }, &out);
    CLEANUP_FREE char *clean = scrub_text(buf_text(&out));
    add_text(b, name, what, clean);
    buf_clear(&out);
}

/* ---- logs */

/* One container's log, of this run or of the one before. */
struct log {
    const char *container;
    bool before;
};

static struct request log_request(const json_t *pod, const struct log *log)
{
    CLEANUP_FREE char *path = resource_path(RESOURCE_POD, object_namespace(pod), object_name(pod), "log");
    return (struct request){ .class = REQUEST_READ,
                             .method = "GET",
                             .path = xasprintf("%s?container=%s&tailLines=%d&limitBytes=%d%s", path, log->container, LOG_LINES,
                                               1 << 18, log->before ? "&previous=true" : ""),
                             .resource = RESOURCE_POD };
}

static void take_log(struct bundle *b, const json_t *pod, const struct log *log, const struct fetch *f)
{
    CLEANUP_FREE char *file = xasprintf("logs/%.90s/%.63s%s", object_name(pod), log->container, log->before ? ".before" : "");
    if (!f->ret) {
        lack(b, file, err_msg(&f->e));
    } else if (*json_string_value(f->ret)) {
        CLEANUP_FREE char *clean = scrub_text(json_string_value(f->ret));
        archive_add(b->archive, file, clean, strlen(clean));
        b->logs++;
    }
}

/* Names of containers are part of a path; the API server's own rule for them is that of a label. */
static size_t find_logs(const json_t *pod, const char *list, struct log *logs, size_t count)
{
    size_t i;
    json_t *status;
    json_array_foreach (json_at(pod, list), i, status) {
        const char *name = json_str_or_empty(status, "name");
        bool now = json_at(status, "state.running") || json_at(status, "state.terminated");
        if (!show_is_name(name))
            continue;
        if (now && count < LOGS_OF_POD)
            logs[count++] = (struct log){ name, false };
        if (json_at(status, "lastState.terminated") && count < LOGS_OF_POD)
            logs[count++] = (struct log){ name, true };
    }
    return count;
}

/* All of a pod at once: where its kubelet does not answer, that is waited for once. */
static void add_logs_of(struct bundle *b, const json_t *pod)
{
    struct log logs[LOGS_OF_POD];
    struct fetch fetches[LOGS_OF_POD];
    size_t count = find_logs(pod, "status.initContainerStatuses", logs, 0);
    count = find_logs(pod, "status.containerStatuses", logs, count);
    for (size_t i = 0; i < count; i++)
        fetches[i] = (struct fetch){ .request = log_request(pod, &logs[i]),
                                     .as_text = true,
                                     .timeout_ms = LOG_TIMEOUT_MS };
    ask_all(b->ask, fetches, count);
    for (size_t i = 0; i < count; i++)
        take_log(b, pod, &logs[i], &fetches[i]);
    fetches_clear(fetches, count);
}

static bool is_ready(const json_t *pod)
{
    const json_t *ready = json_find(json_at(pod, "status.conditions"), "type", "Ready");
    return str_eq(json_str(ready, "status"), "True");
}

/* Of a large fleet not all: first pods that are not ready. */
static void add_logs(struct bundle *b, const json_t *pods)
{
    size_t i, left = LOGS_MAX;
    json_t *pod;
    for (int ready = 0; ready < 2; ready++)
        json_array_foreach (pods, i, pod) {
            if (is_ready(pod) != ready || left == 0 || ask_stopped(b->ask))
                continue;
            left--;
            add_logs_of(b, pod);
        }
    if (json_array_size(pods) > LOGS_MAX)
        buf_printf(&b->lacking, "logs: only those of %d of %zu pods, first of those that are not ready\n", LOGS_MAX,
                   json_array_size(pods));
}

/* ---- what more is asked */

/* The operator's pods, the records of revisions, and the API server's version. */
static void add_others(struct bundle *b)
{
    enum { OWN_PODS, RECORDS, VERSION, COUNT };
    static const char *const left_out[] = { "metadata.managedFields", NULL };
    static const char *const names[] = { "pods of Ostler itself", "records of revisions", "version of the API server" };
    struct fetch f[COUNT] = {
        [OWN_PODS] = { .resource = RESOURCE_POD, .in = { .ns = ask_namespace(b->ask), .label_selector = OPERATOR_LABELS },
                       .left_out = left_out },
        [RECORDS] = { .resource = RESOURCE_REVISION, .in = { .ns = b->o->operand_namespace }, .left_out = left_out },
        [VERSION] = { .request = request_version() },
    };
    ask_all(b->ask, f, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        if (!f[i].ret)
            lack(b, names[i], err_msg(&f[i].e));
    add_objects(b, "ostler-pods.yaml", "pods of Ostler itself", f[OWN_PODS].ret, scrub_object);
    add_objects(b, "revisions.yaml", "what each revision is, and how it fared", f[RECORDS].ret, scrub_object);
    add_objects(b, "server.yaml", "version of the API server", f[VERSION].ret, scrub_object);
    add_logs(b, f[OWN_PODS].ret);
    fetches_clear(f, COUNT);
}

static void print_explained(const json_t *explained, const struct paint *p, struct buf *out)
{
    explain_print(explained, show_now_us(), p, out);
}

/* The story of the nodes that are stuck. */
static void add_stories(struct bundle *b, const json_t *status)
{
    size_t i, k, told = 0;
    json_t *group, *node;
    json_array_foreach (json_object_get(status, "stuck"), i, group)
        json_array_foreach (json_object_get(group, "nodes"), k, node) {
            const char *name = json_string_value(node);
            if (k >= 3 || told >= EXPLAINED_MAX || !show_is_name(name) || ask_stopped(b->ask))
                continue;
            CLEANUP_JSON json_t *seen = gather(b->ask, b->o, &(struct gathering){ SEE_ALL_OF_NODE, 0, name }, NULL);
            CLEANUP_JSON json_t *explained = seen ? explain_view(seen, name, b->now_us) : NULL;
            CLEANUP_FREE char *file = xasprintf("explain/%.80s.txt", name);
            told += explained != NULL;
            if (explained)
                add_view(b, file, "how a node that is stuck came to that", explained, print_explained);
        }
}

/* ---- all of it */

static void add_seen(struct bundle *b, const json_t *seen)
{
    CLEANUP_JSON json_t *status = status_view(seen, b->now_us);
    CLEANUP_JSON json_t *nodes = nodes_view(seen, &(struct nodes_wanted){ 0 }, b->now_us);
    CLEANUP_JSON json_t *events = events_view(seen, &(struct events_wanted){ 0 });
    const char *part;
    json_t *why;
    json_object_foreach (json_object_get(seen, "missing"), part, why)
        lack(b, part, str_or_empty(json_string_value(why)));
    add_view(b, "status.txt", "kubectl gpu status", status, status_print);
    add_view(b, "nodes.txt", "kubectl gpu nodes -o wide", nodes, nodes_print);
    add_view(b, "events.txt", "kubectl gpu events", events, events_print);
    add_objects(b, "policy.yaml", "the GpuClusterPolicy", json_object_get(seen, "policy"), scrub_object);
    add_objects(b, "gpunodes.yaml", "what Ostler says of each node", json_object_get(seen, "reports"), scrub_object);
    add_objects(b, "nodes.yaml", "Nodes with GPUs: labels, taints, annotations", json_object_get(seen, "nodes"), scrub_node);
    add_objects(b, "lease.yaml", "who leads", json_object_get(seen, "lease"), scrub_object);
    add_objects(b, "daemonsets.yaml", "the operands", json_object_get(seen, "daemonsets"), scrub_object);
    add_objects(b, "pods.yaml", "pods of the operands", json_object_get(seen, "pods"), scrub_object);
    add_objects(b, "events.yaml", "events as rows", events, scrub_object);
    add_others(b);
    add_logs(b, json_object_get(seen, "pods"));
    add_stories(b, status);
}

static void add_contents(struct bundle *b, const char *time)
{
    buf_printf(&b->inside, "%-24s the ends of %zu logs of containers\n", "logs/", b->logs);
    CLEANUP_FREE char *cluster = scrub_text(ask_cluster(b->ask));
    CLEANUP_FREE char *text =
        xasprintf("Support bundle of Ostler, made at %s by kubectl-gpu %s\nCluster: %s\n\n"
                  "No Secret was read. Values of variables and arguments whose names are those of secrets, passwords in URLs,\n"
                  "tokens and private keys are masked. Look through it all the same before you give it away.\n\n"
                  "Inside\n\n%s\nNot to be had\n\n%s", time, ostler_version, cluster, buf_text(&b->inside),
                  b->lacking.len ? buf_text(&b->lacking) : "nothing: all that belongs here is here\n");
    archive_add(b->archive, "README.txt", text, strlen(text));
}

static int finish(struct bundle *b, const char *path, struct err *e)
{
    if (archive_end(b->archive, !ask_stopped(b->ask), e) < 0)
        return -1;
    printf("%s\n\n%s", path, buf_text(&b->inside));
    if (b->lacking.len)
        printf("\nnot to be had:\n%s", buf_text(&b->lacking));
    printf("\nNo Secret was read, and what looks like one is masked; README.txt in it has this list. Look through it before you "
           "give it away.\n");
    return 0;
}

int bundle_write(struct ask *a, const struct gpu_options *o, struct err *e)
{
    struct bundle b = { .ask = a, .o = o, .inside = BUF_INIT(TEXT_ROOM), .lacking = BUF_INIT(TEXT_ROOM),
                        .now_us = show_now_us() };
    char time[CLOCK_TEXT_MAX];
    clock_rfc3339(b.now_us, time);
    CLEANUP_FREE char *top = xasprintf("ostler-bundle-%.4s%.2s%.2s-%.2s%.2s%.2s", time, time + 5, time + 8, time + 11, time + 14,
                                       time + 17);
    CLEANUP_FREE char *path = o->file ? xstrdup(o->file) : xasprintf("%s.tar.gz", top);
    CLEANUP_JSON json_t *seen =
        gather(a, o, &(struct gathering){ SEE_POLICY | SEE_REPORTS | SEE_LEASE | SEE_NODES | SEE_EVENTS | SEE_PODS | SEE_SETS,
                                          SEE_POLICY, NULL }, e);
    b.archive = seen && ask_take_signals(a, e) == 0 ? archive_new(path, top, b.now_us / 1000000, e) : NULL;
    int rc = -1;
    if (b.archive) {
        add_seen(&b, seen);
        add_contents(&b, time);
        rc = finish(&b, path, e);
    }
    buf_clear(&b.inside);
    buf_clear(&b.lacking);
    return rc;
}
