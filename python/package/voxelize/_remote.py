"""Zarr stores in an object store, accessed by fsspec. Regions are made in temporary folders, and complete files are uploaded."""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from . import _native
from ._errors import OutputError
from ._meshes import absolute
from ._options import how
from .regions import Finished, Store, finished_of, plan

PLAN = "plan.json"
NODE = "zarr.json"
BINS = "bins/index.json"

#: Number of shards that are read from an object store at the same time to check their hashes.
READERS = 8


class Remote:
    """A folder in an object store."""

    def __init__(self, url: str, options: dict[str, Any]) -> None:
        from fsspec.core import url_to_fs

        self.url = url
        self.fs, self.root = url_to_fs(url, **options)

    def at(self, name: str) -> str:
        return f"{self.root.rstrip('/')}/{name}"

    def read(self, name: str) -> bytes | None:
        """Returns the content of a file. None if it does not exist."""
        try:
            return bytes(self.fs.cat_file(self.at(name)))
        except FileNotFoundError:
            return None

    def put(self, folder: Path, name: str) -> None:
        """Uploads a file. The object appears when it is complete."""
        self.fs.pipe_file(self.at(name), (folder / name).read_bytes())

    def unlike(self, shards: list[tuple[str, int, str]]) -> list[str]:
        """Returns the names of the shards that are missing or have wrong bytes. Only shards of the right size are read."""
        sizes = self.sizes()

        def is_unlike(shard: tuple[str, int, str]) -> bool:
            name, bytes, hash = shard
            return sizes.get(name) != bytes or _native.hash_of(self.read(name) or b"") != hash

        with ThreadPoolExecutor(READERS) as readers:
            found = readers.map(is_unlike, shards)
            return [shard[0] for shard, is_one in zip(shards, found, strict=True) if is_one]

    def sizes(self) -> dict[str, int]:
        """Returns the length of each file, by its name."""
        self.fs.invalidate_cache()
        try:
            found = self.fs.find(self.root, detail=True)
        except FileNotFoundError:
            return {}
        start = len(self.fs._strip_protocol(self.root).rstrip("/")) + 1
        return {name[start:]: info["size"] for name, info in found.items()}


def voxelize_remote(
    mesh: Any,
    url: str,
    storage_options: dict[str, Any],
    client: Any,
    task: dict[str, Any],
    retries: int,
    planning: dict[str, Any],
) -> Finished:
    """Makes a store at a URL. If it exists, makes only its missing regions."""
    remote = Remote(url, storage_options)
    match mesh:
        case list():
            files: Any = [absolute(file) for file in mesh]
        case dict():
            files = {part: absolute(file) for part, file in mesh.items()}
        case _:
            files = absolute(mesh)
    with tempfile.TemporaryDirectory(prefix="voxelize-") as name:
        folder = Path(name) / "store.zarr"
        store = plan(files, folder, _depth=3, **planning)
        planned = (folder / PLAN).read_bytes()
        there = remote.read(PLAN)
        if there not in (None, planned):
            error = OutputError(f"{url}: is a store with another plan")
            error.code, error.hint, error.file = "exists", "remove the store, or name another one", url
            raise error
        arrays = sorted(str(node.relative_to(folder)) for node in folder.glob(f"*/{NODE}"))
        nodes = {node: (folder / node).read_bytes() for node in arrays}
        bins = sorted(str(file.relative_to(folder)) for file in folder.glob("bins/*.bin"))
        for file in [*arrays, *bins, *([BINS] if bins else []), PLAN]:
            remote.put(folder, file)
        if bins:
            nodes[BINS] = (folder / BINS).read_bytes()
            shutil.rmtree(folder / "bins")
        todo = list(range(store.regions))
        job: dict[str, Any] = {"url": url, "storage_options": storage_options, "planned": planned, "nodes": nodes, "task": task}
        if client is None:
            for region in todo:
                make(region, **job)
        else:
            client.gather(client.map(make, todo, **job, pure=False, retries=retries))
        return _finish(remote, folder, store)


def make(
    region: int,
    url: str,
    storage_options: dict[str, Any],
    planned: bytes,
    nodes: dict[str, bytes],
    task: dict[str, Any],
) -> bool:
    """Task of a worker: makes a region in a temporary folder and uploads its files. Returns False if they exist already."""
    remote = Remote(url, storage_options)
    part = f"parts/{region + 1}.json"
    with tempfile.TemporaryDirectory(prefix="voxelize-") as name:
        folder = Path(name) / "store.zarr"
        for node, content in [*nodes.items(), (PLAN, planned)]:
            (folder / node).parent.mkdir(parents=True, exist_ok=True)
            (folder / node).write_bytes(content)
        if BINS in nodes:
            own = f"bins/{region + 1}.bin"
            bin = remote.read(own)
            # If the bin is missing, the library reports its name.
            if bin is not None:
                (folder / own).write_bytes(bin)
        there = remote.read(part)
        if there is not None:
            (folder / part).parent.mkdir(exist_ok=True)
            (folder / part).write_bytes(there)
            found = _native.check_store(str(folder), False, True, how())
            if found["states"][region] == "whole" and not remote.unlike(found["shards"]):
                return False
        store = Store(str(folder), region + 1)
        store.make(region, **task)
        shards = _native.check_store(str(folder), False, True, how())["shards"]
        for shard, *_ in shards:
            remote.put(folder, shard)
        remote.put(folder, part)
    return True


def _finish(remote: Remote, folder: Path, store: Store) -> Finished:
    """Checks the part files and the hashes of all shards, and completes the store by writing the node of the group."""
    (folder / "parts").mkdir(exist_ok=True)
    for region in range(store.regions):
        content = remote.read(f"parts/{region + 1}.json")
        if content is not None:
            (folder / "parts" / f"{region + 1}.json").write_bytes(content)
    found = _native.check_store(str(folder), True, True, how())
    finished = finished_of(remote.url, found)
    wrong = remote.unlike(found["shards"])
    if wrong:
        error = OutputError(f"{remote.url}: {wrong[0]} is not as it was made ({len(wrong)} files)")
        error.code, error.hint, error.file = "R002", "the same call makes it again", remote.url
        raise error
    remote.put(folder, NODE)
    return finished
