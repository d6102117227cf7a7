#include "reconcilers/decide/drain.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define NS "ostler-operands"
#define META(name, more)                                                                           \
    "'metadata': {'name': '" name "', 'namespace': 'ml', 'uid': 'u-" name                          \
    "', 'resourceVersion': '7'" more "}"
#define OWNER(kind) ", 'ownerReferences': [{'kind': '" kind "', 'controller': true}]"
#define OF_SET                                                                                     \
    ", 'ownerReferences': [{'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'controller': true}]"
#define NODE_UID "node-uid"
#define OF_NODE(uid)                                                                               \
    ", 'annotations': {'kubernetes.io/config.mirror': 'h'}, 'ownerReferences': [{'apiVersion': "   \
    "'v1', 'kind': 'Node', "                                                                       \
    "'name': 'n', 'uid': '" uid "', 'controller': true}]"
#define GPU "'nodeName': 'n', 'containers': [{'resources': {'limits': {'nvidia.com/gpu': '1'}}}]"
#define SERVICE(name)                                                                              \
    "{" META(name, OWNER("ReplicaSet") ", 'labels': {'team': 'a'}") ", 'spec': {" GPU "}}"
#define OTHERS(name)                                                                               \
    "{" META(name, OWNER("ReplicaSet") ", 'labels': {'team': 'b'}") ", 'spec': {" GPU "}}"
#define JOB(name)                                                                                  \
    "{" META(name,                                                                                 \
             OWNER("Job") ", 'labels': {'team': 'a'}") ", 'spec': {'restartPolicy': 'Never', " GPU \
                                                       "}}"
#define BARE(name) "{" META(name, ", 'labels': {'team': 'a'}") ", 'spec': {" GPU "}}"
#define BARE_JOB(name)                                                                             \
    "{" META(name, ", 'labels': {'team': 'a'}") ", 'spec': {'restartPolicy': 'Never', " GPU "}}"
#define GOING(name)                                                                                \
    "{" META(                                                                                      \
        name,                                                                                      \
        OWNER("Job") ", 'deletionTimestamp': 't'") ", 'spec': {'restartPolicy': 'Never', " GPU     \
                                                   "}}"
#define STATIC(name) "{" META(name, OF_NODE(NODE_UID)) ", 'spec': {" GPU "}}"
#define STATIC_ELSEWHERE(name) "{" META(name, OF_NODE("another")) ", 'spec': {" GPU "}}"
#define STATIC_FORGED(name)                                                                        \
    "{" META(name, OWNER("Node") ", 'labels': {'team': 'a'}") ", 'spec': {" GPU "}}"
#define DAEMON_FORGED(name)                                                                        \
    "{" META(name,                                                                                 \
             OWNER("DaemonSet") ", 'labels': {'team': 'a'}") ", 'spec': {'tolerations': "          \
                                                             "[{'operator': 'Exists'}], " GPU "}}"
#define TOLERANT(name, time)                                                                       \
    "{" META(name,                                                                                 \
             OWNER("ReplicaSet") ", 'labels': {'team': 'a'}, 'creationTimestamp': '" time          \
                                 "'") ", 'spec': {'tolerations': [{'operator': 'Exists'}], " GPU   \
                                      "}}"
#define MADE(name, time)                                                                           \
    "{" META(name, OWNER("ReplicaSet") ", 'labels': {'team': 'a'}, 'creationTimestamp': '" time    \
                                       "'") ", 'spec': {" GPU "}}"
#define PULL(name)                                                                                 \
    "{'metadata': {'name': '" name "', 'namespace': '" NS                                          \
    "', 'labels': {'app.kubernetes.io/managed-by': 'ostler', "                                     \
    "'ostler.dev/task': 'pull'}}, 'spec': {'nodeName': 'n'}}"
#define DATA(name)                                                                                 \
    "{" META(name, OWNER("ReplicaSet") ", 'labels': {'team': 'a'}") ", 'spec': {'volumes': "       \
                                                                    "[{'emptyDir': {}}], " GPU     \
                                                                    "}}"
