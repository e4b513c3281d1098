"""MeshLib: meshToDistanceVdbVolume, a narrow band by the OpenVDB it carries, unsigned."""

from meshlib import mrmeshnumpy
from meshlib import mrmeshpy as meshlib


def prepare(points, triangles, lattice, band):
    mesh = mrmeshnumpy.meshFromFacesVerts(triangles, points)
    params = meshlib.MeshToVolumeParams()
    params.type = meshlib.MeshToVolumeParams.Type.Unsigned
    params.surfaceOffset = band
    params.voxelSize = meshlib.Vector3f(*[lattice.size] * 3)
    return lambda: meshlib.meshToDistanceVdbVolume(mesh, params)


def values(_volume, _lattice):
    """Returns no distances, because its lattice cannot be moved to ours."""
    return None
