"""A registry on loopback that has tags and nothing else: what scripts/check-images asks of one."""

import contextlib
import http.server
import json
import pathlib
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "reconcilers/model/driver_images_table.h"
sys.path.insert(0, str(ROOT / "scripts"))
import c_source  # noqa: E402  the path above is what finds it
from c_source import plain  # noqa: E402

PAGE = 10


def table():
    """The tags that Ostler's table has, in the words of a registry; of precompiled ones one
    kernel each."""
    found = []
    for (version, systems), _ in c_source.rows(TABLE, "DRIVER_IMAGES"):
        found += [f"{plain(version)}-{system}" for system in plain(systems).split()]
    for row, _ in c_source.rows(TABLE, "DRIVER_PRECOMPILED"):
        branch, system, kernels, flavours = map(plain, row)
        found += [
            f"{branch}-{kernel}.0-49-{flavour}-{system}"
            for kernel in kernels.split()
            for flavour in flavours.split()
        ]
    return found


class Handler(http.server.BaseHTTPRequestHandler):
    """Pages of tags, for who has got a token."""

    def log_message(self, *_):
        """Says nothing."""

    def answer(self, code, body, **headers):
        """Sends JSON."""
        data = json.dumps(body).encode()
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        """A token, or a page."""
        own = f"http://127.0.0.1:{self.server.server_port}"
        if self.path.startswith("/token?"):
            return self.answer(200, {"token": "anonymous"})
        if self.headers.get("Authorization") != "Bearer anonymous":
            return self.answer(
                401,
                {},
                WWW_Authenticate=(
                    f'Bearer realm="{own}/token",scope="repository:nvidia/driver:pull"'
                ),
            )
        path, _, after = self.path.partition("?last=")
        if path != "/v2/nvidia/driver/tags/list":
            return self.answer(404, {})
        begin = int(after or 0)
        more = (
            {"Link": f'<{path}?last={begin + PAGE}>; rel="next"'}
            if begin + PAGE < len(self.server.tags)
            else {}
        )
        return self.answer(200, {"tags": self.server.tags[begin : begin + PAGE]}, **more)


@contextlib.contextmanager
def serving(tags):
    """The URL of a registry with these tags."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.tags = tags
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def compare(url):
    """The exit status of scripts/check-images, and what it says."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/check-images"), url],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr
