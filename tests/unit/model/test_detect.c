#include "reconcilers/model/detect.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

/* One label is enough for a sign. */
struct one_label {
    const char *key;
    const char *value;
};

static const char *label(const void *labels, const char *key)
{
    const struct one_label *l = labels;
    return l->key && str_eq(l->key, key) ? l->value : NULL;
}

struct node_row {
    const char *name;
    struct one_label label;
    const char *os_image;
    bool gpu;
    bool looked_at;
    bool foreign;
};

static void check_node(void **state)
{
    const struct node_row *row = *state;
    struct node_facts facts = { .label = label, .labels = &row->label, .os_image = row->os_image };
    assert_int_equal(detect_gpu(&facts) != NULL, row->gpu);
    assert_int_equal(detect_looked_at(&facts), row->looked_at);
    assert_int_equal(detect_foreign_node(&facts) != NULL, row->foreign);
}

#define NFD "feature.node.kubernetes.io/"
static const struct node_row node_rows[] = {
    { "NFD: device of NVIDIA's", { NFD "pci-10de.present", "true" }, NULL, true, true, false },
    { "NFD: display controller", { NFD "pci-0300_10de.present", "true" }, NULL, true, true, false },
    { "NFD: 3D controller", { NFD "pci-0302_10de.present", "true" }, NULL, true, true, false },
    { "NFD: says that there is none",
      { NFD "pci-10de.present", "false" },
      NULL,
      false,
      false,
      false },
    { "NFD: another maker's controller",
      { NFD "pci-0300_1002.present", "true" },
      NULL,
      false,
      false,
      false },
    { "NFD looked, and found none",
      { NFD "kernel-version.full", "6.8.0" },
      NULL,
      false,
      true,
      false },
    { "NFD looked: kernel-version.major",
      { NFD "kernel-version.major", "6" },
      NULL,
      false,
      true,
      false },
    { "NFD looked: system-os_release.ID",
      { NFD "system-os_release.ID", "ubuntu" },
      NULL,
      false,
      true,
      false },
    { "GKE accelerator",
      { "cloud.google.com/gke-accelerator", "nvidia-l4" },
      NULL,
      true,
      true,
      false },
    { "AKS accelerator",
      { "kubernetes.azure.com/accelerator", "nvidia" },
      NULL,
      true,
      true,
      false },
    { "AKS accelerator of another maker",
      { "kubernetes.azure.com/accelerator", "amd" },
      NULL,
      false,
      false,
      false },
    { "AKS accelerator, old label", { "accelerator", "nvidia" }, NULL, true, true, false },
    { "Karpenter on AWS",
      { "karpenter.k8s.aws/instance-gpu-manufacturer", "nvidia" },
      NULL,
      true,
      true,
      false },
    { "EKS", { "eks.amazonaws.com/instance-gpu-manufacturer", "nvidia" }, NULL, true, true, false },
    { "node group on AWS",
      { "k8s.amazonaws.com/accelerator", "nvidia-tesla-v100" },
      NULL,
      true,
      true,
      false },
    { "Karpenter on Azure",
      { "karpenter.azure.com/sku-gpu-manufacturer", "nvidia" },
      NULL,
      true,
      true,
      false },
    { "DigitalOcean", { "doks.digitalocean.com/gpu-brand", "nvidia" }, NULL, true, true, false },
    { "labelled by hand", { "nvidia.com/gpu.present", "true" }, NULL, true, true, false },
    { "labelled by hand as without",
      { "nvidia.com/gpu.present", "false" },
      NULL,
      false,
      false,
      false },
    { "no labels", { NULL, NULL }, "Ubuntu 24.04 LTS", false, false, false },
    { "GKE installs",
      { "cloud.google.com/gke-gpu-driver-version", "default" },
      NULL,
      false,
      false,
      true },
    { "AKS manages",
      { "kubernetes.azure.com/dcgm-exporter", "enabled" },
      NULL,
      false,
      false,
      true },
    { "AKS manages not",
      { "kubernetes.azure.com/dcgm-exporter", "disabled" },
      NULL,
      false,
      false,
      false },
    { "EKS Auto Mode", { "eks.amazonaws.com/compute-type", "auto" }, NULL, false, false, true },
    { "Bottlerocket with a driver",
      { NULL, NULL },
      "Bottlerocket OS 1.20 (aws-k8s-1.30-nvidia)",
      false,
      false,
      true },
    { "Bottlerocket without",
      { NULL, NULL },
      "Bottlerocket OS 1.20 (aws-k8s-1.30)",
      false,
      false,
      false },
};

