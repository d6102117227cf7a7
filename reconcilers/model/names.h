/* Every key that Ostler writes or reads on objects, and every fixed name. See
 * docs/node-marks.md. */
#ifndef OSTLER_RECONCILERS_MODEL_NAMES_H
#define OSTLER_RECONCILERS_MODEL_NAMES_H

#include "base/vendor.h"

/* Every key with this prefix is Ostler's, even if another client wrote it. */
#define MARK_PREFIX "ostler.dev/"

/* Node labels that Ostler writes. */
#define LABEL_GPU_PRESENT NVIDIA_GPU ".present"
#define LABEL_DRIVER "ostler.dev/driver"
#define LABEL_STACK "ostler.dev/stack"
#define LABEL_REMOVAL "ostler.dev/removal"
/* "false" on nodes of pools without the exporter, if other pools have it. */
#define LABEL_EXPORTER "ostler.dev/exporter"
/* Likewise for the pods that query NVML; or which runtime gives them the devices, if not the one of
 * the RuntimeClass. */
#define LABEL_NODE_CARDS "ostler.dev/node-cards"
#define NODE_CARDS_DEFAULT_RUNTIME "default-runtime"
/* On those pods and DaemonSets: "runtime-class" or "default-runtime". */
#define LABEL_DEVICES_BY "ostler.dev/devices-by"
/* Node labels that describe GPUs (gpu_features.h), as GPU feature discovery writes them. The last
 * five are older names. */
#define LABEL_GPU_PRODUCT NVIDIA_GPU ".product"
#define LABEL_GPU_COUNT NVIDIA_GPU ".count"
#define LABEL_GPU_MEMORY NVIDIA_GPU ".memory"
#define LABEL_GPU_FAMILY NVIDIA_GPU ".family"
#define LABEL_GPU_MACHINE NVIDIA_GPU ".machine"
#define LABEL_GPU_REPLICAS NVIDIA_GPU ".replicas"
#define LABEL_GPU_SHARING NVIDIA_GPU ".sharing-strategy"
#define LABEL_MIG_CAPABLE NVIDIA_PREFIX "mig.capable"
#define LABEL_MIG_STRATEGY NVIDIA_PREFIX "mig.strategy"
#define LABEL_COMPUTE_MAJOR NVIDIA_GPU ".compute.major"
#define LABEL_COMPUTE_MINOR NVIDIA_GPU ".compute.minor"
#define LABEL_DRIVER_MAJOR NVIDIA_PREFIX "cuda.driver-version.major"
#define LABEL_DRIVER_MINOR NVIDIA_PREFIX "cuda.driver-version.minor"
#define LABEL_DRIVER_REVISION NVIDIA_PREFIX "cuda.driver-version.revision"
#define LABEL_DRIVER_FULL NVIDIA_PREFIX "cuda.driver-version.full"
#define LABEL_CUDA_MAJOR NVIDIA_PREFIX "cuda.runtime-version.major"
#define LABEL_CUDA_MINOR NVIDIA_PREFIX "cuda.runtime-version.minor"
#define LABEL_CUDA_FULL NVIDIA_PREFIX "cuda.runtime-version.full"
#define LABEL_OLD_DRIVER_MAJOR NVIDIA_PREFIX "cuda.driver.major"
#define LABEL_OLD_DRIVER_MINOR NVIDIA_PREFIX "cuda.driver.minor"
#define LABEL_OLD_DRIVER_REV NVIDIA_PREFIX "cuda.driver.rev"
#define LABEL_OLD_CUDA_MAJOR NVIDIA_PREFIX "cuda.runtime.major"
#define LABEL_OLD_CUDA_MINOR NVIDIA_PREFIX "cuda.runtime.minor"
/* Shows that GPU feature discovery itself wrote the labels. */
#define LABEL_GFD_TIMESTAMP NVIDIA_PREFIX "gfd.timestamp"
/* Node labels that users write. */
/* Kubernetes' own label of machines that run the control plane. */
#define KUBERNETES_CONTROL_PLANE "node-role.kubernetes.io/control-plane"
#define LABEL_MANAGED "ostler.dev/managed"
#define LABEL_DEPLOY_OPERANDS NVIDIA_GPU ".deploy.operands"
/* OpenShift's machine configuration sets it on every node. */
#define OPENSHIFT_OS "node.openshift.io/os_id"
#define LABEL_PLUGIN_CONFIG NVIDIA_PREFIX "device-plugin.config"
#define LABEL_HOLD "ostler.dev/hold"
/* HEALTH_IGNORE: Ostler reports faults of the node's GPUs, and does nothing about them. */
#define LABEL_HEALTH "ostler.dev/health"
#define HEALTH_IGNORE "ignore"
/* Taint of a node that Ostler has taken out of service. */
#define TAINT_UPGRADE "ostler.dev/upgrade"
/* Taint of a node that is closed because of a fault of its GPUs. */
#define TAINT_UNHEALTHY "ostler.dev/unhealthy"
/* Default taint of a new node that is not validated yet. */
#define TAINT_STARTUP "ostler.dev/gpu-not-ready"
/* Node annotations that Ostler writes. */
#define ANNOTATION_MARKS "ostler.dev/marks"
#define ANNOTATION_HOST_DRIVER "ostler.dev/host-driver"
#define ANNOTATION_CLAIM "ostler.dev/claim"
#define ANNOTATION_GAVE_UP "ostler.dev/gave-up"
#define ANNOTATION_PROOF "ostler.dev/proof"
/* What Ostler has done about a fault of the node's GPUs (fault_record.h). */
#define ANNOTATION_FAULT "ostler.dev/fault"
/* Node annotation that a user writes: repair the node's GPUs now, whatever is known of them. */
#define ANNOTATION_REPAIR "ostler.dev/repair"
/* Node annotations that keep an autoscaler from removing the node (autoscaler.h). Users write them
 * too. */
