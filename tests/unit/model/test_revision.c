#include "reconcilers/model/revision.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const struct host ubuntu = { .os = "ubuntu24.04",
                                    .kernel = "6.8.0-49-generic",
                                    .architecture = "amd64",
                                    .runtime = RUNTIME_CONTAINERD,
                                    .cdi = true };
static const struct host rhel = {
    .os = "rhel9", .kernel = "5.14.0", .architecture = "amd64", .runtime = RUNTIME_CONTAINERD
};
static const struct host rhel_crio = {
    .os = "rhel9", .kernel = "5.14.0", .architecture = "amd64", .runtime = RUNTIME_CRIO
};
static const struct host google = {
    .cos = true, .kernel = "6.6.0", .architecture = "amd64", .runtime = RUNTIME_CONTAINERD
};
static const struct host google_ubuntu = { .os = "ubuntu24.04",
                                           .kernel = "6.8.0-1029-gke",
                                           .architecture = "amd64",
                                           .runtime = RUNTIME_CONTAINERD,
                                           .google_driver = true };
static const struct host odd = { .os = "ubuntu24.04",
                                 .kernel = "6.1@sha256:0/x+",
                                 .architecture = "amd64",
                                 .runtime = RUNTIME_CONTAINERD };
static const struct host amazon = { .kernel = "6.12.0",
                                    .architecture = "amd64",
                                    .runtime = RUNTIME_CONTAINERD,
                                    .cdi = true,
                                    .toolkit = HOST_TOOLKIT_NVIDIA };
static const struct host azure = { .os = "ubuntu24.04",
                                   .kernel = "6.8.0",
                                   .architecture = "amd64",
                                   .runtime = RUNTIME_CONTAINERD,
                                   .cdi = true,
                                   .cdi_by_default = true,
                                   .toolkit = HOST_TOOLKIT_DEFAULT };
static const struct host broken = { .os = "ubuntu24.04",
                                    .kernel = "6.8.0",
                                    .architecture = "amd64",
                                    .runtime = RUNTIME_CONTAINERD,
                                    .toolkit = HOST_TOOLKIT_MISSING };
static const struct host debian = { .kernel = "6.1.0",
                                    .architecture = "amd64",
                                    .runtime = RUNTIME_CONTAINERD };

struct source_row {
    const char *name;
    enum policy_driver_source wish;
    const struct host *host;
    bool host_driver;
    enum driver_source want;
    const char *problem; /* part of the sentence where there is none */
};

static void check_source(void **state)
{
    const struct source_row *row = *state;
    assert_int_equal(driver_source_for(row->wish, row->host, row->host_driver), row->want);
    if (row->want != DRIVER_SOURCE_NONE)
        return;
    CLEANUP_ARENA struct arena a = { 0 };
    struct node_facts facts = { .os_image = "Debian GNU/Linux 12 (bookworm)" };
    const char *problem = driver_source_problem(&a, row->wish, row->host, &facts);
    if (!problem || !strstr(problem, row->problem))
        fail_msg("\"%s\" does not say \"%s\"", str_or_empty(problem), row->problem);
}

static const struct source_row source_rows[] = {
    { "Auto: a system with images", POLICY_SOURCE_AUTO, &ubuntu, false, DRIVER_SOURCE_CONTAINER,
      NULL },
    { "Auto: COS", POLICY_SOURCE_AUTO, &google, false, DRIVER_SOURCE_COS, NULL },
    { "Auto: COS with a loaded driver", POLICY_SOURCE_AUTO, &google, true, DRIVER_SOURCE_COS,
      NULL },
    { "Auto: the host has a driver", POLICY_SOURCE_AUTO, &ubuntu, true, DRIVER_SOURCE_HOST, NULL },
    { "Auto: no image, but a driver", POLICY_SOURCE_AUTO, &debian, true, DRIVER_SOURCE_HOST, NULL },
    { "Auto: nothing", POLICY_SOURCE_AUTO, &debian, false, DRIVER_SOURCE_NONE,
      "Debian GNU/Linux 12" },
    { "Container", POLICY_SOURCE_CONTAINER, &ubuntu, false, DRIVER_SOURCE_CONTAINER, NULL },
    { "Container: never over a driver of the host's", POLICY_SOURCE_CONTAINER, &ubuntu, true,
      DRIVER_SOURCE_HOST, NULL },
    { "Container: on COS", POLICY_SOURCE_CONTAINER, &google, false, DRIVER_SOURCE_NONE,
      "Auto or COS" },
    { "COS", POLICY_SOURCE_COS, &google, false, DRIVER_SOURCE_COS, NULL },
    { "COS: elsewhere", POLICY_SOURCE_COS, &debian, false, DRIVER_SOURCE_NONE,
      "not Container-Optimized OS" },
    { "Host", POLICY_SOURCE_HOST, &debian, false, DRIVER_SOURCE_HOST, NULL },
};

