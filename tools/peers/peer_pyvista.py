"""PyVista: voxelize_binary_mask, which uses VTK's image stencil to find the cell centres inside."""

import numpy
import pyvista


def prepare(points, triangles, lattice):
    mesh = pyvista.PolyData.from_regular_faces(points, triangles)
    centres = pyvista.ImageData(
        dimensions=lattice.dims, spacing=[lattice.size] * 3, origin=lattice.origin + lattice.size / 2
    )
    return lambda: mesh.voxelize_binary_mask(reference_volume=centres)


def cells(mask):
    dense = numpy.asarray(mask["mask"]).reshape(mask.dimensions, order="F")
    return numpy.argwhere(dense > 0)
