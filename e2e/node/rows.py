"""What the real node is tried with: which container runtime, how that is configured, and whose
operand programs."""

import dataclasses

from runtimes import Containerd, ContainerdOfUsr, Crio

# As packages leave it, with a sandbox image of this machine: what is set here and not by default
# must still be set when NVIDIA's toolkit is there.
VERSION_2 = """\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.example.com/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"""
VERSION_3 = """\
version = 3
root = "/var/lib/containerd"
state = "/run/containerd"

[plugins."io.containerd.cri.v1.images"]
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "registry.example.com/pause:1"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.cri.v1.runtime".containerd]
    default_runtime_name = "runc"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"""


@dataclasses.dataclass(frozen=True)
class Row:
    """One row of the matrix. `runtime`: one of runtimes.py. `real`: NVIDIA's own toolkit and
    device plugin, and no stand-ins. `policy`: what its policy has beside that of all. `repeats`:
    the chapters that another row of `make test` plays for it, and why that is enough."""

    runtime: object
    real: bool = True
    policy: dict = dataclasses.field(default_factory=dict)
    repeats: dict = dataclasses.field(default_factory=dict)


WITH_NVIDIAS = (
    "the rows with NVIDIA's own programs play it, and their driver's container is the same"
)
NO_RUNTIME = "containerd-2.1 plays it, and it is about the driver's container, not the runtime"
# Whether devices come by CDI is Ostler's to decide, by the runtime's version: from containerd 1.7
# on. Those before 2.0 refuse a file of version 3.
ROWS = {
    "standins": Row(
        Containerd("", VERSION_2),
        real=False,
        repeats={
            "the_page_is_shown_through_the_cluster": (
                "the rows with NVIDIA's own programs play it, on two versions of containerd"
            ),
            "a_driver_container_dies_under_a_job": WITH_NVIDIAS,
            "the_driver_is_upgraded_after_the_job": WITH_NVIDIAS,
            "the_machine_is_started_again": WITH_NVIDIAS,
            "a_fault_in_the_kernel_log_is_repaired": WITH_NVIDIAS,
            "helm_uninstall_leaves_nothing": WITH_NVIDIAS,
        },
    ),
    "containerd-1.6": Row(
        Containerd("", VERSION_2),
        repeats={
            "a_driver_container_dies_under_a_job": NO_RUNTIME,
            "the_driver_is_upgraded_after_the_job": NO_RUNTIME,
            "a_fault_in_the_kernel_log_is_repaired": (
                "containerd-2.1 plays it, and it is about Ostler's own pods"
            ),
            "a_gpu_is_shared_by_time": (
                "containerd-2.1 plays it; a share is given as a whole GPU is, by its UUID, which"
                " the other chapters do with the hook"
            ),
            "a_toolkit_with_which_no_container_starts_is_taken_back": (
                "containerd-2.1 plays it; the files of before are put back as at the uninstallation"
            ),
        },
    ),
    # GPUs are proven by the sample that the policy names.
    "containerd-1.7": Row(
        Containerd("containerd-1", VERSION_2),
        policy={"validation": {"repository": "nvcr.io/nvidia/k8s"}},
    ),
    "containerd-2.1": Row(
        Containerd("containerd-2", VERSION_2),
        repeats={
            "the_machine_is_started_again": (
                "containerd-1.6 plays it; a_fault_in_the_kernel_log_is_repaired starts the machine"
                " again here"
            ),
        },
    ),
    "containerd-2.1-version-3": Row(Containerd("containerd-2", VERSION_3)),
    "containerd-2.1-of-usr": Row(ContainerdOfUsr("containerd-2", VERSION_2)),
    "crio-1.34": Row(Crio()),
}
# What several rows are called together: those that `make test` takes, and all. 1.6 gives devices by
# the runtime's hook, without CDI; on 2.1 a file of version 2 is one that containerd converts.
SETS = {
    "operands": ("containerd-1.6", "containerd-2.1"),
    "operands-full": tuple(name for name, row in ROWS.items() if row.real),
}
