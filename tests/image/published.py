"""What of a release others take: image and charts as OCI layouts, the file for an installation
without Helm, the kubectl plugin with krew's manifest, the provenance. test_release.py runs these
classes."""

import contextlib
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

import oci_registry
import yaml
from release_tree import ADDRESSES, PROCESSORS, ROOT, VERSION, made, rendering

sys.path.insert(0, str(ROOT / "e2e"))

import world  # noqa: E402  the path above is what finds it

HELM_CONFIG = "application/vnd.cncf.helm.config.v1+json"
HELM_CONTENT = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"


def run(*command, **more):
    """What a command prints."""
    return subprocess.run(
        [*map(str, command)], check=True, capture_output=True, text=True, **more
    ).stdout


def sum_of(data):
    """A SHA-256 sum."""
    return hashlib.sha256(data).hexdigest()


class Made(unittest.TestCase):
    """A release that is there."""

    version, processors = VERSION, PROCESSORS

    @classmethod
    def setUpClass(cls):
        cls.folder = made().folder

    def layout(self, name):
        """One of its layouts."""
        return oci_registry.Layout(self.folder / "oci" / name)


class OciImage(Made):
    """The image of all processors, against the OCI's image specification."""

    def setUp(self):
        self.oci = self.layout("ostler")
        self.index = self.oci.document(self.oci.tags[self.version])

    def images(self):
        """(processor, manifest, configuration, the layer) of each."""
        for one in self.index["manifests"]:
            manifest = self.oci.document(one)
            (layer,) = manifest["layers"]
            config = json.loads(self.oci.blob(manifest["config"]))
            yield one["platform"], manifest, config, gzip.decompress(self.oci.blob(layer))

    def test_it_is_of_all_processors_and_has_no_blob_too_many(self):
        found = [platform for platform, *_ in self.images()]
        self.assertEqual(
            found, [{"architecture": a, "os": "linux"} for a in sorted(self.processors.values())]
        )
        ((tag, named),) = self.oci.tags.items()
        self.assertEqual(tag, self.version)
        self.assertEqual(
            named["annotations"]["io.containerd.image.name"],
            f"{ADDRESSES['REGISTRY']}/ostler:{self.version}",
        )
        self.assertEqual(self.oci.unread(), set())

    def test_its_configuration_is_that_of_the_dockerfile(self):
        for platform, manifest, config, layer in self.images():
            self.assertEqual({key: config[key] for key in platform}, platform)
            self.assertEqual(
                config["rootfs"], {"type": "layers", "diff_ids": [f"sha256:{sum_of(layer)}"]}
            )
            self.assertEqual(len(config["history"]), 1)
            self.assertEqual(config["config"]["User"], "65532:65532")
            self.assertEqual(config["config"]["Entrypoint"], ["/usr/bin/ostler"])
            self.assertEqual(config["config"]["Labels"], manifest["annotations"])
            said = manifest["annotations"]
            self.assertEqual(said["org.opencontainers.image.source"], ADDRESSES["SOURCE"])
            self.assertEqual(said["org.opencontainers.image.version"], self.version)
            self.assertRegex(said["org.opencontainers.image.created"], r"^\d{4}-\d\d-\d\dT[\d:]+Z$")

    def test_its_files_are_those_of_the_image_root(self):
        folders = {arch: folder for folder, arch in self.processors.items()}
        for platform, _, _, layer in self.images():
            image = ROOT / "build" / folders[platform["architecture"]] / "image"
            with tarfile.open(fileobj=io.BytesIO(layer)) as file:
                members = {one.name: one for one in file}
                program = file.extractfile("usr/bin/ostler").read()
            self.assertEqual(set(members), {str(p.relative_to(image)) for p in image.rglob("*")})
            self.assertEqual(program, (image / "usr/bin/ostler").read_bytes())
            self.assertEqual(members["usr/bin/kubectl-gpu"].linkname, "ostler")
            for one in members.values():
                self.assertEqual((one.uid, one.gid, one.mtime, one.mode & 0o7022), (0, 0, 0, 0))
            self.assertEqual(members["usr/bin/ostler"].mode, 0o755)

    def test_the_archive_is_the_same(self):
        with tarfile.open(self.folder / f"ostler-{self.version}-image.tar") as file:
            inside = {one.name: file.extractfile(one).read() for one in file if one.isfile()}
        loose = {
            str(path.relative_to(self.oci.path)): path.read_bytes()
            for path in self.oci.path.rglob("*")
            if path.is_file()
        }
        self.assertEqual(inside, loose)

    def test_the_same_files_give_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in self.processors:
                copy = pathlib.Path(folder) / name
                shutil.copytree(ROOT / "build" / name / "image", copy / "image", symlinks=True)
                for path in copy.rglob("*"):
                    os.utime(path, (1, 1), follow_symlinks=False)
            made = run(
                ROOT / "scripts/pack-image",
                f"{folder}/oci",
                f"{folder}/tar",
                self.version,
                *(f"{folder}/{name}/image" for name in reversed(self.processors)),
                env={**os.environ, **ADDRESSES},
            )
            again = pathlib.Path(folder, "tar").read_bytes()
        self.assertEqual(made.strip(), self.oci.tags[self.version]["digest"])
        self.assertEqual(
            sum_of(again), sum_of((self.folder / f"ostler-{self.version}-image.tar").read_bytes())
        )

    def test_skopeo_reads_it(self):
        if not shutil.which("skopeo"):
            self.skipTest("skopeo is not installed, which reads layouts: apt-get install skopeo")
        where = f"oci:{self.oci.path}:{self.version}"
        raw = run("skopeo", "inspect", "--raw", where)
        self.assertEqual(json.loads(raw), self.index)
        for arch in self.processors.values():
            read = json.loads(run("skopeo", "--override-arch", arch, "inspect", where))
            self.assertEqual((read["Architecture"], read["Os"]), (arch, "linux"))
        with tempfile.TemporaryDirectory() as folder:
            run("skopeo", "--insecure-policy", "copy", "--all", where, f"oci:{folder}/copy:again")
            copy = oci_registry.Layout(f"{folder}/copy")
            self.assertEqual(copy.tags["again"]["digest"], self.oci.tags[self.version]["digest"])


