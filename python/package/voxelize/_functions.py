"""Functions of the package. They make voxels from meshes, and return facts about meshes."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any, Literal

from . import _native
from ._errors import Cancelled, Error, Finding, SkippedWarning, TooLargeError, UsageError, findings_of, usage, warn
from ._facts import Check, Clearance, check_of, clearance_of
from ._meshes import Mesh, Reading, all_of, is_mesh_name, meshes_in, one
from ._options import How, Listener, Number, Size, how, path, several, strings, suggesting, texts, unknown, whole
from ._voxels import Voxels


@suggesting
def voxelize(
    mesh: Any,
    *,
    res: int | Sequence[int] | None = None,
    voxel_size: Size | None = None,
    dims: Sequence[int] | None = None,
    stretch: bool = False,
    bounds: Sequence[Number] | Sequence[Sequence[Number]] | None = None,
    origin: Sequence[Number] | None = None,
    cube: bool = False,
    pad: int | Sequence[int] | Sequence[Sequence[int]] | None = None,
    like: Voxels | str | os.PathLike[str] | None = None,
    snap: str | None = None,
    rule: str = "surface",
    ties: str | None = None,
    inside: str | None = None,
    close_holes: int | None = None,
    keep_thin: bool = False,
    hollow: int | str | None = None,
    drain: str | Sequence[Any] | None = None,
    radius: Number | None = None,
    band: Number | None = None,
    signed: bool = False,
    iso: Number | None = None,
    nearest: bool = False,
    with_: str | Sequence[str] = (),
    labels: str | None = None,
    priority: Sequence[str] = (),
    only: str | Sequence[str] = (),
    skip: str | Sequence[str] = (),
    up: str | None = None,
    axes: str | None = None,
    matrix: Sequence[Number] | Sequence[Sequence[Number]] | None = None,
    rotate: str | Sequence[Any] | None = None,
    rpy: str | Sequence[Number] | None = None,
    scale: Number | None = None,
    translate: Sequence[Number] | None = None,
    unit: str | None = None,
    lenient: bool = False,
    strict: bool = False,
    threads: int = 0,
    max_memory: int | str | None = None,
    simd: str | None = None,
    progress: bool | Listener | None = None,
    _cancel: _native.Cancel | None = None,
    _depth: int = 1,
    _read: tuple[list[_native.Mesh], list[Finding]] | None = None,
    _level: int | None = None,
) -> Voxels:
    """Voxelizes a mesh.

    The arguments have the meaning of the command's options, which docs/reference/command-line.md describes. Numbers are exact.

    Parameters
    ----------
    mesh
        One of these: a path; the content of a file as bytes; ``(vertices, faces)`` of shapes (n, 3) and (m, 3); triangles
        (n, 3, 3); an object of trimesh, Open3D, PyVista, meshio, build123d, CadQuery or usd-core; or a `voxelize.Mesh`. A list of
        several makes one grid, in which each mesh has its own label; a dictionary has their names as its keys. A path may have a
        pose, as in "arm.stl@rotate=z,90", or be a pair of a path and a matrix (4, 4); `Mesh.transform` poses other meshes. 64-bit
        coordinates are rounded to 32 bits. If this changes any, a note in `findings` states how many.
    res, voxel_size, dims, like
        These decide the size of the cells. `res` is the number of cells along the longest axis (default 256). `voxel_size` is
        the size of a cell, one number or three. `dims` is the number of cells along each axis. `like` takes the grid of other
        voxels, or of a file such as a scan.
    bounds
        Box that the cells are fitted to in place of the bounds of the mesh: ``(x0, y0, z0, x1, y1, z1)`` or two corners.
    origin
        With `voxel_size`: a point that walls between cells pass through.
    pad
        Number of cells to add on every side, or ``(x, y, z)``, or ``((x0, x1), (y0, y1), (z0, z1))`` for the low and the high side of
        each axis, as in ``numpy.pad``. Six numbers in a row are those of the option: ``(x0, y0, z0, x1, y1, z1)``.
    rule
        "surface": cells that the mesh touches. "thin": a surface with fewer cells that is still closed. "solid": cells whose centre
        is inside. "filled": cells that overlap the part. "offset": cells whose centre is within `radius` of the mesh. "distance":
        a field of the distances to the mesh. "fraction": a field of the share of each cell that is inside. "area": a field of
        the area of the mesh in each cell.
    inside
        Method that decides what is inside, for "solid", "filled" and signed distances: "auto", "nonzero", "evenodd", "flood", "vote"
        or "robust".
    hollow
        Keeps a wall. A text such as "2mm" keeps the inner cells whose centre is at most this far from the surface, for "solid" and
        "filled". A number N keeps a shell of N cells, for "filled".
    drain
        With `hollow`: a drain hole (x, y, z, diameter), or a list of them. Each leads from a point on the surface straight to the
        nearest point of the cavity.
    band, signed, iso, nearest
        Options of "distance". `band` is the width of the band in cells, a length as in "10mm" or "10units", or "all". With
        `signed`, distances inside are negative. With `iso`, the result is the cells up to this value in place of a field; a value
        below zero shrinks the part. With `nearest`, `Voxels.nearest` has the indices of the nearest triangles.
    with_
        For "fraction": arrays to compute in addition to the shares, which `Voxels.arrays` returns: "area", "normal", "faces",
        "centroid". For "fraction" and "area", `Voxels.arrays` also has the field of each of several meshes, by its name.
    axes, matrix, rotate, rpy, scale, translate
        Transforms of the coordinates. They are applied in this order. `matrix` has 3 or 4 rows of 4 numbers. Several rotations, as
        in ``rotate=["x,10", "z,30"]`` or ``[("x", 10), ("z", 30)]``, are applied in the given order. `rpy` is roll, pitch and yaw
        in radians, as in a URDF.
    labels
        What the labels of the cells stand for: "file", "object", "material" or "colour". "object,colour" labels
        each colour of an object. "layer" labels the surface and the interior of a filled grid.
    unit
        Unit of the coordinates: "mm", "cm", "m", "in" or "ft". Lengths may then have units: ``voxel_size="0.5mm"``.
    threads, max_memory, simd
        Resources, which never change the cells: a number of threads, 0 for all; a memory limit such as "4G"; an instruction set,
        or "auto".
    progress
        Function that is called with the phase, the number of steps done and the total number of steps. True shows a progress bar
        of tqdm. An exception in the function ends the run.

    Raises
    ------
    UsageError, InputError, MeshError, TooLargeError
        Each has the attributes `code` and `hint`.
    """
    arguments = locals()
    if _level is None and isinstance(res, Iterable) and not isinstance(res, str):
        raise usage("res: each level of detail is a grid of its own", "voxelize.levels(mesh, res) returns a list of grids")
    given = {name: arguments[name] for name in _DECIDING if name in arguments}
    run = how(threads, max_memory, simd, progress, _cancel)
    reading = Reading(lenient, strict, _has_colours(labels))
    meshes, found = all_of(mesh, reading, run, unit if scale is None else None) if _read is None else _read
    quantities = [name for text in strings("with_", with_) for name in text.split(",")]
    made = _native.voxelize(meshes, chosen(reading, given), run, _like(like), bool(nearest), quantities, _level)
    findings = found + findings_of(made["findings"])
    if _depth:
        # Adds two stack frames: the wrapper that checks the names of arguments, and this function.
        warn(findings, _depth + 2)
    return Voxels._of(made["grid"], findings, made["nearest"], made["inside"], made["snapped"], made["arrays"])


#: Names of the arguments that decide the cells. The value is True for a flag.
_DECIDING = dict(_native.options())


def _has_colours(labels: object) -> bool:
    """Returns whether labels stand for colours."""
    return isinstance(labels, str) and labels.endswith(("colour", "color"))


def chosen(reading: Reading, given: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments that decide the cells, as texts that the library parses."""
    pairs: list[tuple[str, list[str]]] = []
    for name, value in given.items():
        if name not in _DECIDING:
            raise unknown("voxelize", name, list(_DECIDING))
        if value is None or _DECIDING[name] and not value:
            continue
        pairs.append((name, [] if _DECIDING[name] else texts(name, value)))
    return {"given": pairs, "reading": reading}


