"""The pods of the chart: the operator, what reads the cards of nodes, the Jobs of hooks."""

import json
import re
import unittest

from rendering import CHART, NAMESPACE, OPERANDS, ROOT, helm, hook, objects, of_kind, only, template


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
        self.assertEqual(
            container["securityContext"],
            {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
        )
        for field in ("hostNetwork", "hostPID", "hostIPC", "volumes"):
            self.assertNotIn(field, spec)
        self.assertIn("memory", container["resources"]["limits"])

    def test_ostlers_own_taints_do_not_keep_it_out(self):
        own = {
            re.search(rf'{name} "(.*)"', (ROOT / "reconcilers/model/names.h").read_text())[1]
            for name in ("TAINT_STARTUP", "TAINT_UPGRADE", "TAINT_UNHEALTHY")
        }
        fields = (ROOT / "reconcilers/model/policy_fields.c").read_text()
        key = re.search(
            r'define TAINT_FIELDS.*?STRING\("key", FORMAT_LABEL_KEY, (\w+),', fields, re.S
        )[1]
        own.add(re.search(rf'#define {key} "(.*)"', (ROOT / "lib/base/vendor.h").read_text())[1])
        custom = "policy.spec.nodes.taint.key=a.example/gpu"
        pool = "policy.spec.pools[0].taint.key=a.example/pool"
        said = '{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}'
        for flags, more in (
            ((), set()),
            (
                ("--set", "tolerations=null,admissionPolicy.startupTaintKeys={a.example/new}"),
                {"a.example/new"},
            ),
            (("--set", f"policy.create=true,tolerations=null,{custom}"), {"a.example/gpu"}),
            (("--set", f"policy.create=true,{pool}"), {"a.example/pool"}),
            (
                ("--set", "policy.create=true,policy.spec.rollout.taintKey=a.example/upgrade"),
                {"a.example/upgrade"},
            ),
            (("--set-json", f"tolerations=[{said}]"), set()),
            (("--set", "policy.create=true,policy.spec.nodes=null"), set()),
            (("--set", "policy.create=true,policy.spec.nodes.taint=null"), set()),
        ):
            found = self.pod(*flags)[0]["tolerations"]
            free = {
                t["key"]
                for t in found
                if t == {"key": t["key"], "operator": "Exists", "effect": "NoSchedule"}
            }
            self.assertLessEqual(own | more, free)
            self.assertEqual(
                len(found), len({tuple(t.items()) for t in found}), "none is there twice"
            )
        self.assertNotIn(
            "a.example/gpu", {t["key"] for t in self.pod("--set", custom)[0]["tolerations"]}
        )

    def test_only_the_pod_has_a_token(self):
        for account in of_kind(objects(), "ServiceAccount"):
            self.assertIs(account["automountServiceAccountToken"], False)
        self.assertIs(self.pod()[0]["automountServiceAccountToken"], True)

    def test_its_arguments_are_options_of_the_program(self):
        options = set(
            re.findall(r'\{\s+"(--[a-z-]+)"', (ROOT / "controller/options.c").read_text())
        )
        _, container = self.pod(
            "--set",
            (
                "allowedImagePrefixes={a.example/x,b.example},allowedSettings={--a,B_*},"
                "allowedInstallDirs={/a/nvidia,/b/nvidia}"
            ),
        )
        command, *flags = container["args"]
        self.assertEqual(command, "run")
        values = dict(flag.split("=", 1) for flag in flags)
        self.assertLessEqual(set(values), options)
        self.assertEqual(values["--allowed-image-prefixes"], "a.example/x,b.example")
        self.assertEqual(values["--allowed-settings"], "--a,B_*")
        self.assertEqual(values["--allowed-install-dirs"], "/a/nvidia,/b/nvidia")
        self.assertEqual(values["--namespace"], NAMESPACE)
        self.assertEqual(values["--operand-namespace"], OPERANDS)
        self.assertEqual(values["--agent-image"], container["image"])
        _, container = self.pod("--set", "allowedImagePrefixes={a:}")
        self.assertIn("--allowed-image-prefixes=a:", container["args"])

    def test_it_serves_the_control_plane_only_where_that_is_allowed(self):
        self.assertNotIn("--control-plane-nodes=true", self.pod()[1]["args"])
        self.assertIn(
            "--control-plane-nodes=true", self.pod("--set", "controlPlaneNodes=true")[1]["args"]
        )

    def test_it_repairs_only_where_that_is_allowed(self):
        self.assertNotIn("--allow-repairs=true", self.pod()[1]["args"])
        self.assertIn("--allow-repairs=true", self.pod("--set", "allowRepairs=true")[1]["args"])

    def test_required_nodes_are_in_each_term(self):
        wanted = {"key": "node-restriction.kubernetes.io/trusted", "operator": "Exists"}
        required = ("--set-json", f"requiredNodes=[{json.dumps(wanted)}]")

        def terms(*flags):
            nodes = self.pod(*flags)[0]["affinity"]["nodeAffinity"]
            return nodes.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get(
                "nodeSelectorTerms"
            )

        self.assertIsNone(terms())
        self.assertEqual(terms(*required), [{"matchExpressions": [wanted]}])
        own = [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {"matchFields": []}]
        terms_of = "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
        given = f"affinity.nodeAffinity.{terms_of}={json.dumps(own)}"
        self.assertEqual(
            [t["matchExpressions"] for t in terms(*required, "--set-json", given)],
            [[{"key": "a", "operator": "Exists"}, wanted], [wanted]],
        )
        self.assertIn(
            "preferredDuringSchedulingIgnoredDuringExecution",
            self.pod(*required)[0]["affinity"]["nodeAffinity"],
        )

    def test_probes_ask_the_port_that_it_listens_on(self):
        _, container = self.pod("--set", "port=9090")
        self.assertIn("--listen=:9090", container["args"])
        self.assertIn({"name": "http", "containerPort": 9090}, container["ports"])
        self.assertEqual(
            {k: container[k]["httpGet"] for k in ("livenessProbe", "readinessProbe")},
            {
                "livenessProbe": {"path": "/healthz", "port": "http"},
                "readinessProbe": {"path": "/readyz", "port": "http"},
            },
        )

    def test_the_page_is_reached_by_forwarding_a_port_only(self):
        def page(*flags):
            _, container = self.pod(*flags)
            args = [a for a in container["args"] if a.startswith("--fleet-")]
            return args, [p["containerPort"] for p in container["ports"] if p["name"] == "fleet"]

        self.assertEqual(page(), (["--fleet-listen=127.0.0.1:8081"], [8081]))
        self.assertEqual(page("--set", "fleetPage.enabled=false"), (["--fleet-listen="], []))
        self.assertEqual(
            page("--set", "fleetPage.listen=:8081,fleetPage.hosts={fleet.example.com,10.0.0.7}"),
            (["--fleet-listen=:8081", "--fleet-hosts=fleet.example.com,10.0.0.7"], [8081]),
        )

    def test_a_digest_wins_over_the_tag(self):
        digest = "sha256:" + "a" * 64
        self.assertEqual(
            self.pod("--set", "image.repository=r.example/o")[1]["image"], "r.example/o:0.1.0"
        )
        self.assertEqual(self.pod("--set", "image.tag=v2")[1]["image"], "ostler:v2")
        self.assertEqual(
            self.pod("--set", f"image.tag=v2,image.digest={digest}")[1]["image"], f"ostler@{digest}"
        )

    def test_a_profile_of_ones_own_needs_its_file(self):
        spec, _ = self.pod(
            "--set",
            "seccompProfile.type=Localhost,seccompProfile.localhostProfile=ostler/ostler.json",
        )
        self.assertEqual(
            spec["securityContext"]["seccompProfile"],
            {"type": "Localhost", "localhostProfile": "ostler/ostler.json"},
        )
        self.assertIn(
            "seccompProfile.localhostProfile",
            helm("template", CHART, "--set", "seccompProfile.type=Localhost").stderr,
        )

    def test_user_namespaces_are_left_to_the_cluster(self):
        self.assertNotIn("hostUsers", self.pod()[0])
        self.assertIs(self.pod("--set", "hostUsers=false")[0]["hostUsers"], False)

    def test_replicas_are_spread(self):
        spread = self.pod()[0]["topologySpreadConstraints"]
        self.assertEqual(
            [s["topologyKey"] for s in spread],
            ["kubernetes.io/hostname", "topology.kubernetes.io/zone"],
        )
        for constraint in spread:
            self.assertEqual(constraint["whenUnsatisfiable"], "ScheduleAnyway")
            self.assertEqual(
                constraint["labelSelector"], only(objects(), "Deployment")["spec"]["selector"]
            )

    def test_labels_of_a_user_cannot_replace_the_selector(self):
        deployment = only(
            objects("--set-string", r"podLabels.app\.kubernetes\.io/name=x,podLabels.team=y"),
            "Deployment",
        )
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        self.assertEqual(labels["team"], "y")
        self.assertLessEqual(deployment["spec"]["selector"]["matchLabels"].items(), labels.items())


class Hooks(unittest.TestCase):
    """What runs before an uninstallation."""

    def job(self, *flags):
        """The Job and its arguments, as a dictionary."""
        job = only(objects(*flags), "Job", "ostler-cleanup")
        command, *arguments = job["spec"]["template"]["spec"]["containers"][0]["args"]
        self.assertEqual(command, "cleanup")
        return job, dict((a.split("=", 1) + [None])[:2] for a in arguments)

    def test_it_can_be_left_out_with_its_rights(self):
        self.assertEqual([o for o in objects("--set", "cleanup.enabled=false") if hook(o)], [])

    def test_its_arguments_are_options_of_the_program(self):
        options = set(
            re.findall(r'\{\s+"(--[a-z-]+)"', (ROOT / "controller/options.c").read_text())
        )
        _, arguments = self.job("--set", "crds.keep=false,cleanup.force=true")
        self.assertLessEqual(set(arguments), options)
        self.assertEqual(
            (arguments["--namespace"], arguments["--operand-namespace"]), (NAMESPACE, OPERANDS)
        )
        written = re.findall(
            r'"(--[a-z-]+)', (ROOT / "charts/ostler/templates/hook-crds.yaml").read_text()
        )
        self.assertIn("--from", written)
        self.assertLessEqual(set(written), options)

    def test_it_takes_away_what_the_values_say(self):
        for flags, wanted in (
            ((), {"--delete-operand-namespace"}),
            (("--set", "operandNamespace.keep=true"), set()),
            (("--set", "operandNamespace.create=false"), set()),
            (("--set", "crds.keep=false,operandNamespace.keep=true"), {"--delete-crds"}),
            (("--set", "cleanup.force=true,operandNamespace.keep=true"), {"--force"}),
        ):
            with self.subTest(flags):
                _, arguments = self.job(*flags)
                self.assertEqual(
                    set(arguments) & {"--delete-operand-namespace", "--delete-crds", "--force"},
                    wanted,
                )
                self.assertLessEqual({"--delete-policy", "--delete-operator"}, set(arguments))

    def test_it_gives_up_by_itself_before_it_is_ended(self):
        for timeout, deadline in (
            ("4m30s", 570),
            ("1h1m1.5s", 3961),
            ("500ms", 300),
            ("99999h", 359996700),
        ):
            job, arguments = self.job("--set", f"cleanup.timeout={timeout}")
            self.assertEqual(
                (arguments["--timeout"], job["spec"]["activeDeadlineSeconds"]), (timeout, deadline)
            )
            self.assertEqual(job["spec"]["backoffLimit"], 0)

    def test_it_comes_after_its_rights_and_goes_only_when_all_is_well(self):
        weights = {
            o["kind"]: int(o["metadata"]["annotations"]["helm.sh/hook-weight"])
            for o in objects()
            if hook(o)
        }
        self.assertEqual(max(weights, key=weights.get), "Job")
        self.assertEqual(
            {
                o["metadata"]["annotations"]["helm.sh/hook-delete-policy"]
                for o in objects()
                if hook(o)
            },
            {"before-hook-creation,hook-succeeded"},
        )

    def test_its_pod_is_none_of_the_operators(self):
        job, _ = self.job()
        selector = only(objects(), "Deployment")["spec"]["selector"]["matchLabels"]
        labels = job["spec"]["template"]["metadata"]["labels"]
        self.assertFalse(selector.items() <= labels.items())

    def test_it_runs_as_the_operator_does(self):
        flags = (
            "--set",
            "priorityClassName=high,imagePullSecrets[0].name=pull,hostUsers=false,nodeSelector.a=b",
        )
        found = objects(*flags)
        operator = only(found, "Deployment")["spec"]["template"]["spec"]
        job = only(found, "Job", "ostler-cleanup")["spec"]["template"]["spec"]
        for field in (
            "securityContext",
            "priorityClassName",
            "imagePullSecrets",
            "hostUsers",
            "nodeSelector",
            "tolerations",
            "affinity",
            "serviceAccountName",
        ):
            self.assertEqual(job[field], operator[field], field)
        for field in ("image", "securityContext", "resources"):
            self.assertEqual(job["containers"][0][field], operator["containers"][0][field], field)

    def test_without_a_cluster_to_ask_no_crds_are_upgraded(self):
        self.assertNotIn("ostler-crds", template())
