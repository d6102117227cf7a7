"""scripts/build-libraries with a server of Debian that has some sources and lacks others. apt, dpkg
and the sources are stand-ins; the script is the real one."""

import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = {"openssl": "3.0.22-1~deb12u2", "curl": "7.88.1-10+deb12u15"}
CURL = "curl 7.88.1-10+deb12u15\n"
# What it must say where a release cannot be built: the versions it tried, where, and the errors.
NOT_TO_BE_HAD = (
    "sources of openssl 3.0.22-1~deb12u2 are not to be had",
    "Tried: 3.0.22-1~deb12u2 3.0.20-1~deb12u2 3.0.9-1,",
    "http://deb.example.com/debian",
    "/log has apt's errors",
    "a release links no other OpenSSL",
)

# What is listed, which files are there, whether it is for a release; what `versions` then has
# (None: it fails), and what it says.
CASES = {
    "the sources of the headers": (
        ["3.0.20-1~deb12u2", "3.0.22-1~deb12u2"],
        ["3.0.20-1~deb12u2", "3.0.22-1~deb12u2"],
        True,
        f"openssl 3.0.22-1~deb12u2\n{CURL}",
        (),
    ),
    "the newest of the series that are there": (
        ["3.0.9-1", "3.0.20-1~deb12u2", "3.0.22-1~deb12u2"],
        ["3.0.9-1", "3.0.20-1~deb12u2"],
        True,
        f"openssl 3.0.22-1~deb12u2 from 3.0.20-1~deb12u2\n{CURL}",
        ("does not have all files", "openssl 3.0.20-1~deb12u2 is built", "rm -r "),
    ),
    "no other series": (
        ["3.5.7-1", "3.0.22-1~deb12u2"],
        ["3.5.7-1"],
        False,
        f"openssl 3.0.22-1~deb12u2 as Debian has built it\n{CURL}",
        ("linked as Debian has built it",),
    ),
    "a release without sources": (
        ["3.0.9-1", "3.0.20-1~deb12u2", "3.0.22-1~deb12u2"],
        [],
        True,
        None,
        NOT_TO_BE_HAD,
    ),
}

# A folder of sources whose build writes the archives, with nothing in them.
SOURCES = {
    "openssl": {
        "Configure": "#!/bin/sh\nexit\nmy @disablables = (\n);\n",
        "Makefile": "build_generated libcrypto.a libssl.a:\n\ninstall_dev:\n"
        "\tmkdir -p $(DESTDIR)/usr/lib\n"
        "\ttouch $(DESTDIR)/usr/lib/libssl.a $(DESTDIR)/usr/lib/libcrypto.a\n",
    },
    "curl": {
        "configure": "#!/bin/sh\n",
        "lib/Makefile": "all:\n\tmkdir -p .libs\n\ttouch .libs/libcurl.a\n",
    },
}
FAKES = {
    "dpkg": "echo amd64",
    "dpkg-parsechangelog": "echo 1700000000",
    "dpkg-query": 'case "$*" in *libssl-dev*) printf %s "$OPENSSL" ;; *) printf %s "$CURL" ;; esac',
    "apt-cache": 'case "$*" in *openssl*) printf "Version: %s\\n" $LISTED ;;'
    ' *) echo "Version: $CURL" ;; esac',
    "apt-get": """for last; do :; done
[ "$last" = update ] && exit
name=${last%%=*}
case " $THERE $CURL " in *" ${last#*=} "*) ;; *) echo "404  Not Found" >&2; exit 100 ;; esac
mkdir -p "$name-1" && cp -r "$SOURCES/$name/." "$name-1/"
""",
}


def write(folder, files):
    """Programs and other files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)


def build(listed, there, release):
    """The exit status, what it says, and the file `versions`."""
    with tempfile.TemporaryDirectory(prefix="ostler-libraries-") as name:
        folder = pathlib.Path(name)
        write(folder / "bin", {name: f"#!/bin/sh\n{text}\n" for name, text in FAKES.items()})
        for package, files in SOURCES.items():
            write(folder / "sources" / package, files)
        # The servers of this machine are no matter of the test.
        script = (ROOT / "scripts/build-libraries").read_text(encoding="utf-8")
        write(folder, {"build-libraries": script.replace("/etc/apt/", f"{folder}/etc/")})
        write(folder / "etc", {"sources.list": "deb http://deb.example.com/debian bookworm main\n"})
        done = subprocess.run(
            [folder / "build-libraries", folder / "built", "amd64"],
            env={
                "PATH": f"{folder}/bin:{os.environ['PATH']}",
                "OPENSSL": HEADERS["openssl"],
                "CURL": HEADERS["curl"],
                "LISTED": " ".join(listed),
                "THERE": " ".join(there),
                "SOURCES": str(folder / "sources"),
                "OSTLER_OPENSSL": "own" if release else "",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        versions = folder / "built/versions"
        found = versions.read_text(encoding="utf-8") if versions.exists() else None
        return done.returncode, done.stdout, found


def check(case):
    """One row."""
    listed, there, release, wanted, says = CASES[case]
    code, said, versions = build(listed, there, release)
    assert versions == wanted and (code == 0) == (wanted is not None), (case, code, versions, said)
    for words in says:
        assert words in said, (case, words, said)
