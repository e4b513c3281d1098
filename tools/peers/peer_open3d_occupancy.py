"""Open3D: RaycastingScene.compute_occupancy at the centres of cells, by rays: centres with odd crossings are
inside."""

import ctypes

import libusb_package
import numpy

# Load it before Open3D searches the system's libraries for it.
ctypes.CDLL(str(libusb_package.get_library_path()), mode=ctypes.RTLD_GLOBAL)
import open3d


def prepare(points, triangles, lattice):
    scene = open3d.t.geometry.RaycastingScene()
    scene.add_triangles(points.astype(numpy.float32), triangles.astype(numpy.uint32))
    axes = [
        (corner + (numpy.arange(count) + 0.5) * lattice.size).astype(numpy.float32)
        for corner, count in zip(lattice.origin, lattice.dims)
    ]
    centres = numpy.stack(numpy.meshgrid(*axes, indexing="ij"), axis=-1)
    return lambda: scene.compute_occupancy(open3d.core.Tensor(centres))


def cells(occupancy):
    return numpy.argwhere(occupancy.numpy() > 0.5)
