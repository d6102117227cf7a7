/* Rendered objects against tests/golden/<case>.yaml, byte for byte. `make golden` rewrites the
 * files (OSTLER_GOLDEN=write). */
#include "reconcilers/manifests/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "kube/object.h"
#include "reconcilers/model/node_inventory.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/revision.h"
#include "tests/unit/manifests/no_shell.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define NAMESPACE "ostler-operands"
#define UID "11111111-2222-3333-4444-555555555555"
#define AGENT_IMAGE "registry.example/ostler:0.1.0"

/* What a case renders. */
#define DRIVER (1U << RENDER_DRIVER)
#define STACK (1U << RENDER_TOOLKIT | 1U << RENDER_DEVICE_PLUGIN)
#define TOOLKIT (1U << RENDER_TOOLKIT)
#define REMOVAL (1U << RENDER_REMOVAL)
#define PLUGIN (1U << RENDER_DEVICE_PLUGIN)
#define EXPORTER (1U << RENDER_EXPORTER | 1U << RENDER_EXPORTER_SERVICE)
#define MONITOR (1U << RENDER_EXPORTER_MONITOR)
#define CARDS (1U << RENDER_NODE_CARDS | 1U << RENDER_NODE_CARDS_DEFAULT)
#define CLASS (1U << RENDER_RUNTIME_CLASS)
#define AGENT (1U << RENDER_AGENT)
#define RECORDS (1U << RENDER_OBJECTS)
/* Ostler does not know its own image. */
#define NO_AGENT (2U << RENDER_OBJECTS)

struct render_row {
    const char *name; /* the golden file */
    const char *spec;
    struct node_facts facts;
    unsigned objects;
    const char *config; /* of the device plugin; NULL: none */
    bool host_driver;
};

#define UBUNTU                                                                                     \
    .os_image = "Ubuntu 24.04.1 LTS", .kernel_version = "6.8.0-49-generic", .architecture = "amd64"
#define CONTAINERD .runtime_version = "containerd://2.1.4", .kubelet_version = "v1.34.1"

static const char *microk8s_label(const void *labels, const char *key)
{
    (void) labels;
    return str_eq(key, "microk8s.io/cluster") ? "true" : NULL;
}

static const char full_settings[] =
    "{'driver':{'version':'570.1','repository':'registry.example/gpu','kernelModule':'Open',"
    "'args':['--max-threads=4'],'env':[{'name':'HTTPS_PROXY','value':'http://proxy:3128'}],"
    "'imagePullPolicy':'Always','imagePullSecrets':['ngc','mirror'],"
    "'resources':{'requests':{'cpu':'100m'},'limits':{'memory':'4Gi'}},"
    "'priorityClassName':'gpu-critical','labels':{'team':'ml'},'tolerations':[{'key':'spot',"
    "'operator':'Exists','effect':'NoSchedule'}]},'toolkit':{'version':'v1.18.0',"
    "'installDir':'/opt/nvidia','env':[{'name':'NVIDIA_CONTAINER_RUNTIME_LOG_LEVEL',"
    "'value':'debug'}],'resources':{'limits':{'memory':'256Mi'}},'labels':{'team':'ml'},"
    "'imagePullSecrets':['ngc']},'devicePlugin':{'version':'sha256:0123456789abcdef0123456789ab"
    "cdef0123456789abcdef0123456789abcdef','args':['--mig-strategy=mixed'],"
    "'env':[{'name':'DP_DISABLE_HEALTHCHECKS','value':'xids'}],"
    "'resources':{'limits':{'memory':'256Mi'}}},'exporter':{'version':'4.5.0','interval':'10s',"
    "'metricsConfig':'my-metrics','env':[{'name':'KUBERNETES_VIRTUAL_GPUS','value':'true'}],"
    "'args':['--debug'],'resources':{'limits':{'memory':'512Mi'}},'labels':{'team':'ml'},"
    "'imagePullSecrets':['ngc'],'serviceMonitor':{'enabled':true,'interval':'15s',"
    "'labels':{'release':'prometheus'}}}}";

