#include "reconcilers/model/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/node_inventory.h"

#define NFD_OS_ID "feature.node.kubernetes.io/system-os_release.ID"
#define NFD_OS_VERSION "feature.node.kubernetes.io/system-os_release.VERSION_ID"

/* Longest version, including the NUL: "24.04", "4.18". */
enum { VERSION_MAX = 16 };

/* Operating systems that a driver source supports. A row without versions has no driver image. */
static const struct os {
    const char *id; /* ID in os-release; with the version it is the suffix of the image's tag */
    const char *os_image; /* prefix of osImage; the version follows */
    const char *versions; /* versions with driver images, each between spaces */
    bool major_only;      /* the tag has only the version's part before the first dot */
} systems[] = {
    { "ubuntu", "Ubuntu ", " 20.04 22.04 24.04 26.04 ", false },
    /* before rhel: the first row that matches an osImage counts */
    { "rhcos", "Red Hat Enterprise Linux CoreOS ", " 4.12 4.14 4.16 4.17 4.18 ", false },
    { "rhel", "Red Hat Enterprise Linux ", " 8 9 10 ", true },
    { "rocky", "Rocky Linux ", " 8 9 10 ", true },
    { "cos", "Container-Optimized OS", NULL, false },
};

/* What users can do if there is no driver image, by prefix of osImage. */
static const struct hint {
    const char *os_image;
    const char *text;
} hints[] = {
    { "Bottlerocket OS",
      "choose a Bottlerocket variant with -nvidia in its name, which brings its own driver" },
    { "Talos", "add Talos' NVIDIA system extensions and set driver.source to Host for its pool" },
    { "SUSE Linux Enterprise",
      "install SUSE's driver packages on the node and set driver.source to Host for its pool" },
    { "", "install a driver on the node and set driver.source to Host for its pool" },
};

static const char *label(const struct node_facts *facts, const char *key)
{
    return facts->label ? facts->label(facts->labels, key) : NULL;
}

/* Whether it is "418.94.2024…" of RHCOS before 4.19, which starts with OpenShift's version, here
 * "4.18". */
static bool unpack_rhcos(const char *text, char out[static VERSION_MAX])
{
    size_t digits = strspn(text, "0123456789");
    if (digits != 3 || text[0] != '4')
        return false;
    snprintf(out, VERSION_MAX, "4.%.2s", text + 1);
    return true;
}

/* "22.04" of "22.04.4 LTS"; with major_only "9" of "9.4 (Plow)". */
static void cut_version(const char *text, bool major_only, char out[static VERSION_MAX])
{
    size_t len = strspn(text, "0123456789");
    if (!major_only && text[len] == '.')
        len += 1 + strspn(text + len + 1, "0123456789");
    snprintf(out, VERSION_MAX, "%.*s", len < VERSION_MAX ? (int) len : 0, text);
}

static const struct os *os_by_image(const char *os_image)
{
    for (size_t i = 0; i < ARRAY_LEN(systems); i++)
        if (str_has_prefix(os_image, systems[i].os_image))
            return &systems[i];
    return NULL;
}

static const struct os *os_by_id(const char *id)
{
    for (size_t i = 0; i < ARRAY_LEN(systems); i++)
        if (str_eq(id, systems[i].id))
            return &systems[i];
    return NULL;
}

/* The system and its version, from Node Feature Discovery's labels if present, else from
 * osImage. */
static const struct os *os_of(const struct node_facts *facts, char version[static VERSION_MAX])
{
    const char *os_image = str_or_empty(facts->os_image);
    const char *id = label(facts, NFD_OS_ID);
    const struct os *by_image = os_by_image(os_image);
    version[0] = '\0';
    if (id) {
        const struct os *os = os_by_id(id);
        if (os)
            cut_version(str_or_empty(label(facts, NFD_OS_VERSION)), os->major_only, version);
        return os;
    }
    if (!by_image)
        return NULL;
    const char *text = os_image + strlen(by_image->os_image);
    bool rhcos = str_eq(by_image->id, "rhcos");
    if (rhcos && unpack_rhcos(text, version))
        return by_image;
    /* Since 4.19 RHCOS starts with RHEL's version ("9.6.2025…") and uses its images. */
    const struct os *os = rhcos ? os_by_id("rhel") : by_image;
    cut_version(text, os->major_only, version);
    return os;
}

static void set_os(struct host *host, const struct node_facts *facts)
{
    char version[VERSION_MAX];
    const struct os *os = os_of(facts, version);
    if (!os)
        return;
    if (!os->versions) {
        host->cos = true;
        return;
    }
    char between_spaces[VERSION_MAX + 2];
    snprintf(between_spaces, sizeof between_spaces, " %s ", version);
    if (version[0] && strstr(os->versions, between_spaces))
        snprintf(host->os, sizeof host->os, "%s%s", os->id, version);
}

/* The runtime that the kubelet reports. */
static enum host_runtime named_runtime(const struct node_facts *facts)
{
    for (size_t i = RUNTIME_CONTAINERD; i < RUNTIME_COUNT; i++)
        if (str_has_prefix(str_or_empty(facts->runtime_version), host_runtimes[i].prefix))
            return (enum host_runtime) i;
    return RUNTIME_UNKNOWN;
}

