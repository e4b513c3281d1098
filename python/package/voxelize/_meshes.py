"""Reading of meshes from files, bytes, arrays, and objects of other packages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


from ._errors import Finding, findings_of, usage
from ._native import Mesh
from ._options import How, how, path

Array = npt.NDArray[Any]


class Reading(dict[str, bool]):
    """Options for reading files."""

    def __init__(self, lenient: bool = False, strict: bool = False, textures: bool = False) -> None:
        super().__init__(lenient=bool(lenient), strict=bool(strict), textures=bool(textures))


def mesh(
    source: Any,
    faces: npt.ArrayLike | None = None,
    *,
    lenient: bool = False,
    strict: bool = False,
    max_memory: int | str | None = None,
    name: str | None = None,
) -> Mesh:
    """Reads a mesh into memory, so that it can be used several times.

    `source` is anything that `voxelize` accepts as a mesh, or vertices (n, 3) if `faces` (m, 3) are given. `name` is the name of
    the mesh's label. The default is the name of its file.
    """
    if faces is not None:
        source = (source, faces)
    made = one(source, Reading(lenient, strict), how(max_memory=max_memory))[0]
    return made if name is None else made.renamed(name)


def all_of(source: Any, reading: Reading, run: How) -> tuple[list[Mesh], list[Finding]]:
    """Returns the meshes of a source. If the source is a list, each item is a mesh."""
    if not isinstance(source, list):
        made, findings = one(source, reading, run)
        return [made], findings
    if not source:
        raise usage("no mesh is given")
    both = [one(each, reading, run, str(n)) for n, each in enumerate(source)]
    return [made for made, _ in both], [finding for _, findings in both for finding in findings]


def one(source: Any, reading: Reading, run: How, name: str = "") -> tuple[Mesh, list[Finding]]:
    """Returns the mesh of a source, and the findings of reading it."""
    match source:
        case Mesh():
            return source, findings_of(source.findings)
        case str() | os.PathLike():
            made = Mesh.open(path(source), reading, run)
            return made, findings_of(made.findings)
        case bytes() | bytearray() | memoryview():
            made = Mesh.parse(bytes(source), name or "bytes", reading, run)
            return made, findings_of(made.findings)
        case np.ndarray():
            return _triangles(source, name)
        case (vertices, faces):
            return _indexed(vertices, faces, name)
    found = _of_object(source)
    if found is None:
        raise usage(
            f"{type(source).__name__} is not a mesh",
            "a mesh is a path, bytes, (vertices, faces), triangles (n, 3, 3), or an object of trimesh, Open3D, PyVista or meshio",
        )
    return _indexed(*found, name)


def _of_object(source: Any) -> tuple[Any, Any] | None:
    """Returns the vertices and faces of an object of another package. The package is recognised by the object's attributes."""
    if hasattr(source, "vertices") and hasattr(source, "faces"):  # trimesh
        return source.vertices, source.faces
    if hasattr(source, "vertices") and hasattr(source, "triangles"):  # Open3D
        return source.vertices, source.triangles
    if hasattr(source, "vertex") and hasattr(source, "triangle"):  # tensors of Open3D
        return source.vertex.positions, source.triangle.indices
    if hasattr(source, "points") and hasattr(source, "regular_faces"):  # PyVista
        if not source.is_all_triangles:
            source = source.triangulate()
        return source.points, source.regular_faces
    if hasattr(source, "points") and hasattr(source, "cells_dict"):  # meshio
        cells = source.cells_dict
        quads = np.asarray(cells.get("quad", np.empty((0, 4), int)))
        halves = [np.asarray(cells.get("triangle", np.empty((0, 3), int))), quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]
        return source.points, np.concatenate(halves)
    return None


def _indexed(vertices: Any, faces: Any, name: str) -> tuple[Mesh, list[Finding]]:
    points, findings = _floats(_array(vertices, "vertices"), "vertices", (None, 3))
    corners = _array(faces, "faces")
    if corners.size == 0:
        corners = corners.reshape(-1, 3).astype(np.uint32)
    if corners.ndim != 2 or corners.shape[1] != 3:
        raise usage(f"faces: shape (n, 3) is expected, not {corners.shape}", "split other polygons into triangles")
    if corners.dtype.kind not in "iu":
        raise usage(f"faces: whole numbers are expected, not {corners.dtype}")
    if corners.dtype != np.uint32:
        if corners.size and (corners.min() < 0 or corners.max() >= 2**32):
            raise usage("faces: an index is negative or too large", "indices start at 0")
        corners = corners.astype(np.uint32)
    # An array that was received over a network may not be aligned.
    return Mesh.indexed(points, np.require(corners, np.uint32, ["C", "A"]), name), findings


def _triangles(corners: Array, name: str) -> tuple[Mesh, list[Finding]]:
    floats, findings = _floats(corners, "triangles", (None, 3, 3))
    return Mesh.triangles(floats, name), findings


def _array(values: Any, name: str) -> Array:
    """Converts values to an array of NumPy. Tensors of Open3D and PyTorch are copied from their device."""
    if hasattr(values, "cpu"):
        values = values.cpu()
    if hasattr(values, "numpy") and not isinstance(values, np.ndarray):
        values = values.numpy()
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise usage(f"{name}: no array: {error}") from None
    if array.dtype.kind not in "fiu":
        raise usage(f"{name}: an array of numbers is expected, not of {array.dtype}")
    return array


def _floats(array: Array, name: str, shape: Sequence[int | None]) -> tuple[npt.NDArray[np.float32], list[Finding]]:
    """Returns coordinates as 32-bit floats, and a note if rounding changed any of them."""
    fits = array.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, array.shape))
    if not fits:
        wanted = "(n, " + ", ".join(str(n) for n in shape[1:]) + ")"
        raise usage(f"{name}: shape {wanted} is expected, not {array.shape}")
    if array.dtype.kind not in "fiu":
        raise usage(f"{name}: an array of numbers is expected, not of {array.dtype}")
    with np.errstate(over="ignore", invalid="ignore"):
        floats = np.require(array, np.float32, ["C", "A"])
    if array.dtype == np.float32:
        return floats, []
    # NaN is left out, because the library reports numbers that are not finite.
    changed = int(np.count_nonzero((floats != array) & ~np.isnan(floats)))
    message = f"{changed} of {array.size} coordinates were rounded to 32-bit floats"
    return floats, [Finding("rounded", "note", message, count=changed)] if changed else []


__all__ = ["Mesh", "Reading", "all_of", "mesh", "one"]
