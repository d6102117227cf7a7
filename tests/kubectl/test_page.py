#!/usr/bin/python3
"""`kubectl gpu page` as a person uses it, with a kubectl that forwards to a page of the test, and
with one that may not. Needs build/ostler. Prints "kubectl-gpu page: N passed, N failed"."""

import contextlib
import datetime
import http.server
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import test_kubectl_gpu as common

TESTS = []
# Forwards as kubectl does, after what the file `mode` says; logs its arguments.
KUBECTL = r'''#!/usr/bin/python3
import pathlib, re, socket, sys, threading
here = pathlib.Path(__file__).resolve().parent
with open(here / "calls", "a") as log: log.write(" ".join(sys.argv[1:]) + "\n")
mode = (here / "mode").read_text()
if mode == "forbidden":
    sys.exit('Error from server (Forbidden): pods "x" is forbidden: User "eve" cannot create '
             'resource "pods/portforward" in API group "" in the namespace "ostler-system"')
if mode == "absent":
    sys.exit('Error from server (NotFound): pods "vm" not found')
local = int(re.fullmatch(r"(\d*):8081", sys.argv[-1])[1] or 0)
listener = socket.create_server((sys.argv[sys.argv.index("--address") + 1], local))
print(f"Forwarding from 127.0.0.1:{listener.getsockname()[1]} -> 8081", flush=True)
def copy(a, b):
    while data := a.recv(65536): b.sendall(data)
    b.shutdown(socket.SHUT_WR)
while True:
    client = listener.accept()[0]
    print("Handling connection for 1", flush=True)
    try:
        page = socket.create_connection(("127.0.0.1", int((here / "page").read_text())))
    except OSError:
        print("error forwarding port 8081: connection refused", file=sys.stderr, flush=True)
        client.close()
        continue
    for ends in ((client, page), (page, client)):
        threading.Thread(target=copy, args=ends, daemon=True).start()
'''


def test(function):
    """Adds a test; its docstring says what must be."""
    TESTS.append(function)
    return function


class Page(http.server.BaseHTTPRequestHandler):
    """The page of a leader."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self):  # pylint: disable=invalid-name
        """Answers."""
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):  # pylint: disable=arguments-differ
        """Says nothing."""


class World:
    """A folder with a kubectl, an API server that has the Lease, and a page."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.holder = "ostler-7d9f-abcde_1f2e"
        self.age = 1
        self.lease = None
        kubectl = self.folder / "kubectl"
        kubectl.write_text(KUBECTL, encoding="utf-8")
        kubectl.chmod(0o755)
        self.mode("forwards")
        self.page = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=self.page.serve_forever, daemon=True).start()
        (self.folder / "page").write_text(str(self.page.server_port), encoding="utf-8")

    def mode(self, mode):
        """What kubectl does."""
        (self.folder / "mode").write_text(mode, encoding="utf-8")

    def calls(self):
        """How kubectl was called, since the last question."""
        path = self.folder / "calls"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        path.write_text("", encoding="utf-8")
        return lines

    def answer(self, _, path):
        """What the API server says."""
        if "/leases/ostler-cluster" in path:
            return 200, {"spec": {"holderIdentity": "ostler-system"}}
        if "/namespaces/ostler-system/leases/ostler" not in path:
            return common.refusal(404, "NotFound", "not here")
        if self.lease:
            return self.lease
        renewed = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(
            seconds=self.age
        )
        return 200, {
            "metadata": {"name": "ostler", "namespace": "ostler-system"},
            "spec": {
                "holderIdentity": self.holder,
                "renewTime": renewed.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            },
        }

    @contextlib.contextmanager
    def opened(self, *arguments):
        """The command at work: (process, its first line, the plugin)."""
        with common.other(self, self.answer) as (plugin, _):
            process = plugin.start("page", *arguments, stderr=subprocess.PIPE)
            try:
                address = process.stdout.readline().strip()
                assert address, process.communicate(timeout=10)
                yield process, address
            finally:
                process.kill()
                process.communicate()