/* Whether the agent has found the kubelet's runtime. */
static bool has_seen_runtime(const struct node_facts *facts)
{
    enum host_runtime named = named_runtime(facts),
                      seen = facts->inventory ? facts->inventory->runtime : RUNTIME_UNKNOWN;
    return seen != RUNTIME_UNKNOWN && (named == seen || named == RUNTIME_UNKNOWN);
}

/* By the socket that the agent has found, else the likely one by versions and labels. */
static enum host_distribution distribution_of(const struct node_facts *facts)
{
    if (has_seen_runtime(facts))
        return facts->inventory->distribution;
    const char *kubelet = str_or_empty(facts->kubelet_version);
    for (size_t i = 0; i < DISTRIBUTION_COUNT; i++) {
        if (host_distributions[i].kubelet && strstr(kubelet, host_distributions[i].kubelet))
            return (enum host_distribution) i;
        if (host_distributions[i].label && label(facts, host_distributions[i].label))
            return (enum host_distribution) i;
    }
    return DISTRIBUTION_STOCK;
}

/* The agent did not find it in the usual places, so the effective configuration is not known. */
static bool is_elsewhere(const struct node_facts *facts)
{
    return facts->inventory && facts->inventory->runtime_missing;
}

static enum host_runtime host_runtime_of(const struct node_facts *facts)
{
    if (is_elsewhere(facts))
        return RUNTIME_UNKNOWN;
    return has_seen_runtime(facts) ? facts->inventory->runtime : named_runtime(facts);
}

/* Whether "1.7.28" is at least that version. Endless digits count as the largest number. */
static bool is_at_least(const char *text, struct host_release least)
{
    char *end;
    long major = strtol(text, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major > least.major || (major == least.major && minor >= least.minor);
}

bool host_runtime_is_silent(const char *runtime_version)
{
    const char *at = strstr(str_or_empty(runtime_version), "://");
    return at && str_eq(at, "://Unknown");
}

static bool has_cdi(const struct host *host, const struct node_facts *facts,
                    struct host_release least)
{
    if (host->runtime == RUNTIME_CRIO)
        return true;
    if (named_runtime(facts) != RUNTIME_CONTAINERD)
        return false;
    const char *version = facts->runtime_version + strlen(host_runtimes[RUNTIME_CONTAINERD].prefix);
    return host_runtime_is_silent(facts->runtime_version) || is_at_least(version, least);
}

struct host host_of(const struct node_facts *facts)
{
    struct host host = {
        .kernel = str_or_empty(facts->kernel_version),
        .architecture = str_or_empty(facts->architecture),
        .runtime = host_runtime_of(facts),
        .distribution = distribution_of(facts),
    };
    set_os(&host, facts);
    host.google_driver = facts->inventory && facts->inventory->google_driver;
    host.cdi = has_cdi(&host, facts, host_distributions[host.distribution].cdi_containerd);
    host.cdi_by_default = has_cdi(&host, facts, (struct host_release){ 2, 0 });
    if (facts->inventory && !facts->own_toolkit)
        host.toolkit = facts->inventory->host_toolkit;
    return host;
}

const char *host_os_problem(struct arena *a, const struct host *host,
                            const struct node_facts *facts)
{
    if (host->os[0] || host->cos)
        return NULL;
    const char *os_image = str_or_empty(facts->os_image);
    if (!os_image[0])
        return "the node does not report its operating system (status.nodeInfo.osImage is "
               "empty)";
    const struct hint *hint = hints;
    while (!str_has_prefix(os_image, hint->os_image))
        hint++;
    return arena_printf(a, "no driver image exists for its operating system, %s: %s", os_image,
                        hint->text);
}

const char *host_runtime_problem(struct arena *a, const struct host *host,
                                 const struct node_facts *facts)
{
    if (host->runtime != RUNTIME_UNKNOWN)
        return NULL;
    const char *version = str_or_empty(facts->runtime_version);
    if (is_elsewhere(facts))
        return "the socket of its container runtime is at no path that Ostler knows "
               "(status.inventory of its GpuNode "
               "has what was found): configure the runtime on the node and set toolkit.enabled to "
               "false";
    if (!version[0])
        return "the node does not report its container runtime "
               "(status.nodeInfo.containerRuntimeVersion is empty)";
    return arena_printf(a,
                        "its container runtime, %s, is not containerd, CRI-O or docker: "
                        "configure the runtime on the node "
                        "and set toolkit.enabled to false",
                        version);
}

const char *host_toolkit_problem(const struct host *host)
{
    if (host->toolkit != HOST_TOOLKIT_MISSING)
        return NULL;
    return "the configuration of its container runtime names NVIDIA's container toolkit, whose "
           "program is missing "
           "(status.inventory.hostToolkit of its GpuNode has both paths): install the toolkit's "
           "packages on the node, or remove the runtime from that configuration, or set "
           "toolkit.source to Ostler, which installs "
           "its own in their place";
}

const char *host_toolkit_name(enum host_toolkit toolkit)
{
    static const char *const names[] = { [HOST_TOOLKIT_NONE] = NULL,
                                         [HOST_TOOLKIT_NVIDIA] = "nvidia",
                                         [HOST_TOOLKIT_DEFAULT] = "default",
                                         [HOST_TOOLKIT_MISSING] = NULL };
    return names[toolkit];
}
