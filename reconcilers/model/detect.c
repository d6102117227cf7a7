#include "reconcilers/model/detect.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/node_inventory.h"

#define NFD "feature.node.kubernetes.io/"

/* Platform labels with the vendor of a node's GPUs. */
static const char *const maker_labels[] = {
    "kubernetes.azure.com/accelerator", /* AKS */
    "accelerator",                      /* AKS, earlier */
    "karpenter.k8s.aws/instance-gpu-manufacturer",
    "eks.amazonaws.com/instance-gpu-manufacturer",
    "karpenter.azure.com/sku-gpu-manufacturer",
    "doks.digitalocean.com/gpu-brand",
};

/* Labels that Node Feature Discovery sets on every node that it has inspected. */
static const char *const looked_at_labels[] = {
    NFD "kernel-version.full",
    NFD "kernel-version.major",
    NFD "system-os_release.ID",
};

/* GKE's device plugin skips such a node. */
#define GKE_OWN_PLUGIN "gke-no-default-nvidia-gpu-device-plugin"

/* How to hand over a node of each platform. */
#define HAND_OVER_GKE                                                                              \
    "make its node pool with --node-labels=" GKE_OWN_PLUGIN "=true and with "                      \
    "--accelerator …,gpu-driver-version=disabled"
#define HAND_OVER_AKS                                                                              \
    "make its node pool with --gpu-driver none and without AKS's managed GPU support"
#define HAND_OVER_EKS "use a managed node group: AWS manages EKS Auto Mode nodes"
#define HAND_OVER_BOTTLEROCKET                                                                     \
    "use an image that brings no device plugin, such as Amazon Linux 2023"
#define HAND_OVER_OPERATOR "uninstall NVIDIA's GPU operator"
#define HAND_OVER_PLUGIN "delete that DaemonSet"
#define HAND_OVER_DRA                                                                              \
    "set devicePlugin.enabled to false in the policy or the node's pool, and Ostler brings what "  \
    "that DRA "                                                                                    \
    "driver needs; or keep the DRA driver off the node"

/* NVIDIA's DRA driver, by the labels of its Helm chart (kubernetes-sigs/dra-driver-nvidia-gpu;
 * NVIDIA's own before 0.4.0) and those of NVIDIA's GPU operator. Its container `compute-domains`
 * serves no GPUs and runs beside a device plugin. */
#define GIVES_CLAIMS "NVIDIA's DRA driver gives GPUs to resource claims here"

/* Signs that something other than Ostler installs driver and device plugin. */
static const struct sign foreign_node_signs[] = {
    { SIGN_LABEL, "cloud.google.com/gke-gpu-driver-version", NULL,
      "GKE installs the driver and the device plugin (label "
      "cloud.google.com/gke-gpu-driver-version)",
      HAND_OVER_GKE, OPERAND_NONE },
    { SIGN_LABEL, "kubernetes.azure.com/dcgm-exporter", "enabled",
      "AKS manages driver, device plugin and exporter (label kubernetes.azure.com/dcgm-exporter)",
      HAND_OVER_AKS, OPERAND_NONE },
    { SIGN_LABEL, "eks.amazonaws.com/compute-type", "auto",
      "EKS Auto Mode brings driver and device plugin (label eks.amazonaws.com/compute-type)",
      HAND_OVER_EKS, OPERAND_NONE },
    { SIGN_OS_IMAGE, "Bottlerocket OS", "nvidia",
      "Bottlerocket's nvidia variant brings driver and device plugin", HAND_OVER_BOTTLEROCKET,
      OPERAND_NONE },
};

/* Pods that serve GPUs for another operator. NVIDIA's plugin image is no sign, because feature
 * discovery runs from the same image. Each row has a vendor's word, which pod_text.h looks for. */