/* Inputs from a spec, of both tiers. */
struct inputs_row {
    const char *name;
    const char *spec;
    enum driver_source source;
    const struct host *host;
    const char *held; /* inputs of revisions, best first */
    const char *path; /* in the inputs; NULL: there are none */
    const char *want; /* JSON at that path; NULL: nothing is there */
};

static void assert_at(const json_t *inputs, const char *path, const char *want)
{
    if (!want) {
        assert_null(json_at(inputs, path));
        return;
    }
    CLEANUP_FREE char *quoted = json_quoted(want);
    CLEANUP_FREE char *got = json_canonical(json_at(inputs, path));
    assert_string_equal(got, quoted);
}

static void check_driver(void **state)
{
    const struct inputs_row *row = *state;
    CLEANUP_JSON json_t *spec = tree(row->spec);
    CLEANUP_JSON json_t *held = row->held ? tree(row->held) : NULL;
    CLEANUP_JSON json_t *inputs = driver_inputs(spec, row->source, row->host, held);
    if (!row->path)
        assert_null(inputs);
    else
        assert_at(inputs, row->path, row->want);
}

static void check_stack(void **state)
{
    const struct inputs_row *row = *state;
    CLEANUP_JSON json_t *spec = tree(row->spec);
    CLEANUP_JSON json_t *held = row->held ? tree(row->held) : NULL;
    struct plugin_config config = { "plugin-configs", "a100", "version: v1\n" };
    CLEANUP_JSON json_t *inputs = stack_inputs(spec, row->source, row->host, &config, held);
    assert_at(inputs, row->path, row->want);
}