static const struct node_inventory azures = { .host_toolkit = HOST_TOOLKIT_DEFAULT };

static const struct render_row render_rows[] = {
    { "minimal",
      "{}",
      { UBUNTU, CONTAINERD },
      .objects = DRIVER | STACK | EXPORTER | CLASS | RECORDS },
    { "full",
      full_settings,
      { UBUNTU, CONTAINERD },
      .objects = DRIVER | STACK | EXPORTER | MONITOR },
    { "toolkit-removal", full_settings, { UBUNTU, CONTAINERD }, .objects = REMOVAL },
    { "toolkit-removal-host-driver",
      "{}",
      { UBUNTU, CONTAINERD },
      .objects = REMOVAL,
      .host_driver = true },
    { "toolkit-removal-crio",
      "{}",
      { UBUNTU, .runtime_version = "cri-o://1.34.0" },
      .objects = REMOVAL },
    { "own-image-not-known",
      "{}",
      { UBUNTU, CONTAINERD },
      .objects = DRIVER | STACK | EXPORTER | NO_AGENT },
    { "waits-with-secrets",
      "{'toolkit':{'imagePullSecrets':['ngc','mine']},'nodeAgent':{'imagePullPolicy':'Always',"
      "'imagePullSecrets':['mine']}}",
      { UBUNTU, CONTAINERD },
      .objects = TOOLKIT },
    { "precompiled",
      "{'driver':{'version':'580.178.04','precompiled':true}}",
      { UBUNTU, CONTAINERD },
      .objects = DRIVER },
    { "driver-files",
      "{'driver':{'repoConfig':{'name':'mirror'},'certConfig':{'name':'authorities'},"
      "'kernelModuleConfig':{'name':'parameters'},'secretEnv':'ubuntu-pro',"
      "'startupProbe':{'initialDelaySeconds':30,'periodSeconds':5,'timeoutSeconds':120,"
      "'failureThreshold':20}}}",
      { UBUNTU, CONTAINERD },
      .objects = DRIVER },
    { "driver-rdma",
      "{'driver':{'rdma':{'enabled':true}}}",
      { UBUNTU, CONTAINERD },
      .objects = DRIVER },
    { "driver-rdma-host-mofed",
      "{'driver':{'rdma':{'enabled':true,'useHostMofed':true},"
      "'kernelModuleConfig':{'name':'parameters'}}}",
      { UBUNTU, CONTAINERD },
      .objects = DRIVER },
    { "driver-gdrcopy",
      "{'driver':{'gdrcopy':{'enabled':true}}}",
      { UBUNTU, CONTAINERD },
      .objects = DRIVER | STACK },
    { "driver-gdrcopy-files",
      "{'driver':{'gdrcopy':{'enabled':true,'repository':'registry.example/nvidia',"
      "'version':'v2.5'},'repoConfig':{'name':'mirror'},'certConfig':{'name':'authorities'},"
      "'secretEnv':'ubuntu-pro','imagePullPolicy':'Always','imagePullSecrets':['mine']}}",
      { UBUNTU, CONTAINERD },
      .objects = DRIVER },
    { "rhel",
      "{}",
      { .os_image = "Red Hat Enterprise Linux 9.4 (Plow)", CONTAINERD },
      .objects = DRIVER },
    { "cos",
      "{'driver':{'version':'535.183.01'}}",
      { .os_image = "Container-Optimized OS from Google", CONTAINERD },
      .objects = DRIVER | STACK },
    { "cos-with-the-clouds-driver",
      "{'driver':{'source':'Host'}}",
      { .os_image = "Container-Optimized OS from Google", CONTAINERD },
      .objects = STACK },
    { "host-driver", "{}", { UBUNTU, CONTAINERD }, .objects = STACK, .host_driver = true },
    { "host-driver-read-only-usr",
      "{'driver':{'source':'Host'},'toolkit':{'installDir':'/opt/nvidia',"
      "'env':[{'name':'RUNTIME_CONFIG_SOURCES','value':'file=/host/usr/share/containerd/config."
      "toml'}]}}",
      { .os_image = "Flatcar Container Linux by Kinvolk 4459.2.1 (Oklo)", CONTAINERD },
      .objects = STACK,
      .host_driver = true },
    { "host-toolkit",
      "{'toolkit':{'enabled':false}}",
      { UBUNTU, CONTAINERD },
      .objects = PLUGIN,
      .host_driver = true },
    { "host-toolkit-is-the-default",
      "{}",
      { UBUNTU, CONTAINERD, .inventory = &azures },
      .objects = PLUGIN,
      .host_driver = true },
    { "containerd-without-cdi",
      "{}",
      { UBUNTU, .runtime_version = "containerd://1.6.20" },
      .objects = STACK },
    { "crio", "{}", { UBUNTU, .runtime_version = "cri-o://1.34.0" }, .objects = STACK },
    { "docker",
      "{}",
      { UBUNTU, .runtime_version = "docker://27.3.1" },
      .objects = STACK | EXPORTER },
    { "k3s",
      "{}",
      { UBUNTU, .runtime_version = "containerd://2.0.5-k3s1", .kubelet_version = "v1.33.1+k3s1" },
      .objects = STACK | EXPORTER },
    { "rke2",
      "{}",
      { UBUNTU, .runtime_version = "containerd://2.0.5-k3s1", .kubelet_version = "v1.33.1+rke2r1" },
      .objects = TOOLKIT },
    { "microk8s",
      "{}",
      { UBUNTU, CONTAINERD, .label = microk8s_label },
      .objects = STACK | EXPORTER },
    { "k0s",
      "{}",
      { UBUNTU, .runtime_version = "containerd://1.7.27", .kubelet_version = "v1.33.1+k0s" },
      .objects = STACK | EXPORTER },
    { "mig",
      "{'devicePlugin':{'migStrategy':'mixed'}}",
      { UBUNTU, CONTAINERD },
      .objects = PLUGIN },
    { "plugin-config",
      "{}",
      { UBUNTU, CONTAINERD },
      .objects = PLUGIN,
      .config = "version: v1\nflags:\n  migStrategy: single # $(NODE_NAME)\n" },
    { "plugin-config-mig",
      "{'devicePlugin':{'migStrategy':'mixed'}}",
      { UBUNTU, CONTAINERD },
      .objects = PLUGIN,
      .config = "version: v1\n" },
    { "servicemonitor",
      "{'exporter':{'serviceMonitor':{'enabled':true}}}",
      { UBUNTU, CONTAINERD },
      .objects = MONITOR },
    { "exporter-in-part",
      "{'pools':[{'name':'a','nodeSelector':{'a':'b'},'exporter':{'enabled':false}}]}",
      { UBUNTU, CONTAINERD },
      .objects = EXPORTER },
    { "exporter-of-shared-gpus",
      "{}",
      { UBUNTU, CONTAINERD },
      .objects = EXPORTER,
      .config = "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}" },
    { "exporter-of-renamed-gpus",
      "{}",
      { UBUNTU, CONTAINERD },
      .objects = EXPORTER,
      .config = "sharing: {timeSlicing: {renameByDefault: true, resources: [{name: nvidia.com/gpu, "
                "replicas: 4}]}}" },
    { "node-cards", "{}", { UBUNTU, CONTAINERD }, .objects = CARDS },
    { "node-cards-full",
      "{'nodeCards':{'resources':{'limits':{'memory':'512Mi'}},'priorityClassName':'mine','labels':"
      "{'team':'gpu'},'tolerations':[{'key':'a','operator':'Exists'}]},'nodeAgent':"
      "{'imagePullPolicy':'Always','imagePullSecrets':['mine']}}",
      { UBUNTU, CONTAINERD },
      .objects = CARDS },
    { "node-agent", "{}", { UBUNTU, CONTAINERD }, .objects = AGENT },
    { "node-agent-kernel-log",
      "{'health':{'kernelLog':true,'xids':{'109':'Event'}}}",
      { UBUNTU, CONTAINERD },
      .objects = AGENT },
    { "node-agent-without-the-log",
      "{'health':{'kernelLog':false,'xids':{'109':'Event'}}}",
      { UBUNTU, CONTAINERD },
      .objects = AGENT },
    { "node-agent-full",
      "{'nodes':{'selector':{'matchLabels':{'example.com/gpu':'yes'},"
      "'matchExpressions':[{'key':'zone','operator':'NotIn','values':['a','b']},{'key':'x',"
      "'operator':'Exists'}]}},'nodeAgent':{'imagePullPolicy':'Always',"
      "'imagePullSecrets':['mine'],'seccompProfile':'profiles/ostler-node.json'}}",
      { UBUNTU, CONTAINERD },
      .objects = AGENT },
};

