/* What is left out of an object changes nothing of its record. */
#include "reconcilers/projections.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "kube/split.h"
#include "reconcilers/model/foreign.h"
#include "reconcilers/model/child.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/node.h"
#include "reconcilers/model/pod.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define META(more)                                                                                 \
    "'metadata':{'name':'a','namespace':'operands','uid':'u','resourceVersion':'7','"              \
    "managedFields':[{'manager':'kubectl'}]" more "}"
#define CONTAINER(name, more)                                                                      \
    "{'name':'" name "','image':'i','args':['x'],'command':['y'],'env':[{'name':'E'}],'ports':[]," \
    "'volumeMounts':[{'name':'v'}],"                                                               \
    "'securityContext':{'privileged':true},'imagePullPolicy':'Always','resources':{'limits':{'"    \
    "nvidia.com/gpu':'2'}}" more "}"
#define CONDITIONS                                                                                 \
    "'conditions':[{'type':'Ready','status':'False','reason':'R','message':'m','"                  \
    "lastTransitionTime':'t','lastProbeTime':null,"                                                \
    "'lastHeartbeatTime':'t'},{'type':'PodScheduled','status':'False','reason':'Unschedulable','"  \
    "message':'no room'},"                                                                         \
    "{'type':'GpuReady','status':'False','reason':'R','message':'m'}]"
#define OPERAND                                                                                    \
    ",'ownerReferences':[{'kind':'DaemonSet','name':'driver','controller':true}],'annotations':{'" \
    "x':'y'},'labels':"                                                                            \
    "{'app.kubernetes.io/managed-by':'ostler','app.kubernetes.io/component':'driver','ostler.dev/" \
    "revision':'h'}"

