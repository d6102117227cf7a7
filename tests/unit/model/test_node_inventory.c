/* What is kept of an inventory, whoever wrote it, and what follows from it for GPUs and hosts. */
#include "reconcilers/model/node_inventory.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "reconcilers/model/detect.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define GPU(address, more) "{'address':'0000:" address ":00.0'" more "}"
#define ANSWERS ",'bus':'Answers'"
#define SOCKET(name, distribution, path)                                                           \
    "{'name':'" name "','distribution':'" distribution "','socket':'" path "'}"
#define STOCK SOCKET("containerd", "stock", "/run/containerd/containerd.sock")
#define K3S SOCKET("containerd", "k3s", "/run/k3s/containerd/containerd.sock")
#define DOCKER SOCKET("docker", "stock", "/run/docker.sock")

/* ---- what is kept */

/* clang-format cannot read a table of such macros. */
/* clang-format off */
static const struct kept_row {
    const char *name, *inventory;
    struct node_inventory want;
    bool gpu, none;
} kept_rows[] = {
    { "nothing is said", "{}", { 0 }, false, false },
    { "what NVML and the log say", "{'health':[{}],'faults':[]}",
      { .health_listed = true, .faults_listed = true }, false, false },
    { "NVML says nothing, and the log is not read", "{'health':[],'faults':{}}", { 0 }, false,
      false },
    { "no GPU, looked at once", "{'gpus':[],'absentLooks':1}",
      { .gpus_known = true, .absent_looks = 1 }, false, false },
    { "no GPU, looked at often enough", "{'gpus':[],'absentLooks':3}",
      { .gpus_known = true, .absent_looks = 3 }, false, true },
    { "looks that no agent counts", "{'gpus':[],'absentLooks':300}", { .gpus_known = true },
      false, false },
    { "looks, and no list", "{'absentLooks':3}", { .absent_looks = 3 }, false, false },
    { "a list that is none", "{'gpus':{},'absentLooks':3}", { .absent_looks = 3 }, false, false },
    { "GPUs of every kind",
      "{'gpus':[" GPU("01", ANSWERS) ","
      GPU("02", ",'bus':'Suspended','driver':'nvidia','migInstances':7,'product':'A 100'") ","
      GPU("03", ",'bus':'Silent'") "," GPU("04", ",'bus':'Gone'") ","
      GPU("05", ANSWERS ",'driver':'nouveau'") "," GPU("06", ANSWERS ",'driver':'vfio-pci'") "]}",
      { .gpus_known = true, .gpus = 4, .lost = 2, .driven = 1, .nouveau = 1, .passed_on = 1,
        .divided = 1, .alike = 1, .product = "A 100", .lost_address = "0000:03:00.0" }, true,
      false },
    { "GPUs of two products",
      "{'gpus':[" GPU("01", ANSWERS ",'driver':'nvidia'") ","
      GPU("02", ANSWERS ",'driver':'nvidia','product':'T4'") ","
      GPU("03", ANSWERS ",'driver':'nvidia','product':'L4'") ","
      GPU("04", ANSWERS ",'driver':'nvidia','product':'T4'") "]}",
      { .gpus_known = true, .gpus = 4, .driven = 4, .alike = 2, .product = "T4" }, true, false },
    { "a product of one that no driver serves counts for nothing",
      "{'gpus':[" GPU("01", ANSWERS ",'driver':'vfio-pci','product':'T4','migInstances':2") "]}",
      { .gpus_known = true, .gpus = 1, .passed_on = 1 }, false, false },
    { "slices of one kind, and memory",
      "{'gpus':["
      GPU("01", ANSWERS ",'driver':'nvidia','migInstances':2,'memoryMiB':81559,"
      "'migDevices':[{'profile':'1g.10gb'}," "{'profile':'1g.10gb'}]")
      "," GPU("02", ANSWERS ",'driver':'nvidia','memoryMiB':1") "]}",
      { .gpus_known = true, .gpus = 2, .driven = 2, .divided = 1, .memory_mib = 81559, .slice =
      "1g.10gb" }, true, false },
    { "slices of two kinds, and memory that nothing has",
      "{'gpus':["
      GPU("01", ANSWERS ",'driver':'nvidia','migInstances':2,'memoryMiB':-7,"
      "'migDevices':[{'profile':'1g.10gb'}," "{'profile':'3g.40gb'}]")
      "]}",
      { .gpus_known = true, .gpus = 1, .driven = 1, .divided = 1, .slice = "1g.10gb", .many_kinds =
      true }, true, false },
    { "a machine", "{'machine':'NVIDIA DGX-2H'}", { .machine = "NVIDIA DGX-2H" }, false, false },
    { "a machine with a name that is too long",
      "{'machine':'0123456789012345678901234567890123456789012345678901234567890123'}", { 0 },
      false, false },
    { "a GPU that has fallen off the bus is there",
      "{'gpus':[" GPU("03", ",'bus':'Silent'") "],'absentLooks':3}",
      { .gpus_known = true, .lost = 1, .absent_looks = 3, .lost_address = "0000:03:00.0" }, true,
      false },
    { "GPUs for virtual machines alone",
      "{'gpus':[" GPU("06", ANSWERS ",'driver':'vfio-pci'") "]}",
      { .gpus_known = true, .gpus = 1, .passed_on = 1 }, false, false },
    { "GPUs that are none", "{'gpus':[7,'x',null]}", { .gpus_known = true, .gpus = 3 }, true,
      false },
    { "an address that is too long",
      "{'gpus':[{'bus':'Gone','address':'0000:0000:0000:03:00.0'}]}",
      { .gpus_known = true, .lost = 1 }, true, false },
    { "a module, a driver, the firmware",
      "{'module':{'loaded':true,'version':'580.178.04'},'driverContainer':true,"
      "'hostDriver':{'installed':true},'nouveau':true,"
      "'secureBoot':true}",
      { .module_loaded = true, .module_version = "580.178.04", .driver_container = true,
        .host_driver = true, .secure_boot = true }, false, false },
    { "a driver of the host's where Google's installers put it",
      "{'hostDriver':{'installed':true,"
      "'library':'/home/kubernetes/bin/nvidia/lib64/libnvidia-ml.so.1'}}",
      { .host_driver = true, .google_driver = true }, false, false },
    { "a driver of the host's elsewhere",
      "{'hostDriver':{'installed':true,'library':'/usr/lib64/libnvidia-ml.so.1'}}",
      { .host_driver = true }, false, false },
    { "what is left there of a driver",
      "{'hostDriver':{'library':'/home/kubernetes/bin/nvidia/lib64/libnvidia-ml.so.1'}}", { 0 },
      false, false },
    { "a version that is too long", "{'module':{'version':'580.178.04-0123456789abcdef'}}", { 0 },
      false, false },
    { "texts with what no agent writes",
      "{'module':{'version':'580\\u001b[31m'},'gpus':[{'bus':'Gone','address':'0\\u000aof 0'}]}",
      { .gpus_known = true, .lost = 1 }, true, false },
    { "no network card", "{'networkCards':0}", { .no_network_card = true }, false, false },
    { "network cards", "{'networkCards':2}", { 0 }, false, false },
    { "network cards that are no number", "{'networkCards':'0'}", { 0 }, false, false },
    { "a kubelet in another folder",
      "{'runtimes':[" STOCK "],'kubelet':{'root':'/data/kubelet'}}",
      { .runtime = RUNTIME_CONTAINERD, .kubelet_root = "/data/kubelet" }, false, false },
    { "a kubelet in the usual folder",
      "{'runtimes':[" STOCK "],'kubelet':{'root':'/var/lib/kubelet'}}",
      { .runtime = RUNTIME_CONTAINERD }, false, false },
    { "the only runtime", "{'runtimes':[" K3S "]}",
      { .runtime = RUNTIME_CONTAINERD, .distribution = DISTRIBUTION_K3S }, false, false },
    { "of two runtimes neither is named", "{'runtimes':[" K3S "," DOCKER "]}", { 0 }, false,
      false },
    { "the kubelet says which",
      "{'runtimes':[" STOCK "," DOCKER "," K3S
      "],'kubelet':{'endpoint':'unix:///run/k3s/containerd/containerd.sock'}}",
      { .runtime = RUNTIME_CONTAINERD, .distribution = DISTRIBUTION_K3S }, false, false },
    { "the kubelet says a path",
      "{'runtimes':[" STOCK "," DOCKER "],'kubelet':{'endpoint':'/run/docker.sock'}}",
      { .runtime = RUNTIME_DOCKER }, false, false },
    { "the kubelet says its old path",
      "{'runtimes':[" STOCK "," DOCKER "],'kubelet':{'endpoint':'unix:///var/run/docker.sock'}}",
      { .runtime = RUNTIME_DOCKER }, false, false },
    { "the kubelet uses docker by way of cri-dockerd",
      "{'runtimes':[" STOCK "," DOCKER
      "],'kubelet':{'endpoint':'unix:///var/run/cri-dockerd.sock'}}",
      { .runtime = RUNTIME_DOCKER }, false, false },
    { "the kubelet uses another",
      "{'runtimes':[" STOCK "],'kubelet':{'endpoint':'unix:///opt/x.sock'}}",
      { .runtime_missing = true }, false, false },
    { "the host's own toolkit",
      "{'hostToolkit':{'installed':true,'handler':'nvidia','default':false,'version':'1.17.8'}}",
      { .host_toolkit = HOST_TOOLKIT_NVIDIA, .toolkit_version = "1.17.8" }, false, false },
    { "the host's own toolkit is the default, and called otherwise",
      "{'hostToolkit':{'installed':true,'handler':'nvidia-container-runtime','default':true}}",
      { .host_toolkit = HOST_TOOLKIT_DEFAULT }, false, false },
    { "the host's own toolkit, which no pod of ours can ask for",
      "{'hostToolkit':{'installed':true,'handler':'nvidia-container-runtime','default':false}}",
      { 0 }, false, false },
    { "a runtime without a handler nvidia",
      "{'runtimes':[{'name':'containerd','config':'/etc/containerd/config.toml'}]}",
      { .runtime = RUNTIME_CONTAINERD, .no_handler = true }, false, false },
    { "a runtime with another handler of NVIDIA's",
      "{'runtimes':[{'name':'containerd','config':'/c'}],'hostToolkit':{'installed':true,"
      "'handler':'nvidia-container-runtime',"
      "'default':true}}",
      { .runtime = RUNTIME_CONTAINERD, .no_handler = true, .host_toolkit = HOST_TOOLKIT_DEFAULT },
      false, false },
    { "a runtime with the handler nvidia",
      "{'runtimes':[{'name':'containerd','config':'/c'}],'hostToolkit':{'installed':true,"
      "'handler':'nvidia'}}",
      { .runtime = RUNTIME_CONTAINERD, .host_toolkit = HOST_TOOLKIT_NVIDIA }, false, false },
    { "a runtime whose configuration was not read", "{'runtimes':[{'name':'containerd'}]}",
      { .runtime = RUNTIME_CONTAINERD }, false, false },
    { "the host's own toolkit, whose program is not there",
      "{'hostToolkit':{'installed':false,'handler':'nvidia'}}",
      { .host_toolkit = HOST_TOOLKIT_MISSING }, false, false },
    { "a toolkit that no runtime is configured for",
      "{'hostToolkit':{'installed':true,'program':'/usr/bin/x'}}", { 0 }, false, false },
    { "a toolkit with texts that no agent writes",
      "{'hostToolkit':{'installed':'yes','handler':7,'default':1,'version':'1.17\\u001b'}}",
      { 0 }, false, false },
    { "no runtime is there", "{'runtimes':[]}", { .runtime_missing = true }, false, false },
    { "runtimes were not looked at", "{'kubelet':{'endpoint':'unix:///opt/x.sock'}}", { 0 },
      false, false },
    { "an unknown runtime", "{'runtimes':[" SOCKET("rkt", "odd", "/run/rkt") "]}", { 0 },
      false, false },
};
/* clang-format on */