#define ANNOTATION_KEEPS_KARPENTER "karpenter.sh/do-not-disrupt"
#define ANNOTATION_KEEPS_CLUSTER_AUTOSCALER "cluster-autoscaler.kubernetes.io/scale-down-disabled"

/* Default namespace of Ostler, and the Lease there that elects the leader. */
#define OSTLER_NAMESPACE "ostler-system"
#define LEASE_NAME "ostler"
/* The Deployment there, as the chart names it. */
#define DEPLOYMENT_NAME "ostler"
/* The Lease that all installations in a cluster share, so that an installation in another namespace
 * is found. */
#define CLUSTER_LEASE_NAMESPACE "default"
#define CLUSTER_LEASE_NAME "ostler-cluster"

/* Ostler's CRDs, and the annotation with their version: a number that grows with each change. */
#define CRD_POLICY "gpuclusterpolicies.ostler.dev"
#define CRD_GPU_NODE "gpunodes.ostler.dev"
/* The kubelet sets it on the mirror pod of a static pod. */
#define KUBELET_MIRROR "kubernetes.io/config.mirror"
#define ANNOTATION_SCHEMA "ostler.dev/schema"

/* The Node conditions that Ostler writes: whether what the policy asks for is up, and whether the
 * GPUs have a fault. */
#define NODE_CONDITION "GpuReady"
#define NODE_CONDITION_HEALTH "GpuHealthy"

/* Labels of children. */
#define LABEL_MANAGED_BY "app.kubernetes.io/managed-by"
#define LABEL_COMPONENT "app.kubernetes.io/component"
#define LABEL_POLICY_UID "ostler.dev/policy-uid"
#define LABEL_TIER "ostler.dev/tier"
#define LABEL_REVISION "ostler.dev/revision"
#define LABEL_TASK "ostler.dev/task"
#define MANAGED_BY "ostler"
/* Annotations of children. */
#define ANNOTATION_INTENT "ostler.dev/intent"
#define ANNOTATION_INPUTS "ostler.dev/inputs"
#define ANNOTATION_KNOWN_GOOD "ostler.dev/known-good"
/* Annotations of a revision's record, each followed by the name of the pool. */
#define ANNOTATION_TARGET "ostler.dev/target-"
#define ANNOTATION_RAN "ostler.dev/ran-"
#define ANNOTATION_COMPLETED "ostler.dev/completed-"
#define ANNOTATION_CANARY "ostler.dev/canary-"
#define ANNOTATION_WAVE "ostler.dev/wave-"
#define ANNOTATION_FAILED "ostler.dev/failed-"
#define ANNOTATION_RETRIED "ostler.dev/retried-"

/* NVIDIA's resources, for operands that only NVIDIA has; base/vendor.h has those of each vendor. */
#define RESOURCE_GPU NVIDIA_GPU
/* Resource name prefix of MIG slices; the profile follows. */
#define RESOURCE_MIG NVIDIA_MIG

#endif