/* All embedded files, parsed once. */
static struct manifests *manifests;

static void add_document(struct buf *out, json_t *object_steal)
{
    CLEANUP_JSON json_t *object = object_steal;
    CLEANUP_FREE char *text = yaml_dump(object);
    buf_printf(out, "---\n%s", text);
}

/* The exporter asks the kubelet where the program says that it is on such a host. */
static void assert_asks_kubelet(const json_t *exporter, const struct host *host)
{
    CLEANUP_FREE char *want = xasprintf("%s/pod-resources",
                                        host_distributions[host->distribution].kubelet_root);
    const json_t *volume = json_find(json_at(exporter, "spec.template.spec.volumes"), "name",
                                     "pod-resources");
    assert_string_equal(json_str(volume, "hostPath.path"), want);
}

/* The objects that a row asks for, in the order of a golden file. */
static void render_objects(unsigned objects, const struct render_context *contexts,
                           const struct host *host, struct buf *out)
{
    static const enum render_object order[] = { RENDER_DRIVER,
                                                RENDER_TOOLKIT,
                                                RENDER_REMOVAL,
                                                RENDER_DEVICE_PLUGIN,
                                                RENDER_EXPORTER,
                                                RENDER_EXPORTER_SERVICE,
                                                RENDER_EXPORTER_MONITOR,
                                                RENDER_NODE_CARDS,
                                                RENDER_NODE_CARDS_DEFAULT,
                                                RENDER_AGENT,
                                                RENDER_RUNTIME_CLASS };
    for (size_t k = 0; k < ARRAY_LEN(order); k++) {
        const size_t i = order[k];
        if (!(objects & 1U << i))
            continue;
        CLEANUP_ERR struct err e = { 0 };
        json_t *rendered = render_object(manifests, (enum render_object) i, &contexts[i], &e);
        if (!rendered)
            fail_msg("%s", err_msg(&e));
        if (i == RENDER_EXPORTER)
            assert_asks_kubelet(rendered, host);
        add_document(out, rendered);
    }
}

