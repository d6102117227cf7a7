"""A server that plays Ostler's page: the same routes, formats and headers, with fleets that a test
makes up. A test changes the fleet, sends events, refuses, falls silent or lets another one lead."""

import http.server
import json
import os
import pathlib
import queue
import threading
import time
import urllib.parse

WEB = pathlib.Path(os.environ.get("OSTLER_WEB") or pathlib.Path(__file__).parents[2] / "web")
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
HEADERS = {
    "Content-Security-Policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
FIELDS = ("name", "pool", "zone", "rack", "state", "reason", "product", "driver", "target", "gpus",
          "used", "bad", "since", "held")
TEXTS = {"pool": "pool", "zone": "zone", "rack": "rack", "state": "state", "reason": "reason",
         "product": "product", "driver": "driver", "target": "driver"}


def snapshot(fleet, number):
    """The fleet as columns with dictionaries, as /fleet.json has it."""
    dictionary = {name: [] for name in TEXTS.values()}
    columns = {field: [] for field in FIELDS}
    places = {name: {} for name in dictionary}
    for node in fleet["nodes"].values():
        for field in FIELDS:
            value = node.get(field)
            if field in TEXTS:
                name = TEXTS[field]
                if value is None:
                    value = -1
                else:
                    if value not in places[name]:
                        places[name][value] = len(dictionary[name])
                        dictionary[name].append(value)
                    value = places[name][value]
            columns[field].append(value)
    return {"format": 1, "id": f"{fleet['holder']}-{number}", "asOf": fleet["asOf"],
            "ostler": {"version": fleet["version"], "holder": fleet["holder"]},
            "policy": fleet["policy"], "dictionary": dictionary, "columns": columns}


class Server(http.server.ThreadingHTTPServer):
    """Serves one fleet: {nodes: name → node, policy, asOf, holder, version, stories}."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, fleet, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.fleet, self.number, self.streams, self.asked = fleet, 1, [], []
        self.standby = self.full = False
        self.answers = threading.Event()  # while it is not set, no request for data is answered
        self.answers.set()
        self.prefix = ""  # of all paths, as behind a proxy
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True,
                         kwargs={"poll_interval": 0.05}).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.answers.set()
        self.cut()
        self.shutdown()
        self.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def send(self, kind, data):
        """Sends an event to all streams."""
        with self.lock:
            self.number += 1
            text = (f"id: {self.fleet['holder']}-{self.number}\nevent: {kind}\n"
                    f"data: {json.dumps(data)}\n\n")
            for stream in self.streams:
                stream.put(text.encode())

    def change(self, *nodes, removed=()):
        """Changes nodes, given as objects, and tells the streams."""
        for node in nodes:
            self.fleet["nodes"][node["name"]] = node
        for name in removed:
            self.fleet["nodes"].pop(name)
        self.send("nodes", {"asOf": self.fleet["asOf"], "removed": list(removed),
                            "set": [[node.get(field) for field in FIELDS] for node in nodes]})

    def cut(self):
        """Ends all streams, as a server that ends."""
        with self.lock:
            for stream in self.streams:
                stream.put(None)

    def lead_elsewhere(self, leader):
        """Another one leads now; None: this one leads again."""
        self.standby = leader
        self.cut()

    def wait_for_stream(self, number=1, timeout=5):
        deadline = time.monotonic() + timeout
        while len(self.streams) < number:
            assert time.monotonic() < deadline, "the page opens no stream"
            time.sleep(0.01)


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, kind, body, **more):
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": len(body),
                            "Cache-Control": "no-store", **more}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def answer_json(self, status, data):
        self.answer(status, "application/json", json.dumps(data).encode())

    def do_GET(self):
        path, _, _ = self.path.partition("?")
        self.server.asked.append((self.path, self.headers.get("Last-Event-ID")))
        path = path.removeprefix(self.server.prefix)
        file = WEB / (path[1:] or "index.html")
        if file.parent == WEB and file.is_file():
            self.answer(200, TYPES[file.suffix], file.read_bytes(),
                        **{"Cache-Control": "max-age=300"})
            return
        self.server.answers.wait()
        if self.server.standby is not False:
            self.answer_json(503, {"error": "this Ostler does not lead",
                                   "leader": self.server.standby})
        elif path == "/fleet.json":
            self.answer_json(200, snapshot(self.server.fleet, self.server.number))
        elif path == "/events":
            self.stream()
        elif path.startswith("/node/") and path.endswith(".json"):
            self.node(urllib.parse.unquote(path[len("/node/"):-len(".json")]))
        else:
            self.answer_json(404, {"error": "there is nothing here"})

    def node(self, name):
        if name not in self.server.fleet["nodes"]:
            return self.answer_json(404, {"error": f"there is no node {name}"})
        return self.answer_json(200, self.server.fleet["story"](self.server.fleet, name))

    def stream(self):
        if self.server.full:
            return self.answer_json(503, {"error": "64 pages are open already"})
        self.send_response(200)
        for name, value in {**HEADERS, "Content-Type": "text/event-stream",
                            "Cache-Control": "no-store", "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        events = queue.Queue()
        self.wfile.write(b"retry: 300\n\n")
        self.server.streams.append(events)
        try:
            while (text := events.get()) is not None:
                self.wfile.write(text)
                self.wfile.flush()
        except OSError:
            pass
        finally:
            self.server.streams.remove(events)
            self.close_connection = True
        return None
