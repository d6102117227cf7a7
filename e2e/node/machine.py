"""A machine with GPUs that are not there, and a kubelet and a containerd that are: in namespaces
of its own, so that it can be switched off."""

import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import uuid

import names

HERE = pathlib.Path(__file__).resolve().parent
NAME = "gpu-node-1"
CGROUPS = pathlib.Path("/sys/fs/cgroup")
# Where sysfs has its GPUs: no folder that a real one has, since those are there, too.
BUS = "gpus"
CONTROLLERS = {"cpu", "cpuset", "memory", "pids"}
# Settings of the whole kernel that a kubelet writes; the machine has its own.
SYSCTLS = (
    "vm,overcommit_memory",
    "vm,panic_on_oom",
    "kernel,panic",
    "kernel,panic_on_oops",
    "kernel,keys,root_maxkeys",
    "kernel,keys,root_maxbytes",
)
OS_RELEASE = 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n'
KUBELET = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "kind": "KubeletConfiguration",
    "authentication": {
        "x509": {"clientCAFile": "/etc/kubernetes/client-ca.crt"},
        "anonymous": {"enabled": False},
    },
    "cgroupDriver": "cgroupfs",
    "failCgroupV1": False,
    "failSwapOn": False,
    "enforceNodeAllocatable": [],
    # What is here is here: no image can be pulled again, and a full disk is not what is tested.
    "imageGCHighThresholdPercent": 100,
    "evictionHard": {
        "memory.available": "1Mi",
        "nodefs.available": "0%",
        "imagefs.available": "0%",
    },
    "makeIPTablesUtilChains": False,
    "oomScoreAdj": 0,
    "nodeStatusUpdateFrequency": "2s",
    "healthzPort": 0,
}
KUBE_PROXY = {
    "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
    "kind": "KubeProxyConfiguration",
    "mode": "nftables",
    "oomScoreAdj": 0,
    "clientConnection": {"kubeconfig": "/etc/kubernetes/kube-proxy.conf"},
    "conntrack": {"maxPerCore": 0, "min": 0},
}
CNI = {
    "cniVersion": "0.4.0",
    "name": "pods",
    "plugins": [
        {
            "type": "bridge",
            "bridge": "cni0",
            "isDefaultGateway": True,
            "hairpinMode": True,
            "ipam": {
                "type": "host-local",
                "ranges": [[{"subnet": "10.244.0.0/24"}]],
                "dataDir": "/run/cni",
            },
        },
        {"type": "loopback"},
    ],
}


