#!/usr/bin/env python3
"""The server that the client's tests talk to: HTTP on loopback, plain and with TLS in several
states of disrepair.

Prints one line of JSON (the folder of the certificates, and a port per kind of server), serves
until its standard input ends, and removes the folder. What a request gets is chosen by its path;
see `Handler`.
"""
import gzip, json, os, shutil, socket, ssl, struct, subprocess, sys, tempfile, threading, time
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn

DIR = tempfile.mkdtemp(prefix="ostler-http-test-")


def openssl(*args):
    subprocess.run(
        ["openssl", *args],
        check=True,
        cwd=DIR,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def make_key(name):
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{name}.key")


def make_ca(name):
    make_key(name)
    openssl(
        "req",
        "-x509",
        "-new",
        "-key",
        f"{name}.key",
        "-subj",
        f"/CN={name}",
        "-days",
        "30",
        "-out",
        f"{name}.crt",
    )


def make_cert(name, ca, san, days="30"):
    make_key(name)
    with open(f"{DIR}/{name}.ext", "w") as ext:
        ext.write(f"subjectAltName={san}\n")
    openssl("req", "-new", "-key", f"{name}.key", "-subj", f"/CN={name}", "-out", f"{name}.csr")
    openssl(
        "x509",
        "-req",
        "-in",
        f"{name}.csr",
        "-CA",
        f"{ca}.crt",
        "-CAkey",
        f"{ca}.key",
        "-CAcreateserial",
        "-days",
        days,
        "-extfile",
        f"{name}.ext",
        "-out",
        f"{name}.crt",
    )


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body=b"{}", headers=()):
        self.send_response(status)
        for key, value in headers:
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def start_chunks(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def echo(self, body):
        self.reply(
            200,
            json.dumps(
                {
                    "method": self.command,
                    "path": self.path,
                    "headers": dict(self.headers.items()),
                    "body": body.decode(),
                    "connection": self.client_address[1],
                    "peer": (
                        dict(
                            x[0]
                            for x in (self.connection.getpeercert() or {"subject": []})["subject"]
                        )
                        if isinstance(self.connection, ssl.SSLSocket)
                        else {}
                    ),
                }
            ).encode(),
        )

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        name, _, argument = self.path.partition("?")
        getattr(self, "do" + name.replace("/", "_").replace("-", "_"), self.missing)(argument, body)

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = handle_any

    def missing(self, argument, body):
        self.echo(body)

    def do_chunks(self, argument, body):
        """A line, cut at every byte."""
        self.start_chunks()
        for byte in b'{"type":"ADDED"}\n':
            self.chunk(bytes([byte]))
        self.chunk(b"")

    def do_cut(self, argument, body):
        """A chunked body that ends without its end."""
        self.start_chunks()
        self.chunk(b"half of it")
        self.close_connection = True

    def do_stream(self, argument, body):
        """Lines without an end."""
        self.start_chunks()
        try:
            while True:
                self.chunk(b"x" * 60000 + b"\n")
        except OSError:
            self.close_connection = True

    def do_ticks(self, argument, body):
        """A line every 20 ms, like a watch."""
        self.start_chunks()
        try:
            for i in range(500):
                self.chunk(b"%d\n" % i)
                time.sleep(0.02)
        except OSError:
            self.close_connection = True

    def do_gone(self, argument, body):
        self.reply(410, b'{"kind":"Status","reason":"Expired"}')

    def do_retry(self, argument, body):
        self.reply(429, headers=[("Retry-After", argument.replace("+", " "))])

    def do_warn(self, argument, body):
        self.reply(200, headers=[("Warning", '299 - "that is old"')])

    def do_redirect(self, argument, body):
        self.reply(302, headers=[("Location", "/elsewhere")])

    def do_hang(self, argument, body):
        time.sleep(60)

    def do_slow(self, argument, body):
        time.sleep(float(argument))
        self.echo(body)

    def do_reset(self, argument, body):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def do_big(self, argument, body):
        self.start_chunks()
        try:
            for _ in range(int(argument)):
                self.chunk(b"x" * (1 << 20))
            self.chunk(b"")
        except OSError:
            self.close_connection = True

    def do_long_header(self, argument, body):
        self.send_response(200)
        for i in range(30):
            self.send_header(f"X-Long-{i}", "x" * 4000)
        self.end_headers()
        self.close_connection = True

    def do_gzip(self, argument, body):
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            self.reply(200, gzip.compress(b'{"packed":true}'), [("Content-Encoding", "gzip")])
        else:
            self.reply(200, b'{"packed":false}')

    def do_page(self, argument, body):
        """A page of a list: that many MiB, written at once, or as fast as a slow server does."""
        size, pace = argument.split("&")
        page = (b'{"name":"node","label":"a-value-of-some-length"}' * 22000)[: 1 << 20] * int(size)
        headers = []
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            page, headers = gzip.compress(page, 1), [("Content-Encoding", "gzip")]
        if pace == "fast":
            return self.reply(200, page, headers)
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        for header in headers:
            self.send_header(*header)
        self.end_headers()
        for at in range(0, len(page), len(page) // 20 + 1):
            self.wfile.write(page[at : at + len(page) // 20 + 1])
            time.sleep(0.01)

    def do_token(self, argument, body):
        """401 unless the token is the argument."""
        self.reply(200 if self.headers.get("Authorization") == "Bearer " + argument else 401)


class Server(ThreadingMixIn, HTTPServer):
    daemon_threads = True
    request_queue_size = 64
    tls = None

    def finish_request(self, request, client_address):
        if self.tls:
            request.settimeout(5)
            request = self.tls.wrap_socket(request, server_side=True, do_handshake_on_connect=False)
            try:
                request.do_handshake()
            except ssl.SSLError:
                time.sleep(0.3)  # so that the client reads the alert before it sees the end
                raise
            request.settimeout(None)
        super().finish_request(request, client_address)
        if self.tls:
            request.close()

    def handle_error(self, request, client_address):
        pass


def tls_context(cert, client_ca=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{DIR}/{cert}.crt", f"{DIR}/{cert}.key")
    if client_ca:
        context.load_verify_locations(f"{DIR}/{client_ca}.crt")
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def serve(tls=None):
    server = Server(("127.0.0.1", 0), Handler)
    server.tls = tls
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def main():
    loopback = "IP:127.0.0.1,DNS:localhost"
    make_ca("ca-a")
    make_ca("ca-b")
    make_cert("server", "ca-a", loopback)
    make_cert("named", "ca-a", "DNS:kubernetes.test")
    make_cert("expired", "ca-a", loopback, days="-1")
    make_cert("client", "ca-a", "DNS:client")
    make_cert("client-2", "ca-a", "DNS:client-2")
    make_cert("client-expired", "ca-a", "DNS:client-expired", days="-1")
    print(
        json.dumps(
            {
                "dir": DIR,
                "plain": serve(),
                "tls": serve(tls_context("server")),
                "named": serve(tls_context("named")),
                "expired": serve(tls_context("expired")),
                "mtls": serve(tls_context("server", "ca-a")),
                "refused": free_port(),
            }
        ),
        flush=True,
    )
    sys.stdin.read()


try:
    main()
finally:
    shutil.rmtree(DIR, ignore_errors=True)
    os._exit(0)
