"""A release of this tree, made once for all tests that look at it."""

import atexit
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/chart"))

import rendering  # noqa: E402, F401  the path above is what finds it; the tests take it from here

# What a publisher would say.
ADDRESSES = {
    "REGISTRY": "registry.test/gpu",
    "SOURCE": "https://git.test/ostler",
    "DOWNLOADS": "https://files.test/0",
    "BUILDER": "https://builder.test/1",
    "ARTIFACTHUB_ID": "9c7e8f7a-0b65-4f2b-b7cf-2e8a63d0a5a1",
}
HOST = subprocess.run(
    ["dpkg", "--print-architecture"], check=True, capture_output=True, text=True
).stdout.strip()
VERSION = re.search(
    r"^version: (\S+)$", (ROOT / "charts/ostler/Chart.yaml").read_text(), re.MULTILINE
)[1]
PROCESSORS = {
    folder: arch
    for folder, arch in (("static", HOST), ("static-arm64", "arm64"), ("static-amd64", "amd64"))
    if (ROOT / "build" / folder / "image").exists()
}


class Tree:
    """This tree with charts and changelog of its own, so that they can be changed."""

    def __init__(self, folder):
        self.folder = folder
        for entry in ROOT.iterdir():
            if entry.name not in ("build", "charts", "CHANGELOG.md", ".git"):
                (folder / entry.name).symlink_to(entry)
        shutil.copytree(ROOT / "charts", folder / "charts")
        before = "\n## 0.0.1\n\nThe one before.\n"
        (folder / "CHANGELOG.md").write_text(
            (ROOT / "CHANGELOG.md").read_text(encoding="utf-8") + before, encoding="utf-8"
        )
        (folder / "build").mkdir()
        for name in PROCESSORS:
            (folder / "build" / name).symlink_to(ROOT / "build" / name)

    def change(self, path, old, new):
        """Another text in a file."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{path} has no {old!r}"
        file.write_text(text.replace(old, new), encoding="utf-8")

    def release(self):
        """Runs it; what came of it."""
        return subprocess.run(
            [self.folder / "scripts/release"],
            env={**os.environ, **ADDRESSES},
            capture_output=True,
            text=True,
            check=False,
        )


@functools.cache
def made():
    """The release: its folder, and what scripts/release said."""
    folder = tempfile.mkdtemp(prefix="ostler-release-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    tree = Tree(pathlib.Path(folder))
    done = tree.release()
    if done.returncode:
        raise AssertionError(done.stderr)
    return types.SimpleNamespace(folder=tree.folder / done.stdout.strip(), told=done.stderr)
