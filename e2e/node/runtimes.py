"""The container runtimes that the machine can have: what each needs on its disk, how images get
to it, and what it says of its configuration."""

import dataclasses
import json
import pathlib
import subprocess
import tarfile

BUILD = pathlib.Path(__file__).resolve().parents[1] / "operands/build"


def programs(*what):
    """A folder of programs that e2e/operands/build makes: NVIDIA's and containerd's, or those of
    another name that it knows. They are built where they are not there."""
    done = subprocess.run([BUILD, *what], check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(done.stdout.strip())


@dataclasses.dataclass(frozen=True)
class Containerd:
    """containerd. `group`: a folder of e2e/operands/build, "" for Debian's program. `text`: its
    configuration."""

    group: str
    text: str
    name = "containerd"
    socket = "/run/containerd/containerd.sock"
    drop_in = "etc/containerd/conf.d/99-nvidia.toml"
    stays = ("etc/containerd/conf.d/",)  # of what the toolkit has made, after an uninstall
    own = ("lib/containerd",)  # below var, which it keeps for itself
    needs = ()  # programs of this machine
    options = ()  # that it is started with

    def programs(self):
        """Those that the machine has instead of Debian's."""
        return sorted((programs() / self.group).iterdir()) if self.group else []

    def files(self):
        """path -> text of what it is configured with."""
        return {"etc/containerd/config.toml": self.text}

    @staticmethod
    def packaged():
        """path below /usr -> text of what packages have configured it with."""
        return {}

    @staticmethod
    def take_images(machine, archive):
        """Has it take the images of an archive, whose path is the machine's."""
        machine.run("ctr", "--namespace", "k8s.io", "images", "import", archive)

    @staticmethod
    def configuration(machine):
        """The bytes of its configuration, and what it makes of them."""
        return (machine.disk / "etc/containerd/config.toml").read_bytes(), machine.run(
            "containerd", "config", "dump"
        )


@dataclasses.dataclass(frozen=True)
class ContainerdOfUsr(Containerd):
    """containerd that reads a file in a read-only /usr, which imports drop-ins, as
    Flatcar has it (flatcar/scripts 1987234)."""

    options = ("--config", "/usr/share/containerd/config.toml")
    stays = ("etc/containerd/", "etc/containerd/conf.d/")

    @staticmethod
    def files():
        """None on its disk."""
        return {}

    def packaged(self):
        """Its one file."""
        return {
            "share/containerd/config.toml": (
                'imports = ["/etc/containerd/conf.d/*.toml"]\n' + self.text
            )
        }

    def configuration(self, machine):
        """What it makes of its configuration, whose file cannot be changed."""
        return machine.run("containerd", *self.options, "config", "dump")


# In the file in which packages leave theirs (contrib of CRI-O), and no crio.conf. It says what this
# machine has not: crun, systemd, and images that can be pulled.
CRIO = """\
[crio.image]
pause_image = "registry.example.com/pause:1"
pause_command = "/usr/bin/pause"

[crio.network]
plugin_dirs = ["/usr/lib/cni"]

[crio.runtime]
cgroup_manager = "cgroupfs"
conmon_cgroup = "pod"
default_runtime = "runc"

[crio.runtime.runtimes.runc]
runtime_path = "/opt/bin/runc"
monitor_path = "/usr/bin/conmon"
"""


class Crio:
    """CRI-O, with Debian's conmon and runc."""

    name = "crio"
    socket = "/var/run/crio/crio.sock"
    drop_in = "etc/crio/crio.conf.d/99-nvidia.conf"
    stays = ()
    own = ("lib/containers", "lib/crio")
    needs = ("conmon",)
    options = ()

    @staticmethod
    def packaged():
        """None: its files are in etc."""
        return {}

    @staticmethod
    def programs():
        """Those that no package of Debian's has."""
        return sorted((programs("crio") / "crio").iterdir())

    @staticmethod
    def files():
        """path -> text of what it is configured with."""
        return {
            "etc/crio/crio.conf.d/10-crio.conf": CRIO,
            "etc/containers/policy.json": json.dumps(
                {"default": [{"type": "insecureAcceptAnything"}]}
            ),
        }

    @staticmethod
    def take_images(machine, archive):
        """Has it take the images of an archive, whose path is the machine's."""
        machine.run(
            "crio", "status", "info"
        )  # at its first start it throws away all images that it finds
        with tarfile.open(machine.disk / archive.lstrip("/")) as tar:
            images = json.load(tar.extractfile("manifest.json"))
        for name in (name for image in images for name in image["RepoTags"]):
            machine.run(
                "copyimg",
                "--root=/var/lib/containers/storage",
                "--runroot=/run/containers/storage",
                "--storage-driver=overlay",
                "--signature-policy=/etc/containers/policy.json",
                f"--image-name={name}",
                f"--import-from=docker-archive:{archive}:{name}",
            )

    @staticmethod
    def configuration(machine):
        """The bytes of all files of its configuration, and what it makes of them."""
        folder = machine.disk / "etc/crio"
        files = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
        return files, machine.run("crio", "status", "config")
