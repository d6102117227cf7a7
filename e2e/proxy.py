"""A proxy between one Ostler and the API server of a world, and what goes wrong in it.

It ends the client's TLS with the server's own certificate and passes HTTP/1.1 on over TLS:
answers as a whole, watches line by line. What is done to a request is said by faults: at a point
of its way (BEFORE it is passed on, COMMITTED but not answered, ANSWERED) a fault that fits is
called with the exchange, and acts through it. What is done to watches is said by a View.
"""

import dataclasses
import http.client
import http.server
import json
import re
import socket
import ssl
import struct
import threading
import time
import urllib.parse

BEFORE, COMMITTED, ANSWERED = "before", "committed", "answered"
POINTS = (BEFORE, COMMITTED, ANSWERED)

HOP_HEADERS = {"connection", "keep-alive", "transfer-encoding", "content-length", "te", "upgrade"}
READ_S = 90.0  # longer than any client waits for an answer
WATCH_S = 600.0  # longer than any client watches


class Lost(Exception):
    """The client gets no answer, or no whole one: its connection ends."""


@dataclasses.dataclass(frozen=True)
class Request:
    """What a client sent."""

    method: str
    path: str  # with the query
    headers: dict
    body: bytes

    @property
    def resource(self):
        """The plural that it is about: "nodes"."""
        parts = self.path.partition("?")[0].strip("/").split("/")
        parts = parts[2:] if parts[0] == "api" else parts[3:]
        if parts[:1] == ["namespaces"] and len(parts) > 2:
            parts = parts[2:]
        return parts[0] if parts else ""

    @property
    def watches(self):
        """Whether it opens a stream."""
        return self.method == "GET" and "watch=" in self.path

    @property
    def lists(self):
        """Whether it asks for the first page of a list."""
        bare = self.path.partition("?")[0]
        return (
            self.method == "GET"
            and not self.watches
            and bare.endswith("/" + self.resource)
            and "continue=" not in self.path
        )

    @property
    def writes(self):
        """Whether it changes something that is not the lease and no event: those come when they
        like."""
        return self.method != "GET" and self.resource not in ("leases", "events")

    @property
    def text(self):
        """All of it that a plan may choose it by."""
        return f"{self.method} {self.path} {self.body.decode(errors='replace')}"


@dataclasses.dataclass(frozen=True)
class Reply:
    """What the server answered."""

    status: int
    headers: list
    body: bytes


