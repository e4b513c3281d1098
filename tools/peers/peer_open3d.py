"""Open3D: VoxelGrid.create_from_triangle_mesh_within_bounds, in doubles.

create_from_triangle_mesh does the same on a lattice that starts half a cell before the mesh. With bounds it
starts at the same place as ours.
"""

import ctypes

import libusb_package
import numpy

# Load it before Open3D searches the system's libraries for it.
ctypes.CDLL(str(libusb_package.get_library_path()), mode=ctypes.RTLD_GLOBAL)
import open3d


def prepare(points, triangles, lattice):
    mesh = open3d.geometry.TriangleMesh(
        open3d.utility.Vector3dVector(points), open3d.utility.Vector3iVector(triangles)
    )
    end = lattice.origin + lattice.size * numpy.array(lattice.dims)
    make = open3d.geometry.VoxelGrid.create_from_triangle_mesh_within_bounds
    return lambda: make(mesh, lattice.size, lattice.origin, end)


def cells(grid):
    return numpy.array([voxel.grid_index for voxel in grid.get_voxels()])
