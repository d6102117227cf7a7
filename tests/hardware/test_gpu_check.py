#!/usr/bin/python3
"""gpu-check on a machine that is a folder, with libraries that stand in for a driver's
(e2e/operands/driver, tests/cuda), and with NVIDIA's own nvidia-ctk and device plugin. Needs
`make`, `make build/cuda-stand-in/libcuda.so.1`, e2e/operands/build and root, which makes
device files."""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/image"))
sys.dont_write_bytecode = True

import counted  # noqa: E402  nothing is written beside the tests

# As the CUDA library of tests/cuda has them.
UUIDS = ("GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f")
VERSION = "580.178.04"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
DEVICES = {
    "nvidiactl": (195, 255),
    "nvidia0": (195, 0),
    "nvidia1": (195, 1),
    "nvidia-uvm": (510, 0),
    "nvidia-uvm-tools": (510, 1),
}
SMI = "#!/bin/sh\nprintf '%s, 81559, 580.178.04\\n' " + " ".join(UUIDS) + "\n"
OPERANDS = pathlib.Path(
    subprocess.check_output([ROOT / "e2e/operands/build", "--where"], text=True).strip()
)
PROGRAMS = [
    ROOT / "tests/hardware/gpu-check",
    ROOT / "build/ostler-node",
    ROOT / "build/ostler-nvml",
    ROOT / "build/ostler-cuda",
    OPERANDS / "toolkit/nvidia-ctk",
    OPERANDS / "plugin/nvidia-device-plugin",
]
# What the stand-in for NVML has not, since the programs of e2e/operands do not ask for it: two
# errors, both corrected.
ECC = """#include "nvml.h"
int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *ret);
int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *ret)
{ (void) device, (void) counter; *ret = type == 0 ? 2 : UNCORRECTED; return SUCCESS; }
"""
# All checks of a machine that has two GPUs, and nothing wrong.
CHECKS = {
    "driver",
    "inventory",
    "health: bus",
    "nvml",
    "CUDA proof",
    "health: ECC",
    "nvidia-smi",
    "nvidia-ctk",
    "device plugin",
    "device files",
    "number of GPUs",
    "UUIDs",
    "memory in MiB",
    "driver version",
    "minor numbers",
}


