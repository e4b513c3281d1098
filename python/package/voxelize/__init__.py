"""Turn triangle meshes into voxels, exactly.

>>> import numpy as np
>>> import voxelize
>>> corners = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], dtype=np.float32)
>>> faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
>>> v = voxelize.voxelize((corners, faces), voxel_size=1, rule="filled")
>>> v
<voxelize.Voxels 4 × 4 × 4, spacing 1, 20 occupied, rule filled>
>>> v.numpy()[3, 0, 0]
np.True_

Arrays are indexed ``a[x, y, z]``. ``origin`` is the outer corner of cell ``[0, 0, 0]``. Coordinates have the unit of the mesh
and are not scaled.
"""

from importlib.metadata import PackageNotFoundError, version

from . import regions
from ._errors import (
    Error,
    Finding,
    FindingWarning,
    InputError,
    NotFoundError,
    InternalError,
    MeshError,
    OutputError,
    SkippedWarning,
    TooLargeError,
    UsageError,
)
from ._facts import Check, Clearance, Component, Defect, FieldDifference, Label
from ._functions import check, clearance, distance, formats, fraction, levels, many, offset, voxelize
from ._meshes import Mesh, mesh
from ._voxels import Difference, Voxels, open

try:
    __version__ = version("voxelize")
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "unknown"

__all__ = [
    "Check",
    "Clearance",
    "Component",
    "Defect",
    "Difference",
    "Error",
    "FieldDifference",
    "Finding",
    "FindingWarning",
    "InputError",
    "NotFoundError",
    "InternalError",
    "Label",
    "Mesh",
    "MeshError",
    "OutputError",
    "SkippedWarning",
    "TooLargeError",
    "UsageError",
    "Voxels",
    "check",
    "clearance",
    "distance",
    "formats",
    "fraction",
    "levels",
    "many",
    "mesh",
    "offset",
    "open",
    "regions",
    "voxelize",
]
