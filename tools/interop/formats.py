"""Reads every voxel format back with other programs: formats.py VOXELIZE FOLDER [--quick] [FORMAT ...]

Each grid is written once as .npz, which NumPy reads, and once in each format. Every cell, the origin and the
spacing must be equal. Prints format, reader, compared and wrong cells. Fails if a cell is wrong or a reader
is missing. --quick uses only the smallest grid, and readers that are Python packages.
"""

import itertools
import pathlib
import subprocess
import sys

import numpy

from readers import arrays, binvox, faces, images, slices, sparse, vdb, volumes, zarr

# The letter F has no symmetry, and neither have these grids.
GRIDS = {"F": ["-r", "32"], "45x70x300": ["--dims", "45,70,300"], "300x520x70": ["--dims", "300,520,70"]}
KINDS = {"bits": ["--surface"], "labels": ["--filled", "--dtype", "u8"], "field": ["--rule", "distance", "--band", "3vx"]}
ALL = tuple(KINDS)
# A format may have a special representation for the inside of a signed field.
KINDS["signed"] = ["--rule", "distance", "--band", "3vx", "--signed"]

# File name, options, kinds of cells, and readers.
FORMATS = [
    ("a.nrrd", [], ALL, [images.read_nrrd, images.read_simpleitk]),
    ("a.nrrd", ["--uncompressed"], ALL, [images.read_nrrd, images.read_simpleitk]),
    ("a.nii", [], ALL, [images.read_nibabel, images.read_simpleitk]),
    ("a.nii.gz", [], ALL, [images.read_nibabel, images.read_simpleitk]),
    ("a.vti", [], ALL, [images.read_vtk, images.read_pyvista]),
    ("a.vti", ["--uncompressed"], ALL, [images.read_vtk, images.read_pyvista]),
    ("a.vti", ["--dtype", "bit"], ["bits"], [images.read_vtk]),
    ("a.npy", ["--dtype", "bit", "--sidecar"], ["bits"], [arrays.read_packed_npy]),
    ("b.npz", ["--dtype", "bit"], ["bits"], [arrays.read_packed_npz]),
    ("a.npy", ["--dtype", "i8", "--values", "-1,0,1", "--sidecar"], ["bits", "labels"], [arrays.read_values_npy]),
    ("a.raw", ["--dtype", "i8", "--values", "-1,0,1"], ["bits", "labels"], [arrays.read_values_raw]),
    ("b.npz", ["--sparse", "indices"], ALL, [sparse.read_numpy]),
    ("b.npz", ["--sparse", "runs"], ALL, [sparse.read_numpy]),
    ("b.npz", ["--order", "zyx"], ALL, [sparse.read_zyx]),
    ("a.vdb", [], [*ALL, "signed"], [vdb.read_openvdb]),
    ("a.vdb", [], ["field"], [vdb.read_xuvdb]),
    ("a.vdb", ["--uncompressed"], ["labels"], [vdb.read_openvdb]),
    ("a.vdb", ["--vdb", "fog"], ["bits"], [vdb.read_openvdb]),
    ("a.vdb", ["--vdb", "fog", "--uncompressed"], ["bits"], [vdb.read_openvdb, vdb.read_xuvdb]),
    ("a.binvox", [], ["bits"], [binvox.read_binvox, binvox.read_trimesh]),
    ("a.binvox", ["--no-cube"], ["bits"], [binvox.read_binvox]),
    ("a.ply", [], ["bits", "labels"], [faces.read_plyfile, faces.read_trimesh, faces.read_vtk]),
    # meshio accepts faces only with their corners.
    ("a.ply", [], ["bits"], [faces.read_meshio]),
    ("a.obj", [], ["bits", "labels"], [faces.read_trimesh, faces.read_meshio, faces.read_vtk]),
    ("a.stl", ["--dtype", "bool", "--sidecar"], ["bits", "labels"], [faces.read_trimesh, faces.read_meshio, faces.read_vtk]),
    ("a.glb", [], ["bits", "labels"], [faces.read_pygltflib, faces.read_trimesh, faces.read_vtk, faces.read_three]),
    ("a.ply", ["--merge", "greedy"], ["bits"], [faces.read_plyfile, faces.read_trimesh]),
    ("a.glb", ["--merge", "greedy"], ["bits"], [faces.read_pygltflib, faces.read_three]),
    ("a.ply", ["--points"], ALL, [faces.read_plyfile_points]),
    ("a.bt", [], ["bits"], [volumes.read_octomap]),
    ("a.bt", ["--mark-free"], ["bits"], [volumes.read_octomap]),
    ("a.vtu", [], ALL, [volumes.read_vtk, volumes.read_pyvista, volumes.read_meshio]),
    ("a.vtu", ["--uncompressed"], ALL, [volumes.read_vtk, volumes.read_meshio]),
    ("a.inp", [], ["bits", "labels"], [volumes.read_meshio]),
    ("a.schem", [], ["bits", "labels"], [volumes.read_nbtlib, volumes.read_nucleation]),
    ("a.zarr", [], ALL, [zarr.read_zarr_python, zarr.read_dask, zarr.read_tensorstore, zarr.read_ome_zarr, zarr.read_levels]),
    ("a.zarr", ["--uncompressed"], ALL, [zarr.read_zarr_python, zarr.read_tensorstore]),
    ("a.zarr", ["--dtype", "bool"], ["bits"], [zarr.read_zarr_python, zarr.read_tensorstore]),
    ("a.zarr", ["--no-pyramid"], ALL, [zarr.read_zarr_python]),
    ("a.slices", [], ["bits", "labels"], [slices.read_pillow, slices.read_skimage]),
    ("a.slices.zip", [], ["bits", "labels"], [slices.read_pillow]),
    ("a.slices", ["--dtype", "u8"], ["bits"], [slices.read_pillow, slices.read_skimage]),
]

