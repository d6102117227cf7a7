"""The admission policies of the chart against what the program makes and takes: tables that are
written twice are the same."""

import json
import re
import unittest

from rendering import ROOT, objects, of_kind, only

MANIFESTS = ROOT / "reconcilers/manifests"


def policy(name, *flags):
    """The spec of a ValidatingAdmissionPolicy."""
    return only(objects(*flags), "ValidatingAdmissionPolicy", name)["spec"]


def variable(spec, name):
    """The expression of one of its variables."""
    (found,) = [v["expression"] for v in spec["variables"] if v["name"] == name]
    return found


def expressions(spec):
    """All that it checks, as one text."""
    return "\n".join(v["expression"] for v in spec["validations"])


def manifests():
    """All manifests of operands and pods, as one text."""
    return "\n".join(path.read_text() for path in sorted(MANIFESTS.rglob("*.yaml")))


def host_paths(tasks=None):
    """Every folder of the host in the manifests of operands, or of these pods of Ostler's own."""
    text = manifests()
    for path in sorted(MANIFESTS.glob("task/*.yaml")):
        text = text.replace(path.read_text(), "")
    if tasks:
        text = "\n".join(path.read_text() for path in sorted(MANIFESTS.glob(f"task/{tasks}*.yaml")))
    return set(re.findall(r"hostPath:\s*\n\s+path: (\S+)", text)) | set(
        re.findall(r"hostPath: \{path: ([^,} ]+)", text)
    )


