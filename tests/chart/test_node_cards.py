"""The pods that query NVML: what they may do, beside the admission policy that holds Ostler's
account to it, the agent that reads what they write, and the program that they run."""

import re
import unittest

from rendering import ROOT, read
from test_admission import expressions, policy


def daemonsets():
    """As Ostler renders them: for nodes with the runtime class, and with its default runtime."""
    return read((ROOT / "tests/golden/node-cards.yaml").read_text())


def pods():
    """Their templates."""
    return [d["spec"]["template"]["spec"] for d in daemonsets()]


class NodeCards(unittest.TestCase):
    """What asks the driver's library."""

    def test_each_kind_of_node_has_its_own(self):
        terms = [
            {e["key"]: (e["operator"], *e.get("values", [])) for e in term["matchExpressions"]}
            for p in pods()
            for term in p["affinity"]["nodeAffinity"][
                "requiredDuringSchedulingIgnoredDuringExecution"
            ]["nodeSelectorTerms"]
        ]
        self.assertEqual(
            [t["ostler.dev/node-cards"] for t in terms],
            [("DoesNotExist",), ("In", "default-runtime")],
        )
        self.assertEqual([p.get("runtimeClassName") for p in pods()], ["nvidia", None])
        selectors = [d["spec"]["selector"]["matchLabels"] for d in daemonsets()]
        for one, other in (selectors, selectors[::-1]):
            self.assertFalse(one.items() <= other.items())

    def test_they_leave_with_the_stack(self):
        """Ostler removes this label before it unloads a driver."""
        key = re.search(
            r'#define \w+ "(ostler.dev/stack)"', (ROOT / "reconcilers/model/names.h").read_text()
        )[1]
        for pod in pods():
            (term,) = pod["affinity"]["nodeAffinity"][
                "requiredDuringSchedulingIgnoredDuringExecution"
            ]["nodeSelectorTerms"]
            self.assertIn({"key": key, "operator": "Exists"}, term["matchExpressions"])
            self.assertLessEqual(pod["terminationGracePeriodSeconds"], 5)

    def test_their_one_right_is_to_enter_the_drivers_root(self):
        for pod in pods():
            (wait,), (cards,) = pod["initContainers"], pod["containers"]
            self.assertEqual(
                (wait["securityContext"]["capabilities"], cards["securityContext"]["capabilities"]),
                ({"drop": ["ALL"]}, {"drop": ["ALL"], "add": ["SYS_CHROOT"]}),
            )
            for container in (wait, cards):
                self.assertNotIn("privileged", container["securityContext"])
                self.assertIs(container["securityContext"]["allowPrivilegeEscalation"], False)
                self.assertIs(container["securityContext"]["readOnlyRootFilesystem"], True)
                self.assertEqual(
                    container["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"}
                )
            self.assertIs(pod["automountServiceAccountToken"], False)
            for field in ("hostNetwork", "hostPID", "hostIPC", "serviceAccountName"):
                self.assertNotIn(field, pod)
            self.assertEqual(
                [
                    m["mountPath"]
                    for c in (wait, cards)
                    for m in c["volumeMounts"]
                    if not m.get("readOnly")
                ],
                ["/run/nvidia/ostler"],
            )

    def test_the_admission_policy_holds_each_of_them_to_that(self):
        rules = expressions(policy("ostler-operands"))
        (component,) = re.findall(
            r'object\.spec\.template\.metadata\S*?orValue\(""\) != "([^"]+)"', rules
        )
        for daemonset in daemonsets():
            labels = daemonset["spec"]["template"]["metadata"]["labels"]
            self.assertEqual(labels["app.kubernetes.io/component"], component)
        self.assertIn('all(k, k == "SYS_CHROOT")', rules)

    def test_they_write_what_the_agent_reads(self):
        text = (ROOT / "node/inventory/nvml.h").read_text()
        file = re.search(r'#define NVML_FILE "(.*)"', text)[1]
        for pod in pods():
            self.assertIn(f"--to=/{file}", pod["containers"][0]["args"])

    def test_their_arguments_are_options_of_the_program(self):
        options = set(re.findall(r'\{\s+"(--[a-z-]+)"', (ROOT / "node/options.c").read_text()))
        for pod in pods():
            for container in pod["initContainers"] + pod["containers"]:
                self.assertLessEqual(
                    {a.split("=")[0] for a in container["args"] if a.startswith("--")}, options
                )


if __name__ == "__main__":
    unittest.main()
