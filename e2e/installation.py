"""Puts Ostler's objects into a cluster, as an administrator would."""

import subprocess

import kube
import names


def render(world, *flags, chart=names.CHART):
    """What the chart renders with these flags of helm, as text."""
    return subprocess.run([world.tool("helm"), "template", "ostler", chart, "--namespace", names.NAMESPACE, *flags],
                          check=True, stdout=subprocess.PIPE, text=True).stdout


class Installation:
    """CRDs and chart on a world. The Deployment is applied and kept at no replicas: the program runs beside the world."""

    def __init__(self, world):
        self.world = world
        self.account = None
        self.kubectl("apply", "--server-side", "-f", names.ROOT / "crds")
        client = world.client()
        self._rendered = render(world, "--no-hooks", "--set", "policy.create=false,replicas=0")
        for crd in client.list("CustomResourceDefinition"):
            name = crd["metadata"]["name"]
            kube.wait_for(lambda n=name: kube.condition(client.get("CustomResourceDefinition", n), "Established")
                          .get("status") == "True", 10, f"{name} is established")
        for name in (names.NAMESPACE, names.OPERANDS):
            client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.apply()
        for deployment in client.list("Deployment", names.NAMESPACE):
            self.account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
        if not self.account:
            raise RuntimeError("the chart renders no Deployment")
        client.close()

    def apply(self):
        """Applies what the chart renders, also for the second time: what somebody deleted is there again."""
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=self._rendered)

    def renew(self, client):
        """The same after another tool has applied the chart too: an entry of a list that both own, neither can change alone."""
        for kind in ("Deployment", "Service"):
            for obj in client.list(kind, names.NAMESPACE):
                client.delete(kind, obj["metadata"]["name"], names.NAMESPACE)
        self.apply()

    @property
    def user(self):
        """How the audit log calls the chart's service account."""
        return f"system:serviceaccount:{names.NAMESPACE}:{self.account}"

    def kubectl(self, *args, stdin=None):
        """Runs kubectl as the admin and returns what it prints; an error of it is one of ours."""
        done = subprocess.run([self.world.tool("kubectl"), "--kubeconfig", self.world.admin_kubeconfig, *map(str, args)],
                              input=stdin, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"kubectl {args[0]}: {done.stderr.strip()}")
        return done.stdout
