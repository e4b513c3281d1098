"""Grids that Dask makes in regions or blocks, on a cluster or on the threads of this machine. Dask is imported when it is used.

>>> from voxelize.dask import array, voxelize_zarr
>>> a = array("part.stl", res=2048, rule="solid", chunks=256)       # lazy, a[x, y, z]    # doctest: +SKIP
>>> voxelize_zarr("huge.stl", "huge.zarr", res=16384, client=client)                      # doctest: +SKIP
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import numpy as np

from . import _native
from ._errors import usage
from ._functions import chosen
from ._meshes import Reading, absolute, all_of, split_pose
from ._options import Listener, how, whole
from ._voxels import Voxels
from .regions import Finished, Store, plan


def voxelize_zarr(
    mesh: Any,
    store: str | os.PathLike[str],
    *,
    client: Any = None,
    regions: int | None = None,
    threads: int | None = None,
    max_memory: int | str | None = None,
    retries: int = 3,
    storage_options: dict[str, Any] | None = None,
    progress: bool | Listener | None = None,
    **options: Any,
) -> Finished:
    """Voxelizes a mesh into a Zarr folder, one region per task. The digest is the same as if a single process had made it.

    `client` is a Dask client. Its workers must be able to read the mesh and to write to the folder under the given paths. Each
    task uses `threads` threads, by default one, and at most `max_memory`. If a worker is lost, its task runs again on another
    worker. Complete regions are kept, so the same call continues after a crash. Without a client this process makes one region
    after the other, with all threads. `store` may be a URL that fsspec knows, such as "s3://bucket/huge.zarr". Each task then
    makes its region in a temporary folder and uploads the files, the part file last. `storage_options` are passed to fsspec. All
    other arguments are as in `voxelize.voxelize` and `voxelize.regions.plan`.
    """
    task: dict[str, Any] = {"threads": threads or (1 if client else 0), "max_memory": max_memory}
    retries = whole("retries", retries)
    if "://" in os.fspath(store):
        from ._remote import voxelize_remote

        planning = {"regions": regions, "max_memory": max_memory, **options}
        return voxelize_remote(mesh, os.fspath(store), storage_options or {}, client, task, retries, planning)
    made = plan(mesh, store, regions=regions, max_memory=max_memory, _depth=2, **options)
    numbers = range(made.regions)
    if client is None:
        made.make(*numbers, progress=progress, **task)
        return made.finish()
    at = Store(os.path.abspath(made.path), made.regions)
    futures = client.map(_make, numbers, store=at, task=task, pure=False, retries=retries)
    client.gather(futures)
    return at.finish()


def _make(region: int, store: Store, task: dict[str, Any]) -> bool:
    """Task of a worker: makes a region, unless it is complete. Returns True if it was made."""
    return store.make(region, **task)[0]


def array(
    mesh: Any,
    *,
    chunks: int | tuple[int, int, int] = 256,
    lenient: bool = False,
    strict: bool = False,
    threads: int = 1,
    max_memory: int | str | None = None,
    **options: Any,
) -> Any:
    """Returns the cells of a mesh as a lazy Dask array `a[x, y, z]`: bool for bits, uint8 for labels, float32 for a field.

    A block is made when it is needed. Its cells are the same as in the complete grid, bit for bit. `mesh` is anything that
    `voxelize.voxelize` accepts as a mesh. The task graph contains only the names of files, and a process reads each file once.
    All other arguments are as in `voxelize.voxelize`.
    """
    import dask.array as da
    from dask.base import tokenize

    if {"like", "nearest", "with_"} & options.keys():
        raise usage("blocks have no like, nearest and with_", "give res, voxel_size or dims")
    reading = Reading(lenient, strict)
    source = _source(mesh)
    texts = chosen(reading, options)
    dims, kind = _native.planned_grid(_meshes(source, reading), texts, how(max_memory=max_memory))
    dtype = np.dtype({"bits": bool, "labels": np.uint8, "field": np.float32}[kind])
    size = da.core.normalize_chunks(chunks, shape=tuple(dims), dtype=dtype)
    return da.map_blocks(
        _block,
        chunks=size,
        dtype=dtype,
        meta=np.empty((0, 0, 0), dtype),
        name=f"voxelize-{tokenize(source, texts, size)}",
        source=source,
        reading=dict(reading),
        texts=texts,
        kind=kind,
        task={"threads": whole("threads", threads), "max_memory": max_memory},
    )


def _block(
    source: Any,
    reading: dict[str, bool],
    texts: dict[str, Any],
    kind: str,
    task: dict[str, Any],
    block_info: Any = None,
) -> Any:
    """Task of a worker: makes the cells of a block."""
    corners = [int(n) for pair in block_info[None]["array-location"] for n in pair]
    meshes = _meshes(source, Reading(**reading))
    voxels = Voxels._of(_native.voxelize_block(meshes, texts, corners, how(**task)))
    match kind:
        case "labels":
            return voxels.labels
        case "field":
            return voxels.field
    return voxels.numpy()


def _source(mesh: Any) -> Any:
    """Returns a mesh in the form that tasks contain: the name and the modification time of a file, or the object itself."""
    if isinstance(mesh, list):
        return [_source(one) for one in mesh]
    if isinstance(mesh, dict):
        return {name: _source(one) for name, one in mesh.items()}
    if not isinstance(mesh, (str, os.PathLike)):
        return mesh
    return ("file", absolute(mesh), os.stat(split_pose(mesh)[0]).st_mtime_ns)


def _meshes(source: Any, reading: Reading) -> list[_native.Mesh]:
    """Returns the meshes of a source that `_source` returned."""
    if isinstance(source, list):
        return [mesh for one in source for mesh in _meshes(one, reading)]
    if isinstance(source, dict):
        return [mesh.renamed(name) for name, one in source.items() for mesh in _meshes(one, reading)]
    if isinstance(source, tuple) and len(source) == 3 and isinstance(source[0], str):
        return [_file(source[1], source[2], tuple(sorted(reading.items())))]
    return all_of(source, reading, how())[0]


@lru_cache(maxsize=4)
def _file(name: str, time: int, reading: tuple[tuple[str, bool], ...]) -> _native.Mesh:
    """Returns the mesh of a file. A process reads the file only once."""
    return all_of(name, Reading(**dict(reading)), how())[0][0]


__all__ = ["array", "voxelize_zarr"]