# Readers that need a program of the system.
PROGRAMS = [vdb.read_openvdb, faces.read_three]


def wrong(found, expected):
    """Returns the number of differing cells, which is all of them if the grid has another place."""
    cells = numpy.asarray(found["cells"])
    if found.get("may_be_padded"):
        inner = tuple(slice(n) for n in expected["voxels"].shape)
        # Nothing is lost: no cell outside is occupied.
        cells = cells[inner] if numpy.count_nonzero(cells[inner]) == numpy.count_nonzero(cells) else cells
    place = [numpy.allclose(found[key], expected[key], rtol=1e-6, atol=1e-6) for key in ("origin", "spacing")]
    if cells.shape != expected["voxels"].shape or not all(place):
        print(f"    {cells.shape} at {found['origin']} by {found['spacing']}, not "
              f"{expected['voxels'].shape} at {expected['origin']} by {expected['spacing']}")
        return expected["voxels"].size
    if "known" in found:
        # A mesh has the labels of cells with exposed faces. For the others it only shows that they are
        # occupied.
        known = found["known"] if found["known"] is not None else numpy.False_
        cells = numpy.where((cells != 0) & ~known & (expected["voxels"] != 0), expected["voxels"], cells)
    same = (cells == expected["voxels"]) | (numpy.isnan(cells.astype(float)) & numpy.isnan(expected["voxels"].astype(float)))
    return int(same.size - numpy.count_nonzero(same))


def main(voxelize, folder, *names):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    run = lambda *words: subprocess.run([voxelize, "-q", "fixtures/f.stl", *words], check=True)
    totals = {}
    is_quick = "--quick" in names
    grids = list(GRIDS)[:1] if is_quick else GRIDS
    names = [name for name in names if name != "--quick"]
    for grid, kind in itertools.product(grids, KINDS):
        run(*GRIDS[grid], *KINDS[kind], "-o", str(folder / "a.npz"))
        expected = dict(numpy.load(folder / "a.npz"))
        for name, options, kinds, readers in FORMATS:
            if kind not in kinds or names and name.split(".", 1)[1] not in names:
                continue
            path = folder / name
            # An explicit type replaces the type of the kind.
            words = KINDS[kind][:1] if "--dtype" in options else KINDS[kind]
            run(*GRIDS[grid], *words, *options, "-o", str(path))
            for read in readers:
                if is_quick and read in PROGRAMS:
                    continue
                count = wrong(read(path), expected)
                row = (" ".join([name.split(".", 1)[1], *options]), read.__name__.removeprefix("read_"))
                cells, bad = totals.get(row, (0, 0))
                totals[row] = (cells + expected["voxels"].size, bad + count)
    if not is_quick and (not names or "vdb" in names):
        for name, found, expected in vdb.foreign(voxelize, folder):
            count = wrong(dict(found, cells=found["voxels"]), expected)
            totals["vdb of OpenVDB", f"voxelize: {name}"] = (expected["voxels"].size, count)
        vdb.meshes(lambda *words: subprocess.run([voxelize, "-q", *words], check=True), folder)
    print("| format | reader | cells compared | wrong |\n| --- | --- | --- | --- |")
    for (name, reader), (cells, bad) in totals.items():
        print(f"| {name} | {reader} | {cells:,} | {bad} |")
    if not totals or any(bad for _, bad in totals.values()):
        sys.exit("some cells are wrong" if totals else "nothing was read")


if __name__ == "__main__":
    main(*sys.argv[1:])
