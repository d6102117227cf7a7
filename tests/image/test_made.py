#!/usr/bin/python3
"""What `make image-root` makes, as it lies there: the names of the one program, how hardened it
is, the files of the image, and what the bill of its parts says. Of programs for another
processor, too, where they have been made (`make image-root ARCH=arm64`). Prints "made: N
passed, N failed".

    tests/image/test_made.py             after `make image-root build/ostler`
    tests/image/test_made.py --full      builds all of it a second time, libcurl and OpenSSL, too
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True

import counted  # noqa: E402  nothing is written beside the tests

SIZE_MAX = 12_000_000
NAMES = {
    "ostler-node": "ostler-node",
    "ostler-sim": "ostler-sim",
    "kubectl-gpu": "kubectl-gpu",
    "kubectl_complete-gpu": None,
}
PROGRAMS = ("ostler", "ostler-nvml", "ostler-cuda")
# What loads ostler-cuda there, and what the libraries of a driver ask for (readelf -d
# libcuda.so.1).
LOADERS = {"amd64": "ld-linux-x86-64.so.2", "arm64": "ld-linux-aarch64.so.1"}
ASKED = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1")
# What has to be in it whoever links it.
# The end of a line of build/libraries/ARCH/versions, where nothing was built.
AS_DEBIAN = " as Debian has built it"
PARTS = {"curl", "openssl", "libwebsockets", "jansson", "libyaml", "zlib", "glibc", "tzdata"}
# The sources of what is compiled here; what the compiler leaves in an object of what it was told.
SOURCES = (
    "main",
    "kubectl",
    "node",
    "lib",
    "commands",
    "controller",
    "reconcilers",
    "sim",
)
TOLD = {"-O2", "-fPIE", "-fstack-protector-strong", "-fstack-clash-protection"}
# What becomes of calls of the C library where it looks after itself; and, of those, what is left in
# no object.
GUARDS = {
    "lib/base/buf.o": "__vsnprintf_chk",
    "lib/base/mem.o": "__vasprintf_chk",
    "lib/base/clock.o": "__snprintf_chk",
    "node/operand/program.o": "__stack_chk_fail",
}
UNGUARDED = {
    "printf",
    "fprintf",
    "vprintf",
    "vfprintf",
    "sprintf",
    "vsprintf",
    "vsnprintf",
    "asprintf",
    "vasprintf",
}
MARKS = {"amd64": {"IBT", "SHSTK"}, "arm64": {"BTI", "PAC"}}
POLICY = {
    "apiVersion": "ostler.dev/v1alpha1",
    "kind": "GpuClusterPolicy",
    "metadata": {"name": "default"},
    "spec": {"driver": {"version": "570.124.06"}},
}


def output(*command, **more):
    """What a command prints."""
    return subprocess.run(
        [*map(str, command)], check=True, capture_output=True, text=True, **more
    ).stdout


HOST = output("dpkg", "--print-architecture").strip()


def digest(path):
    """The sum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def marks(path):
    """The marks of the processor's checks in a file's notes."""
    return set(re.findall(r"\b(IBT|SHSTK|BTI|PAC)\b", output("readelf", "-nW", path)))