static const struct view_row {
    const char *name;
    enum resource_id resource;
    const char *text;
    const char *rest; /* a path that is left out */
} rows[] = {
    { "a node", RESOURCE_NODE,
      "{" META(",'labels':{'a':'b','nvidia.com/gpu':'x'},'annotations':{'ostler.dev/"
               "marks':'m','ostler.dev/host-driver':'true','x':'y','karpenter.sh/"
               "do-not-disrupt':'true'}") ",'spec':{'podCIDR':'c',"
                                          "'taints':[{'key':'k','effect':'"
                                          "NoSchedule'}]},'status':{" CONDITIONS
                                          ",'allocatable':{'nvidia.com/"
                                          "gpu':'8'},'capacity':{'nvidia.com/"
                                          "gpu':'8'},"
                                          "'images':[{'names':['n']}],'addresses':[{"
                                          "}],'nodeInfo':{'osImage':'Ubuntu "
                                          "24.04','kernelVersion':'6','"
                                          "kubeletVersion':'v1','architecture':'"
                                          "amd64',"
                                          "'containerRuntimeVersion':'containerd://"
                                          "2','bootID':'b','machineID':'m','"
                                          "systemUUID':'s'}}}",
      "status.images" },
    { "a pod that uses a GPU", RESOURCE_POD,
      "{" META(
          ",'labels':{'app':'x'},'ownerReferences':[{'kind':'DaemonSet','name':'d','controller':"
          "true}]") ",'spec':{'nodeName':'n','volumes':[{'name':'v','emptyDir':{'medium':'Memory'}}"
                    ",{'name':'w','projected':{'sources':[]}}],"
                    "'tolerations':[{'operator':'Exists','tolerationSeconds':300}],'nodeSelector':{"
                    "'a':'b'},'containers':[" CONTAINER("c", "") "],'initContainers':[" CONTAINER(
                        "d", "") "]},'status':{'phase':'Running','podIP':'1'}}",
      "spec.nodeSelector" },
    { "a job's pod", RESOURCE_POD,
      "{" META(
          ",'ownerReferences':[{'kind':'Job','name':'j','controller':true}]") ",'spec':{'nodeName':"
                                                                              "'n','restartPolicy':"
                                                                              "'Never','volumes':[{"
                                                                              "'name':'w','secret':"
                                                                              "{}}],"
                                                                              "'affinity':{},'"
                                                                              "containers':"
                                                                              "[" CONTAINER(
                                                                                  "c",
                                                                                  "") "]},'status':"
                                                                                      "{'phase':'"
                                                                                      "Running'}}",
      "spec.affinity" },
    { "a static pod", RESOURCE_POD,
      "{" META(",'annotations':{'x':'y','kubernetes.io/"
               "config.mirror':'h'},'ownerReferences':[{'apiVersion':'v1','kind':'Node',"
               "'name':'n','uid':'u','controller':true}]") ",'spec':{'nodeName':'n','containers':"
                                                           "[" CONTAINER("c", "") "]},'status':{}}",
      "metadata.annotations.x" },
    { "a pod of another operator", RESOURCE_POD,
      "{" META(",'labels':{'app':'nvidia-driver-daemonset'},'ownerReferences':[{'apiVersion':'apps/"
               "v1','kind':'DaemonSet',"
               "'name':'d','controller':true}]") ",'spec':{'nodeName':'n','volumes':[{'name':'v','"
                                                 "hostPath':{'path':'/'}}],"
                                                 "'containers':[{'image':'nvcr.io/nvidia/"
                                                 "driver:580','args':[]}]},'status':{}}",
      "metadata.managedFields" },
    { "an operand that crashes", RESOURCE_POD,
      "{" META(OPERAND) ",'spec':{'nodeName':'n','volumes':[],'containers':[" CONTAINER(
          "driver", "") "]},'status':{'phase':'Running','hostIP':'1'," CONDITIONS
                        ",'initContainerStatuses':[{'name':'host-driver','image':'i',"
                        "'imageID':'j','containerID':'k','state':{'terminated':{'exitCode':1,'"
                        "message':'m'}}}],"
                        "'containerStatuses':[{'name':'driver','image':'i','imageID':'j','"
                        "restartCount':3,'ready':false,"
                        "'state':{'waiting':{'reason':'CrashLoopBackOff'}},'lastState':{'"
                        "terminated':{'exitCode':1,'message':'cannot build'}}}]}}",
      "metadata.annotations.x" },
    { "an operand that finds no room", RESOURCE_POD,
      "{" META(OPERAND) ",'spec':{'affinity':{},'containers':[" CONTAINER(
          "driver", "") "]},'status':{'phase':'Pending'," CONDITIONS "}}",
      "spec.affinity" },
    { "an operand that has failed", RESOURCE_POD,
      "{" META(OPERAND) ",'spec':{'affinity':{}},'status':{'phase':'Failed','reason':'Evicted','"
                        "message':'disk is full'}}",
      "spec.affinity" },
};

static json_t *parse(const struct view_row *row, bool whole)
{
    CLEANUP_FREE char *text = json_quoted(row->text);
    json_t *object = whole ? json_parse(text, strlen(text), NULL)
                           : split_object(text, strlen(text), projection_view(row->resource), NULL);
    assert_non_null(object);
    return object;
}

static void check_same_record(void **state)
{
    const struct view_row *row = *state;
    CLEANUP_JSON json_t *whole = parse(row, true), *part = parse(row, false);
    assert_non_null(json_at(whole, row->rest));
    assert_null(json_at(part, row->rest));
    struct intern *in = intern_new();
    if (row->resource == RESOURCE_NODE) {
        struct node *a = node_project(in, whole), *b = node_project(in, part);
        assert_true(node_same(a, b) && a->gpus == 8 && a->kernel && a->taints && a->host_driver);
        node_free(in, a);
        node_free(in, b);
    } else {
        struct pod *a = pod_project(in, "operands", NULL, whole),
                   *b = pod_project(in, "operands", NULL, part);
        assert_non_null(a);
        assert_true(pod_same(a, b) && a->reason == b->reason);
        assert_int_equal(a->scratch, strstr(row->text, "emptyDir") != NULL);
        assert_int_equal(pod_tolerates(in, a, "ostler.dev/upgrade"),
                         strstr(row->text, "tolerations") != NULL);
        assert_int_equal(a->ends, strstr(row->text, "Never") != NULL);
        assert_int_equal(a->fixed, strstr(row->text, "config.mirror") != NULL);
        pod_free(in, a);
        pod_free(in, b);
    }
    assert_int_equal(intern_count(in), 0);
    intern_free(in);
}

