/* The texts of kernels, distributions and administrators, each parsed as it is found and as it
 * should not be. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "node/inventory/pci.h"
#include "node/inventory/holders.h"
#include "node/inventory/host_driver.h"
#include "node/inventory/handlers.h"
#include "node/inventory/kubelet.h"
#include "node/inventory/module.h"
#include "node/inventory/nvml.h"
#include "node/inventory/nvml_process.h"
#include "node/inventory/os.h"
#include "node/inventory/runtime.h"
#include "node/inventory/uevent.h"
#include "tests/unit/support/suite.h"

#define OPEN_MODULE                                                                                \
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  "          \
    "(dvs-builder@U22-I3)  "                                                                       \
    "Tue Sep 23 10:11:16 UTC 2025\n"
#define CLOSED_MODULE                                                                              \
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n"

/* ---- one row: a parser, a text, and what it comes to, in a line */

struct row {
    const char *name;
    void (*parse)(struct part text, struct buf *ret);
    const char *text;
    const char *want;
};

static void add_part(struct buf *b, const char *name, struct part p)
{
    if (p.len)
        buf_printf(b, "%s=%.*s ", name, (int) p.len, p.at);
}

static void add_text(struct buf *b, const char *name, const char *text)
{
    if (text)
        buf_printf(b, "%s=%s ", name, text);
}

static void uevent(struct part text, struct buf *b)
{
    struct uevent u;
    if (!uevent_parse(text, &u))
        return;
    buf_printf(b, "%04x:%04x %06x ", u.vendor, u.device, u.class);
    add_part(b, "driver", u.driver);
    add_part(b, "address", u.address);
}

/* The same as the kernel sends it: each line ends with a NUL. */
static void message(struct part text, struct buf *b)
{
    CLEANUP_FREE char *copy = xstrndup(text.at, text.len);
    for (size_t i = 0; i < text.len; i++)
        if (copy[i] == '\n')
            copy[i] = '\0';
    uevent((struct part){ copy, text.len }, b);
}

static void os_release(struct part text, struct buf *b)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct os_release os;
    os_release_parse(&a, text, &os);
    add_text(b, "id", os.id);
    add_text(b, "version", os.version);
    add_text(b, "variant", os.variant);
    add_text(b, "name", os.name);
}

static void modules(struct part text, struct buf *b)
{
    struct module_line m;
    while (modules_next(&text, &m)) {
        buf_printf(b, "%.*s %d/%d%s ", (int) m.name.len, m.name.at, (int) m.references,
                   (int) module_user_count(&m), m.loading ? " loading" : "");
        add_part(b, "taints", m.taints);
    }
}

static void driver_version(struct part text, struct buf *b)
{
    static const char *const flavours[] = { [FLAVOUR_UNKNOWN] = "unknown",
                                            [FLAVOUR_OPEN] = "open",
                                            [FLAVOUR_PROPRIETARY] = "proprietary" };
    struct driver_version v;
    if (!driver_version_parse(text, &v))
        return;
    buf_printf(b, "%s ", flavours[v.flavour]);
    add_part(b, "version", v.version);
}

static void majors(struct part text, struct buf *b)
{
    struct driver_majors m;
    driver_majors_parse(text, &vendors[VENDOR_NVIDIA], &m);
    for (size_t i = 0; i < m.len; i++)
        buf_printf(b, "%d ", m.items[i]);
}

static void gpu(struct part text, struct buf *b)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct pci_device d = { .minor = -1 };
    gpu_parse(&a, text, &d);
    add_text(b, "product", d.product);
    add_text(b, "uuid", d.uuid);
    if (d.minor >= 0)
        buf_printf(b, "minor=%d ", d.minor);
}

static void endpoint(struct part text, struct buf *b)
{
    add_part(b, "endpoint", kubelet_endpoint(text));
}

static void unit(struct part text, struct buf *b)
{
    add_part(b, "folder", rancher_folder_of_unit(text));
}

