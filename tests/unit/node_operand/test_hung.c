/* A program that hangs in the kernel: which one is of this pod, as each runtime and driver of
 * cgroups writes it. */
#include "node/operand/hung.h"

#include <string.h>

#include "base/json.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"

#define UID "8f1c2a34-5b6d-4e7f-8a90-1b2c3d4e5f60"
#define UID_ "8f1c2a34_5b6d_4e7f_8a90_1b2c3d4e5f60"
#define TENANT "99999999-5b6d-4e7f-8a90-1b2c3d4e5f60"
#define TENANT_ "99999999_5b6d_4e7f_8a90_1b2c3d4e5f60"
#define ID "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd"
#define ID2 "1111111111111111222222222222222233333333333333334444444444444444"
#define SLICE "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"
#define SCOPE ".slice/cri-containerd-" ID ".scope\n"
#define SCOPE2 ".slice/cri-containerd-" ID2 ".scope\n"

static const struct row {
    const char *name;
    const char *own;   /* proc/self/cgroup; NULL: it cannot be read */
    const char *other; /* that of what hangs */
    bool is_own;
} rows[] = {
    { "this container", SLICE UID_ SCOPE, SLICE UID_ SCOPE, true },
    { "an earlier container of this pod", SLICE UID_ SCOPE2, SLICE UID_ SCOPE, true },
    { "another pod", SLICE UID_ SCOPE, SLICE TENANT_ SCOPE2, false },
    { "cgroupfs: an earlier container", "0::/kubepods/besteffort/pod" UID "/" ID "\n",
      "0::/kubepods/besteffort/pod" UID "/" ID2 "\n", true },
    { "cgroupfs: another pod", "0::/kubepods/besteffort/pod" UID "/" ID "\n",
      "0::/kubepods/besteffort/pod" TENANT "/" ID2 "\n", false },
    { "another pod that makes cgroups with the name of this one", SLICE UID_ SCOPE,
      SLICE TENANT_ ".slice/cri-containerd-" ID2 ".scope/pod" UID "/" ID "\n", false },
    { "a unit of the machine", SLICE UID_ SCOPE, "0::/system.slice/monitor.service\n", false },
    { "a person's session", SLICE UID_ SCOPE, "0::/user.slice/user-1000.slice/session-3.scope\n",
      false },
    { "CRI-O, one level further down", SLICE UID_ ".slice/crio-" ID ".scope/container\n",
      SLICE UID_ ".slice/crio-" ID2 ".scope/container\n", true },
    { "v1: an earlier container",
      "11:devices:/kubepods/pod" UID "/" ID "\n5:freezer:/\n0::/system.slice/containerd.service\n",
      "11:devices:/kubepods/pod" UID "/" ID2 "\n5:freezer:/\n0::/system.slice/containerd.service\n",
      true },
    { "v1: another pod",
      "5:freezer:/\n11:devices:/kubepods/pod" UID "/" ID "\n0::/system.slice/containerd.service\n",
      "5:freezer:/\n11:devices:/kubepods/pod" TENANT "/" ID2
      "\n0::/system.slice/containerd.service\n",
      false },
    { "a namespace of its own: this container", "0::/\n", "0::/\n", true },
    { "a namespace of its own: an earlier container", "0::/\n", "0::/../docker-" ID2 ".scope\n",
      true },
    { "a namespace of its own: another pod", "0::/\n",
      "0::/../../kubepods-burstable-pod" TENANT_ SCOPE2, false },
    { "a namespace of its own: another pod, cgroupfs", "0::/\n",
      "0::/../../pod" TENANT "/" ID2 "\n", false },
    { "a namespace of its own: the machine", "0::/\n", "0::/../../../..\n", false },
    { "neither the pod nor a namespace is to be seen", "0::/system.slice/ostler.service\n",
      "0::/system.slice/ostler.service\n", false },
    { "it has ended meanwhile", SLICE UID_ SCOPE, NULL, false },
    { "it has ended meanwhile, in a namespace of its own", "0::/\n", NULL, false },
    { "its own cannot be read", NULL, SLICE UID_ SCOPE, false },
};

static void put(json_t *files, const char *path, const char *text)
{
    if (text)
        assert_int_equal(json_object_set_new(files, path, json_string(text)), 0);
}

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_JSON json_t *machine = json_pack("{s:{s:s}}", "files", "proc/77/stat",
                                             "77 (nvidia-smi) D 1 77 77 0");
    put(json_at(machine, "files"), "proc/self/cgroup", row->own);
    put(json_at(machine, "files"), "proc/77/cgroup", row->other);
    CLEANUP_FAKE_ROOT char *path = fake_root_new(machine);
    assert_int_equal(root_open(&root, path, NULL), 0);
    int pid = hung_find(&root, "nvidia-smi", UID);
    assert_int_equal(pid, row->is_own ? 77 : 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "hung");
}
