#!/usr/bin/python3
"""What scripts/release puts together, from the programs that `make image-root` has made: that it
is whole, and that versions that do not fit make none; and what scripts/newest-parts says of a
bill of parts. Prints "release: N passed, N failed".

    tests/image/test_release.py      after `make image-root`; half a minute
"""

import importlib.machinery
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True

import counted  # noqa: E402  nothing is written beside the tests
import published  # noqa: E402
from release_tree import ADDRESSES, PROCESSORS, ROOT, VERSION, Tree, made, rendering  # noqa: E402

# counted runs what is named here.
globals().update({one.__name__: one for one in published.Made.__subclasses__()})


def newest_parts(test, bill):
    """Holds a bill against the server of Debian: exit status and what is said. Without a way
    there the test is skipped."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(bill)
        file.flush()
        done = subprocess.run(
            [ROOT / "scripts/newest-parts", file.name], capture_output=True, text=True, check=False
        )
    if re.search("apt cannot fetch|apt does not look at", done.stderr):
        test.skipTest("there is no way from here to Debian's server, for scripts/newest-parts")
    return done.returncode, done.stdout + done.stderr


# What an archive has beside the image's files.
BESIDE_IMAGE = {
    f"usr/share/man/man1/{name}.1" for name in ("ostler", "ostler-node", "kubectl-gpu")
} | {
    f"usr/share/doc/ostler/{name}"
    for name in ("kubectl-gpu-rbac.yaml", "gpuclusterpolicy.lua", "gpunode.lua")
}


class Release(unittest.TestCase):
    """One release of this tree."""

    @classmethod
    def setUpClass(cls):
        cls.made, cls.told = made().folder, made().told

    def test_it_has_these_files_and_their_sums(self):
        of_programs = {
            f"{name}-{arch}.{end}"
            for arch in PROCESSORS.values()
            for name, end in (
                (f"ostler-{VERSION}-linux", "tar.gz"),
                (f"ostler-{VERSION}-linux", "cdx.json"),
                (f"kubectl-gpu-{VERSION}-linux", "tar.gz"),
            )
        }
        files = {
            f"ostler-{VERSION}.tgz",
            f"ostler-crds-{VERSION}.tgz",
            f"ostler-{VERSION}-image.tar",
            f"kubectl-gpu-{VERSION}-darwin.tar.gz",
            "crds.yaml",
            "install.yaml",
            "gpu.yaml",
            "notes.md",
            "provenance.intoto.json",
            *of_programs,
        }
        self.assertEqual({f.name for f in self.made.iterdir()}, files | {"SHA256SUMS", "oci"})
        subprocess.run(
            ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=self.made, check=True
        )
        summed = {line[66:] for line in (self.made / "SHA256SUMS").read_text().splitlines()}
        every = {str(f.relative_to(self.made)) for f in self.made.rglob("*") if f.is_file()}
        self.assertEqual(summed, every - {"SHA256SUMS"})

    def test_the_charts_render_as_those_of_the_tree(self):
        for chart in (rendering.CHART, rendering.CRD_CHART):
            package = self.made / f"{chart.name}-{VERSION}.tgz"
            image = f"image.repository={ADDRESSES['REGISTRY']}/ostler"
            own = ["--set", image] if chart == rendering.CHART else []
            loose = rendering.template("--include-crds", *own, chart=chart)
            self.assertEqual(rendering.template("--include-crds", chart=package), loose)

    def test_the_definitions_are_all_there(self):
        texts = [
            path.read_text(encoding="utf-8")
            for path in (self.made / "crds.yaml", *sorted((ROOT / "crds").glob("*.yaml")))
        ]
        packed, *loose = map(rendering.read, texts)
        self.assertEqual(packed, [an_object for text in loose for an_object in text])

    def test_the_programs_are_those_of_the_image_with_licences_and_bill(self):
        for folder, arch in PROCESSORS.items():
            name, image = f"ostler-{VERSION}-linux-{arch}", ROOT / "build" / folder / "image"
            with tarfile.open(self.made / f"{name}.tar.gz") as archive:
                inside = {m.name: m for m in archive if not m.isdir()}
                files = [f for f in (image / "usr").rglob("*") if not f.is_dir()]
                of_image = {str(f.relative_to(image)) for f in files}
                self.assertEqual(set(inside), of_image | BESIDE_IMAGE)
                self.assertEqual(
                    archive.extractfile("usr/bin/ostler").read(),
                    (image / "usr/bin/ostler").read_bytes(),
                )
                self.assertEqual(inside["usr/bin/ostler"].mode, 0o755)
                self.assertEqual(
                    archive.extractfile("usr/share/doc/ostler/sbom.cdx.json").read(),
                    (self.made / f"{name}.cdx.json").read_bytes(),
                )
            self.assertIn(
                {"name": "ostler:architecture", "value": arch},
                json.loads((self.made / f"{name}.cdx.json").read_text())["metadata"]["component"][
                    "properties"
                ],
            )

    def test_the_notes_are_of_this_version_alone(self):
        notes = (self.made / "notes.md").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^## (\S+)", notes, re.MULTILINE), [VERSION])
        self.assertIn("### To do", notes)

    def test_it_says_which_parts_are_behind(self):
        for arch in PROCESSORS.values():
            bill = self.made / f"ostler-{VERSION}-linux-{arch}.cdx.json"
            status, said = newest_parts(self, bill.read_text())
            self.assertIn(said.splitlines()[0], self.told)
            self.assertEqual(
                f"{bill.name}: build it again with the parts" in self.told, status == 1, self.told
            )

    def test_it_says_when_it_is_only_a_try(self):
        bill = json.loads(
            (ROOT / "build/static/image/usr/share/doc/ostler/sbom.cdx.json").read_text()
        )
        own = bill["metadata"]["component"]["version"]
        self.assertEqual("only a try: the programs are" in self.told, own != VERSION, self.told)
        of_13 = any(
            part.get("purl", "").endswith("distro=debian-13") for part in bill["components"]
        )
        self.assertEqual(
            " has parts of another system than Debian 13" in self.told, not of_13, self.told
        )

    def test_versions_that_do_not_fit_make_none(self):
        charts = [
            (
                f"charts/{chart}/Chart.yaml",
                f"{key}: {VERSION}",
                f"{key}: 9.9.9",
                f"{chart}/Chart.yaml: {key} is 9.9.9",
            )
            for chart, key in (("ostler-crds", "version"), ("ostler", "appVersion"))
        ]
        notes = (
            "CHANGELOG.md",
            f"## {VERSION}",
            f"## {VERSION}1",
            f"CHANGELOG.md has no section {VERSION}",
        )
        for path, old, new, says in (*charts, notes):
            with self.subTest(path), tempfile.TemporaryDirectory(
                prefix="ostler-release-"
            ) as folder:
                tree = Tree(pathlib.Path(folder))
                tree.change(path, old, new)
                done = tree.release()
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertIn(says, done.stderr)
                self.assertFalse((tree.folder / "build" / f"release-{VERSION}").exists())


class Places(unittest.TestCase):
    """Where scripts/newest-parts looks, of what a machine's apt is told."""

    script = importlib.machinery.SourceFileLoader(
        "newest_parts", str(ROOT / "scripts/newest-parts")
    ).load_module()

    def of(self, **files):
        """The lines by suite, on a machine of bookworm with these files, for trixie."""
        with tempfile.TemporaryDirectory(prefix="ostler-apt-") as folder:
            (pathlib.Path(folder) / "sources.list.d").mkdir()
            for name, text in files.items():
                (pathlib.Path(folder) / "sources.list.d" / name.replace("_", ".")).write_text(text)
            return self.script.places(pathlib.Path(folder), "bookworm", "trixie")

    def test_both_forms_are_read(self):
        lines = (
            "deb http://a/debian bookworm main contrib\ndeb [signed-by=/k] http://s"
            " bookworm-security main\n# deb http://no bookworm main\n"
        )
        stanzas = (
            "Types: deb\nURIs: http://a/debian\nSuites:\n bookworm\nEnabled: true\nComponents:"
            " main\n\nTypes: deb deb-src\nURIs: http://s\nSuites: bookworm-security\nComponents:"
            " main\nSigned-By: /k\n"
        )
        expected = {
            "trixie": ["deb-src http://a/debian trixie main"],
            "trixie-security": ["deb-src [signed-by=/k] http://s trixie-security main"],
        }
        self.assertEqual(self.of(a_list=lines), expected)
        self.assertEqual(self.of(a_sources=stanzas), expected)

    def test_others_have_no_part_and_take_none_away(self):
        docker = "Types: deb\nURIs: https://docker\nSuites: bookworm\nComponents: stable\n"
        off = "Enabled: no\nTypes: deb\nURIs: http://off\nSuites: bookworm\nComponents: main\n"
        lines = (
            "deb http://a bookworm main\ndeb http://a bookworm-backports main\ndeb http://b"
            " bookworm contrib main\n"
        )
        self.assertEqual(
            self.of(a_list=lines, docker_sources=docker, z_sources=off),
            {"trixie": ["deb-src http://a trixie main", "deb-src http://b trixie main"]},
        )

    def test_lists_of_others_are_removed(self):
        with tempfile.TemporaryDirectory(prefix="ostler-apt-") as folder:
            lists = pathlib.Path(folder)
            for host, origin, suite in (
                ("a", "Debian", "trixie"),
                ("b", "Other", "trixie"),
                ("c", "Debian", "trixie-security"),
            ):
                (lists / f"{host}_dists_{suite}_InRelease").write_text(
                    f"Origin: {origin}\nCodename: {suite}\n"
                )
                (lists / f"{host}_dists_{suite}_main_source_Sources").touch()
            # One whose list did not come.
            (lists / "d_dists_trixie-updates_InRelease").write_text(
                "Origin: Debian\nCodename: trixie-updates\n"
            )
            self.assertEqual(self.script.keep_debians(lists), {"trixie", "trixie-security"})
            self.assertEqual(
                {file.name for file in lists.glob("*Sources")},
                {
                    "a_dists_trixie_main_source_Sources",
                    "c_dists_trixie-security_main_source_Sources",
                },
            )