static void check_kept(void **state)
{
    const struct kept_row *row = *state;
    CLEANUP_JSON json_t *inventory = tree(row->inventory);
    struct node_inventory *i = node_inventory_read(inventory),
                          *again = node_inventory_read(inventory), want = row->want;
    struct node_facts facts = { .inventory = i };
    assert_non_null(i);
    assert_memory_equal(i->lost_address, want.lost_address, sizeof want.lost_address);
    assert_memory_equal(i->module_version, want.module_version, sizeof want.module_version);
    assert_int_equal(i->gpus_known, want.gpus_known);
    assert_int_equal(i->gpus, want.gpus);
    assert_int_equal(i->lost, want.lost);
    assert_int_equal(i->driven, want.driven);
    assert_int_equal(i->nouveau, want.nouveau);
    assert_int_equal(i->passed_on, want.passed_on);
    assert_int_equal(i->divided, want.divided);
    assert_int_equal(i->alike, want.alike);
    assert_string_equal(i->product, want.product);
    assert_string_equal(i->slice, want.slice);
    assert_int_equal(i->many_kinds, want.many_kinds);
    assert_int_equal(i->memory_mib, want.memory_mib);
    assert_string_equal(i->machine, want.machine);
    assert_int_equal(i->absent_looks, want.absent_looks);
    assert_int_equal(i->module_loaded, want.module_loaded);
    assert_int_equal(i->driver_container, want.driver_container);
    assert_int_equal(i->host_driver, want.host_driver);
    assert_int_equal(i->google_driver, want.google_driver);
    assert_int_equal(i->secure_boot, want.secure_boot);
    assert_int_equal(i->runtime, want.runtime);
    assert_int_equal(i->distribution, want.distribution);
    assert_int_equal(i->runtime_missing, want.runtime_missing);
    assert_int_equal(detect_gpu(&facts) != NULL, row->gpu);
    assert_int_equal(detect_looked_at(&facts), want.gpus_known);
    assert_int_equal(node_inventory_shows_none(i), row->none);
    assert_true(node_inventory_same(i, again));
    again->gpus++;
    assert_false(node_inventory_same(i, again));
    assert_false(node_inventory_same(i, NULL));
    free(i);
    free(again);
}