static void rancher(struct part text, struct buf *b)
{
    add_part(b, "folder", rancher_folder_of_config(text));
}

/* Each runtime with its program, the default, and what is taken in. */
static void handlers(struct part text, struct buf *b)
{
    struct handlers h;
    handlers_read(text, &h);
    for (size_t i = 0; i < h.len; i++)
        buf_printf(b, "%.*s=%.*s ", (int) h.items[i].name.len, h.items[i].name.at,
                   (int) h.items[i].program.len, str_or_empty(h.items[i].program.at));
    if (h.standard.len)
        add_part(b, "default", h.standard);
    for (size_t i = 0; i < h.imports_len; i++)
        add_part(b, "import", h.imports[i]);
}

static void config_version(struct part text, struct buf *b)
{
    buf_printf(b, "%d ", runtime_config_version(text));
}

static void device(struct part text, struct buf *b)
{
    uint64_t minors = 0;
    CLEANUP_FREE char *path = xstrndup(text.at, text.len);
    if (holders_is_device(&vendors[VENDOR_NVIDIA], path, &minors))
        buf_printf(b, "device %llx ", (unsigned long long) minors);
}

static void address(struct part text, struct buf *b)
{
    CLEANUP_FREE char *copy = xstrndup(text.at, text.len);
    buf_printf(b, "%s ", pci_is_address(copy) ? "yes" : "no");
}

static void library(struct part text, struct buf *b)
{
    CLEANUP_FREE char *copy = xstrndup(text.at, text.len);
    add_text(b, "version", host_driver_version(copy, "libnvidia-ml.so."));
}

static void nvml(struct part text, struct buf *b)
{
    struct nvml_line line;
    buf_str(b, nvml_is_whole(text) ? "whole " : "");
    while (nvml_next(&text, &line)) {
        if (line.kind == NVML_ASKS || line.kind == NVML_HEALTH) {
            add_part(b, line.kind == NVML_ASKS ? "asks" : "health", line.address);
            continue;
        }
        buf_printf(b, "%.*s=%d ", (int) line.uuid.len, line.uuid.at, (int) line.memory_mib);
        add_part(b, "profile", line.profile);
        add_part(b, "mig", line.mig_uuid);
    }
}

static void health(struct part text, struct buf *b)
{
    CLEANUP_VIEW struct view v = { 0 };
    struct card_health h = { 0 };
    card_health_read(&v.arena, text, &h);
    card_health_print(&h, b);
}

/* Two lines: stat and uptime. */
static void age(struct part text, struct buf *b)
{
    struct part stat;
    part_next(&text, '\n', &stat);
    buf_printf(b, "%d", (int) nvml_process_age_s(stat, text, 100));
}

#define STAT(name, start)                                                                          \
    "4242 (" name ") S 1 4242 4242 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 " start " 2 3 4\n"

