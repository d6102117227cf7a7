"""What happens to the machine, from bare to bare: one story, each part of which begins where the
one before has ended."""

import contextlib
import pathlib
import shutil
import time
import traceback

import cluster
import image
import kube
import machine
import names
import operands
from chapters import CHAPTERS, OF_NVIDIA, OF_OPERANDS
from machine import Machine

GPUS = 2
COUNTS = "counts"  # the file that says how many chapters passed and how many failed
OSTLER_IMAGE = "docker.io/library/ostler:node-test"


class Stage:
    """What the chapters share: the control plane, the machine, a client, and a place for what
    one tells the next."""

    def __init__(self, folder, standin, archive, row):
        cluster.make_network()
        self.folder = folder
        self.cluster = cluster.Cluster(folder / "world")
        programs = self.cluster.tool("kubelet").parent
        self.machine = Machine(
            folder / "machine", programs, standin, cluster.ADDRESS, folder.name, row.runtime
        )
        self.row = row
        self._standin, self._archive = standin, archive
        self.client = None
        self.image = None  # Ostler's
        self.bare = set()  # the files of the machine before Ostler came
        self.bare_runtime = ()  # what the runtime made of its configuration then
        self.driver = operands.OLD  # the version that the policy wants and that works
        self.undo = []  # flags of helm: the next change of the policy takes something back

    def start(self):
        """Control plane, machine, images."""
        self.cluster.start()
        self.client = self.cluster.client()
        self.machine.folder.mkdir()
        node = f"system:node:{machine.NAME}"
        self.machine.prepare(
            GPUS,
            self.cluster.embedded_kubeconfig(node, ("system:nodes",)),
            self.cluster.embedded_kubeconfig("system:kube-proxy"),
            self.cluster.pki.crt("client-ca"),
        )
        ours = (
            image.saved(OSTLER_IMAGE, self._archive)
            if self._archive
            else image.product(OSTLER_IMAGE)
        )
        self.image = ours
        images = [ours, *operands.images(self.folder / "images", self._standin, self.row)]
        image.write_archive(self.machine.disk / "var/images.tar", images)
        self.machine.on()

        def imported():
            try:
                self.row.runtime.take_images(self.machine, "/var/images.tar")
                return True
            except (RuntimeError, ValueError) as e:
                return str(e)

        kube.wait_for(imported, 30, f"{self.row.runtime.name} has the images")
        cluster.node_ready(self.client, machine.NAME)
        self.bare = self.machine.files()
        self.bare_runtime = self.row.runtime.configuration(self.machine)
        self.client.create(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {
                    "name": names.NAMESPACE,
                    "labels": {"pod-security.kubernetes.io/enforce": "restricted"},
                },
            }
        )

    def stop(self):
        """Ends everything."""
        self.machine.off()
        self.cluster.stop()

    def figure(self, text):
        """Prints a figure."""
        print(f"     {text}", flush=True)

    def save_logs(self, logs):
        """Keeps what was said by everybody."""
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        with contextlib.suppress(OSError):
            shutil.copytree(self.machine.disk / "var/log", logs / "machine", symlinks=True)
            shutil.copytree(self.cluster.dir / "log", logs / "cluster")
            shutil.copy(self.cluster.dir / "audit.log", logs / "audit.log")
            shutil.copy(self.machine.folder / "boot.log", logs / "boot.log")
        for kind in ("Pod", "Node", "GpuNode", "GpuClusterPolicy", "Event", "DaemonSet"):
            with contextlib.suppress(Exception):
                (logs / f"{kind}.yaml").write_text(
                    self.cluster.kubectl("get", kind, "--all-namespaces", "--output=yaml"),
                    encoding="utf-8",
                )


def _tell(stage, chapter):
    """Whether a chapter ended well; says so."""
    began = time.monotonic()
    try:
        chapter(stage)
    except Exception as e:  # whatever it is, the world has to be taken down
        frames = [
            f
            for f in traceback.extract_tb(e.__traceback__)
            if pathlib.Path(f.filename).name == "chapters.py"
        ]
        where = f" ({frames[-1].name}:{frames[-1].lineno}: {frames[-1].line})" if frames else ""
        print(
            (
                f"FAIL {chapter.__name__} ({time.monotonic() - began:.1f} s)\n    "
                f" {type(e).__name__}: {e}{where}"
            ),
            flush=True,
        )
        if not isinstance(e, (AssertionError, kube.ApiError)):
            print("".join(traceback.format_tb(e.__traceback__)[-3:]), flush=True)
        return False
    print(f"ok   {chapter.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
    return True


def tell(folder, standin, logs, skipped, archive, row):
    """Tells the chapters and returns the exit status. After one that fails there is no next.
    `archive`: of Ostler's image, if it is not the one of build/static/image."""
    told = [c for c in OF_OPERANDS if row.real] or [c for c in CHAPTERS if c not in OF_NVIDIA]
    chapters = [c for c in told if c.__name__ not in skipped]
    began = time.monotonic()
    stage = Stage(folder, standin, archive, row)
    passed = 0
    try:
        stage.start()
        print(f"     the node is up after {time.monotonic() - began:.1f} s", flush=True)
        for chapter in chapters:
            if not _tell(stage, chapter):
                break
            passed += 1
    finally:
        stage.save_logs(logs)
        stage.stop()
    left = len(chapters) - passed
    if left > 1:
        print(f"     not tried: {', '.join(c.__name__ for c in chapters[passed + 1:])}")
    (folder / COUNTS).write_text(f"{passed} {left}", encoding="ascii")
    print(f"e2e-node: took {time.monotonic() - began:.0f} s, logs in {logs}", flush=True)
    return 1 if left else 0
