"""Lattice for all tools, and comparison of their cells on it."""

from dataclasses import dataclass

import numpy


@dataclass(frozen=True)
class Lattice:
    """Lattice of cubic cells. `origin` is the outer corner of cell (0, 0, 0)."""

    origin: numpy.ndarray
    size: float
    dims: tuple[int, int, int]

    def centres(self):
        """Returns the centres of all cells, x fastest, one row each."""
        axes = [self.origin[a] + self.size * (numpy.arange(self.dims[a]) + 0.5) for a in range(3)]
        z, y, x = numpy.meshgrid(*reversed(axes), indexing="ij")
        return numpy.column_stack([part.ravel() for part in (x, y, z)])


def read_stl(path):
    """Returns the distinct points, as doubles, and the triangles of a binary STL."""
    record = numpy.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    corners = numpy.fromfile(path, record, offset=84)["corners"].astype(numpy.float64)
    points, triangles = numpy.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    return points, triangles.reshape(-1, 3).astype(numpy.int32)


@dataclass(frozen=True)
class Difference:
    """Differences between a peer's cells and ours."""

    count: int
    missing: int
    extra: int
    beyond: int  # outside our lattice; no part of `extra`


def compare(cells, ours):
    """Compares rows of (i, j, k) with our dense array."""
    within = ((cells >= 0) & (cells < ours.shape)).all(axis=1)
    theirs = numpy.zeros_like(ours)
    theirs[tuple(cells[within].T)] = True
    return Difference(
        count=len(cells),
        missing=int((ours & ~theirs).sum()),
        extra=int((theirs & ~ours).sum()),
        beyond=int((~within).sum()),
    )