static const struct row rows[] = {
    { "age: a process", age, STAT("ostler-nvml", "5000") "61.25 100.00\n", "11" },
    { "age: a name with spaces and parentheses", age, STAT("a) S 1 (b", "5000") "61.25 100.00\n",
      "11" },
    { "age: the clock was read before", age, STAT("x", "6200") "61.25 100.00\n", "0" },
    { "age: too few words", age, "4242 (x) S 1 2 3\n61.25 100.00\n", "-1" },
    { "age: no name", age, "4242\n61.25 100.00\n", "-1" },
    { "age: no number", age, STAT("x", "-5000") "61.25 100.00\n", "-1" },
    { "age: no clock", age, STAT("x", "5000"), "-1" },
    { "age: a clock of letters", age, STAT("x", "5000") "now.25\n", "-1" },
    { "uevent: a GPU", uevent,
      "DRIVER=nvidia\nPCI_CLASS=30200\nPCI_ID=10DE:2330\nPCI_SUBSYS_ID=10DE:16C1\nPCI_SLOT_NAME="
      "0000:19:00.0\nMODALIAS=pci:v0d\n",
      "10de:2330 030200 driver=nvidia address=0000:19:00.0 " },
    { "uevent: nothing drives it", uevent, "PCI_CLASS=30000\nPCI_ID=10DE:1DB6\n",
      "10de:1db6 030000 " },
    { "uevent: a message, with NULs", message,
      "add@/devices/x\nACTION=add\nPCI_CLASS=68000\nPCI_ID=10DE:22A3\nSEQNUM=1\n",
      "10de:22a3 068000 " },
    { "uevent: not about PCI", uevent, "MAJOR=195\nMINOR=0\nDEVNAME=nvidia0\n", "" },
    { "uevent: no class", uevent, "PCI_ID=10DE:2330\n", "" },
    { "uevent: an id that is none", uevent, "PCI_CLASS=30200\nPCI_ID=10DE\n", "" },
    { "uevent: an id that is too long", uevent, "PCI_CLASS=30200\nPCI_ID=110DE:2330\n", "" },
    { "uevent: a class that is none", uevent, "PCI_CLASS=0x302\nPCI_ID=10DE:2330\n", "" },

    { "os-release: Ubuntu", os_release,
      "PRETTY_NAME=\"Ubuntu 24.04.1 "
      "LTS\"\nNAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\nID=ubuntu\nID_LIKE=debian\n",
      "id=ubuntu version=24.04 name=Ubuntu 24.04.1 LTS " },
    { "os-release: single quotes, comments, spaces", os_release,
      "# a comment\n\n  ID='cos'\n#ID=other\nVARIANT_ID='x y'\n", "id=cos variant=x y " },
    { "os-release: backslashes", os_release, "PRETTY_NAME=\"A \\\"B\\\" \\$C \\\\ D\"\n",
      "name=A \"B\" $C \\ D " },
    { "os-release: a backslash in single quotes is one", os_release, "ID='a\\b'\n", "id=a\\b " },
    { "os-release: the last one counts", os_release, "ID=a\nID=b\n", "id=b " },
    { "os-release: a quote that does not end", os_release, "ID=\"ubuntu\nVERSION_ID=\"\n",
      "id=ubuntu " },
    { "os-release: a text of another language", os_release, "PRETTY_NAME=\"Größe\"\n",
      "name=Gr????e " },
    { "os-release: nothing of it", os_release, "ubuntu 24.04\n=x\nID\n", "" },
    { "os-release: a value that is too long", os_release,
      "ID=0123456789012345678901234567890123456789012345678901234567890123456789\n",
      "id=012345678901234567890123456789012345678901234567890123456789012 " },

    { "modules: users, taints", modules,
      "nvidia_uvm 2097152 12 - Live 0x0000000000000000 (OE)\nnvidia 1 87 "
      "nvidia_uvm,nvidia_modeset, Live 0x0 (POE)\n",
      "nvidia_uvm 12/0 taints=OE nvidia 87/2 taints=POE " },
    { "modules: on the way in or out", modules,
      "nvidia 1 0 - Loading 0x0\nnouveau 1 -1 - Unloading 0x0\n",
      "nvidia 0/0 loading nouveau -1/0 loading " },
    { "modules: not to be taken out", modules, "x 1 1 [permanent], Live 0x0\ny 1 - - Live 0x0\n",
      "x 1/0 y -1/0 " },
    { "modules: lines that are none", modules, "\nnvidia\nnvidia 1 2\n   \n", "" },
    { "modules: taints without brackets", modules,
      "nvidia 1 0 - Live 0x0 POE\nx 1 0 - Live 0x0 ()\n", "nvidia 0/0 x 0/0 " },

    { "driver: open", driver_version, OPEN_MODULE "GCC version:  gcc version 13.3.0\n",
      "open version=580.95.05 " },
    { "driver: proprietary", driver_version, CLOSED_MODULE, "proprietary version=535.183.01 " },
    { "driver: another line first", driver_version,
      "GCC version:  gcc version 13.3.0\n" CLOSED_MODULE, "proprietary version=535.183.01 " },
    { "driver: no version", driver_version,
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  unknown\n", "proprietary " },
    { "driver: a word of dots", driver_version,
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  . 1. .5 550.54\n",
      "proprietary version=550.54 " },
    { "driver: something else", driver_version, "NVRM version: Tegra\n", "" },
    { "driver: empty", driver_version, "", "" },

    { "devices: of the driver", majors,
      "Character devices:\n  1 mem\n195 nvidia\n195 nvidia-modeset\n195 nvidiactl\n234 "
      "nvidia-caps\n507 nvidia-uvm\n",
      "195 234 507 " },
    { "devices: an older driver", majors, "Character devices:\n195 nvidia-frontend\n", "195 " },
    { "devices: disks have numbers of their own", majors,
      "195 nvidia\n\nBlock devices:\n  7 loop\n  1 nvidia\n", "195 " },
    { "devices: of others", majors, "1 mem\n2 my-nvidia\n", "" },
    { "devices: no number", majors, "nvidia\n-1 nvidia\n1x nvidia\n99999999999 nvidia\n3\n", "" },
    { "devices: more than the driver has", majors,
      "1 nvidia\n2 nvidia\n3 nvidia\n4 nvidia\n5 nvidia\n6 nvidia\n7 nvidia\n8 nvidia\n9 "
      "nvidia\n10 nvidia\n11 nvidia\n"
      "12 nvidia\n13 nvidia\n14 nvidia\n15 nvidia\n16 nvidia\n17 nvidia\n",
      "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 " },

    { "card: all of it", gpu,
      "Model: \t\t NVIDIA A100-SXM4-40GB\nIRQ:   \t\t 155\nGPU UUID: \t GPU-1-2\nDevice Minor: \t "
      "7\n",
      "product=NVIDIA A100-SXM4-40GB uuid=GPU-1-2 minor=7 " },
    { "card: not initialised", gpu,
      "Model: \t\t Unknown\nGPU UUID: \t GPU-?\?\?\?\?\?\?\?-?\?\?\?\nDevice Minor: \t 0\n",
      "minor=0 " },
    { "card: a minor that is none", gpu,
      "Device Minor: \t -1\nDevice Minor: 256\nDevice Minor: x\n", "" },
    { "card: no lines of it", gpu, "Model\n:\n\n", "" },

    { "kubelet: its configuration", endpoint,
      "kind: KubeletConfiguration\ncontainerRuntimeEndpoint: "
      "unix:///run/containerd/containerd.sock\nx: y\n",
      "endpoint=unix:///run/containerd/containerd.sock " },
    { "kubelet: in quotes", endpoint, "containerRuntimeEndpoint: \"unix:///run/crio/crio.sock\"\n",
      "endpoint=unix:///run/crio/crio.sock " },
    { "kubelet: nothing said", endpoint, "containerRuntimeEndpoint: \"\"\ncgroupDriver: systemd\n",
      "" },
    { "kubelet: flags", endpoint,
      "KUBELET_KUBEADM_ARGS=\"--container-runtime-endpoint=unix:///a.sock --x\"\n",
      "endpoint=unix:///a.sock " },
    { "kubelet: the last flag", endpoint,
      "KUBELET_KUBEADM_ARGS=\"--x --container-runtime-endpoint=unix:///a.sock\"\n",
      "endpoint=unix:///a.sock " },
    { "kubelet: a flag with its value apart", endpoint,
      "--container-runtime-endpoint unix:///a.sock --x\n", "endpoint=unix:///a.sock " },
    { "kubelet: at the end of the text", endpoint, "containerRuntimeEndpoint:", "" },

    { "unit of k3s: as its installer writes it", unit,
      "ExecStart=/usr/local/bin/k3s \\\n    server \\\n\t'--data-dir' \\\n\t'/data/k3s' \\\n",
      "folder=/data/k3s " },
    { "unit of k3s: behind a sign", unit,
      "ExecStart=/usr/local/bin/k3s agent --data-dir=/data --x\n", "folder=/data " },
    { "unit of k3s: in one pair of quotes", unit,
      "ExecStart=/usr/local/bin/k3s agent '--data-dir=/data' --x\n", "folder=/data " },
    { "unit of k3s: the short name", unit, "ExecStart=/usr/local/bin/k3s agent '-d' '/data'\n",
      "folder=/data " },
    { "unit of k3s: nothing behind it", unit, "ExecStart=/usr/local/bin/k3s agent --data-dir", "" },
    { "unit of k3s: none", unit, "ExecStart=/usr/local/bin/k3s agent\n", "" },

    { "configuration of k3s: usual", rancher, "token: x\ndata-dir: /data/k3s # large\n",
      "folder=/data/k3s " },
    { "configuration of k3s: in quotes", rancher, "\"data-dir\": '/data/k3s'\n",
      "folder=/data/k3s " },
    { "configuration of k3s: of something else", rancher,
      "x:\n  data-dir: /data\nold-data-dir: /x\n", "" },
    { "configuration of k3s: nothing behind it", rancher, "data-dir:\ntoken: x\n", "" },

    { "handlers: containerd, version 2", handlers,
      "imports = [\"/a/*.toml\", '/b.toml']\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\n"
      "  default_runtime_name = \"nvidia\" # x\n"
      "  [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\n    runtime_type = "
      "\"io.containerd.runc.v2\"\n"
      "    [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia.options]\n      "
      "BinaryName = \"/usr/bin/n\"\n",
      "nvidia=/usr/bin/n default=nvidia import=/a/*.toml import=/b.toml " },
    { "handlers: a name with dots, in quotes", handlers,
      "[a.runtimes.'x.y'.options]\nBinaryName='/b'\n", "x.y=/b " },
    { "handlers: CRI-O", handlers,
      "[crio.runtime]\ndefault_runtime = \"crun\"\n[crio.runtime.runtimes.nvidia]\nruntime_path = "
      "\"/r\"\n",
      "nvidia=/r default=crun " },
    { "handlers: a program of no runtime", handlers,
      "[a.b.options]\nBinaryName = \"/b\"\n[runtimes]\nBinaryName = \"/c\"\n", "" },
    { "handlers: what is said later counts", handlers,
      "[r.runtimes.n]\nBinaryName = \"/b\"\n[r.runtimes.n.options]\nBinaryName = \"/c\"\n",
      "n=/c " },
    { "handlers: imports over several lines", handlers,
      "imports = [\n  \"/a\", # one\n  \"/b\",\n]\nversion = 2\n", "import=/a import=/b " },
    { "handlers: imports of a table are another thing", handlers, "[x]\nimports = [\"/a\"]\n", "" },
    { "handlers: a list that does not end", handlers, "imports = [\"/a", "" },
    { "handlers: what is commented out", handlers,
      "[r.runtimes.n]\n# BinaryName = \"/b\"\n#[r.runtimes.m]\n", "n= " },

    { "containerd: version 2", config_version, "# generated\nversion = 2\n\n[plugins]\n", "2 " },
    { "containerd: version 3, a comment behind it", config_version,
      "oom_score = 0\nversion = 3 # since 2.0\n", "3 " },
    { "containerd: of a plugin, not of the file", config_version, "[plugins.x]\nversion = 2\n",
      "0 " },
    { "containerd: another key", config_version, "plugin_version = 2\n", "0 " },
    { "containerd: no number", config_version, "version = \"2\"\n", "0 " },
    { "containerd: nothing", config_version, "version =\n", "0 " },

    { "device: of a GPU", device, "/dev/nvidia0", "device 1 " },
    { "device: of the last GPU that has a bit", device, "/dev/nvidia63",
      "device 8000000000000000 " },
    { "device: of a GPU without a bit", device, "/dev/nvidia64", "device 0 " },
    { "device: of no single GPU", device, "/dev/nvidiactl", "device 0 " },
    { "device: unified memory", device, "/dev/nvidia-uvm", "device 0 " },
    { "device: MIG", device, "/dev/nvidia-caps/nvidia-cap12", "device 0 " },
    { "device: below a driver's root", device, "/run/nvidia/driver/dev/nvidia3", "device 8 " },
    { "device: its node was removed", device, "/dev/nvidia1 (deleted)", "device 2 " },
    { "device: a file with such a name", device, "/dev/nvidia0.log", "" },
    { "device: no number", device, "/dev/nvidia", "" },
    { "device: a number that is too large", device, "/dev/nvidia99999999999999999999", "" },
    { "device: another one", device, "/dev/null", "" },
    { "device: a file of the toolkit", device, "/usr/bin/nvidia-smi", "" },

    { "address: usual", address, "0000:19:00.0", "yes " },
    { "address: a longer domain", address, "10000:e1:1f.7", "yes " },
    { "address: no function", address, "0000:19:00", "no " },
    { "address: no such function", address, "0000:19:00.8", "no " },
    { "address: capitals", address, "0000:1F:00.0", "no " },
    { "address: something with slashes", address, "0000:19:00.0/../x", "no " },
    { "address: nothing", address, "", "no " },

    { "NVML: a card, and a part of it", nvml, "card GPU-1 81559\nmig GPU-1 1g.10gb+me MIG-2\nend\n",
      "whole GPU-1=81559 GPU-1=0 profile=1g.10gb+me mig=MIG-2 " },
    { "NVML: cut in the middle", nvml, "card GPU-1 81559\nmig GPU-1 1g.10", "GPU-1=81559 " },
    { "NVML: an end that is none", nvml, "card GPU-1 1\nweekend\n", "GPU-1=1 " },
    { "NVML: an end alone", nvml, "end\n", "whole " },
    { "NVML: memory that no card has", nvml,
      "card GPU-1 0\ncard GPU-1 16777217\ncard GPU-1 -1\ncard GPU-1 16777216\n",
      "GPU-1=16777216 " },
    { "NVML: words too few and too many", nvml,
      "card GPU-1\ncard GPU-1 1 1\nmig GPU-1 1g.5gb\nmig GPU-1 1g.5gb MIG-1 x\ncard\n\n", "" },
    { "NVML: characters that are in no name", nvml,
      "card GPU_1 1\nmig GPU-1 1g/../x MIG-1\nmig GPU-1 1g.5gb MIG-1;\n", "" },
    { "NVML: health, and what is asked about", nvml,
      "asks 0000:65:00.0\nhealth 0000:65:00.0\nhealth 10000:65:00.0 lost=true\nend\n",
      "whole asks=0000:65:00.0 health=0000:65:00.0 health=10000:65:00.0 " },
    { "NVML: health of what is no address", nvml,
      "health\nhealth GPU-1 lost=true\nasks 0000:65:00\nasks 0000:65:00.0 x\n"
      "health 000000000:65:00.0\nhealths 0000:65:00.0\n",
      "" },
    { "health: all", health,
      "serial=1650220012345 recovery=DrainAndReset remapPending=true remapFailed=false "
      "doubleBitErrors=2147483647 sramExceeded=true fabric=Limited lost=true hangs=true",
      "serial 1650220012345, recovery DrainAndReset, remapPending true, remapFailed false, "
      "doubleBitErrors 2147483647, sramExceeded true, fabric Limited, lost true, hangs true" },
    { "health: nothing", health, "", "" },
    { "health: each word of recovery", health, "recovery=None", "recovery None" },
    { "health: a reset", health, "recovery=Reset", "recovery Reset" },
    { "health: a reboot", health, "recovery=Reboot", "recovery Reboot" },
    { "health: peers", health, "recovery=DrainPeers", "recovery DrainPeers" },
    { "health: a domain", health, "recovery=RecoverDomain", "recovery RecoverDomain" },
    { "health: a fabric that works", health, "fabric=Healthy", "fabric Healthy" },
    { "health: a fabric that does not", health, "fabric=Unhealthy", "fabric Unhealthy" },
    { "health: words that are none", health,
      "recovery=none recovery= fabric=Fine remapPending=1 remapFailed=yes sramExceeded=TRUE "
      "lost=false hangs=false doubleBitErrors=-1 serial=",
      "" },
    { "health: the end of a word, and more than one", health, "recovery=Res recovery=ResetReset",
      "" },
    { "health: more errors than the schema has", health, "doubleBitErrors=2147483648", "" },
    { "health: words that only begin like a known one", health,
      "fabric=HealthyAgain remapPending=truest lost=trues", "" },
    { "health: keys that are not known", health, "recoverys=Reset Recovery=Reset =Reset Reset",
      "" },
    { "health: the first counts", health, "recovery=Reset recovery=None", "recovery Reset" },
    { "health: the first that is one counts", health, "recovery=x recovery=None", "recovery None" },
    { "health: a serial number of odd characters", health, "serial=12/34", "" },
    { "health: a serial number that is too long", health, "serial=01234567890123456789012345678901",
      "" },
    { "health: the longest serial number", health, "serial=0123456789012345678901234567890",
      "serial 0123456789012345678901234567890" },
    { "health: more words than a line has", health, "a b c d e f g h i j k l m n o p lost=true",
      "" },
    { "health: as many words as a line has", health, "a b c d e f g h i j k l m n o lost=true",
      "lost true" },
    { "NVML: a name that is too long", nvml,
      "card 0123456789012345678901234567890123456789012345678901234567890123 1\n", "" },

    { "library: its file", library, "libnvidia-ml.so.580.95.05", "version=580.95.05 " },
    { "library: by a path", library, "/usr/lib/libnvidia-ml.so.535.183.01", "version=535.183.01 " },
    { "library: the name that programs look for", library, "libnvidia-ml.so.1", "" },
    { "library: another one", library, "libcuda.so.580.95.05", "" },
    { "library: no version", library, "libnvidia-ml.so.580.95.05.bak", "" },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_BUF struct buf got = BUF_INIT(4096);
    row->parse(part_of(row->text), &got);
    assert_string_equal(buf_text(&got), row->want);
}

/* ---- parts of texts */

static void check_parts(void **state)
{
    (void) state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct part text = PART("a,,b"), p;
    assert_true(part_next(&text, ',', &p) && part_is(p, "a"));
    assert_true(part_next(&text, ',', &p) && part_is(p, ""));
    assert_true(part_next(&text, ',', &p) && part_is(p, "b"));
    assert_false(part_next(&text, ',', &p));
    text = PART("  one\ttwo ");
    assert_true(part_word(&text, &p) && part_is(p, "one"));
    assert_true(part_word(&text, &p) && part_is(p, "two"));
    assert_false(part_word(&text, &p));
    int64_t number;
    assert_true(part_number(PART("9223372036854775807"), INT64_MAX, &number) &&
                number == INT64_MAX);
    assert_false(part_number(PART("9223372036854775808"), INT64_MAX, &number));
    assert_false(part_number(PART("11"), 10, &number));
    assert_false(part_number(PART("-1"), 10, &number));
    assert_false(part_number(PART(""), 10, &number));
    assert_string_equal(part_shown(&a,
                                   PART(" a\x01"
                                        "b\xff\n"),
                                   10),
                        "a?b?");
    assert_string_equal(part_shown(&a, PART("abcdef"), 3), "abc");
    assert_null(part_shown(&a, PART(" \n"), 3));
    assert_null(part_find((struct part){ NULL, 0 }, "x"));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "parts of texts", check_parts, NULL);
    return suite_run(&s, "parsers");
}