#define CHILD_META(managers)                                                                       \
    "'metadata':{'name':'a','namespace':'operands','uid':'u','generation':3,'labels':{'ostler."    \
    "dev/policy-uid':'p',"                                                                         \
    "'ostler.dev/revision':'h'},"                                                                  \
    "'annotations':{'ostler.dev/intent':'i'},'managedFields':[" managers "]}"
#define OURS                                                                                       \
    "{'manager':'ostler','operation':'Apply','fieldsV1':{'f:spec':{'f:template':{'f:spec':{}},'f:" \
    "selector':{}}}}"
#define STATUS                                                                                     \
    "{'manager':'controller','operation':'Update','subresource':'status','fieldsV1':{'f:status':{" \
    "}}}"
#define THEIRS                                                                                     \
    "{'manager':'carol','operation':'Update','fieldsV1':{'f:spec':{'f:template':{'f:spec':{}}},'"  \
    "f:metadata':{}}}"

static const struct child_row {
    const char *name;
    const char *managers;
    bool drifted;
} children[] = {
    { "a child as it was applied", OURS "," STATUS, false },
    { "a child of which another manager has set a field", OURS "," STATUS "," THEIRS, true },
};

static void check_child(void **state)
{
    const struct child_row *row = *state;
    CLEANUP_FREE char *plain = xasprintf(
        "{" CHILD_META("%s") ",'spec':{'template':{}},'status':{'observedGeneration':3,'"
                             "desiredNumberScheduled':5,"
                             "'updatedNumberScheduled':4,'conditions':[]}}",
        row->managers);
    CLEANUP_FREE char *text = json_quoted(plain);
    CLEANUP_JSON json_t *whole = json_parse(text, strlen(text), NULL),
                        *part = split_object(text, strlen(text),
                                             projection_view(RESOURCE_DAEMONSET), NULL);
    assert_null(json_at(part, "spec"));
    struct child *a = child_project(RESOURCE_DAEMONSET, whole),
                 *b = child_project(RESOURCE_DAEMONSET, part);
    assert_true(child_same(a, b) && a->desired == 5 && a->counted);
    assert_int_equal(b->kept_managers != NULL, row->drifted);
    child_free(a);
    child_free(b);
}

/* Of another operator's DaemonSet Ostler sees what it runs and where, but not its status, which
 * changes with every node. */
static void a_daemonset_of_others_is_seen_without_its_status(void **state)
{
    (void) state;
    CLEANUP_FREE char *text = json_quoted(
        "{'metadata':{'name':'d','namespace':'kube-system','uid':'u','generation':2,'labels':{},'"
        "managedFields':[{}]},'spec':{"
        "'template':{'metadata':{'labels':{'name':'nvidia-device-plugin-ds'}},'spec':{'"
        "nodeSelector':{'pool':'gpu'},'affinity':{"
        "'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{'"
        "matchExpressions':["
        "{'key':'zone','operator':'In','values':['a']}]}]}}},'containers':[{'name':'c','image':'"
        "plugin:1','args':['x']}],"
        "'volumes':[{'name':'v','hostPath':{'path':'/var/lib/kubelet/"
        "device-plugins'}}]}}},'status':{'numberReady':5}}");
    CLEANUP_JSON json_t *whole = json_parse(text, strlen(text), NULL),
                        *part = split_object(text, strlen(text), projection_view(RESOURCE_FOREIGN),
                                             NULL);
    assert_null(json_at(part, "status.numberReady"));
    struct foreign *a = foreign_project(whole), *b = foreign_project(part);
    assert_non_null(a);
    assert_non_null(b);
    assert_true(foreign_same(a, b) && a->generation == 2 && a->of_cluster == b->of_cluster);
    static const struct {
        const char *labels;
        bool selected;
    } nodes[] = { { "{'pool':'gpu','zone':'a'}", true },
                  { "{'pool':'gpu','zone':'b'}", false },
                  { "{'zone':'a'}", false } };
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        CLEANUP_JSON json_t *labels = tree(nodes[i].labels);
        assert_int_equal(foreign_selects(a, selector_lookup_json, labels), nodes[i].selected);
        assert_int_equal(foreign_selects(b, selector_lookup_json, labels), nodes[i].selected);
    }
    foreign_free(a);
    foreign_free(b);
}