#define DAEMON(name, tolerations)                                                                  \
    "{" META(name, OF_SET ", 'labels': {'team': 'a'}") ", 'spec': {'tolerations': [" tolerations   \
                                                       "], " GPU "}}"
#define OPERAND(name)                                                                              \
    "{'metadata': {'name': '" name "', 'namespace': '" NS                                          \
    "'" OWNER("DaemonSet") ", 'labels': {'app.kubernetes.io/managed-by': "                         \
                           "'ostler', 'app.kubernetes.io/component': 'driver'}}, 'spec': {" GPU    \
                           "}}"

#define WEB(name)                                                                                  \
    "{" META(name, OWNER("ReplicaSet") ", 'labels': {'team': 'a'}") ", 'spec': {'nodeName': 'n'}}"
#define WEB_ALONE(name) "{" META(name, ", 'labels': {'team': 'b'}") ", 'spec': {'nodeName': 'n'}}"
#define BATCH(name)                                                                                \
    "{" META(name, OWNER("Job")) ", 'spec': {'nodeName': 'n', 'restartPolicy': 'Never'}}"
#define LOGS(name) "{" META(name, OF_SET) ", 'spec': {'nodeName': 'n'}}"
#define WATCHER(name)                                                                              \
    "{" META(name, OF_SET) ", 'spec': {'nodeName': 'n', 'tolerations': [{'operator': 'Exists'}]}}"
#define ENGINE "{'process': 'nv-hostengine', 'unit': 'dcgm.service', 'pid': 812}"
#define PROXY(name) "{" META(name, OF_NODE(NODE_UID)) ", 'spec': {'nodeName': 'n'}}"

/* 2026-11-20T10:00:00Z */
enum { CLOSED_S = 1795168800 };

/* Pods of one node, as they are kept. */
struct node_of_pods {
    struct intern *strings;
    struct pod *pods;
};

/* The last one of the list comes first: the order is not that of the names. */
static struct node_of_pods node_with(const char *list)
{
    struct node_of_pods n = { intern_new(), NULL };
    CLEANUP_FREE char *text = xasprintf("[%s]", list);
    CLEANUP_JSON json_t *objects = tree(text);
    size_t i;
    json_t *object;
    json_array_foreach (objects, i, object) {
        struct pod *p = pod_project_any(n.strings, NS, NULL, object);
        if (!p)
            p = pod_project_task(n.strings, NS, object);
        assert_non_null(p);
        p->head.rv = 7; /* as the table notes it */
        p->next_on_node = n.pods;
        n.pods = p;
    }
    return n;
}

static void node_clear(struct node_of_pods *n)
{
    while (n->pods) {
        struct pod *p = n->pods;
        n->pods = p->next_on_node;
        pod_free(n->strings, p);
    }
    intern_free(n->strings);
}

/* A policy's drain and whether the time of jobs is over. */
struct terms {
    bool limited; /* drain.waitForJobs is set */
    bool jobs_may_go;
    bool force;
    bool keep_data;       /* deleteEmptyDir: false */
    const char *selector; /* NULL: none */
    bool all;             /* mode: AllPods */
    int64_t closed_for_s; /* it was closed so long ago, at CLOSED_S; 0: it is open */
    int64_t again_s;      /* in how long Ostler asks a pod again */
    const char *holders;  /* of the inventory; NULL: it says nothing of them */
};

/* What the plan does to which pods, one letter each: t: tried, e: evicted, d: deleted. */
static void describe(const struct actions *actions, struct buf *out)
{
    for (size_t i = 0; i < actions->len; i++) {
        const struct request *r = &actions->items[i].request;
        buf_printf(out, "%s%s %s", i ? ", " : "",
                   r->dry_run  ? "t"
                   : r->evicts ? "e"
                               : "d",
                   strrchr(actions->items[i].target, '/') + 1);
    }
}