class NewestParts(unittest.TestCase):
    """scripts/newest-parts holds a bill against the server of Debian."""

    def of(self, *parts, distro="debian-13"):
        """A bill with those parts, of which each is a name and a version."""
        return json.dumps(
            {
                "components": [
                    {
                        "name": name,
                        "version": version,
                        "purl": f"pkg:deb/debian/{name}@{version}?arch=source&distro={distro}",
                    }
                    for name, version in parts
                ]
            }
        )

    def test_a_part_that_is_behind_is_named(self):
        status, said = newest_parts(self, self.of(("jansson", "2.13-1"), ("libyaml", "9999")))
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"(?m)^jansson +2\.13-1 +2\.14\S*  BEHIND$")
        self.assertRegex(said, r"(?m)^libyaml +9999 +0\.\S+$")
        self.assertIn("2 parts, 1 behind", said)

    def test_parts_as_new_as_debian_has_them_pass(self):
        status, said = newest_parts(
            self, self.of(("jansson", "9999"), ("openssl", "9999"), distro="debian-12")
        )
        self.assertEqual(status, 0, said)
        self.assertIn("2 parts, 0 behind", said)

    def test_what_cannot_be_held_against_anything_is_no_pass(self):
        for bill, says in (
            ("no JSON", "is no bill of parts"),
            ('{"components": []}', "its parts are of Debian (none)"),
            ("[]", "is no bill of parts"),
            (self.of(("jansson", "2.14-2"), distro="debian-11"), "its parts are of Debian 11"),
            (self.of(("no-such-source", "1")), "Debian has no source package no-such-source"),
            (self.of(("-o", "1")), "Debian has no source package -o"),
        ):
            with self.subTest(says):
                status, said = newest_parts(self, bill)
                self.assertEqual(status, 2, said)
                self.assertIn(says, said)


if __name__ == "__main__":
    sys.exit(counted.run("release"))
