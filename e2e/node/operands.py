"""The images of the operands, with programs that stand in for what is in NVIDIA's, or with
NVIDIA's own (rows.py)."""

import os
import pathlib
import re
import shutil
import subprocess

import image
import names
import runtimes
from image import Image

PAUSE = "registry.example.com/pause:1"
JOB = "registry.example.com/gpu-job:1"
OLD, NEW, BAD = "580.178.04", "595.91.07", "999.1"
SYSTEM = "ubuntu24.04"
NEW_TOOLKIT = "v1.20.1"  # the same programs under another version
# The programs of each image in their places, and what it starts as. There is nothing else in it: no
# shell, no tool.
PROGRAMS = {
    "DRIVER": (("/usr/bin/nvidia-driver", "/usr/bin/nvidia-smi"), ["nvidia-driver"]),
    "TOOLKIT": (("/usr/bin/nvidia-toolkit",), ["nvidia-toolkit"]),
    "DEVICE_PLUGIN": (("/usr/bin/nvidia-device-plugin",), ["nvidia-device-plugin"]),
    "EXPORTER": (("/usr/bin/dcgm-exporter",), ["dcgm-exporter"]),
    "VALIDATION": (("/cuda-samples/sample",), ["/cuda-samples/sample"]),
}


LIBRARIES = "usr/lib/x86_64-linux-gnu"
DRIVER_SOURCES = names.ROOT / "e2e/operands/driver"


def built_in():
    """operand -> (repository/image, version), as this tree has them."""
    text = (names.ROOT / "reconcilers/model/operand_rows.h").read_text(encoding="utf-8")
    rows = re.findall(r'OPERAND_IMAGE\(\s*(\w+),\s+"([^"]+)",\s+"([^"]+)",\s+"([^"]+)"\)', text)
    return {
        operand: (f"{repository}/{name}", version) for operand, repository, name, version in rows
    }


class Layers:
    """Makes layers in a folder: the stand-in, and its names."""

    def __init__(self, folder, standin):
        self._folder = folder
        program = self._new("standin")
        (program / "standin").mkdir()
        shutil.copy(standin, program / "standin/standin")
        self.program = image.layer_of_folder(program)

    def _new(self, name):
        folder = self._folder / name
        folder.mkdir()
        return folder

    def links(self, name, paths):
        """A layer in which the stand-in has these names. The links are relative: what is in a
        driver's root is mounted from there into other containers."""
        folder = self._new(name)
        for path in paths:
            link = folder / path.lstrip("/")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(os.path.relpath("/standin/standin", os.path.dirname(path)))
        return image.layer_of_folder(folder)

    def driver(self, version):
        """A layer with what NVIDIA's programs look for in a driver's root. The names of its
        libraries have its version."""
        folder = self._new(f"driver-{version}")
        libraries = folder / LIBRARIES
        libraries.mkdir(parents=True)
        computes = names.ROOT / "tests/cuda/libcuda.c"
        for name, sources in (
            ("libnvidia-ml.so", ("nvml.c", "nvml_mig.c")),
            ("libcuda.so", ("cuda.c", computes)),
        ):
            subprocess.run(
                [
                    "gcc",
                    "-D_GNU_SOURCE",
                    "-shared",
                    "-fPIC",
                    "-O1",
                    "-Wall",
                    "-Werror",
                    f"-Wl,-soname,{name}.1",
                    "-o",
                    libraries / f"{name}.{version}",
                    *(DRIVER_SOURCES / source for source in sources),
                ],
                check=True,
            )
            (libraries / f"{name}.1").symlink_to(f"{name}.{version}")
        return image.layer_of_folder(folder)

    def toolkit(self):
        """NVIDIA's toolkit, where its image has it: the programs of its packages in a root of
        their own, and the installer."""
        folder = self._new("toolkit")
        work, programs = folder / "work", runtimes.programs() / "toolkit"
        root = folder / "artifacts/deb"
        work.mkdir()
        (root / "usr/bin").mkdir(parents=True)
        (root / LIBRARIES).mkdir(parents=True)
        for program in programs.iterdir():
            shutil.copy(program, root / "usr/bin" / program.name)
        # The packages of libnvidia-container are no Go module. Nothing calls them as long as
        # devices come by CDI or jit-cdi.
        (root / "usr/bin/nvidia-container-cli").write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
        (root / "usr/bin/nvidia-container-cli").chmod(0o755)
        for name in ("libnvidia-container.so.1", "libnvidia-container-go.so.1"):
            (root / LIBRARIES / name).write_bytes(b"")
        shutil.copy(programs / "nvidia-ctk-installer", work / "nvidia-ctk-installer")
        (work / "nvidia-toolkit").symlink_to("nvidia-ctk-installer")
        self._libc(folder)
        return image.layer_of_folder(folder)

    def plugin(self):
        """NVIDIA's device plugin."""
        folder = self._new("plugin")
        (folder / "usr/bin").mkdir(parents=True)
        shutil.copy(runtimes.programs() / "plugin/nvidia-device-plugin", folder / "usr/bin")
        self._libc(folder)
        return image.layer_of_folder(folder)

    @staticmethod
    def _libc(folder):
        """The C library of this machine, which is what those programs are linked with."""
        for path in ("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"):
            place = folder / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(pathlib.Path(path).resolve(), place)


