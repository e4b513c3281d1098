"""Measures the distance of OpenVDB's mesh of a level set from the original mesh: vdb_mesh.py LEVEL_SET.vdb
MESH.stl

For a Python with pyopenvdb and NumPy. Prints vertices and the largest distance in cells. Fails above half a
cell.
"""

import sys

import numpy
import pyopenvdb

# Pairs of a point and a triangle at a time.
PAIRS = 1 << 20


def triangles_of(path):
    """Returns the corners of a binary STL."""
    with open(path, "rb") as file:
        data = file.read()
    count = int.from_bytes(data[80:84], "little")
    records = numpy.frombuffer(data, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")], count, 84)
    return records["corners"].astype(float)


def distances(points, triangles):
    """Returns the distance of each point from the nearest triangle (Ericson, Real-Time Collision Detection,
    section 5.1.5)."""
    a, b, c = triangles.transpose(1, 0, 2)
    least = numpy.full(len(points), numpy.inf)
    normal = numpy.cross(b - a, c - a)
    length = numpy.linalg.norm(normal, axis=1)
    normal /= numpy.where(length > 0, length, 1)[:, None]
    step = max(PAIRS // len(triangles), 1)
    for first in range(0, len(points), step):
        p = points[first : first + step, None]
        squares = []
        inside = numpy.ones((len(p), len(triangles)), bool)
        for start, end in ((a, b), (b, c), (c, a)):
            edge = end - start
            t = ((p - start) * edge).sum(2) / numpy.maximum((edge * edge).sum(1), 1e-300)
            foot = start + numpy.clip(t, 0, 1)[..., None] * edge
            squares.append(((p - foot) ** 2).sum(2))
            inside &= (numpy.cross(edge, p - start) * normal).sum(2) >= 0
        plane = ((p - a) * normal).sum(2) ** 2
        squares.append(numpy.where(inside & (length > 0), plane, numpy.inf))
        least[first : first + step] = numpy.sqrt(numpy.min(squares, axis=(0, 2)))
    return least


def main(level_set, mesh):
    (found,) = pyopenvdb.readAllGridMetadata(level_set)
    grid = pyopenvdb.read(level_set, found.name)
    assert grid.gridClass == "level set", grid.gridClass
    points, triangles, quads = grid.convertToPolygons(isovalue=0.0, adaptivity=0.0)
    far = distances(points, triangles_of(mesh)) / grid.transform.voxelSize()[0]
    print(f"{mesh}: {len(points):,} vertices of OpenVDB's mesh are at most {far.max():.3f} cells from the mesh")
    # Each edge has two sides: the mesh is closed.
    corners = [*numpy.reshape(triangles, (-1, 3)), *numpy.reshape(quads, (-1, 4))]
    edges = {}
    for polygon in corners:
        for one, other in zip(polygon, numpy.roll(polygon, -1)):
            edges[min(one, other), max(one, other)] = edges.get((min(one, other), max(one, other)), 0) + 1
    is_closed = all(count % 2 == 0 for count in edges.values())
    if not len(points) or far.max() > 0.5 or not is_closed:
        sys.exit(f"{level_set}: not the mesh, closed: {is_closed}")


if __name__ == "__main__":
    main(*sys.argv[1:])
