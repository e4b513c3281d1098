"""OpenVDB. Packages: numpy, xuvdb; and Debian's python3-openvdb and libopenvdb-tools.

OpenVDB's own module belongs to the system's Python, not to the Python of the other readers. OPENVDB_PYTHON
selects another one.
"""

import json
import os
import pathlib
import re
import subprocess

import numpy

PYTHON = os.environ.get("OPENVDB_PYTHON", "/usr/bin/python3")

# Script for OpenVDB's Python that converts a file to an array and a line of JSON.
DUMP = r"""
import json, sys, numpy, pyopenvdb
path, out = sys.argv[1:]
(found,) = pyopenvdb.readAllGridMetadata(path)
grid = pyopenvdb.read(path, found.name)
cells = numpy.zeros(json.loads(grid["voxelize"])["dims"], bool if isinstance(grid, pyopenvdb.BoolGrid) else "f4")
grid.copyToArray(cells)
numpy.save(out, cells)
place = grid.transform.indexToWorld
print(json.dumps({
    "voxelize": json.loads(grid["voxelize"]), "class": grid.gridClass, "background": grid.background,
    "active": grid.activeVoxelCount(), "box": grid.evalActiveVoxelBoundingBox(),
    "origin": place((-0.5, -0.5, -0.5)), "spacing": grid.transform.voxelSize(), "one": place((0.5, 0.5, 0.5)),
}))
"""

# Grids written by OpenVDB: zipped, packed by Blosc, with half floats, at negative indices; with their cells
# as arrays.
MAKE = r"""
import sys, numpy, pyopenvdb
out, level = sys.argv[1], pyopenvdb.createLevelSetSphere(radius=9.0, center=(-3.0, 40.0, 7.0), voxelSize=0.5, halfWidth=2.0)
noise = numpy.random.default_rng(7).normal(size=(40, 30, 21)).astype("f4")
noise[numpy.abs(noise) < 0.6] = 0
fog = pyopenvdb.FloatGrid(0.0)
fog.copyFromArray(noise, ijk=(-7, 4090, 100))
fog.transform = pyopenvdb.createLinearTransform([[0.25, 0, 0, 0], [0, 0.25, 0, 0], [0, 0, 0.25, 0], [1, 2, 3, 1]])
half = level.deepCopy()
half.saveFloatAsHalf = True
mask = pyopenvdb.BoolGrid(False)
mask.copyFromArray(noise > 0.7, ijk=(-100, -1, 5))
for name, grid in [("level", level), ("fog", fog), ("half", half), ("mask", mask)]:
    low, high = grid.evalActiveVoxelBoundingBox()
    cells = numpy.zeros(numpy.subtract(high, low) + 1, bool if name == "mask" else "f4")
    grid.copyToArray(cells, ijk=low)
    corner = grid.transform.indexToWorld(tuple(n - 0.5 for n in low))
    pyopenvdb.write(f"{out}/{name}.vdb", grids=[grid])
    if name == "half":
        cells = cells.astype("f2").astype("f4")
    numpy.savez(f"{out}/{name}.npz", voxels=cells, origin=corner, spacing=grid.transform.voxelSize())
"""


def _openvdb(code, *words):
    done = subprocess.run([PYTHON, "-c", code, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        packages = "Debian's python3-openvdb and libopenvdb-tools, or OPENVDB_PYTHON"
        raise SystemExit(f"{done.stderr}OpenVDB did not read or write a file with {PYTHON}; it takes {packages}")
    return done.stdout


def _as_floats(path):
    """Returns a file for readers of floats, and whether its values are integers, which are as long as floats."""
    content = pathlib.Path(path).read_bytes()
    if b"Tree_int32_5_4_3" not in content:
        return path, False
    copy = pathlib.Path(path).with_suffix(".floats.vdb")
    copy.write_bytes(content.replace(b"Tree_int32_5_4_3", b"Tree_float_5_4_3", 1))
    return copy, True


def _check(found, cells):
    """Checks that the metadata of a file matches its cells."""
    said = found["voxelize"]
    if "background" in said:
        assert found["background"] == numpy.float32(said["background"]), found
        assert found["class"] == ("level set" if said.get("variant") == "signed" else "unknown"), found
        active = numpy.abs(cells) != found["background"]
    else:
        assert found["background"] == 0 and found["class"] in ("fog volume", "unknown"), found
        active = cells != 0
    box = [numpy.min(numpy.nonzero(active), axis=1).tolist(), numpy.max(numpy.nonzero(active), axis=1).tolist()]
    assert found["active"] == numpy.count_nonzero(active) and list(map(list, found["box"])) == box, (found, box)


def read_openvdb(path):
    path, is_whole = _as_floats(path)
    array = pathlib.Path(path).with_suffix(".npy")
    found = json.loads(_openvdb(DUMP, path, array))
    cells = numpy.load(array)
    _check(found, cells)
    printed = subprocess.run(["vdb_print", "-l", str(path)], check=True, capture_output=True, text=True).stdout
    assert re.search(rf"Number of active voxels: +{found['active']:,}\n", printed), printed
    assert numpy.allclose(numpy.subtract(found["one"], found["origin"]), found["spacing"]), found
    return dict(cells=cells.view("i4") if is_whole else cells, origin=found["origin"], spacing=found["spacing"])


def read_xuvdb(path):
    import xuvdb

    # xuvdb reads no empty zipped arrays, and assumes 128 cells per side for every tile: only grids without
    # tiles.
    (grid,) = xuvdb.read_vdb(str(path))
    dims = json.loads(grid.metadata["voxelize"])["dims"]
    cells, _ = grid.to_dense(([0, 0, 0], numpy.subtract(dims, 1)))
    return dict(cells=cells, origin=grid.index_to_world((-0.5, -0.5, -0.5)), spacing=grid.voxel_size)


def meshes(run, folder):
    """Compares OpenVDB's meshes of level sets with the original meshes."""
    script = pathlib.Path(__file__).parents[1] / "vdb_mesh.py"
    # Vertices of OpenVDB lie within a cell. Near sharp corners their error may be half a cell or more.
    for name, res in (("f", "40"), ("knot", "24")):
        mesh = f"fixtures/{name}.stl"
        run(mesh, "-r", res, "--rule", "distance", "--signed", "-o", f"{folder}/{name}.vdb")
        subprocess.run([PYTHON, script, f"{folder}/{name}.vdb", mesh], check=True)


def foreign(voxelize, folder):
    """Yields files of OpenVDB: a description, the cells read by this tool, and the expected ones."""
    folder = pathlib.Path(folder) / "openvdb"
    folder.mkdir(exist_ok=True)
    _openvdb(MAKE, folder)
    for path in sorted(folder.glob("*.vdb")):
        expected = dict(numpy.load(path.with_suffix(".npz")))
        subprocess.run([voxelize, "-q", "convert", path, folder / "back.npz"], check=True)
        yield path.stem, dict(numpy.load(folder / "back.npz")), expected