/* However much stands before it. */
static void what_a_pod_asks_for_is_seen(void **state)
{
    (void) state;
    CLEANUP_FREE char *name = xcalloc(1, 32001);
    memset(name, 'n', 32000);
    struct buf text = BUF_INIT(64 << 20);
    buf_str(&text, "{\"metadata\":{\"ownerReferences\":[{}");
    for (int i = 0; i < 40; i++)
        buf_printf(&text, ",{\"name\":\"%s\"}", name);
    buf_str(&text, "]},\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"1\","
                   "\"nvidia.com/gpu\":\"8\"}}}]}}");
    CLEANUP_JSON json_t *object = split_object(text.data, text.len, projection_view(RESOURCE_POD),
                                               NULL);
    buf_clear(&text);
    assert_in_range(json_array_size(json_at(object, "metadata.ownerReferences")), 30, 36);
    assert_int_equal(pod_gpus(object), 8);
}

static void a_pod_of_more_containers_than_are_seen_is_not_idle(void **state)
{
    (void) state;
    struct buf text = BUF_INIT(64 << 20);
    buf_str(&text, "{\"spec\":{\"containers\":[{}");
    for (int i = 0; i < SPLIT_MEMBERS_MAX; i++)
        buf_str(&text, ",{}");
    buf_str(&text, ",{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"8\"}}}]}}");
    CLEANUP_JSON json_t *object = split_object(text.data, text.len, projection_view(RESOURCE_POD),
                                               NULL);
    buf_clear(&text);
    assert_int_equal(pod_gpus(object), 1);
}

static void labels_and_owners_of_the_policy_are_not_seen(void **state)
{
    (void) state;
    CLEANUP_FREE char *text = json_quoted(
        "{'metadata':{'name':'default','labels':{'a':'b'},'ownerReferences':[{'uid':'u'}],"
        "'annotations':{'a':'b'}},'spec':{'driver':{'labels':{'a':'b'}}}}");
    CLEANUP_JSON json_t *object = split_object(text, strlen(text), projection_view(RESOURCE_POLICY),
                                               NULL);
    assert_null(json_at(object, "metadata.labels"));
    assert_null(json_at(object, "metadata.ownerReferences"));
    assert_string_equal(json_str(object, "metadata.annotations.a"), "b");
    assert_string_equal(json_str(object, "spec.driver.labels.a"), "b");
}

/* Other controllers write annotations all the time: such an event repeats what Ostler reads. */
static void annotations_of_others_are_not_seen(void **state)
{
    (void) state;
    CLEANUP_FREE char *text = json_quoted(
        "{'metadata':{'annotations':{'csi.volume.kubernetes.io/nodeid':'x','ostler.dev/claim':'c',"
        "'ostler.de':'y','karpenter.sh/do-not-disrupt':'true',"
        "'cluster-autoscaler.kubernetes.io/scale-down-disabled':'true'}}}");
    CLEANUP_JSON json_t *object = split_object(text, strlen(text), projection_view(RESOURCE_NODE),
                                               NULL);
    assert_tree(object, "{'metadata':{'annotations':{'ostler.dev/claim':'c',"
                        "'karpenter.sh/do-not-disrupt':'true',"
                        "'cluster-autoscaler.kubernetes.io/scale-down-disabled':'true'}}}");
}