def can_make_devices():
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.mknod(f"{folder}/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            return False
    return True


class Machine:
    """A folder in the place of a machine's root, and the package with what it is tried with."""

    def __init__(self, folder):
        self.root, self.package = folder / "root", folder / "package"
        self.package.mkdir()
        for program in PROGRAMS:
            shutil.copy(program, self.package)
        for number, uuid in enumerate(UUIDS):
            self.card(number, uuid)
        self.write("sys/module/nvidia/refcnt", "0\n")
        self.write("sys/module/nvidia/version", VERSION + "\n")
        self.write("proc/modules", "nvidia 1 0 - Live 0x0\n")
        self.write(
            "proc/driver/nvidia/version",
            f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {VERSION}  Release\n",
        )
        self.write("usr/bin/nvidia-smi", SMI).chmod(0o755)
        (self.root / "dev").mkdir()
        for name, (major, minor) in DEVICES.items():
            os.mknod(self.root / "dev" / name, 0o666 | stat.S_IFCHR, os.makedev(major, minor))
        self.libraries()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def card(self, number, uuid):
        address = f"0000:0{number + 1}:00.0"
        device = f"sys/bus/pci/devices/{address}"
        self.write(
            f"{device}/uevent",
            (
                "DRIVER=nvidia\nPCI_CLASS=30200\nPCI_ID=10DE:2330\nPCI_SUBSYS_ID=10DE:1626\n"
                f"PCI_SLOT_NAME={address}\n"
            ),
        )
        self.write(f"{device}/config", b"\xde\x10\x30\x23")
        self.write(f"{device}/uuid", uuid + "\n")
        self.write(
            f"proc/driver/nvidia/gpus/{address}/information",
            f"Model: \t\t NVIDIA H100 80GB HBM3\nGPU UUID: \t {uuid}\nDevice Minor: \t {number}\n",
        )

    def libraries(self, uncorrected=0):
        """The stand-in for NVML reads this folder in the place of the machine's sysfs."""
        folder = self.root / LIBRARIES
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        sources = self.root / "sources"
        sources.mkdir(exist_ok=True)
        for name in ("nvml.h", "nvml.c", "nvml_mig.c"):
            text = (
                (ROOT / "e2e/operands/driver" / name)
                .read_text()
                .replace('"/sys/', f'"{self.root}/sys/')
            )
            (sources / name).write_text(text)
        (sources / "ecc.c").write_text(ECC.replace("UNCORRECTED", str(uncorrected)))
        subprocess.run(
            [
                "gcc",
                "-D_GNU_SOURCE",
                "-shared",
                "-fPIC",
                "-Wl,-soname,libnvidia-ml.so.1",
                "-o",
                folder / f"libnvidia-ml.so.{VERSION}",
                *sources.glob("*.c"),
            ],
            check=True,
        )
        shutil.copy(ROOT / "build/cuda-stand-in/libcuda.so.1", folder / f"libcuda.so.{VERSION}")
        for name in ("libnvidia-ml.so", "libcuda.so"):
            (folder / f"{name}.1").symlink_to(f"{name}.{VERSION}")

    def check(self):
        """The exit status, and each check with its result and words."""
        done = subprocess.run(
            [self.package / "gpu-check", "--root", self.root],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        lines = re.findall(r"^(PASS|FAIL|NOT TRIED) +(\S.{21}) (.*)$", done.stdout, re.M)
        return (
            done.returncode,
            {name.strip(): (result, words) for result, name, words in lines},
            done.stdout,
        )


@unittest.skipUnless(can_make_devices(), "only root makes device files")
@unittest.skipUnless(
    all(p.exists() for p in PROGRAMS[4:]), "NVIDIA's programs are missing: e2e/operands/build"
)
class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpu-check-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.machine = Machine(self.folder)

    def expect(self, status, others=None):
        """The exit status, and which checks have another result than PASS, by what their words
        have."""
        got, checks, text = self.machine.check()
        wanted = others or {}
        self.assertEqual(
            {name: result for name, (result, _) in checks.items() if result != "PASS"},
            {name: result for name, (result, _) in wanted.items()},
            text,
        )
        for name, (_, words) in wanted.items():
            self.assertIn(words, checks[name][1], text)
        self.assertEqual(got, status, text)
        return checks, text

    def test_all_programs_agree_on_a_sound_machine(self):
        """And nothing is left on it."""
        before = set(os.listdir("/var/run"))
        checks, text = self.expect(0)
        self.assertEqual(set(checks), CHECKS, text)
        self.assertIn(
            "cuda, device-plugin, inventory, nvidia-ctk, nvidia-smi, nvml agree", checks["UUIDs"][1]
        )
        self.assertIn(f"proven {UUIDS[1]}", text)
        self.assertEqual(set(os.listdir("/var/run")), before)

    def test_each_fault_fails_its_own_check(self):
        """A program that sees another GPU is named; the library has another version than the
        module; a device file is missing; a card has fallen off the bus; memory has errors that
        could not be corrected."""
        self.machine.write("usr/bin/nvidia-smi", SMI.replace(UUIDS[1], "GPU-other"))
        self.machine.write(
            "proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.1.1  Tue\n",
        )
        (self.machine.root / "dev/nvidia-uvm-tools").unlink()
        self.machine.write("sys/bus/pci/devices/0000:02:00.0/config", b"\xff\xff\xff\xff")
        self.machine.libraries(uncorrected=1)
        self.expect(
            1,
            others={
                "UUIDs": ("FAIL", "nvidia-smi says"),
                "memory in MiB": ("FAIL", "nvidia-smi"),
                "driver version": ("FAIL", "570.1.1"),
                "device files": ("FAIL", "missing below"),
                "health: bus": ("FAIL", "1 of 2 GPUs answer"),
                "health: ECC": ("FAIL", UUIDS[0]),
            },
        )

    def test_a_gpu_that_does_not_compute(self):
        """Its library is one without functions, which the loader takes."""
        library = self.machine.root / LIBRARIES / f"libcuda.so.{VERSION}"
        shutil.copy(ROOT / "build/release/cuda/libcuda.so.1", library)
        _, text = self.expect(
            1,
            others={
                "CUDA proof": ("FAIL", "lacks functions"),
                "health: ECC": ("NOT TRIED", "no ECC"),
            },
        )
        self.assertIn(
            "device-plugin, inventory, nvidia-ctk, nvidia-smi, nvml agree",
            text.replace("UUIDs                  ", ""),
        )

    def test_programs_that_are_not_there_are_not_tried(self):
        for name in ("nvidia-ctk", "nvidia-device-plugin"):
            (self.machine.package / name).unlink()
        (self.machine.root / "usr/bin/nvidia-smi").unlink()
        self.expect(
            0,
            others={
                "nvidia-ctk": ("NOT TRIED", "not in this package"),
                "device plugin": ("NOT TRIED", "not in this package"),
                "nvidia-smi": ("NOT TRIED", "is missing"),
                "minor numbers": ("NOT TRIED", "fewer than two"),
            },
        )

    def test_a_machine_without_a_driver(self):
        (self.machine.root / "proc/driver/nvidia/version").unlink()
        self.expect(2, others={"everything": ("NOT TRIED", "no NVIDIA driver is loaded")})

    def test_it_is_one_file(self):
        file = self.folder / "gpu-check.run"
        subprocess.run(
            [ROOT / "scripts/pack-gpu-check", self.folder / "gathered", file, *PROGRAMS], check=True
        )
        done = subprocess.run(
            [file, "--root", self.machine.root],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(
            (done.returncode, "FAIL" in done.stdout, "NOT TRIED" in done.stdout),
            (0, False, False),
            done.stdout,
        )


if __name__ == "__main__":
    sys.exit(counted.run("gpu-check"))
