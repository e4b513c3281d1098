"""One grid that several processes make, as a Zarr store of independent regions. See docs/how-to/clusters.md.

>>> import tempfile, numpy as np, voxelize
>>> from voxelize import regions
>>> folder = tempfile.TemporaryDirectory()
>>> mesh = folder.name + "/part.obj"
>>> _ = open(mesh, "w").write("v 0 0 0\\nv 4 0 0\\nv 0 4 0\\nv 0 0 4\\nf 1 3 2\\nf 1 2 4\\nf 2 3 4\\nf 1 4 3\\n")
>>> store = regions.plan(mesh, folder.name + "/part.zarr", res=200, rule="filled")
>>> store.regions
4
>>> [store.make(n) for n in (2, 0, 1, 3, 3)]
[[True], [True], [True], [True], [False]]
>>> store.finish().digest == voxelize.voxelize(mesh, res=200, rule="filled").digest
True
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from . import _native
from ._errors import Finding, OutputError, findings_of, usage, warn
from ._functions import chosen
from ._meshes import Reading, all_of, split_pose
from ._options import Listener, how, path, whole, word


@dataclass(frozen=True)
class Finished:
    """Complete store."""

    path: str
    #: Digests of the grid and of its cells. They are the same as if a single process had made the grid.
    digest: str
    cells_digest: str
    #: Number of cells along each axis, (nx, ny, nz). The array in the store is a[z, y, x].
    shape: tuple[int, int, int]
    #: Number of occupied cells. In a field, the number of cells with a value.
    count: int
    nbytes: int
    findings: list[Finding]


@dataclass(frozen=True)
class Store:
    """Zarr folder with a plan of regions. Regions are numbered from 0."""

    path: str
    #: Number of regions.
    regions: int

    def make(
        self,
        *regions: int,
        mesh: str | os.PathLike[str] | list[str] | None = None,
        threads: int = 0,
        max_memory: int | str | None = None,
        simd: str | None = None,
        progress: bool | Listener | None = None,
    ) -> list[bool]:
        """Makes those of these regions that are incomplete. Returns for each region True if this call made it.

        `mesh` is the path of the mesh. It is needed only if the mesh was moved after planning.
        """
        run = how(threads, max_memory, simd, progress)
        files = None if mesh is None else [path(file) for file in (mesh if isinstance(mesh, list) else [mesh])]
        return _native.make_regions(self.path, [whole("region", n) for n in regions], files, run)

    def states(self) -> list[str]:
        """Returns the state of each region: "whole", "missing", "damaged" or "stale"."""
        found: list[str] = _native.check_store(self.path, False, False, how())["states"]
        return found

    def finish(self, *, threads: int = 0, progress: bool | Listener | None = None) -> Finished:
        """Checks all regions, and completes the store by writing the metadata that readers need.

        Raises
        ------
        OutputError
            If regions are incomplete. `states` lists them.
        """
        found = _native.check_store(self.path, True, False, how(threads, progress=progress))
        finished = finished_of(self.path, found)
        warn(finished.findings, 2)
        return finished


def finished_of(store: str, found: dict[str, Any]) -> Finished:
    """Returns the facts about a complete store. Raises an error for an incomplete store."""
    findings = findings_of(found["findings"])
    if found["digest"] is None:
        raise _unfinished(store, findings)
    nx, ny, nz = found["shape"]
    shape = (nx, ny, nz)
    return Finished(store, found["digest"], found["cells_digest"], shape, found["occupied"], found["bytes"], findings)


def _unfinished(store: str, findings: list[Finding]) -> OutputError:
    texts = [finding.message for finding in findings if finding.code in ("R001", "R002", "R003")]
    error = OutputError(f"{store}: {'; '.join(texts)}")
    error.code, error.hint, error.file = findings[0].code, "make these regions again", store
    return error


def plan(
    mesh: Any,
    store: str | os.PathLike[str],
    *,
    regions: int | None = None,
    dtype: str | None = None,
    uncompressed: bool = False,
    no_pyramid: bool = False,
    bin: bool = False,
    lenient: bool = False,
    strict: bool = False,
    threads: int = 0,
    max_memory: int | str | None = None,
    simd: str | None = None,
    progress: bool | Listener | None = None,
    _depth: int = 1,
    **options: Any,
) -> Store:
    """Plans the regions of a grid in a folder `NAME.zarr`. If a store with the same plan exists, it is opened.

    `mesh` must be the name of a file, a list of names, or a dictionary of names, because other processes read the mesh again. A
    name may have a pose, as in "arm.stl@rotate=z,90". At most `regions`
    regions are planned, by default 64. `dtype` is "u8" or "bool". With `bin`, the triangles of each region are written to a file
    of the store, which the process that makes the region reads in place of the mesh. All other arguments are as in
    `voxelize.voxelize`.
    """
    parts = dict(mesh) if isinstance(mesh, dict) else {}
    files = list(parts.values()) if parts else mesh if isinstance(mesh, list) else [mesh]
    if not all(isinstance(file, (str, os.PathLike)) for file in files):
        raise usage("mesh: names of files are expected, as other processes read them", "save the mesh to a file")
    if {"like", "nearest", "with_"} & options.keys():
        raise usage("regions have no like, nearest and with_", "give res, voxel_size or dims")
    run = how(threads, max_memory, simd, progress)
    reading = Reading(lenient, strict)
    unit = options.get("unit") if options.get("scale") is None else None
    meshes, findings = all_of(mesh, reading, run, unit)
    name = path(store)
    sources: list[tuple[str, str, str]] = []
    for part, file in zip(parts or [""] * len(files), files, strict=True):
        place, steps = split_pose(file)
        sources.append((place, part, "@".join(f"{step}={text}" for step, text in steps)))
    storing = {
        "path": name,
        "files": sources,
        "unit": unit,
        "regions": None if regions is None else whole("regions", regions, 1),
        "dtype": None if dtype is None else word("dtype", dtype),
        "uncompressed": bool(uncompressed),
        "no_pyramid": bool(no_pyramid),
        "bin": bool(bin),
    }
    made = _native.plan_store(meshes, chosen(reading, options), storing, run)
    findings += findings_of(made["findings"])
    warn(findings, _depth + 1)
    return Store(name, made["regions"])


__all__ = ["Finished", "Store", "plan"]
