"""Results of comparisons and checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Cell = tuple[int, int, int]
Point = tuple[float, float, float]


@dataclass(frozen=True)
class Label:
    """A label of cells."""

    #: Value of the label in arrays, from 1 to 255.
    value: int
    name: str
    #: Red, green and blue.
    colour: tuple[int, int, int]
    #: Number of cells.
    count: int


@dataclass(frozen=True)
class FieldDifference:
    """Differences between two fields."""

    #: Number of cells whose values differ.
    differing: int
    #: Number of these cells that differ by more than the tolerance.
    beyond: int
    #: Bounding box of the cells that differ by more than the tolerance: lowest and highest cell. None if there are none.
    bounds: tuple[Cell, Cell] | None
    #: Largest difference: the cell, the two values in it, and their difference. None if no value differs.
    largest: tuple[Cell, tuple[float, float], float] | None
    mismatches: list[str]

    def __bool__(self) -> bool:
        return bool(self.beyond or self.mismatches)


@dataclass(frozen=True)
class Component:
    """Component of a mesh: triangles that are connected by vertices."""

    triangles: int
    bounds: tuple[Point, Point]
    area: float
    #: Signed volume. It is negative if the component is inside out.
    volume: float
    closed: bool
    oriented: bool


@dataclass(frozen=True)
class Defect:
    """All defects of one kind in a mesh."""

    name: str
    code: str
    severity: str
    effect: str
    count: int
    #: Points of the first defects (n, 3), in units of the mesh.
    points: npt.NDArray[np.float64]
    #: Indices of the triangles that have the defect (m,), in ascending order.
    triangles: npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Check:
    """Result of checking a mesh."""

    vertices: int
    closed: bool
    oriented: bool
    #: True if the mesh is manifold by the 3MF core specification.
    manifold: bool
    #: True if the rule solid with inside="auto" certainly finds the inside.
    solid: bool
    #: Methods that certainly find the inside.
    safe_methods: list[str]
    components: list[Component]
    defects: list[Defect]
    #: True if a search ended at its limit of pairs, so that there may be more defects.
    is_partial: bool


@dataclass(frozen=True)
class Clearance:
    """Relation of two meshes, and their closest points."""

    #: "apart", "touching", "crossing", "contains" or "within".
    relation: str
    #: True if some volume is inside both meshes. None if this is not known.
    shares_volume: bool | None
    #: Distance between the surfaces in units of the meshes, rounded once.
    distance: float
    #: Exact square of the distance, as a fraction "p/q".
    squared: str
    #: The two closest points, one on each mesh.
    points: tuple[Point, Point]
    #: Unit vector from the second point to the first. None if the surfaces meet.
    direction: Point | None
    triangles: tuple[int, int]
    #: Number of pairs of triangles that meet. It is a lower bound unless `is_all` is true.
    meetings: int
    is_all: bool
    #: Triangle numbers of the first pairs that meet (n, 2).
    pairs: npt.NDArray[np.uint64]
    #: The two ends of the intersection of each of these pairs (n, 2, 3).
    ends: npt.NDArray[np.float64]


def check_of(facts: dict[str, Any]) -> Check:
    """Converts facts from the native module to the result of a check."""
    defects = [Defect(**{**d, "points": d["points"].reshape(-1, 3)}) for d in facts.pop("defects")]
    components = [Component(**{**c, "bounds": _pair(c["bounds"])}) for c in facts.pop("components")]
    return Check(components=components, defects=defects, **facts)


def clearance_of(facts: dict[str, Any]) -> Clearance:
    """Converts facts from the native module to a clearance."""
    direction = facts["direction"]
    facts |= {
        "points": _pair(facts["points"]),
        "triangles": tuple(facts["triangles"]),
        "direction": direction and tuple(direction),
        "pairs": facts["pairs"].reshape(-1, 2),
        "ends": facts["ends"].reshape(-1, 2, 3),
    }
    return Clearance(**facts)


def bounds_of(bounds: Any) -> tuple[Cell, Cell] | None:
    """Converts a box of cells to tuples."""
    return None if bounds is None else (tuple(bounds[0]), tuple(bounds[1]))


def _pair(points: Any) -> Any:
    return tuple(tuple(point) for point in points)
