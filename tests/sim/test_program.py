#!/usr/bin/python3
"""ostler-sim as a person starts it: its options, its refusals, its door. Prints "ostler-sim: N
passed, N failed"."""

import base64
import contextlib
import json
import pathlib
import resource
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "ostler-sim"
FLEET = ROOT / "sim" / "scenarios" / "fleet.yaml"
OPERATOR = ROOT / "build" / "ostler"
SMALL = ROOT / "tests" / "torture" / "small.yaml"
# What Ostler writes.
WRITTEN = (
    "/apis/ostler.dev/v1alpha1/gpuclusterpolicies",
    "/apis/events.k8s.io/v1/events",
    "/apis/apps/v1/daemonsets",
    "/apis/apps/v1/controllerrevisions",
    "/apis/coordination.k8s.io/v1/leases",
    "/api/v1/nodes",
)
TESTS = []


def test(function):
    """Adds a test; its docstring says what must be."""
    TESTS.append(function)
    return function


def said_of(one):
    """Its docstring, in one line."""
    return " ".join(one.__doc__.split())


def run(*arguments, text=None, seconds=20):
    """Runs the program to its end: (exit code, standard output, standard error)."""
    done = subprocess.run(
        [PROGRAM, *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


class Door:
    """A running ostler-sim, and requests to it as bytes."""

    def __init__(self, folder, *arguments):
        self.kubeconfig = pathlib.Path(folder) / "kubeconfig"
        self.process = subprocess.Popen(
            [PROGRAM, "--kubeconfig", self.kubeconfig, *arguments], stdout=subprocess.DEVNULL
        )
        for _ in range(200):
            if self.kubeconfig.exists():
                break
            time.sleep(0.02)
        config = json.loads(self.kubeconfig.read_text(encoding="utf-8"))
        cluster = config["clusters"][0]["cluster"]
        self.address = ("127.0.0.1", int(cluster["server"].rsplit(":", 1)[1]))
        self.token = config["users"][0]["user"]["token"]
        self._authority = base64.b64decode(cluster["certificate-authority-data"]).decode()

    def connect(self, authority=True):
        """A TLS connection that trusts the kubeconfig's authority, or the machine's."""
        context = (
            ssl.create_default_context(cadata=self._authority)
            if authority
            else ssl.create_default_context()
        )
        return context.wrap_socket(
            socket.create_connection(self.address, timeout=5), server_hostname="127.0.0.1"
        )

    def say(self, request):
        """The status and body of the answer to these bytes."""
        with self.connect() as s:
            s.settimeout(5)
            s.sendall(request)
            data = b""
            while b"\r\n\r\n" not in data:
                part = s.recv(65536)
                if not part:
                    break
                data += part
            head, _, body = data.partition(b"\r\n\r\n")
            length = [
                line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
            ]
            while length and len(body) < int(length[0].split(b":")[1]):
                body += s.recv(65536)
        return int(head.split()[1]), body

    def head(self, method, path, body):
        """The lines before the answer's body."""
        request = (
            f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer"
            f" {self.token}\r\nConnection: close\r\nContent-Type:"
            f" application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with self.connect() as s:
            s.settimeout(5)
            s.sendall(request.encode() + body)
            data = b""
            while part := s.recv(65536):
                data += part
        return data.partition(b"\r\n\r\n")[0].decode().split("\r\n")

    def get(self, path, token):
        """GET with a token."""
        authorization = f"Authorization: Bearer {token}\r\n" if token else ""
        return self.say(
            f"GET {path} HTTP/1.1\r\nHost: x\r\n{authorization}Connection: close\r\n\r\n".encode()
        )


def processor_seconds(pid):
    """What a process has worked so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


@contextlib.contextmanager
def door(*arguments):
    """A running ostler-sim."""
    with tempfile.TemporaryDirectory() as folder:
        d = Door(folder, *arguments)
        try:
            yield d
        finally:
            d.process.kill()
            d.process.wait()


@test
def help_and_version():
    """--help lists the options, --version says which it is; both end with 0."""
    code, out, _ = run("--help")
    assert code == 0 and "--scenario FILE" in out and "--speed N" in out, out
    code, out, _ = run("--version")
    assert code == 0 and out.startswith("ostler-sim "), out


@test
def wrong_options():
    """What is wrong on the command line is named, and ends with 2."""
    for arguments, words in (
        (("--sped", "2"), "unknown argument --sped"),
        (
            ("--speed", "fast"),
            'fast" is not valid: speed as a multiple of real time, from 0.01 to 1000000',
        ),
        (("--speed",), "--speed needs N"),
        (("--seed", "-1"), "not valid"),
        (("--show=yes",), "takes no value"),
        (("--for", "5"), "as 90s, 10m or 1h30m"),
    ):
        code, _, err = run(*arguments)
        assert code == 2 and words in err, (arguments, code, err)


@test
def wrong_scenarios():
    """What is wrong in a scenario is said with file, line and place; nothing is started, and it
    ends with 1."""
    for text, words in (
        ("nodes: 3\n", "standard input:1: nodes: must be a list"),
        ("a: [", "standard input"),
        (
            "shapes:\n- {name: a}\nnodes:\n- {name: x, shape: b}\n",
            "standard input:4: nodes[0].shape: must be the name",
        ),
        (
            "actions:\n- {at: 1s, do: Cordon}\n",
            "standard input:2: actions[0].node: is missing; Cordon needs the name of a node",
        ),
    ):
        code, out, err = run("--scenario", "-", text=text)
        assert code == 1 and words in err and out == "", (code, out, err)
    code, _, err = run("--scenario", "/nowhere.yaml")
    assert code == 1 and "/nowhere.yaml" in err, err


@test
def address_that_cannot_be():
    """An address that cannot be listened on is named."""
    code, _, err = run("--listen", "nowhere:1")
    assert code == 1 and "nowhere:1" in err, err


@test
def kubeconfig_that_cannot_be_written():
    """A kubeconfig that cannot be written is named with the reason."""
    code, _, err = run("--kubeconfig", "/nowhere/kubeconfig")
    assert code == 1 and "/nowhere/kubeconfig: No such file" in err, err


@test
def ends_after_its_time():
    """--for ends it after that virtual time, with 0; lines say what happened."""
    with tempfile.TemporaryDirectory() as folder:
        code, out, _ = run(
            "--scenario",
            str(FLEET),
            "--speed",
            "1000",
            "--for",
            "1m",
            "--show",
            "--kubeconfig",
            f"{folder}/k",
        )
        assert code == 0 and "node train-1" in out, out[-500:]


@test
def actions_are_told():
    """Each action is a line as it happens, with what the API server says when it refuses it."""
    world = (
        "shapes: [{name: a}]\nnodes: [{name: one, shape: a}]\nactions:\n- {at: 3s, do: Label, user:"
        " carol, node: one, with: {x: z, gone: null}}\n- {at: 4s, do: Taint, user: dave, node: one,"
        " with: {key: k, effect: NoSchedule}}\n- {at: 5s, do: Delete, kind: daemonsets, namespace:"
        " default, name: d}\n- {at: 6s, do: NodeDown, name: one}\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        for more in ((), ("--show",)):
            code, out, _ = run(
                "--scenario",
                "-",
                "--speed",
                "1000",
                "--for",
                "10s",
                "--kubeconfig",
                f"{folder}/k",
                *more,
                text=world,
            )
            for line in (
                "00:00:03  carol labels one x=z gone-",
                "00:00:04  dave taints one k:NoSchedule",
                (
                    '00:00:05  alice deletes daemonsets default/d refused: daemonsets.apps "d" not'
                    ' found'
                ),
                "00:00:06  one goes down",
            ):
                assert code == 0 and f"\n{line}\n" in out, (more, line, out)


@test
def failed_nodes():
    """A node with an operand that says why it does not come up is Failed, not Installing;
    what a node has not is left out of its line."""
    world = (
        "shapes: [{name: a, gpus: 1, labels: {nvidia.com/gpu.present: 'true', ostler.dev/stack:"
        " x}}, {name: b}]\nnodes: [{name: one, shape: a}, {name: two, shape: b}]\nimages: [{image:"
        " '*bad*', missing: true}]\nactions:\n- at: 1s\n  do: Create\n  with: {apiVersion: v1,"
        " kind: Pod, metadata: {name: p, namespace: ostler-operands}, spec: {nodeName: one,"
        " containers: [{name: main, image: 'bad:1'}]}}\n- {at: 60s, do: Delete, kind: pods,"
        " namespace: ostler-operands, name: p}\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        code, out, _ = run(
            "--scenario",
            "-",
            "--speed",
            "1000",
            "--for",
            "2m",
            "--show",
            "--kubeconfig",
            f"{folder}/k",
            text=world,
        )
    said = [
        line.split("node one", 1)[1].split(",")[0].strip()
        for line in out.split("\n")
        if "  node one " in line
    ]
    assert (
        code == 0 and said[0] == "Installing" and "Failed" in said and said[-1] == "Installing"
    ), out
    assert ", ," not in out and "alice creates Pod p\n" in out, out


@test
def refused_objects():
    """An object of the scenario that the API server refuses is named with its reason, and
    nothing is started."""
    code, out, err = run(
        "--scenario",
        "-",
        text=(
            "objects:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace:"
            " nowhere}}\n"
        ),
    )
    assert code == 1 and out == "", (code, out, err)
    assert (
        "ConfigMap c of `objects` is refused: " in err and 'namespaces "nowhere" not found' in err
    ), err


@test
def kubeconfig_goes():
    """The first lines have the command for a second terminal, and say that the kubeconfig goes
    at the end; it does."""
    with tempfile.TemporaryDirectory() as folder:
        code, out, _ = run("--for", "1s", "--speed", "100", "--kubeconfig", f"{folder}/k")
        assert (
            code == 0
            and f"in a second terminal: export KUBECONFIG={folder}/k\n" in out
            and "stops it and deletes the file" in out
        ), out
        assert not pathlib.Path(folder, "k").exists()


@test
def ends_with_a_signal():
    """SIGINT and SIGTERM end it with 0, at once."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with door() as d:
            d.process.send_signal(number)
            assert d.process.wait(10) == 0


@test
def head_has_no_body():
    """The answer to HEAD has no body: what follows on the connection is the next answer."""
    with door() as d, d.connect() as s:
        s.settimeout(5)
        s.sendall(
            b"HEAD /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\nConnection:"
            b" close\r\n\r\n"
        )
        data = b""
        while part := s.recv(65536):
            data += part
        assert data.split(b"\r\n\r\n")[1].startswith(b"HTTP/1.1 "), data


@test
def silent_connections_end():
    """Who connects and says nothing is put out again."""
    with door() as d, socket.create_connection(d.address, timeout=15) as s:
        assert s.recv(1) == b""


@test
def out_of_descriptors():
    """With no descriptor left it waits without working, and lets the next one in when a
    connection ends."""
    with door() as d:
        resource.prlimit(d.process.pid, resource.RLIMIT_NOFILE, (40, 40))
        crowd = [socket.create_connection(d.address, timeout=5) for _ in range(60)]
        time.sleep(0.5)
        before = processor_seconds(d.process.pid)
        time.sleep(1)
        assert processor_seconds(d.process.pid) - before < 0.3
        for s in crowd:
            s.close()
        assert d.get("/livez", d.token)[0] == 200


@test
def kubeconfig_is_private():
    """Only its owner reads the kubeconfig."""
    with door() as d:
        assert d.kubeconfig.stat().st_mode & 0o777 == 0o600


@test
def loopback_only():
    """It listens on the loopback unless told otherwise."""
    with door() as d:
        listening = pathlib.Path("/proc/net/tcp").read_text(encoding="ascii")
        row = [
            line.split()[1]
            for line in listening.split("\n")
            if f":{d.address[1]:04X} 00000000:0000 0A" in line
        ]
        assert row == [f"0100007F:{d.address[1]:04X}"], row


@test
def certificate_of_its_own():
    """A client that does not know its authority refuses it, and plain HTTP gets no answer."""
    with door() as d:
        try:
            d.connect(authority=False).close()
            raise AssertionError("the certificate was trusted")
        except ssl.SSLCertVerificationError:
            pass
        with socket.create_connection(d.address, timeout=5) as s:
            s.sendall(b"GET /api HTTP/1.1\r\nHost: x\r\n\r\n")
            try:
                assert b" 200 " not in s.recv(65536)
            except ConnectionError:
                pass


@test
def tokens():
    """Without a token and with another one it says 401, as a Status; with the administrator's
    200."""
    with door("--api-only") as d:
        for token in (None, "x" * 48, d.token[:-1], d.token + "0"):
            status, body = d.get("/api/v1/nodes", token)
            assert status == 401 and json.loads(body)["reason"] == "Unauthorized", (status, body)
        assert d.get("/api/v1/nodes", d.token)[0] == 200


@test
def unknown_fields_are_warned_of():
    """A write with a field that its kind does not have is done, and warns of it as a real API
    server does."""
    with door("--api-only") as d:
        odd = {"spec": {"x\"\\": 1, "y": 2}, "metadata": {"name": "a"}, "line\n": 1}
        head = d.head("POST", "/api/v1/namespaces/default/configmaps", json.dumps(odd).encode())
        assert head[0].split()[1] == "201", head
        warnings = [line for line in head if line.startswith("Warning: ")]
        assert warnings == [r'Warning: 299 - "unknown field \"spec\""'], warnings
        many = {"metadata": {"name": "b"}, **{f"f{i}{'x' * 200}": 1 for i in range(100)}}
        head = d.head("POST", "/api/v1/namespaces/default/configmaps", json.dumps(many).encode())
        assert 10 < len([line for line in head if line.startswith("Warning: ")]) < 25, head


@test
def bytes_that_are_no_requests():
    """What no server would take is refused with a sentence, and the next client is served."""
    with door("--api-only") as d:
        for request, wanted in (
            (b"hello\r\n\r\n", 400),
            (b"GET / HTTP/9.9\r\n\r\n", 505),
            (b"GET /\x01 HTTP/1.1\r\n\r\n", 400),
            (b"PUT / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            (b"PUT / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
            (b"GET / HTTP/1.1\r\nX: " + b"a" * 100000 + b"\r\n\r\n", 431),
        ):
            status, body = d.say(request)
            assert status == wanted and body, (request[:40], status, body)
        assert d.get("/version", d.token)[0] == 200


@test
def same_seed_same_world():
    """Two worlds of one seed say the same, two of different seeds do not."""
    with tempfile.TemporaryDirectory() as folder:
        said = [
            run(
                "--scenario",
                str(FLEET),
                "--speed",
                "100000",
                "--for",
                "20m",
                "--show",
                "--seed",
                seed,
                "--kubeconfig",
                f"{folder}/k",
            )[1]
            for seed in ("1", "1", "2")
        ]
    lines = [
        [line for line in out.split("\n") if not line.startswith("ostler-sim")] for out in said
    ]
    assert lines[0] == lines[1] and lines[0] != lines[2]


def free_port():
    """A port of the loopback that no process listens on."""
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def operate(kubeconfig, seconds, until=None):
    """Runs the operator at its most talkative, until its log has the text `until`; what it said,
    and its metrics."""
    port = free_port()
    with tempfile.TemporaryFile() as log:
        operator = subprocess.Popen(
            [
                OPERATOR,
                "run",
                "--kubeconfig",
                kubeconfig,
                "--listen",
                f"127.0.0.1:{port}",
                "--log-level",
                "debug",
            ],
            stdout=log,
            stderr=log,
        )
        end, said, metrics = time.monotonic() + seconds, b"", b""
        while time.monotonic() < end and operator.poll() is None and not (until and until in said):
            time.sleep(0.2)
            log.seek(0)
            said = log.read()
        with contextlib.suppress(OSError), urllib.request.urlopen(
            f"http://127.0.0.1:{port}/metrics", timeout=5
        ) as answer:
            metrics = answer.read()
        operator.terminate()
        operator.wait()
        log.seek(0)
        return log.read(), metrics


@test
def token_is_never_told():
    """Ostler's token is in no line of its log, whether the server takes it or not, in no metric,
    and in no object of the cluster."""
    with tempfile.TemporaryDirectory() as folder:
        good, bad = pathlib.Path(folder) / "good", pathlib.Path(folder) / "bad"
        with door("--scenario", SMALL, "--speed", "40", "--ostler-kubeconfig", good) as d:
            config = good.read_text(encoding="utf-8")
            token = json.loads(config)["users"][0]["user"]["token"]
            said, metrics = operate(good, 20, until=b"AllNodesReady")
            assert b"AllNodesReady" in said and b"ostler_" in metrics, said[-2000:]
            bad.write_text(config.replace(token, token[::-1]), encoding="utf-8")
            refused, _ = operate(bad, 3, until=b"401")
            assert b"401" in refused, refused[-2000:]
            objects = b"".join(d.get(path, d.token)[1] for path in WRITTEN)
            assert objects.count(b'"kind"') > 10, objects
            for place in (said, metrics, refused, objects):
                assert token.encode() not in place and token[::-1].encode() not in place


def main():
    """Runs all tests."""
    failed = 0
    for one in TESTS:
        try:
            one()
            print(f"ok   {one.__name__}: {said_of(one)}")
        except Exception as e:  # a test that fails in whatever way
            failed += 1
            print(f"FAIL {one.__name__}: {said_of(one)}\n     {type(e).__name__}: {e}")
    print(f"ostler-sim: {len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