class Made(unittest.TestCase):
    """The files for this machine."""

    arch = HOST
    folder = ROOT / "build/static"  # the finished programs
    objects = ROOT / "build/release"  # what they are linked from

    @classmethod
    def setUpClass(cls):
        if not (cls.folder / "image").exists():
            raise unittest.SkipTest(
                f"make image-root ARCH={cls.arch} was not run, which needs scripts/deps static"
                f" {cls.arch}"
            )

    def command(self, program="ostler", *arguments):
        """A command line that runs it here."""
        path = self.folder / "image/usr/bin" / program
        if self.arch == HOST:
            return [path, *arguments]
        emulator = shutil.which(
            {"arm64": "qemu-aarch64-static", "amd64": "qemu-x86_64-static"}[self.arch]
        )
        if not emulator:
            self.skipTest(
                f"nothing runs programs of {self.arch} here: apt-get install qemu-user-static"
            )
        return [emulator, "-0", path, path, *arguments]

    def test_it_loads_nothing(self):
        program = self.folder / "ostler"
        self.assertNotIn("INTERP", output("readelf", "-lW", program))
        self.assertNotIn("NEEDED", output("readelf", "-dW", program))

    def test_what_asks_a_driver_needs_only_what_all_roots_of_drivers_have(self):
        for name, libraries in {
            "ostler-nvml": ["libnvidia-ml.so.1"],
            "ostler-cuda": ["libcuda.so.1", "libdl.so.2"],
        }.items():
            program = self.folder / name
            needed = re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-dW", program))
            self.assertEqual(sorted(needed), ["libc.so.6", *libraries])
            # The oldest version that there is, on amd64 and on arm64; clock_gettime() is of 2.17.
            versions = set(re.findall(r"GLIBC_[\w.]+", output("readelf", "-VW", program)))
            self.assertLessEqual(versions, {"GLIBC_2.2.5", "GLIBC_2.17"})

    def test_it_is_hardened(self):
        for name in PROGRAMS:
            path = self.folder / name
            self.assertIn(
                "DYN (",
                output("readelf", "-hW", path),
                "its place in memory is another in each run",
            )
            dynamic, segments, sections = (
                output("readelf", option, path) for option in ("-dW", "-lW", "-SW")
            )
            self.assertRegex(dynamic, r"FLAGS_1.*NOW.*PIE")
            self.assertNotRegex(dynamic, r"\((RPATH|RUNPATH|TEXTREL)\)")
            self.assertIn("GNU_RELRO", segments)
            self.assertRegex(segments, r"GNU_STACK.* RW ")
            self.assertNotRegex(segments, r"LOAD.* RWE ")
            self.assertNotRegex(sections, r"\.(symtab|debug_\w+)\b", "it is not stripped")

    def compiled(self):
        """The objects that are compiled here."""
        sources = [path for folder in SOURCES for path in (ROOT / folder).rglob("*.c")]
        built = [
            path
            for path in (self.objects / s.relative_to(ROOT).with_suffix(".o") for s in sources)
            if path.exists()
        ]
        self.assertGreater(len(built), 200)
        return built

    def calls(self, *files):
        """What other objects have to bring, by the object that needs it."""
        lines = output("nm", "-A", "--undefined-only", *files).splitlines()
        return [(line.split(": ")[0], line.split()[-1]) for line in lines if line]

    def test_overflows_are_caught(self):
        """In all that is compiled here: the program as a whole has every guard, since Debian's
        archives bring them."""
        for path in self.compiled():
            told = re.search(
                r"DW_AT_producer.*", output("readelf", "--debug-dump=info", "--dwarf-depth=1", path)
            )[0]
            self.assertEqual(TOLD - set(told.split()), set(), path)
        calls = self.calls(*self.compiled())
        wanted = {(str(self.objects / name), guard) for name, guard in GUARDS.items()}
        self.assertEqual(wanted - set(calls), set(), "these do not look after themselves")
        self.assertEqual([(name, call) for name, call in calls if call in UNGUARDED], [])

    def test_overflows_are_caught_in_libraries_too(self):
        """In those that are built here."""
        libraries = ROOT / "build/libraries" / self.arch / "lib"
        calls = {call for _, call in self.calls(libraries / "libcurl.a")}
        self.assertEqual({"__stack_chk_fail", "__snprintf_chk"} - calls, set())
        if (libraries / "libcrypto.a").exists():
            self.assertTrue(
                any(call == "__stack_chk_fail" for _, call in self.calls(libraries / "libcrypto.a"))
            )
            self.assertRegex(
                (libraries / "libcrypto.a").read_bytes(),
                b"compiler: [^\0]*-fstack-clash-protection",
            )

    def test_where_branches_end_is_marked(self):
        """In all that is compiled here. A whole program has the marks only when every part has
        them, and Debian's C library for static programs of amd64 does not."""
        for name in ("ostler-nvml", "ostler-cuda"):
            self.assertEqual(marks(self.folder / name), MARKS[self.arch])
        self.assertEqual([p.name for p in self.compiled() if marks(p) != MARKS[self.arch]], [])

    def test_its_name_says_which_program_it_is(self):
        self.assertRegex(output(*self.command("ostler", "--version")), r"^ostler \S+\n$")
        for name, says in NAMES.items():
            self.assertEqual(os.readlink(self.folder / "image/usr/bin" / name), "ostler")
            if says:
                self.assertRegex(output(*self.command(name, "--version")), rf"^{says} \S+\n$")

    def test_the_dockerfile_has_what_the_build_reads(self):
        """What it copies, of what .dockerignore lets through, is enough to plan the whole build."""
        ignored = (ROOT / ".dockerignore").read_text().split()
        through = [line[1:] for line in ignored if line.startswith("!")]
        copied = [
            path
            for line in re.findall(r"^COPY ([^-\n].*)$", (ROOT / "Dockerfile").read_text(), re.M)
            for pattern in line.split()[:-1]
            for path in ROOT.glob(pattern)
        ]
        with tempfile.TemporaryDirectory() as folder:
            for path in copied:
                name = path.relative_to(ROOT)
                self.assertTrue(any(name.match(t) for t in through), name)
                to = pathlib.Path(folder) / name
                to.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if path.is_dir() else shutil.copy)(path, to)
            planned = output("make", "-n", "-C", folder, "image-root")
        for name in ("demo_scenario", "web_files"):
            self.assertIn(name, planned)

    def test_it_validates_and_renders(self):
        rendered = output(*self.command("ostler", "render", "-f", "-"), input=json.dumps(POLICY))
        self.assertIn("nvcr.io/nvidia/driver:570.124.06-", rendered)
        wrong = json.dumps({**POLICY, "spec": {"driver": {"source": "Elsewhere"}}})
        command = [str(word) for word in self.command("ostler", "validate", "-f", "-")]
        done = subprocess.run(command, input=wrong, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("spec.driver.source", done.stdout + done.stderr)

    def test_the_image_is_small_and_has_nothing_else(self):
        files = [p for p in (self.folder / "image").rglob("*") if not p.is_dir()]
        names = {str(p.relative_to(self.folder / "image")) for p in files}
        programs = {f"usr/bin/{name}" for name in (*PROGRAMS, *NAMES)}
        self.assertLessEqual(
            programs | {"usr/share/doc/ostler/LICENSE", "usr/share/doc/ostler/sbom.cdx.json"}, names
        )
        needed = programs | {f"usr/lib/ostler/{name}" for name in (LOADERS[self.arch], *ASKED)}
        self.assertLessEqual(needed, names)
        link = ".kube/config"  # to the cluster of the demo
        self.assertRegex(os.readlink(self.folder / "image" / link), "^/dev/shm/")
        odd = [n for n in names - needed - {link} if not n.startswith("usr/share/doc/ostler/")]
        self.assertEqual(odd, [], "files that the installation does not need")
        loose = [str(p) for p in files if not p.is_symlink() and p.stat().st_mode & 0o7022]
        self.assertEqual(loose, [], "files that others may write")
        self.assertLessEqual(sum(p.lstat().st_size for p in files), SIZE_MAX)

    def test_ostler_cuda_is_loaded_by_what_is_in_the_image(self):
        """With a library that asks for all that a driver's does, and opens another while the
        program runs."""
        image = self.folder / "image"
        libraries = image / "usr/lib/ostler"
        compiler = (
            "gcc"
            if self.arch == HOST
            else f"{ {'amd64': 'x86_64', 'arm64': 'aarch64'}[self.arch]}-linux-gnu-gcc"
        )
        with tempfile.TemporaryDirectory() as folder:
            for name, source, asked in (
                ("libcuda.so.1", "cuda/libcuda.c", ASKED),
                ("libnvidia-ml.so.1", "nvml/libnvidia-ml.c", ()),
            ):
                output(
                    compiler,
                    "-D_GNU_SOURCE",
                    "-shared",
                    "-fPIC",
                    "-O1",
                    f"-Wl,-soname,{name}",
                    "-o",
                    f"{folder}/{name}",
                    ROOT / "tests" / source,
                    "-Wl,--no-as-needed",
                    f"-L{libraries}",
                    *(f"-l:{library}" for library in asked),
                )
            loader = self.command(
                f"../lib/ostler/{LOADERS[self.arch]}", "--library-path", f"{libraries}:{folder}"
            )
            said = output(
                *loader, image / "usr/bin/ostler-cuda", env={**os.environ, "LD_LIBRARY_PATH": ""}
            )
            listed = output(*loader, "--list", image / "usr/bin/ostler-cuda")
        self.assertEqual(len(re.findall(r"^proven ", said, re.MULTILINE)), 2, said)
        self.assertRegex(said, r"(?m)^driver \S+$")
        used = {pathlib.Path(path).resolve().parent for path in re.findall(r"=> (\S+)", listed)}
        self.assertEqual(used, {libraries, pathlib.Path(folder)}, listed)

    def bill(self):
        """The bill of its parts."""
        return json.loads((self.folder / "image/usr/share/doc/ostler/sbom.cdx.json").read_text())

    def test_the_bill_is_one(self):
        """The rules of CycloneDX 1.5 that its kind of document can break."""
        bill = self.bill()
        self.assertEqual(
            (bill["bomFormat"], bill["specVersion"], bill["version"]), ("CycloneDX", "1.5", 1)
        )
        self.assertRegex(
            bill["serialNumber"], r"^urn:uuid:[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$"
        )
        every = [bill["metadata"]["component"], *bill["components"]]
        references = [c["bom-ref"] for c in every]
        self.assertEqual(len(references), len(set(references)))
        for one in every:
            self.assertIn(one["type"], ("application", "library", "data", "operating-system"))
            self.assertTrue(one["name"] and one["version"], one)
            for licence in one.get("licenses", ()):
                self.assertEqual(len(licence), 1)
        for one in bill["dependencies"]:
            self.assertLessEqual({one["ref"], *one["dependsOn"]}, set(references))

    def test_the_bill_names_every_part(self):
        bill = self.bill()
        parts = {c["name"]: c for c in bill["components"] if "purl" in c}
        self.assertLessEqual(PARTS, set(parts))
        for name, part in parts.items():
            self.assertRegex(
                part["purl"],
                rf"^pkg:deb/\w+/{re.escape(name)}@[\w.%~-]+\?arch=source&distro=\w+-\w+$",
            )
            self.assertTrue(part["licenses"], name)
            self.assertTrue(
                (self.folder / "image/usr/share/doc/ostler/copyright" / name).exists(), name
            )
        lines = (ROOT / "build/libraries" / self.arch / "versions").read_text().splitlines()
        versions = {
            name: re.sub(".* from ", "", version)
            for name, version in (line.removesuffix(AS_DEBIAN).split(" ", 1) for line in lines)
        }
        self.assertEqual({name: parts[name]["version"] for name in versions}, versions)
        self.assertEqual(set(bill["dependencies"][0]["dependsOn"]), set(parts))

    def test_the_bill_names_the_variant_of_openssl(self):
        bill = self.bill()
        arch = bill["metadata"]["component"]["properties"][0]["value"]
        (openssl,) = [c for c in bill["components"] if c["name"] == "openssl"]
        (said,) = [p["value"] for p in openssl["properties"] if p["name"] == "ostler:variant"]
        versions = pathlib.Path(f"build/libraries/{arch}/versions").read_text()
        self.assertEqual(said == AS_DEBIAN.strip(), AS_DEBIAN in versions)

    def test_the_bill_is_of_these_files(self):
        bill = self.bill()
        ours = [
            one for one in (bill["metadata"]["component"], *bill["components"]) if "hashes" in one
        ]
        self.assertEqual({one["name"] for one in ours}, set(PROGRAMS))
        for one in ours:
            sum_of = digest(self.folder / "image/usr/bin" / one["name"])
            self.assertEqual(one["hashes"], [{"alg": "SHA-256", "content": sum_of}])
        beside = [one for part in bill["components"] for one in part.get("components", ())]
        self.assertEqual(
            {one["name"] for one in beside},
            {f"usr/lib/ostler/{name}" for name in (LOADERS[self.arch], *ASKED)},
        )
        for one in beside:
            sum_of = digest(self.folder / "image" / one["name"])
            self.assertEqual(one["hashes"], [{"alg": "SHA-256", "content": sum_of}], one["name"])


class MadeForOthers(Made):
    """The files for the other processor."""

    arch = next(arch for arch in MARKS if arch != HOST)
    folder = ROOT / f"build/static-{arch}"
    objects = ROOT / f"build/release-{arch}"


EIGHTH = 8  # of the objects, one in so many is compiled a second time


def take_over(tree):
    """Gives the tree the libraries, and the objects but an eighth, another with each commit. The
    sources that the build makes, their objects and the archives are made again."""
    count = int(output("git", "rev-list", "--count", "HEAD", cwd=ROOT))
    made = ROOT / "build/release"
    objects = sorted(
        path.relative_to(made)
        for folder in SOURCES
        for path in (made / folder).rglob("*.o")
        if (ROOT / path.relative_to(made)).with_suffix(".c").exists()
    )
    kept = [path for i, path in enumerate(objects) if i % EIGHTH != count % EIGHTH]
    for path in ("flags", "version", *kept, *(path.with_suffix(".d") for path in kept)):
        (tree / "build/release" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(made / path, tree / "build/release" / path)
    shutil.copytree(ROOT / "build/libraries", tree / "build/libraries")


class MadeAgain(unittest.TestCase):
    """The same sources in another folder, at another time. Libraries and objects: with --full
    all of them."""

    def test_it_is_the_same_to_the_last_byte(self):
        with tempfile.TemporaryDirectory(prefix="ostler-in-another-folder-") as folder:
            tree = pathlib.Path(folder) / "made" / "again"
            tree.mkdir(parents=True)
            listed = output(
                "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT
            ).split("\0")
            for name in listed:
                if (
                    name
                    and (ROOT / name).is_file()
                    and not name.startswith(("docs/", "tests/", "e2e/"))
                ):
                    (tree / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / name, tree / name)
            if "--full" not in sys.argv:
                take_over(tree)
            version = (ROOT / "build/release/version").read_text().strip()
            output("make", "-j2", "--no-print-directory", f"VERSION={version}", "static", cwd=tree)
            libraries = [
                path.relative_to(ROOT)
                for path in (ROOT / "build/libraries" / HOST / "lib").glob("*.a")
            ]
            objects = [
                path.relative_to(ROOT)
                for path in (ROOT / "build/release").rglob("*.o")
                if (tree / path.relative_to(ROOT)).exists()
            ]
            self.assertTrue(libraries and objects)
            for path in (
                *libraries,
                *objects,
                *(pathlib.Path("build/static") / name for name in (*PROGRAMS, "sbom.cdx.json")),
            ):
                self.assertEqual(digest(ROOT / path), digest(tree / path), path)


if __name__ == "__main__":
    sys.exit(counted.run("made"))
