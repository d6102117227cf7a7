/* Which pods of a node are asked to leave, which are left and why, and what the drain waits for. */
#include "reconcilers/decide/drain.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define NS "ostler-operands"
#define NODE_UID "node-uid"
#define POD(name, meta, spec)                                                                      \
    "{'metadata': {'name': '" name "', 'namespace': 'ml', 'uid': 'u-" name                         \
    "', 'resourceVersion': '7'" meta "}, 'spec': {" spec "}}"

/* Members of a pod's metadata. */
#define TEAM(name) ", 'labels': {'team': '" name "'}"
#define MADE_AT(time) ", 'creationTimestamp': '" time "'"
#define OWNER(kind) ", 'ownerReferences': [{'kind': '" kind "', 'controller': true}]"
#define OF_SET                                                                                     \
    ", 'ownerReferences': [{'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'controller': true}]"
#define OF_NODE(uid)                                                                               \
    ", 'annotations': {'kubernetes.io/config.mirror': 'h'}, 'ownerReferences': [{'apiVersion': "   \
    "'v1', 'kind': 'Node', 'name': 'n', 'uid': '" uid "', 'controller': true}]"

/* Members of a pod's specification. */
#define ON_NODE "'nodeName': 'n'"
#define GPU ON_NODE ", 'containers': [{'resources': {'limits': {'nvidia.com/gpu': '1'}}}]"
#define ENDS "'restartPolicy': 'Never', "
#define TOLERATES(tolerations) "'tolerations': [" tolerations "], "
#define EVERYTHING "{'operator': 'Exists'}"

/* Pods that ask for a GPU. */
#define SERVICE(name) POD(name, OWNER("ReplicaSet") TEAM("a"), GPU)
#define OTHERS(name) POD(name, OWNER("ReplicaSet") TEAM("b"), GPU)
#define JOB(name) POD(name, OWNER("Job") TEAM("a"), ENDS GPU)
#define BARE(name) POD(name, TEAM("a"), GPU)
#define BARE_JOB(name) POD(name, TEAM("a"), ENDS GPU)
#define GOING(name) POD(name, OWNER("Job") ", 'deletionTimestamp': 't'", ENDS GPU)
#define STATIC(name) POD(name, OF_NODE(NODE_UID), GPU)
#define STATIC_ELSEWHERE(name) POD(name, OF_NODE("another"), GPU)
#define STATIC_FORGED(name) POD(name, OWNER("Node") TEAM("a"), GPU)
#define DAEMON_FORGED(name) POD(name, OWNER("DaemonSet") TEAM("a"), TOLERATES(EVERYTHING) GPU)
#define TOLERANT(name, time)                                                                       \
    POD(name, OWNER("ReplicaSet") TEAM("a") MADE_AT(time), TOLERATES(EVERYTHING) GPU)
#define MADE(name, time) POD(name, OWNER("ReplicaSet") TEAM("a") MADE_AT(time), GPU)
#define DATA(name) POD(name, OWNER("ReplicaSet") TEAM("a"), "'volumes': [{'emptyDir': {}}], " GPU)
#define DAEMON(name, tolerations) POD(name, OF_SET TEAM("a"), TOLERATES(tolerations) GPU)

/* Pods that ask for none. */
#define WEB(name) POD(name, OWNER("ReplicaSet") TEAM("a"), ON_NODE)
#define WEB_BACK(name, time)                                                                       \
    POD(name, OWNER("ReplicaSet") TEAM("a") MADE_AT(time), TOLERATES(EVERYTHING) ON_NODE)
#define WEB_ALONE(name) POD(name, TEAM("b"), ON_NODE)
#define BATCH(name) POD(name, OWNER("Job"), ENDS ON_NODE)
#define LOGS(name) POD(name, OF_SET, ON_NODE)
#define WATCHER(name) POD(name, OF_SET, TOLERATES(EVERYTHING) ON_NODE)
#define PROXY(name) POD(name, OF_NODE(NODE_UID), ON_NODE)