class Operands(unittest.TestCase):
    """What Ostler's account may make."""

    def test_folders_are_those_that_operands_have(self):
        said, _ = re.findall(r"hostPath\.path in (\[.*?\])", expressions(policy("ostler-operands")))
        self.assertEqual(set(re.findall(r'"([^"]+)"', said)), host_paths())

    def test_a_pod_that_resets_or_reboots_is_the_one_that_is_made(self):
        said = expressions(policy("ostler-pods"))
        (reset, reboot) = re.findall(
            r'variables\.task == "reset" \? (\[.*?\]) : (\[.*?\])\)', said
        )
        for task, folders, command in zip(("reset", "reboot"), reset, reboot):
            self.assertEqual(set(json.loads(folders)), host_paths(task), task)
        commands = dict(zip(("reset", "reboot"), reboot))
        self.assertEqual(len(list(MANIFESTS.glob("task/re*.yaml"))), 3)
        for path in MANIFESTS.glob("task/re*.yaml"):
            (command,) = re.findall(r"command: (\[.*\])", path.read_text())
            self.assertEqual(
                re.findall(r"[^\[\], \"]+", command),
                json.loads(commands[path.stem.split("-")[0]]),
                path.name,
            )

    def test_no_pod_that_resets_or_reboots_has_privileges(self):
        for path in MANIFESTS.glob("task/re*.yaml"):
            text = path.read_text()
            self.assertNotIn("privileged:", text)
            self.assertNotIn("add:", text)
            self.assertIn("drop: [ALL]", text)

    def test_pods_that_reset_or_reboot_keep_off_the_control_plane(self):
        rule = "a pod that resets GPUs or reboots a node must not run on nodes of the control plane"

        def messages(*flags):
            return "\n".join(
                v.get("message", "") for v in policy("ostler-pods", *flags)["validations"]
            )

        self.assertIn(rule, messages())
        self.assertNotIn(rule, messages("--set", "controlPlaneNodes=true"))

    def test_the_toolkit_is_installed_where_the_program_allows_it(self):
        (ours,) = re.findall(
            r'#define POLICY_INSTALL_DIRS "([^"]+)"',
            (ROOT / "reconcilers/model/policy.h").read_text(),
        )
        values = (
            ((), ours.split(",")),
            (("--set", "allowedInstallDirs={/a/nvidia,/b/nvidia}"), ["/a/nvidia", "/b/nvidia"]),
        )
        for flags, dirs in values:
            _, said = re.findall(
                r"hostPath\.path in (\[.*?\])", expressions(policy("ostler-operands", *flags))
            )
            self.assertEqual(json.loads(said), dirs)
            (said,) = re.findall(
                r'installDir\.orValue\("/usr/local/nvidia"\) in (\[.*?\])',
                expressions(policy("ostler-images", *flags)),
            )
            self.assertEqual(json.loads(said), dirs)

    def test_a_directory_of_the_administrator_has_the_form_that_a_policy_may_ask_for(self):
        (form,) = re.findall(
            r'\[FORMAT_INSTALL_DIR\] = \{ "([^"]+)"',
            (ROOT / "reconcilers/model/policy_formats.c").read_text(),
        )
        schema = json.loads((ROOT / "charts/ostler/values.schema.json").read_text())
        self.assertEqual(schema["properties"]["allowedInstallDirs"]["items"]["pattern"], form)

    def test_the_control_plane_is_left_out_as_the_program_does(self):
        key = re.search(
            r'#define KUBERNETES_CONTROL_PLANE "([^"]+)"',
            (ROOT / "reconcilers/model/names.h").read_text(),
        )[1]
        self.assertIn(f'e.key == "{key}"', variable(policy("ostler-operands"), "keptOff"))
        self.assertIn("variables.keptOff", expressions(policy("ostler-operands")))
        self.assertNotIn(
            "keptOff", expressions(policy("ostler-operands", "--set", "controlPlaneNodes=true"))
        )

    def test_the_account_is_that_of_the_agents(self):
        (account,) = re.findall(
            r"serviceAccountName: (\S+)", (MANIFESTS / "node-agent/daemonset.yaml").read_text()
        )
        self.assertIn(
            f'variables.account in ["default", "{account}"]', expressions(policy("ostler-operands"))
        )

    def test_the_agent_has_the_rights_that_it_is_made_with(self):
        (added,) = re.findall(
            r"add: (\[.*\])", (MANIFESTS / "node-agent/daemonset.yaml").read_text()
        )
        (with_log,) = re.findall(
            r"add: (\[.*\])", (MANIFESTS / "node-agent/parts/kernel-log.yaml").read_text()
        )
        (allowed,) = re.findall(r"all\(k, k in (\[.*?\])", expressions(policy("ostler-operands")))
        self.assertEqual(allowed.replace('"', ""), with_log)
        self.assertEqual(with_log, added.replace("]", ", SYSLOG]"))

    def test_keys_of_kubernetes_are_those_of_its_domains(self):
        (form,) = set(re.findall(r'\bk\.matches\("(.*?)"\)', expressions(policy("ostler-nodes"))))
        for key, theirs in (
            ("kubernetes.io/a", True),
            ("node-role.kubernetes.io/a", True),
            ("a.b.k8s.io/c", True),
            ("k8s.io/a", True),
            ("microk8s.io/a", False),
            ("kubernetes.io", False),
            ("a.example/kubernetes.io/b", False),
            ("kubernetesxio/a", False),
            ("kubernetes.io.example/a", False),
            ("nvidia.com/gpu", False),
        ):
            self.assertEqual(bool(re.search(form, key)), theirs, key)

    def test_googles_installer_is_the_one_that_is_made(self):
        images = set(re.findall(r'c\.image == "([^"]+)"', expressions(policy("ostler-operands"))))
        self.assertEqual(
            images,
            set(re.findall(r"image: (cos-\S+)", (MANIFESTS / "driver/cos.yaml").read_text())),
        )

    def test_variables_come_from_where_the_manifests_have_them(self):
        self.assertEqual(set(re.findall(r"envFrom:\s+- (\w+):", manifests())), {"secretRef"})
        sources = set(re.findall(r"valueFrom:\s+(\w+):", manifests()))
        for name in ("ostler-operands", "ostler-pods"):
            said = re.findall(r"has\(e\.valueFrom\.(\w+)\)", expressions(policy(name)))
            self.assertEqual(set(said), sources, name)
            self.assertIn("c.?envFrom.orValue([]).all(f, false)", expressions(policy(name)))

    def test_a_secret_of_the_drivers_is_one_that_the_administrator_names(self):
        flags = ("--set", "allowedSettings={A_*,secretEnv=pro.x,secretEnv=tokens-*}")
        source = re.escape(
            'c.name in ["driver", "gdrcopy"] && has(f.secretRef) &&'
            ' f.secretRef.?name.orValue("").matches('
        )
        (form,) = re.findall(source + r'(".*?")\)', expressions(policy("ostler-operands", *flags)))
        for name, allowed in (
            ("pro.x", True),
            ("proxx", False),
            ("tokens-a", True),
            ("other-tokens-a", False),
            ("A_B", False),
        ):
            self.assertEqual(bool(re.search(json.loads(form), name)), allowed, name)
        self.assertIn(
            "c.?envFrom.orValue([]).all(f, false)", expressions(policy("ostler-pods", *flags))
        )

    def test_every_policy_is_bound_and_fails_closed(self):
        found = objects()
        policies = {
            p["metadata"]["name"]: p["spec"] for p in of_kind(found, "ValidatingAdmissionPolicy")
        }
        names = (
            "gpuclusterpolicies",
            "images",
            "inventories",
            "nodes",
            "operands",
            "pods",
            "services",
        )
        self.assertEqual(set(policies), {f"ostler-{name}" for name in names})
        self.assertEqual({s["failurePolicy"] for s in policies.values()}, {"Fail"})
        bindings = {
            b["spec"]["policyName"]: b["spec"]["validationActions"]
            for b in of_kind(found, "ValidatingAdmissionPolicyBinding")
        }
        self.assertEqual(bindings, dict.fromkeys(policies, ["Deny"]))

    def test_what_ostler_writes_on_a_policy_is_what_it_may(self):
        names = dict(
            re.findall(
                r'#define (POLICY_\w+) "(ostler\.dev/[^"]+)"',
                (ROOT / "reconcilers/model/policy.h").read_text(),
            )
        )
        said = set(
            re.findall(r'"(ostler\.dev/[^"]+)"', expressions(policy("ostler-gpuclusterpolicies")))
        )
        self.assertEqual(said, {names["POLICY_FINALIZER"], names["POLICY_FORCE_REMOVAL"]})
        self.assertIn(
            f'k == "{names["POLICY_FORCE_REMOVAL"]}" && has(object.metadata.deletionTimestamp))',
            expressions(policy("ostler-gpuclusterpolicies")),
        )

    def test_none_is_there_where_they_are_switched_off(self):
        found = objects("--set", "admissionPolicy.enabled=false")
        self.assertEqual(
            [o["metadata"]["name"] for o in found if o["kind"].startswith("ValidatingAdmission")],
            [],
        )

    def test_they_are_about_the_accounts_that_there_are(self):
        ours = (
            "ostler-operands",
            "ostler-pods",
            "ostler-nodes",
            "ostler-services",
            "ostler-gpuclusterpolicies",
        )
        users = {
            **dict.fromkeys(ours, "ostler-system:ostler"),
            "ostler-inventories": "ostler-operands:ostler-node",
        }
        for name, user in users.items():
            (condition,) = policy(name)["matchConditions"]
            self.assertEqual(
                condition["expression"],
                f'request.userInfo.username == "system:serviceaccount:{user}"',
            )


