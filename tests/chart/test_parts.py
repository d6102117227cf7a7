"""The other parts of the chart: namespaces, the policy, what is there for networks, drains and
monitoring."""

import json
import unittest

from rendering import CHART, NAMESPACE, OPERANDS, ROOT, helm, objects, of_kind, only


class Namespaces(unittest.TestCase):
    """Where operands run, and what stays after an uninstallation."""

    def test_operands_have_a_privileged_namespace_with_a_quota_for_critical_pods(self):
        found = objects()
        namespace, quota = only(found, "Namespace"), only(found, "ResourceQuota")
        self.assertEqual(namespace["metadata"]["name"], OPERANDS)
        self.assertEqual(
            namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "privileged"
        )
        self.assertEqual(quota["metadata"]["namespace"], OPERANDS)
        self.assertIn(
            "system-node-critical", quota["spec"]["scopeSelector"]["matchExpressions"][0]["values"]
        )

    def test_uninstalling_takes_no_driver_away(self):
        for kept in ("Namespace", "ResourceQuota", "GpuClusterPolicy"):
            annotations = only(objects("--set", "policy.create=true"), kept)["metadata"][
                "annotations"
            ]
            self.assertEqual(annotations["helm.sh/resource-policy"], "keep")

    def test_a_namespace_of_the_admins_own_is_not_made(self):
        found = objects("--set", "operandNamespace.create=false,operandNamespace.name=gpu")
        self.assertEqual(of_kind(found, "Namespace") + of_kind(found, "ResourceQuota"), [])
        self.assertIn("gpu", [role["metadata"]["namespace"] for role in of_kind(found, "Role")])

    def test_operands_may_not_share_the_operators_namespace(self):
        for flags in ((), ("--set", "operandNamespace.create=false")):
            self.assertIn(
                "must not be the release's namespace",
                helm("template", "ostler", CHART, "--namespace", OPERANDS, *flags).stderr,
            )


class Policy(unittest.TestCase):
    """The policy is passed through whole."""

    def test_there_is_none_unless_asked_for(self):
        self.assertEqual(of_kind(objects(), "GpuClusterPolicy"), [])

    def test_its_spec_is_what_the_values_say(self):
        spec = {
            "driver": {"version": "580.178.04"},
            "pools": [{"name": "a", "nodeSelector": {"x": "true"}}],
            "rollout": {},
        }
        policy = only(
            objects("--set", "policy.create=true", "--set-json", "policy.spec=" + json.dumps(spec)),
            "GpuClusterPolicy",
        )
        self.assertEqual((policy["metadata"]["name"], policy["spec"]), ("default", spec))

    def test_an_empty_spec_is_a_policy(self):
        self.assertEqual(
            only(objects("--set", "policy.create=true"), "GpuClusterPolicy")["spec"], {}
        )


class Marks(unittest.TestCase):
    """Labels and annotations."""

    def test_every_object_and_pod_has_those_of_the_values(self):
        everything = (
            "networkPolicy.enabled=true,"
            "metrics.dashboard.enabled=true,policy.create=true"
        )
        for flags in ((), ("--set", everything)):
            for found in objects(
                "--set", "commonLabels.team=gpu,commonAnnotations.owner=me", *flags
            ):
                pod = (
                    found["spec"]["template"]
                    if found["kind"] in ("Deployment", "Job", "DaemonSet")
                    else found
                )
                for metadata in (found["metadata"], pod["metadata"]):
                    with self.subTest(kind=found["kind"], name=found["metadata"]["name"]):
                        self.assertEqual(
                            (metadata["labels"]["team"], metadata["annotations"]["owner"]),
                            ("gpu", "me"),
                        )

    def test_the_charts_own_win(self):
        found = objects(
            "--set-string",
            r"commonLabels.app\.kubernetes\.io/name=x",
            "--set-string",
            r"commonAnnotations.helm\.sh/resource-policy=drop",
        )
        self.assertEqual(
            {o["metadata"]["labels"]["app.kubernetes.io/name"] for o in found}, {"ostler"}
        )
        self.assertEqual(
            only(found, "Namespace")["metadata"]["annotations"]["helm.sh/resource-policy"], "keep"
        )