def images(folder, standin, row):
    """All images but Ostler's own."""
    folder.mkdir()
    layers = Layers(folder, standin)
    real = {"TOOLKIT": layers.toolkit, "DEVICE_PLUGIN": layers.plugin} if row.real else {}
    made = []

    def add(name, own, entry, path="/usr/sbin:/usr/bin:/sbin:/bin", **env):
        made.append(
            Image(
                name,
                (layers.program, *own),
                {
                    "Entrypoint": entry,
                    "WorkingDir": "/work" if "/work" in path else "/",
                    "Env": [f"PATH={path}", *(f"{k}={v}" for k, v in env.items())],
                },
            )
        )

    for operand, (name, version) in built_in().items():
        if operand == "GDRCOPY":
            continue  # no row asks for it, and NVIDIA's script in its image is not public
        paths, entry = PROGRAMS[operand]
        if operand == "VALIDATION" and "validation" not in row.policy:
            continue  # Ostler's own image proves that GPUs work, and no other is there
        if operand == "DRIVER":
            for driver, seconds, fails in (
                (OLD, 3, ""),
                (NEW, 3, ""),
                (BAD, 1, "Could not resolve Linux kernel version"),
            ):
                add(
                    f"{name}:{driver}-{SYSTEM}",
                    (layers.links(f"{operand}-{driver}", paths), layers.driver(driver)),
                    entry,
                    DRIVER_VERSION=driver,
                    STANDIN_SECONDS=seconds,
                    STANDIN_FAILS=fails,
                )
        elif operand == "TOOLKIT" and real:
            # The installer calls `chroot`; the stand-in is all that NVIDIA's busybox is needed for.
            own = (layers.links("busybox", ("/busybox/chroot",)), layers.toolkit())
            for tag in (version, NEW_TOOLKIT):
                add(
                    f"{name}:{tag}",
                    own,
                    ["nvidia-toolkit"],
                    "/work:/usr/sbin:/usr/bin:/sbin:/bin:/busybox",
                    NVIDIA_VISIBLE_DEVICES="void",
                )
        elif operand in real:
            add(
                f"{name}:{version}",
                (real[operand](),),
                entry,
                NVIDIA_VISIBLE_DEVICES="all",
                NVIDIA_DRIVER_CAPABILITIES="utility,compute",
            )
        else:
            add(f"{name}:{version}", (layers.links(operand, paths),), entry)
    own = layers.links("own", ("/usr/bin/gpu-job", "/usr/bin/pause"))
    add(JOB, (own,), ["gpu-job"])
    add(PAUSE, (own,), ["pause"])
    return made
