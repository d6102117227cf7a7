"""The rights that the chart gives, against the resource table of the program."""

import re
import subprocess
import sys
import unittest

from rendering import NAMESPACE, OPERANDS, ROOT, hook, objects, of_kind, only

sys.path.insert(0, str(ROOT / "scripts"))
import c_source  # noqa: E402  the path above is what finds it

# Where the resources of the table are written and watched. Everywhere: a ClusterRole; else a Role
# in that namespace.
EVERYWHERE = "*"
SCOPES = {
    "gpuclusterpolicies": EVERYWHERE,
    "gpunodes": EVERYWHERE,
    "nodes": EVERYWHERE,
    "pods": EVERYWHERE,
    "runtimeclasses": EVERYWHERE,
    "poddisruptionbudgets": EVERYWHERE,
    "daemonsets": EVERYWHERE,
    "resourceslices": EVERYWHERE,
    "controllerrevisions": OPERANDS,
    "configmaps": OPERANDS,
    "services": OPERANDS,
    "servicemonitors": OPERANDS,
    "leases": (NAMESPACE, "default"),
    "customresourcedefinitions": EVERYWHERE,
    "namespaces": EVERYWHERE,
    "events": "default",
}

# Verbs that are given in one namespace only, though others on the same resource are given
# everywhere.
NARROWER = {
    ("pods", "create"): OPERANDS,
    **{("daemonsets", verb): OPERANDS for verb in ("create", "patch", "delete")},
    ("pods/log", "get"): OPERANDS,
}

# Verbs that are given for one object only, since its name is known.
NAMED = {
    ("gpuclusterpolicies", "patch"): "default",
    ("gpuclusterpolicies/status", "patch"): "default",
    ("runtimeclasses", "create"): "nvidia",
    ("runtimeclasses", "patch"): "nvidia",
    ("runtimeclasses", "delete"): "nvidia",
    ("customresourcedefinitions", "get"): "gpuclusterpolicies.ostler.dev gpunodes.ostler.dev",
    ("namespaces", "get"): OPERANDS,
}

# By which replicas of one installation, and installations in one cluster, know who acts.
LEASES = {NAMESPACE: "ostler", "default": "ostler-cluster"}

# What the hook before an uninstallation may do besides, for as long as it runs: (scope, resource,
# verb): name; None: any.
CLEANUP = {
    (EVERYWHERE, "gpuclusterpolicies", "delete"): "default",
    (
        EVERYWHERE,
        "customresourcedefinitions",
        "delete",
    ): "gpuclusterpolicies.ostler.dev gpunodes.ostler.dev",
    (EVERYWHERE, "namespaces", "delete"): OPERANDS,
    (NAMESPACE, "deployments", "delete"): "ostler",
    **{(scope, "leases", "delete"): name for scope, name in LEASES.items()},
    **{
        (EVERYWHERE, kind, verb): None
        for verb in ("list", "watch")
        for kind in (
            "daemonsets",
            "controllerrevisions",
            "services",
            "configmaps",
            "servicemonitors",
        )
    },
}


def table():
    """The rows of RESOURCES: {(group, resource or resource/subresource): {verbs}}."""
    rows = {}
    for row, _ in c_source.rows(ROOT / "lib/kube/resource.h", "RESOURCES"):
        _, group, _, _, plural, _, verbs, subresources, their_verbs = map(c_source.plain, row)
        if verbs:
            rows.setdefault((group, plural), set()).update(verbs.split(","))
        for subresource, verb in zip(filter(None, subresources.split(",")), their_verbs.split(",")):
            rows[group, f"{plural}/{subresource}"] = {verb}
    return rows