static const struct sign foreign_pod_signs[] = {
    { SIGN_LABEL, "app", "nvidia-driver-daemonset", "NVIDIA's GPU operator runs its driver here",
      HAND_OVER_OPERATOR, OPERAND_DRIVER },
    { SIGN_LABEL, "app.kubernetes.io/component", "nvidia-driver",
      "NVIDIA's GPU operator runs its driver here", HAND_OVER_OPERATOR, OPERAND_DRIVER },
    { SIGN_LABEL, "app", "nvidia-vgpu-manager-daemonset",
      "NVIDIA's GPU operator runs its vGPU manager here", HAND_OVER_OPERATOR, OPERAND_DRIVER },
    { SIGN_LABEL, "app", "nvidia-container-toolkit-daemonset",
      "NVIDIA's GPU operator runs its container toolkit here", HAND_OVER_OPERATOR,
      OPERAND_TOOLKIT },
    { SIGN_LABEL, "app", "nvidia-device-plugin-daemonset",
      "NVIDIA's GPU operator runs its device plugin here", HAND_OVER_OPERATOR,
      OPERAND_DEVICE_PLUGIN },
    { SIGN_LABEL, "k8s-app", "nvidia-gpu-device-plugin", "GKE runs its device plugin here",
      HAND_OVER_GKE, OPERAND_DEVICE_PLUGIN },
    { SIGN_LABEL, "k8s-app", "nvidia-driver-installer", "Google's driver installer runs here",
      HAND_OVER_PLUGIN, OPERAND_DRIVER },
    { SIGN_LABEL, "name", "nvidia-device-plugin-ds", "a standalone NVIDIA device plugin runs here",
      HAND_OVER_PLUGIN, OPERAND_DEVICE_PLUGIN },
    { SIGN_LABEL, "app.kubernetes.io/name", "nvidia-device-plugin",
      "a standalone NVIDIA device plugin runs here", HAND_OVER_PLUGIN, OPERAND_DEVICE_PLUGIN },
    { SIGN_CLAIMS, "dra-driver-nvidia-gpu-component", "kubelet-plugin", GIVES_CLAIMS, HAND_OVER_DRA,
      OPERAND_DEVICE_PLUGIN },
    { SIGN_CLAIMS, "nvidia-dra-driver-gpu-component", "kubelet-plugin", GIVES_CLAIMS, HAND_OVER_DRA,
      OPERAND_DEVICE_PLUGIN },
    { SIGN_CLAIMS, "app", "nvidia-dra-driver-kubelet-plugin", GIVES_CLAIMS, HAND_OVER_DRA,
      OPERAND_DEVICE_PLUGIN },
    { SIGN_IMAGE, "nvidia/driver:", NULL, "a driver container that Ostler did not start runs here",
      NULL, OPERAND_DRIVER },
    { SIGN_IMAGE, "nvidia/cloud-native/k8s-driver-manager", NULL,
      "NVIDIA's GPU operator runs its driver here", HAND_OVER_OPERATOR, OPERAND_DRIVER },
    { SIGN_IMAGE, "cos-nvidia-installer", NULL, "Google's driver installer runs here",
      HAND_OVER_PLUGIN, OPERAND_DRIVER },
    { SIGN_IMAGE, "gke-nvidia-installer", NULL, "Google's driver installer runs here",
      HAND_OVER_PLUGIN, OPERAND_DRIVER },
    { SIGN_IMAGE, "nvidia-gpu-device-plugin", NULL, "GKE runs its device plugin here",
      HAND_OVER_GKE, OPERAND_DEVICE_PLUGIN },
};

/* What a row can inspect; absent parts are NULL. */
struct subject {
    selector_lookup_fn *label;
    const void *labels;
    const char *os_image;
    const char *image, *container;
};

/* Whether a label has a value; NULL: any value except "false". */
static bool has_label(selector_lookup_fn *label, const void *labels, const char *key,
                      const char *value)
{
    const char *found = label ? label(labels, key) : NULL;
    return found && (value ? str_eq(found, value) : !str_eq(found, "false"));
}

static bool detect_holds(const struct sign *sign, const struct subject *s)
{
    switch (sign->place) {
    case SIGN_CLAIMS:
        return str_eq(s->container, "gpus") &&
               has_label(s->label, s->labels, sign->key, sign->value);
    case SIGN_LABEL:
        return has_label(s->label, s->labels, sign->key, sign->value);
    case SIGN_OS_IMAGE:
        return s->os_image && str_has_prefix(s->os_image, sign->key) &&
               (!sign->value || strstr(s->os_image, sign->value));
    case SIGN_IMAGE:
        return s->image && strstr(s->image, sign->key);
    }
    return false;
}

