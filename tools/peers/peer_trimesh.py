"""trimesh: voxelized() with its default method, which subdivides triangles until their edges are short.

Its cells are centred on multiples of their size, so the mesh is moved by the lattice's first centre.
"""

import numpy
import trimesh


def prepare(points, triangles, lattice):
    moved = points - (lattice.origin + lattice.size / 2)
    mesh = trimesh.Trimesh(moved, triangles, process=False)
    return lambda: (mesh.voxelized(lattice.size), lattice.size)


def cells(result):
    grid, size = result
    return numpy.rint(grid.points / size).astype(int)