def until(condition, what, seconds=20):
    """Waits."""
    end = time.time() + seconds
    while not condition():
        assert time.time() < end, f"{what} did not come in {seconds} s"
        time.sleep(0.05)


def fetches(address):
    """Whether the page answers there."""
    host, port = address.removeprefix("http://").rstrip("/").split(":")
    try:
        with socket.create_connection((host, int(port)), timeout=3) as s:
            s.sendall(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return s.recv(100).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


@test
def the_address_is_printed(w):
    """It forwards a free port of 127.0.0.1 to the leader's pod, and prints the address once the
    page answers there; Ctrl-C ends both, without an error."""
    with w.opened("--no-browser") as (process, address):
        assert address.startswith("http://127.0.0.1:"), address
        assert fetches(address)
        assert w.calls() == [
            "--namespace ostler-system port-forward --address 127.0.0.1 "
            "pod/ostler-7d9f-abcde :8081"
        ]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
        assert process.returncode == 0 and not out, (process.returncode, out, err)
        assert err == (
            "kubectl gpu: the page comes from pod ostler-7d9f-abcde; Ctrl-C ends it\n"
        ), err
        until(lambda: not fetches(address), "the end of the connection")


@test
def the_command_line_goes_to_kubectl(w):
    """kubeconfig, context, namespace and port are kubectl's, too."""
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    config = str(w.folder / "other")
    with w.opened(
        "--no-browser", "--port", str(port), "--kubeconfig", config, "--context", "here",
        "-n", "ostler-system",
    ) as (_, address):
        assert address == f"http://127.0.0.1:{port}/"
        assert w.calls() == [
            f"--kubeconfig {config} --context here --namespace ostler-system port-forward "
            f"--address 127.0.0.1 pod/ostler-7d9f-abcde {port}:8081"
        ]


@test
def another_leader_is_followed(w):
    """When the leader's pod is gone, the same address leads to the next leader."""
    with w.opened("--no-browser") as (process, address):
        w.calls()
        w.holder = "ostler-7d9f-fghij_3a4b"
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        os.kill(int(children), signal.SIGTERM)
        until(lambda: fetches(address), "the next leader's page")
        port = address.split(":")[2].rstrip("/")
        assert f"pod/ostler-7d9f-fghij {port}:8081" in w.calls()[-1]
        said = [process.stderr.readline() for _ in range(3)]
        assert said[1:] == [
            "kubectl gpu: the connection is lost; trying again\n",
            "kubectl gpu: the page now comes from pod ostler-7d9f-fghij\n",
        ], said
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0


@test
def a_browser_is_opened(w):
    """On a screen, the address is given to xdg-open; not with --no-browser, nor without a
    screen."""
    opener = w.folder / "xdg-open"
    opener.write_text(f'#!/bin/sh\necho "$1" >> {w.folder}/browser\n', encoding="utf-8")
    opener.chmod(0o755)
    seen = w.folder / "browser"
    usual = common.Plugin.environment
    for screen, arguments, opens in (
        ({"DISPLAY": ":7"}, (), True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, (), True),
        ({"DISPLAY": ":7"}, ("--no-browser",), False),
        ({}, (), False),
    ):
        seen.write_text("", encoding="utf-8")
        common.Plugin.environment = lambda plugin, s=screen: {**usual(plugin), **s}
        try:
            with w.opened(*arguments) as (_, address):
                if opens:
                    until(lambda a=address: seen.read_text(encoding="utf-8") == a + "\n", screen)
                else:
                    time.sleep(0.5)
                    assert seen.read_text(encoding="utf-8") == "", (screen, arguments)
        finally:
            common.Plugin.environment = usual


def refused(w, *arguments):
    """The one sentence that it ends with."""
    with common.other(w, w.answer) as (plugin, _):
        return plugin.refused("page", *arguments)


@test
def who_may_not_forward_is_told(w):
    """kubectl's refusal, and the rights."""
    w.mode("forbidden")
    said = refused(w)
    assert "cannot connect to pod ostler-system/ostler-7d9f-abcde: Error from server" in said, said
    assert "to get pods and to create pods/portforward" in said, said


@test
def an_ostler_outside_of_the_cluster_is_told(w):
    """Where no pod has the leader's name, as in the simulator: its page is not reached through the
    cluster, and no right is missing."""
    w.mode("absent")
    w.holder = "vm_1f2e"
    said = refused(w)
    assert "there is no pod ostler-system/vm: Ostler runs outside of the cluster" in said, said
    assert "make run prints the page's address" in said and "rights" not in said, said


@test
def a_leader_that_is_gone_is_waited_for(w):
    """A page that was shown comes back with the next leader, and what is gone meanwhile is said."""
    with w.opened("--no-browser") as (process, address):
        w.mode("absent")
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        os.kill(int(children), signal.SIGTERM)
        said = [process.stderr.readline() for _ in range(3)]
        assert said[2] == (
            "kubectl gpu: pod ostler-system/ostler-7d9f-abcde is gone; trying again\n"
        ), said
        w.mode("forwards")
        until(lambda: fetches(address), "the next leader's page")


@test
def a_pod_without_a_page_is_named(w):
    """Where nothing listens in the pod, the chart's value is named."""
    (w.folder / "page").write_text("1", encoding="utf-8")
    said = refused(w)
    assert "pod ostler-system/ostler-7d9f-abcde serves no page on port 8081" in said, said


@test
def no_kubectl(w):
    """Without kubectl it says what is missing."""
    usual = common.Plugin.environment
    common.Plugin.environment = lambda plugin: {**usual(plugin), "PATH": "/nowhere"}
    try:
        said = refused(w)
    finally:
        common.Plugin.environment = usual
    assert "cannot run kubectl" in said and "No such file" in said, said


@test
def no_leader(w):
    """Without a leader, or without its Lease, no connection is tried."""
    cases = {
        "no Ostler leads: ostler-7d9f-abcde_1f2e has not renewed its Lease for": {"age": 100},
        "no Ostler leads: no replica leads since the last leader stopped": {"holder": ""},
        "no Ostler leads: no Lease of Ostler was found": {
            "lease": common.refusal(404, "NotFound", "no lease")
        },
        "cannot find the Ostler that leads: its Lease cannot be read": {
            "lease": common.refusal(403, "Forbidden", "leases is forbidden")
        },
        "the leader a/b is not a pod": {"holder": "a/b_1"},
    }
    for want, changes in cases.items():
        before = {name: getattr(w, name) for name in changes}
        for name, value in changes.items():
            setattr(w, name, value)
        said = refused(w)
        assert want in said, (want, said)
        assert not w.calls(), want
        for name, value in before.items():
            setattr(w, name, value)


@test
def options_are_checked(w):
    """A port is a number; the command takes no name."""
    with common.other(w, w.answer) as (plugin, _):
        assert "--port: must be a number" in plugin.refused("page", "--port", "x", code=2)
        assert "unexpected argument gpu-1" in plugin.refused("page", "gpu-1", code=2)
        assert "--port is not an option of" in plugin.refused("status", "--port", "1", code=2)


def main():
    """Runs all tests, each in a world of its own."""
    failed = 0
    wanted = [t for t in TESTS if len(sys.argv) < 2 or sys.argv[1] in t.__name__]
    for one in wanted:
        with tempfile.TemporaryDirectory(prefix="ostler-page-") as folder:
            began = time.time()
            try:
                one(World(folder))
            except Exception as e:  # pylint: disable=broad-except
                failed += 1
                where = traceback.extract_tb(e.__traceback__)
                places = ", ".join(f"line {w.lineno}" for w in where)
                print(f"not ok {one.__name__} ({places}): {type(e).__name__}: {e}")
            else:
                print(f"ok {one.__name__} ({time.time() - began:.1f} s)")
    print(f"kubectl-gpu page: {len(wanted) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