class Images(unittest.TestCase):
    """Where images may come from."""

    def test_prefixes_are_the_programs_own_by_default(self):
        (ours,) = re.findall(
            r'#define POLICY_IMAGE_PREFIXES "([^"]+)"',
            (ROOT / "reconcilers/model/policy.h").read_text(),
        )
        for name in ("ostler-images", "ostler-operands", "ostler-pods"):
            messages = [v.get("messageExpression", "") for v in policy(name)["validations"]]
            (said,) = re.findall(r'"([^"]*nvcr[^"]*)"', "\n".join(messages))
            self.assertEqual(said, ours.replace(",", ", "), name)

    def test_images_that_the_values_do_not_name_are_those_built_in(self):
        table = (ROOT / "reconcilers/model/operand_rows.h").read_text()
        rows = re.findall(r'OPERAND_IMAGE\(\s*(\w+),\s+"([^"]+)",\s+"([^"]+)",\s+"[^"]+"\)', table)
        sections = re.findall(
            r'^OPERAND\w*\(\s*(\w+),\s+(?:NULL|"[^"]+"),\s+"([^"]+)"', table, re.MULTILINE
        )
        field = {operand: section for operand, section in sections if "." not in section}
        spec = policy("ostler-images")
        for name, column in (("repositories", 1), ("names", 2)):
            said = dict(re.findall(r'"(\w+)": "([^"]+)"', variable(spec, name)))
            self.assertEqual(said, {field[row[0]]: row[column] for row in rows if row[0] in field})
        (gdrcopy,) = [row for row in rows if row[0] not in field]
        self.assertIn(
            'g.?repository.orValue("{1}") + "/" + g.?image.orValue("{2}")'.format(*gdrcopy),
            variable(spec, "images"),
        )
        for part, built_in in (("repository", gdrcopy[1]), ("image", gdrcopy[2])):
            self.assertIn(
                f"p.driver.?gdrcopy.?{part}"
                f'.orValue(variables.gdrcopy.?{part}.orValue("{built_in}"))',
                variable(spec, "images"),
            )

    def test_images_that_no_policy_can_name_need_no_prefix_and_no_digest(self):
        fixed = set(re.findall(r"image: (\S+[:@]\S+)", manifests()))
        for name in ("ostler-operands", "ostler-pods"):
            spec = policy(
                name,
                "--set",
                "allowedImagePrefixes={r.example},admissionPolicy.requireDigests=true",
            )
            rules = [
                rule
                for rule in (v["expression"] for v in spec["validations"])
                if rule.startswith("variables.containers.all(c, c.image")
            ]
            self.assertEqual(len(rules), 2, name)
            for rule in rules:
                (said,) = re.findall(r"c\.image in (\[.*?\])", rule)
                self.assertEqual(set(json.loads(said)), fixed, rule)

    def test_a_prefix_is_no_pattern(self):
        spec = policy("ostler-operands", "--set", "allowedImagePrefixes={r.example/a+b/,x}")
        (pattern,) = set(re.findall(r'c\.image\.matches\("(\^\(\(.*?)"\)', expressions(spec)))
        pattern = pattern.replace("\\\\", "\\")
        for image, taken in (
            ("r.example/a+b/c:1", True),
            ("r.example/a+b:1", True),
            ("x@sha256:0", True),
            ("x/y", True),
            ("rxexample/a+b/c:1", False),
            ("r.example/aab/c:1", False),
            ("xy/z", False),
            ("x:1/y", False),
            ("evil/x/y", False),
            ("ostler:1", True),
            ("ostler", True),
            ("ostler/x", False),
        ):
            with self.subTest(image):
                self.assertEqual(bool(re.match(pattern, image)), taken)
