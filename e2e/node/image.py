"""Images as files, made without a builder: docker-archives that `ctr images import` and `docker
load` take."""

import dataclasses
import hashlib
import io
import json
import pathlib
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import oci_layout  # noqa: E402  the path above is what finds it


def layer_of_folder(folder):
    """A layer with all that is in a folder: root's, and of no time."""
    return oci_layout.tar(oci_layout.folder(folder))


@dataclasses.dataclass(frozen=True)
class Image:
    """A name with its tag, layers from the lowest up, and the `config` of the OCI's image
    configuration."""

    name: str
    layers: tuple
    config: dict


def _digest(data):
    return hashlib.sha256(data).hexdigest()


def write_archive(path, images):
    """Writes images into one archive. A layer that several have is in it once."""
    entries, files = [], {}
    for image in images:
        layers = [f"{_digest(layer)}/layer.tar" for layer in image.layers]
        files.update(zip(layers, image.layers))
        config = json.dumps(
            {
                "architecture": "amd64",
                "os": "linux",
                "config": image.config,
                "rootfs": {
                    "type": "layers",
                    "diff_ids": [f"sha256:{_digest(layer)}" for layer in image.layers],
                },
            }
        ).encode()
        files[f"{_digest(config)}.json"] = config
        entries.append(
            {"Config": f"{_digest(config)}.json", "RepoTags": [image.name], "Layers": layers}
        )
    files["manifest.json"] = json.dumps(entries).encode()
    with tarfile.open(path, "w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def saved(name, archive):
    """The one image of an archive that `docker save` has written, under a name of ours."""
    with tarfile.open(archive) as tar:

        def read(path):
            return tar.extractfile(path).read()

        (entry,) = json.loads(read("manifest.json"))
        return Image(
            name, tuple(map(read, entry["Layers"])), json.loads(read(entry["Config"]))["config"]
        )


def product(name):
    """Ostler's image as the Dockerfile's last stage makes it: `make image-root` fills its root
    there as here, with the libraries of this machine's Debian, and what is said of the image
    is read."""
    return Image(name, (layer_of_folder(ROOT / "build/static/image"),), oci_layout.image_config())
