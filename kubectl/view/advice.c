#include "kubectl/view/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

/* A state that ends by itself and has lasted so long is looked at. */
enum { LONG_S = 15 * 60, ADVICE_MAX = 4096 };

/* "NODE" stands for the node, "PLAN" for the hash of the plan. */
struct row {
    const char *reason;
    const char *todo;
};

static const struct row nodes[] = {
    { "ImagePullBackOff", "correct version, image or pull secrets of the policy; see kubectl gpu explain NODE" },
    { "ErrImagePull", "correct version, image or pull secrets of the policy; see kubectl gpu explain NODE" },
    { "Unschedulable", "make room, or lower resources.requests of the operand; see kubectl gpu explain NODE" },
    { "PodMissing", "see whether a quota or an admission rule refuses the pod: kubectl gpu events NODE" },
    { "UnknownOperatingSystem", "install a driver on the node and set driver.source: Host for its pool" },
    { "NoDriverImage", "set driver.version or driver.repository of its pool to one that has an image for its system" },
    { "ControlPlane", "set the chart's controlPlaneNodes, if operands may run on the control plane" },
    { "DigestOnCos", "give these nodes a pool whose driver.version is a version such as 580.178.04" },
    { "RuntimeUnknown", "configure the container runtime yourself and set toolkit.enabled: false" },
    { "HostToolkitMissing", "install the toolkit's packages on the node, or set toolkit.source: Ostler" },
    { "NouveauBound", "blacklist nouveau on the node and reboot it" },
    { "NetworkCardMissing", "switch driver.rdma on for a pool whose nodes all have a network card of NVIDIA" },
    { "SecureBootUnsigned", "set driver.precompiled: true for its pool, or switch Secure Boot off" },
    { "PluginConfigMissing", "create the ConfigMap or its key, or change devicePlugin.config" },
    { "MpsNotSupported", "share by sharing.timeSlicing in the configuration, or choose another key" },
    { "OpenShift", "use NVIDIA's GPU Operator there; Ostler does not support OpenShift yet" },
    { "ForeignStack", "leave it so, or remove what serves it and: kubectl label node NODE ostler.dev/managed=true" },
    { "ToolkitStopped", "repair the node that is named, or change the policy; see kubectl gpu explain NODE" },
    { "NodeNotReady", "bring the node back: kubectl describe node NODE" },
    { "WaitingForProcesses", "end these processes on the node; see kubectl gpu explain NODE" },
    { "WaitingForGpuPods", "wait for these pods or end them; see kubectl gpu explain NODE" },
    { "WaitingForJobs", "wait for these jobs, end them, or set drain.waitForJobs; see kubectl gpu explain NODE" },
    { "Draining", "see which pod is not evicted and why: kubectl gpu explain NODE" },
    { "PodsStay", "end these pods, or see their PodDisruptionBudgets: kubectl gpu explain NODE" },
    { "ProofFailed", "see the output of the validation: kubectl gpu explain NODE; then dmesg of the node" },
    { "VersionMismatch", "reboot the node" },
    { "GpusMissing", "drain the node, power it off and on, and look at its dmesg" },
    { "NoGpus", "see the device plugin's log; the node may need a reboot" },
    { "StackLeaving", "see the pod that does not terminate: kubectl gpu explain NODE" },
    { "DriverLeaving", "find the process that holds the driver open: kubectl gpu explain NODE" },
    { "ClaimUnreadable",
      "run the version of Ostler that the message names, or give up the upgrade: kubectl annotate node NODE ostler.dev/claim-" },
    { "StartupTimeout", "see what it waits for: kubectl gpu explain NODE" },
};

static const struct row rollouts[] = {
    { "Paused", "kubectl gpu resume" },
    { "WaitingForApproval", "kubectl gpu plan, then kubectl gpu approve PLAN" },
    { "RevisionFailed", "change the policy's version, or try again as the message says" },
    { "NodesSkipped", "kubectl gpu release NODE, or kubectl uncordon NODE" },
    { "NodesDown", "bring the nodes back: kubectl gpu nodes --state Lost" },
    { "InvalidSpec", "correct the policy" },
    { "MaxUnavailable", "wait, bring nodes back that are down, uncordon some, or end jobs: kubectl gpu nodes --state Waiting" },
};

static const char *find(const struct row *rows, size_t count, const char *reason)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(rows[i].reason, reason))
            return rows[i].todo;
    return NULL;
}

/* The text with another one for each `word`. */
static char *filled(const char *text, const char *word, const char *with)
{
    struct buf b = BUF_INIT(ADVICE_MAX);
    const char *at;
    while ((at = strstr(text, word))) {
        buf_printf(&b, "%.*s%.253s", (int) (at - text), text, with);
        text = at + strlen(word);
    }
    buf_str(&b, text);
    return buf_take(&b);
}

char *advice_of_node(const char *node, const char *state, const char *reason)
{
    const char *todo = find(nodes, ARRAY_LEN(nodes), reason);
    if (!todo && str_eq(state, "Lost"))
        todo = find(nodes, ARRAY_LEN(nodes), "NodeNotReady");
    return filled(todo ? todo : "see its history: kubectl gpu explain NODE", "NODE", node);
}

char *advice_of_rollout(const char *reason, const char *plan)
{
    const char *todo = find(rollouts, ARRAY_LEN(rollouts), reason);
    return todo ? filled(todo, "PLAN", str_or_empty(plan)) : NULL;
}

bool advice_is_stuck(const char *state, const char *reason, long long seconds)
{
    static const char *const at_once[] = { "Failed", "Unsupported", "Lost" };
    static const char *const quiet[] = { "Ready", "ForeignStack", "Unmanaged" };
    for (size_t i = 0; i < ARRAY_LEN(at_once); i++)
        if (str_eq(at_once[i], state))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(quiet); i++)
        if (str_eq(quiet[i], state))
            return str_eq(reason, "GpusMissing");
    return seconds >= LONG_S;
}
