"""Names and places that the tests and the program agree on."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("OSTLER", ROOT / "build" / "ostler"))
AGENT = pathlib.Path(os.environ.get("OSTLER_NODE", ROOT / "build" / "ostler-node"))
# Whether it is all asked of the oldest Kubernetes that Ostler supports, and of Helm 3.
OLDEST = os.environ.get("OSTLER_WORLD") == "oldest"
OTHER_BUILD = ROOT / "build" / "ostler-other"
CHART = ROOT / "charts" / "ostler"
CRD_CHART = ROOT / "charts" / "ostler-crds"
NAMESPACE = "ostler-system"
OPERANDS = "ostler-operands"


GPU_LABEL = "nvidia.com/gpu.present"
# Beginnings of the labels that say what the GPUs of a node are.
SEEN = ("nvidia.com/gpu.", "nvidia.com/cuda.", "nvidia.com/mig.")
GPU_TAINT = "nvidia.com/gpu"
DRIVER = "ostler.dev/driver"
STACK = "ostler.dev/stack"
REMOVAL = "ostler.dev/removal"
MARKS = "ostler.dev/marks"
MANAGED = "ostler.dev/managed"
HOLD = "ostler.dev/hold"
CLAIM = "ostler.dev/claim"
STARTUP_TAINT = "ostler.dev/gpu-not-ready"
KEEPS_KARPENTER = "karpenter.sh/do-not-disrupt"
KEEPS_CLUSTER_AUTOSCALER = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
UPGRADE_TAINT = "ostler.dev/upgrade"
FORCE_REMOVAL = "ostler.dev/force-removal"
APPROVED = "ostler.dev/approved"
RETRY = "ostler.dev/retry"
GAVE_UP = "ostler.dev/gave-up"
COMPONENT = "app.kubernetes.io/component"
# Those that a node has with any policy that switches none off; node-cards needs the agent, too.
OPERAND_NAMES = ("driver", "toolkit", "device-plugin", "exporter")