/* All that a row asks for, as the cases of a policy that went through the decoder. */
static void render_row(const struct render_row *row, struct buf *out)
{
    CLEANUP_JSON json_t *object = json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion",
                                            POLICY_API_VERSION, "kind", POLICY_KIND, "metadata",
                                            "name", POLICY_NAME, "spec", tree(row->spec));
    struct policy policy;
    struct policy_problems problems = { 0 };
    const struct policy_limits limits = { POLICY_IMAGE_PREFIXES ",registry.example", "*", NULL,
                                          true, true };
    if (policy_decode(object, &limits, &policy, &problems) < 0)
        fail_msg("%s", problems.items[0].message);
    CLEANUP_JSON json_t *spec = policy_pool_spec(&policy, 0);
    struct host host = host_of(&row->facts);
    enum driver_source source = driver_source_for(policy.pools[0].source, &host, row->host_driver);
    struct plugin_config config = { "plugin-configs", "a100", row->config };
    CLEANUP_JSON json_t *driver = driver_inputs(spec, source, &host, NULL);
    CLEANUP_JSON json_t *stack = stack_inputs(spec, source, &host, row->config ? &config : NULL,
                                              NULL);
    CLEANUP_JSON json_t *exporter = follower_inputs(operand_get(OPERAND_EXPORTER), spec, &host,
                                                    NULL, follower_traits(stack));
    CLEANUP_JSON json_t *cards = follower_inputs(operand_get(OPERAND_NODE_CARDS), spec, &host, NULL,
                                                 follower_traits(stack));
    CLEANUP_JSON json_t *cards_default = follower_inputs_of_default_runtime(
        operand_get(OPERAND_NODE_CARDS), cards);
    CLEANUP_JSON json_t *agent = agent_inputs(spec);
    char driver_hash[REVISION_HASH_MAX] = "", stack_hash[REVISION_HASH_MAX];
    if (driver)
        revision_hash(driver, driver_hash);
    revision_hash(stack, stack_hash);

    const char *agent_image = row->objects & NO_AGENT ? NULL : AGENT_IMAGE;
    struct render_context common = { NAMESPACE, UID, spec, NULL, NULL, agent_image, true };
    struct render_context contexts[RENDER_OBJECTS];
    for (size_t i = 0; i < RENDER_OBJECTS; i++)
        contexts[i] = common;
    contexts[RENDER_DRIVER].inputs = driver;
    contexts[RENDER_DRIVER].hash = driver_hash;
    contexts[RENDER_TOOLKIT].inputs = contexts[RENDER_DEVICE_PLUGIN].inputs = stack;
    contexts[RENDER_REMOVAL].inputs = stack;
    contexts[RENDER_REMOVAL].hash = stack_hash;
    contexts[RENDER_TOOLKIT].hash = contexts[RENDER_DEVICE_PLUGIN].hash = stack_hash;
    contexts[RENDER_EXPORTER].inputs = exporter;
    contexts[RENDER_NODE_CARDS].inputs = cards;
    contexts[RENDER_NODE_CARDS_DEFAULT].inputs = cards_default;
    contexts[RENDER_AGENT].inputs = agent;
    if (row->objects & RECORDS) {
        add_document(out, render_revision(&contexts[RENDER_DRIVER]));
        add_document(out, render_revision(&contexts[RENDER_TOOLKIT]));
    }
    render_objects(row->objects, contexts, &host, out);
    policy_clear(&policy);
    policy_problems_clear(&problems);
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is missing; `make golden` writes it", path);
    char *text = NULL;
    size_t room = 0;
    assert_true(getdelim(&text, &room, '\0', f) > 0); /* to its end */
    fclose(f);
    return text;
}

