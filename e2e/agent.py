"""The agent of a node, as a process beside the world: with the token that its pod would have,
and a machine made of files."""

import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess
import time

import kube
from names import AGENT, OPERANDS

BOOT = "7c1e0a52-4d2c-4f5b-8d9a-6a2fb0a7b1c2"
ACCOUNT = "ostler-node"
FILES = {
    "etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\n',
    "proc/sys/kernel/osrelease": "6.8.0-49-generic\n",
    "proc/sys/kernel/random/boot_id": f"{BOOT}\n",
    "proc/modules": "overlay 212992 31 - Live 0x0000000000000000\n",
    "run/utmp": "",
    "usr/bin/true": "",
}


SOCKET = "run/containerd/containerd.sock"


def put(path, text):
    """A file with the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="ascii")


def make_machine(root, gpus, boot=BOOT):
    """A root folder with so many GPUs on its bus."""
    shutil.rmtree(root, ignore_errors=True)
    for path, text in FILES.items():
        put(root / path, text)
    put(root / "proc/sys/kernel/random/boot_id", f"{boot}\n")
    (root / SOCKET).parent.mkdir()
    os.mknod(root / SOCKET, stat.S_IFSOCK | 0o644)
    (root / "sys/bus/pci/devices").mkdir(parents=True)
    for number in range(gpus):
        add_gpu(root, number)


def gpu_folder(root, number):
    """Where sysfs has a GPU."""
    return root / f"sys/bus/pci/devices/0000:{number + 1:02x}:00.0"


def add_gpu(root, number):
    """One more GPU on the bus."""
    folder = gpu_folder(root, number)
    folder.mkdir()
    (folder / "uevent").write_text(
        f"PCI_CLASS=30200\nPCI_ID=10DE:2330\nPCI_SLOT_NAME={folder.name}\n", encoding="ascii"
    )
    (folder / "config").write_bytes(b"\xde\x10\x30\x23")
    (folder / "numa_node").write_text("0\n", encoding="ascii")


def let_reset(root, number):
    """The kernel offers to reset a GPU, which is where sysfs has devices: the bus has links to
    them. Returns the file that asks for it."""
    folder = gpu_folder(root, number)
    device = root / "sys/devices/pci0000:00" / folder.name
    device.parent.mkdir(parents=True, exist_ok=True)
    (root / "sys/module").mkdir(exist_ok=True)
    folder.rename(device)
    folder.symlink_to(f"../../../devices/pci0000:00/{folder.name}")
    file = device / "reset"
    file.write_text("", encoding="ascii")
    file.chmod(0o200)
    return file


def run_as_container(pod, root, view):
    """Runs Ostler's program as the pod's container would: with its arguments, without
    capabilities, and of the machine with no more than its volumes, of which those that it may
    only read are read-only. `view`: a folder to mount these in."""
    (container,) = pod["spec"]["containers"]
    program, host = container["command"]
    assert program == "/usr/bin/ostler-node" and host == "--root=/host", container["command"]
    volumes = {v["name"]: v["hostPath"]["path"] for v in pod["spec"]["volumes"]}
    view.mkdir(exist_ok=True)
    script = ["set -e", f"mount -t tmpfs none '{view}'"]
    for mount in container["volumeMounts"]:
        at = f"'{view}{mount['mountPath']}'"
        script += [f"mkdir -p {at}", f"mount --bind '{root}{volumes[mount['name']]}' {at}"]
        if mount.get("readOnly"):
            script.append(f"mount -o remount,bind,ro {at}")
    script.append('exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$@"')
    argv = [AGENT, f"--root={view}/host", *container["args"]]
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", "\n".join(script), "sh", *argv],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


class KernelLog:
    """A file that stands in for the kernel's log."""

    def __init__(self, file):
        self.file = file
        file.write_text("", encoding="ascii")
        self.add("Linux version 6.8.0-49-generic")

    def add(self, text):
        """The kernel writes a line."""
        stamp = time.clock_gettime(time.CLOCK_MONOTONIC)
        with open(self.file, "a", encoding="ascii") as log:
            log.write(f"<4>[{stamp:12.6f}] {text}\n")


