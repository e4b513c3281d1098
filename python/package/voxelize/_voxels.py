"""Class `Voxels`: cells with their lattice and record."""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from . import _native
from ._errors import Finding, usage
from ._facts import Cell, FieldDifference, Label, bounds_of
from ._options import how, path

T = TypeVar("T")

#: Names of the options that formats have. docs/reference/formats.md lists the formats that accept each option.
_CHOICES = ("uncompressed", "order", "sparse", "no_cube", "no_pyramid", "vox_hull", "vox_split", "vdb", "mark_free", "merge", "points")


class Voxels:
    """Cells of a grid, which are bits, labels or a field, and their lattice.

    Arrays are indexed ``a[x, y, z]``. Cell ``[i, j, k]`` is the box whose lowest corner is ``origin + [i, j, k] * spacing``
    and whose sides are ``spacing``. Voxels never change. ``copy.copy`` shares their memory, and a pickle stores the cells as an
    ``.npz`` file.
    """

    __slots__ = ("__weakref__", "_arrays", "_grid", "_nearest", "findings", "inside", "snapped", "source")

    _grid: _native.Grid
    _nearest: npt.NDArray[np.int32] | None
    #: For each array: its name, how many numbers each cell has, and all numbers, cell by cell.
    _arrays: list[tuple[str, int, npt.NDArray[np.float32]]]
    #: Findings of the run that made the voxels.
    findings: list[Finding]
    #: Method that decided the inside, and number of snapped coordinates. Both are None for voxels that were read from a file.
    inside: str | None
    snapped: int | None
    #: Name of the mesh in a call of `many`: its path, or "mesh n". None for other voxels.
    source: str | None

    def __init__(self) -> None:
        raise usage("voxels are made by voxelize.voxelize and voxelize.open")

    @classmethod
    def _of(
        cls,
        grid: _native.Grid,
        findings: list[Finding] | None = None,
        nearest: npt.NDArray[np.int32] | None = None,
        inside: str | None = None,
        snapped: int | None = None,
        arrays: list[tuple[str, int, npt.NDArray[np.float32]]] | None = None,
        source: str | None = None,
    ) -> Voxels:
        self = object.__new__(cls)
        self._grid, self._nearest, self._arrays = grid, nearest, arrays or []
        self.findings, self.inside, self.snapped, self.source = findings or [], inside, snapped, source
        return self

    # Position.

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of cells along each axis: (nx, ny, nz)."""
        return self._grid.shape

    @property
    def origin(self) -> tuple[float, float, float]:
        """Outer corner of cell [0, 0, 0], rounded once. `exact` has the exact fractions."""
        return _known(self._grid.origin)

    @property
    def spacing(self) -> tuple[float, float, float]:
        """Size of a cell along each axis, rounded once. `exact` has the exact fractions."""
        return _known(self._grid.spacing)

    @property
    def exact(self) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
        """Origin and spacing as exact fractions "p/q"."""
        origin, spacing = _known(self._grid.exact)
        return (origin[0], origin[1], origin[2]), (spacing[0], spacing[1], spacing[2])

    @property
    def has_lattice(self) -> bool:
        """True if the position of the cells is known. Some files do not state it."""
        return self._grid.origin is not None

    @property
    def affine(self) -> npt.NDArray[np.float64]:
        """Matrix (4, 4) that maps the indices of a cell to the coordinates of its centre, as in nibabel and trimesh."""
        matrix = np.diag([*self.spacing, 1.0])
        matrix[:3, 3] = np.asarray(self.origin) + np.asarray(self.spacing) / 2
        world = self._world()
        return matrix if world is None else world @ matrix

    def _world(self) -> npt.NDArray[np.float64] | None:
        """Matrix (4, 4) from the coordinates of a tilted grid to x, y and z. None if the grid is not tilted."""
        if self._grid.tilted is None:
            return None
        directions, zero = self._grid.tilted
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = np.transpose(directions), zero
        return matrix

    @property
    def unit(self) -> str | None:
        """Unit of the coordinates. None if neither the mesh nor the call states it."""
        return self.record.get("unit")

    # Content.

    @property
    def kind(self) -> Literal["bits", "labels", "field"]:
        """Kind of the cells: "bits", "labels" or "field"."""
        return self._grid.kind

    @property
    def count(self) -> int:
        """Number of occupied cells. In a field, the number of cells whose value differs from the background."""
        return self._grid.count

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return True

    @property
    def volume(self) -> float | None:
        """Volume of the occupied cells in cubic units. For shares of cells, the volume inside. None for other fields."""
        field = self.field
        if field is None:
            return self.count * _known(self._grid.cell_volume)
        if self.record.get("rule") != "fraction":
            return None
        return float(field.sum(dtype=np.float64)) * _known(self._grid.cell_volume)

    @property
    def digest(self) -> str:
        """Digest of the cells and their lattice. Without a known lattice, digest of the cells. The command prints the same digest."""
        cells, grid = self._grid.digests
        return grid or cells

    @property
    def cells_digest(self) -> str:
        """Digest of the cells and their number along each axis. It does not depend on the lattice."""
        return self._grid.digests[0]

    @property
    def record(self) -> Mapping[str, str]:
        """Record of how the cells were made: tool, rule and its options, transform, snap and input."""
        return dict(self._grid.record)

    @property
    def legend(self) -> dict[int, Label]:
        """Labels of the cells. The keys are their values. Empty for bits and fields."""
        return {value: Label(value, name, (r, g, b), count) for value, name, (r, g, b), count in self._grid.legend}

    # Arrays.

    def numpy(self, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
        """Returns the cells as a new dense array (nx, ny, nz): bool for bits, uint8 for labels, float32 for a field.

        `dtype` is another type for the array: bool or a number type. The array has ``order="F"``, so x varies fastest in memory.
        NumPy's ``ascontiguousarray`` makes a copy in C order.
        """
        if self.kind == "field":
            values = self._grid.values()
            return self._shaped(values.astype(dtype or np.float32, copy=True))
        wanted = np.dtype(dtype) if dtype is not None else None
        if self.kind == "labels" and wanted != np.bool_:
            cells: npt.NDArray[Any] = self._grid.bytes(True)
            return self._shaped(cells if wanted in (None, np.uint8) else cells.astype(wanted))
        cells = self._grid.bytes(False)
        if wanted in (None, np.bool_):
            return self._shaped(cells.view(np.bool_))
        return self._shaped(cells if wanted == np.uint8 else cells.astype(wanted))

    def in_scan(self, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
        """Returns the cells as `numpy` does, with the axes of the array of the scan that `like` named: ``mask.in_scan() * scan``.

        Without a scan, and for one whose axes are tilted, these are the axes of `numpy`."""
        array = self.numpy(dtype)
        frame = self.record.get("scan_frame", "x,y,z").split(":")[0]
        if not frame.endswith(("x", "y", "z")):
            return array
        axes = frame.split(",")
        array = array.transpose(["xyz".index(axis[-1]) for axis in axes])
        return array[tuple(slice(None, None, -1 if axis.startswith("-") else 1) for axis in axes)]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("voxels are packed: an array of them is always a copy; bits has the packed words")
        return self.numpy(dtype)

    @property
    def bits(self) -> npt.NDArray[np.uint64]:
        """Occupied cells as words (nz, ny, ceil(nx / 64)). Cell x is bit x % 64 of a word. Read-only view of the grid's memory."""
        nx, ny, nz = self.shape
        return self._grid.words().reshape(nz, ny, -(-nx // 64))

    @property
    def labels(self) -> npt.NDArray[np.uint8] | None:
        """Label of each cell (nx, ny, nz), 0 for an empty cell. `legend` has the names. None for bits and fields."""
        return self.numpy() if self.kind == "labels" else None

    @property
    def field(self) -> npt.NDArray[np.float32] | None:
        """Value of each cell (nx, ny, nz), as a read-only view of the grid's memory. None for bits and labels."""
        return self._shaped(self._grid.values()) if self.kind == "field" else None

    @property
    def background(self) -> float | None:
        """Value of the cells for which no value was computed. None for bits and labels."""
        return self._grid.background

    @property
    def nearest(self) -> npt.NDArray[np.int32] | None:
        """Index of the triangle that is nearest to each cell (nx, ny, nz), −1 for a background cell. None if it was not requested."""
        return None if self._nearest is None else self._shaped(self._nearest)

    @property
    def arrays(self) -> dict[str, npt.NDArray[np.float32]]:
        """Arrays requested with `with_`, and the field of each part for fractions with labels, by name.

        Normals, faces and centroids have the shape (3, nx, ny, nz), others (nx, ny, nz).
        """
        return {name: self._beside(count, numbers) for name, count, numbers in self._arrays}

    def cells(self) -> npt.NDArray[np.int32]:
        """Returns the indices (n, 3) of the occupied cells, x fastest. In a field, cells that differ from the background count."""
        return self._grid.indices().reshape(-1, 3)

    def centres(self) -> npt.NDArray[np.float64]:
        """Returns the coordinates of the centres (n, 3) of the cells that `cells` returns."""
        origin, spacing = np.array(self.origin, np.float64), np.array(self.spacing, np.float64)
        centres: npt.NDArray[np.float64] = origin + (self.cells().astype(np.float64) + 0.5) * spacing
        world = self._world()
        return centres if world is None else centres @ world[:3, :3].T + world[:3, 3]

    def index(self, points: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Returns the indices (n, 3) of the cell that contains each point (n, 3). They are −1, −1, −1 for a point outside the grid.

        A point on a wall belongs to the cell above the wall. The decision is exact. In the frame of a tilted scan, the point
        is first mapped to the axes of the scan and rounded."""
        array = np.ascontiguousarray(np.atleast_2d(np.asarray(points, dtype=np.float64)))
        if array.ndim != 2 or array.shape[1] != 3:
            raise usage(f"points: shape (n, 3) is expected, not {array.shape}")
        world = self._world()
        if world is not None:
            array = np.ascontiguousarray(np.linalg.solve(world[:3, :3], (array - world[:3, 3]).T).T)
        return self._grid.index(array).reshape(-1, 3)

    def contains(self, points: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Returns True for each point (n, 3) that is in an occupied cell."""
        x, y, z = self.index(points).T
        words = self.bits
        bit = words[z, y, x // 64] >> (x % 64).astype(np.uint64)
        found: npt.NDArray[np.bool_] = (bit & np.uint64(1)).astype(np.bool_) & (x >= 0)
        return found

    # Files.

    def save(
        self,
        file: str | os.PathLike[str],
        *,
        format: str | None = None,
        dtype: npt.DTypeLike | None = None,
        values: tuple[int, ...] = (),
        size: tuple[int, int] | None = None,
        sidecar: bool = False,
        overwrite: bool = True,
        **choices: bool | str,
    ) -> list[str]:
        """Saves the voxels in the format of the file's extension. Returns the names of the written files.

        `dtype` is a type of the format, such as "u8" or "bit", or NumPy's name for it, such as "uint8". After an error no incomplete
        file is left behind.

        `size` is the width and the height in pixels of the plate of a .slices; the layers are in its middle.

        `choices` are the format options of the command: ``sparse="runs"``, ``no_pyramid=True``, ``merge="greedy"`` … (docs/reference/formats.md).
        """
        saving = _saving(format, dtype, values, size, sidecar, overwrite, choices)
        return [os.fspath(name) for name, _, _ in self._grid.save(path(file), saving, how())]

    def to_bytes(self, format: str = "npz", *, dtype: npt.DTypeLike | None = None, **choices: bool | str) -> bytes:
        """Returns the content of a file in this format as bytes."""
        return self._grid.packed(_saving(format, dtype, (), None, False, True, choices))

    def diff(self, other: Voxels, tolerance: float | None = None) -> Difference | FieldDifference:
        """Compares these voxels with `other`. If both are fields, values may differ by `tolerance`."""
        if self.kind == "field" or other.kind == "field":
            facts = _native.diff_fields(self._grid, other._grid, tolerance, how())
            facts["bounds"] = bounds_of(facts["bounds"])
            if facts["largest"]:
                cell, (first, second), by = facts["largest"]
                facts["largest"] = (tuple(cell), (first, second), by)
            return FieldDifference(**facts)
        if tolerance is not None:
            raise usage("tolerance: only fields have one")
        facts = _native.diff(self._grid, other._grid, how())
        facts["bounds"] = bounds_of(facts["bounds"])
        return Difference(voxels=Voxels._of(facts.pop("grid")), **facts)

    # Other packages.

    def to_trimesh(self) -> Any:
        """Returns a trimesh.voxel.VoxelGrid with the same cells at the same coordinates."""
        from trimesh.voxel import VoxelGrid

        return VoxelGrid(np.ascontiguousarray(self.numpy(np.bool_)), transform=self.affine)

    def to_pyvista(self) -> Any:
        """Returns a pyvista.ImageData. Its cell data is named "occupied" for bits, "label" for labels and "value" for a field."""
        import pyvista

        self._not_tilted("to_pyvista")
        image = pyvista.ImageData(
            dimensions=tuple(n + 1 for n in self.shape), origin=self.origin, spacing=self.spacing
        )
        name = {"bits": "occupied", "labels": "label", "field": "value"}[self.kind]
        array = self.numpy(np.uint8) if self.kind == "bits" else self.numpy()
        image.cell_data[name] = array.ravel(order="F")
        return image

    def to_open3d(self) -> Any:
        """Returns an open3d.geometry.VoxelGrid at the same coordinates. Its cells are cubes, so the cells must be cubes."""
        import open3d

        self._not_tilted("to_open3d")
        side = self.spacing[0]
        if any(other != side for other in self.spacing):
            raise usage("Open3D has cubic cells only", "stretch=False makes them")
        cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(self.centres()))
        low = np.asarray(self.origin)
        high = low + np.asarray(self.spacing) * self.shape
        return open3d.geometry.VoxelGrid.create_from_point_cloud_within_bounds(cloud, side, low, high)

    def to_torch(self) -> Any:
        """Returns the cells as a PyTorch tensor (nx, ny, nz), by DLPack. The tensor has its own memory."""
        import torch

        return torch.from_dlpack(self.numpy())

    # Python.

    def picture(self, size: tuple[int, int] = (800, 600), *, layer: int | None = None, axis: int = 2) -> bytes:
        """Returns a picture of the cells from above a corner, or of one layer across an axis, as a PNG file.

        A field is always drawn as a layer. The default is the middle layer."""
        if self.kind == "field" and layer is None:
            layer = self.shape[axis] // 2
        return self._grid.picture(size, None if layer is None else (axis, layer))

    def _repr_html_(self) -> str:
        # The picture is part of the HTML, because a notebook would show only the HTML if there were both.
        image = ""
        if self.count:
            data = base64.b64encode(self.picture()).decode()
            image = f'<img alt="{html.escape(repr(self))}" src="data:image/png;base64,{data}">'
        rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in self._facts())
        return f"{image}<table>{rows}</table>"

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "cells", " × ".join(map(str, self.shape))
        yield "kind", self.kind
        yield ("with a value" if self.kind == "field" else "occupied"), f"{self.count:,}"
        if self.has_lattice:
            unit = f" {self.unit}" if self.unit else ""
            yield "origin", f"{', '.join(f'{c:g}' for c in self.origin)}{unit}"
            yield "spacing", f"{_short(self.spacing)}{unit}"
            volume = self.volume
            if volume is not None:
                yield "volume", f"{volume:g}{unit}{'³' if unit else ''}"
        yield from ((name, value) for name, value in self.record.items() if name not in ("tool", "unit"))
        for label in self.legend.values():
            yield f"label {label.value}", f"{label.name}: {label.count:,}"
        yield "digest", self.digest
        for finding in self.findings:
            yield finding.severity, str(finding)

    def __repr__(self) -> str:
        spacing = f", spacing {_short(self.spacing)}" if self.has_lattice else ""
        what = "with a value" if self.kind == "field" else "occupied"
        rule = self.record.get("rule")
        return (
            f"<voxelize.Voxels {' × '.join(map(str, self.shape))}{spacing}, {self.count} {what}"
            + (f", rule {rule}>" if rule else ">")
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Voxels):
            return NotImplemented
        return self.kind == other.kind and self._grid.digests == other._grid.digests

    def __hash__(self) -> int:
        return hash((self.kind, self._grid.digests))

    def __copy__(self) -> Voxels:
        return Voxels._of(
            self._grid, list(self.findings), self._nearest, self.inside, self.snapped, self._arrays, self.source
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Voxels:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        facts = (self.findings, self._nearest, self.inside, self.snapped, self._arrays, self.source)
        return (_unpickled, (self.to_bytes("npz"), *facts))

    def _not_tilted(self, function: str) -> None:
        if self._grid.tilted is not None:
            raise usage(f"{function}: the grid has the axes of a tilted scan", "affine and centres have the position")

    def _beside(self, count: int, numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        cells = numbers.reshape((count, *self.shape), order="F")
        return cells[0] if count == 1 else cells

    def _shaped(self, cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return cells.reshape(self.shape, order="F")


@dataclass(frozen=True)
class Difference:
    """Differences between two grids of bits or labels."""

    common: int
    added: int
    removed: int
    relabelled: int
    #: Intersection over union of the occupied cells. It is 1.0 for two empty grids.
    iou: float
    #: Bounding box of the cells that differ: lowest and highest cell. None if no cell differs.
    bounds: tuple[Cell, Cell] | None
    #: Differences between the lattices, as text.
    mismatches: list[str]
    #: The cells that differ, with the labels "added" and "removed".
    voxels: Voxels

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.relabelled or self.mismatches)


def open(file: str | os.PathLike[str], *, max_memory: int | str | None = None) -> Voxels:
    """Reads a voxel file in any format that `formats()` lists as readable."""
    return Voxels._of(_native.open_grid(path(file), how(max_memory=max_memory)))


def _unpickled(data: bytes, *facts: Any) -> Voxels:
    return Voxels._of(_native.unpacked(data, "npz"), *facts)


def _saving(
    format: str | None,
    dtype: npt.DTypeLike | None,
    values: tuple[int, ...],
    size: tuple[int, int] | None,
    sidecar: bool,
    overwrite: bool,
    choices: Mapping[str, bool | str],
) -> dict[str, Any]:
    """Converts the options for saving a grid to the form that the native module expects."""
    made: list[tuple[str, str | None]] = []
    for name, value in choices.items():
        if name not in _CHOICES:
            raise usage(f"save has no argument {name}", f"choices are {', '.join(_CHOICES)}")
        if value is not False:
            made.append((name.replace("_", "-"), None if value is True else str(value)))
    return {
        "format": format,
        "dtype": _dtype(dtype),
        "choices": made,
        "values": list(values),
        "size": None if size is None else list(size),
        "sidecar": bool(sidecar),
        "overwrite": bool(overwrite),
    }


#: Names of types in files, by the names of NumPy.
_TYPES = {"bool": "bool", "uint8": "u8", "int8": "i8", "float32": "f32"}


def _dtype(dtype: npt.DTypeLike | None) -> str | None:
    """Returns the name of a type in files. "u8" and "i8" have 8 bits there, unlike in NumPy."""
    if dtype is None:
        return None
    name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
    return _TYPES.get(name, name)


def _known(value: T | None) -> T:
    if value is None:
        raise usage("the file of these voxels does not say where they are", "voxels.has_lattice asks for it")
    return value


def _short(spacing: tuple[float, float, float]) -> str:
    """Returns the three numbers as text. If they are equal, returns only one."""
    sides = [f"{side:g}" for side in spacing]
    return sides[0] if len(set(sides)) == 1 else " × ".join(sides)
