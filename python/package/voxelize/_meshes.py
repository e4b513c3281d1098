"""Reading of meshes from files, bytes, arrays, and objects of other packages."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from ._errors import Finding, InputError, findings_of, usage
from ._objects import arrays_of, hint_of, points_of
from ._options import How, Number, Steps, how, path, steps_of

Array = npt.NDArray[Any]
#: Mesh of the compiled part. In the class `Mesh`, the name of the module is an attribute.
NativeMesh = _native.Mesh

#: Extensions of mesh files. `voxelize formats` lists the same ones.
EXTENSIONS = (".stl", ".obj", ".off", ".ply", ".gltf", ".glb", ".3mf")


class Reading(dict[str, bool]):
    """Options for reading files."""

    def __init__(self, lenient: bool = False, strict: bool = False, textures: bool = False) -> None:
        super().__init__(lenient=bool(lenient), strict=bool(strict), textures=bool(textures))


#: Content of a mesh: the path of a file, the bytes of a file, vertices and faces, or triangles (n, 3, 3).
Content = str | bytes | tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]] | npt.NDArray[np.float32]


class Mesh:
    """Mesh in memory. It is read once and can be voxelized any number of times. `voxelize.mesh` makes it.

    A pickle of a mesh from a file has the file's absolute path and the hash of its bytes, so that the same file must exist where
    the mesh is restored. Other pickles have the bytes or arrays, of which the mesh keeps a copy.
    """

    __slots__ = ("__weakref__", "_content", "_hash", "_native", "_poses", "_reading", "_stamp", "findings")

    _native: _native.Mesh
    _content: Content
    #: Poses, which are applied one after the other.
    _poses: list[Steps]
    _reading: Reading
    #: Size and time of modification of the file when it was read. None for other content.
    _stamp: tuple[int, int] | None
    _hash: str | None
    #: Findings of reading the mesh.
    findings: list[Finding]

    def __init__(self) -> None:
        raise usage("meshes are made by voxelize.mesh")

    @classmethod
    def _of(
        cls, content: Content, reading: Reading, run: How, name: str, findings: list[Finding], poses: list[Steps]
    ) -> Mesh:
        self = object.__new__(cls)
        # The stamp is older than the read, so that a change during the read is found.
        self._stamp = _stamp(content)
        self._native = _built(content, reading, run, name)
        for steps in poses:
            self._native = self._native.posed(steps, None, run)
        self._content, self._poses, self._reading, self._hash = _kept(content), poses, reading, None
        self.findings = findings + findings_of(self._native.findings)
        return self

    @property
    def name(self) -> str:
        """Name of the file without its folder, or the name given to `voxelize.mesh`."""
        return self._native.name

    @property
    def bounds(self) -> tuple[list[float], list[float]] | None:
        """Lowest and highest coordinates. None if the mesh has no triangles."""
        return self._native.bounds

    @property
    def unit(self) -> str | None:
        """Unit that the file states. None if it states none."""
        return self._native.unit

    def renamed(self, name: str) -> Mesh:
        """Returns the same mesh with another name."""
        return self._with(self._native.renamed(name), self._poses)

    def transform(
        self,
        matrix: npt.ArrayLike | str | None = None,
        *,
        axes: str | None = None,
        rotate: str | Sequence[Any] | None = None,
        rpy: str | Sequence[Number] | None = None,
        scale: Number | None = None,
        translate: Sequence[Number] | None = None,
        max_memory: int | str | None = None,
    ) -> Mesh:
        """Returns the mesh with a pose, such as the place of a link in a robot. This mesh does not change.

        `matrix` has 3 or 4 rows of 4 numbers. The arguments are applied in the order in which they are listed, as those of
        `voxelize` are. Each call rounds coordinates to 32 bits once; quarter turns and translations of one call are exact.
        """
        pose = {"axes": axes, "matrix": matrix, "rotate": rotate, "rpy": rpy, "scale": scale, "translate": translate}
        steps = steps_of(pose)
        made = self._native.posed(steps, None, how(max_memory=max_memory))
        return self._with(made, [*self._poses, steps])

    def _with(self, native: NativeMesh, poses: list[Steps]) -> Mesh:
        """Returns a mesh of the same content."""
        made = object.__new__(Mesh)
        made._native, made._poses = native, poses
        made._content, made._reading, made._stamp, made._hash = self._content, self._reading, self._stamp, self._hash
        made.findings = self.findings
        return made

    def __len__(self) -> int:
        return len(self._native)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return repr(self._native)

    def __copy__(self) -> Mesh:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Mesh:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self._content, str):
            if self._stamp is None:
                raise _other(self._content, "is not a regular file, so the mesh cannot be pickled", "read it from bytes")
            if _stamp(self._content) != self._stamp:
                raise _other(self._content, "changed after it was read, so the mesh cannot be pickled", "read it again")
            self._hash = self._hash or _hash(self._content)
        facts = [(f.code, f.severity, f.message, f.hint, f.count, f.triangle) for f in self.findings]
        return _restored, (self._content, dict(self._reading), self._hash, self.name, facts, self._poses)


def _restored(
    content: Content, reading: dict[str, bool], hash: str | None, name: str, facts: list[Any], poses: list[Steps]
) -> Mesh:
    """Restores a mesh from a pickle."""
    if isinstance(content, str) and os.path.exists(content) and _hash(content) != hash:
        raise _other(content, "is not the file that the mesh was read from", "read it again")
    made = Mesh._of(content, Reading(**reading), how(), name, [], poses)
    made.findings = findings_of(facts)
    return made if made.name == name else made.renamed(name)


def _stamp(content: Content) -> tuple[int, int] | None:
    """Returns the size and the time of modification of a regular file. None for other content."""
    if not isinstance(content, str):
        return None
    try:
        found = os.stat(content)
    except (OSError, ValueError):
        return None
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _hash(file: str) -> str:
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "blake2b").hexdigest()


def _other(file: str, what: str, hint: str) -> InputError:
    error = InputError(f"{file}: {what}")
    error.code, error.hint, error.file = "changed", hint, file
    return error


def _kept(content: Content) -> Content:
    """Returns content that does not change: arrays are copied, and paths are absolute."""
    match content:
        case str():
            return os.path.abspath(content)
        case bytes():
            return content
        case (vertices, faces):
            return vertices.copy(), faces.copy()
    return content.copy()


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
    match source:
        case Mesh():
            made = source
        case (Mesh() | str() | os.PathLike() as posed, matrix):
            made = mesh(posed, lenient=lenient, strict=strict, max_memory=max_memory).transform(matrix, max_memory=max_memory)
        case _:
            content, steps, findings = _content(source)
            poses = [steps] if steps else []
            made = Mesh._of(content, Reading(lenient, strict), how(max_memory=max_memory), "", findings, poses)
    return made if name is None else made.renamed(name)


def all_of(
    source: Any, reading: Reading, run: How, unit: str | None = None
) -> tuple[list[_native.Mesh], list[Finding]]:
    """Returns the meshes of a source. If the source is a list or a dictionary, each item is a mesh.

    The keys of a dictionary are the names of the meshes. `unit` is the unit of lengths in the pose of a file that states none.
    """
    if not isinstance(source, (list, dict)):
        made, findings = one(source, reading, run, "", unit)
        return [made], findings
    if not source:
        raise usage("no mesh is given")
    items = source.items() if isinstance(source, dict) else enumerate(source)
    meshes: list[_native.Mesh] = []
    notes: list[Finding] = []
    for name, each in items:
        made, findings = one(each, reading, run, str(name), unit)
        meshes.append(made.renamed(str(name)) if isinstance(source, dict) else made)
        notes += findings
    return meshes, notes


def one(
    source: Any, reading: Reading, run: How, name: str = "", unit: str | None = None
) -> tuple[_native.Mesh, list[Finding]]:
    """Returns the mesh of a source, and the findings of reading it. A path or a mesh may be paired with a matrix (4, 4)."""
    match source:
        case Mesh():
            return source._native, source.findings
        case (Mesh() | str() | os.PathLike() as posed, matrix):
            made, findings = one(posed, reading, run, name, unit)
            return made.posed(steps_of({"matrix": matrix}), unit, run), findings
    content, steps, findings = _content(source)
    made = _built(content, reading, run, name)
    if steps:
        made = made.posed(steps, unit, run)
    return made, findings + findings_of(made.findings)


def split_pose(name: str | os.PathLike[str]) -> tuple[str, Steps]:
    """Splits a name such as "part.stl@rotate=z,90" into the path of the file and the steps of its pose."""
    file = path(name)
    return _native.split_pose(file) or (file, [])


def absolute(name: str | os.PathLike[str]) -> str:
    """Returns the absolute path of a file, with the pose after its name."""
    file, steps = split_pose(name)
    return os.path.abspath(file) + "".join(f"@{step}={text}" for step, text in steps)


def _content(source: Any) -> tuple[Content, Steps, list[Finding]]:
    """Returns the content of a source, the pose in its name, and a note if its coordinates were rounded."""
    match source:
        case str() | os.PathLike():
            file, steps = split_pose(source)
            if os.path.isdir(file):
                raise usage(f"{file} is a folder, where one mesh is expected", "voxelize.many takes a folder")
            return file, steps, []
        case bytes() | bytearray() | memoryview():
            return bytes(source), [], []
        case np.ndarray():
            floats, findings = _floats(source, "triangles", (None, 3, 3))
            return floats, [], findings
        case (vertices, faces) if not hasattr(source, "n_blocks"):  # two blocks of PyVista are also a sequence
            indexed, findings = _indexed(vertices, faces)
            return indexed, [], findings
    found = arrays_of(source)
    if found is None:
        raise usage(f"{type(source).__name__} is not a mesh", hint_of(source))
    if isinstance(found, bytes):
        return found, [], []
    indexed, findings = _indexed(*found)
    return indexed, [], findings


def _built(content: Content, reading: Reading, run: How, name: str) -> _native.Mesh:
    """Returns the mesh of a content."""
    match content:
        case str():
            return _native.Mesh.open(content, reading, run)
        case bytes():
            return _native.Mesh.parse(content, name or "bytes", reading, run)
        case (vertices, faces):
            return _native.Mesh.indexed(vertices, faces, name)
    return _native.Mesh.triangles(content, name)


def meshes_in(folder: str) -> list[str]:
    """Returns the meshes in a folder and the folders below it, sorted by name. The command finds the same meshes.

    Hidden files and Zarr stores are skipped.
    """
    found: list[str] = []
    seen: set[str] = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and not name.lower().endswith(".zarr"))
        real = os.path.realpath(place)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        found += [os.path.join(place, name) for name in files if not name.startswith(".") and is_mesh_name(name)]
    if not found:
        error = InputError(f"{folder}: no mesh ({', '.join(EXTENSIONS)}) in this folder")
        error.code, error.hint, error.file = "S010", "hidden files and folders are skipped", folder
        raise error
    return sorted(found, key=lambda file: file.split(os.sep))


def is_mesh_name(name: str) -> bool:
    """Returns True if a file has the extension of a mesh format, or of a compressed one."""
    return name.lower().removesuffix(".gz").endswith(EXTENSIONS)


def _indexed(
    vertices: Any, faces: Any
) -> tuple[tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]], list[Finding]]:
    points, findings = _floats(_array(points_of(vertices), "vertices"), "vertices", (None, 3))
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
    return (points, np.require(corners, np.uint32, ["C", "A"])), findings


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


__all__ = ["Mesh", "Reading", "absolute", "all_of", "is_mesh_name", "mesh", "meshes_in", "one", "split_pose"]