/* Ostler's own pods. */
#define OWN(name, owner, labels, spec)                                                             \
    "{'metadata': {'name': '" name "', 'namespace': '" NS "'" owner                                \
    ", 'labels': {'app.kubernetes.io/managed-by': 'ostler', " labels "}}, 'spec': {" spec "}}"
#define PULL(name) OWN(name, "", "'ostler.dev/task': 'pull'", ON_NODE)
#define OPERAND(name) OWN(name, OWNER("DaemonSet"), "'app.kubernetes.io/component': 'driver'", GPU)

/* A process of the host. */
#define ENGINE "{'process': 'nv-hostengine', 'unit': 'dcgm.service', 'pid': 812}"

/* Why a pod is not asked to leave. */
#define IS_JOB "a job: Ostler waits until it ends"
#define IS_BARE "no controller would recreate it: delete it or set drain.force"
#define IS_STATIC "static pod: remove its manifest from the node"
#define LEFT_OUT "left out by drain.podSelector: end it or change the selector"
#define CAME_BACK                                                                                  \
    "came back to the tainted node, because of a toleration of the upgrade's taint or a "          \
    "nodeName: remove that"
#define COMES_AGAIN                                                                                \
    "of a DaemonSet that tolerates the upgrade's taint and would recreate it: remove the "         \
    "toleration"

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

/* What a look at the pods comes to. */
struct drain_row {
    const char *name;
    const char *pods;
    size_t waiting, stuck;
    const char *asked; /* what is done with a dry run first */
    const char *message;
    struct terms terms;
};