/* Fails with the first line that differs: two whole files in a message are no help. */
static void assert_same_lines(const char *path, const char *got, const char *want)
{
    for (int line = 1; *got || *want; line++) {
        size_t got_len = strcspn(got, "\n"), want_len = strcspn(want, "\n");
        if (got_len != want_len || strncmp(got, want, got_len))
            fail_msg("%s:%d\n  is:     %.*s\n  golden: %.*s\n`make golden` rewrites the file", path,
                     line, (int) got_len, got, (int) want_len, want);
        got += got_len + (got[got_len] != '\0');
        want += want_len + (want[want_len] != '\0');
    }
}

/* Holds a text against a file, or writes that. */
static void assert_golden(const char *name, const char *text)
{
    CLEANUP_FREE char *path = xasprintf("tests/golden/%s.yaml", name);
    if (str_eq(getenv("OSTLER_GOLDEN"), "write")) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
        return;
    }
    CLEANUP_FREE char *golden = read_file(path);
    assert_same_lines(path, text, golden);
}

static void check_golden(void **state)
{
    const struct render_row *row = *state;
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 20);
    render_row(row, &out);
    assert_golden(row->name, buf_text(&out));
}

/* ---- one-off pods ---- */

static const struct render_image images[] = {
    { "driver", "registry.example/gpu/driver:580.178.04-ubuntu24.04", "Always" },
    { "toolkit", "nvcr.io/nvidia/k8s/container-toolkit@sha256:0123", NULL },
};

