#!/usr/bin/python3
"""Holds charts/ostler against the program: the rights against the resource table, the arguments against the command line, the
CRDs against crds/, the values against their schema and the README. Renders with helm and needs no cluster.

The last line is "chart: N passed, N failed".
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "charts" / "ostler"
NAMESPACE, OPERANDS = "ostler-system", "ostler-operands"

# Where the resources of the table are written and watched. Everywhere: a ClusterRole; else a Role in that namespace.
EVERYWHERE = "*"
SCOPES = {
    "gpuclusterpolicies": EVERYWHERE,
    "gpunodes": EVERYWHERE,
    "nodes": EVERYWHERE,
    "pods": EVERYWHERE,
    "runtimeclasses": EVERYWHERE,
    "poddisruptionbudgets": EVERYWHERE,
    "daemonsets": OPERANDS,
    "controllerrevisions": OPERANDS,
    "configmaps": OPERANDS,
    "services": OPERANDS,
    "servicemonitors": OPERANDS,
    "leases": NAMESPACE,
    "events": "default",
}

# Verbs that are given in one namespace only, though others on the same resource are given everywhere.
NARROWER = {
    ("pods", "create"): OPERANDS,
    ("pods/log", "get"): OPERANDS,
}

# Verbs that are given for one object only, since its name is known.
NAMED = {
    ("gpuclusterpolicies", "patch"): "default",
    ("gpuclusterpolicies/status", "patch"): "default",
    ("runtimeclasses", "create"): "nvidia",
    ("runtimeclasses", "patch"): "nvidia",
    ("runtimeclasses", "delete"): "nvidia",
    ("leases", "get"): "ostler",
    ("leases", "update"): "ostler",
}


def tool(name):
    """A program of the end-to-end world."""
    where = subprocess.run([ROOT / "e2e/world/build", "--where"], check=True, capture_output=True, text=True).stdout.strip()
    return str(pathlib.Path(where) / name)


def helm(*args):
    """Runs helm and returns what came of it."""
    return subprocess.run([tool("helm"), *map(str, args)], capture_output=True, text=True, check=False)


def template(*flags):
    """The rendered chart as text."""
    done = helm("template", "ostler", CHART, "--namespace", NAMESPACE, *flags)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def objects(*flags):
    """The rendered objects. kubectl reads the YAML: an annotation set on a local copy makes it print JSON."""
    done = subprocess.run([tool("kubectl"), "--kubeconfig", os.devnull, "annotate", "--local", "-f", "-", "-o", "json",
                           "read=yes"],
                          input=template(*flags), capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    decoder, text, found = json.JSONDecoder(), done.stdout.strip(), []
    while text:
        item, end = decoder.raw_decode(text)
        found.append(item)
        text = text[end:].lstrip()
    return found


def of_kind(found, kind):
    """Those of a kind."""
    return [o for o in found if o["kind"] == kind]


def only(found, kind):
    """The one of a kind."""
    (one,) = of_kind(found, kind)
    return one


def table():
    """The rows of RESOURCES: {(group, resource or resource/subresource): {verbs}}."""
    text = (ROOT / "controller/kube/resource.h").read_text()
    text = re.search(r"#define RESOURCES\(X\)(.*?)\n\n", text, re.S)[1].replace("\\\n", "")
    rows = {}
    for row in re.findall(r"X\((.*?)\)", text):
        _, group, _, _, plural, _, verbs, subresources, their_verbs = [part.strip().strip('"')
                                                                       for part in re.findall(r'"[^"]*"|\w+', row)]
        rows.setdefault((group, plural), set()).update(verbs.split(","))
        for subresource, verb in zip(filter(None, subresources.split(",")), their_verbs.split(",")):
            rows[group, f"{plural}/{subresource}"] = {verb}
    return rows


def roles_of(found, account):
    """The roles that are bound to an account."""
    bindings = of_kind(found, "RoleBinding") + of_kind(found, "ClusterRoleBinding")
    names = [binding["roleRef"]["name"] for binding in bindings if binding["subjects"][0]["name"] == account]
    return [role for role in of_kind(found, "ClusterRole") + of_kind(found, "Role") if role["metadata"]["name"] in names]


def granted(found, account="ostler"):
    """What the roles give to an account: {(scope, group, resource): {verb: names or None}}."""
    rights = {}
    for role in roles_of(found, account):
        scope = role["metadata"].get("namespace", EVERYWHERE)
        for rule in role["rules"]:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    verbs = rights.setdefault((scope, group, resource), {})
                    for verb in rule["verbs"]:
                        assert verb not in verbs, f"{verb} {resource} is given twice"
                        verbs[verb] = rule.get("resourceNames")
    return rights


class Rights(unittest.TestCase):
    """Neither too wide nor too narrow."""

    def setUp(self):
        self.found = objects()
        self.rights = granted(self.found)

    def test_each_right_is_in_the_resource_table_and_the_other_way_round(self):
        want = {}
        for (group, resource), verbs in table().items():
            for verb in verbs:
                scope = NARROWER.get((resource, verb), SCOPES[resource.split("/")[0]])
                want.setdefault((scope, group, resource), set()).add(verb)
        self.assertEqual({key: set(verbs) for key, verbs in self.rights.items()}, want)

    def test_rights_on_an_object_whose_name_is_known_are_for_that_one_only(self):
        named = {(resource, verb): names for (_, _, resource), verbs in self.rights.items()
                 for verb, names in verbs.items() if names}
        self.assertEqual(named, {key: [name] for key, name in NAMED.items()})

    def test_no_role_has_wildcards_secrets_or_rights_on_rights(self):
        for _, group, resource in self.rights:
            self.assertNotIn("*", group + resource)
            self.assertNotEqual(group, "rbac.authorization.k8s.io")
            self.assertNotIn(resource, ("secrets", "serviceaccounts", "serviceaccounts/token", "pods/exec"))

    def test_an_agent_on_a_node_may_read_make_and_write_reports(self):
        self.assertEqual(granted(self.found, "ostler-node"),
                         {(EVERYWHERE, "ostler.dev", "gpunodes"): {"get": None, "create": None},
                          (EVERYWHERE, "ostler.dev", "gpunodes/status"): {"patch": None}})

    def test_an_agent_is_held_to_its_own_node(self):
        (policy,) = [o for o in of_kind(self.found, "ValidatingAdmissionPolicy") if o["metadata"]["name"] == "ostler-inventories"]
        (rule,), (condition,) = policy["spec"]["matchConstraints"]["resourceRules"], policy["spec"]["matchConditions"]
        self.assertEqual((rule["operations"], rule["resources"]), (["CREATE", "UPDATE"], ["gpunodes", "gpunodes/status"]))
        self.assertIn(f'"system:serviceaccount:{OPERANDS}:ostler-node"', condition["expression"])
        self.assertEqual([b["spec"] for b in of_kind(self.found, "ValidatingAdmissionPolicyBinding")
                          if b["metadata"]["name"] == "ostler-inventories"],
                         [{"policyName": "ostler-inventories", "validationActions": ["Deny"]}])

    def test_every_role_is_bound_to_one_of_the_service_accounts_and_nothing_else_is(self):
        accounts = {o["metadata"]["name"]: o["metadata"]["namespace"] for o in of_kind(self.found, "ServiceAccount")}
        self.assertEqual(accounts, {"ostler": NAMESPACE, "ostler-node": OPERANDS})
        subjects = [{"kind": "ServiceAccount", "name": name, "namespace": namespace} for name, namespace in accounts.items()]
        bindings = of_kind(self.found, "RoleBinding") + of_kind(self.found, "ClusterRoleBinding")
        for binding in bindings:
            self.assertIn(binding["subjects"], [[subject] for subject in subjects])
        roles = of_kind(self.found, "Role") + of_kind(self.found, "ClusterRole")

        def place(o, kind, name):
            return kind, o["metadata"].get("namespace"), name

        self.assertEqual(sorted((place(b, b["roleRef"]["kind"], b["roleRef"]["name"]) for b in bindings), key=str),
                         sorted((place(r, r["kind"], r["metadata"]["name"]) for r in roles), key=str))


class Pod(unittest.TestCase):
    """The operator's pod."""

    def pod(self, *flags):
        """Its template and its one container."""
        spec = only(objects(*flags), "Deployment")["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        return spec, container

    def test_it_meets_the_restricted_standard(self):
        spec, container = self.pod()
        self.assertTrue(spec["securityContext"]["runAsNonRoot"])
        self.assertEqual(spec["securityContext"]["runAsUser"], 65532)
        self.assertEqual(spec["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
        self.assertEqual(container["securityContext"], {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                                        "capabilities": {"drop": ["ALL"]}})
        for field in ("hostNetwork", "hostPID", "hostIPC", "volumes"):
            self.assertNotIn(field, spec)
        self.assertIn("memory", container["resources"]["limits"])

    def test_only_the_pod_has_a_token(self):
        for account in of_kind(objects(), "ServiceAccount"):
            self.assertIs(account["automountServiceAccountToken"], False)
        self.assertIs(self.pod()[0]["automountServiceAccountToken"], True)

    def test_its_arguments_are_options_of_the_program(self):
        options = set(re.findall(r'\{ "(--[a-z-]+)"', (ROOT / "controller/options.c").read_text()))
        _, container = self.pod("--set", "allowedImagePrefixes={a.example/x,b.example}")
        command, *flags = container["args"]
        self.assertEqual(command, "run")
        values = dict(flag.split("=", 1) for flag in flags)
        self.assertLessEqual(set(values), options)
        self.assertEqual(values["--allowed-image-prefixes"], "a.example/x,b.example")
        self.assertEqual(values["--namespace"], NAMESPACE)
        self.assertEqual(values["--operand-namespace"], OPERANDS)
        self.assertEqual(values["--agent-image"], container["image"])

    def test_probes_ask_the_port_that_it_listens_on(self):
        _, container = self.pod("--set", "port=9090")
        self.assertIn("--listen=:9090", container["args"])
        self.assertEqual(container["ports"], [{"name": "http", "containerPort": 9090}])
        self.assertEqual({k: container[k]["httpGet"] for k in ("livenessProbe", "readinessProbe")},
                         {"livenessProbe": {"path": "/healthz", "port": "http"},
                          "readinessProbe": {"path": "/readyz", "port": "http"}})

    def test_a_digest_wins_over_the_tag(self):
        digest = "sha256:" + "a" * 64
        self.assertEqual(self.pod("--set", "image.repository=r.example/o")[1]["image"], "r.example/o:0.1.0")
        self.assertEqual(self.pod("--set", "image.tag=v2")[1]["image"], "ostler:v2")
        self.assertEqual(self.pod("--set", f"image.tag=v2,image.digest={digest}")[1]["image"], f"ostler@{digest}")

    def test_labels_of_a_user_cannot_replace_the_selector(self):
        deployment = only(objects("--set-string", r"podLabels.app\.kubernetes\.io/name=x,podLabels.team=y"), "Deployment")
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        self.assertEqual(labels["team"], "y")
        self.assertLessEqual(deployment["spec"]["selector"]["matchLabels"].items(), labels.items())


class Cards(unittest.TestCase):
    """What asks the driver's library, where it is wanted."""

    def pod(self, *flags):
        """Its template."""
        return only(objects("--set", "nodeCards.enabled=true", *flags), "DaemonSet")["spec"]["template"]["spec"]

    def test_it_is_there_only_when_asked_for(self):
        self.assertEqual(of_kind(objects(), "DaemonSet"), [])

    def test_its_one_right_is_to_enter_the_drivers_root(self):
        pod = self.pod()
        (wait,), (cards,) = pod["initContainers"], pod["containers"]
        self.assertEqual((wait["securityContext"]["capabilities"], cards["securityContext"]["capabilities"]),
                         ({"drop": ["ALL"]}, {"drop": ["ALL"], "add": ["SYS_CHROOT"]}))
        for container in (wait, cards):
            self.assertNotIn("privileged", container["securityContext"])
            self.assertIs(container["securityContext"]["allowPrivilegeEscalation"], False)
        self.assertIs(pod["automountServiceAccountToken"], False)
        for field in ("hostNetwork", "hostPID", "hostIPC", "serviceAccountName"):
            self.assertNotIn(field, pod)
        self.assertEqual([m["mountPath"] for c in (wait, cards) for m in c["volumeMounts"] if not m.get("readOnly")],
                         ["/run/nvidia/ostler"])

    def test_it_writes_what_the_agent_reads(self):
        (cards,) = self.pod()["containers"]
        file = re.search(r'#define NVML_FILE "(.*)"', (ROOT / "node/look/nvml.h").read_text())[1]
        self.assertIn(f"--to=/{file}", cards["args"])

    def test_its_arguments_are_options_of_the_program(self):
        options = set(re.findall(r'\{ "(--[a-z-]+)"', (ROOT / "node/options.c").read_text()))
        pod = self.pod()
        for container in pod["initContainers"] + pod["containers"]:
            self.assertLessEqual({a.split("=")[0] for a in container["args"] if a.startswith("--")}, options)
            self.assertEqual(container["image"], "ostler:0.1.0")

    def test_without_a_runtime_class_the_default_runtime_gives_devices(self):
        self.assertEqual(self.pod()["runtimeClassName"], "nvidia")
        self.assertNotIn("runtimeClassName", self.pod("--set", "nodeCards.runtimeClassName="))


class Namespaces(unittest.TestCase):
    """Where operands run, and what stays after an uninstallation."""

    def test_operands_have_a_privileged_namespace_with_a_quota_for_critical_pods(self):
        found = objects()
        namespace, quota = only(found, "Namespace"), only(found, "ResourceQuota")
        self.assertEqual(namespace["metadata"]["name"], OPERANDS)
        self.assertEqual(namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "privileged")
        self.assertEqual(quota["metadata"]["namespace"], OPERANDS)
        self.assertIn("system-node-critical", quota["spec"]["scopeSelector"]["matchExpressions"][0]["values"])

    def test_uninstalling_takes_no_driver_away(self):
        for kept in ("Namespace", "ResourceQuota", "GpuClusterPolicy"):
            annotations = only(objects("--set", "policy.create=true"), kept)["metadata"]["annotations"]
            self.assertEqual(annotations["helm.sh/resource-policy"], "keep")

    def test_a_namespace_of_the_admins_own_is_not_made(self):
        found = objects("--set", "operandNamespace.create=false,operandNamespace.name=gpu")
        self.assertEqual(of_kind(found, "Namespace") + of_kind(found, "ResourceQuota"), [])
        self.assertIn("gpu", [role["metadata"]["namespace"] for role in of_kind(found, "Role")])

    def test_operands_may_not_share_the_operators_namespace(self):
        self.assertIn("must not be the release's namespace",
                      helm("template", "ostler", CHART, "--namespace", OPERANDS).stderr)


class Policy(unittest.TestCase):
    """The policy is passed through whole."""

    def test_there_is_none_unless_asked_for(self):
        self.assertEqual(of_kind(objects(), "GpuClusterPolicy"), [])

    def test_its_spec_is_what_the_values_say(self):
        spec = {"driver": {"version": "580.95.05"}, "pools": [{"name": "a", "nodeSelector": {"x": "true"}}], "rollout": {}}
        policy = only(objects("--set", "policy.create=true", "--set-json", "policy.spec=" + json.dumps(spec)), "GpuClusterPolicy")
        self.assertEqual((policy["metadata"]["name"], policy["spec"]), ("default", spec))

    def test_an_empty_spec_is_a_policy(self):
        self.assertEqual(only(objects("--set", "policy.create=true"), "GpuClusterPolicy")["spec"], {})


class Values(unittest.TestCase):
    """What helm accepts."""

    def test_it_lints(self):
        done = helm("lint", "--strict", CHART, "--namespace", NAMESPACE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_values_of_another_name_or_type_are_refused(self):
        for flags in (("--set", "replica=3"), ("--set-string", "replicas=3"), ("--set", "log.level=loud"),
                      ("--set", "log.level=null"), ("--set", "policy.enabled=true"), ("--set", "absentPolicyGrace=soon"),
                      ("--set", "image.digest=latest"), ("--set", "port=80"), ("--set", "operandNamespace.name=Gpu"),
                      ("--set", "allowedImagePrefixes={a b}"), ("--set", "policy.spec=x")):
            with self.subTest(flags):
                done = helm("template", "ostler", CHART, "--namespace", NAMESPACE, *flags)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("values don't meet the specifications of the schema", done.stderr)

    def test_the_notes_ask_for_a_repository_where_none_is_set(self):
        for repository, asked in (("ostler", True), ("registry.example.com/ostler", False)):
            done = helm("install", "ostler", CHART, "--dry-run=client", "--namespace", NAMESPACE, "--set",
                        f"image.repository={repository}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("--set image.repository=" in done.stdout, asked)

    def test_each_value_is_in_the_schema_and_in_the_readme(self):
        named = re.findall(r"^(\w+):", (CHART / "values.yaml").read_text(), re.M)
        schema = json.loads((CHART / "values.schema.json").read_text())
        self.assertEqual(set(named) | {"global"}, set(schema["properties"]))
        rows = re.findall(r"^\| `(\w+)", (CHART / "README.md").read_text(), re.M)
        self.assertEqual(set(rows), set(named))

    def test_crds_are_those_of_the_repository(self):
        ours = {path.name: path.read_text() for path in (ROOT / "crds").glob("*.yaml")}
        packaged = {path.name: path.read_text() for path in (CHART / "crds").glob("*.yaml")}
        self.assertEqual(sorted(packaged), sorted(ours), "run make chart-crds")
        for name, text in ours.items():
            self.assertTrue(packaged[name] == text, f"{name}: run make chart-crds")


def main():
    """Runs all and counts."""
    result = unittest.TextTestRunner(stream=sys.stdout).run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__]))
    failed = len(result.failures) + len(result.errors)
    print(f"chart: {result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