static void expect_drain(const struct drain_row *row)
{
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

/* ---- nodes that no pod keeps from being drained */

static const struct stays_row {
    const char *name;
    const char *pods;
    struct terms terms;
} stays_rows[] = {
    { "an empty node is drained", .pods = "" },
    { "operands of ours stay", .pods = OPERAND("driver") },
    { "pods without a GPU stay", .pods = WEB("w") "," BATCH("b") },
    { "where all are to leave those of DaemonSets, static ones and ours stay",
      .pods = LOGS("l") "," PROXY("p") "," OPERAND("o"), .terms.all = true, .terms.force = true },
    { "where all are to leave those without a GPU stay that came back",
      .pods = WEB_BACK("w", "2026-11-20T10:00:01Z"), .terms.all = true, .terms.closed_for_s = 2 },
    { "where all are to leave one-off pods of ours stay", .pods = PULL("p"), .terms.all = true,
      .terms.force = true },
    { "a holder that is on another node, or gone, does not count", .pods = WEB("w"),
      .terms.holders = "{'podUid': 'u-z'}" },
    { "operands and one-off pods of ours have a GPU open, and stay",
      .pods = OPERAND("driver") "," PULL("p"),
      .terms.holders = "{'podUid': 'u-driver'}, {'podUid': 'u-p'}" },
};

static void check_stays(void **state)
{
    const struct stays_row *row = *state;
    expect_drain(&(struct drain_row){
        .name = row->name, .pods = row->pods, .terms = row->terms, .asked = "" });
}

/* ---- nodes that one pod keeps from being drained */

static const struct one_row {
    const char *name;
    const char *pods;
    const char *pod;
    const char *why; /* it is not asked to leave; NULL: it is asked */
    struct terms terms;
} one_rows[] = {
    { "a service's pod is asked to leave", SERVICE("s"), .pod = "s" },

    { "jobs are waited for", JOB("j"), .pod = "j", .why = IS_JOB },
    { "jobs are waited for up to a time", JOB("j"), .pod = "j",
      .why = IS_JOB " or drain.waitForJobs is over", .terms.limited = true },
    { "jobs whose time is over are asked", JOB("j"), .pod = "j", .terms.limited = true,
      .terms.jobs_may_go = true },

    { "bare pods are left", BARE("b"), .pod = "b", .why = IS_BARE },
    { "also when the jobs' time is over", BARE_JOB("b"), .pod = "b", .why = IS_BARE,
      .terms.limited = true, .terms.jobs_may_go = true },
    { "bare pods that end are waited for", BARE_JOB("b"), .pod = "b", .why = IS_JOB },
    { "so they are with force", BARE_JOB("b"), .pod = "b", .why = IS_JOB, .terms.force = true },
    { "with force bare pods are asked", BARE("b"), .pod = "b", .terms.force = true },

    { "an emptyDir is given up", DATA("d"), .pod = "d" },
    { "an emptyDir is kept where the policy says so", DATA("d"), .pod = "d",
      .why = "its emptyDir would be lost: end it or set drain.deleteEmptyDir",
      .terms.keep_data = true },

    { "a DaemonSet's pod that does not come back is asked",
      DAEMON("d", "{'key': 'nvidia.com/gpu', 'operator': 'Exists'}"), .pod = "d" },
    { "a DaemonSet's pod that would come back is left", DAEMON("d", EVERYTHING), .pod = "d",
      .why = COMES_AGAIN, .terms.force = true },
    { "who tolerates the taint is asked", TOLERANT("s", "2026-11-20T09:59:59Z"), .pod = "s",
      .terms.closed_for_s = 1 },
    { "who came back is asked again after a while", TOLERANT("s", "2026-11-20T10:00:00Z"),
      .pod = "s", .terms.closed_for_s = 600 },
    { "no pod comes back to a node that is open", TOLERANT("s", "2026-11-20T10:00:01Z"),
      .pod = "s" },
    { "while the scheduler is behind no pod that came is asked", MADE("s", "2026-11-20T10:00:02Z"),
      .pod = "s", .why = CAME_BACK, .terms.closed_for_s = 2, .terms.again_s = 4 },
    { "what the scheduler bound is asked when it has seen the taint",
      MADE("s", "2026-11-20T10:00:05Z"), .pod = "s", .terms.closed_for_s = 6 },
    { "who comes back past the scheduler is left", MADE("s", "2026-11-20T10:00:06Z"), .pod = "s",
      .why = CAME_BACK, .terms.closed_for_s = 7, .terms.again_s = 599 },
    { "a pod that is said to be static on another node is asked", STATIC_ELSEWHERE("s"),
      .pod = "s" },
    { "a pod that names a Node of no group as its owner is asked", STATIC_FORGED("s"), .pod = "s" },
    { "a pod that names a DaemonSet of no group as its owner is asked, though it tolerates "
      "everything",
      DAEMON_FORGED("d"), .pod = "d" },
    { "static pods are left", STATIC("s"), .pod = "s", .why = IS_STATIC, .terms.force = true,
      .terms.jobs_may_go = true },

    { "the selector's pods are asked", SERVICE("s"), .pod = "s",
      .terms.selector = "{'matchLabels': {'team': 'a'}}" },
    { "an invalid selector selects no pod", SERVICE("s"), .pod = "s", .why = LEFT_OUT,
      .terms.selector = "{'matchLabels': 'x'}" },
    { "where all are to leave bare pods without a GPU are left", WEB_ALONE("w"), .pod = "w",
      .why = IS_BARE, .terms.all = true },
    { "where all are to leave the selector leaves those without a GPU alone",
      WEB("w") "," WEB_ALONE("x"), .pod = "w", .terms.all = true,
      .terms.selector = "{'matchLabels': {'team': 'a'}}" },

    { "who has a GPU open is asked to leave, though it asked for none", WEB("w") "," WEB("x"),
      .pod = "w", .terms.holders = "{'podUid': 'u-w'}" },
    { "jobs that asked for no GPU are waited for", BATCH("b"), .pod = "b", .why = IS_JOB,
      .terms.holders = "{'podUid': 'u-b'}" },
    { "monitoring that would come back is left", WATCHER("m"), .pod = "m", .why = COMES_AGAIN,
      .terms.holders = "{'podUid': 'u-m'}" },
    { "monitoring that would not is asked", LOGS("l"), .pod = "l",
      .terms.holders = "{'podUid': 'u-l'}" },
    { "a static pod is not asked, whatever an agent says", PROXY("p"), .pod = "p", .why = IS_STATIC,
      .terms.force = true, .terms.holders = "{'podUid': 'u-p'}" },
    { "nor is a bare one", WEB_ALONE("w"), .pod = "w", .why = IS_BARE,
      .terms.holders = "{'podUid': 'u-w'}" },
    { "nor one that the selector leaves out", WEB_ALONE("w"), .pod = "w", .why = LEFT_OUT,
      .terms.force = true, .terms.selector = "{'matchLabels': {'team': 'a'}}",
      .terms.holders = "{'podUid': 'u-w'}" },
};

static void check_one(void **state)
{
    const struct one_row *row = *state;
    CLEANUP_FREE char *message = xasprintf("waits for 1 %s: ml/%s (%s)",
                                           row->terms.all ? "pod" : "GPU pod", row->pod,
                                           row->why ? row->why : "to be evicted");
    CLEANUP_FREE char *asked = xasprintf("t %s, e %s", row->pod, row->pod);
    expect_drain(&(struct drain_row){ .name = row->name,
                                      .pods = row->pods,
                                      .terms = row->terms,
                                      .waiting = 1,
                                      .stuck = row->why ? 1 : 0,
                                      .asked = row->why ? "" : asked,
                                      .message = message });
}

/* ---- nodes that something else keeps from being drained: several pods, or processes */

static const struct drain_row several_rows[] = {
    { "all are tried before one is asked, by name", SERVICE("b") "," SERVICE("a"), .waiting = 2,
      .stuck = 0, .asked = "t a, t b, e a, e b",
      .message = "waits for 2 GPU pods: ml/a, ml/b (to be evicted)" },
    { "what is being deleted is not asked again", GOING("g"), .waiting = 1, .stuck = 0, .asked = "",
      .message = "waits for 1 GPU pod: ml/g (being deleted)" },
    { "beside one that is being deleted the others are asked", GOING("g") "," SERVICE("s"),
      .waiting = 2, .stuck = 0, .asked = "t s, e s",
      .message = "waits for 2 GPU pods: ml/s (to be evicted); ml/g (being deleted)" },
    { "while a job runs no pod is asked", JOB("j") "," SERVICE("s"), .waiting = 2, .stuck = 1,
      .asked = "", .message = "waits for 2 GPU pods: ml/j (" IS_JOB "); ml/s (to be evicted)" },
    { "a pod that came back is left, and no other pod is asked",
      TOLERANT("s", "2026-11-20T10:00:00Z") "," SERVICE("t"), .waiting = 2, .stuck = 1, .asked = "",
      .message = "waits for 2 GPU pods: ml/s (" CAME_BACK "); ml/t (to be evicted)",
      .terms.closed_for_s = 1, .terms.again_s = 599 },
    { "of several that came back the first is asked again first",
      TOLERANT("s", "2026-11-20T10:00:00Z") "," TOLERANT("t", "2026-11-20T10:05:00Z"), .waiting = 2,
      .stuck = 2, .asked = "", .message = "waits for 2 GPU pods: ml/s, ml/t (" CAME_BACK ")",
      .terms.closed_for_s = 400, .terms.again_s = 200 },
    { "others hold the node up", OTHERS("o") "," SERVICE("s"), .waiting = 2, .stuck = 1,
      .asked = "", .message = "waits for 2 GPU pods: ml/o (" LEFT_OUT "); ml/s (to be evicted)",
      .terms.selector = "{'matchLabels': {'team': 'a'}}" },
    { "where all are to leave they are asked, too", WEB("w") "," SERVICE("s"), .waiting = 2,
      .stuck = 0, .asked = "t s, t w, e s, e w",
      .message = "waits for 2 pods: ml/s, ml/w (to be evicted)", .terms.all = true },
    { "where all are to leave jobs without a GPU are waited for", BATCH("b") "," WEB("w"),
      .waiting = 2, .stuck = 1, .asked = "",
      .message = "waits for 2 pods: ml/b (" IS_JOB "); ml/w (to be evicted)", .terms.all = true },
    { "a process of the host is waited for", "", .waiting = 0, .stuck = 1, .asked = "",
      .message = "waits for 1 process that no eviction ends and that has a GPU open: process "
                 "nv-hostengine (812, unit dcgm.service) (end it on the node)",
      .terms.holders = ENGINE },
    { "meanwhile no pod is asked to leave", SERVICE("s"), .waiting = 1, .stuck = 1, .asked = "",
      .message = "waits for 1 GPU pod: ml/s (to be evicted); and for 1 process that no eviction "
                 "ends and that has a GPU open: process nv-hostengine (812, unit dcgm.service) "
                 "(end it on the node)",
      .terms.force = true, .terms.holders = ENGINE },
    { "containers without a pod and static pods by their hash too", "", .waiting = 0, .stuck = 4,
      .asked = "",
      .message = "waits for 4 processes that no eviction ends and that have a GPU open: process "
                 "python3 (7, container 0123456789ab), process dcgm (in a static pod), process of "
                 "no name and 1 more (end them on the node)",
      .terms.holders = "{'process': 'python3', 'container': '0123456789abcdef', 'pid': 7}, "
                       "{'podUid': '0123456789abcdef', 'process': 'dcgm'}, {}, " ENGINE },
    { "three pods are named, and the others counted",
      JOB("e") "," JOB("d") "," JOB("c") "," SERVICE("b") "," SERVICE("a"), .waiting = 5,
      .stuck = 3, .asked = "",
      .message = "waits for 5 GPU pods: ml/c, ml/d, ml/e (" IS_JOB "); 2 more (to be evicted)" },
    { "those of one kind too", SERVICE("d") "," SERVICE("c") "," SERVICE("b") "," SERVICE("a"),
      .waiting = 4, .stuck = 0, .asked = "t a, t b, t c, t d, e a, e b, e c, e d",
      .message = "waits for 4 GPU pods: ml/a, ml/b, ml/c and 1 more (to be evicted)" },
};

static void check_several(void **state)
{
    expect_drain(*state);
}

/* ---- what is sent, and when */

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

/* Ostler asks no pod to leave before the drain, and some before a reboot. */
static void check_closed(void **state)
{
    (void) state;
    for (int phase = 0; phase < CLAIM_PHASE_COUNT; phase++) {
        struct claim c = { .phase = (enum claim_phase) phase,
                           .claimed_s = CLOSED_S,
                           .since_s = CLOSED_S + 1 };
        bool evicts = phase == CLAIM_DRAINING || phase == CLAIM_UNLOADING ||
                      phase == CLAIM_RESETTING || phase == CLAIM_REBOOTING;
        assert_int_equal(drain_closed_s(&c), evicts ? CLOSED_S : 0);
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
    SUITE_ROWS(&s, check_stays, stays_rows);
    SUITE_ROWS(&s, check_one, one_rows);
    SUITE_ROWS(&s, check_several, several_rows);
    suite_add(&s, "once it is begun nothing is tried first", check_begun, NULL);
    suite_add(&s, "a pod that would be asked is deleted, as it was seen, and none beside a job",
              check_delete, NULL);
    suite_add(&s, "pods are asked to leave from the drain on", check_closed, NULL);
    suite_add(&s, "the longest names make no endless sentence", check_long_names, NULL);
    return suite_run(&s, "drain");
}