def roles_of(found, account):
    """The roles that are bound to an account for good."""
    bindings = of_kind(found, "RoleBinding") + of_kind(found, "ClusterRoleBinding")
    names = [
        binding["roleRef"]["name"]
        for binding in bindings
        if binding["subjects"][0]["name"] == account and not hook(binding)
    ]
    return [
        role
        for role in of_kind(found, "ClusterRole") + of_kind(found, "Role")
        if role["metadata"]["name"] in names
    ]


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
                for one in scope if isinstance(scope, tuple) else [scope]:
                    want.setdefault((one, group, resource), set()).add(verb)
        self.assertEqual({key: set(verbs) for key, verbs in self.rights.items()}, want)

    def test_rights_on_an_object_whose_name_is_known_are_for_that_one_only(self):
        named = {
            (scope, resource, verb): " ".join(names)
            for (scope, _, resource), verbs in self.rights.items()
            for verb, names in verbs.items()
            if names
        }
        leases = {
            (scope, "leases", verb): name
            for scope, name in LEASES.items()
            for verb in ("get", "update")
        }
        self.assertEqual(
            named, {**{(EVERYWHERE, *key): name for key, name in NAMED.items()}, **leases}
        )

    def test_no_role_has_wildcards_secrets_or_rights_on_rights(self):
        for _, group, resource in self.rights:
            self.assertNotIn("*", group + resource)
            self.assertNotEqual(group, "rbac.authorization.k8s.io")
            self.assertNotIn(
                resource, ("secrets", "serviceaccounts", "serviceaccounts/token", "pods/exec")
            )

    def test_an_agent_on_a_node_may_read_make_and_write_reports(self):
        self.assertEqual(
            granted(self.found, "ostler-node"),
            {
                (EVERYWHERE, "ostler.dev", "gpunodes"): {"get": None, "create": None},
                (EVERYWHERE, "ostler.dev", "gpunodes/status"): {"patch": None},
            },
        )

    def test_an_agent_is_held_to_its_own_node(self):
        (policy,) = [
            o
            for o in of_kind(self.found, "ValidatingAdmissionPolicy")
            if o["metadata"]["name"] == "ostler-inventories"
        ]
        (rule,), (condition,) = (
            policy["spec"]["matchConstraints"]["resourceRules"],
            policy["spec"]["matchConditions"],
        )
        self.assertEqual(
            (rule["operations"], rule["resources"]),
            (["CREATE", "UPDATE"], ["gpunodes", "gpunodes/status"]),
        )
        self.assertIn(f'"system:serviceaccount:{OPERANDS}:ostler-node"', condition["expression"])
        self.assertEqual(
            [
                b["spec"]
                for b in of_kind(self.found, "ValidatingAdmissionPolicyBinding")
                if b["metadata"]["name"] == "ostler-inventories"
            ],
            [{"policyName": "ostler-inventories", "validationActions": ["Deny"]}],
        )

    def test_every_role_is_bound_to_one_of_the_service_accounts_and_nothing_else_is(self):
        accounts = {
            o["metadata"]["name"]: o["metadata"]["namespace"]
            for o in of_kind(self.found, "ServiceAccount")
        }
        self.assertEqual(accounts, {"ostler": NAMESPACE, "ostler-node": OPERANDS})
        subjects = [
            {"kind": "ServiceAccount", "name": name, "namespace": namespace}
            for name, namespace in accounts.items()
        ]
        bindings = of_kind(self.found, "RoleBinding") + of_kind(self.found, "ClusterRoleBinding")
        for binding in bindings:
            self.assertIn(binding["subjects"], [[subject] for subject in subjects])
        roles = of_kind(self.found, "Role") + of_kind(self.found, "ClusterRole")

        def place(o, kind, name):
            return kind, o["metadata"].get("namespace"), name

        self.assertEqual(
            sorted(
                (place(b, b["roleRef"]["kind"], b["roleRef"]["name"]) for b in bindings), key=str
            ),
            sorted((place(r, r["kind"], r["metadata"]["name"]) for r in roles), key=str),
        )

    def test_the_documents_count_the_permissions(self):
        counted = subprocess.run(
            [ROOT / "scripts/count-rights"], check=True, capture_output=True, text=True
        ).stdout
        rules, given, everywhere, *none = re.findall(r"\d+", counted)
        self.assertEqual(none, ["0", "0", "0"], counted)
        for page, text in (
            (
                "figures.md",
                f"| {rules} rules, {given} permissions ({everywhere} of them in all namespaces);"
                " none with a wildcard, on Secrets, or to change RBAC objects |",
            ),
            ("comparison.md", f"| permissions | {given}; none on Secrets or RBAC |"),
        ):
            with self.subTest(page):
                self.assertIn(text, (ROOT / "docs" / page).read_text(encoding="utf-8"))

    def test_the_hook_may_delete_what_it_was_asked_to_and_nothing_else(self):
        for flags, unwanted in (
            ((), {"customresourcedefinitions"}),
            (("--set", "crds.keep=false"), set()),
            (("--set", "operandNamespace.keep=true"), {"customresourcedefinitions", "namespaces"}),
            (
                ("--set", "operandNamespace.create=false"),
                {"customresourcedefinitions", "namespaces"},
            ),
        ):
            with self.subTest(flags):
                found = objects(*flags)
                roles = [
                    o for o in of_kind(found, "ClusterRole") + of_kind(found, "Role") if hook(o)
                ]
                given = {
                    (role["metadata"].get("namespace", EVERYWHERE), resource, verb): rule.get(
                        "resourceNames"
                    )
                    for role in roles
                    for rule in role["rules"]
                    for resource in rule["resources"]
                    for verb in rule["verbs"]
                }
                given = {key: names and " ".join(names) for key, names in given.items()}
                self.assertEqual(
                    given, {key: name for key, name in CLEANUP.items() if key[1] not in unwanted}
                )
                self.assertEqual({hook(role) for role in roles}, {"pre-delete"})