static void check_silence(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *text = json_string("gpus");
    assert_null(node_inventory_read(NULL));
    assert_null(node_inventory_read(text));
    assert_true(node_inventory_same(NULL, NULL));
}

/* ---- hosts */

static const struct host_row {
    const char *name, *inventory, *runtime_version, *kubelet_version;
    enum host_runtime runtime;
    enum host_distribution distribution;
    bool cdi, problem;
} host_rows[] = {
    { "host: what versions make likely, while nothing is seen", "{}", "containerd://2.1.4-k3s1",
      "v1.34.1+k3s1", RUNTIME_CONTAINERD, DISTRIBUTION_K3S, true, false },
    { "host: a socket says whose it is, where the version does not", "{'runtimes':[" K3S "]}",
      "containerd://1.7.28", "v1.34.1", RUNTIME_CONTAINERD, DISTRIBUTION_K3S, false, false },
    { "host: a stock runtime under a kubelet of k3s", "{'runtimes':[" STOCK "]}",
      "containerd://1.7.28", "v1.34.1+k3s1", RUNTIME_CONTAINERD, DISTRIBUTION_STOCK, true, false },
    { "host: the kubelet's word counts for the runtime", "{'runtimes':[" DOCKER "]}",
      "containerd://2.1.4", "v1.34.1+k3s1", RUNTIME_CONTAINERD, DISTRIBUTION_K3S, true, false },
    { "host: the kubelet does not say",
      "{'runtimes':[" SOCKET("cri-o", "stock", "/run/crio/crio.sock") "]}", NULL, "v1.34.1",
      RUNTIME_CRIO, DISTRIBUTION_STOCK, true, false },
    { "host: containerd of an unknown version", "{'runtimes':[" STOCK "]}", NULL, "v1.34.1",
      RUNTIME_CONTAINERD, DISTRIBUTION_STOCK, false, false },
    { "host: it is at no place that is known", "{'runtimes':[]}", "containerd://2.1.4", "v1.34.1",
      RUNTIME_UNKNOWN, DISTRIBUTION_STOCK, true, true },
};

static void check_host(void **state)
{
    const struct host_row *row = *state;
    CLEANUP_JSON json_t *inventory = tree(row->inventory);
    CLEANUP_ARENA struct arena a = { 0 };
    struct node_inventory *i = node_inventory_read(inventory);
    struct node_facts facts = { .inventory = i,
                                .runtime_version = row->runtime_version,
                                .kubelet_version = row->kubelet_version };
    struct host host = host_of(&facts);
    assert_int_equal(host.runtime, row->runtime);
    assert_int_equal(host.distribution, row->distribution);
    assert_int_equal(host.cdi, row->cdi);
    assert_int_equal(host_runtime_problem(&a, &host, &facts) != NULL, row->problem);
    free(i);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_kept, kept_rows);
    suite_add(&s, "silence", check_silence, NULL);
    SUITE_ROWS(&s, check_host, host_rows);
    return suite_run(&s, "node_inventory");
}
