#!/usr/bin/python3
"""A Kubernetes control plane of one's own on loopback: etcd, kube-apiserver,
kube-controller-manager, kube-scheduler and KWOK.

    e2e/world.py up [--dir D]      start one, print its kubeconfig, keep it until Ctrl-C

Everything lives in one folder (a temporary one unless given), on free ports, and ends with the
process that started it.
"""

import argparse
import atexit
import base64
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import kube
import names
from audit import Audit
from component import Component
from pki import Pki

HERE = pathlib.Path(__file__).resolve().parent
ADMIN = ("admin", ("system:masters",))


def free_ports(count):
    """Ports that no process listens on now, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


class World:
    """The control plane. Use it as a context manager, or call start() and stop()."""

    def __init__(self, folder=None, keep=False, api_only=False, kwok=True):
        """api_only: etcd and the API server, without controllers. Without kwok, nodes are those
        that a test brings."""
        self._temporary = folder is None
        self._keep = keep
        self.dir = pathlib.Path(folder or tempfile.mkdtemp(prefix="ostler-world-")).resolve()
        self.dir.mkdir(parents=True, exist_ok=True)
        self._bin = pathlib.Path(
            subprocess.run(
                [HERE / "world" / "build"], check=True, stdout=subprocess.PIPE, text=True
            ).stdout.strip()
        )
        for old in ("pki", "users", "etcd", "log", "audit.log"):
            shutil.rmtree(self.dir / old, ignore_errors=True)
            (self.dir / old).unlink(missing_ok=True)
        (self.dir / "log").mkdir()
        (self.dir / "users").mkdir()
        self.pki = Pki(self.dir / "pki")
        self.audit = Audit(self.dir / "audit.log")
        etcd_port, etcd_peer_port, self.port, kwok_port = free_ports(4)
        self.etcd_url = f"http://127.0.0.1:{etcd_port}"
        self.server = f"https://127.0.0.1:{self.port}"
        self.admin_kubeconfig = self._user("admin", *ADMIN, ca=self.pki.bundle)
        self.etcd = self._component("etcd", self._etcd_flags(etcd_peer_port))
        self.apiserver = self._component("kube-apiserver", self._apiserver_flags())
        self.controller_manager = self._component(
            "kube-controller-manager", self._controller_manager_flags()
        )
        self.scheduler = self._component("kube-scheduler", self._scheduler_flags())
        self.kwok = self._component("kwok", self._kwok_flags(kwok_port))
        # (from, until), in seconds since the epoch: the API server starts and knows no rights yet,
        # or a test took them away
        self.lawless = []
        self._actors = (
            []
            if api_only
            else [self.controller_manager, self.scheduler, *([self.kwok] if kwok else [])]
        )
        self.components = [self.etcd, self.apiserver, *self._actors]

    def tool(self, name):
        """The path of a program that was built with the world: kubectl, helm."""
        return self._bin / name

    def _component(self, name, flags):
        return Component(name, [self._bin / name, *flags], self.dir / "log" / f"{name}.log")

    def _etcd_flags(self, peer_port):
        peer = f"http://127.0.0.1:{peer_port}"
        return [
            "--data-dir",
            self.dir / "etcd",
            "--listen-client-urls",
            self.etcd_url,
            "--advertise-client-urls",
            self.etcd_url,
            "--listen-peer-urls",
            peer,
            "--initial-advertise-peer-urls",
            peer,
            "--initial-cluster",
            f"default={peer}",
            "--unsafe-no-fsync",
            "--log-level",
            "warn",
        ]

    def _apiserver_flags(self):
        pki = self.pki
        return [
            f"--etcd-servers={self.etcd_url}",
            f"--secure-port={self.port}",
            "--bind-address=127.0.0.1",
            f"--tls-cert-file={pki.crt('server')}",
            f"--tls-private-key-file={pki.key('server')}",
            f"--client-ca-file={pki.crt('client-ca')}",
            f"--service-account-key-file={pki.key('service-account')}",
            f"--service-account-signing-key-file={pki.key('service-account')}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--authorization-mode=Node,RBAC",
            "--allow-privileged=true",
            "--endpoint-reconciler-type=none",
            f"--audit-policy-file={HERE / 'world' / 'audit.yaml'}",
            f"--audit-log-path={self.dir / 'audit.log'}",
            "--audit-log-maxsize=10000",
        ]

    def _controller_manager_flags(self):
        # The long grace period: a node must not be called dead because a test took the API server
        # away for a minute, or because KWOK is late with heartbeats on a busy machine.
        user = self._user(
            "kube-controller-manager", "system:kube-controller-manager", (), ca=self.pki.bundle
        )
        return [
            f"--kubeconfig={user}",
            f"--service-account-private-key-file={self.pki.key('service-account')}",
            f"--root-ca-file={self.pki.server_ca}",
            "--use-service-account-credentials=true",
            "--leader-elect=false",
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
            "--node-monitor-grace-period=3600s",
            "--secure-port=0",
            # Kubernetes 1.30 has no such flag.
            *([] if names.OLDEST else ["--concurrent-daemonset-syncs=10"]),
        ]

    def _scheduler_flags(self):
        user = self._user("kube-scheduler", "system:kube-scheduler", (), ca=self.pki.bundle)
        return [
            f"--kubeconfig={user}",
            "--leader-elect=false",
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
            "--secure-port=0",
        ]

    def _kwok_flags(self, port):
        # No leases: one that KWOK held when it was killed would keep its successor from that node
        # for as long as it lasts.
        user = self._user("kwok", "kwok", ("system:masters",), ca=self.pki.bundle)
        return [
            f"--kubeconfig={user}",
            "--manage-all-nodes=true",
            "--node-lease-duration-seconds=0",
            f"--config={HERE / 'world' / 'stages.yaml'}",
            f"--server-address=127.0.0.1:{port}",
        ]

    # ---- life ----

    def start(self):
        """Starts everything and returns when a pod could run."""
        atexit.register(self.stop)
        try:
            self.etcd.start()
            self.start_apiserver()
            if self._actors:
                client = self.client()
                kube.wait_for(
                    lambda: client.get("ServiceAccount", "default", "default"),
                    30,
                    "the default service account",
                )
                client.close()
        except BaseException:
            self.stop()
            raise
        return self

    def start_apiserver(self, timeout=60):
        """Starts the API server, waits until it is ready, and starts its other clients anew:
        their backoff is not what is tested."""
        began = time.time()
        self.apiserver.start()
        client = self.client()

        def ready():
            """kube-apiserver is ready"""
            for component in (self.etcd, self.apiserver):
                if not component.running:
                    raise RuntimeError(f"{component.name} has ended:\n{component.tail()}")
            return client.raw("GET", "/readyz")[0] == 200

        kube.wait_for(ready, timeout)
        client.close()
        self.lawless.append((began, time.time()))
        for component in self._actors:
            component.kill()
            component.start()

    def restart_apiserver(self, away=0.0, kill=False):
        """Ends the API server (kill: as a crash), leaves it away, starts it again."""
        if kill:
            self.apiserver.kill()
        else:
            self.apiserver.stop(grace=2)  # the rest of a polite end is waiting for open watches
        time.sleep(away)
        self.start_apiserver()

    def stop(self):
        """Ends everything that was started here, the last first, and removes the folder if it
        was a temporary one."""
        atexit.unregister(self.stop)
        for component in reversed(self.components):
            if component is self.apiserver:
                component.kill()  # nothing to save, and a polite end waits for every open watch
            else:
                component.stop()
        if self._temporary and not self._keep:
            shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    # ---- identities ----

    def _write_kubeconfig(self, folder, user, ca):
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "world",
            "clusters": [
                {
                    "name": "world",
                    "cluster": {"server": self.server, "certificate-authority": str(ca)},
                }
            ],
            "users": [{"name": "user", "user": user}],
            "contexts": [{"name": "world", "context": {"cluster": "world", "user": "user"}}],
        }
        path = folder / "kubeconfig"
        path.write_text(json.dumps(config, indent=1), encoding="utf-8")
        path.chmod(0o600)
        return path

    def _folder(self, name):
        folder = self.dir / "users" / name.replace(":", "_")
        folder.mkdir(exist_ok=True)
        return folder

    def _own_ca(self, folder):
        ca = folder / "ca.crt"
        shutil.copy(self.pki.server_ca, ca)
        return ca

    def _user(self, name, user, groups, ca=None):
        folder = self._folder(name)
        self.pki.client(name, user, groups)
        files = {
            "client-certificate": str(self.pki.crt(name)),
            "client-key": str(self.pki.key(name)),
        }
        return self._write_kubeconfig(folder, files, ca or self._own_ca(folder))

    def kubeconfig(self, user, groups=()):
        """A kubeconfig with a client certificate for that user. Its authority is a file of its
        own (ca.crt beside it)."""
        return self._user(user.replace(":", "_"), user, groups)

    def token_kubeconfig(self, namespace, account, name=None, pod=None):
        """A kubeconfig with a token of a service account, in a file beside it (token), as a pod,
        or this one, would have it."""
        folder = self._folder(name or f"{namespace}_{account}")
        token = folder / "token"
        self._write_token(token, namespace, account, pod)
        return self._write_kubeconfig(folder, {"tokenFile": str(token)}, self._own_ca(folder))

    def _write_token(self, path, namespace, account, pod=None):
        spec = {"expirationSeconds": 7200}
        if pod:
            spec["boundObjectRef"] = {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": pod["metadata"]["name"],
                "uid": pod["metadata"]["uid"],
            }
        client = self.client()
        answer = client.request(
            "POST",
            kube.path_of("ServiceAccount", account, namespace, "token"),
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec},
        )
        client.close()
        fresh = path.with_name(".token.new")
        fresh.write_text(answer["status"]["token"], encoding="ascii")
        fresh.chmod(0o600)
        os.replace(fresh, path)

    def rotate_token(self, kubeconfig, namespace, account):
        """Puts a new token into the file that a token_kubeconfig names."""
        self._write_token(kubeconfig.parent / "token", namespace, account)

    def rotate_server_ca(self, *kubeconfigs):
        """Gives the server a certificate of another authority, restarts it, and then tells the
        kubeconfigs' ca.crt files."""
        self.pki.next_server_certificate()
        self.restart_apiserver()
        for kubeconfig in kubeconfigs:
            self.trust_server_ca(kubeconfig)

    def trust_server_ca(self, kubeconfig):
        """Puts the authority that the server has now beside a kubeconfig."""
        fresh = kubeconfig.parent / ".ca.new"
        shutil.copy(self.pki.server_ca, fresh)
        os.replace(fresh, kubeconfig.parent / "ca.crt")

    def client(self, agent="ostler-e2e"):
        """A client with all rights."""
        return kube.from_kubeconfig(self.admin_kubeconfig, agent)

    # ---- history ----

    def _etcd_call(self, path, body):
        request = urllib.request.Request(
            self.etcd_url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)

    def compact(self):
        """Forgets etcd's history, and the API server's with it: whoever watches from an old
        version is answered 410."""
        self.apiserver.stop(grace=2)
        # Written while no API server serves: one revision more than any watch has heard of, also
        # by what was on its way to it.
        written = self._etcd_call("/v3/kv/put", {"key": base64.b64encode(b"compaction").decode()})
        self._etcd_call(
            "/v3/kv/compaction", {"revision": written["header"]["revision"], "physical": True}
        )
        self.start_apiserver()


def end_on_signals():
    """Turns SIGTERM and SIGHUP into the exception that Ctrl-C raises, so that everything is
    ended the same way."""

    def end(*_):
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="start a world and keep it until Ctrl-C")
    up.add_argument("--dir", help="the folder to keep it in (default: a temporary one)")
    options = parser.parse_args()
    end_on_signals()
    try:
        began = time.monotonic()
        with World(options.dir) as world:
            print(f"world: up after {time.monotonic() - began:.1f} s", file=sys.stderr)
            print(world.admin_kubeconfig, flush=True)
            while all(c.running for c in world.components):
                time.sleep(0.5)
            ended = next(c for c in world.components if not c.running)
            print(f"world: {ended.name} has ended:\n{ended.tail()}", file=sys.stderr)
            return 1
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
