/* Whose a process is, by its cgroups, as each runtime, driver and distribution writes them. */
#include "node/inventory/cgroup.h"

#include <string.h>

#include "tests/unit/support/suite.h"

#define UID "8f1c2a34-5b6d-4e7f-8a90-1b2c3d4e5f60"
#define UID_ "8f1c2a34_5b6d_4e7f_8a90_1b2c3d4e5f60"
#define UID2 "00000000-5b6d-4e7f-8a90-1b2c3d4e5f60"
#define HASH "0123456789abcdef0123456789abcdef"
#define ID "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd"
#define ID2 "1111111111111111222222222222222233333333333333334444444444444444"

static const struct row {
    const char *name;
    const char *text;
    const char *pod, *container, *unit;
} rows[] = {
    { "containerd, systemd, v2, burstable",
      "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
      ".slice/cri-containerd-" ID ".scope\n",
      UID, ID, "" },
    { "containerd, systemd, v2, guaranteed",
      "0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope\n", UID, ID, "" },
    { "containerd, cgroupfs, v2", "0::/kubepods/besteffort/pod" UID "/" ID "\n", UID, ID, "" },
    { "containerd, cgroupfs, v1",
      "11:devices:/kubepods/burstable/pod" UID "/" ID "\n1:name=systemd:/kubepods/burstable/pod" UID
      "/" ID "\n",
      UID, ID, "" },
    { "v1, some hierarchies without the pod",
      "5:freezer:/\n4:memory:/kubepods/pod" UID "/" ID "\n0::/system.slice/containerd.service\n",
      UID, ID, "" },
    { "v1, named hierarchy alone", "1:name=systemd:/kubepods/pod" UID "/" ID "\n", UID, ID, "" },
    { "CRI-O, systemd",
      "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID
      ".scope\n",
      UID, ID, "" },
    { "CRI-O, a process one level further down",
      "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID
      ".scope/container\n",
      UID, ID, "" },
    { "CRI-O, the process that watches",
      "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
      ".slice/crio-conmon-" ID ".scope\n",
      UID, "", "" },
    { "CRI-O, cgroupfs", "0::/kubepods/burstable/pod" UID "/crio-" ID "\n", UID, ID, "" },
    { "docker, systemd",
      "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/docker-" ID
      ".scope\n",
      UID, ID, "" },
    { "docker by hand, cgroupfs", "0::/docker/" ID "\n", "", ID, "" },
    { "docker by hand, systemd", "0::/system.slice/docker-" ID ".scope\n", "", ID, "" },
    { "podman by hand", "0::/machine.slice/libpod-" ID ".scope/container\n", "", ID, "" },
    { "two drivers mixed up",
      "0::/system.slice/containerd.service/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID
      "\n",
      UID, ID, "" },
    { "a static pod",
      "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" HASH
      ".slice/cri-containerd-" ID ".scope\n",
      HASH, ID, "" },
    { "kind, with a folder above",
      "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
      "kubelet-kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID ".scope\n",
      UID, ID, "" },
    { "kind, cgroupfs", "0::/kubelet/kubepods/burstable/pod" UID "/" ID "\n", UID, ID, "" },
    { "kind from outside: the pod's container, not that of the node",
      "0::/docker/" ID2 "/kubelet/kubepods/burstable/pod" UID "/" ID "\n", UID, ID, "" },
    { "docker within a pod: the container that the kubelet knows",
      "0::/kubepods/burstable/pod" UID "/" ID "/docker/" ID2 "\n", UID, ID, "" },
    { "a cgroup within a pod that is called like another pod",
      "0::/kubepods/burstable/pod" UID "/" ID "/kubepods/burstable/pod" UID2 "/" ID2 "\n", UID, ID,
      "" },
    { "a slice within a pod that is called like another pod",
      "0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope/kubepods-pod" HASH
      ".slice\n",
      UID, ID, "" },
    { "from within another cgroup namespace",
      "0::/../../kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID ".scope\n", UID, ID, "" },
    { "the same, cgroupfs", "0::/../../pod" UID "/" ID "\n", UID, ID, "" },
    { "k3s without root",
      "0::/user.slice/user-1000.slice/user@1000.service/k3s.service/kubepods/besteffort/pod" UID
      "/" ID "\n",
      UID, ID, "" },
    { "a uid with dashes in a slice",
      "0::/kubepods.slice/kubepods-burstable-pod" UID ".slice/cri-containerd-" ID ".scope\n", UID,
      ID, "" },
    { "the pod itself", "0::/kubepods/burstable/pod" UID "\n", UID, "", "" },
    { "a unit", "0::/system.slice/nvidia-persistenced.service\n", "", "",
      "nvidia-persistenced.service" },
    { "a unit of an instance", "0::/system.slice/system-nvidia.slice/nvidia@0.service\n", "", "",
      "nvidia@0.service" },
    { "the innermost of two units",
      "0::/user.slice/user-1000.slice/user@1000.service/app.slice/jupyter.service\n", "", "",
      "jupyter.service" },
    { "a person's session", "0::/user.slice/user-1000.slice/session-3.scope\n", "", "", "" },
    { "the root", "0::/\n", "", "", "" },
    { "nothing", "", "", "", "" },
    { "no end of line", "0::/docker/" ID, "", ID, "" },
    { "not a line of it", "kubepods/pod" UID "\n", "", "", "" },
    { "capital digits are no uid", "0::/kubepods/pod8F1C2A34-5B6D-4E7F-8A90-1B2C3D4E5F60/x\n", "",
      "", "" },
    { "a uid that is too short", "0::/kubepods/pod8f1c2a34-5b6d-4e7f-8a90-1b2c3d4e5f6/x\n", "", "",
      "" },
    { "a name that only begins like a pod's", "0::/system.slice/podman.service\n", "", "",
      "podman.service" },
    { "an id that is too long", "0::/docker/" ID "0\n", "", "", "" },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct cgroup_owner owner;
    cgroup_parse(part_of(row->text), &owner);
    assert_string_equal(owner.pod_uid, row->pod);
    assert_string_equal(owner.container, row->container);
    assert_string_equal(owner.unit, row->unit);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "cgroup");
}
