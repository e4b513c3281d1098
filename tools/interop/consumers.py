"""Runs the Python examples of docs/consumers.md one after the other, and compares them with the lattice and
the mesh.

`consumers.py FOLDER`: a folder with f.npz, the files created from it, and f.json, the summary of the run that
created it. Examples of packages that are not installed are reported and skipped. The example of NumPy must
run.
"""

import json
import os
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "consumers.md"


def boxes_of(name, space):
    """Returns the box around the occupied cells according to the package of an example."""
    import numpy as np
    size = space["size"]
    if name == "NumPy":
        points = space["points"]
        return points.min(axis=0) - size / 2, points.max(axis=0) + size / 2
    if name.startswith("PyVista"):
        bounds = np.array(space["boxes"].bounds).reshape(3, 2)
        return bounds[:, 0], bounds[:, 1]
    if name.startswith("SimpleITK"):
        sitk = space["SimpleITK"]
        image = sitk.ReadImage("f.nrrd")
        shape = sitk.LabelShapeStatisticsImageFilter()
        shape.Execute(image)
        box = np.array(shape.GetBoundingBox(1))
        low = np.array(image.TransformContinuousIndexToPhysicalPoint((box[:3] - 0.5).tolist()))
        return low, low + box[3:] * np.array(image.GetSpacing())
    if name == "nibabel":
        points = space["centres"] * [-1, -1, 1]
        return points.min(axis=0) - size / 2, points.max(axis=0) + size / 2
    if name.startswith("Zarr"):
        return box_of_cells(space["stack"].transpose(2, 1, 0), space)
    if name.startswith("Resin"):
        return box_of_cells(space["layers"][:, ::-1, :].transpose(2, 1, 0), space)
    if name == "gprMax":
        with space["h5py"].File("f.h5") as file:
            assert np.allclose(file.attrs["dx_dy_dz"], size)
            return box_of_cells(file["data"][:] == 0, space)
    if name.startswith("Lattice"):
        return box_of_cells(space["flags"].transpose(2, 1, 0), space)
    if name == "OpenVDB":
        assert (space["cells"] == space["voxels"]).all()
        return np.array(space["lowest"]) - size / 2, np.array(space["highest"]) + size / 2
    if name == "trimesh":
        bounds = space["trimesh"].load("f.ply").bounds
        return bounds[0], bounds[1]
    if name == "Open3D":
        cubes = space["cubes"]
        cells = np.array([voxel.grid_index for voxel in cubes.get_voxels()])
        centres = np.array([cubes.get_voxel_center_coordinate(cell) for cell in cells])
        assert len(cells) == space["voxels"].sum(), len(cells)
        return centres.min(axis=0) - size / 2, centres.max(axis=0) + size / 2
    raise AssertionError(f"nothing is known of {name}")


def box_of_cells(cells, space):
    """Returns the box around the occupied cells of an array a[x, y, z] on the grid of the other files."""
    import numpy as np
    assert cells.shape == space["voxels"].shape, cells.shape
    found = np.argwhere(cells)
    return space["corner"] + found.min(axis=0) * space["size"], space["corner"] + (found.max(axis=0) + 1) * space["size"]


def main(folder):
    text = PAGE.read_text()
    examples = re.findall(r"^## ([^\n]+)\n(?:(?!^## ).)*?^```python\n(.*?)^```", text, re.M | re.S)
    os.chdir(folder)
    mesh = json.loads(Path("f.json").read_text())["mesh"]["bounds"]
    space, compared = {}, []
    for name, code in examples:
        try:
            exec(compile(code, name, "exec"), space)
        except ImportError as error:
            assert name != "NumPy", error
            print(f"left out {name}: {error}")
            continue
        low, high = boxes_of(name, space)
        size = space["size"]
        # Cells touched by the surface extend beyond the mesh by less than a cell, and by nothing on fitted
        # walls.
        for axis in range(3):
            assert abs(low[axis] - mesh["min"][axis]) < 1e-4 * size[axis], (name, axis, low, mesh)
            assert -1e-4 * size[axis] < high[axis] - mesh["max"][axis] < 1.0001 * size[axis], (name, axis, high, mesh)
        compared.append(name)
    assert compared, "no example ran"
    print(f"the F is in its place in {', '.join(compared)}")


main(sys.argv[1])
