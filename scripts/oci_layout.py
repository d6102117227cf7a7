"""Writes OCI image layouts and archives whose bytes depend only on what is in them: for the scripts
that make a release, and for the real node of the end-to-end tests. Standard library only."""

import contextlib
import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def git(*words):
    """What git says of this tree; an empty text where it is in no repository."""
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        # Only this tree's own repository: a folder around it may be in another.
        top, said = (
            subprocess.run(
                ["git", *some], cwd=ROOT, check=True, capture_output=True, text=True
            ).stdout.strip()
            for some in (("rev-parse", "--show-toplevel"), words)
        )
        if pathlib.Path(top).resolve() == ROOT:
            return said
    return ""


def moment():
    """Seconds since 1970 that stand for the time of the release: SOURCE_DATE_EPOCH, or the time of
    the commit, so that two builds of one commit have the same."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct") or 0)


def created():
    """The same as RFC 3339."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment()))


def as_json(document):
    """The same bytes for the same document."""
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def digest(data):
    """As descriptors have it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def tar(members, programs=()):
    """A tar file, as bytes. A member is a name and a path (a file, a link or a folder, which brings
    its content), or a name and bytes; `programs` names those bytes that can be run. All is root's,
    of no time, and not writable by others."""

    def plain(info):
        info.uid = info.gid = info.mtime = 0
        info.uname = info.gname = ""
        info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
        return info

    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as file:
        for name, content in members:
            if isinstance(content, bytes):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                info.mode = 0o755 if name in programs else 0o644
                file.addfile(plain(info), io.BytesIO(content))
            else:  # tarfile sorts what is in a folder
                file.add(content, name, filter=plain)
    return data.getvalue()


def folder(path):
    """The members of a tar file with all that is in a folder."""
    return [(entry.name, entry) for entry in sorted(pathlib.Path(path).iterdir())]


def compressed(data):
    """Gzip, without a time or a name."""
    return gzip.compress(data, 9, mtime=0)


def image_config():
    """What the last stage of the Dockerfile says of the image, as the OCI has it: user, variables,
    ports and entrypoint."""
    lines = [
        line
        for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
        if line and line[0] not in "# "
    ]
    config = {"Env": [PATH]}
    for line in lines[lines.index("FROM scratch") + 1 :]:
        word, _, rest = line.partition(" ")
        if word == "ENV":
            config["Env"].append(rest)
        elif word == "USER":
            config["User"] = rest
        elif word == "EXPOSE":
            config["ExposedPorts"] = {f"{port}/tcp": {} for port in rest.split()}
        elif word == "ENTRYPOINT":
            config["Entrypoint"] = json.loads(rest)
        elif line != "COPY --from=build /image /":
            raise ValueError(f"Dockerfile: {line}: how an image gets this is not known here")
    return config


class Layout:
    """A folder that is an OCI image layout."""

    def __init__(self, path):
        self.path, self.tags = pathlib.Path(path), []
        shutil.rmtree(self.path, ignore_errors=True)
        (self.path / "blobs/sha256").mkdir(parents=True)

    def blob(self, media_type, data, **more):
        """Writes a blob; its descriptor."""
        name = digest(data)
        (self.path / "blobs" / name.replace(":", "/")).write_bytes(data)
        return {"mediaType": media_type, "digest": name, "size": len(data), **more}

    def document(self, media_type, **members):
        """The bytes of a manifest or an index, which names its own type."""
        return as_json({"schemaVersion": 2, "mediaType": media_type, **members})

    def tag(self, name, descriptor, **more):
        """Gives a manifest or an index a name; more annotations of that name."""
        names = {"org.opencontainers.image.ref.name": name, **more}
        self.tags.append({**descriptor, "annotations": names})

    def close(self):
        """Writes what the layout has."""
        (self.path / "oci-layout").write_bytes(as_json({"imageLayoutVersion": "1.0.0"}))
        (self.path / "index.json").write_bytes(self.document(INDEX, manifests=self.tags))