static const struct render_image own_image = { "proof", NULL, "Never" },
                                 reset_image = { "reset", NULL, NULL },
                                 reboot_image = { "reboot", NULL, NULL };

static const struct task_row {
    const char *name; /* the golden file */
    struct render_task want;
    const char *pull_secrets;
    const char *spec;
    const char *args;
} task_rows[] = {
    { "task-proof",
      { TASK_PROOF, NAMESPACE, UID, "aaaaaaaaaa.bbbbbbbbbb", "ip-10-0-0-1.ec2.internal", &own_image,
        1, NULL, NULL, AGENT_IMAGE, NULL, "nvidia.com/mig-1g.10gb", 600, 0, false },
      NULL,
      "{'nodeAgent':{'imagePullPolicy':'Always','imagePullSecrets':['mine','ngc']}}",
      NULL },
    { "task-proof-plain",
      { TASK_PROOF, NAMESPACE, UID, "none.bbbbbbbbbb", "gpu-1", &own_image, 1, NULL, NULL, NULL,
        NULL, "nvidia.com/gpu", 0, 0, false },
      NULL,
      NULL,
      NULL },
    { "task-proof-sample",
      { TASK_PROOF, NAMESPACE, UID, "aaaaaaaaaa.bbbbbbbbbb", "ip-10-0-0-1.ec2.internal", images, 1,
        NULL, NULL, AGENT_IMAGE, NULL, "nvidia.com/mig-1g.10gb", 600, 0, false },
      "['ngc','mirror']",
      "{'nodeAgent':{'imagePullPolicy':'Always','imagePullSecrets':['mine','ngc']}}",
      NULL },
    { "task-proof-sample-plain",
      { TASK_PROOF, NAMESPACE, UID, "none.bbbbbbbbbb", "gpu-1", &images[1], 1, NULL, NULL, NULL,
        NULL, "nvidia.com/gpu", 0, 0, false },
      NULL,
      NULL,
      NULL },
    { "task-pull",
      { TASK_PULL, NAMESPACE, UID, "aaaaaaaaaa.bbbbbbbbbb", "gpu-1", images, 2, NULL, NULL, NULL,
        NULL, NULL, 0, 0, false },
      "['ngc']",
      NULL,
      NULL },
    { "task-reset",
      { TASK_RESET, NAMESPACE, UID, "none", "gpu-1", &reset_image, 1, NULL, NULL, AGENT_IMAGE, NULL,
        NULL, 300, 0, false },
      NULL,
      "{'nodeAgent':{'imagePullPolicy':'Always','imagePullSecrets':['mine','ngc']}}",
      "['reset','0000:41:00.0','0000:c1:00.0']" },
    { "task-reboot",
      { TASK_REBOOT, NAMESPACE, UID, "none", "gpu-1", &reboot_image, 1, NULL, NULL, AGENT_IMAGE,
        NULL, NULL, 300, 0x0123456789abcdef, false },
      NULL,
      NULL,
      NULL },
    { "task-reboot-sentinel",
      { TASK_REBOOT, NAMESPACE, UID, "none", "gpu-1", &reboot_image, 1, NULL, NULL, AGENT_IMAGE,
        NULL, NULL, 300, 0xabc, true },
      NULL,
      NULL,
      "['reboot','sentinel']" },
};

