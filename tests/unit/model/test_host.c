#include "reconcilers/model/host.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

/* Labels as "key=value" lines. */
static const char *label(const void *labels, const char *key)
{
    static char value[128];
    size_t len = strlen(key);
    for (const char *line = labels; line && *line; line += strcspn(line, "\n") + 1) {
        size_t end = strcspn(line, "\n");
        if (end > len && !strncmp(line, key, len) && line[len] == '=') {
            snprintf(value, sizeof value, "%.*s", (int) (end - len - 1), line + len + 1);
            return value;
        }
        if (!line[end])
            break;
    }
    return NULL;
}

#define NFD_OS(id, version)                                                                        \
    "feature.node.kubernetes.io/system-os_release.ID=" id                                          \
    "\nfeature.node.kubernetes.io/system-os_release.VERSION_ID=" version

struct os_row {
    const char *name;
    const char *labels;
    const char *os_image;
    const char *os;      /* wanted suffix */
    const char *problem; /* part of the wanted sentence; NULL: none */
    bool cos;
};

static void check_os(void **state)
{
    const struct os_row *row = *state;
    struct node_facts facts = { .label = label, .labels = row->labels, .os_image = row->os_image };
    struct host host = host_of(&facts);
    CLEANUP_ARENA struct arena a = { 0 };
    assert_string_equal(host.os, row->os);
    assert_int_equal(host.cos, row->cos);
    const char *problem = host_os_problem(&a, &host, &facts);
    assert_int_equal(problem != NULL, row->problem != NULL);
    if (problem && !strstr(problem, row->problem))
        fail_msg("\"%s\" does not say \"%s\"", problem, row->problem);
}

static const struct os_row os_rows[] = {
    { "Ubuntu by osImage", NULL, "Ubuntu 22.04.4 LTS", "ubuntu22.04", NULL, false },
    { "Ubuntu 24.04 by osImage", NULL, "Ubuntu 24.04.1 LTS", "ubuntu24.04", NULL, false },
    { "Ubuntu 26.04 by osImage", NULL, "Ubuntu 26.04 LTS", "ubuntu26.04", NULL, false },
    { "Ubuntu by label", NFD_OS("ubuntu", "24.04"), "Ubuntu 22.04.4 LTS", "ubuntu24.04", NULL,
      false },
    { "an Ubuntu without images", NULL, "Ubuntu 23.10", "", "Ubuntu 23.10", false },
    { "RHEL by osImage: major version only", NULL, "Red Hat Enterprise Linux 9.4 (Plow)", "rhel9",
      NULL, false },
    { "RHEL 10 by osImage", NULL, "Red Hat Enterprise Linux 10.1 (Coughlan)", "rhel10", NULL,
      false },
    { "RHEL by label", NFD_OS("rhel", "8.10"), "", "rhel8", NULL, false },
    { "RHEL 7 has no image", NULL, "Red Hat Enterprise Linux 7.9 (Maipo)", "",
      "Enterprise Linux 7.9", false },
    { "RHCOS leads with OpenShift's version", NULL,
      "Red Hat Enterprise Linux CoreOS 418.94.202501221327-0", "rhcos4.18", NULL, false },
    { "RHCOS by label", NFD_OS("rhcos", "4.18"), "Red Hat Enterprise Linux CoreOS 418.94.2025",
      "rhcos4.18", NULL, false },
    { "RHCOS since 4.19 takes RHEL's images", NULL,
      "Red Hat Enterprise Linux CoreOS 9.6.20251023-0 (Plow)", "rhel9", NULL, false },
    { "RHCOS since 4.19 by label", NFD_OS("rhel", "9.6"),
      "Red Hat Enterprise Linux CoreOS 9.6.20251023-0 (Plow)", "rhel9", NULL, false },
    { "an RHCOS of a number that none has", NULL, "Red Hat Enterprise Linux CoreOS 4180.94", "",
      "CoreOS 4180.94", false },
    { "Rocky by osImage", NULL, "Rocky Linux 9.4 (Blue Onyx)", "rocky9", NULL, false },
    { "Rocky by label", NFD_OS("rocky", "10.0"), "Rocky Linux 10.0", "rocky10", NULL, false },
    { "COS by osImage", NULL, "Container-Optimized OS from Google", "", NULL, true },
    { "COS by label", NFD_OS("cos", "117"), "Container-Optimized OS from Google", "", NULL, true },
    { "Bottlerocket has its own driver", NULL, "Bottlerocket OS 1.20.0 (aws-k8s-1.30)", "",
      "-nvidia", false },
    { "Talos", NULL, "Talos (v1.8.0)", "", "system extensions", false },
    { "SLES", NULL, "SUSE Linux Enterprise Server 15 SP6", "", "SUSE's driver packages", false },
    { "Debian", NULL, "Debian GNU/Linux 12 (bookworm)", "", "driver.source to Host", false },
    { "Debian by label", NFD_OS("debian", "12"), "Debian GNU/Linux 12 (bookworm)", "",
      "Debian GNU/Linux 12", false },
    { "Oracle Linux has no image", NFD_OS("ol", "9.4"), "Oracle Linux Server 9.4", "",
      "Oracle Linux", false },
    { "a system that says nothing", NULL, "", "", "osImage is empty", false },
    { "a version that is too long to be one", NULL, "Ubuntu 222222222222222222222222222.04", "",
      "2222", false },
};

