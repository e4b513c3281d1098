"""libigl: fast_winding_number at the centres of all cells. The orientation of the mesh does not matter."""

import igl
import numpy


def prepare(points, triangles, lattice):
    centres, triangles = lattice.centres(), triangles.astype(numpy.int64)
    return lambda: (igl.fast_winding_number(points, triangles, centres), lattice.dims)


def cells(found):
    winding, dims = found
    return numpy.argwhere((numpy.abs(winding) > 0.5).reshape(dims, order="F"))
