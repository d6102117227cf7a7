"""The images of the operands, with programs that stand in for what is in NVIDIA's."""

import re
import shutil

import image
import names
from image import Image

PAUSE = "registry.example.com/pause:1"
JOB = "registry.example.com/gpu-job:1"
OLD, NEW, BAD = "580.178.04", "595.91.07", "999.1"
SYSTEM = "ubuntu24.04"
# The programs of each image in their places, and what it starts as. There is nothing else in it: no shell, no tool.
PROGRAMS = {
    "DRIVER": (("/usr/bin/nvidia-driver", "/usr/bin/nvidia-smi"), ["nvidia-driver"]),
    "TOOLKIT": (("/usr/bin/nvidia-toolkit",), ["nvidia-toolkit"]),
    "DEVICE_PLUGIN": (("/usr/bin/nvidia-device-plugin",), ["nvidia-device-plugin"]),
    "EXPORTER": (("/usr/bin/dcgm-exporter",), ["dcgm-exporter"]),
    "VALIDATION": (("/cuda-samples/sample",), ["/cuda-samples/sample"]),
}


def built_in():
    """operand -> (repository/image, version), as this tree has them."""
    text = (names.ROOT / "reconcilers/model/policy_builtins.h").read_text(encoding="utf-8")
    rows = re.findall(r'X\((\w+), "([^"]+)", "([^"]+)", "([^"]+)"\)', text)
    return {operand: (f"{repository}/{name}", version) for operand, repository, name, version in rows}


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
        """A layer in which the stand-in has these names."""
        folder = self._new(name)
        for path in paths:
            link = folder / path.lstrip("/")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to("/standin/standin")
        return image.layer_of_folder(folder)


def images(folder, standin):
    """All images but Ostler's own."""
    folder.mkdir()
    layers = Layers(folder, standin)
    made = []

    def add(name, layer, entry, **env):
        made.append(Image(name, (layers.program, layer), {
            "Entrypoint": entry, "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", *(f"{k}={v}" for k, v in env.items())]}))

    for operand, (name, version) in built_in().items():
        paths, entry = PROGRAMS[operand]
        layer = layers.links(operand, paths)
        if operand != "DRIVER":
            add(f"{name}:{version}", layer, entry)
            continue
        for driver in (OLD, NEW):
            add(f"{name}:{driver}-{SYSTEM}", layer, entry, DRIVER_VERSION=driver, STANDIN_SECONDS=3)
        add(f"{name}:{BAD}-{SYSTEM}", layer, entry, DRIVER_VERSION=BAD, STANDIN_SECONDS=1,
            STANDIN_FAILS="Could not resolve Linux kernel version")
    own = layers.links("own", ("/usr/bin/gpu-job", "/usr/bin/pause"))
    add(JOB, own, ["gpu-job"])
    add(PAUSE, own, ["pause"])
    return made
