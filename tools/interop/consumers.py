"""Files of voxelize in the programs that read them: the letter F is in its place in each.

`consumers.py FOLDER`: a folder with the files that `tools/interop/consumers` makes, and f.json, the summary of the run that made them. Each
reader returns the box around the occupied cells, which is compared with the bounds of the mesh. The letter shows any exchanged axis and any
shift by half a cell. Readers whose package is not installed are left out, except NumPy.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np


class Grid:
    """The cells and their position, as the NumPy archive has them."""

    def __init__(self):
        archive = np.load("f.npz")
        self.voxels, self.corner, self.size = archive["voxels"], archive["origin"], archive["spacing"]
        self.centres = self.corner + (np.argwhere(self.voxels) + 0.5) * self.size

    def around(self, centres):
        """The box around cells with these centres."""
        return centres.min(axis=0) - self.size / 2, centres.max(axis=0) + self.size / 2

    def of_cells(self, cells):
        """The box around the occupied cells of an array a[x, y, z] on this grid."""
        assert cells.shape == self.voxels.shape, cells.shape
        found = np.argwhere(cells)
        return self.corner + found.min(axis=0) * self.size, self.corner + (found.max(axis=0) + 1) * self.size


def numpy_npz(grid):
    return grid.around(grid.centres)


def pyvista_vti(grid):
    import pyvista

    bounds = np.array(pyvista.read("f.vti").threshold(0.5, scalars="voxels").bounds).reshape(3, 2)
    return bounds[:, 0], bounds[:, 1]


def simpleitk_nrrd(grid):
    import SimpleITK

    image = SimpleITK.ReadImage("f.nrrd")
    shape = SimpleITK.LabelShapeStatisticsImageFilter()
    shape.Execute(image)
    box = np.array(shape.GetBoundingBox(1))
    low = np.array(image.TransformContinuousIndexToPhysicalPoint((box[:3] - 0.5).tolist()))
    return low, low + box[3:] * np.array(image.GetSpacing())


def nibabel_nii(grid):
    import nibabel

    scan = nibabel.load("f.nii.gz")
    centres = nibabel.affines.apply_affine(scan.affine, np.argwhere(scan.get_fdata()))
    return grid.around(centres * [-1, -1, 1])  # NIfTI is RAS


def zarr_zarr(grid):
    import zarr

    return grid.of_cells(zarr.open("f.zarr", mode="r")["0"][:].transpose(2, 1, 0))


def skimage_slices(grid):
    from skimage.io import imread_collection

    layers = imread_collection("f.slices/*.png").concatenate()
    return grid.of_cells(layers[:, ::-1, :].transpose(2, 1, 0))


def trimesh_ply(grid):
    import trimesh

    bounds = trimesh.load("f.ply").bounds
    return bounds[0], bounds[1]


def open3d_points(grid):
    import open3d

    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(grid.centres))
    upper = grid.corner + grid.size * grid.voxels.shape
    cubes = open3d.geometry.VoxelGrid.create_from_point_cloud_within_bounds(cloud, grid.size[0], grid.corner, upper)
    cells = np.array([voxel.grid_index for voxel in cubes.get_voxels()])
    assert len(cells) == grid.voxels.sum(), len(cells)
    return grid.around(np.array([cubes.get_voxel_center_coordinate(cell) for cell in cells]))


def openvdb_vdb(grid):
    import pyopenvdb

    found = pyopenvdb.read("f.vdb", "voxels")
    cells = np.zeros(grid.voxels.shape, bool)
    found.copyToArray(cells)
    assert (cells == grid.voxels).all()
    lowest, highest = (np.array(found.transform.indexToWorld(index)) for index in found.evalActiveVoxelBoundingBox())
    return lowest - grid.size / 2, highest + grid.size / 2


def gprmax_hdf5(grid):
    import h5py

    with h5py.File("f.h5", "w") as file:
        file["data"] = np.where(grid.voxels, 0, -1).astype("int16")
        file.attrs["dx_dy_dz"] = tuple(grid.size)
    with h5py.File("f.h5") as file:
        assert np.allclose(file.attrs["dx_dy_dz"], grid.size)
        return grid.of_cells(file["data"][:] == 0)


def flags_raw(grid):
    dims = json.loads(Path("f.raw.json").read_text())["dims"]
    return grid.of_cells(np.fromfile("f.raw", "i1").reshape(dims[::-1]).transpose(2, 1, 0))


READERS = [
    numpy_npz, pyvista_vti, simpleitk_nrrd, nibabel_nii, zarr_zarr, skimage_slices, trimesh_ply, open3d_points, openvdb_vdb, gprmax_hdf5,
    flags_raw,
]


def main(folder):
    os.chdir(folder)
    mesh = json.loads(Path("f.json").read_text())["mesh"]["bounds"]
    grid, compared = Grid(), []
    for reader in READERS:
        try:
            low, high = reader(grid)
        except ImportError as error:
            print(f"left out {reader.__name__}: {error}")
            continue
        # Cells that the surface touches reach beyond the mesh by less than a cell; on fitted walls by nothing.
        for axis in range(3):
            size = grid.size[axis]
            assert abs(low[axis] - mesh["min"][axis]) < 1e-4 * size, (reader.__name__, axis, low, mesh)
            assert -1e-4 * size < high[axis] - mesh["max"][axis] < 1.0001 * size, (reader.__name__, axis, high, mesh)
        compared.append(reader.__name__)
    print(f"the F is in its place in {', '.join(compared)}")


main(sys.argv[1])