def distance(
    mesh: Any,
    *,
    band: Number = 3,
    signed: bool = False,
    nearest: bool = False,
    **options: Any,
) -> Voxels:
    """Computes the distance from the centre of each cell to the mesh, in units of the mesh. `Voxels.field` has the distances.

    Cells farther away than `band` cells get the width of the band as their value. With "all" every distance is stored. Without
    `pad` the grid grows by the band. All other arguments are as in `voxelize`.
    """
    return voxelize(mesh, rule="distance", band=band, signed=signed, nearest=nearest, **{"_depth": 2, **options})


def fraction(mesh: Any, **options: Any) -> Voxels:
    """Computes the share of each cell's volume that is inside the mesh, from 0 to 1. `Voxels.field` has the shares.

    An open mesh is an error. With inside="robust" it is closed with caps, which count as part of its surface. All other
    arguments are as in `voxelize`.
    """
    return voxelize(mesh, rule="fraction", **{"_depth": 2, **options})


def offset(mesh: Any, radius: Number, **options: Any) -> Voxels:
    """Returns the cells whose centre is within `radius` of the mesh.

    `radius` is in the unit of the mesh, or in cells as "2vx". All other arguments are as in `voxelize`."""
    return voxelize(mesh, rule="offset", radius=radius, **{"_depth": 2, **options})


