"""Reads OCI image layouts as the image specification has them, and serves some of them as a
registry on the loopback that can only be read."""

import contextlib
import hashlib
import http.server
import json
import pathlib
import re
import threading

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
# The specification's grammars (image-layout.md, descriptor.md, image-index.md).
REF_NAME = re.compile(r"[A-Za-z0-9]+((--|[-._:@/+])[A-Za-z0-9]+)*")
MEDIA_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*")
DIGEST = re.compile(r"sha256:[a-f0-9]{64}")


class Bad(AssertionError):
    """A layout is not as the specification has it."""


def demand(true, *what):
    """Raises unless it is so."""
    if not true:
        raise Bad(*what)


class Layout:
    """A folder; reading it checks it."""

    def __init__(self, path):
        self.path, self.read_blobs = pathlib.Path(path), set()
        names = {entry.name for entry in self.path.iterdir()}
        demand(names == {"oci-layout", "index.json", "blobs"}, names)
        demand(
            json.loads((self.path / "oci-layout").read_bytes()) == {"imageLayoutVersion": "1.0.0"},
            "oci-layout",
        )
        self.tags = {}
        for one in self._document((self.path / "index.json").read_bytes(), INDEX)["manifests"]:
            name = one["annotations"]["org.opencontainers.image.ref.name"]
            demand(REF_NAME.fullmatch(name) and name not in self.tags, name)
            self.tags[name] = one

    def blob(self, descriptor):
        """What a descriptor is of."""
        demand(MEDIA_TYPE.fullmatch(descriptor["mediaType"]), descriptor)
        demand(DIGEST.fullmatch(descriptor["digest"]), descriptor)
        data = (self.path / "blobs" / descriptor["digest"].replace(":", "/")).read_bytes()
        demand(f"sha256:{hashlib.sha256(data).hexdigest()}" == descriptor["digest"], descriptor)
        demand(descriptor["size"] == len(data), descriptor)
        for key, value in descriptor.get("annotations", {}).items():
            demand(isinstance(key, str) and isinstance(value, str), key)
        self.read_blobs.add(descriptor["digest"].partition(":")[2])
        return data

    def _document(self, data, media_type):
        read = json.loads(data)
        demand(read["schemaVersion"] == 2, read)
        demand(read.get("mediaType", media_type) == media_type, read)
        demand(isinstance(read.get("annotations", {}), dict), read)
        return read

    def document(self, descriptor):
        """A manifest or an index."""
        demand(descriptor["mediaType"] in (INDEX, MANIFEST), descriptor)
        return self._document(self.blob(descriptor), descriptor["mediaType"])

    def unread(self):
        """Blobs that nothing has led to."""
        return {path.name for path in self.path.glob("blobs/*/*")} - self.read_blobs


@contextlib.contextmanager
def registry(layouts):
    """HOST:PORT of a registry that has these layouts, by the names of their repositories."""

    class Door(http.server.BaseHTTPRequestHandler):
        """One request."""

        def log_message(self, *_):
            """Says nothing."""

        def find(self):
            """(media type, digest, bytes) of what is asked for."""
            match = re.fullmatch(r"/v2/(.+)/(manifests|blobs)/([^/?]+)", self.path)
            layout = match and layouts.get(match[1])
            if not layout:
                return None
            tagged = layout.tags.get(match[3])
            name = tagged["digest"] if tagged else match[3]
            path = layout.path / "blobs" / name.replace(":", "/")
            if not path.exists():
                return None
            data = path.read_bytes()
            of_type = "application/octet-stream"
            if match[2] == "manifests":
                of_type = json.loads(data)["mediaType"]
            return of_type, name, data

        def answer(self):
            """The headers; the bytes."""
            of_type, name, data = self.find() or ("application/json", "", b"{}")
            self.send_response(200 if name or self.path.rstrip("/") == "/v2" else 404)
            self.send_header("Content-Type", of_type)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Docker-Content-Digest", name)
            self.end_headers()
            return data

        def do_HEAD(self):  # noqa: N802  http.server calls it so
            """Answers without the bytes."""
            self.answer()

        def do_GET(self):  # noqa: N802  http.server calls it so
            """Answers."""
            data = self.answer()
            self.wfile.write(data)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
