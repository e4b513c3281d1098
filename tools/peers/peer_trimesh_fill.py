"""trimesh: voxelized().fill(), which fills the holes of its surface."""

from peer_trimesh import cells
from peer_trimesh import prepare as prepare_surface

__all__ = ["cells", "prepare"]


def prepare(points, triangles, lattice):
    voxelize = prepare_surface(points, triangles, lattice)

    def filled():
        grid, size = voxelize()
        return grid.fill(), size

    return filled