class OciCharts(Made):
    """The charts as OCI artifacts, and what Artifact Hub reads in them."""

    def test_each_is_what_helm_push_would_make(self):
        for name in ("ostler", "ostler-crds"):
            oci = self.layout(f"charts/{name}")
            manifest = oci.document(oci.tags[self.version])
            self.assertEqual(manifest["config"]["mediaType"], HELM_CONFIG)
            (layer,) = manifest["layers"]
            self.assertEqual(layer["mediaType"], HELM_CONTENT)
            package = self.folder / f"{name}-{self.version}.tgz"
            self.assertEqual(oci.blob(layer), package.read_bytes())
            about = yaml.safe_load(rendering.helm("show", "chart", package).stdout)
            self.assertEqual(json.loads(oci.blob(manifest["config"])), about)
            said = {**manifest["annotations"], **about["annotations"]}
            self.assertEqual(said, manifest["annotations"])
            self.assertEqual(said["org.opencontainers.image.title"], name)
            self.assertEqual(said["org.opencontainers.image.version"], self.version)

    def test_helm_pulls_them_from_a_registry(self):
        layouts = {f"c/{name}": self.layout(f"charts/{name}") for name in ("ostler", "ostler-crds")}
        with oci_registry.registry(layouts) as host, tempfile.TemporaryDirectory() as folder:
            for name in ("ostler", "ostler-crds"):
                where = [f"oci://{host}/c/{name}", "--version", self.version, "--plain-http"]
                done = rendering.helm("pull", *where, "--destination", folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                package = f"{name}-{self.version}.tgz"
                self.assertEqual(
                    pathlib.Path(folder, package).read_bytes(),
                    (self.folder / package).read_bytes(),
                )

    def test_the_same_chart_gives_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            chart = pathlib.Path(folder) / "ostler"
            shutil.copytree(rendering.CHART, chart)
            for path in chart.rglob("*"):
                os.utime(path, (1, 1))
            made = run(
                ROOT / "scripts/pack-chart",
                chart,
                f"{folder}/tgz",
                f"{folder}/oci",
                env={**os.environ, **ADDRESSES},
            )
        self.assertEqual(made.strip(), self.layout("charts/ostler").tags[self.version]["digest"])

    def test_artifact_hub_is_told_what_it_asks(self):
        """By the rules of its documents: texts, of which some are YAML of a form."""
        package = self.folder / f"ostler-{self.version}.tgz"
        about = yaml.safe_load(rendering.helm("show", "chart", package).stdout)
        said = {
            key.partition("/")[2]: value
            for key, value in about["annotations"].items()
            if key.startswith("artifacthub.io/")
        }
        self.assertTrue(all(isinstance(value, str) for value in said.values()))
        self.assertEqual(said["category"], "ai-machine-learning")
        levels = ("Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights")
        self.assertIn(said["operatorCapabilities"], (*levels, "Auto Pilot"))
        for name in ("operator", "prerelease", "containsSecurityUpdates"):
            self.assertIn(said[name], ("true", "false"))
        image = f"{ADDRESSES['REGISTRY']}/ostler:{self.version}"
        platforms = ["linux/amd64", "linux/arm64"]
        self.assertEqual(
            yaml.safe_load(said["images"]),
            [{"name": "ostler", "image": image, "platforms": platforms}],
        )
        for link in yaml.safe_load(said["links"]):
            self.assertEqual(set(link), {"name", "url"})
            self.assertTrue(link["url"].startswith(ADDRESSES["SOURCE"] + "/"), link)
        for change in yaml.safe_load(said["changes"]):
            kinds = ("added", "changed", "deprecated", "removed", "fixed", "security")
            self.assertIn(change["kind"], kinds)
        documents = yaml.safe_load_all((self.folder / "crds.yaml").read_text(encoding="utf-8"))
        names = {d["metadata"]["name"]: d["spec"]["names"]["kind"] for d in documents}
        self.assertEqual({d["name"]: d["kind"] for d in yaml.safe_load(said["crds"])}, names)

    def test_artifact_hub_knows_whose_the_repository_is(self):
        oci = self.layout("charts/ostler")
        manifest = oci.document(oci.tags["artifacthub.io"])
        self.assertEqual(
            manifest["config"]["mediaType"], "application/vnd.cncf.artifacthub.config.v1+yaml"
        )
        (layer,) = manifest["layers"]
        self.assertEqual(
            layer["mediaType"],
            "application/vnd.cncf.artifacthub.repository-metadata.layer.v1.yaml",
        )
        self.assertEqual(
            yaml.safe_load(oci.blob(layer)), {"repositoryID": ADDRESSES["ARTIFACTHUB_ID"]}
        )
        self.assertEqual(list(self.layout("charts/ostler-crds").tags), [self.version])


class WithoutHelm(Made):
    """install.yaml."""

    def image(self):
        """By its digest."""
        digest = self.layout("ostler").tags[self.version]["digest"]
        return f"{ADDRESSES['REGISTRY']}/ostler", digest

    def test_it_is_what_the_chart_renders_in_its_namespace(self):
        repository, digest = self.image()
        rendered = rendering.objects(
            "--include-crds",
            "--no-hooks",
            "--set",
            f"image.repository={repository},image.digest={digest}",
        )
        text = (self.folder / "install.yaml").read_text(encoding="utf-8")
        namespace, *others = rendering.read(text)
        self.assertEqual(
            (namespace["kind"], namespace["metadata"]["name"]), ("Namespace", "ostler-system")
        )
        self.assertEqual(
            namespace["metadata"]["labels"], {"pod-security.kubernetes.io/enforce": "restricted"}
        )
        self.assertEqual(others, rendered)
        self.assertIn(f'image: "{repository}@{digest}"', text)

    def test_a_real_api_server_takes_it_as_the_charts_rendering(self):
        repository, digest = self.image()
        rendered = rendering.template(
            "--include-crds",
            "--no-hooks",
            "--set",
            f"image.repository={repository}",
            "--set",
            f"image.digest={digest}",
        )
        file = self.folder / "install.yaml"
        with world.World(api_only=True) as server:

            def kubectl(*words, text=None):
                tool = [server.tool("kubectl"), "--kubeconfig", server.admin_kubeconfig]
                return run(*tool, *words, input=text)

            def versions():
                said = "jsonpath={.items[*].metadata.resourceVersion}"
                return kubectl("get", "-f", file, "-o", said).split()

            applied = kubectl("apply", "--server-side", "-f", file).splitlines()
            before = versions()
            self.assertEqual(len(before), len(applied))
            # The chart's rendering changes none of them.
            kubectl("apply", "--server-side", "-f", "-", text=rendered)
            self.assertEqual(versions(), before)
            where = ("-n", "ostler-system", "-o", "json")
            made = json.loads(kubectl("get", "deployment", "ostler", *where))
        (container,) = made["spec"]["template"]["spec"]["containers"]
        self.assertEqual(container["image"], f"{repository}@{digest}")


@contextlib.contextmanager
def simulator(scenario):
    """The kubeconfig of a cluster in the simulator."""
    with tempfile.TemporaryDirectory(prefix="ostler-release-") as folder:
        kubeconfig = pathlib.Path(folder) / "kubeconfig"
        process = subprocess.Popen(
            [ROOT / "build/ostler-sim", "--kubeconfig", kubeconfig, "--scenario", scenario],
            stdout=subprocess.DEVNULL,
        )
        try:
            end = time.time() + 20
            while not kubeconfig.exists() and process.poll() is None and time.time() < end:
                time.sleep(0.05)
            yield kubeconfig
        finally:
            process.terminate()
            process.wait()


class KubectlPlugin(Made):
    """Its archives, and krew's manifest, by the rules of krew's validation."""

    def setUp(self):
        self.manifest = yaml.safe_load((self.folder / "gpu.yaml").read_text(encoding="utf-8"))
        self.platforms = {
            tuple(sorted(one["selector"]["matchLabels"].items())): one
            for one in self.manifest["spec"]["platforms"]
        }

    def archive(self, one):
        """The file that a platform names, its members, and their bytes."""
        path = self.folder / one["uri"].rpartition("/")[2]
        with tarfile.open(path) as file:
            return path, {m.name: (m, m.isfile() and file.extractfile(m).read()) for m in file}

    def test_the_manifest_is_as_krew_wants_it(self):
        spec = self.manifest["spec"]
        self.assertEqual(
            self.manifest["apiVersion"], "krew.googlecontainertools.github.com/v1alpha2"
        )
        self.assertEqual(
            (self.manifest["kind"], self.manifest["metadata"]), ("Plugin", {"name": "gpu"})
        )
        self.assertEqual(spec["version"], f"v{self.version}")
        self.assertRegex(spec["version"], r"^v\d+\.\d+\.\d+(-[\w.]+)?$")
        self.assertRegex(spec["shortDescription"], r"^[^\r\n]{1,60}$")
        self.assertEqual(spec["homepage"], ADDRESSES["SOURCE"])
        systems = [(("arch", a), ("os", "linux")) for a in sorted(self.processors.values())]
        self.assertEqual(list(self.platforms), [*systems, (("os", "darwin"),)])
        for one in spec["platforms"]:
            self.assertEqual(set(one), {"selector", "uri", "sha256", "bin"})
            self.assertTrue(one["uri"].startswith(ADDRESSES["DOWNLOADS"] + "/kubectl-gpu-"), one)

    def test_each_archive_has_the_program_a_licence_and_no_links(self):
        for system, one in self.platforms.items():
            path, inside = self.archive(one)
            self.assertEqual(one["sha256"], sum_of(path.read_bytes()))
            self.assertEqual([n for n, (m, _) in inside.items() if not m.isfile()], [])
            self.assertEqual(one["bin"], "kubectl-gpu")
            self.assertEqual(
                [n for n, (m, _) in inside.items() if m.mode != 0o644], ["kubectl-gpu"]
            )
            names = {"kubectl-gpu", "LICENSE", "kubectl-gpu.1", "kubectl-gpu-rbac.yaml"}
            self.assertLessEqual(names, set(inside))
            self.assertEqual("copyright/openssl" in inside, system != (("os", "darwin"),))

    def test_the_program_is_that_of_the_image(self):
        for folder, arch in self.processors.items():
            _, inside = self.archive(self.platforms[("arch", arch), ("os", "linux")])
            self.assertEqual(
                inside["kubectl-gpu"][1], (ROOT / "build" / folder / "ostler").read_bytes()
            )

    def test_the_script_for_others_runs_it_in_the_image(self):
        """With kubectl's own proxy to a cluster, and a docker that runs the program itself."""
        _, inside = self.archive(self.platforms[(("os", "darwin"),)])
        scenario = ROOT / "tests/torture/small.yaml"
        with tempfile.TemporaryDirectory() as home, simulator(scenario) as kubeconfig:
            tools = pathlib.Path(home)
            (tools / "kubectl-gpu").write_bytes(inside["kubectl-gpu"][1])
            (tools / "docker").write_text(FAKE_DOCKER.format(sys.executable, ROOT, tools))
            for name in ("kubectl-gpu", "docker"):
                (tools / name).chmod(0o755)
            (tools / "kubectl").symlink_to(rendering.tool("kubectl"))

            def plugin(*words, **more):
                return subprocess.run(
                    [tools / "kubectl-gpu", *words],
                    env={"PATH": f"{tools}:/usr/bin:/bin", "HOME": home, **more},
                    cwd=home,
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )

            done = plugin("explain", f"--kubeconfig={kubeconfig}", "gpu-1", "-o", "text")
            self.assertEqual(done.returncode, 0, done.stderr)
            told = json.loads((tools / "told").read_text(encoding="utf-8"))
            digest = self.layout("ostler").tags[self.version]["digest"]
            image = f"{ADDRESSES['REGISTRY']}/ostler@{digest}"
            self.assertEqual(told[told.index(image) :], [image, "explain", "gpu-1", "-o", "text"])
            self.assertIn("gpu-1: Ostler has no report about it", done.stdout)
            # The words arrive as they are, and the exit status comes back.
            odd = plugin("explain", "a  b'$HOME", "--kubeconfig", kubeconfig)
            self.assertEqual(odd.returncode, 1, odd.stderr)
            self.assertIn("a  b'$HOME", odd.stderr)
            for words, more, says in (
                (["--context"], {}, "--context needs a value"),
                (["nodes", "--context", "none"], {"KUBECONFIG": str(kubeconfig)}, "does not start"),
                (["nodes"], {"OSTLER_DOCKER": "no-such-docker"}, "no-such-docker is missing"),
            ):
                done = plugin(*words, **more)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(says, done.stderr)
            left = list((tools / ".kube/cache").glob("gpu.*"))
            self.assertEqual(left, [], "the script leaves its folder")
            proxies = [
                line
                for line in run("ps", "-eo", "args").splitlines()
                if str(kubeconfig) in line and " proxy " in line
            ]
            self.assertEqual(proxies, [], "the script leaves its proxy")


# Plays docker: runs build/static's program with the kubeconfig that would be mounted, in which this
# machine has another name.
FAKE_DOCKER = """#!{0}
import json, os, pathlib, sys
words = sys.argv[1:]
assert words[:3] == ["run", "--rm", "--interactive"], words
mounts = dict(v.split(":")[1::-1] for v, w in zip(words[1:], words) if w == "--volume")
image = next(i for i, w in enumerate(words) if "/ostler@" in w)
assert words[image - 2 : image] == ["--entrypoint", "/usr/bin/kubectl-gpu"], words
pathlib.Path("{2}/told").write_text(json.dumps(words))
text = pathlib.Path(mounts["/kubeconfig"]).read_text()
assert "proxy-url: \\"http://host.docker.internal:" in text, text
own = pathlib.Path("{2}/kubeconfig")
own.write_text(text.replace("host.docker.internal", "127.0.0.1"))
os.environ["KUBECONFIG"] = str(own)
os.execv("{1}/build/static/kubectl-gpu", ["kubectl-gpu", *words[image + 1 :]])
"""


class Provenance(Made):
    """The in-toto statement with SLSA's provenance, by its specification."""

    def setUp(self):
        text = (self.folder / "provenance.intoto.json").read_text(encoding="utf-8")
        self.statement = json.loads(text)
        self.predicate = self.statement["predicate"]

    def test_it_is_a_statement(self):
        self.assertEqual(self.statement["_type"], "https://in-toto.io/Statement/v1")
        self.assertEqual(self.statement["predicateType"], "https://slsa.dev/provenance/v1")
        self.assertEqual(set(self.predicate), {"buildDefinition", "runDetails"})
        build = self.predicate["buildDefinition"]
        self.assertRegex(build["buildType"], r"^https://")
        self.assertEqual(
            build["externalParameters"],
            {
                "target": "release",
                "version": self.version,
                **{n.lower(): ADDRESSES[n] for n in ("SOURCE", "REGISTRY", "DOWNLOADS")},
            },
        )
        self.assertEqual(self.predicate["runDetails"], {"builder": {"id": ADDRESSES["BUILDER"]}})

    def test_its_subjects_are_the_files_and_what_the_layouts_are_of(self):
        files = {
            path.name: sum_of(path.read_bytes())
            for path in self.folder.iterdir()
            if path.is_file() and path.name not in ("SHA256SUMS", "provenance.intoto.json")
        }
        for name in ("ostler", "charts/ostler", "charts/ostler-crds"):
            digest = self.layout(name).tags[self.version]["digest"]
            files[f"{ADDRESSES['REGISTRY']}/{name}"] = digest.partition(":")[2]
        subjects = {one["name"]: one["digest"]["sha256"] for one in self.statement["subject"]}
        self.assertEqual(subjects, files)

    def test_its_materials_are_the_commit_and_the_libraries(self):
        materials = self.predicate["buildDefinition"]["resolvedDependencies"]
        commit = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
        ).stdout.strip()
        if commit:
            self.assertEqual(
                materials.pop(0),
                {
                    "uri": f"git+{ADDRESSES['SOURCE']}@refs/tags/{self.version}",
                    "digest": {"gitCommit": commit},
                },
            )
        parts = {
            part["purl"]
            for bill in self.folder.glob("*.cdx.json")
            for part in json.loads(bill.read_text(encoding="utf-8"))["components"]
            if "purl" in part
        }
        self.assertEqual({one["uri"] for one in materials}, parts)
