"""The values of both charts: what helm accepts, and where each is written of; and the
CustomResourceDefinitions in them."""

import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from rendering import CHART, CRD_CHART, NAMESPACE, ROOT, helm, objects, read, template

sys.path.insert(0, str(ROOT / "e2e"))
from scenarios.s19_admission import INSTALLATIONS  # noqa: E402  the path above is what finds it


def leaves(schema, at=""):
    """(name with dots, description) of each value that is no group of others."""
    for name, child in schema["properties"].items():
        if "properties" in child:
            yield from leaves(child, f"{at}{name}.")
        else:
            yield at + name, child.get("description")


NOTHING = object()  # a value that is not there


def at(values, name):
    """The value of a name with dots."""
    for part in name.split("."):
        values = values.get(part, NOTHING) if isinstance(values, dict) else NOTHING
    return values


def above(names):
    """The names and the groups that they are in."""
    return {
        ".".join(parts[:n])
        for parts in (name.split(".") for name in names)
        for n in range(1, len(parts) + 1)
    }


def written(path):
    """The names in a file of values, groups and what is in them, with dots."""
    way = []
    for line in path.read_text().splitlines():
        found = re.match(r"( *)([\w]+):", line)
        if found:
            way[len(found[1]) // 2 :] = [found[2]]
            yield ".".join(way)


class Values(unittest.TestCase):
    """What helm accepts."""

    def test_they_lint(self):
        for chart in (CHART, CRD_CHART):
            done = helm("lint", "--strict", chart, "--namespace", NAMESPACE)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_values_of_another_name_or_type_are_refused_with_their_place(self):
        for flags, place in (
            ("replica=3", "'replica'"),
            ("replicas=x", "/replicas"),
            ("log.level=loud", "/log/level"),
            ("log.level=null", "'level'"),
            ("policy.enabled=true", "'enabled'"),
            ("absentPolicyGrace=soon", "/absentPolicyGrace"),
            ("image.digest=latest", "/image/digest"),
            ("image.repository=r.example/a:1", "/image/repository"),
            ("port=80", "/port"),
            ("fleetPage.listen=0.0.0.0:8082", "/fleetPage/listen"),
            ("fleetPage.listen=localhost:8081", "/fleetPage/listen"),
            ("fleetPage.hosts={fleet.example.com:443}", "/fleetPage/hosts/0"),
            ("fleetPage.hosts={*}", "/fleetPage/hosts/0"),
            ("fleetPage.namespaces={A}", "/fleetPage/namespaces/0"),
            ("operandNamespace.name=Gpu", "/operandNamespace/name"),
            ("allowedImagePrefixes={a b}", "/allowedImagePrefixes/0"),
            ("allowedInstallDirs={/etc}", "/allowedInstallDirs/0"),
            ("policy.spec=x", "/policy/spec"),
            ("metrics.dashbord.enabled=true", "'dashbord'"),
            ("metrics.serviceMonitor.interval=often", "/metrics/serviceMonitor/interval"),
            ("networkPolicy.apiServerCidrs={10.0.0.1}", "/networkPolicy/apiServerCidrs/0"),
            ("networkPolicy.apiServerPorts={}", "/networkPolicy/apiServerPorts"),
            ("tolerations[0].efect=NoSchedule", "'efect'"),
            ("resources.limits.memory=much", "/resources/limits/memory"),
            ("resources.limits.memory=-1", "/resources/limits/memory"),
            ("absentPolicyGrace=9999999999h", "/absentPolicyGrace"),
            ("absentPolicyGrace=1h1h1h1h1h", "/absentPolicyGrace"),
            ("cleanup.timeout=9999999999h", "/cleanup/timeout"),
            ("image.repository=registry:5000", "/image/repository"),
            ("image.repository=registry:5000/", "/image/repository"),
            ("metrics.serviceMonitor.interval=9999999999h", "/metrics/serviceMonitor/interval"),
            ("cleanup.timeout=0s", "/cleanup/timeout"),
            ("cleanup.timeout=0h0.0m", "/cleanup/timeout"),
            ("cleanup.timeout=0.4ms", "/cleanup/timeout"),
            ("cleanup.timeout=0.0001s", "/cleanup/timeout"),
            ("cleanup.timeout=0", "/cleanup/timeout"),
            ("hostUsers=no-thanks", "/hostUsers"),
            ("podDisruptionBudget.maxUnavailable=0", "/podDisruptionBudget/maxUnavailable"),
            ("topologySpreadConstraints[0].topologyKey=x", "'maxSkew'"),
            ("seccompProfile.localhostProfile=../x", "/seccompProfile/localhostProfile"),
            ("commonLabels.team=not a label", "/commonLabels/team"),
        ):
            with self.subTest(flags):
                done = helm("template", "ostler", CHART, "--namespace", NAMESPACE, "--set", flags)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("values don't meet the specifications of the schema", done.stderr)
                self.assertIn(place, done.stderr)

    def test_a_port_that_another_value_has_is_refused(self):
        done = helm("template", "ostler", CHART, "--set", "port=8081")
        self.assertIn("8081 is the fleet page's port", done.stderr)
        template("--set", "port=8081,fleetPage.enabled=false")

    def test_marks_that_no_object_may_bear_are_refused_with_their_place(self):
        for chart in (CHART, CRD_CHART):
            for flags, place in (
                ("commonLabels.bad key!=x", "bad key!"),
                ("commonLabels.team=x y", "/commonLabels/team"),
                ("commonAnnotations.bad key!=x", "bad key!"),
            ):
                with self.subTest(chart=chart.name, flags=flags):
                    done = helm(
                        "template", "ostler", chart, "--namespace", NAMESPACE, "--set", flags
                    )
                    self.assertIn("values don't meet the specifications of the schema", done.stderr)
                    self.assertIn(place, done.stderr)

    def test_the_longest_times_and_every_registry_are_taken(self):
        for flags in (
            "absentPolicyGrace=99999h59m59.999s",
            "cleanup.timeout=604800s",
            "cleanup.timeout=99999h99999h99999h99999h",
            "image.repository=registry:5000/ostler",
            "image.repository=registry.example.com:5000/a/b",
            "image.repository=o",
        ):
            done = helm("template", "ostler", CHART, "--namespace", NAMESPACE, "--set", flags)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_wrong_type_is_refused_with_its_place(self):
        def wrong(schema, at=""):
            for name, child in schema["properties"].items():
                if name != "global":
                    yield f"{at}{name}", f"/{at}{name}".replace(".", "/")
                    if "properties" in child:
                        yield from wrong(child, f"{at}{name}.")

        rows = list(wrong(json.loads((CHART / "values.schema.json").read_text())))
        flags = [
            flag
            for name, _ in rows
            if not any(other.startswith(name + ".") for other, _ in rows)
            for flag in ("--set-json", f"{name}=[[]]")
        ]
        refused = helm("template", "ostler", CHART, "--namespace", NAMESPACE, *flags).stderr
        for name, place in rows:
            if f"{name}=[[]]" in flags:
                self.assertIn(f"at '{place}", refused)

    def test_a_parent_chart_may_switch_it_on_and_off(self):
        for chart in (CHART, CRD_CHART):
            with tempfile.TemporaryDirectory() as folder:
                name, parent = chart.name, pathlib.Path(folder)
                shutil.copytree(chart, parent / "charts" / name)
                (parent / "Chart.yaml").write_text(
                    "apiVersion: v2\nname: parent\nversion: 0.1.0\ndependencies:\n"
                    f"- {{name: {name}, version: '*', condition: {name}.enabled}}\n"
                )
                for wanted in ("true", "false"):
                    text = template("--set", f"{name}.enabled={wanted}", chart=parent)
                    self.assertEqual("\nkind: " in text, wanted == "true")

    def test_a_value_that_has_moved_to_the_policy_says_so(self):
        for flag in ("enabled=true", "enabled=false", "resources.limits.memory=512Mi"):
            with self.subTest(flag):
                done = helm("template", "o", CHART, "--set", f"nodeCards.{flag}")
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("write spec.nodeCards (enabled, default true, and", done.stderr)
        done = helm("template", "o", CHART, "--set", "nodeCards=null")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_names_that_look_like_numbers_stay_names(self):
        done = helm(
            "template",
            "123",
            CHART,
            "--namespace",
            "456",
            "--set",
            "networkPolicy.enabled=true",
            "--set-string",
            "operandNamespace.name=1e3,priorityClassName=7",
            "--set",
            "metrics.serviceMonitor.enabled=true",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        for found in read(done.stdout):
            self.assertIn(found["metadata"].get("namespace"), (None, "456", "1e3", "default"))
            self.assertEqual(found["metadata"]["labels"]["app.kubernetes.io/instance"], "123")
        for name in ("1e3", "456", "123", "7"):
            self.assertEqual(
                re.findall(rf"[\[:] {name}$|[\[:] {name}[,\]}}]", done.stdout, re.M), []
            )

    def test_the_installations_of_the_end_to_end_tests_set_every_value(self):
        unset = set(dict(leaves(json.loads((CHART / "values.schema.json").read_text())))) - {
            "global",
            "enabled",
            "nodeCards",  # of earlier charts
        }
        for flags in INSTALLATIONS.values():
            done = helm(
                "install",
                "ostler",
                CHART,
                "--dry-run=client",
                "--namespace",
                NAMESPACE,
                "-o",
                "json",
                *flags,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            release = json.loads(done.stdout)
            unset = {
                name
                for name in unset
                if at(release.get("config"), name)
                in (NOTHING, at(release["chart"]["values"], name))
            }
        self.assertEqual(unset, set())

    def test_every_default_may_be_written_down(self):
        self.assertEqual(template("--values", str(CHART / "values.yaml")), template())

    def test_a_cluster_that_is_too_old_is_refused_with_the_version(self):
        for version, refused in (("v1.29.9", True), ("v1.30.0-gke.100", False)):
            done = helm(
                "template", "ostler", CHART, "--namespace", NAMESPACE, "--kube-version", version
            )
            self.assertEqual(
                "chart requires kubeVersion: >=1.30.0-0" in done.stderr, refused, done.stderr
            )

    def test_values_of_an_older_chart_alone_are_refused_with_what_is_missing(self):
        done = helm(
            "template",
            "ostler",
            CHART,
            "--namespace",
            NAMESPACE,
            "--set",
            "metrics=null,cleanup=null",
        )
        self.assertRegex(done.stderr, "missing properties '(metrics|cleanup)', '(metrics|cleanup)'")

    def test_the_notes_say_what_to_do_next(self):
        for flags, said, unsaid in (
            (
                "replicas=2",
                (
                    "--set image.repository=",
                    "kubectl apply -f - <<POLICY",
                    "helm uninstall ostler",
                    "4m30s",
                ),
                ("replicas is 0",),
            ),
            (
                "image.repository=registry.example.com/ostler",
                ("It ends no GPU pod", "deletes the namespace ostler-operands"),
                ("--set image.repository=",),
            ),
            ("policy.create=true", ("kubectl get gpuclusterpolicy",), ("<<POLICY",)),
            (
                "cleanup.enabled=false",
                ("kubectl delete gpuclusterpolicy default",),
                ("helm uninstall ostler",),
            ),
            ("cleanup.force=true", ("because cleanup.force is true",), ("It ends no GPU pod",)),
            (
                "crds.keep=false,operandNamespace.keep=true",
                ("CustomResourceDefinitions are deleted",),
                ("also deletes the namespace",),
            ),
            ("admissionPolicy.enabled=false", ("admissionPolicy.enabled is false",), ()),
            ("metrics.prometheusRule.enabled=true", ("runbookUrl is empty",), ()),
            (
                "metrics.prometheusRule.enabled=true,"
                "metrics.prometheusRule.runbookUrl=https://x/{alert}",
                (),
                ("runbookUrl is empty",),
            ),
            ("metrics.prometheusRule.enabled=false", (), ("runbookUrl is empty",)),
            (
                "operandNamespace.create=false",
                ("Create that namespace yourself",),
                ("also deletes the namespace",),
            ),
            ("replicas=0", ("replicas is 0",), ()),
        ):
            with self.subTest(flags):
                done = helm(
                    "install",
                    "ostler",
                    CHART,
                    "--dry-run=client",
                    "--namespace",
                    NAMESPACE,
                    "--set",
                    flags,
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                notes = done.stdout.split("NOTES:")[1]
                for words in said:
                    self.assertIn(words, notes)
                for words in unsaid:
                    self.assertNotIn(words, notes)

    def test_each_value_is_written_of_everywhere(self):
        for chart in (CHART, CRD_CHART):
            schema = dict(leaves(json.loads((chart / "values.schema.json").read_text())))
            del schema["global"], schema["enabled"]
            schema.pop("nodeCards", None)  # of earlier charts
            named = set(written(chart / "values.yaml"))
            self.assertLessEqual(above(schema), named)
            self.assertEqual(
                {
                    n
                    for n in named - above(schema)
                    if not any(n.startswith(s + ".") for s in schema)
                },
                set(),
            )
            rows = re.findall(r"^\| `([\w.]+)` \|", (chart / "README.md").read_text(), re.M)
            self.assertEqual(sorted(rows), sorted(schema))
            for name, description in schema.items():
                self.assertTrue(
                    description, f"{name} has no description in the schema of {chart.name}"
                )

    def test_files_that_are_written_of_are_there(self):
        text = "".join(
            (CHART / name).read_text()
            for name in ("README.md", "values.yaml", "templates/metrics.yaml")
        )
        files = set(re.findall(r"\bfiles/[\w./-]+\w", text))
        self.assertLessEqual(
            {"files/alerts.yaml", "files/dashboard.json", "files/seccomp/ostler.json"}, files
        )
        self.assertEqual([f for f in files if not (CHART / f).is_file()], [])

    def test_nothing_may_be_called_otherwise(self):
        def closed(schema, at):
            if schema.get("type") == "object" and "properties" in schema:
                self.assertIs(schema.get("additionalProperties"), False, at)
            for key, child in schema.items():
                if isinstance(child, dict):
                    closed(child, f"{at}/{key}")

        for chart in (CHART, CRD_CHART):
            closed(json.loads((chart / "values.schema.json").read_text()), chart.name)


class Definitions(unittest.TestCase):
    """The CustomResourceDefinitions, which are in crds/ and copied from there."""

    def test_both_charts_have_those_of_the_repository(self):
        ours = {path.name: path.read_text() for path in (ROOT / "crds").glob("*.yaml")}
        for folder in (CHART / "crds", CRD_CHART / "files"):
            packaged = {path.name: path.read_text() for path in folder.glob("*.yaml")}
            self.assertEqual(sorted(packaged), sorted(ours), "run make chart-crds")
            for name, text in ours.items():
                self.assertTrue(
                    packaged[name] == text,
                    f"{folder.parent.name} has another {name}: run make chart-crds",
                )

    def test_the_chart_of_definitions_changes_nothing_in_them(self):
        ours = objects(chart=CRD_CHART)
        theirs = read(
            "\n---\n".join(path.read_text() for path in sorted((ROOT / "crds").glob("*.yaml")))
        )
        self.assertEqual(len(ours), 2)
        self.assertEqual(
            [(o["metadata"]["name"], o["spec"]) for o in ours],
            [(o["metadata"]["name"], o["spec"]) for o in theirs],
        )
        for one, other in zip(ours, theirs):
            self.assertLessEqual(
                other["metadata"]["annotations"].items(), one["metadata"]["annotations"].items()
            )

    def test_they_stay_unless_told_otherwise(self):
        for flags, kept in (((), {"keep"}), (("--set", "keep=false"), {None})):
            found = objects(*flags, "--set", "commonLabels.team=gpu", chart=CRD_CHART)
            self.assertEqual(
                {o["metadata"]["annotations"].get("helm.sh/resource-policy") for o in found}, kept
            )
            self.assertEqual({o["metadata"]["labels"]["team"] for o in found}, {"gpu"})

    def test_the_hook_may_touch_these_alone(self):
        files = sorted((ROOT / "crds").glob("*.yaml"))
        names = " ".join(re.findall(r"^  name: (\S+)", file.read_text(), re.M)[0] for file in files)
        for hook in ("crds", "cleanup"):
            text = (CHART / f"templates/hook-{hook}.yaml").read_text()
            (named,) = re.findall(r"customresourcedefinitions\]\n +resourceNames: \[(.*)\]", text)
            self.assertEqual(named.replace(",", ""), names)
