/* Every key that Ostler writes or reads on objects, and every reason that it gives. docs/node-marks.md explains them. */
#ifndef OSTLER_RECONCILERS_MODEL_NAMES_H
#define OSTLER_RECONCILERS_MODEL_NAMES_H

#include "base/vendor.h"

/* What is under this prefix is ours, whoever wrote it. */
#define MARK_PREFIX "ostler.dev/"

/* Labels of a Node that we write. */
#define LABEL_GPU_PRESENT NVIDIA_GPU ".present"
#define LABEL_DRIVER "ostler.dev/driver"
#define LABEL_STACK "ostler.dev/stack"
#define LABEL_REMOVAL "ostler.dev/removal"
/* "false" on nodes of pools without the exporter, where other pools have it. */
#define LABEL_EXPORTER "ostler.dev/exporter"
/* Labels of a Node that say what its GPUs are (gpu_features.h), as GPU feature discovery writes them; the last five are older
 * names of the same. */
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
/* That GPU feature discovery itself has written them. */
#define LABEL_GFD_TIMESTAMP NVIDIA_PREFIX "gfd.timestamp"
/* Labels of a Node that people write. */
/* Kubernetes' own: the machines on which the API server and its keys are. */
#define KUBERNETES_CONTROL_PLANE "node-role.kubernetes.io/control-plane"
#define LABEL_MANAGED "ostler.dev/managed"
#define LABEL_DEPLOY_OPERANDS NVIDIA_GPU ".deploy.operands"
/* On every node of OpenShift, by its own machine configuration. */
#define OPENSHIFT_OS "node.openshift.io/os_id"
#define LABEL_PLUGIN_CONFIG NVIDIA_PREFIX "device-plugin.config"
#define LABEL_HOLD "ostler.dev/hold"
/* The taint of a Node that is out of service because of us. */
#define TAINT_UPGRADE "ostler.dev/upgrade"
/* The taint of a new Node that nothing is proven of, unless the policy says another one. */
#define TAINT_STARTUP "ostler.dev/gpu-not-ready"
/* Annotations of a Node that we write. */
#define ANNOTATION_MARKS "ostler.dev/marks"
#define ANNOTATION_HOST_DRIVER "ostler.dev/host-driver"
#define ANNOTATION_CLAIM "ostler.dev/claim"
#define ANNOTATION_GAVE_UP "ostler.dev/gave-up"
#define ANNOTATION_PROOF "ostler.dev/proof"
/* Those of a Node that keep an autoscaler from removing it (autoscaler.h): people write them too. */
#define ANNOTATION_KEEPS_KARPENTER "karpenter.sh/do-not-disrupt"
#define ANNOTATION_KEEPS_CLUSTER_AUTOSCALER "cluster-autoscaler.kubernetes.io/scale-down-disabled"

/* Where Ostler itself runs where nobody says, and the Lease there by which one replica leads. */
#define OSTLER_NAMESPACE "ostler-system"
#define LEASE_NAME "ostler"
/* The Deployment there, as the chart calls it. */
#define DEPLOYMENT_NAME "ostler"
/* The Lease by which all installations of a cluster find each other, in whatever namespaces they are. */
#define CLUSTER_LEASE_NAMESPACE "default"
#define CLUSTER_LEASE_NAME "ostler-cluster"

/* The definitions of our own kinds, and the annotation by which they say how new they are: a number that grows with each change
 * of theirs. */
#define CRD_POLICY "gpuclusterpolicies.ostler.dev"
#define CRD_GPU_NODE "gpunodes.ostler.dev"
/* The kubelet sets it on the pod that stands for a static one. */
#define KUBELET_MIRROR "kubernetes.io/config.mirror"
#define ANNOTATION_SCHEMA "ostler.dev/schema"

/* The condition of a Node that we write. */
#define NODE_CONDITION "GpuReady"

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
/* Annotations of a revision's record, each followed by the pool's name. */
#define ANNOTATION_TARGET "ostler.dev/target-"
#define ANNOTATION_RAN "ostler.dev/ran-"
#define ANNOTATION_COMPLETED "ostler.dev/completed-"
#define ANNOTATION_CANARY "ostler.dev/canary-"
#define ANNOTATION_WAVE "ostler.dev/wave-"
#define ANNOTATION_FAILED "ostler.dev/failed-"
#define ANNOTATION_RETRIED "ostler.dev/retried-"

/* NVIDIA's resources, for what its operands alone do; base/vendor.h has those of each vendor. */
#define RESOURCE_GPU NVIDIA_GPU
/* What MIG slices of a kind are called begins so; its profile follows. */
#define RESOURCE_MIG NVIDIA_MIG

#endif
