/* What people are shown of a machine. */
#include "node/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"

static const struct row {
    const char *name; /* a machine of tests/roots */
    const char *text;
    const char *from; /* the text begins at the first of this; NULL: at the beginning */
} rows[] = {
    { "ubuntu-host-driver",
      "system: Ubuntu 24.04.1 LTS, kernel 6.8.0-49-generic, boot "
      "0d6b6f9e-6c7c-4f7e-9a51-5d1f0c8f9b11, Secure Boot off\n"
      "GPUs: 1\n"
      "  0000:31:00.0  1eb8  nvidia, Answers, NUMA node 0, Tesla T4, /dev/nvidia0\n"
      "NVSwitches: 0\n"
      "module: 535.183.01, proprietary, unsigned, in use\n"
      "driver on the host: /usr/bin/nvidia-smi, /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1, "
      "535.183.01\n"
      "runtime: containerd (stock), /run/containerd/containerd.sock, /etc/containerd/config.toml "
      "version 2\n"
      "kubelet: /var/lib/kubelet, uses unix:///run/containerd/containerd.sock\n"
      "holders: 2\n"
      "  process 7001: python3 and 1 more nvidia0\n"
      "  unit nvidia-persistenced.service: nvidia-persiste nvidia0\n",
      NULL },
    { "ubuntu-hgx-one-gone",
      "machine: DGXH100\n"
      "system: Ubuntu 24.04.1 LTS, kernel 6.8.0-49-generic, boot "
      "0d6b6f9e-6c7c-4f7e-9a51-5d1f0c8f9b11, Secure Boot off\n"
      "GPUs: 8\n"
      "  0000:19:00.0  2330  nvidia, Answers, NUMA node 0, NVIDIA H100 80GB HBM3, /dev/nvidia0\n"
      "  0000:3b:00.0  2330  nvidia, Answers, NUMA node 0, NVIDIA H100 80GB HBM3, /dev/nvidia1\n"
      "  0000:4c:00.0  2330  nvidia, Answers, NUMA node 0, NVIDIA H100 80GB HBM3, /dev/nvidia2\n"
      "  0000:5d:00.0  2330  nvidia, Answers, NUMA node 0, NVIDIA H100 80GB HBM3, /dev/nvidia3\n"
      "  0000:9b:00.0  2330  nvidia, Answers, NUMA node 1, NVIDIA H100 80GB HBM3, /dev/nvidia4\n"
      "  0000:bb:00.0  2330  nvidia, Answers, NUMA node 1, NVIDIA H100 80GB HBM3, /dev/nvidia5\n"
      "  0000:cb:00.0  2330  nvidia, Answers, NUMA node 1, NVIDIA H100 80GB HBM3, /dev/nvidia6\n"
      "  0000:db:00.0  ----  no driver, Gone, NVIDIA H100 80GB HBM3, /dev/nvidia7\n"
      "NVSwitches: 0\n"
      "module: 580.95.05, open, unsigned, in use\n"
      "runtime: containerd (stock), /run/containerd/containerd.sock, /etc/containerd/config.toml "
      "version 2\n"
      "kubelet: /var/lib/kubelet, uses unix:///run/containerd/containerd.sock\n"
      "holders: 0\n",
      NULL },
    { "ubuntu-mig-asked",
      "system: Ubuntu 24.04.1 LTS, kernel 6.8.0-49-generic, boot "
      "0d6b6f9e-6c7c-4f7e-9a51-5d1f0c8f9b11, Secure Boot off\n"
      "GPUs: 2\n"
      "  0000:41:00.0  20b0  nvidia, Answers, NUMA node 2, NVIDIA "
      "A100-SXM4-40GB, 40960 MiB, /dev/nvidia0, 7 MIG instances: "
      "1g.5gb, 1g.5gb, 1g.5gb, 1g.5gb, 1g.5gb, 1g.5gb, 1g.5gb\n"
      "  0000:81:00.0  20b0  nvidia, Answers, NUMA node 5, NVIDIA "
      "A100-SXM4-40GB, 40960 MiB, /dev/nvidia1\n"
      "NVSwitches: 0\n"
      "module: 580.95.05, open, unsigned, in use\n"
      "runtime: containerd (stock), /run/containerd/containerd.sock, "
      "/etc/containerd/config.toml version 2\n"
      "kubelet: /var/lib/kubelet, uses unix:///run/containerd/containerd.sock\n"
      "holders: 1\n"
      "  pod 99999999-2222-4333-8444-555555555555: python3 nvidia0\n",
      NULL },
    { "unreadable-processes",
      "system: Ubuntu 24.04.1 LTS, kernel 6.8.0-49-generic, boot "
      "0d6b6f9e-6c7c-4f7e-9a51-5d1f0c8f9b11, Secure Boot off\n"
      "GPUs: 1\n"
      "  0000:31:00.0  1eb8  nvidia, Answers, NUMA node 0, Tesla T4, /dev/nvidia0\n"
      "NVSwitches: 0\n"
      "module: 535.183.01, proprietary, unsigned, in use\n"
      "driver on the host: /usr/bin/nvidia-smi, /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1, "
      "535.183.01\n"
      "runtime: containerd (stock), /run/containerd/containerd.sock, /etc/containerd/config.toml\n"
      "kubelet: /var/lib/kubelet\n"
      "holders: 1, and perhaps more\n"
      "  unit nvidia-persistenced.service: nvidia-persiste nvidia0\n"
      "unreadable: etc/containerd/config.toml: Permission denied\n"
      "unreadable: var/lib/kubelet/config.yaml: Permission denied\n"
      "unreadable: proc/PID/fd: Permission denied\n",
      NULL },
    { "ubuntu-hgx-sick",
      "health: 0000:19:00.0: serial 1650220012345, recovery None, remapPending false, remapFailed "
      "false, doubleBitErrors 0, sramExceeded false, fabric Healthy\n"
      "health: 0000:3b:00.0: serial 1650220012346, recovery DrainAndReset, remapPending true, "
      "remapFailed false, doubleBitErrors 2, sramExceeded false, fabric Unhealthy\n"
      "health: 0000:4c:00.0: serial 1650220012347, recovery None, remapPending false, remapFailed "
      "true, doubleBitErrors 0, sramExceeded true, fabric Limited\n"
      "health: 0000:5d:00.0: lost true\n"
      "health: 0000:9b:00.0: recovery Reset\n"
      "health: 0000:db:00.0: hangs true\n",
      "health: " },
    { "debian-nouveau",
      "system: Debian GNU/Linux 12 (bookworm), kernel 6.1.0-28-amd64, boot "
      "0d6b6f9e-6c7c-4f7e-9a51-5d1f0c8f9b11, Secure Boot off\n"
      "GPUs: 1\n"
      "  0000:65:00.0  1db6  nouveau, Answers, NUMA node 0\n"
      "NVSwitches: 0\n"
      "module: not loaded; nouveau is\n"
      "runtime: containerd (stock), /run/containerd/containerd.sock, "
      "/etc/containerd/config.toml version 2\n"
      "kubelet: /var/lib/kubelet, uses unix:///run/containerd/containerd.sock\n"
      "holders: 0\n",
      NULL },
    { "nothing-mounted",
      "system: not known, kernel not known, boot not known, Secure Boot not known\n"
      "GPUs: not known\n"
      "NVSwitches: not known\n"
      "module: not known\n"
      "runtime: not known\n"
      "kubelet: not known\n"
      "holders: not known\n"
      "unreadable: proc/sys/kernel: procfs is not there\n"
      "unreadable: sys/bus: sysfs is not there\n"
      "unreadable: proc/modules: it is not there\n",
      NULL },
};

