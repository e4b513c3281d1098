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

    #: Value in arrays, 1 … 255.
    value: int
    name: str
    #: Red, green and blue.
    colour: tuple[int, int, int]
    #: Number of cells.
    count: int


@dataclass(frozen=True)
class FieldDifference:
    """Differences between two fields."""

    #: Cells whose values differ.
    differing: int
    #: Of these, the cells that differ by more than the tolerance.
    beyond: int
    #: Box of the cells beyond the tolerance, both ends inclusive.
    bounds: tuple[Cell, Cell] | None
    #: Cell, both values and difference, at the largest difference.
    largest: tuple[Cell, tuple[float, float], float] | None
    mismatches: list[str]

    def __bool__(self) -> bool:
        return bool(self.beyond or self.mismatches)


@dataclass(frozen=True)
class Component:
    """Triangles connected by vertices."""

    triangles: int
    bounds: tuple[Point, Point]
    area: float
    #: Signed volume, negative if the component is inside out.
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
    #: Points of the first defects: (n, 3), in units of the mesh.
    points: npt.NDArray[np.float64]
    #: Triangles with this defect, ascending: (m,).
    triangles: npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Check:
    """Result of the check of a mesh."""

    vertices: int
    closed: bool
    oriented: bool
    #: Manifold by the 3MF core specification.
    manifold: bool
    #: The rule solid with inside="auto" is certainly correct.
    solid: bool
    #: Methods that certainly find the inside.
    safe_methods: list[str]
    components: list[Component]
    defects: list[Defect]
    #: A search ended at its limit of pairs.
    is_partial: bool


@dataclass(frozen=True)
class Clearance:
    """Relation of two meshes, and their closest points."""

    #: "apart", "touching", "crossing", "contains" or "within".
    relation: str
    #: None if unknown.
    shares_volume: bool | None
    #: In units of the meshes, rounded once.
    distance: float
    #: Exact square of the distance: "p/q".
    squared: str
    #: Closest two points.
    points: tuple[Point, Point]
    #: Unit vector from the second point to the first.
    direction: Point | None
    triangles: tuple[int, int]
    #: Number of pairs of triangles that meet, a lower bound unless `is_all`.
    meetings: int
    is_all: bool
    #: Triangles of the first pairs that meet: (n, 2).
    pairs: npt.NDArray[np.uint64]
    #: Both ends of their intersections: (n, 2, 3).
    ends: npt.NDArray[np.float64]


def check_of(facts: dict[str, Any]) -> Check:
    """Returns the check for facts of the library."""
    defects = [Defect(**{**d, "points": d["points"].reshape(-1, 3)}) for d in facts.pop("defects")]
    components = [Component(**{**c, "bounds": _pair(c["bounds"])}) for c in facts.pop("components")]
    return Check(components=components, defects=defects, **facts)


def clearance_of(facts: dict[str, Any]) -> Clearance:
    """Returns the clearance for facts of the library."""
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
    """Returns a box of cells."""
    return None if bounds is None else (tuple(bounds[0]), tuple(bounds[1]))


def _pair(points: Any) -> Any:
    return tuple(tuple(point) for point in points)