class Machine:
    """The machine: prepare() puts on its disk what it needs, on() starts it, off() is the loss
    of its power."""

    def __init__(self, folder, programs, standin, address, cgroup, runtime):
        """programs: a folder with kubelet and kube-proxy; cgroup: below which its pods are
        counted; runtime: one of runtimes.py."""
        self.folder = folder
        self.disk = folder / "disk"
        self._programs = programs
        self._standin = standin
        self._address = address
        self._cgroup = cgroup
        self.runtime = runtime
        self._process = None

    def prepare(self, gpus, kubelet_conf, proxy_conf, client_ca):
        """Makes its disk, with those kubeconfigs, and a bus with so many GPUs."""
        self._configure()
        kubernetes = self.disk / "etc/kubernetes"
        kubernetes.mkdir()
        kubelet = {
            **KUBELET,
            "cgroupRoot": f"/{self._cgroup}",
            "containerRuntimeEndpoint": f"unix://{self.runtime.socket}",
        }
        (kubernetes / "kubelet.yaml").write_text(json.dumps(kubelet), encoding="ascii")
        (kubernetes / "kube-proxy.yaml").write_text(json.dumps(KUBE_PROXY), encoding="ascii")
        for path, name in (
            (kubelet_conf, "kubelet.conf"),
            (proxy_conf, "kube-proxy.conf"),
            (client_ca, "client-ca.crt"),
        ):
            shutil.copy(path, kubernetes / name)
        (self.disk / "opt/bin").mkdir(parents=True)
        for program in (self._programs / "kubelet", self._programs / "kube-proxy", self._standin):
            shutil.copy(program, self.disk / "opt/bin" / program.name)
        packages = self.folder / "packages/bin"
        packages.mkdir(parents=True)
        for program in self.runtime.programs():
            shutil.copy(program, packages / program.name)
        for name, text in self.runtime.packaged().items():
            path = self.folder / "packages" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="ascii")
        # The first runc that is found.
        (self.disk / "opt/bin/runc").symlink_to("standin")
        (self.disk / "opt/bin/cat").symlink_to("standin")
        (packages / "systemctl").symlink_to("/opt/bin/standin")
        self._make_kernel(gpus)

    def _configure(self):
        texts = {
            "hostname": NAME + "\n",
            "hosts": f"127.0.0.1 localhost\n{self._address} {NAME}\n",
            "resolv.conf": "",
            "os-release": OS_RELEASE,
            "node-ip": self._address + "\n",
            "passwd": "root:x:0:0:root:/root:/bin/sh\n",
            "group": "root:x:0:\n",
            "cni/net.d/pods.conflist": json.dumps(CNI),
            "machine-id": uuid.uuid4().hex + "\n",
        }
        for name, text in (
            {f"etc/{n}": t for n, t in texts.items()} | self.runtime.files()
        ).items():
            path = self.disk / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="ascii")
        # The chart's own profiles, where a kubelet looks for them.
        shutil.copytree(
            names.CHART / "files/seccomp", self.disk / "var/lib/kubelet/seccomp/profiles"
        )
        for name in (
            "var/log/pods",
            "var/tmp",
            "usr-local",
            *(f"var/{own}" for own in self.runtime.own),
        ):
            (self.disk / name).mkdir(parents=True)
        (self.disk / "var/run").symlink_to("/run")

    def _make_kernel(self, gpus):
        kernel = self.folder / "kernel"
        for name in ("module/firmware_class/parameters", "pci", "sys-devices", "driver", "sysctl"):
            (kernel / name).mkdir(parents=True)
        (kernel / "module/firmware_class/parameters/path").write_text("\n", encoding="ascii")
        for name in SYSCTLS:
            path = pathlib.Path("/proc/sys", name.replace(",", "/"))
            if path.exists():
                (kernel / "sysctl" / name).write_text(
                    path.read_text(encoding="ascii"), encoding="ascii"
                )
        for i in range(gpus):
            device = self.gpu(i)
            (device / "power").mkdir(parents=True)
            # The bus has links to its devices.
            (kernel / "pci" / device.name).symlink_to(f"../../../devices/{BUS}/{device.name}")
            (device / "power/runtime_status").write_text("active\n", encoding="ascii")
            (device / "numa_node").write_text("0\n", encoding="ascii")
            (device / "config").write_bytes(bytes.fromhex("de103023") + bytes(60))
            (device / "vendor").write_text("0x10de\n", encoding="ascii")
            (device / "class").write_text("0x030200\n", encoding="ascii")
            (device / "uuid").write_text(
                f"GPU-{i}0000000-aaaa-4bbb-8ccc-0123456789ab\n", encoding="ascii"
            )
            (device / "reset").touch(mode=0o200)
        self._begin_kernel()

    def _begin_kernel(self):
        """A kernel that has just begun: no module of a driver, no card that has one, another
        boot id."""
        kernel = self.folder / "kernel"
        for old in [*(kernel / "module").glob("nvidia*"), *(kernel / "driver").iterdir()]:
            shutil.rmtree(old)
        for device in (kernel / "sys-devices" / BUS).iterdir():
            (device / "mig").unlink(missing_ok=True)  # an H100 forgets that it was divided
            (device / "uevent").write_text(
                f"PCI_CLASS=30200\nPCI_ID=10DE:2330\nPCI_SLOT_NAME={device.name}\n",
                encoding="ascii",
            )
        (kernel / "modules").write_text(
            "overlay 212992 31 - Live 0x0000000000000000\n", encoding="ascii"
        )
        (kernel / "devices").write_text("Character devices:\n  1 mem\n", encoding="ascii")
        (kernel / "boot_id").write_text(f"{uuid.uuid4()}\n", encoding="ascii")
        (kernel / "log").write_text("", encoding="ascii")
        self.log("Linux version 6.8.0-49-generic")

    def gpu(self, number):
        """The folder that sysfs has for a GPU."""
        return self.folder / "kernel/sys-devices" / BUS / f"0000:{0x19 + number:02x}:00.0"

    def log(self, text):
        """Its kernel writes a line into its log."""
        stamp = time.clock_gettime(time.CLOCK_MONOTONIC)
        with open(self.folder / "kernel/log", "a", encoding="ascii") as log:
            log.write(f"<4>[{stamp:12.6f}] {text}\n")

    @property
    def boot_id(self):
        """That of its last start."""
        return (self.folder / "kernel/boot_id").read_text(encoding="ascii").strip()

    @property
    def has_ended(self):
        """Whether its first process has ended by itself, for a reboot that was asked for."""
        return self._process.poll() is not None

    def on(self):
        """Starts it. Nothing waits for it."""
        self._begin_kernel()
        make_cgroups(self._cgroup)
        with open(self.folder / "boot.log", "ab") as log:
            self._process = subprocess.Popen(
                [
                    "unshare",
                    "--mount",
                    "--pid",
                    "--uts",
                    "--ipc",
                    "--fork",
                    "--kill-child",
                    "--",
                    HERE / "boot",
                    self.folder,
                    self.runtime.name,
                    *self.runtime.options,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def off(self):
        """Takes its power: every process of it is gone at once, and what was not on its disk."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._process = None
        remove_cgroups(self._cgroup)
        subprocess.run(["ip", "link", "delete", "cni0"], stderr=subprocess.DEVNULL, check=False)

    def files(self):
        """What is on its disk, but for what kubelet, runtime and their pods keep for themselves:
        folders end with a slash."""
        own = [
            self.disk / "var" / name
            for name in ("log", "lib/kubelet", *self.runtime.own, "lib/cni", "tmp")
        ]
        found = set()
        for folder, folders, files in os.walk(self.disk):
            here = pathlib.Path(folder)
            folders[:] = [n for n in folders if here / n not in own]
            found |= {str((here / n).relative_to(self.disk)) for n in files}
            found |= {f"{(here / n).relative_to(self.disk)}/" for n in folders}
        return found

    def run(self, *argv, **options):
        """Runs a program in the machine and returns what it prints."""
        (pid,) = (
            pathlib.Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
            .read_text(encoding="ascii")
            .split()
        )
        done = subprocess.run(
            [
                "nsenter",
                "--target",
                pid,
                "--mount",
                "--pid",
                "--uts",
                "--ipc",
                "--wd=/",
                "--",
                *map(str, argv),
            ],
            capture_output=True,
            text=True,
            check=False,
            **options,
        )
        if done.returncode:
            raise RuntimeError(f"{argv[0]}: {done.stderr.strip()}")
        return done.stdout

    def tail(self, name, lines=30):
        """The last words of a log of it."""
        path = self.folder / "boot.log" if name == "boot" else self.disk / "var/log" / f"{name}.log"
        if not path.exists():
            return ""
        return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def make_cgroups(name):
    """Folders of that name in each hierarchy, which a kubelet wants to find."""
    for folder in cgroup_folders(name):
        os.makedirs(folder, exist_ok=True)
        passed_on = folder.parent / "cgroup.subtree_control"
        if passed_on.exists() and folder.parent == CGROUPS:
            # Version 2: a group has the controllers that the one above passes on. What runs
            # containers has them all passed on.
            for missing in CONTROLLERS - set(passed_on.read_text(encoding="ascii").split()):
                passed_on.write_text(f"+{missing}", encoding="ascii")


def cgroup_folders(name):
    """Where cgroups of that name are: in each hierarchy of version 1, or in the one of version
    2."""
    if (CGROUPS / "cgroup.controllers").exists():
        return [CGROUPS / name]
    return [folder / name for folder in CGROUPS.iterdir() if (folder / "cgroup.procs").exists()]


def remove_cgroups(name):
    """Removes those folders again; their processes have ended, or will soon."""
    for top in cgroup_folders(name):
        for folder, _, _ in os.walk(top, topdown=False):
            for _ in range(50):
                try:
                    os.rmdir(folder)
                except FileNotFoundError:
                    pass  # one hierarchy may have several names
                except OSError as e:
                    if e.errno != errno.EBUSY:
                        raise
                    time.sleep(0.1)
                    continue
                break