#define CONTAINER DRIVER_SOURCE_CONTAINER
static const struct inputs_row driver_rows[] = {
    { "driver: tier", "{}", CONTAINER, &ubuntu, NULL, "tier", "'driver'" },
    { "driver: source", "{}", CONTAINER, &ubuntu, NULL, "source", "'Container'" },
    { "driver: none for a host's own", "{}", DRIVER_SOURCE_HOST, &ubuntu, NULL, NULL, NULL },
    { "driver: none without a source", "{}", DRIVER_SOURCE_NONE, &debian, NULL, NULL, NULL },
    { "driver: version of the policy", "{'driver':{'version':'570.1'}}", CONTAINER, &ubuntu, NULL,
      "version", "'570.1'" },
    { "driver: version that is held", "{'driver':{}}", CONTAINER, &ubuntu,
      "[{'source':'Container','version':'550.9','precompiled':false}]", "version", "'550.9'" },
    { "driver: the policy goes before what is held", "{'driver':{'version':'570.1'}}", CONTAINER,
      &ubuntu, "[{'source':'Container','version':'550.9','precompiled':false}]", "version",
      "'570.1'" },
    { "driver: nothing of another source is held", "{'driver':{}}", DRIVER_SOURCE_COS, &google,
      "[{'source':'Container','version':'550.9','precompiled':false}]", "version", "''" },
    { "driver: a branch is not held as a version", "{'driver':{'image':'x','repository':'r'}}",
      CONTAINER, &ubuntu,
      "[{'source':'Container','image':'other/y','version':'550','precompiled':true}]", "image",
      "'r/x'" },
    { "driver: precompiled takes the branch",
      "{'driver':{'version':'580.178.04','precompiled':true}}", CONTAINER, &ubuntu, NULL, "version",
      "'580'" },
    { "driver: precompiled names the kernel", "{'driver':{'precompiled':true}}", CONTAINER, &ubuntu,
      NULL, "kernel", "'6.8.0-49-generic'" },
    { "driver: a kernel that is no tag", "{'driver':{'precompiled':true}}", CONTAINER, &odd, NULL,
      "kernel", "'6.1_sha256_0_x_'" },
    { "driver: otherwise the kernel is no input", "{}", CONTAINER, &ubuntu, NULL, "kernel", NULL },
    { "driver: operating system", "{}", CONTAINER, &ubuntu, NULL, "os", "'ubuntu24.04'" },
    { "driver: entitlement on RHEL with containerd", "{}", CONTAINER, &rhel, NULL, "entitlement",
      "true" },
    { "driver: none with CRI-O", "{}", CONTAINER, &rhel_crio, NULL, "entitlement", NULL },
    { "driver: none where the policy says where packages come from",
      "{'driver':{'repoConfig':{'name':'mirror'}}}", CONTAINER, &rhel, NULL, "entitlement", NULL },
    { "driver: repositories", "{'driver':{'repoConfig':{'name':'mirror'}}}", CONTAINER, &ubuntu,
      NULL, "repoConfig", "'mirror'" },
    { "driver: no repositories for a precompiled one",
      "{'driver':{'precompiled':true,'repoConfig':{'name':'mirror'}}}", CONTAINER, &ubuntu, NULL,
      "repoConfig", NULL },
    { "driver: certificates", "{'driver':{'certConfig':{'name':'ours'}}}", CONTAINER, &ubuntu, NULL,
      "certConfig", "'ours'" },
    { "driver: no certificates for a precompiled one",
      "{'driver':{'precompiled':true,'certConfig':{'name':'ours'}}}", CONTAINER, &ubuntu, NULL,
      "certConfig", NULL },
    { "driver: parameters of modules, precompiled as well",
      "{'driver':{'precompiled':true,'kernelModuleConfig':{'name':'parameters'}}}", CONTAINER,
      &ubuntu, NULL, "kernelModuleConfig", "'parameters'" },
    { "driver: no RDMA without being asked for", "{'driver':{'rdma':{'useHostMofed':true}}}",
      CONTAINER, &ubuntu, NULL, "rdma", NULL },
    { "driver: RDMA", "{'driver':{'rdma':{'enabled':true}}}", CONTAINER, &ubuntu, NULL, "rdma",
      "{'useHostMofed':false}" },
    { "driver: RDMA with the host's network driver, precompiled as well",
      "{'driver':{'precompiled':true,'rdma':{'enabled':true,'useHostMofed':true}}}", CONTAINER,
      &ubuntu, NULL, "rdma", "{'useHostMofed':true}" },
    { "driver: Google's installer takes no RDMA", "{'driver':{'rdma':{'enabled':true}}}",
      DRIVER_SOURCE_COS, &google, NULL, "rdma", NULL },
    { "driver: no GDRCopy without being asked for", "{'driver':{'gdrcopy':{'version':'v2.5'}}}",
      CONTAINER, &ubuntu, NULL, "gdrcopy", NULL },
    { "driver: GDRCopy", "{'driver':{'gdrcopy':{'enabled':true}}}", CONTAINER, &ubuntu, NULL,
      "gdrcopy", "{'image':'nvcr.io/nvidia/cloud-native/gdrdrv','version':'v2.6'}" },
    { "driver: GDRCopy's image",
      "{'driver':{'gdrcopy':{'enabled':true,'repository':'example.com/"
      "a','image':'g','version':'v1'}}}",
      CONTAINER, &ubuntu, NULL, "gdrcopy", "{'image':'example.com/a/g','version':'v1'}" },
    { "driver: GDRCopy holds a version", "{'driver':{'gdrcopy':{'enabled':true}}}", CONTAINER,
      &ubuntu,
      "[{'source':'Container','version':'550.9','gdrcopy':{'image':'example.com/"
      "g','version':'v2.4'}}]",
      "gdrcopy", "{'image':'example.com/g','version':'v2.4'}" },
    { "driver: Google's installer takes no GDRCopy", "{'driver':{'gdrcopy':{'enabled':true}}}",
      DRIVER_SOURCE_COS, &google, NULL, "gdrcopy", NULL },
    { "driver: secret variables, precompiled as well",
      "{'driver':{'precompiled':true,'secretEnv':'token'}}", CONTAINER, &ubuntu, NULL, "secretEnv",
      "'token'" },
    { "driver: a section without a name is none", "{'driver':{'repoConfig':{}}}", CONTAINER,
      &ubuntu, NULL, "repoConfig", NULL },
    { "driver: Google's installer takes no secret variables", "{'driver':{'secretEnv':'token'}}",
      DRIVER_SOURCE_COS, &google, NULL, "secretEnv", NULL },
    { "driver: COS takes the policy's version", "{'driver':{'version':'535.1'}}", DRIVER_SOURCE_COS,
      &google, NULL, "version", "'535.1'" },
    { "driver: COS holds a version", "{'driver':{}}", DRIVER_SOURCE_COS, &google,
      "[{'source':'COS','version':'535.1'}]", "version", "'535.1'" },
    { "driver: of several that are held, the first", "{'driver':{}}", CONTAINER, &ubuntu,
      "[{'source':'Container','version':'550.9'},{'source':'Container','version':'535.1'}]",
      "version", "'550.9'" },
    { "driver: of several that are held, the first of the same source", "{'driver':{}}", CONTAINER,
      &ubuntu, "[{'source':'COS','version':'550.9'},{'source':'Container','version':'535.1'}]",
      "version", "'535.1'" },
    { "driver: of several that are held, the first with a branch",
      "{'driver':{'precompiled':true}}", CONTAINER, &ubuntu,
      "[{'source':'Container','version':'550.9'},{'source':'Container','version':'535','"
      "precompiled':true}]",
      "version", "'535'" },
    { "driver: COS holds a version whatever the others are", "{'driver':{'precompiled':true}}",
      DRIVER_SOURCE_COS, &google, "[{'source':'COS','version':'535.1'}]", "version", "'535.1'" },
};