def card_file(root, number):
    """Where the driver says what a GPU is."""
    return root / f"proc/driver/nvidia/gpus/{gpu_folder(root, number).name}/information"


def take_off(root, number):
    """A GPU is taken off the bus under its driver, which knows it still; the agent is told that
    something is new."""
    put(card_file(root, number), f"GPU UUID: GPU-{number}\nDevice Minor: {number}\n")
    shutil.rmtree(gpu_folder(root, number))
    tell(root)


def put_back(root, number):
    """It is on the bus again."""
    add_gpu(root, number)
    shutil.rmtree(card_file(root, number).parent)
    tell(root)


def tell(root):
    """A sign of news: a file in one of the folders that an agent watches. The kernel's own
    messages come to no test."""
    sign = root / "run/news"
    sign.unlink(missing_ok=True)
    sign.write_text("", encoding="ascii")


def pod(name, node):
    """A pod of the agent's account on a node, of which a token can be had."""
    made = kube.gpu_pod(name, node, namespace=OPERANDS)
    made["spec"]["serviceAccountName"] = ACCOUNT
    del made["spec"]["containers"][0]["resources"]
    return made


def kubeconfig(world, create, node):
    """A kubeconfig with the token that the agent's pod on this node would have; create() makes
    that pod."""
    return world.token_kubeconfig(
        OPERANDS, ACCOUNT, f"agent_{node}", create(pod(f"agent-{node}", node))
    )


def cpu_of_look(root, times=100):
    """Seconds of processor time of one look at a machine, with the start of a program, which an
    agent does not need for it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(times):
        subprocess.run([AGENT, "look", "--root", root], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / times


class Agent:
    """One process of build/ostler-node; its log goes to a file. In a with statement it is
    started and stopped. With a `gate`, a FIFO, its program begins when it has read a line
    there."""

    def __init__(self, node, root, config, log, gate=None, flags=()):
        wait = ["sh", "-c", 'read -r _ <"$0"; exec "$@"', str(gate)] if gate else []
        self._argv = [
            *wait,
            str(AGENT),
            "run",
            f"--node={node}",
            f"--root={root}",
            f"--kubeconfig={config}",
            "--log-format=text",
            "--log-level=debug",
            *flags,
        ]
        self.log = pathlib.Path(log)
        self._process = None

    def start(self):
        """Starts it."""
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *self._argv],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    def stop(self):
        """SIGTERM, and waits for the end."""
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(5) == 0, "the agent ends with 0 when it is told to"

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def said(self, text):
        """How often its log has this."""
        return self.log.read_text(encoding="utf-8").count(text)

    def cpu(self):
        """Seconds of processor time that it has had itself, without those of its looks, which
        are processes of their own."""
        return (
            int(
                pathlib.Path(f"/proc/{self._process.pid}/schedstat")
                .read_text(encoding="ascii")
                .split()[0]
            )
            / 1e9
        )

    def _memory(self, field):
        status = pathlib.Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        return int(re.search(rf"^{field}:\s+(\d+)", status, re.M)[1])

    def private(self):
        """KiB that are its own."""
        return self._memory("RssAnon")

    def begin_peak(self):
        """From now on its peak is that of what comes."""
        pathlib.Path(f"/proc/{self._process.pid}/clear_refs").write_text("5", encoding="ascii")

    def peak(self):
        """The most KiB that were its own since then: of all that was resident, but for the pages
        of files and those that it shares, which do not come and go."""
        return self._memory("VmHWM") - self._memory("RssFile") - self._memory("RssShmem")


class Cards(Agent):
    """One process of ostler-node cards, on a machine without a driver that could be asked."""

    def __init__(self, root, folder):
        super().__init__("", root, "", folder / "cards.log")
        self._argv = [
            str(AGENT),
            "cards",
            f"--root={root}",
            f"--to={folder / 'cards'}",
            "--log-format=text",
        ]
