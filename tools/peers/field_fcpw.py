"""FCPW: closest points of the centres of all cells, in floats; building the tree included."""

import fcpw
import numpy


def prepare(points, triangles, lattice, _band):
    # Coordinates in cells keep the floats of FCPW short.
    place = lambda at: numpy.asarray((at - lattice.origin) / lattice.size, numpy.float32, order="F")
    centres, points = place(lattice.centres()), place(points)
    triangles = numpy.asarray(triangles, numpy.int32, order="F")
    radii = numpy.full(len(centres), numpy.inf, numpy.float32)

    def call():
        scene = fcpw.scene_3D()
        scene.set_object_count(1)
        scene.set_object_vertices(points, 0)
        scene.set_object_triangles(triangles, 0)
        scene.build(fcpw.aggregate_type.bvh_surface_area, True)
        found = fcpw.interaction_3D_list()
        scene.find_closest_points(centres, radii, found)
        return found

    return call


def values(found, lattice):
    distances = numpy.fromiter((one.d for one in found), numpy.float32, len(found))
    return (distances * lattice.size).astype("<f4").reshape(lattice.dims, order="F")