static const struct inputs_row stack_rows[] = {
    { "GDRCopy: the device plugin gives its device", "{'driver':{'gdrcopy':{'enabled':true}}}",
      CONTAINER, &ubuntu, NULL, "gdrcopy", "true" },
    { "GDRCopy: not asked for", "{'driver':{'gdrcopy':{'enabled':false}}}", CONTAINER, &ubuntu,
      NULL, "gdrcopy", NULL },
    { "GDRCopy: Ostler does not load it for a host's driver",
      "{'driver':{'gdrcopy':{'enabled':true}}}", DRIVER_SOURCE_HOST, &ubuntu, NULL, "gdrcopy",
      NULL },
    { "toolkit: Auto, the host has none", "{}", CONTAINER, &ubuntu, NULL, "toolkit.enabled",
      "true" },
    { "toolkit: Auto, and nothing new is an input where the host has none",
      "{'toolkit':{'source':'Auto'}}", CONTAINER, &ubuntu, NULL, "hostToolkit", NULL },
    { "toolkit: Auto, the host has one", "{}", DRIVER_SOURCE_HOST, &amazon, NULL, "toolkit",
      "{'enabled':false}" },
    { "toolkit: that the host has one is what the host is", "{}", DRIVER_SOURCE_HOST, &amazon, NULL,
      "hostToolkit", "'nvidia'" },
    { "toolkit: the host's own has not switched CDI on", "{}", DRIVER_SOURCE_HOST, &amazon, NULL,
      "cdi", "false" },
    { "toolkit: the host's own, and CDI is on by default", "{}", CONTAINER, &azure, NULL, "cdi",
      "true" },
    { "toolkit: the host's own is its default", "{}", CONTAINER, &azure, NULL, "hostToolkit",
      "'default'" },
    { "toolkit: Auto although it is enabled", "{'toolkit':{'source':'Auto','enabled':true}}",
      CONTAINER, &azure, NULL, "toolkit.enabled", "false" },
    { "toolkit: enabled means Ostler's, as before there was a source",
      "{'toolkit':{'enabled':true}}", CONTAINER, &azure, NULL, "toolkit.enabled", "true" },
    { "toolkit: with Ostler's nothing says that the host has one", "{'toolkit':{'enabled':true}}",
      CONTAINER, &azure, NULL, "hostToolkit", NULL },
    { "toolkit: Ostler's is asked for", "{'toolkit':{'source':'Ostler'}}", CONTAINER, &azure, NULL,
      "toolkit.enabled", "true" },
    { "toolkit: not enabled means the host's, whatever it has",
      "{'toolkit':{'enabled':false,'source':'Ostler'}}", CONTAINER, &ubuntu, NULL, "toolkit",
      "{'enabled':false}" },
    { "toolkit: the host's is asked for, whatever it has", "{'toolkit':{'source':'Host'}}",
      CONTAINER, &ubuntu, NULL, "toolkit", "{'enabled':false}" },
    { "toolkit: the host's is asked for, and no user switched CDI on",
      "{'toolkit':{'source':'Host'}}", CONTAINER, &ubuntu, NULL, "cdi", "false" },
    { "toolkit: none is asked for, and no user switched CDI on", "{'toolkit':{'enabled':false}}",
      CONTAINER, &ubuntu, NULL, "cdi", "false" },
    { "toolkit: the host's is asked for, and CDI is on by default", "{'toolkit':{'source':'Host'}}",
      CONTAINER, &azure, NULL, "cdi", "true" },
    { "toolkit: one whose program is not there is none", "{}", CONTAINER, &broken, NULL,
      "toolkit.enabled", "true" },
    { "stack: tier", "{}", CONTAINER, &ubuntu, NULL, "tier", "'stack'" },
    { "stack: where the driver is", "{}", DRIVER_SOURCE_HOST, &ubuntu, NULL, "driverRoot",
      "'Host'" },
    { "stack: runtime", "{}", CONTAINER, &rhel_crio, NULL, "runtime", "'crio'" },
    { "stack: distribution", "{}", CONTAINER, &ubuntu, NULL, "distribution", "'stock'" },
    { "stack: CDI", "{}", CONTAINER, &ubuntu, NULL, "cdi", "true" },
    { "stack: toolkit version that is held", "{}", CONTAINER, &ubuntu,
      "[{'toolkit':{'enabled':true,'version':'v1.18.0'}}]", "toolkit.version", "'v1.18.0'" },
    { "stack: plugin version that is held", "{}", CONTAINER, &ubuntu,
      "[{'devicePlugin':{'enabled':true,'version':'v0.18.0'}}]", "devicePlugin.version",
      "'v0.18.0'" },
    { "stack: toolkit version of the first that had one", "{}", CONTAINER, &ubuntu,
      "[{'toolkit':{'enabled':false}},{'toolkit':{'enabled':true,'version':'v1.18.0'}}]",
      "toolkit.version", "'v1.18.0'" },
    { "stack: plugin version beside a toolkit that is off", "{}", CONTAINER, &ubuntu,
      "[{'toolkit':{'enabled':false},'devicePlugin':{'enabled':true,'version':'v0.18.0'}}]",
      "devicePlugin.version", "'v0.18.0'" },
    { "stack: the host's own toolkit", "{'toolkit':{'enabled':false}}", CONTAINER, &ubuntu, NULL,
      "toolkit", "{'enabled':false}" },
    { "stack: no plugin", "{'devicePlugin':{'enabled':false}}", CONTAINER, &ubuntu, NULL,
      "devicePlugin", "{'enabled':false}" },
    { "stack: folder of the toolkit", "{'toolkit':{'installDir':'/opt/nvidia'}}", CONTAINER,
      &ubuntu, NULL, "toolkit.installDir", "'/opt/nvidia'" },
    { "stack: Google's driver on Ubuntu lies where it does on COS", "{}", DRIVER_SOURCE_HOST,
      &google_ubuntu, NULL, "driverRoot", "'COS'" },
    { "stack: a driver container on GKE's Ubuntu has its own root", "{}", CONTAINER, &google_ubuntu,
      NULL, "driverRoot", "'Container'" },
    { "stack: folder of the toolkit beside Google's driver on Ubuntu", "{}", DRIVER_SOURCE_HOST,
      &google_ubuntu, NULL, "toolkit.installDir", "'/home/kubernetes/bin/nvidia'" },
    { "stack: folder of the toolkit on COS", "{'toolkit':{'installDir':'/usr/local/nvidia'}}",
      DRIVER_SOURCE_COS, &google, NULL, "toolkit.installDir", "'/home/kubernetes/bin/nvidia'" },
    { "stack: configuration", "{}", CONTAINER, &ubuntu, NULL, "devicePlugin.config",
      "{'key':'a100','name':'plugin-configs','text':'version: v1\\n'}" },
};

