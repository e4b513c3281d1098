"""Times the writing of every format, next to another program's writer where one exists: bench.py VOXELIZE
FOLDER MESH [RES ...]

A row of the table contains the format, its writing time with the disk and without waiting for it, the size,
and the memory beyond mesh and grid; then the other writer, which gets the same cells in memory and does not
wait for the disk, and its time divided by ours. For unpacked files it also contains the writing speed
relative to a copy of their bytes to the same disk. Each time is the least of three, with ours and others
alternating. Copies are synced, like our files.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy

RUNS = 3


def timed(work):
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def save_npy(cells, _, path):
    numpy.save(path, cells)


def save_npz(cells, place, path):
    numpy.savez_compressed(path, voxels=cells, **place)


def save_nrrd(cells, place, path, level=1):
    import nrrd

    head = {"space": "left-posterior-superior", "space directions": numpy.diag(place["spacing"]),
            "space origin": place["origin"] + place["spacing"] / 2, "encoding": "gzip" if level else "raw"}
    nrrd.write(str(path), cells.view("u1"), head, compression_level=level or 1)


def save_nrrd_raw(cells, place, path):
    save_nrrd(cells, place, path, 0)


def save_nibabel(cells, place, path):
    import nibabel

    affine = numpy.diag([*place["spacing"], 1.0])
    nibabel.save(nibabel.Nifti1Image(cells.view("u1"), affine), str(path))


def save_vtk(cells, place, path, is_packed=True):
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonDataModel import vtkImageData
    from vtkmodules.vtkIOXML import vtkXMLImageDataWriter

    image = vtkImageData()
    image.SetDimensions(*(n + 1 for n in cells.shape))
    image.SetSpacing(*place["spacing"])
    image.SetOrigin(*place["origin"])
    image.GetCellData().SetScalars(numpy_to_vtk(cells.view("u1").ravel(order="F")))
    writer = vtkXMLImageDataWriter()
    writer.SetInputData(image)
    writer.SetFileName(str(path))
    writer.SetDataModeToAppended()
    writer.EncodeAppendedDataOff()
    writer.SetCompressorTypeToZLib() if is_packed else writer.SetCompressorTypeToNone()
    writer.Write()


def save_vtk_raw(cells, place, path):
    save_vtk(cells, place, path, is_packed=False)


def save_zarr(cells, _, path):
    import zarr

    shape = tuple(reversed(cells.shape))
    shards = (64, *(-(-n // 64) * 64 for n in shape[1:]))
    array = zarr.create_array(str(path), shape=shape, dtype="u1", chunks=(64, 64, 64), shards=shards,
                              compressors=zarr.codecs.GzipCodec(level=2), overwrite=True)
    array[:] = cells.view("u1").transpose(2, 1, 0)


def save_binvox(cells, place, path):
    from binvox import Binvox

    Binvox(cells, cells.shape, list(place["origin"]), float(place["spacing"][0] * max(cells.shape)), "xyz").write(str(path))


def centres(cells, place):
    return place["origin"] + (numpy.argwhere(cells) + 0.5) * place["spacing"]


def save_text(cells, place, path):
    numpy.savetxt(path, centres(cells, place))


def save_boxes(cells, place, path):
    import trimesh

    matrix = numpy.diag([*place["spacing"], 1.0])
    matrix[:3, 3] = place["origin"] + place["spacing"] / 2
    trimesh.voxel.VoxelGrid(cells, matrix).as_boxes().export(path)


def save_pictures(cells, _, path):
    import PIL.Image

    path.mkdir(exist_ok=True)
    for k in range(cells.shape[2]):
        PIL.Image.fromarray(cells[:, ::-1, k].T).save(path / f"{k:04}.png", compress_level=1)


def save_hexahedra(cells, place, path):
    import pyvista

    image = pyvista.ImageData(dimensions=numpy.array(cells.shape) + 1, spacing=place["spacing"], origin=place["origin"])
    image.cell_data["voxels"] = cells.view("u1").ravel(order="F")
    image.threshold(0.5).save(path)


# File, options, and another program's writer.
FORMATS = [
    ("raw", ["--dtype", "u8"], None),
    ("npy", [], save_npy),
    ("npz", [], save_npz),
    ("nrrd", [], save_nrrd),
    ("nrrd", ["--uncompressed"], save_nrrd_raw),
    ("nii", [], save_nibabel),
    ("nii.gz", [], save_nibabel),
    ("vti", [], save_vtk),
    ("vti", ["--uncompressed"], save_vtk_raw),
    ("zarr", [], save_zarr),
    ("zarr", ["--no-pyramid"], save_zarr),
    ("vdb", [], "openvdb"),
    ("vox", [], None),
    ("binvox", [], save_binvox),
    ("bt", [], None),
    ("slices", [], save_pictures),
    ("schem", [], None),
    ("ply", [], save_boxes),
    ("stl", [], save_boxes),
    ("glb", [], None),
    ("obj", [], None),
    ("xyz", [], save_text),
    ("csv", [], None),
    ("vtu", [], save_hexahedra),
    ("inp", [], None),
]

# OpenVDB is a system package, for the system's Python.
OPENVDB = """
import sys, time, numpy, pyopenvdb
cells = numpy.load(sys.argv[1])["voxels"]
start = time.perf_counter()
grid = pyopenvdb.BoolGrid()
grid.copyFromArray(cells)
pyopenvdb.write(sys.argv[2], grids=[grid])
print(1000 * (time.perf_counter() - start))
"""


def time_other(save, cells, place, source, path):
    if save == "openvdb":
        done = subprocess.run(["/usr/bin/python3", "-c", OPENVDB, str(source), str(path)], capture_output=True, text=True)
        return float(done.stdout) if done.returncode == 0 else None
    return timed(lambda: save(cells, place, path))


def remove(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def copy_time(path):
    """Returns the time of copying the file to the disk."""
    def copy():
        with open(path, "rb") as file, open(f"{path}.copy", "wb") as copied:
            shutil.copyfileobj(file, copied, 1 << 20)
            os.fsync(copied.fileno())

    best = min(timed(copy) for _ in range(RUNS))
    os.remove(f"{path}.copy")
    return best


def ours(voxelize, words, path, options):
    run = subprocess.run([voxelize, *words, *options, "-o", str(path), "--json"], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return json.loads(run.stdout)


def row(voxelize, folder, words, source, cells, place, entry):
    name, options, other = entry
    path = folder / f"a.{name}"
    times = {"synced": [], "not": [], "other": []}
    for _ in range(RUNS):
        remove(path)
        report = ours(voxelize, words, path, options)
        times["synced"].append(report["timings_ms"]["write"])
        size = sum(output["bytes"] for output in report["outputs"])
        remove(path)
        times["not"].append(ours(voxelize, words, path, [*options, "--no-sync"])["timings_ms"]["write"])
        if other is not None and "other" in times:
            theirs = folder / f"b.{name}"
            found = time_other(other, cells, place, source, theirs)
            remove(theirs)
            times["other"].append(found) if found is not None else times.pop("other")
    held = 36 * report["mesh"]["triangles"] + cells.size // 8
    beyond = max(0, report["memory"]["peak_bytes"] - held) / (1 << 20)
    copied = f"{min(copy_time(path), 1e9) / min(times['synced']):.2f}" if size >= cells.size // 8 and path.is_file() else ""
    least = {key: min(all) for key, all in times.items() if all}
    theirs = least.get("other")
    who = "" if theirs is None else (other if isinstance(other, str) else other.__name__.removeprefix("save_"))
    remove(path)
    return [" ".join([name, *options]), f"{least['synced']:.0f}", f"{least['not']:.0f}", f"{size / 1e6:.1f}",
            f"{beyond:.0f}", who, "" if theirs is None else f"{theirs:.0f}",
            "" if theirs is None else f"{theirs / least['not']:.1f}", copied]


def main(voxelize, folder, mesh, *resolutions):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    only = os.environ.get("FORMATS", "").split()
    for res in resolutions or ["512", "1024"]:
        words = [mesh, "-r", res]
        source = folder / "cells.npz"
        ours(voxelize, words, source, [])
        found = dict(numpy.load(source))
        cells = found["voxels"]
        place = {key: found[key] for key in ("origin", "spacing")}
        print(f"\n{pathlib.Path(mesh).stem} at {res}: {cells.shape}, {numpy.count_nonzero(cells):,} voxels\n")
        heads = ["format", "ms", "ms, no sync", "MB", "MiB beyond", "other", "ms", "other / no sync", "copy / ours"]
        print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads), flush=True)
        for entry in FORMATS:
            if only and entry[0] not in only:
                continue
            print("| " + " | ".join(row(voxelize, folder, words, source, cells, place, entry)) + " |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
