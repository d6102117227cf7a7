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
#include "kube/condition.h"
#include "kube/object.h"
#include "kubectl/archive.h"
#include "kubectl/bundle_logs.h"
#include "kubectl/gather.h"
#include "kubectl/show.h"
#include "reconcilers/view/events.h"
#include "reconcilers/view/explain.h"
#include "reconcilers/view/nodes.h"
#include "reconcilers/view/scrub.h"
#include "reconcilers/view/status.h"
#include "reconcilers/view/support.h"
#include "reconcilers/model/xid.h"
#include "reconcilers/view/snapshot.h"

enum { TEXT_ROOM = 256 << 20, READY_PODS_MAX = 500, EXPLAINED_MAX = 10, WIDTH = 160 };
/* Most nodes whose faults the bundle has in full. */
enum { SUPPORT_MAX = 20 };

#define OPERATOR_LABELS "app.kubernetes.io/name=ostler"

struct bundle {
    struct ask *ask;
    const struct gpu_options *o;
    struct archive *archive;
    struct buf inside;  /* one line per file */
    struct buf lacking; /* one line per missing thing */
    int64_t now_us;
    size_t logs, silent; /* logs written, and containers with an empty log */
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

static void add_objects(struct bundle *b, const char *name, const char *what, const json_t *objects,
                        scrub_fn *scrub)
{
    if (!objects)
        return;
    CLEANUP_JSON json_t *clean = json_array();
    JSON_EACH (object, objects)
        json_array_append_new(clean, scrub(object));
    if (!json_is_array(objects))
        json_array_append_new(clean, scrub(objects));
    CLEANUP_FREE char *text = yaml_dump(clean);
    add_text(b, name, what, text);
}

typedef void print_fn(const json_t *viewed, const struct paint *p, struct buf *out);

static void add_view(struct bundle *b, const char *name, const char *what, const json_t *viewed,
                     print_fn *print)
{
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_ROOM);
    print(viewed, &(struct paint){ .wide = true, .whole = true, .width = WIDTH }, &out);
    CLEANUP_FREE char *clean = scrub_text(buf_text(&out));
    add_text(b, name, what, clean);
}

/* ---- pods */

/* All pods that are not ready, and some of the others. New reference. */
static json_t *some_pods(struct bundle *b, const json_t *pods)
{
    json_t *some = json_array();
    size_t ready = 0;
    JSON_EACH (pod, pods)
        if (!condition_is_true(pod, "Ready") || ready++ < READY_PODS_MAX)
            json_array_append(some, pod);
    if (ready > READY_PODS_MAX)
        buf_printf(&b->lacking,
                   "pods.yaml: has all pods that are not ready, and %d of %zu ready pods\n",
                   READY_PODS_MAX, ready);
    return some;
}

static void add_log(void *arg, const char *file, const char *text, bool cut, const char *why)
{
    struct bundle *b = arg;
    if (!text) {
        lack(b, file, why);
    } else if (*text) {
        CLEANUP_FREE char *clean = scrub_text(text);
        archive_add(b->archive, file, clean, strlen(clean));
        b->logs++;
    } else {
        b->silent++;
    }
    if (cut)
        buf_printf(&b->lacking, "%s: has the last %d KiB of its last %d lines\n", file,
                   BUNDLE_LOGS_LINES, BUNDLE_LOGS_KIB);
}

static void add_logs(struct bundle *b, const json_t *pods, const json_t *reports)
{
    struct bundle_logs logs;
    bundle_logs_read(b->ask, pods, reports, add_log, b, &logs);
    if (logs.more)
        buf_printf(&b->lacking,
                   "logs: %zu more pods; pods that are not ready or have restarted containers come "
                   "first\n",
                   logs.more);
    if (logs.down)
        buf_printf(&b->lacking, "logs: those of %zu pods on nodes that are down\n", logs.down);
}

/* ---- additional requests */