static void check_task(void **state)
{
    const struct task_row *row = *state;
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 20);
    CLEANUP_JSON json_t *secrets = row->pull_secrets ? tree(row->pull_secrets) : NULL;
    CLEANUP_JSON json_t *spec = row->spec ? tree(row->spec) : NULL;
    CLEANUP_ERR struct err e = { 0 };
    struct render_task want = row->want;
    CLEANUP_JSON json_t *args = row->args ? tree(row->args) : NULL;
    want.pull_secrets = secrets;
    want.spec = spec;
    want.args = args;
    json_t *rendered = render_task(manifests, &want, &e);
    if (!rendered)
        fail_msg("%s", err_msg(&e));
    add_document(&out, rendered);
    assert_golden(row->name, buf_text(&out));
}

/* A pod that a kubelet starts again after the reboot must know that. */
static void boot_is_needed(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    const struct render_task want = { .kind = TASK_REBOOT,
                                      .operand_namespace = NAMESPACE,
                                      .policy_uid = UID,
                                      .purpose = "none",
                                      .node = "gpu-1",
                                      .images = &reboot_image,
                                      .image_count = 1 };
    assert_null(render_task(manifests, &want, &e));
    assert_string_equal(err_msg(&e), "task/reboot.yaml: a reboot needs the boot that it ends");
}

/* ---- what holds for every rendered object ---- */

/* Server-side apply keys these lists so: an element twice is refused, or silently one. */
static const struct {
    const char *list;
    const char *key;
} unique[] = {
    { "env", "name" },
    { "volumeMounts", "mountPath" },
    { "ports", "containerPort" },
};

static void assert_unique(const json_t *list, const char *key)
{
    CLEANUP_JSON json_t *seen = json_object();
    size_t i;
    json_t *element;
    json_array_foreach (list, i, element) {
        CLEANUP_FREE char *value = json_canonical(json_object_get(element, key));
        if (json_object_get(seen, value))
            fail_msg("%s %s is there twice", key, value);
        json_object_set_new(seen, value, json_true());
    }
}

/* Every mount has its volume. */
static void assert_mounts(const json_t *pod, const json_t *container)
{
    size_t i;
    json_t *mount;
    json_array_foreach (json_object_get(container, "volumeMounts"), i, mount)
        if (!json_find(json_object_get(pod, "volumes"), "name", json_key(mount, "name")))
            fail_msg("no volume %s", json_key(mount, "name"));
}

static void check_containers(const json_t *pod, const char *list)
{
    size_t i, k;
    json_t *container, *port;
    json_array_foreach (json_object_get(pod, list), i, container) {
        assert_non_null(json_key(container, "image"));
        for (size_t u = 0; u < ARRAY_LEN(unique); u++)
            assert_unique(json_object_get(container, unique[u].list), unique[u].key);
        assert_mounts(pod, container);
        json_array_foreach (json_object_get(container, "ports"), k, port)
            assert_non_null(json_key(port, "protocol"));
    }
}

/* What the design asks of each DaemonSet. */
static void check_daemonset(const json_t *object)
{
    const json_t *pod = json_at(object, "spec.template.spec");
    bool agent = str_eq(json_str(object, "metadata.name"), "node-agent");
    enum operand operand = operand_parse(object_label(object, "app.kubernetes.io/component"));
    bool follower = agent || operand_get(operand)->class == OPERAND_CLASS_FOLLOWER;
    assert_string_equal(json_str(object, "spec.updateStrategy.type"),
                        follower ? "RollingUpdate" : "OnDelete");
    assert_int_equal(json_at(object, "metadata.ownerReferences") != NULL, follower);
    assert_int_equal(json_bool(pod, "automountServiceAccountToken", true), agent);
    assert_string_equal(
        json_str(json_array_get(json_object_get(pod, "tolerations"), 0), "operator"), "Exists");
    assert_unique(json_object_get(pod, "volumes"), "name");
    assert_unique(json_object_get(pod, "imagePullSecrets"), "name");
    check_containers(pod, "initContainers");
    check_containers(pod, "containers");
}

