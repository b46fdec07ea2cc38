#!/usr/bin/python3
"""Packs a folder as a container image: an OCI archive with one layer, compressed by zstd.

Usage: oci.py FOLDER ARCHIVE NAME VERSION TIME CONFIG

CONFIG is JSON, the member `config` of an image's configuration. TIME is in seconds since 1970. All files belong to root, but
those in the folders that are its volumes, which belong to its user. The same files and time give the same bytes.
"""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from datetime import datetime, timezone
from pathlib import Path

OCI = "application/vnd.oci.image"


def add(archive, name, data, time):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime = len(data), time
    archive.addfile(entry, io.BytesIO(data))


def layer(folder, file, config, time):
    """Writes the layer, and returns the digest of what it is uncompressed."""
    user = int(config["User"].split(":")[0])
    volumes = tuple(path.lstrip("/") for path in config.get("Volumes", {}))

    def entry(info):
        info.mtime, info.uname, info.gname = time, "", ""
        info.uid = info.gid = user if info.name.startswith(volumes) else 0
        return info

    with tempfile.TemporaryFile() as plain:
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path in sorted(folder.rglob("*")):
                archive.add(path, path.relative_to(folder), recursive=False, filter=entry)
        plain.seek(0)
        digest = hashlib.file_digest(plain, "sha256").hexdigest()
        # The position that the other process begins at.
        os.lseek(plain.fileno(), 0, os.SEEK_SET)
        subprocess.run(["zstd", "--quiet", "-19", "--threads=0"], stdin=plain, stdout=file, check=True)
    return digest


def main():
    folder, target, name, version, time = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])
    config = json.loads(sys.argv[6])
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
    blobs = {}

    def blob(data, media_type, **members):
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data), **members}

    with tempfile.TemporaryFile() as file:
        plain = layer(folder, file, config, time)
        file.seek(0)
        packed = blob(file.read(), f"{OCI}.layer.v1.tar+zstd")
    created = datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    image = {
        "created": created, "architecture": machine, "os": "linux", "config": config,
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{plain}"]}, "history": [{"created": created}],
    }  # fmt: skip
    described = blob(json.dumps(image).encode(), f"{OCI}.config.v1+json")
    kind = f"{OCI}.manifest.v1+json"
    manifest = {"schemaVersion": 2, "mediaType": kind, "config": described, "layers": [packed]}
    annotations = {"org.opencontainers.image.ref.name": version, "io.containerd.image.name": f"localhost/{name}:{version}"}
    listed = blob(json.dumps(manifest).encode(), kind, annotations=annotations)
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as archive:
        add(archive, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}', time)
        add(archive, "index.json", json.dumps({"schemaVersion": 2, "manifests": [listed]}).encode(), time)
        for digest, data in sorted(blobs.items()):
            add(archive, f"blobs/sha256/{digest}", data, time)


if __name__ == "__main__":
    main()