/* Whether a change of the spec makes a new revision. */
struct change_row {
    const char *name;
    const char *before, *after;
    bool driver, stack; /* which tier changes */
};

static void hashes(const char *text, char driver[REVISION_HASH_MAX], char stack[REVISION_HASH_MAX])
{
    CLEANUP_JSON json_t *spec = tree(text);
    CLEANUP_JSON json_t *driver_of = driver_inputs(spec, CONTAINER, &ubuntu, NULL);
    CLEANUP_JSON json_t *stack_of = stack_inputs(spec, CONTAINER, &ubuntu, NULL, NULL);
    revision_hash(driver_of, driver);
    revision_hash(stack_of, stack);
}

static void check_change(void **state)
{
    const struct change_row *row = *state;
    char driver[2][REVISION_HASH_MAX], stack[2][REVISION_HASH_MAX];
    hashes(row->before, driver[0], stack[0]);
    hashes(row->after, driver[1], stack[1]);
    assert_int_equal(!str_eq(driver[0], driver[1]), row->driver);
    assert_int_equal(!str_eq(stack[0], stack[1]), row->stack);
}

#define EVERY(field, value)                                                                        \
    "{'driver':{'" field "':" value "},'toolkit':{'" field "':" value "},'devicePlugin':{'" field  \
    "':" value "}}"