static void check_rules(void **state)
{
    const struct render_row *row = *state;
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 20);
    render_row(row, &out);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse(buf_text(&out), out.len, NULL, &e);
    if (!documents)
        fail_msg("%s", err_msg(&e));
    size_t i;
    json_t *object;
    json_array_foreach (documents, i, object) {
        json_t *labels = json_at(object, "metadata.labels");
        assert_string_equal(json_key(labels, "app.kubernetes.io/managed-by"), "ostler");
        assert_string_equal(json_key(labels, "ostler.dev/policy-uid"), UID);
        assert_non_null(json_key(json_at(object, "metadata.annotations"), "ostler.dev/intent"));
        assert_no_shell(object);
        if (str_eq(json_key(object, "kind"), "DaemonSet"))
            check_daemonset(object);
    }
}

static void names(void **state)
{
    (void) state;
    char name[RENDER_NAME_MAX];
    render_name(RENDER_TOOLKIT, "abc", name);
    assert_string_equal(name, "toolkit-abc");
    render_name(RENDER_EXPORTER_SERVICE, NULL, name);
    assert_string_equal(name, "exporter");
    render_name(RENDER_RUNTIME_CLASS, NULL, name);
    assert_string_equal(name, "nvidia");
    render_revision_name("stack", "abc", name);
    assert_string_equal(name, "stack-abc");
    assert_string_equal(operand_name(render_operand_of(RENDER_DEVICE_PLUGIN)), "device-plugin");
}

static void hash_is_needed(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *spec = json_object();
    struct render_context ctx = { NAMESPACE, UID, spec, spec, NULL, NULL, true };
    CLEANUP_ERR struct err e = { 0 };
    assert_null(render_object(manifests, RENDER_TOOLKIT, &ctx, &e));
}

/* Ostler needs the DaemonSet that removes a toolkit also when the policy is gone. */
static void removal_without_a_policy(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *inputs = tree(
        "{'tier':'stack','driverRoot':'Container','cdi':true,'runtime':'containerd','distribution':"
        "'stock','toolkit':"
        "{'enabled':true,'image':'registry.example/toolkit','version':'v1','installDir':'/usr/"
        "local/nvidia'}}");
    struct render_context ctx = { NAMESPACE, "", NULL, inputs, "abc", AGENT_IMAGE, true };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *object = render_object(manifests, RENDER_REMOVAL, &ctx, &e);
    assert_string_equal(err_msg(&e), "");
    assert_string_equal(object_name(object), "toolkit-removal-abc");
    const json_t *install = json_find(json_at(object, "spec.template.spec.initContainers"), "name",
                                      "install");
    assert_string_equal(json_str(install, "image"), "registry.example/toolkit:v1");
}

static void seal_is_stable(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *object = tree("{'metadata':{'name':'a'},'spec':{'b':1}}");
    render_seal(object);
    CLEANUP_FREE char *once = json_canonical(object);
    render_seal(object);
    CLEANUP_FREE char *twice = json_canonical(object);
    assert_string_equal(once, twice);
    json_set_at(object, "spec.b", json_integer(2));
    render_seal(object);
    CLEANUP_FREE char *changed = json_canonical(object);
    assert_string_not_equal(once, changed);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_golden, render_rows);
    SUITE_ROWS(&s, check_task, task_rows);
    SUITE_ROWS(&s, check_rules, render_rows);
    suite_add(&s, "names of children", names, NULL);
    suite_add(&s, "a revision's object without a hash is refused", hash_is_needed, NULL);
    suite_add(&s, "a reboot of any boot is refused", boot_is_needed, NULL);
    suite_add(&s, "a toolkit is taken off without a policy", removal_without_a_policy, NULL);
    suite_add(&s, "the intent's hash is that of all the rest", seal_is_stable, NULL);
    CLEANUP_ERR struct err e = { 0 };
    manifests = manifests_new(&e);
    if (!manifests) {
        fprintf(stderr, "%s\n", err_msg(&e));
        return 1;
    }
    int failed = suite_run(&s, "render");
    manifests_free(manifests);
    return failed;
}