static const struct sign *first(const struct sign *signs, size_t len, const struct subject *s)
{
    for (size_t i = 0; i < len; i++)
        if (detect_holds(&signs[i], s))
            return &signs[i];
    return NULL;
}

static bool bears(const struct node_facts *facts, const char *key, const char *value)
{
    return has_label(facts->label, facts->labels, key, value);
}

static bool sees_gpu(const struct node_inventory *i)
{
    return i && (i->gpus > i->passed_on || i->lost);
}

void detect_pci_label(const struct vendor *v, unsigned class, char ret[static PCI_LABEL_MAX])
{
    if (class)
        snprintf(ret, PCI_LABEL_MAX, NFD "pci-%04x_%04x.present", class, v->pci);
    else
        snprintf(ret, PCI_LABEL_MAX, NFD "pci-%04x.present", v->pci);
}

static bool is_found_by_nfd(const struct node_facts *facts, const struct vendor *v, unsigned class)
{
    char key[PCI_LABEL_MAX];
    detect_pci_label(v, class, key);
    return bears(facts, key, "true");
}

/* Whether a label names the vendor. */
static bool is_named(const struct node_facts *facts, const struct vendor *v)
{
    bool named = is_found_by_nfd(facts, v, 0) || bears(facts, v->present, "true");
    for (size_t i = 0; v->classes[i]; i++)
        named |= is_found_by_nfd(facts, v, v->classes[i]);
    for (size_t i = 0; i < ARRAY_LEN(maker_labels); i++)
        named |= bears(facts, maker_labels[i], v->word);
    return named;
}

static bool has_own_sign(const struct node_facts *facts, const struct vendor *v)
{
    for (const struct vendor_sign *s = v->signs; s->label; s++)
        if (bears(facts, s->label, s->value))
            return true;
    return false;
}

const struct vendor *detect_gpu(const struct node_facts *facts)
{
    if (sees_gpu(facts->inventory))
        return &vendors[facts->inventory->vendor];
    EACH_VENDOR (v)
        if (is_named(facts, v))
            return v;
    EACH_VENDOR (v)
        if (has_own_sign(facts, v))
            return v;
    return NULL;
}

bool detect_looked_at(const struct node_facts *facts)
{
    bool looked_at = (facts->inventory && facts->inventory->gpus_known) || detect_gpu(facts);
    for (size_t i = 0; i < ARRAY_LEN(looked_at_labels); i++)
        looked_at |= bears(facts, looked_at_labels[i], NULL);
    return looked_at;
}

/* If GKE's device plugin stays away, GKE's driver counts as the host's. */
static bool is_left_by_gke(const struct node_facts *facts)
{
    return str_eq(facts->label(facts->labels, GKE_OWN_PLUGIN), "true");
}

const struct sign *detect_foreign_node(const struct node_facts *facts)
{
    struct subject s = { .label = facts->label,
                         .labels = facts->labels,
                         .os_image = facts->os_image };
    return is_left_by_gke(facts) ? NULL
                                 : first(foreign_node_signs, ARRAY_LEN(foreign_node_signs), &s);
}

const struct sign *detect_foreign_pod(selector_lookup_fn *label, const void *labels,
                                      const char *image, const char *container)
{
    struct subject s = { .label = label, .labels = labels, .image = image, .container = container };
    return first(foreign_pod_signs, ARRAY_LEN(foreign_pod_signs), &s);
}

const struct sign *detect_slices(void)
{
    static const struct sign slices = { SIGN_CLAIMS,  NULL,          NULL,
                                        GIVES_CLAIMS, HAND_OVER_DRA, OPERAND_DEVICE_PLUGIN };
    return &slices;
}

bool detect_host_driver(const char *termination_message)
{
    return termination_message && str_has_prefix(termination_message, "HostDriver");
}