static const struct drain_row {
    const char *name;
    const char *pods;
    struct terms terms;
    size_t waiting, stuck;
    const char *asked; /* what is done with a dry run first */
    const char *message;
} rows[] = {
    { "an empty node is drained", "", { 0 }, 0, 0, "", NULL },
    { "operands of ours stay", OPERAND("driver"), { 0 }, 0, 0, "", NULL },
    { "a service's pod is asked to leave",
      SERVICE("s"),
      { 0 },
      1,
      0,
      "t s, e s",
      "waits for 1 GPU pod: ml/s (to be evicted)" },
    { "all are tried before one is asked, by name",
      SERVICE("b") "," SERVICE("a"),
      { 0 },
      2,
      0,
      "t a, t b, e a, e b",
      "waits for 2 GPU pods: ml/a, ml/b (to be evicted)" },
    { "what is being deleted is not asked again",
      GOING("g"),
      { 0 },
      1,
      0,
      "",
      "waits for 1 GPU pod: ml/g (being deleted)" },
    { "beside one that is being deleted the others are asked",
      GOING("g") "," SERVICE("s"),
      { 0 },
      2,
      0,
      "t s, e s",
      "waits for 2 GPU pods: ml/s (to be evicted); ml/g (being deleted)" },

    { "jobs are waited for",
      JOB("j"),
      { 0 },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/j (a job: Ostler waits until it ends)" },
    { "while a job runs no pod is asked",
      JOB("j") "," SERVICE("s"),
      { 0 },
      2,
      1,
      "",
      "waits for 2 GPU pods: ml/j (a job: Ostler waits until it ends); ml/s (to be evicted)" },
    { "jobs are waited for up to a time",
      JOB("j"),
      { .limited = true },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/j (a job: Ostler waits until it ends or drain.waitForJobs is "
      "over)" },
    { "jobs whose time is over are asked",
      JOB("j"),
      { .limited = true, .jobs_may_go = true },
      1,
      0,
      "t j, e j",
      "waits for 1 GPU pod: ml/j (to be evicted)" },

    { "bare pods are left",
      BARE("b"),
      { 0 },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/b (no controller would recreate it: delete it or set drain.force)" },
    { "also when the jobs' time is over",
      BARE_JOB("b"),
      { .limited = true, .jobs_may_go = true },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/b (no controller would recreate it: delete it or set drain.force)" },
    { "bare pods that end are waited for",
      BARE_JOB("b"),
      { 0 },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/b (a job: Ostler waits until it ends)" },
    { "so they are with force",
      BARE_JOB("b"),
      { .force = true },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/b (a job: Ostler waits until it ends)" },
    { "with force bare pods are asked",
      BARE("b"),
      { .force = true },
      1,
      0,
      "t b, e b",
      "waits for 1 GPU pod: ml/b (to be evicted)" },

    { "an emptyDir is given up",
      DATA("d"),
      { 0 },
      1,
      0,
      "t d, e d",
      "waits for 1 GPU pod: ml/d (to be evicted)" },
    { "an emptyDir is kept where the policy says so",
      DATA("d"),
      { .keep_data = true },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/d (its emptyDir would be lost: end it or set "
      "drain.deleteEmptyDir)" },

    { "a DaemonSet's pod that does not come back is asked",
      DAEMON("d", "{'key': 'nvidia.com/gpu', 'operator': 'Exists'}"),
      { 0 },
      1,
      0,
      "t d, e d",
      "waits for 1 GPU pod: ml/d (to be evicted)" },
    { "a DaemonSet's pod that would come back is left",
      DAEMON("d", "{'operator': 'Exists'}"),
      { .force = true },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/d (of a DaemonSet that tolerates the upgrade's taint and would "
      "recreate it: remove the "
      "toleration)" },
    { "who tolerates the taint is asked",
      TOLERANT("s", "2026-11-20T09:59:59Z"),
      { .closed_for_s = 1 },
      1,
      0,
      "t s, e s",
      "waits for 1 GPU pod: ml/s (to be evicted)" },
    { "a pod that came back is left, and no other pod is asked",
      TOLERANT("s", "2026-11-20T10:00:00Z") "," SERVICE("t"),
      { .closed_for_s = 1, .again_s = 599 },
      2,
      1,
      "",
      "waits for 2 GPU pods: ml/s (came back to the tainted node, because of a toleration of the "
      "upgrade's taint or a "
      "nodeName: remove that); ml/t (to be evicted)" },
    { "of several that came back the first is asked again first",
      TOLERANT("s", "2026-11-20T10:00:00Z") "," TOLERANT("t", "2026-11-20T10:05:00Z"),
      { .closed_for_s = 400, .again_s = 200 },
      2,
      2,
      "",
      "waits for 2 GPU pods: ml/s, ml/t (came back to the tainted node, because of a toleration of "
      "the upgrade's taint or a "
      "nodeName: remove that)" },
    { "who came back is asked again after a while",
      TOLERANT("s", "2026-11-20T10:00:00Z"),
      { .closed_for_s = 600 },
      1,
      0,
      "t s, e s",
      "waits for 1 GPU pod: ml/s (to be evicted)" },
    { "no pod comes back to a node that is open",
      TOLERANT("s", "2026-11-20T10:00:01Z"),
      { 0 },
      1,
      0,
      "t s, e s",
      "waits for 1 GPU pod: ml/s (to be evicted)" },
    { "while the scheduler is behind no pod that came is asked",
      MADE("s", "2026-11-20T10:00:02Z"),
      { .closed_for_s = 2, .again_s = 4 },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/s (came back to the tainted node, because of a toleration of the "
      "upgrade's taint or a nodeName: "
      "remove that)" },
    { "what the scheduler bound is asked when it has seen the taint",
      MADE("s", "2026-11-20T10:00:05Z"),
      { .closed_for_s = 6 },
      1,
      0,
      "t s, e s",
      "waits for 1 GPU pod: ml/s (to be evicted)" },
    { "who comes back past the scheduler is left",
      MADE("s", "2026-11-20T10:00:06Z"),
      { .closed_for_s = 7, .again_s = 599 },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/s (came back to the tainted node, because of a toleration of the "
      "upgrade's taint or a "
      "nodeName: remove that)" },
    { "a pod that is said to be static on another node is asked",
      STATIC_ELSEWHERE("s"),
      { 0 },
      1,
      0,
      "t s, e s",
      "waits for 1 GPU pod: ml/s (to be evicted)" },
    { "a pod that names a Node of no group as its owner is asked",
      STATIC_FORGED("s"),
      { 0 },
      1,
      0,
      "t s, e s",
      "waits for 1 GPU pod: ml/s (to be evicted)" },
    { "a pod that names a DaemonSet of no group as its owner is asked, though it tolerates "
      "everything",
      DAEMON_FORGED("d"),
      { 0 },
      1,
      0,
      "t d, e d",
      "waits for 1 GPU pod: ml/d (to be evicted)" },
    { "static pods are left",
      STATIC("s"),
      { .force = true, .jobs_may_go = true },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/s (static pod: remove its manifest from the node)" },

    { "the selector's pods are asked",
      SERVICE("s"),
      { .selector = "{'matchLabels': {'team': 'a'}}" },
      1,
      0,
      "t s, e s",
      "waits for 1 GPU pod: ml/s (to be evicted)" },
    { "others hold the node up",
      OTHERS("o") "," SERVICE("s"),
      { .selector = "{'matchLabels': {'team': 'a'}}" },
      2,
      1,
      "",
      "waits for 2 GPU pods: ml/o (left out by drain.podSelector: end it or change the selector); "
      "ml/s (to be evicted)" },
    { "an invalid selector selects no pod",
      SERVICE("s"),
      { .selector = "{'matchLabels': 'x'}" },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/s (left out by drain.podSelector: end it or change the selector)" },

    { "pods without a GPU stay", WEB("w") "," BATCH("b"), { 0 }, 0, 0, "", NULL },
    { "where all are to leave they are asked, too",
      WEB("w") "," SERVICE("s"),
      { .all = true },
      2,
      0,
      "t s, t w, e s, e w",
      "waits for 2 pods: ml/s, ml/w (to be evicted)" },
    { "where all are to leave jobs without a GPU are waited for",
      BATCH("b") "," WEB("w"),
      { .all = true },
      2,
      1,
      "",
      "waits for 2 pods: ml/b (a job: Ostler waits until it ends); ml/w (to be evicted)" },
    { "where all are to leave bare pods without a GPU are left",
      WEB_ALONE("w"),
      { .all = true },
      1,
      1,
      "",
      "waits for 1 pod: ml/w (no controller would recreate it: delete it or set drain.force)" },
    { "where all are to leave those of DaemonSets, static ones and ours stay",
      LOGS("l") "," PROXY("p") "," OPERAND("o"),
      { .all = true, .force = true },
      0,
      0,
      "",
      NULL },
    { "where all are to leave the selector leaves those without a GPU alone",
      WEB("w") "," WEB_ALONE("x"),
      { .all = true, .selector = "{'matchLabels': {'team': 'a'}}" },
      1,
      0,
      "t w, e w",
      "waits for 1 pod: ml/w (to be evicted)" },

    { "where all are to leave one-off pods of ours stay",
      PULL("p"),
      { .all = true, .force = true },
      0,
      0,
      "",
      NULL },

    { "who has a GPU open is asked to leave, though it asked for none",
      WEB("w") "," WEB("x"),
      { .holders = "{'podUid': 'u-w'}" },
      1,
      0,
      "t w, e w",
      "waits for 1 GPU pod: ml/w (to be evicted)" },
    { "a holder that is on another node, or gone, does not count",
      WEB("w"),
      { .holders = "{'podUid': 'u-z'}" },
      0,
      0,
      "",
      NULL },
    { "jobs that asked for no GPU are waited for",
      BATCH("b"),
      { .holders = "{'podUid': 'u-b'}" },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/b (a job: Ostler waits until it ends)" },
    { "monitoring that would come back is left",
      WATCHER("m"),
      { .holders = "{'podUid': 'u-m'}" },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/m (of a DaemonSet that tolerates the upgrade's taint and would "
      "recreate it: remove the "
      "toleration)" },
    { "monitoring that would not is asked",
      LOGS("l"),
      { .holders = "{'podUid': 'u-l'}" },
      1,
      0,
      "t l, e l",
      "waits for 1 GPU pod: ml/l (to be evicted)" },
    { "a static pod is not asked, whatever an agent says",
      PROXY("p"),
      { .force = true, .holders = "{'podUid': 'u-p'}" },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/p (static pod: remove its manifest from the node)" },
    { "nor is a bare one",
      WEB_ALONE("w"),
      { .holders = "{'podUid': 'u-w'}" },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/w (no controller would recreate it: delete it or set drain.force)" },
    { "nor one that the selector leaves out",
      WEB_ALONE("w"),
      { .force = true,
        .selector = "{'matchLabels': {'team': 'a'}}",
        .holders = "{'podUid': 'u-w'}" },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/w (left out by drain.podSelector: end it or change the selector)" },
    { "operands and one-off pods of ours have a GPU open, and stay",
      OPERAND("driver") "," PULL("p"),
      { .holders = "{'podUid': 'u-driver'}, {'podUid': 'u-p'}" },
      0,
      0,
      "",
      NULL },
    { "a process of the host is waited for",
      "",
      { .holders = ENGINE },
      0,
      1,
      "",
      "waits for 1 process that no eviction ends and that has a GPU open: process nv-hostengine "
      "(812, unit dcgm.service) (end it "
      "on the node)" },
    { "meanwhile no pod is asked to leave",
      SERVICE("s"),
      { .force = true, .holders = ENGINE },
      1,
      1,
      "",
      "waits for 1 GPU pod: ml/s (to be evicted); and for 1 process that no eviction ends and "
      "that has a GPU open: process "
      "nv-hostengine (812, unit dcgm.service) (end it on the node)" },
    { "containers without a pod and static pods by their hash too",
      "",
      { .holders = "{'process': 'python3', 'container': '0123456789abcdef', 'pid': 7}, {'podUid': "
                   "'0123456789abcdef', 'process': "
                   "'dcgm'}, {}, " ENGINE },
      0,
      4,
      "",
      "waits for 4 processes that no eviction ends and that have a GPU open: process python3 (7, "
      "container 0123456789ab), "
      "process dcgm (in a static pod), process of no name and 1 more (end them on the node)" },

    { "three pods are named, and the others counted",
      JOB("e") "," JOB("d") "," JOB("c") "," SERVICE("b") "," SERVICE("a"),
      { 0 },
      5,
      3,
      "",
      "waits for 5 GPU pods: ml/c, ml/d, ml/e (a job: Ostler waits until it ends); 2 more (to be "
      "evicted)" },
    { "those of one kind too",
      SERVICE("d") "," SERVICE("c") "," SERVICE("b") "," SERVICE("a"),
      { 0 },
      4,
      0,
      "t a, t b, t c, t d, e a, e b, e c, e d",
      "waits for 4 GPU pods: ml/a, ml/b, ml/c and 1 more (to be evicted)" },
};

static void look(const struct node_of_pods *n, const struct terms *t, struct arena *a,
                 struct drain *ret)
{
    CLEANUP_JSON json_t *selector = t->selector ? tree(t->selector) : NULL;
    struct drain_spec spec = { .wait_for_jobs_s = t->limited ? 3600 : -1,
                               .delete_empty_dir = !t->keep_data,
                               .force = t->force,
                               .taint_key = TAINT_UPGRADE,
                               .mode = t->all ? DRAIN_ALL_PODS : DRAIN_GPU_PODS,
                               .pod_selector = selector };
    /* Its texts are looked at after it is gone. */
    static struct node_holders *holders;
    CLEANUP_FREE char *text = t->holders ? xasprintf("{'holders': [%s]}", t->holders) : NULL;
    CLEANUP_JSON json_t *inventory = text ? tree(text) : NULL;
    node_holders_free(holders);
    holders = node_holders_read(inventory);
    drain_look(&(struct drain_input){ n->pods, NODE_UID, n->strings, &spec, t->jobs_may_go,
                                      t->closed_for_s ? CLOSED_S : 0, CLOSED_S + t->closed_for_s,
                                      holders },
               a, ret);
}

static void check_drain(void **state)
{
    const struct drain_row *row = *state;
    CLEANUP(node_clear) struct node_of_pods n = node_with(row->pods);
    CLEANUP_ARENA struct arena a = { 0 };
    struct drain d;
    look(&n, &row->terms, &a, &d);
    assert_int_equal(d.waiting, row->waiting);
    assert_int_equal(d.stuck, row->stuck);
    assert_int_equal(d.again_s, row->terms.again_s);
    assert_string_equal(str_or_empty(d.message), str_or_empty(row->message));
    CLEANUP_ACTIONS struct actions actions = { 0 };
    drain_evict(&d, true, &actions);
    CLEANUP_BUF struct buf asked = BUF_INIT(1000);
    describe(&actions, &asked);
    assert_string_equal(buf_text(&asked), row->asked);
    size_t all = 0;
    for (int i = 0; i < DRAIN_FATE_COUNT; i++)
        all += d.of[i];
    assert_int_equal(all, d.waiting + d.of[DRAIN_STAYS]);
}

static void check_begun(void **state)
{
    (void) state;
    CLEANUP(node_clear) struct node_of_pods n = node_with(SERVICE("a") "," SERVICE("b"));
    CLEANUP_ARENA struct arena a = { 0 };
    struct drain d;
    look(&n, &(struct terms){ 0 }, &a, &d);
    CLEANUP_ACTIONS struct actions actions = { 0 };
    drain_evict(&d, false, &actions);
    CLEANUP_BUF struct buf text = BUF_INIT(1000);
    actions_text(&actions, &text);
    assert_string_equal(buf_text(&text), "Evict pod/ml/a Drain: the driver of its node is about to "
                                         "be replaced: Ostler evicts the pod\n"
                                         "Evict pod/ml/b Drain: the driver of its node is about to "
                                         "be replaced: Ostler evicts the pod\n");
    assert_false(actions.keep_going);
    CLEANUP_JSON json_t *body = json_parse(actions.items[0].request.body,
                                           strlen(actions.items[0].request.body), NULL);
    assert_string_equal(json_str(body, "deleteOptions.preconditions.uid"), "u-a");
}

static void check_delete(void **state)
{
    (void) state;
    CLEANUP(node_clear)
    struct node_of_pods n = node_with(GOING("g") "," SERVICE("s")),
                        with_job = node_with(SERVICE("s") "," JOB("j"));
    CLEANUP_ARENA struct arena a = { 0 };
    struct drain d;
    look(&n, &(struct terms){ 0 }, &a, &d);
    CLEANUP_ACTIONS struct actions actions = { 0 };
    drain_delete(&d, &actions);
    assert_int_equal(actions.len, 1);
    assert_string_equal(actions.items[0].request.path, "/api/v1/namespaces/ml/pods/s");
    CLEANUP_JSON json_t *body = json_parse(actions.items[0].request.body,
                                           strlen(actions.items[0].request.body), NULL);
    assert_tree(json_object_get(body, "preconditions"), "{'uid': 'u-s', 'resourceVersion': '7'}");
    look(&with_job, &(struct terms){ 0 }, &a, &d);
    drain_delete(&d, &actions);
    assert_int_equal(actions.len, 1);
}

/* Ostler asks no pod to leave before the drain. */
static void check_closed(void **state)
{
    (void) state;
    for (int phase = 0; phase < CLAIM_PHASE_COUNT; phase++) {
        struct claim c = { .phase = (enum claim_phase) phase,
                           .claimed_s = CLOSED_S,
                           .since_s = CLOSED_S + 1 };
        assert_int_equal(drain_closed_s(&c),
                         phase == CLAIM_DRAINING || phase == CLAIM_UNLOADING ? CLOSED_S : 0);
    }
}

/* Names of pods may be long, messages not. */
static void check_long_names(void **state)
{
    (void) state;
    char name[254];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CLEANUP_BUF struct buf list = BUF_INIT(100000);
    for (char c = 'a'; c <= 'e'; c++) {
        name[0] = c;
        buf_printf(&list, "%s{'metadata': {'name': '%s', 'namespace': '%.63s'}, 'spec': {" GPU "}}",
                   c == 'a' ? "" : ", ", name, name);
    }
    CLEANUP(node_clear) struct node_of_pods n = node_with(buf_text(&list));
    CLEANUP_ARENA struct arena a = { 0 };
    struct drain d;
    look(&n, &(struct terms){ 0 }, &a, &d);
    assert_in_range(strlen(d.message), 800, 900);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_drain, rows);
    suite_add(&s, "once it is begun nothing is tried first", check_begun, NULL);
    suite_add(&s, "a pod that would be asked is deleted, as it was seen, and none beside a job",
              check_delete, NULL);
    suite_add(&s, "pods are asked to leave from the drain on", check_closed, NULL);
    suite_add(&s, "the longest names make no endless sentence", check_long_names, NULL);
    return suite_run(&s, "drain");
}