/* Adds the operator's pods, the revision records, and the API server's version. */
static void add_others(struct bundle *b)
{
    enum { OWN_PODS, RECORDS, VERSION, COUNT };
    static const char *const left_out[] = { "metadata.managedFields", NULL };
    static const char *const names[] = { "pods of Ostler itself", "records of revisions",
                                         "version of the API server" };
    CLEANUP_ERR struct err e = { 0 };
    const char *ns = ask_namespace(b->ask, &e);
    struct fetch f[COUNT] = {
        [OWN_PODS] = { .resource = RESOURCE_POD,
                       .in = { .ns = ns, .label_selector = OPERATOR_LABELS },
                       .unwanted = !ns,
                       .left_out = left_out },
        [RECORDS] = { .resource = RESOURCE_REVISION,
                      .in = { .ns = b->o->operand_namespace },
                      .left_out = left_out },
        [VERSION] = { .request = request_version() },
    };
    ask_all(b->ask, f, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        if (!f[i].ret)
            lack(b, names[i], err_msg(f[i].unwanted ? &e : &f[i].e));
    add_objects(b, "ostler-pods.yaml", "pods of Ostler itself", f[OWN_PODS].ret, scrub_object);
    add_objects(b, "revisions.yaml", "content and result of each revision", f[RECORDS].ret,
                scrub_object);
    add_objects(b, "server.yaml", "version of the API server", f[VERSION].ret, scrub_object);
    add_logs(b, f[OWN_PODS].ret, NULL);
    if (f[OWN_PODS].ret && json_array_size(f[OWN_PODS].ret) == 0)
        buf_printf(&b->lacking,
                   "log of Ostler: namespace %s has no pod of Ostler; an Ostler that runs outside "
                   "the cluster writes its log there\n",
                   ns);
    fetches_clear(f, COUNT);
}

/* Adds the history of each stuck node. */
static void add_stories(struct bundle *b, const json_t *status)
{
    size_t told = 0;
    JSON_EACH (group, json_object_get(status, "stuck"))
        JSON_EACH_AT (k, node, json_object_get(group, "nodes")) {
            const char *name = json_string_value(node);
            if (k >= 3 || told >= EXPLAINED_MAX || !snapshot_is_name(name) || ask_stopped(b->ask))
                continue;
            CLEANUP_JSON json_t *snapshot = gather(
                b->ask, b->o, &(struct gathering){ SEE_ALL_OF_NODE, 0, name }, NULL);
            CLEANUP_JSON json_t *explained = snapshot ? explain_view(snapshot, name, b->now_us)
                                                      : NULL;
            CLEANUP_FREE char *file = xasprintf("explain/%.80s.txt", name);
            told += explained != NULL;
            if (explained)
                add_view(b, file, "the history of a node that is stuck", explained, explain_print);
        }
}

/* Adds the faults of one node, and its commands to the others'. */
static void add_support(struct bundle *b, const char *name, struct buf *commands)
{
    const struct gathering parts = { SEE_REPORTS | SEE_EVENTS | SEE_PODS, 0, name };
    CLEANUP_JSON json_t *snapshot = gather(b->ask, b->o, &parts, NULL);
    json_t *report = json_object_get(snapshot, "reports");
    CLEANUP_FREE char *text = xasprintf("faults/%.80s.txt", name);
    CLEANUP_FREE char *yaml = xasprintf("faults/%.80s.yaml", name);
    if (!report) {
        lack(b, text, "its GpuNode could not be read");
        return;
    }
    add_view(b, text, "a node with a fault, for a support ticket", snapshot, support_print);
    add_objects(b, yaml, "its GpuNode with its GPUs", report, scrub_object);
    support_print_commands(snapshot, &(struct paint){ .width = WIDTH }, commands);
}

/* Adds what NVIDIA's support asks for of each node whose GPUs have a fault, the worst level first,
 * and the commands for the rest. */
static void add_faults(struct bundle *b, const json_t *reports)
{
    static const char head[] =
        "NVIDIA's support also asks for the output of nvidia-bug-report.sh. It takes minutes.\n"
        "It runs in the driver's container, which is privileged: you need the permission for\n"
        "pods/exec. If the driver hangs, add --safe-mode. Its output is not masked: check it "
        "before\n"
        "you share it.\n";
    struct buf commands = BUF_INIT(TEXT_ROOM);
    size_t told = 0, more = 0;
    buf_str(&commands, head);
    for (int level = HEALTH_LEVELS - 1; level >= HEALTH_NONE; level--)
        JSON_EACH (report, reports) {
            enum health_level of = HEALTH_NONE;
            health_level_parse(json_str(report, "status.health.level"), &of);
            bool wanted = (int) of == level && support_is_needed(report) &&
                          snapshot_is_name(object_name(report)) && !ask_stopped(b->ask);
            if (wanted && told++ < SUPPORT_MAX)
                add_support(b, object_name(report), &commands);
            more += wanted && told > SUPPORT_MAX;
        }
    CLEANUP_FREE char *text = buf_take(&commands);
    if (told)
        add_text(b, "faults/commands.txt", "commands that collect the rest on the nodes", text);
    if (more)
        buf_printf(&b->lacking,
                   "faults: %zu more nodes with faults of GPUs; gpunodes.yaml has them\n", more);
}

/* ---- the bundle */

static void add_seen(struct bundle *b, const json_t *snapshot)
{
    CLEANUP_JSON json_t *status = status_view(snapshot, b->now_us);
    CLEANUP_JSON json_t *nodes = nodes_view(snapshot, &(struct nodes_wanted){ 0 }, b->now_us);
    CLEANUP_JSON json_t *events = events_view(snapshot, &(struct events_wanted){ 0 });
    CLEANUP_JSON json_t *pods = json_object_get(snapshot, "pods")
                                    ? some_pods(b, json_object_get(snapshot, "pods"))
                                    : NULL;
    JSON_EACH_MEMBER (part, why, json_object_get(snapshot, "missing"))
        lack(b, part, str_or_empty(json_string_value(why)));
    add_view(b, "status.txt", "kubectl gpu status", status, status_print);
    add_view(b, "nodes.txt", "kubectl gpu nodes -o wide", nodes, nodes_print);
    add_view(b, "events.txt", "kubectl gpu events", events, events_print);
    add_objects(b, "policy.yaml", "the GpuClusterPolicy", json_object_get(snapshot, "policy"),
                scrub_object);
    add_objects(b, "gpunodes.yaml", "Ostler's report of each node",
                json_object_get(snapshot, "reports"), scrub_object);
    add_objects(b, "nodes.yaml", "Nodes with GPUs: labels, taints, annotations",
                json_object_get(snapshot, "nodes"), scrub_node);
    add_objects(b, "lease.yaml", "who leads", json_object_get(snapshot, "lease"), scrub_object);
    add_objects(b, "daemonsets.yaml", "the operands", json_object_get(snapshot, "daemonsets"),
                scrub_object);
    add_objects(b, "pods.yaml", "pods of the operands", pods, scrub_object);
    add_objects(b, "events.yaml", "events as rows", events, scrub_object);
    add_others(b);
    add_logs(b, json_object_get(snapshot, "pods"), json_object_get(snapshot, "reports"));
    if (b->silent)
        buf_printf(&b->lacking, "logs: %zu containers have written no log\n", b->silent);
    add_stories(b, status);
    add_faults(b, json_object_get(snapshot, "reports"));
}

static void add_contents(struct bundle *b, const char *time)
{
    buf_printf(&b->inside, "%-24s logs of %zu containers, the last %d lines of each\n", "logs/",
               b->logs, BUNDLE_LOGS_LINES);
    CLEANUP_FREE char *cluster = scrub_text(ask_cluster(b->ask));
    CLEANUP_FREE char *text = xasprintf(
        "Support bundle of Ostler, made at %s by kubectl-gpu %s\n"
        "Cluster: %s\n"
        "\n"
        "No Secret was read. Values of variables, arguments and annotations whose names are those "
        "of secrets,\n"
        "passwords in URLs, tokens and private keys are masked. Check the bundle\n"
        "before you share it.\n"
        "\n"
        "Inside\n"
        "\n"
        "%s\n"
        "Not available\n"
        "\n"
        "%s",
        time, ostler_version, cluster, buf_text(&b->inside),
        b->lacking.len ? buf_text(&b->lacking) : "nothing: the bundle is complete\n");
    archive_add(b->archive, "README.txt", text, strlen(text));
}

static int bundle_finish(struct bundle *b, const char *path, struct err *e)
{
    if (archive_end(b->archive, !ask_stopped(b->ask), e) < 0)
        return -1;
    printf("%s\n\n%s", path, buf_text(&b->inside));
    if (b->lacking.len)
        printf("\nnot available:\n%s", buf_text(&b->lacking));
    printf("\nNo Secret was read, and what looks like one is masked; README.txt in the bundle has "
           "this "
           "list. Check the bundle before you share it.\n");
    return 0;
}

int bundle_write(struct ask *a, const struct gpu_options *o, struct err *e)
{
    struct bundle b = {
        .ask = a, .o = o, .inside = BUF_INIT(TEXT_ROOM), .lacking = BUF_INIT(TEXT_ROOM)
    };
    char time[CLOCK_TEXT_MAX];
    CLEANUP_JSON json_t *snapshot = gather(
        a, o,
        &(struct gathering){ SEE_POLICY | SEE_REPORTS | SEE_LEASE | SEE_NODES | SEE_EVENTS |
                                 SEE_PODS | SEE_SETS,
                             SEE_POLICY, NULL },
        e);
    b.now_us = ask_now_us(a);
    clock_rfc3339(b.now_us, time);
    CLEANUP_FREE char *top = xasprintf("ostler-bundle-%.4s%.2s%.2s-%.2s%.2s%.2s", time, time + 5,
                                       time + 8, time + 11, time + 14, time + 17);
    CLEANUP_FREE char *path = o->file ? xstrdup(o->file) : xasprintf("%s.tar.gz", top);
    b.archive = snapshot && ask_take_signals(a, e) == 0
                    ? archive_new(path, top, b.now_us / 1000000, e)
                    : NULL;
    int rc = -1;
    if (b.archive) {
        add_seen(&b, snapshot);
        add_contents(&b, time);
        rc = bundle_finish(&b, path, e);
    }
    buf_clear(&b.inside);
    buf_clear(&b.lacking);
    return rc;
}
