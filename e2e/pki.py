"""Keys and certificates of a world."""

import os
import subprocess

OPENSSL_CONFIG = """\
[req]
distinguished_name = dn
[dn]
[ca]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectAltName = DNS:localhost, DNS:kubernetes.default.svc, IP:127.0.0.1, IP:10.96.0.1
"""


class Pki:
    """Certificates by openssl: one authority for clients, one at a time for the server, so that
    the latter can change."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        (folder / "openssl.cnf").write_text(OPENSSL_CONFIG, encoding="ascii")
        for authority in ("client-ca", "server-ca-1", "server-ca-2"):
            self._certificate(authority, f"/CN=ostler e2e {authority}", "ca")
        self._openssl(
            "ecparam",
            "-name",
            "prime256v1",
            "-genkey",
            "-noout",
            "-out",
            self.key("service-account"),
        )
        both = [self.crt(f"server-ca-{i}").read_bytes() for i in (1, 2)]
        self.bundle.write_bytes(b"".join(both))
        self.generation = 0
        self.next_server_certificate()

    def crt(self, name):
        """The file of a certificate."""
        return self.folder / f"{name}.crt"

    def key(self, name):
        """The file of a private key."""
        return self.folder / f"{name}.key"

    @property
    def bundle(self):
        """Both server authorities: what the world's own programs trust, so that a change does
        not trouble them."""
        return self.folder / "server-ca-both.crt"

    @property
    def server_ca(self):
        """The authority that the server's certificate has now."""
        return self.crt(f"server-ca-{self.generation}")

    def _openssl(self, *args):
        done = subprocess.run(["openssl", *map(str, args)], capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(f"openssl {args[0]}: {done.stderr.decode()}")

    def _certificate(self, name, subject, section, authority=None, days=3650):
        signer = ["-CA", self.crt(authority), "-CAkey", self.key(authority)] if authority else []
        fresh = self.folder / f"{name}.new"
        self._openssl(
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-sha256",
            "-config",
            self.folder / "openssl.cnf",
            "-extensions",
            section,
            "-subj",
            subject,
            "-days",
            days,
            "-keyout",
            f"{fresh}.key",
            "-out",
            f"{fresh}.crt",
            *signer,
        )
        os.replace(f"{fresh}.key", self.key(name))
        os.replace(f"{fresh}.crt", self.crt(name))

    def next_server_certificate(self):
        """The server's certificate from the other authority."""
        self.generation = self.generation % 2 + 1
        self._certificate("server", "/CN=kube-apiserver", "leaf", f"server-ca-{self.generation}")

    def client(self, name, user, groups, days=3650):
        """A client's certificate; its files are crt(name) and key(name)."""
        subject = "".join(f"/O={g}" for g in groups) + f"/CN={user}"
        self._certificate(name, subject, "leaf", "client-ca", days)
