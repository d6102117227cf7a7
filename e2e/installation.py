"""Puts Ostler's objects into a cluster, as an administrator would."""

import contextlib
import subprocess

import admission
import kube
import names

PROMETHEUS_OPERATOR = names.ROOT / "e2e/world/monitoring.yaml"
DIGEST = "sha256:" + "0123456789abcdef" * 4
# Flags of helm that render every object of the chart, with every part of it.
ALL_THAT_IS_OPTIONAL = (
    "--set",
    "networkPolicy.enabled=true,networkPolicy.apiServerCidrs={10.0.0.0/24},"
    "networkPolicy.apiServerPorts={8443}",
    "--set",
    "metrics.serviceMonitor.enabled=true,metrics.serviceMonitor.labels.release=prometheus",
    "--set",
    "metrics.serviceMonitor.interval=1m,metrics.service.annotations.note=b,"
    "metrics.dashboard.labels.grafana=b",
    "--set",
    "metrics.prometheusRule.enabled=true,metrics.prometheusRule.labels.release=prometheus,"
    "metrics.prometheusRule.runbookUrl=https://docs.example.com/runbooks/{alert}.html",
    "--set",
    "metrics.dashboard.enabled=true,metrics.dashboard.annotations.folder=GPU",
    "--set",
    "policy.create=true,policy.spec.exporter.enabled=false,operandNamespace.keep=true",
    "--set",
    "allowedSettings={A_*,secretEnv=pro-*}",
    "--set",
    "allowedInstallDirs={/srv/nvidia,/usr/local/nvidia}",
    "--set",
    "controlPlaneNodes=true,requiredNodes[0].key=node-role.kubernetes.io/control-plane,"
    "requiredNodes[0].operator=Exists",
    "--set",
    "fleetPage.listen=:8081,fleetPage.hosts={fleet.example.com},fleetPage.namespaces={ingress}",
    "--set",
    "allowRepairs=true,"
    "absentPolicyGrace=1h,log.level=debug,log.format=text,resources.limits.memory=128Mi,"
    "image.pullPolicy=Always",
    "--set",
    "admissionPolicy.requireDigests=true,"
    "allowedImagePrefixes={registry.example.com:5000/gpu/,nvcr.io}",
    "--set",
    "commonLabels.team=gpu,commonAnnotations.owner=platform,podLabels.zone=a,podAnnotations.note=b",
    "--set",
    "crds.keep=false,cleanup.force=true,cleanup.timeout=1h1m",
    "--set",
    "priorityClassName=system-cluster-critical",
    "--set",
    f"image.repository=registry.example.com:5000/ostler,image.digest={DIGEST},"
    f"imagePullSecrets[0].name=pull",
    "--set",
    "seccompProfile.type=Localhost,seccompProfile.localhostProfile=ostler/ostler.json",
    *([] if names.OLDEST else ["--set", "hostUsers=false"]),  # Kubernetes 1.30 drops the field
    "--set",
    "podDisruptionBudget.maxUnavailable=50%,terminationGracePeriodSeconds=30,replicas=3,port=9090",
)


def render(world, *flags, chart=names.CHART):
    """What the chart renders with these flags of helm, as text."""
    return subprocess.run(
        [world.tool("helm"), "template", "ostler", chart, "--namespace", names.NAMESPACE, *flags],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def _kinds(client):
    """The path of all objects of each kind that can be listed."""
    versions = ["/api/v1"] + [
        f"/apis/{g['preferredVersion']['groupVersion']}"
        for g in client.request("GET", "/apis")["groups"]
    ]
    return {
        (path, r["name"])
        for path in versions
        for r in client.request("GET", path)["resources"]
        if "list" in r["verbs"]
        and "/" not in r["name"]
        and r["name"] not in ("events", "componentstatuses")
    }


def _marks(node):
    """What Ostler or another program could leave on a node, as keys."""
    taints = [f"taint {t['key']}:{t['effect']}" for t in node["spec"].get("taints", [])]
    conditions = [f"condition {c['type']}" for c in node["status"].get("conditions", [])]
    where = ("labels", "annotations", "finalizers")
    return {
        *taints,
        *conditions,
        *(f"{part[:-1]} {key}" for part in where for key in node["metadata"].get(part, ())),
    }


def everything(client):
    """All that is in the cluster, events aside, which go by themselves: (kind, namespace, name,
    mark of a node or None)."""
    found = set()
    for path, kind in _kinds(client):
        for obj in client.request("GET", f"{path}/{kind}")["items"]:
            place = (kind, obj["metadata"].get("namespace"), obj["metadata"]["name"])
            found.add((*place, None))
            found |= {(*place, mark) for mark in (_marks(obj) if kind == "nodes" else ())}
    return found


def kubectl(world, *args, stdin=None):
    """Runs kubectl as the admin and returns what it prints; an error of it is one of ours."""
    done = subprocess.run(
        [world.tool("kubectl"), "--kubeconfig", world.admin_kubeconfig, *map(str, args)],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"kubectl {args[0]}: {done.stderr.strip()}")
    return done.stdout


def define(world, *files):
    """Applies CustomResourceDefinitions, and returns when their kinds are served."""
    kubectl(world, "apply", "--server-side", *(word for path in files for word in ("-f", path)))
    client = world.client()
    for crd in client.list("CustomResourceDefinition"):
        name = crd["metadata"]["name"]
        kube.wait_for(
            lambda n=name: kube.condition(
                client.get("CustomResourceDefinition", n), "Established"
            ).get("status")
            == "True",
            10,
            f"{name} is established",
        )
    client.close()


@contextlib.contextmanager
def kinds_of(env, path):
    """What the definitions in a file define is there for as long as the block runs."""
    define(env.world, path)
    try:
        yield
    finally:
        env.kubectl("delete", "-f", path)


def prometheus_operator(env):
    """Its kinds, for as long as a block runs."""
    return kinds_of(env, PROMETHEUS_OPERATOR)


class Installation:
    """CRDs and chart on a world. The Deployment is applied and kept at no replicas: the program
    runs beside the world."""

    def __init__(self, world):
        self.world = world
        self.account = None
        self.apply_definitions()
        client = world.client()
        self._rendered = render(
            world,
            "--no-hooks",
            "--set",
            "policy.create=false,replicas=0,allowedSettings={secretEnv=pro-*}",
        )
        for name in (names.NAMESPACE, names.OPERANDS):
            client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.apply()
        for deployment in client.list("Deployment", names.NAMESPACE):
            self.account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
        if not self.account:
            raise RuntimeError("the chart renders no Deployment")
        client.close()

    def apply_definitions(self):
        """Applies the CustomResourceDefinitions."""
        define(self.world, names.ROOT / "crds")

    def apply(self):
        """Applies what the chart renders, also for the second time: what a test deleted is
        there again, its rules in force."""
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=self._rendered)
        client = self.world.client()
        admission.wait_in_force(client)
        client.close()

    def renew(self, client):
        """The same after another tool has applied the chart too: an entry of a list that both
        own, neither can change alone."""
        for kind in ("Deployment", "Service"):
            for obj in client.list(kind, names.NAMESPACE):
                client.delete(kind, obj["metadata"]["name"], names.NAMESPACE)
        self.apply()

    @property
    def user(self):
        """How the audit log calls the chart's service account."""
        return f"system:serviceaccount:{names.NAMESPACE}:{self.account}"

    def kubectl(self, *args, stdin=None):
        """Runs kubectl as the admin and returns what it prints."""
        return kubectl(self.world, *args, stdin=stdin)