static const struct change_row change_rows[] = {
    { "resources are no input", "{}", EVERY("resources", "{'limits':{'memory':'1Gi'}}"), false,
      false },
    { "labels are no input", "{}", EVERY("labels", "{'team':'a'}"), false, false },
    { "tolerations are no input", "{}", EVERY("tolerations", "[{'operator':'Exists'}]"), false,
      false },
    { "pull secrets are no input", "{}", EVERY("imagePullSecrets", "['ngc']"), false, false },
    { "the pull policy is no input", "{}", EVERY("imagePullPolicy", "'Always'"), false, false },
    { "the priority class is no input", "{}", EVERY("priorityClassName", "'high'"), false, false },
    { "the exporter is no input", "{}", "{'exporter':{'version':'1','interval':'10s'}}", false,
      false },
    { "health is no input", "{}", "{'health':{'kernelLog':true,'xids':{'109':'Event'}}}", false,
      false },
    { "a version is", "{}", EVERY("version", "'1'"), true, true },
    { "a repository is", "{}", EVERY("repository", "'registry.example'"), true, true },
    { "a variable is", "{}", EVERY("env", "[{'name':'A','value':'b'}]"), true, true },
    { "an argument is", "{}", EVERY("args", "['-v']"), true, true },
    { "kernel modules", "{}", "{'driver':{'kernelModule':'Open'}}", true, false },
    { "the folder of the toolkit", "{}", "{'toolkit':{'installDir':'/opt/nvidia'}}", false, true },
    { "the MIG strategy", "{}", "{'devicePlugin':{'migStrategy':'mixed'}}", false, true },
    { "a default written out changes nothing", "{}",
      "{'driver':{'precompiled':false,'kernelModule':'Auto'}}", false, false },
};

static void hash_is_a_label(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *one = tree("{'a':1,'b':2}");
    CLEANUP_JSON json_t *two = tree("{'b':2,'a':1}");
    char first[REVISION_HASH_MAX], second[REVISION_HASH_MAX];
    revision_hash(one, first);
    revision_hash(two, second);
    assert_string_equal(first, second);
    assert_int_equal(strlen(first), REVISION_HASH_MAX - 1);
    assert_int_equal(strspn(first, "0123456789bcdfghjklmnpqrstvwxyz"), REVISION_HASH_MAX - 1);
}

static void config_text_counts(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *spec = tree("{}");
    struct plugin_config one = { "plugin-configs", "a100", "version: v1\n" };
    struct plugin_config two = { "plugin-configs", "a100", "version: v1\nflags: {}\n" };
    CLEANUP_JSON json_t *first = stack_inputs(spec, CONTAINER, &ubuntu, &one, NULL);
    CLEANUP_JSON json_t *second = stack_inputs(spec, CONTAINER, &ubuntu, &two, NULL);
    char a[REVISION_HASH_MAX], b[REVISION_HASH_MAX];
    revision_hash(first, a);
    revision_hash(second, b);
    assert_string_not_equal(a, b);
}