def status_reply(code, reason="FaultProxy"):
    """An answer as the API server gives it when it refuses."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "reason": reason,
        "message": f"the fault proxy answers {code}",
        "code": code,
    }
    return Reply(code, [("Content-Type", "application/json")], json.dumps(body).encode())


class Fault:
    """Does something to the nth write that comes by and whose text fits the pattern, at one
    point of its way, once."""

    def __init__(self, point, pattern, nth, act, after=None):
        """act(exchange, reply): may raise Lost, and returns the reply to go on with (None: the
        one that there is).

        after: a fault that must have fired before any write is counted.
        """
        self._point, self._pattern, self._nth, self._act = (
            point,
            re.compile(pattern, re.DOTALL),
            nth,
            act,
        )
        self._after = after
        self._lock = threading.Lock()
        self._seen = 0
        self.fired = False
        self.done = False

    def claims(self, request):
        """Counts a write that comes by; true for the one that it is about."""
        if self._after and not self._after.done or not self._pattern.search(request.text):
            return False
        with self._lock:
            self._seen += 1
            self.fired |= self._seen == self._nth
            return self._seen == self._nth

    def strike(self, point, exchange, reply):
        """Acts where its point has come. Returns the reply that holds from now on."""
        if point != self._point:
            return reply
        try:
            return self._act(exchange, reply) or reply
        finally:
            self.done = True


class View:
    """What the client sees: its watches may stand still, end, or jump, and its lists may come
    from the past."""

    def __init__(self):
        self._changed = threading.Condition()
        self._frozen = set()  # resources; "*": all
        self._streams = set()
        self._list_from = None  # a resourceVersion; None: the newest
        self.old_lists = 0  # how many lists came from the past

    def freeze(self, resource="*"):
        """From now on nothing comes through watches of this resource."""
        with self._changed:
            self._frozen.add(resource)

    def thaw(self):
        """What was held back comes, and lists are new."""
        with self._changed:
            self._list_from = None
            self._frozen.clear()
            self._changed.notify_all()

    def go_back(self, version, still):
        """From now on lists say what there was at that version. still: and watches bring
        nothing."""
        with self._changed:
            self._list_from = version
            if still:
                self._frozen.add("*")

    def list_path(self, path):
        """The path of a list, as it is now."""
        if not self._list_from:
            return path
        self.old_lists += 1
        query = urllib.parse.urlencode(
            {"resourceVersion": self._list_from, "resourceVersionMatch": "Exact"}
        )
        return path + ("&" if "?" in path else "?") + query

    def end(self, resource="*", gone=False):
        """Ends watches, with what is held back in them. gone: saying in the stream that their
        version is too old."""
        with self._changed:
            self._frozen.discard(resource)
            for stream in self._streams:
                if resource in ("*", stream.resource):
                    stream.cut(gone)
            self._changed.notify_all()

    def add(self, stream):
        """A stream begins."""
        with self._changed:
            self._streams.add(stream)

    def remove(self, stream):
        """A stream has ended."""
        with self._changed:
            self._streams.discard(stream)

    def wait(self, stream):
        """Returns when the stream may go on; false when it has been cut."""
        with self._changed:
            while not stream.is_cut and self._frozen & {"*", stream.resource}:
                self._changed.wait()
            return not stream.is_cut


class Stream:
    """One watch that is passed on."""

    def __init__(self, resource, connection):
        self.resource = resource
        self._socket = connection.sock
        self.is_cut = False
        self.gone = False

    def cut(self, gone):
        """Nothing more comes from the server, even where the reader waits for it."""
        self.is_cut, self.gone = True, gone
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the server was faster


class Exchange(http.server.BaseHTTPRequestHandler):
    """One connection of the client: its requests one after another. Faults act through what is
    public here."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    proxy = None  # of a subclass for each proxy

    # ---- what faults do

    def drop(self):
        """The answer never comes; the client goes when it has waited enough."""
        self.connection.settimeout(READ_S)
        try:
            while self.connection.recv(1024):
                pass
        except OSError:
            pass
        raise Lost

    def reset(self):
        """The connection breaks."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Lost

    def half(self, reply):
        """The head and half of the body, and then nothing."""
        self._send_head(reply)
        self.wfile.write(reply.body[: len(reply.body) // 2])
        raise Lost

    def hold(self, event):
        """The request stays on its way until the event; is_calm() does not count it meanwhile."""
        self.proxy.count(-1)
        event.wait(READ_S)
        self.proxy.count(1)

    # ---- the way of a request

    def setup(self):
        self.request.settimeout(10)
        self.request = self.proxy.tls.wrap_socket(self.request, server_side=True)
        self.request.settimeout(None)
        self._upstream = None
        super().setup()

    def finish(self):
        if self._upstream:
            self._upstream.close()
        try:
            super().finish()
        except OSError:
            pass  # the client has gone
        self.request.close()

    def handle(self):
        try:
            super().handle()
        except (Lost, OSError, http.client.HTTPException):
            self.close_connection = True

    def log_message(self, *_):
        """Nothing: the API server's audit log has it all."""

    def do_GET(self):
        """Any method: passes the request on and answers it."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP_HEADERS}
        request = Request(self.command, self.path, headers, body)
        if self.proxy.away:
            raise Lost
        if request.watches:
            self._stream(request)
            return
        self.proxy.count(request.writes)
        try:
            self._exchange(request)
        finally:
            self.proxy.count(-request.writes)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def _exchange(self, request):
        faults = [f for f in self.proxy.faults if request.writes and f.claims(request)]
        reply = None
        for point in POINTS:
            if point == COMMITTED and reply is None:
                reply = self._ask(request)
            if point == ANSWERED:
                self._answer(reply)
            for fault in faults:
                reply = fault.strike(point, self, reply)

    def _ask(self, request):
        path = self.proxy.view.list_path(request.path) if request.lists else request.path
        if self._upstream is None:
            self._upstream = self.proxy.connect(READ_S)
        try:
            self._upstream.request(request.method, path, request.body or None, request.headers)
            answer = self._upstream.getresponse()
            return Reply(answer.status, answer.getheaders(), answer.read())
        except (OSError, http.client.HTTPException):
            self._upstream = None
            raise

    def _send_head(self, reply):
        self.send_response_only(reply.status)
        for name, value in reply.headers:
            if name.lower() not in HOP_HEADERS:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()

    def _answer(self, reply):
        self._send_head(reply)
        self.wfile.write(reply.body)

    # ---- watches

    def _stream(self, request):
        upstream = self.proxy.connect(WATCH_S)
        view = self.proxy.view
        try:
            upstream.request("GET", request.path, headers=request.headers)
            stream = Stream(request.resource, upstream)
            answer = upstream.getresponse()
            if answer.status != 200:
                self._answer(Reply(answer.status, answer.getheaders(), answer.read()))
                return
            view.add(stream)
            try:
                self._send_stream(stream, answer)
            finally:
                view.remove(stream)
        finally:
            upstream.close()

    def _send_stream(self, stream, answer):
        self.send_response_only(200)
        self.send_header("Content-Type", answer.getheader("Content-Type", "application/json"))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for line in answer:
                if not self.proxy.view.wait(stream):
                    break
                self._send_chunk(line)
        except (OSError, http.client.HTTPException):
            if not stream.is_cut:
                raise
        if stream.gone:
            frame = json.loads(status_reply(410, "Expired").body)
            self._send_chunk(json.dumps({"type": "ERROR", "object": frame}).encode() + b"\n")
        self._send_chunk(b"")

    def _send_chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


class _Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """A client that breaks off in the middle of TLS: it comes again."""


class Proxy:
    """Listens on a free port of loopback and passes on to the world's API server."""

    def __init__(self, world):
        self.view = View()
        self.faults = []
        self.away = False  # while true, every connection breaks at its next request
        self._writes = 0
        self._wrote_at = time.monotonic()
        self._lock = threading.Lock()
        self._server = urllib.parse.urlsplit(world.server)
        self._trust = ssl.create_default_context(cafile=world.pki.server_ca)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(world.pki.crt("server"), world.pki.key("server"))
        handler = type("ProxyExchange", (Exchange,), {"proxy": self})
        self._listener = _Listener(("127.0.0.1", 0), handler)
        self.port = self._listener.server_address[1]
        threading.Thread(
            target=self._listener.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        ).start()

    @property
    def url(self):
        """What a kubeconfig names as the server."""
        return f"https://127.0.0.1:{self.port}"

    def count(self, writes):
        """So many writes more, or fewer, are under way."""
        with self._lock:
            self._writes += writes
            if writes:
                self._wrote_at = time.monotonic()

    def is_calm(self, seconds):
        """Whether no write is under way, and none was for so long."""
        with self._lock:
            return self._writes == 0 and time.monotonic() - self._wrote_at > seconds

    def connect(self, timeout):
        """A connection to the API server."""
        connection = http.client.HTTPSConnection(
            self._server.hostname, self._server.port, timeout=timeout, context=self._trust
        )
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def leave(self):
        """The API server is away: open watches break, nothing is answered."""
        self.away = True
        self.view.end()

    def come_back(self):
        """And is there again."""
        self.away = False

    def stop(self):
        """Listens no more and ends open watches."""
        self._listener.shutdown()
        self._listener.server_close()
        self.view.thaw()
        self.view.end()
