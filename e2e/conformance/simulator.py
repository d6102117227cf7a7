"""build/ostler-sim as a process on a free port."""

import pathlib
import subprocess
import tempfile
import time

import names

# Machines for the nodes that stories make, which do what the stages of the real world's KWOK do.
SCENARIO = """
shapes:
  - {name: plain, cpus: 64, memoryMiB: 524288, pods: 110, boot: 1s}
others: plain
images:
  - {image: "*missing*", missing: true, message: not found}
programs:
  - {image: "*job*", run: 2s}
"""


class Simulator:
    """Use it as a context manager."""

    def __init__(self, *options, scenario=None):
        """With `scenario`, the text of one."""
        self._options = options
        self._scenario = scenario

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="ostler-conform-")
        folder = pathlib.Path(self._folder.name)
        self.kubeconfig, self.ostler = folder / "kubeconfig", folder / "ostler.kubeconfig"
        options = [
            *self._options,
            "--kubeconfig",
            self.kubeconfig,
            "--ostler-kubeconfig",
            self.ostler,
        ]
        if self._scenario:
            (folder / "scenario.yaml").write_text(self._scenario, encoding="utf-8")
            options += ["--scenario", folder / "scenario.yaml"]
        self._process = subprocess.Popen(
            [names.ROOT / "build" / "ostler-sim", *options], stdout=subprocess.DEVNULL
        )
        for _ in range(100):
            if self.kubeconfig.exists():
                return self
            time.sleep(0.05)
        raise RuntimeError("ostler-sim did not start")

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()
