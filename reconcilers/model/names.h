/* Every key that Ostler writes or reads on objects, and every reason that it gives. docs/node-marks.md explains them. */
#ifndef OSTLER_RECONCILERS_MODEL_NAMES_H
#define OSTLER_RECONCILERS_MODEL_NAMES_H

/* What is under this prefix is ours, whoever wrote it. */
#define MARK_PREFIX "ostler.dev/"

/* Labels of a Node that we write. */
#define LABEL_GPU_PRESENT "nvidia.com/gpu.present"
#define LABEL_DRIVER "ostler.dev/driver"
#define LABEL_STACK "ostler.dev/stack"
/* Labels of a Node that people write. */
#define LABEL_MANAGED "ostler.dev/managed"
#define LABEL_DEPLOY_OPERANDS "nvidia.com/gpu.deploy.operands"
#define LABEL_PLUGIN_CONFIG "nvidia.com/device-plugin.config"
#define LABEL_HOLD "ostler.dev/hold"
/* The taint of a Node that is out of service because of us. */
#define TAINT_UPGRADE "ostler.dev/upgrade"
/* Annotations of a Node that we write. */
#define ANNOTATION_MARKS "ostler.dev/marks"
#define ANNOTATION_HOST_DRIVER "ostler.dev/host-driver"
#define ANNOTATION_CLAIM "ostler.dev/claim"
#define ANNOTATION_GAVE_UP "ostler.dev/gave-up"

/* The condition of a Node that we write. */
#define NODE_CONDITION "GpuReady"

/* Labels of children. */
#define LABEL_MANAGED_BY "app.kubernetes.io/managed-by"
#define LABEL_COMPONENT "app.kubernetes.io/component"
#define LABEL_POLICY_UID "ostler.dev/policy-uid"
#define LABEL_TIER "ostler.dev/tier"
#define LABEL_REVISION "ostler.dev/revision"
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

#define RESOURCE_GPU "nvidia.com/gpu"
#define RESOURCE_PREFIX "nvidia.com/"

#endif
