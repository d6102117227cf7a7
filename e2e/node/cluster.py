"""The control plane of the machine: the world's, with a place for a kubelet."""

import subprocess

import kube
import world

ADDRESS = "10.111.0.2"


def make_network():
    """The one network that there is: no other machine is on it, and no way leads out of it."""
    for command in (
        "link set lo up",
        "link add uplink type bridge",
        f"addr add {ADDRESS}/24 dev uplink",
        "link set uplink up",
        f"route add default dev uplink src {ADDRESS}",
    ):
        subprocess.run(["ip", *command.split()], check=True)
    with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as f:
        f.write("1")


class Cluster(world.World):
    """A world without KWOK, whose API server can be reached from pods and reaches kubelets."""

    def __init__(self, folder):
        super().__init__(folder, kwok=False)

    def _apiserver_flags(self):
        self.pki.client("kubelet-client", "kube-apiserver", ("system:masters",))
        return [
            *super()._apiserver_flags(),
            "--bind-address=0.0.0.0",
            f"--advertise-address={ADDRESS}",
            "--endpoint-reconciler-type=lease",
            "--kubelet-preferred-address-types=InternalIP",
            f"--kubelet-client-certificate={self.pki.crt('kubelet-client')}",
            f"--kubelet-client-key={self.pki.key('kubelet-client')}",
        ]

    def embedded_kubeconfig(self, user, groups=()):
        """A kubeconfig that names no other file, so that it can be taken elsewhere."""
        path = self.kubeconfig(user, groups)
        self.kubectl("config", "--kubeconfig", path, "view", "--flatten", "--output=json", to=path)
        return path

    def kubectl(self, *args, stdin=None, to=None):
        """kubectl as the admin. `to`: a file for what it prints."""
        return self.tool_run("kubectl", *args, stdin=stdin, to=to)

    def tool_run(self, name, *args, stdin=None, to=None, check=True):
        """Runs a program of the world as the admin, and returns what it prints, or (status,
        text) unless it has to succeed."""
        done = subprocess.run(
            [self.tool(name), *map(str, args)],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            env={
                "KUBECONFIG": str(self.admin_kubeconfig),
                "PATH": "/usr/bin:/bin",
                "HOME": str(self.dir),
            },
        )
        if check and done.returncode:
            raise RuntimeError(f"{name} {args[0]}: {done.stderr.strip()}")
        if to:
            to.write_text(done.stdout, encoding="ascii")
        return done.stdout if check else (done.returncode, done.stdout + done.stderr)


def node_ready(client, name):
    """Waits until a node of that name is Ready, and returns it."""

    def ready():
        node = client.get("Node", name)
        return kube.condition(node, "Ready").get("status") == "True" and node

    return kube.wait_for(ready, 60, f"{name} is Ready")