static void exporter_without_a_node(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *spec = tree("{'exporter':{'env':[{'name':'A','value':'b'}]}}");
    CLEANUP_JSON json_t *held = tree("{'version':'4.1'}");
    CLEANUP_JSON json_t *inputs = follower_inputs(operand_get(OPERAND_EXPORTER), spec, NULL, held,
                                                  0);
    assert_at(inputs, "version", "'4.1'");
    assert_at(inputs, "distribution", "'stock'");
    assert_at(inputs, "env", "[{'name':'A','value':'b'}]");
    assert_at(inputs, "selection", "[{'key':'ostler.dev/exporter','operator':'DoesNotExist'}]");
}

/* What of a stack's sharing the exporter has to be told. */
static const struct traits_row {
    const char *name, *text;
    unsigned want;
} traits_rows[] = {
    { "exporter: nothing is shared", "version: v1", 0 },
    { "exporter: GPUs by time slicing",
      "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}",
      FOLLOWER_SHARED },
    { "exporter: under another name",
      "sharing: {timeSlicing: {renameByDefault: true, resources: [{name: nvidia.com/gpu, replicas: "
      "4}]}}",
      FOLLOWER_SHARED | FOLLOWER_RENAMED },
    { "exporter: slices, which it knows by any name",
      "sharing: {timeSlicing: {renameByDefault: true, resources: [{name: nvidia.com/mig-1g.5gb, "
      "replicas: 2}]}}",
      FOLLOWER_SHARED },
    { "exporter: one for each, which is not shared",
      "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 1}]}}", 0 },
    { "exporter: text that is no YAML", "{", 0 },
};

static void check_traits(void **state)
{
    const struct traits_row *row = *state;
    CLEANUP_JSON json_t *inputs = json_pack("{s:{s:{s:s}}}", "devicePlugin", "config", "text",
                                            row->text);
    assert_int_equal(follower_traits(inputs), row->want);
}

/* What people call a revision, and when they need its hash. */
static const struct name_row {
    const char *name, *tier, *inputs;
    bool namesake;
    const char *want;
} name_rows[] = {
    { "a driver", "driver", "{'version':'580.178.04'}", false, "driver 580.178.04" },
    { "one of two that are called the same", "driver", "{'version':'580.178.04'}", true,
      "driver 580.178.04 (revision 0bcdfghjkl)" },
    { "a driver of no version", "driver", "{'version':''}", false, "driver revision 0bcdfghjkl" },
    { "an unknown driver", "driver", "null", true, "driver revision 0bcdfghjkl" },
    { "a stack", "stack", "{'toolkit':{'version':'v1'},'devicePlugin':{'version':'v2'}}", false,
      "toolkit v1 and device plugin v2" },
    { "a stack without a toolkit", "stack",
      "{'toolkit':{'enabled':false},'devicePlugin':{'version':'v2'}}", false, "device plugin v2" },
    { "a stack without anything", "stack", "{'toolkit':{'enabled':false}}", false,
      "stack revision 0bcdfghjkl" },
};

static void check_name(void **state)
{
    const struct name_row *row = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_FREE char *text = xasprintf("[%s]", row->inputs);
    CLEANUP_JSON json_t *list = tree(text);
    assert_string_equal(
        revision_name(&a, json_array_get(list, 0), row->tier, "0bcdfghjkl", row->namesake),
        row->want);
}

static void a_hash_is_told_from_other_words(void **state)
{
    (void) state;
    assert_true(revision_is_hash("0bcdfghjkl"));
    assert_false(revision_is_hash("nonsense"));
    assert_false(revision_is_hash("0bcdfghjkl0"));
    assert_false(revision_is_hash("0bcdfghjka"));
    assert_false(revision_is_hash(""));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_traits, traits_rows);
    SUITE_ROWS(&s, check_source, source_rows);
    SUITE_ROWS(&s, check_driver, driver_rows);
    SUITE_ROWS(&s, check_stack, stack_rows);
    SUITE_ROWS(&s, check_change, change_rows);
    SUITE_ROWS(&s, check_name, name_rows);
    suite_add(&s, "a hash is told from other words", a_hash_is_told_from_other_words, NULL);
    suite_add(&s, "a hash is ten letters and digits, whatever the order of keys", hash_is_a_label,
              NULL);
    suite_add(&s, "the text of a configuration is an input", config_text_counts, NULL);
    suite_add(&s, "an exporter can be made before there is a node", exporter_without_a_node, NULL);
    return suite_run(&s, "revision");
}