def levels(mesh: Any, res: Sequence[int], **options: Any) -> list[Voxels]:
    """Voxelizes a mesh at several levels of detail. Returns the grids in the order of `res`.

    `res` has the number of cells along the longest axis of each level, such as ``[64, 32, 16]``. The grids have the same corner
    and cover the box of the coarsest level, so that cells nest if the ratio of the numbers is an integer. `pad` counts cells of
    the coarsest level. All other arguments are as in `voxelize`. The mesh is read once.
    """
    count = len(several("res", res))
    if isinstance(res, str) or not count:
        raise usage("res: several numbers of cells are expected", "for example: voxelize.levels(mesh, [64, 32, 16])")
    reading = Reading(options.get("lenient", False), options.get("strict", False), _has_colours(options.get("labels")))
    unit = options.get("unit") if options.get("scale") is None else None
    read = all_of(mesh, reading, how(options.get("threads", 0), options.get("max_memory")), unit)
    made = []
    for level in range(count):
        made.append(voxelize(mesh, res=res, **{"_depth": 2, **options, "_read": read, "_level": level}))
    return made


#: Function that is called with the name of a mesh that failed, and its error.
OnError = Callable[[str, Error], object]


def many(
    meshes: Iterable[Any] | str | os.PathLike[str],
    *,
    workers: int | None = None,
    max_memory: int | str | None = None,
    on_error: Literal["raise", "skip"] | OnError = "raise",
    **options: Any,
) -> Iterator[Voxels]:
    """Voxelizes several meshes in parallel, each in one thread. Yields the results in the order of the meshes.

    `meshes` is a folder, or meshes and folders. A folder stands for the meshes in it and in the folders below it, sorted by name.
    `Voxels.source` is the path of a result's mesh, or "mesh n" for other meshes.

    At most `workers` meshes are being voxelized or waiting to be yielded (default: the number of threads of the machine).
    `max_memory` is the limit for all of them together. Each mesh gets an equal share, and a mesh that needs more runs alone
    after the others. Ctrl-C cancels the running meshes, and so does the end of the iteration.

    With on_error="raise", a mesh that fails ends the iteration, and a note of the exception names the mesh. With "skip", the mesh
    is left out, and a `SkippedWarning` names the mesh and the error. A function is called with the name and the error instead. If
    all meshes fail by a `UsageError`, the first one is raised at the end, because the call itself is probably invalid.

    Warnings name the mesh. All other arguments are as in `voxelize`.
    """
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = count if workers is None else whole("workers", workers, 1)
    limit = how(max_memory=max_memory)["max_memory"]
    share = None if limit is None else max(1, limit // count)
    if isinstance(meshes, str | os.PathLike):
        if not os.path.isdir(path(meshes)):
            raise usage("meshes: one path, where many takes several", "many takes a folder, or a list of paths")
        meshes = [meshes]
    if isinstance(meshes, dict):
        raise usage("meshes: a dictionary, where many takes a list", "voxelize takes a dictionary, and makes one grid of it")
    if isinstance(meshes, bytes):
        raise usage("meshes: one mesh, where many takes several", "many takes a folder, or a list of meshes")
    if on_error not in ("raise", "skip") and not callable(on_error):
        raise usage(f"on_error: there is no {on_error!r}", "it is 'raise', 'skip', or a function of a name and an error")
    if "threads" in options:
        raise usage("threads: many runs each mesh in one thread", "workers says how many run at a time")
    return _many(_expanded(meshes), count, limit, share, options, on_error)


def _expanded(meshes: Iterable[Any]) -> Iterator[Any]:
    """Returns the meshes. The meshes in a folder take its place."""
    for mesh in meshes:
        if isinstance(mesh, str | os.PathLike) and os.path.isdir(path(mesh)):
            yield from meshes_in(path(mesh))
        else:
            yield mesh


def _many(
    meshes: Iterator[Any], count: int, limit: int | None, share: int | None, options: dict[str, Any], on_error: str | OnError
) -> Iterator[Voxels]:
    """Yields the results that did not fail, and reports the others."""
    wrong: UsageError | None = None
    is_call_right = False
    with closing(_results(meshes, count, limit, share, options)) as results:
        for name, made in results:
            if isinstance(made, Voxels):
                is_call_right = True
                warn(made.findings, 2, name)
                made.source = name
                yield made
                continue
            if on_error == "raise" or isinstance(made, Cancelled):
                raise made
            if isinstance(made, UsageError):
                wrong = wrong or made
            else:
                is_call_right = True
            if callable(on_error):
                on_error(name, made)
            else:
                warnings.warn(SkippedWarning(name, made), stacklevel=2)
    if wrong is not None and not is_call_right:
        raise wrong


def _results(
    meshes: Iterator[Any], count: int, limit: int | None, share: int | None, options: dict[str, Any]
) -> Generator[tuple[str, Voxels | Error], None, None]:
    """Yields the name of each mesh, and its voxels or its error."""
    cancel = _native.Cancel()
    # Workers do not warn, because a warning must name the line of the caller.
    common = {**options, "threads": 1, "_cancel": cancel, "_depth": 0}

    def job(mesh: Any, most: int | None) -> Voxels:
        return voxelize(mesh, max_memory=most, **common)

    waiting: deque[tuple[str, Any, Future[Voxels]]] = deque()
    pool = ThreadPoolExecutor(count, thread_name_prefix="voxelize")
    try:
        for n, mesh in enumerate(meshes):
            name = os.fsdecode(mesh) if isinstance(mesh, str | os.PathLike) else f"mesh {n}"
            waiting.append((name, mesh, pool.submit(job, mesh, share)))
            if len(waiting) == count:
                yield _next(waiting, limit, job)
        while waiting:
            yield _next(waiting, limit, job)
    finally:
        cancel.cancel()
        pool.shutdown(cancel_futures=True)


def _next(waiting: deque[tuple[str, Any, Future[Voxels]]], limit: int | None, job: Any) -> tuple[str, Voxels | Error]:
    name, mesh, future = waiting.popleft()
    try:
        try:
            return name, future.result()
        except TooLargeError:
            if limit is None:
                raise
        # The mesh runs alone after the others. Results that wait to be yielded stay in memory.
        held = 0
        for _, _, other in waiting:
            if other.exception() is None:
                held += other.result()._grid.nbytes
        return name, job(mesh, max(1, limit - held))
    except Error as error:
        error.add_note(name)
        return name, error


def check(
    mesh: Any,
    *,
    like: Voxels | None = None,
    places: int = 10,
    max_pairs: int | None = None,
    threads: int = 0,
    max_memory: int | str | None = None,
    progress: bool | Listener | None = None,
) -> Check:
    """Checks a mesh: whether it is closed, oriented and manifold, its components, and its defects with their triangles.

    With `like`, walls that are thinner than the cells of these voxels are also searched. `max_pairs` is the maximum number of
    triangle pairs to examine; 0 is no limit.
    """
    run = how(threads, max_memory, None, progress)
    made = one(mesh, Reading(), run)[0]
    pairs = None if max_pairs is None else whole("max_pairs", max_pairs)
    if not isinstance(like, Voxels | None):
        raise usage(f"like: voxels are expected, not {type(like).__name__}")
    lattice = None if like is None else like._grid
    return check_of(_native.check(made, lattice, whole("places", places), pairs, run))


def clearance(
    first: Any,
    second: Any,
    *,
    places: int = 100,
    max_pairs: int | None = None,
    threads: int = 0,
    max_memory: int | str | None = None,
    progress: bool | Listener | None = None,
) -> Clearance:
    """Compares two meshes: whether they touch, cross or contain each other, their distance and their closest points."""
    run = how(threads, max_memory, None, progress)
    a, b = (one(mesh, Reading(), run)[0] for mesh in (first, second))
    pairs = None if max_pairs is None else whole("max_pairs", max_pairs)
    return clearance_of(_native.clearance(a, b, whole("places", places), pairs, run))


def formats() -> list[dict[str, Any]]:
    """Returns the voxel formats: their names, extensions, kinds of cells and number types, and whether `open` can read them."""
    return _native.formats()


_LIKE = "like takes voxels or a voxel file; for cells around another mesh, use bounds"


def _like(like: Voxels | str | os.PathLike[str] | None) -> _native.Grid | str | None:
    match like:
        case None:
            return None
        case Voxels():
            return like._grid
        case str() | os.PathLike():
            name = path(like)
            if is_mesh_name(name):
                hint = f"{_LIKE}=voxelize.mesh({name!r}).bounds"
                raise usage(f"like: {name} is a mesh, which has no cells", hint)
            return name
        case Mesh():
            raise usage("like: a mesh has no cells", f"{_LIKE}=mesh.bounds")
    raise usage(f"like: voxels or the name of a file are expected, not {type(like).__name__}")


__all__ = ["Mesh", "check", "clearance", "distance", "formats", "fraction", "levels", "many", "offset", "voxelize"]