/* A patch adds the first annotation with its map. */
static void a_node_with_annotations_of_others_only_has_annotations(void **state)
{
    (void) state;
    CLEANUP_FREE char *text = json_quoted("{'metadata':{'name':'a','annotations':{'x':'y'}}}");
    CLEANUP_JSON json_t *object = split_object(text, strlen(text), projection_view(RESOURCE_NODE),
                                               NULL);
    struct intern *in = intern_new();
    struct node *n = node_project(in, object);
    assert_true(n->annotated);
    node_free(in, n);
    intern_free(in);
}

/* Whatever a kubelet calls its resources, its node can be read, and only our names are seen. */
static void resources_of_others_are_not_seen(void **state)
{
    (void) state;
    CLEANUP_FREE char *text = json_quoted(
        "{'status':{'capacity':{'\xef\xbf\xbd\\u0001':'1','cpu':'8','\xef\xbf\xbd\\u0001':'2','"
        "nvidia.com/gpu':'8'},"
        "'allocatable':{'cpu':'8','nvidia.com/mig-1g.10gb':'7'}}}");
    CLEANUP_JSON json_t *object = split_object(text, strlen(text), projection_view(RESOURCE_NODE),
                                               NULL);
    assert_tree(object, "{'status':{'capacity':{'nvidia.com/gpu':'8'},'allocatable':{'nvidia.com/"
                        "mig-1g.10gb':'7'}}}");
}

static void what_is_wrong_with_gpus_is_seen(void **state)
{
    (void) state;
    CLEANUP_FREE char *text = json_quoted(
        "{'metadata':{'name':'a'},'status':{'inventory':{"
        "'health':[{'address':'0000:65:00.0','serial':'7','recovery':'Reset','lost':true}],"
        "'faults':[{'address':'0000:65:00.0','xid':79,'count':1,'first':'2026-11-28T10:00:00Z',"
        "'last':'2026-11-28T10:00:00Z','bootId':'b'}],'unreadable':['x']}}}");
    CLEANUP_JSON json_t *whole = json_parse(text, strlen(text), NULL),
                        *part = split_object(text, strlen(text), projection_view(RESOURCE_GPU_NODE),
                                             NULL);
    assert_null(json_at(part, "status.inventory.unreadable"));
    struct gpu_node *a = gpu_node_project(whole), *b = gpu_node_project(part);
    assert_int_equal(b->health->gpus_len + b->health->faults_len, 2);
    assert_true(node_health_same(a->health, b->health));
    gpu_node_free(a);
    gpu_node_free(b);
}

static void only_nodes_and_pods_are_read_without_their_status(void **state)
{
    (void) state;
    for (int i = 0; i < RESOURCE_COUNT; i++)
        assert_int_equal(projection_bare_view((enum resource_id) i) != NULL,
                         i == RESOURCE_NODE || i == RESOURCE_POD || i == RESOURCE_TASK);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_same_record, rows);
    SUITE_ROWS(&s, check_child, children);
    suite_add(&s, "a DaemonSet of others is seen without its status",
              a_daemonset_of_others_is_seen_without_its_status, NULL);
    suite_add(&s, "what a pod asks for is seen", what_a_pod_asks_for_is_seen, NULL);
    suite_add(&s, "a pod of more containers than are seen is not idle",
              a_pod_of_more_containers_than_are_seen_is_not_idle, NULL);
    suite_add(&s, "annotations of others are not seen", annotations_of_others_are_not_seen, NULL);
    suite_add(&s, "a node with annotations of others only has annotations",
              a_node_with_annotations_of_others_only_has_annotations, NULL);
    suite_add(&s, "resources of others are not seen", resources_of_others_are_not_seen, NULL);
    suite_add(&s, "what is wrong with GPUs is seen", what_is_wrong_with_gpus_is_seen, NULL);
    suite_add(&s, "only nodes and pods are read without their status",
              only_nodes_and_pods_are_read_without_their_status, NULL);
    suite_add(&s, "labels and owners of the policy are not seen",
              labels_and_owners_of_the_policy_are_not_seen, NULL);
    return suite_run(&s, "cluster_view");
}
