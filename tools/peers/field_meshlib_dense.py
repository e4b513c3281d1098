"""MeshLib: meshToDistanceVolume, the exact distance at every centre, unsigned."""

from meshlib import mrmeshnumpy
from meshlib import mrmeshpy as meshlib


def prepare(points, triangles, lattice, _band):
    mesh = mrmeshnumpy.meshFromFacesVerts(triangles, points)
    params = meshlib.MeshToDistanceVolumeParams()
    params.vol.origin = meshlib.Vector3f(*lattice.origin)
    params.vol.voxelSize = meshlib.Vector3f(*[lattice.size] * 3)
    params.vol.dimensions = meshlib.Vector3i(*lattice.dims)
    params.dist.signMode = meshlib.SignDetectionMode.Unsigned

    def call():
        # The tree is part of the result, but the mesh caches it.
        mesh.invalidateCaches()
        return meshlib.meshToDistanceVolume(mesh, params)

    return call


def values(volume, lattice):
    return mrmeshnumpy.getNumpy3Darray(volume).astype("<f4").reshape(lattice.dims)