static void check(void **state)
{
    const struct row *row = *state;
    char *text = NULL, *path = fake_root_of(row->name);
    size_t len = 0;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_INVENTORY struct inventory i = { 0 };
    assert_int_equal(root_open(&root, path, NULL), 0);
    fake_root_look_begins();
    inventory_look(&root, &i);
    fake_root_look_ends();
    fake_root_free(path);
    FILE *out = open_memstream(&text, &len);
    show_inventory(&i, out);
    assert_int_equal(fclose(out), 0);
    const char *got = row->from ? strstr(text, row->from) : text;
    assert_non_null(got);
    assert_string_equal(got, row->text);
    free(text);
}

/* Faults of the kernel log; nothing of them where it was not asked for. */
static const struct faults_row {
    const char *name;
    struct faults faults;
    const char *text;
} fault_rows[] = {
    { "no faults", { .read_s = 1 }, "faults: 0\n" },
    { "a log that cannot be read",
      { .why = EPERM },
      "faults: not known\nunreadable: kernel log: CAP_SYSLOG is missing\n" },
    { "faults",
      { .items = { { .event = { .place = { 0, 0x85, 0, 0 }, .xid = 12028, .nvswitch = true },
                     .count = 1 },
                   { .event = { .place = { 0, 0x3b, 0, -1 }, .xid = 149, .fatal = XID_FATAL },
                     .count = 2,
                     .last_s = 1700000000 },
                   { .event = { .place = { 0, 0x3b, 0, -1 },
                                .xid = 154,
                                .recovery = RECOVERY_DRAIN_AND_RESET },
                     .count = 3,
                     .last_s = 1700000001 } },
        .len = 3,
        .read_s = 1 },
      "faults: 3\n"
      "  0000:85:00.0  SXid 12028, count 1, last at 1970-01-01T00:00:00Z\n"
      "  0000:3b:00.0  Xid 149, count 2, last at 2023-11-14T22:13:20Z, fatal\n"
      "  0000:3b:00.0  Xid 154, count 3, last at 2023-11-14T22:13:21Z, recovery: "
      "DrainAndReset\n" },
};

static void check_faults(void **state)
{
    const struct faults_row *row = *state;
    char *text = NULL;
    size_t len = 0;
    CLEANUP_INVENTORY struct inventory i = { 0 };
    inventory_add_faults(&i, &row->faults);
    FILE *out = open_memstream(&text, &len);
    show_inventory(&i, out);
    assert_int_equal(fclose(out), 0);
    const char *from = strstr(text, "faults: ");
    assert_non_null(from);
    assert_string_equal(from, row->text);
    free(text);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    SUITE_ROWS(&s, check_faults, fault_rows);
    return suite_run(&s, "show");
}