struct runtime_row {
    const char *name;
    const char *version;
    const char *kubelet;
    const char *labels;
    const char *runtime;
    const char *distribution;
    bool cdi;
    const char *problem;
};

static void check_runtime(void **state)
{
    const struct runtime_row *row = *state;
    struct node_facts facts = { .label = label,
                                .labels = row->labels,
                                .runtime_version = row->version,
                                .kubelet_version = row->kubelet };
    struct host host = host_of(&facts);
    CLEANUP_ARENA struct arena a = { 0 };
    assert_string_equal(host_runtimes[host.runtime].name, row->runtime);
    assert_string_equal(host_distributions[host.distribution].name, row->distribution);
    assert_int_equal(host.cdi, row->cdi);
    const char *problem = host_runtime_problem(&a, &host, &facts);
    assert_int_equal(problem != NULL, row->problem != NULL);
    if (problem && !strstr(problem, row->problem))
        fail_msg("\"%s\" does not say \"%s\"", problem, row->problem);
}

static const struct runtime_row runtime_rows[] = {
    { "containerd 1.7", "containerd://1.7.28", "v1.34.1", NULL, "containerd", "stock", true, NULL },
    { "containerd 2", "containerd://2.1.4", "v1.34.1", NULL, "containerd", "stock", true, NULL },
    { "containerd 1.6 knows no CDI", "containerd://1.6.20~ds1", "v1.34.1", NULL, "containerd",
      "stock", false, NULL },
    { "containerd of a future", "containerd://10.0.1", "v1.34.1", NULL, "containerd", "stock", true,
      NULL },
    { "containerd that restarts", "containerd://Unknown", "v1.34.1", NULL, "containerd", "stock",
      true, NULL },
    { "a version with a number beyond all bounds", "containerd://2.9999999999999999999", "v1.34.1",
      NULL, "containerd", "stock", true, NULL },
    { "a version below all bounds", "containerd://-9999999999999999999.9999999999999999999",
      "v1.34.1", NULL, "containerd", "stock", false, NULL },
    { "CRI-O", "cri-o://1.34.0", "v1.34.1", NULL, "crio", "stock", true, NULL },
    { "docker", "docker://27.3.1", "v1.34.1", NULL, "docker", "stock", false, NULL },
    { "k3s", "containerd://2.0.5-k3s1", "v1.33.1+k3s1", NULL, "containerd", "k3s", true, NULL },
    { "k3s with containerd 1.7, where CDI is off", "containerd://1.7.23-k3s2", "v1.31.4+k3s1", NULL,
      "containerd", "k3s", false, NULL },
    { "k3s with docker", "docker://27.3.1", "v1.33.1+k3s1", NULL, "docker", "k3s", false, NULL },
    { "RKE2", "containerd://2.0.5-k3s1", "v1.33.1+rke2r1", NULL, "containerd", "rke2", true, NULL },
    { "k0s", "containerd://1.7.27", "v1.33.1+k0s", NULL, "containerd", "k0s", true, NULL },
    { "MicroK8s", "containerd://1.7.27", "v1.33.1", "microk8s.io/cluster=true", "containerd",
      "microk8s", true, NULL },
    { "another runtime", "nerd://1.0", "v1.34.1", NULL, "", "stock", false, "nerd://1.0" },
    { "a node that says nothing", NULL, NULL, NULL, "", "stock", false,
      "containerRuntimeVersion is empty" },
};

static void nothing_is_null(void **state)
{
    (void) state;
    struct node_facts facts = { 0 };
    struct host host = host_of(&facts);
    assert_string_equal(host.kernel, "");
    assert_string_equal(host.architecture, "");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_os, os_rows);
    SUITE_ROWS(&s, check_runtime, runtime_rows);
    suite_add(&s, "strings are never NULL", nothing_is_null, NULL);
    return suite_run(&s, "host");
}