struct pod_row {
    const char *name;
    struct one_label label;
    const char *image;
    enum operand like; /* NONE: it serves nothing */
};

static void check_pod(void **state)
{
    const struct pod_row *row = *state;
    const struct sign *sign = detect_foreign_pod(label, &row->label, row->image, NULL);
    assert_int_equal(sign ? sign->like : OPERAND_NONE, row->like);
}

static const struct pod_row pod_rows[] = {
    { "pod: gpu-operator's driver", { "app", "nvidia-driver-daemonset" }, NULL, OPERAND_DRIVER },
    { "pod: gpu-operator's driver of a NVIDIADriver",
      { "app.kubernetes.io/component", "nvidia-driver" },
      NULL,
      OPERAND_DRIVER },
    { "pod: gpu-operator's vGPU manager",
      { "app", "nvidia-vgpu-manager-daemonset" },
      NULL,
      OPERAND_DRIVER },
    { "pod: gpu-operator's toolkit",
      { "app", "nvidia-container-toolkit-daemonset" },
      NULL,
      OPERAND_TOOLKIT },
    { "pod: gpu-operator's plugin",
      { "app", "nvidia-device-plugin-daemonset" },
      NULL,
      OPERAND_DEVICE_PLUGIN },
    { "pod: gpu-operator's exporter serves nothing",
      { "app", "nvidia-dcgm-exporter" },
      NULL,
      OPERAND_NONE },
    { "pod: GKE's plugin", { "k8s-app", "nvidia-gpu-device-plugin" }, NULL, OPERAND_DEVICE_PLUGIN },
    { "pod: Google's installer", { "k8s-app", "nvidia-driver-installer" }, NULL, OPERAND_DRIVER },
    { "pod: plugin from its static manifest",
      { "name", "nvidia-device-plugin-ds" },
      NULL,
      OPERAND_DEVICE_PLUGIN },
    { "pod: plugin from its chart",
      { "app.kubernetes.io/name", "nvidia-device-plugin" },
      NULL,
      OPERAND_DEVICE_PLUGIN },
    { "pod: feature discovery serves nothing",
      { "app.kubernetes.io/name", "gpu-feature-discovery" },
      "nvcr.io/nvidia/k8s-device-plugin:v0.17.0",
      OPERAND_NONE },
    { "pod: image of a driver",
      { NULL, NULL },
      "registry.example/nvidia/driver:570-ubuntu22.04",
      OPERAND_DRIVER },
    { "pod: image of the driver manager",
      { NULL, NULL },
      "nvcr.io/nvidia/cloud-native/k8s-driver-manager:v0.8.0",
      OPERAND_DRIVER },
    { "pod: image of the COS installer",
      { NULL, NULL },
      "cos-nvidia-installer:fixed",
      OPERAND_DRIVER },
    { "pod: image of the Ubuntu installer",
      { NULL, NULL },
      "gke-nvidia-installer:fixed",
      OPERAND_DRIVER },
    { "pod: image of GKE's plugin",
      { NULL, NULL },
      "gke.gcr.io/nvidia-gpu-device-plugin@sha256:00",
      OPERAND_DEVICE_PLUGIN },
    { "pod: AMD's plugin",
      { "name", "amdgpu-dp-ds" },
      "rocm/k8s-device-plugin:1.25",
      OPERAND_NONE },
    { "pod: anything else", { "app", "web" }, "nginx:1.27", OPERAND_NONE },
};

struct message_row {
    const char *name;
    const char *message;
    bool host_driver;
};

static void check_message(void **state)
{
    const struct message_row *row = *state;
    assert_int_equal(detect_host_driver(row->message), row->host_driver);
}

static const struct message_row message_rows[] = {
    { "message: a driver of the host's own",
      "HostDriver: a driver is installed on the host (/usr/bin/nvidia-smi)", true },
    { "message: alone", "HostDriver", true },
    { "message: something else", "DriverInUse: processes on this node use nvidia_uvm", false },
    { "message: none", NULL, false },
    { "message: empty", "", false },
};

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_node, node_rows);
    SUITE_ROWS(&s, check_pod, pod_rows);
    SUITE_ROWS(&s, check_message, message_rows);
    return suite_run(&s, "detect");
}