class Availability(unittest.TestCase):
    """Drains and priorities."""

    def test_a_budget_is_there_only_where_one_replica_may_go(self):
        budget = only(objects(), "PodDisruptionBudget")["spec"]
        self.assertEqual(
            (budget["maxUnavailable"], budget["selector"]),
            (1, only(objects(), "Deployment")["spec"]["selector"]),
        )
        for flags in ("replicas=1", "replicas=0", "podDisruptionBudget.enabled=false"):
            self.assertEqual(of_kind(objects("--set", flags), "PodDisruptionBudget"), [], flags)

    def test_a_critical_class_has_its_quota(self):
        quotas = of_kind(
            objects("--set", "priorityClassName=system-cluster-critical"), "ResourceQuota"
        )
        self.assertEqual({q["metadata"]["namespace"] for q in quotas}, {NAMESPACE, OPERANDS})
        quotas = of_kind(objects("--set", "priorityClassName=high"), "ResourceQuota")
        self.assertEqual([q["metadata"]["namespace"] for q in quotas], [OPERANDS])


class Network(unittest.TestCase):
    """NetworkPolicies."""

    def policies(self, *flags):
        """That of the operator and that of the agents."""
        found = objects("--set", "networkPolicy.enabled=true", *flags)
        return [
            only(found, "NetworkPolicy", name)["spec"] for name in ("ostler", "ostler-node-agent")
        ]

    def test_there_are_none_unless_asked_for(self):
        self.assertEqual(of_kind(objects(), "NetworkPolicy"), [])

    def test_in_comes_who_reads_metrics(self):
        operator, agent = self.policies("--set", "networkPolicy.metricsNamespaces={a,b}")
        (rule,) = operator["ingress"]
        self.assertEqual(rule["ports"], [{"protocol": "TCP", "port": "http"}])
        self.assertEqual(
            rule["from"],
            [
                {
                    "namespaceSelector": {
                        "matchExpressions": [
                            {
                                "key": "kubernetes.io/metadata.name",
                                "operator": "In",
                                "values": ["a", "b"],
                            }
                        ]
                    }
                }
            ],
        )
        self.assertNotIn("ingress", {k: v for k, v in agent.items() if v})
        closed, _ = self.policies("--set-json", "networkPolicy.metricsNamespaces=[]")
        self.assertFalse(closed.get("ingress"))
        self.assertEqual(closed["policyTypes"], ["Ingress", "Egress"])

    def test_in_comes_who_reads_the_page(self):
        operator, _ = self.policies("--set", "fleetPage.namespaces={ingress}")
        page, metrics = operator["ingress"]
        self.assertEqual(page["ports"], [{"protocol": "TCP", "port": "fleet"}])
        self.assertEqual(
            page["from"][0]["namespaceSelector"]["matchExpressions"][0]["values"], ["ingress"]
        )
        self.assertEqual(metrics["ports"], [{"protocol": "TCP", "port": "http"}])
        operator, _ = self.policies("--set", "fleetPage.namespaces={ingress}", "--set-json",
                                    "networkPolicy.metricsNamespaces=[]")
        self.assertEqual([r["ports"][0]["port"] for r in operator["ingress"]], ["fleet"])

    def test_out_go_questions_for_names_and_to_the_api_server(self):
        for policy in self.policies(
            "--set", "networkPolicy.apiServerPorts={8443},networkPolicy.apiServerCidrs={10.0.0.0/8}"
        ):
            names, server = policy["egress"]
            self.assertEqual(
                {(p["protocol"], p["port"]) for p in names["ports"]}, {("UDP", 53), ("TCP", 53)}
            )
            self.assertEqual(
                server,
                {
                    "ports": [{"protocol": "TCP", "port": 8443}],
                    "to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}],
                },
            )
        for policy in self.policies("--set", "networkPolicy.dns=false"):
            (server,) = policy["egress"]
            self.assertEqual(
                ([p["port"] for p in server["ports"]], "to" in server), ([443, 6443], False)
            )

    def test_they_are_about_the_pods_that_there_are(self):
        operator, agent = self.policies()
        for kind in ("Deployment", "Job"):
            labels = only(objects(), kind)["spec"]["template"]["metadata"]["labels"]
            self.assertLessEqual(operator["podSelector"]["matchLabels"].items(), labels.items())
        manifest = (ROOT / "reconcilers/manifests/node-agent/daemonset.yaml").read_text()
        component = agent["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
        self.assertIn(f"app.kubernetes.io/component: {component}\n", manifest)


class Metrics(unittest.TestCase):
    """What is there for Prometheus and Grafana."""

    ALL = (
        "--set",
        "metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true,"
        "metrics.dashboard.enabled=true",
    )

    def test_only_the_service_is_there_unless_asked_for(self):
        found = objects()
        service = only(found, "Service")["spec"]
        self.assertEqual(
            (service["ports"][0]["port"], service["ports"][0]["targetPort"]), (8080, "http")
        )
        self.assertEqual(
            service["selector"], only(found, "Deployment")["spec"]["selector"]["matchLabels"]
        )
        for kind in ("ServiceMonitor", "PrometheusRule", "ConfigMap"):
            self.assertEqual(of_kind(found, kind), [])
        self.assertEqual(of_kind(objects("--set", "metrics.service.enabled=false"), "Service"), [])

    def test_a_monitor_finds_the_service(self):
        found = objects(
            *self.ALL,
            "--set",
            "metrics.serviceMonitor.labels.release=p,metrics.serviceMonitor.interval=1m",
        )
        monitor, service = only(found, "ServiceMonitor"), only(found, "Service")
        self.assertLessEqual(
            monitor["spec"]["selector"]["matchLabels"].items(),
            service["metadata"]["labels"].items(),
        )
        self.assertEqual(monitor["spec"]["namespaceSelector"]["matchNames"], [NAMESPACE])
        (endpoint,) = monitor["spec"]["endpoints"]
        self.assertEqual(
            (endpoint["port"], endpoint["interval"]), (service["spec"]["ports"][0]["name"], "1m")
        )
        self.assertEqual(monitor["metadata"]["labels"]["release"], "p")
        said = helm("template", CHART, *self.ALL, "--set", "metrics.service.enabled=false").stderr
        self.assertIn("needs metrics.service.enabled", said)

    def test_alerts_and_dashboard_are_those_of_the_files(self):
        found = objects(*self.ALL, "--set", "metrics.prometheusRule.labels.release=p")
        rule = only(found, "PrometheusRule")
        text = (CHART / "files/alerts.yaml").read_text()
        names = [r["alert"] for group in rule["spec"]["groups"] for r in group["rules"]]
        self.assertTrue(names)
        self.assertEqual(len(names), text.count("alert: "))
        self.assertIn("{{ $labels.instance }}", json.dumps(rule))
        self.assertEqual(rule["metadata"]["labels"]["release"], "p")
        dashboard = only(found, "ConfigMap", "ostler-dashboard")
        self.assertEqual(
            dashboard["data"]["ostler.json"].rstrip(),
            (CHART / "files/dashboard.json").read_text().rstrip(),
        )
        self.assertEqual(dashboard["metadata"]["labels"]["grafana_dashboard"], "1")

    def test_each_alert_has_the_address_of_its_runbook(self):
        def addresses(*arguments):
            rule = only(objects(*self.ALL, *arguments), "PrometheusRule")
            return {
                r["alert"]: r["annotations"]["runbook_url"]
                for group in rule["spec"]["groups"]
                for r in group["rules"]
            }

        self.assertEqual(addresses()["OstlerGpusLost"], "docs/runbooks/OstlerGpusLost.md")
        form = "https://docs.example.com:8443/book/{alert}.html#look"
        given = addresses("--set", "metrics.prometheusRule.runbookUrl=" + form)
        self.assertEqual(given, {name: form.replace("{alert}", name) for name in given})
        for wrong in ("docs.example.com/{alert}", "https://docs.example.com/", 'https://{alert}"'):
            said = helm(
                "template", CHART, *self.ALL, "--set", "metrics.prometheusRule.runbookUrl=" + wrong
            ).stderr
            self.assertIn("runbookUrl", said)

    def test_memory_is_measured_by_the_limit(self):
        self.assertEqual((CHART / "files/alerts.yaml").read_text().count("50331648"), 1)
        for limit, three_quarters in (
            ('"64Mi"', 48 << 20),
            ('"128Mi"', 96 << 20),
            ('"0.5Gi"', 384 << 20),
            ('"100M"', 75000000),
            ("100000000", 75000000),
            ('"100000000"', 75000000),
            ('"64000000000m"', 48000000),
            ("null", 48 << 20),
        ):
            found = objects(*self.ALL, "--set-json", f"resources.limits.memory={limit}")
            groups = only(found, "PrometheusRule")["spec"]["groups"]
            (alert,) = [
                rule
                for group in groups
                for rule in group["rules"]
                if rule["alert"] == "OstlerMemory"
            ]
            self.assertTrue(
                alert["expr"].endswith(f" > {three_quarters}"), f"{limit}: {alert['expr']}"
            )
